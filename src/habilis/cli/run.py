"""`habilis run` and `habilis runs resume`: one task from the command line to its result."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.cli.ahead import LoadsAhead
from habilis.cli.decide import decide
from habilis.config import Loaded
from habilis.core.errors import UserError
from habilis.core.types import TaskResult
from habilis.rundir import UNFINISHED, RunDir, TaskDir, ThreadDir, find_run, newest_unfinished
from habilis.terminal.asking import TerminalAsker
from habilis.terminal.choices import check_file, chosen_settings, library_of, load
from habilis.terminal.console import ConsoleSink, SinkHandler, make_console
from habilis.terminal.granting import TerminalGranter, at_terminal
from habilis.terminal.interrupting import guarded
from habilis.terminal.outcome import report
from habilis.terminal.questions import from_stdin, label_of, question_of, schema_of
from habilis.terminal.wording import plain

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.core.events import Event


def run(args: Namespace, team_factory: Callable[..., Any] | None = None) -> int:
    """Answer the question of `args`; returns the exit code. Raises `UserError` for bad usage."""
    from habilis.library import Library

    if args.resume:
        return _resumed(args, team_factory)
    loaded = load(args)
    if args.thread is not None and (args.run_dir or args.task_id or args.replay or args.decide):
        raise UserError("--thread asks a new question: leave out --run-dir, --task-id, --replay and --decide")
    if args.decide:
        goes_on = args.run_dir and args.question is None
        return decide(args, loaded, None if goes_on else str(question_of(args, None)), team_factory or _team())
    if args.results:
        raise UserError("--results belongs to --decide")
    runs = Path(loaded.settings.runs_dir)
    replayed = _task_of(find_run(runs, args.replay), args.task_id) if args.replay else None
    question = question_of(args, replayed)
    for name in args.file:
        check_file(name)
    if args.library:
        Library(Path(args.library))  # raises for what is none, before a folder is made
    schema = schema_of(args.schema)
    make_team = team_factory or _team()  # its imports take a while; a run that is killed in them leaves no folder
    folder = _folder(args, runs, label_of(question))
    before = {task.id for task in folder.tasks()}
    folder.write_run(chosen_settings=chosen_settings(loaded))
    try:
        code = CommandSession(args, loaded, make_team, folder).drive(
            lambda team: team.run(
                question,
                files=args.file,
                **({"answer_schema": schema} if schema is not None else {}),
                **_place(args, folder, replayed),
            )
        )
    except BaseException:
        if not before:
            (ThreadDir.of(folder) or folder).discard_if_unused()
        raise
    thread = ThreadDir.of(folder) if code and not args.quiet else None
    if thread and thread.turns()[-1].read_state() in UNFINISHED | {"failed"}:
        _note(f"habilis run --thread {args.thread} --resume continues it")
    return code


def _resumed(args: Namespace, team_factory: Callable[..., Any] | None) -> int:
    """Go on with the task that --resume means. Raises `UserError` for options that ask a new one."""
    if args.replay or args.question or args.file or args.schema or args.decide:
        raise UserError(
            "--resume continues a task as it was asked: leave out the question, --file, --schema and --replay"
        )
    args.run, args.answer = args.run_dir, None
    if args.thread is not None:
        args.run, args.task_id = unfinished_turn(args)
    return resume(args, team_factory)


def _folder(args: Namespace, runs: Path, label: str) -> RunDir:
    """Where the task is to lie: in its conversation, in the folder that was named, or in a new one."""
    if args.thread is not None:
        return _begun(ThreadDir.named(runs, args.thread), args)
    return RunDir.at(Path(args.run_dir), trust=args.trust) if args.run_dir else RunDir.create(runs, label=label)


def _place(args: Namespace, folder: RunDir, replayed: TaskDir | None) -> dict[str, Any]:
    """Where the team is to put the task: in a conversation, or in a run of its own."""
    if args.thread is not None:
        seen = {} if folder.is_ours(()) else {"trust": True}  # there is no key: the conversation was looked at above
        return {"thread": args.thread, **seen}
    return {"run_dir": folder, "task_id": args.task_id, "replay": replayed.run.path if replayed else None}


def _begun(thread: ThreadDir, args: Namespace) -> RunDir:
    """The folder of a conversation that is asked the next question, with the library that it had."""
    thread.begin(trust=args.trust)
    turns = thread.turns()
    if turns and args.library is None:
        args.library = library_of(turns[-1])
    if turns and turns[-1].read_state() in UNFINISHED:
        _note(f"turn {int(turns[-1].id)} of thread {thread.name} has no answer; --resume would have continued it")
    return thread.run


def unfinished_turn(args: Namespace) -> tuple[str, str]:
    """Folder and name of the last turn of --thread. Raises `UserError` when it has its answer."""
    thread = ThreadDir.named(Path(load(args).settings.runs_dir), args.thread)
    thread.record()
    turns = thread.turns()
    if args.run_dir or args.task_id:
        raise UserError("--thread --resume continues the last turn: leave out --run-dir and --task-id")
    if not turns or turns[-1].read_state() not in UNFINISHED | {"failed"}:
        raise UserError(f"nothing to resume: thread {thread.name} has no unfinished turn")
    return str(thread.path), turns[-1].id


def resume(args: Namespace, team_factory: Callable[..., Any] | None = None) -> int:
    """Go on with an unfinished task, answering its question if it waits for one."""
    runs = Path(load(args).settings.runs_dir)
    if args.run is not None:
        task = _task_of(find_run(runs, args.run), args.task_id)
    else:
        newest = newest_unfinished(runs)
        if newest is None:
            raise UserError(f"nothing to resume: no unfinished task in {runs}")
        task = newest
    if task.run.training is not None:
        raise UserError(f"{task.run.path} holds a training run; continue it with 'habilis evolve --resume'")
    task.run.accept(trust=args.trust, tasks=None if ThreadDir.of(task.run) else [task])
    loaded = load(args, task.run.read_run().get("chosen_settings") or {})
    answer = from_stdin("answer") if args.answer == "-" else args.answer
    if answer is not None and task.read_state() != "waiting":
        raise UserError(f"task {task.id} of run {task.run.name} asks nothing; resume it without --answer")
    if answer is not None and not answer.strip():
        raise UserError("the answer is empty")
    if args.library is None:
        args.library = library_of(task)
    session = CommandSession(args, loaded, team_factory or _team(), task.run)
    waiting = task.load_result() if task.read_state() == "waiting" else None
    if waiting is not None and answer is None and session.asker is None:
        return report(waiting, session.console, as_json=args.json, quiet=args.quiet)
    return session.drive(lambda team: team.resume(task.run, task.id, answer=answer))


class CommandSession:
    """One team at work for the command line: account, prompts, signals, result."""

    def __init__(self, args: Namespace, loaded: Loaded, team_factory: Callable[..., Any], run: RunDir) -> None:
        self._args = args
        self._run = run
        self._seen = _LastTask()
        self.console = None if args.quiet else make_console(sys.stderr)
        self._sink = ConsoleSink(self.console, live=False if args.debug else None) if self.console else None
        if self._sink and not args.debug:
            logging.getLogger().handlers[:] = [SinkHandler(self._sink)]
        self.asker = TerminalAsker(self._sink) if at_terminal() else None
        granter = TerminalGranter(self.asker) if self.asker else None
        sinks = [sink for sink in (self._sink, self._seen, LoadsAhead()) if sink is not None]
        # absolute: a run remembers it, and may be resumed from another folder
        library = Path(args.library).absolute() if args.library else None
        if library is not None and not library.exists():
            self._say(f"there is no library {args.library} yet; starting without tools")
        self._team = team_factory(loaded.settings, library=library, sinks=sinks, asker=self.asker, granter=granter)
        self._settings = loaded.settings
        self._library = library or (Path(loaded.settings.runs_dir) / "library").absolute()

    def drive(self, start: Callable[[Any], Coroutine[Any, Any, TaskResult]]) -> int:
        """Run `start(team)` to its result, report that, and return the exit code."""
        try:
            work = start(self._team)
            result = asyncio.run(guarded(work, self._ask_for_end, lambda: self._team.wind_down()))
        except asyncio.CancelledError:
            result = self._stopped()
        finally:
            if self._sink:
                self._sink.close()
        code = report(result, self.console, as_json=self._args.json, quiet=self._args.quiet)
        if result.status == "answered" and self._absorbs():
            self._absorb(result)
        return code

    def _absorbs(self) -> bool:
        """Whether the task's tools are for the library: not when a person says no, nor in a replay."""
        return self._settings.evolution.absorb and not self._args.no_absorb and not getattr(self._args, "replay", None)

    def _absorb(self, result: TaskResult) -> None:
        """Take what the task proved into its library. The answer is given: whatever fails here is one line."""
        from habilis.curation.absorb import VERIFY_S, absorb_task, unverified

        try:
            absorbed = asyncio.run(absorb_task(result, self._library, self._settings, told=_note))
        except (KeyboardInterrupt, asyncio.CancelledError):
            _note("stopped; the task's tools stay with its run")
            return
        except Exception as error:  # the answer and its exit code stand
            text = " ".join(str(error).split()) or type(error).__name__
            _note(f"the task's tools stay with its run, the library is as it was: {text}")
            logging.getLogger(__name__).debug("absorbing failed", exc_info=error)
            return
        if absorbed is None:
            return
        if late := unverified(absorbed):
            _note(f"{', '.join(late)} could not be tried again within {VERIFY_S:g} s; it stays with its run")
        if self.console is None:
            return
        if new := [line.tool.split("@")[0] for line in absorbed.lineage]:
            _note(f"{', '.join(new)} went into the library, generation {absorbed.generation}")

    def _ask_for_end(self) -> None:
        self._say("finishing this step; Ctrl-C again stops at once")
        if self.asker:
            self.asker.give_up()
        self._team.interrupt()

    def _stopped(self) -> TaskResult:
        """The result of a task that was cancelled: what its folder says, else the little that is known."""
        for task in self._run.tasks():
            if task.id == self._seen.task_id and (result := task.load_result()) and result.status == "interrupted":
                return result
        return TaskResult(
            task_id=self._seen.task_id,
            status="interrupted",
            question=self._seen.question,
            error="stopped at once; continue with --resume",
            run_dir=str(self._run.path),
        )

    def _say(self, text: str) -> None:
        if self._sink:
            self._sink.line("note", text, "yellow", "yellow")


def _note(text: str) -> None:
    """One line for the person, after the account of the task."""
    print(f"habilis: {plain(text)}", file=sys.stderr)


def _team() -> Callable[..., Any]:
    from habilis.agents.team import Team

    return Team


class _LastTask:
    """Remembers which task started, for the result of one that was cancelled."""

    def __init__(self) -> None:
        self.task_id = ""
        self.question = ""

    def emit(self, event: Event) -> None:
        if event.kind == "task_started":
            self.task_id, self.question = event.task_id, event.question


def _task_of(run: RunDir, task_id: str | None) -> TaskDir:
    """The task of `run` that is meant: `task_id`, or the only one, or the only unfinished one."""
    tasks = run.tasks()
    if task_id is not None:
        found = [task for task in tasks if task.id == task_id]
        if not found:
            known = ", ".join(task.id for task in tasks[:5]) or "none"
            raise UserError(f"run {run.name} has no task {task_id}; it has: {known}")
        return found[0]
    if not tasks:
        raise UserError(f"run {run.name} was stopped before its task began; ask the question again")
    open_tasks = [task for task in tasks if task.read_state() in {"created", "running", "waiting", "stopped"}]
    for choice in (tasks, open_tasks):
        if len(choice) == 1:
            return choice[0]
    raise UserError(f"run {run.name} has {len(tasks)} tasks; choose one with --task-id")
