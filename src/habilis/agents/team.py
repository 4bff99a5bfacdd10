"""The team: one question in, one honest result out. What a user of the library holds in hands."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.agents.checkpoints import without_unusable
from habilis.agents.deciding import decide, nearest_specs, opening, specs_of, with_results
from habilis.agents.drive import Asker, drive
from habilis.agents.outcome import make_result, set_aside_unproven
from habilis.agents.starting import (
    QueueSink,
    as_turn,
    closing_event,
    first_question,
    generation_then,
    library_of,
    only_task,
    opening_event,
    sound,
    task_of,
)
from habilis.agents.state import unpacked
from habilis.agents.turns import keep_turn
from habilis.agents.wiring import Clients, build_context
from habilis.checking import mend_task, mend_thread
from habilis.config import Settings, load_settings
from habilis.context.task import Events, TaskContext
from habilis.core.errors import PlaceError, UserError
from habilis.core.events import Event, Notice
from habilis.core.place import place_failure, place_told
from habilis.core.ports import EventSink, Granter, Purse
from habilis.core.types import Decision, JsonSchema, Task, TaskResult, ToolSpec
from habilis.library.generations import as_of, generation_of
from habilis.models.answers import checked_schema
from habilis.models.purse import all_idle
from habilis.rundir import JsonlSink, RunDir, TaskDir, ThreadDir
from habilis.sources.bound import GivenSources, named_sources
from habilis.telemetry.observing import TaskObservation
from habilis.tool_calling.transcripts import read_transcript

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from habilis.synthesis.sharing import BuildFolder


class Team:
    """Runs tasks. One team can run many, each with its own folder, tape and tool host.

    `library` is the public library (default: `library` in the runs folder). `clients` makes the chat model of a role
    instead of the configured one. `asker` puts a question to the user; without one such a task
    ends as `waiting` and goes on with `resume(…, answer=…)`. `granter` asks the user what tools may have; without one
    they get what settings give unasked. `alone`: nobody is there to be asked, and the model is told so. `shared` are
    builds that tasks side by side share. `sources` give tools besides those that settings name: their tools keep their
    own names, or bear that of their source in front where it is given one. They stand in the list `sources`; what is
    added to it or taken out counts for tasks that begin then. On `purse` draw all tasks of a run. `part_of` is the
    `traceparent` (W3C Trace Context) of a training whose tasks these are, empty where it is not traced.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        library: Path | None = None,
        sinks: Sequence[EventSink] = (),
        clients: Clients | None = None,
        asker: Asker | None = None,
        granter: Granter | None = None,
        alone: bool = False,
        shared: BuildFolder | None = None,
        sources: GivenSources = (),
        purse: Purse | None = None,
        part_of: str | None = None,
    ) -> None:
        self.settings = settings or load_settings()
        self._library = library
        self._sinks = tuple(sinks)
        self._clients = clients
        self._asker = asker
        self._granter = granter
        self._alone = alone
        self._shared = shared
        self._purse = purse
        self._part_of = part_of
        self.sources = named_sources(sources)
        self._open: list[TaskContext] = []

    @property
    def library(self) -> Path:
        """Folder of the public library."""
        return (self._library or Path(self.settings.runs_dir) / "library").absolute()

    async def run(
        self,
        question: str | Task,
        *,
        files: Sequence[str | Path] = (),
        run_dir: Path | RunDir | None = None,
        task_id: str | None = None,
        replay: Path | None = None,
        base: Path | None = None,
        answer_schema: JsonSchema | None = None,
        thread: str | None = None,
        trust: bool = False,
    ) -> TaskResult:
        """Answer `question` with the help of `files`; relative names mean `base` (default: the current folder).

        With an `answer_schema` the answer is JSON that fits it: `answer_data`, and as text `final_answer`. With a
        `thread` the question is the next turn of the conversation of that name, which lies in `threads` in the runs
        folder: earlier questions, tool work, answers, files and tools come along, within `memory.max_tokens`. A run or
        conversation that is there must have been made by this user, unless `trust` takes it over as theirs; of a
        `RunDir` the caller has seen to that.

        Every outcome of the task itself is a `TaskResult`. `replay` names the run whose tape answers instead of a
        model; the first request that differs ends the task. Raises `UserError` for what a person must mend first:
        an empty question, a file that is not there, a folder that cannot be written; `PlaceError` where this machine
        refuses even the record of the question.
        """
        task = question if isinstance(question, Task) else task_of(question, files, base or Path.cwd(), task_id)
        if answer_schema is not None:
            task = task.model_copy(update={"answer_schema": checked_schema(answer_schema)})
        if not task.question.strip():
            raise UserError('the question is empty; give one, for example: main.py "What is 2+3*4?"')
        if thread is not None:
            if run_dir is not None or task_id is not None:
                raise UserError("a thread has its own folder and numbers its turns: leave out --run-dir and --task-id")
            return await self._turn(ThreadDir.named(Path(self.settings.runs_dir), thread), task, replay, trust)
        run = run_dir if isinstance(run_dir, RunDir) else self._run_at(run_dir, task, trust)
        return await self._begin(task, run.task(task.id), self.library, replay)

    def _run_at(self, place: Path | None, task: Task, trust: bool) -> RunDir:
        """The run in the folder `place`, or a new one named after the question."""
        if place is not None:
            return RunDir.at(place, trust=trust)
        return RunDir.create(Path(self.settings.runs_dir), None, task.question)

    async def _turn(self, thread: ThreadDir, task: Task, replay: Path | None, trust: bool) -> TaskResult:
        """The next turn of `thread`. Without a library of this team it goes on with that of the last turn."""
        thread.begin(trust=trust)
        with thread.lock():
            for damage in mend_thread(thread):
                Events(self._sinks)(Notice(level="warning", text=str(damage)))
            turn = as_turn(thread, task, self.settings)
            library = self._library or library_of(thread) or self.library
            return await self._begin(turn, thread.run.task(turn.id), library.absolute(), replay)

    async def _begin(self, task: Task, folder: TaskDir, public: Path, replay: Path | None) -> TaskResult:
        with place_told(), folder.lock():
            if folder.load_task() is not None:
                raise UserError(
                    f"{folder.path} already holds a task; continue it with --resume, or choose another --run-dir"
                )
            # The task goes on with the library as it is now, whatever is published meanwhile: resumed or replayed too.
            generation = generation_then(replay, public) if replay else generation_of(public)
            folder.save_task(task, {"library": str(public), "generation": generation})
            return await self._work(task, folder, as_of(public, generation), resumed=False, replay=replay)

    async def decide(
        self,
        question: str | Task | None = None,
        *,
        tools: Sequence[ToolSpec | Mapping[str, Any]] = (),
        conversation: Sequence[Any] = (),
        results: Mapping[str, Any] | None = None,
        files: Sequence[str | Path] = (),
        run_dir: Path | None = None,
        base: Path | None = None,
        trust: bool = False,
    ) -> Decision:
        """One step towards an answer: calls for someone else to run, or the answer. Nothing is run here.

        The step begins a conversation about `question`, or goes on with `conversation` (messages of OpenAI's or
        Anthropic's API), or with that of `run_dir`. `results` are what earlier calls gave, by call id. `tools` are
        function schemas; without any the nearest of the library and of the sources are taken, and kept with `run_dir`,
        which must have been made by this user, unless `trust` takes it over as theirs.
        Raises `UserError` for what a person must mend first.
        """
        if run_dir is not None and question is None:
            folder = only_task(RunDir.open(run_dir), None)
            folder.run.accept(trust=trust, tasks=[folder])
            stored, before = folder.load_task(), folder.load_decision()
            if stored is None or before is None:
                raise UserError(f"{folder.path} holds no earlier step; give the question")
            task, tools = stored[0], tools or [ToolSpec.model_validate(tool) for tool in stored[1].get("tools", ())]
            messages = read_transcript(conversation or before.conversation)
        else:
            messages = read_transcript(conversation)
            asked = question if question is not None else first_question(messages)
            task = asked if isinstance(asked, Task) else task_of(asked, files, base or Path.cwd(), None)
            folder = self._run_at(run_dir, task, trust).task(task.id)
            stored = folder.load_task()
            if stored is not None and (folder.load_decision() is not None or not stored[1].get("decide")):
                raise UserError(f"{folder.path} already holds a task; continue it, or choose another --run-dir")
        if not task.question.strip():
            raise UserError("the question is empty")
        specs = specs_of(tools)
        with place_told(), folder.lock():
            return await self._decide(task, folder, messages, specs, results or {})

    async def _decide(
        self,
        task: Task,
        folder: TaskDir,
        messages: Sequence[BaseMessage],
        specs: Sequence[ToolSpec],
        results: Mapping[str, Any],
    ) -> Decision:
        sink = JsonlSink(folder.events)
        ctx = self._workshop(task, folder, self.library, Events([sink, *self._sinks]), None)
        try:
            specs = specs or await nearest_specs(ctx)
            extra = {"decide": True, "library": str(self.library), "tools": [spec.model_dump() for spec in specs]}
            folder.save_task(task, extra)
            asked = with_results(messages or [opening(ctx)], results)
            decision = await decide(ctx, asked, specs)
            decision = decision.model_copy(
                update={
                    "model": ctx.models.name("basic"),
                    "usage": ctx.models.usage,
                    "run_dir": str(folder.run.path.resolve()),
                }
            )
            folder.save_decision(decision)
            return decision
        finally:
            await ctx.aclose()
            sink.close()

    async def resume(
        self, run_dir: Path | RunDir, task_id: str | None = None, answer: str | None = None, *, trust: bool = False
    ) -> TaskResult:
        """Go on with a task where it stopped: killed, interrupted, out of budget, unreachable, or waiting.

        No finished model call is made again. A finished task's result is returned as it is. `answer` is what the user
        says to the question that a waiting task asked. Without a library of this team the task keeps its own. A run
        that this user did not make is gone on with only where `trust` says so, and is theirs from then on; of a
        `RunDir` the caller has seen to that. Raises `UserError`.
        """
        run = run_dir if isinstance(run_dir, RunDir) else RunDir.open(run_dir)
        folder = only_task(run, task_id)
        thread = ThreadDir.of(run)
        if run is not run_dir:
            run.accept(trust=trust, tasks=None if thread else [folder])
        run.task(folder.id)
        stored = folder.load_task()
        if stored is None:
            raise UserError(
                f"{folder.task} is not there, and with it the question; bring it back from a copy, or ask again"
            )
        if stored[1].get("decide"):
            raise UserError(f"{folder.path} holds a run of --decide; continue it with --decide --run-dir … --results …")
        with place_told(), thread.lock() if thread else contextlib.nullcontext(), folder.lock():
            self._mended(folder)
            before = folder.load_result()
            if before is not None and before.status in ("answered", "gave_up"):
                return before
            if before is not None and before.status == "waiting" and answer is None and self._asker is None:
                return before
            library = self._library or Path(stored[1].get("library") or self.library)
            if "generation" in stored[1] and str(library) == stored[1].get("library"):
                library = as_of(library, int(stored[1]["generation"]))
            return await self._work(stored[0], folder, library, resumed=True, answer=answer)

    def _mended(self, folder: TaskDir) -> None:
        """Mend what was damaged of a task since it stopped, and say so."""
        emit = Events(self._sinks)
        for damage in mend_task(folder):
            emit(Notice(level="warning", text=str(damage)))
        for text in without_unusable(folder.checkpoints, folder.run.path):
            emit(Notice(level="warning", text=text))

    def run_sync(self, question: str | Task, **options: Any) -> TaskResult:
        """`run` for callers without an event loop."""
        return asyncio.run(self.run(question, **options))

    async def stream(self, question: str | Task, **options: Any) -> AsyncIterator[Event | TaskResult]:
        """The events of `run` as they come, then its result."""
        queue: asyncio.Queue[Event | TaskResult | None] = asyncio.Queue()
        sink = QueueSink(queue)
        watched = Team(
            self.settings,
            library=self.library,
            sinks=(*self._sinks, sink),
            clients=self._clients,
            asker=self._asker,
            granter=self._granter,
            alone=self._alone,
            shared=self._shared,
            sources=self.sources,
            purse=self._purse,
            part_of=self._part_of,
        )
        running = asyncio.create_task(watched.run(question, **options))
        running.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (item := await queue.get()) is not None:
                yield item
            yield running.result()
        finally:
            if not running.done():
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running

    def interrupt(self) -> None:
        """Ask running tasks to end: each finishes its step and writes its result (Ctrl-C once)."""
        for ctx in self._open:
            ctx.stopping = True
        if self._shared is not None:
            self._shared.stop()

    def wind_down(self) -> Awaitable[None] | None:
        """Ask for an end and send models nothing more. What to wait for: replies on their way, which are paid for;
        None when there is none."""
        self.interrupt()
        purses = [ctx.models.budget.own for ctx in self._open]
        for purse in purses:
            purse.close("interrupted; continue with --resume")
        return None if all(purse.is_idle for purse in purses) else all_idle(purses)

    async def _work(
        self,
        task: Task,
        folder: TaskDir,
        library: Path,
        *,
        resumed: bool,
        answer: str | None = None,
        replay: Path | None = None,
    ) -> TaskResult:
        started = time.monotonic()
        task, thread = sound(task), ThreadDir.of(folder.run)
        about = {"habilis.task": task.id} | ({"gen_ai.conversation.id": thread.name} if thread else {})
        sink = JsonlSink(folder.events)
        async with TaskObservation(self.settings, folder.tape, about, part_of=self._part_of) as observed:
            observed.tell_to(emit := Events([sink, *self._sinks, *observed.sinks]))
            ctx = self._workshop(task, folder, library, emit, replay)
            folder.set_state("running")
            self._open.append(ctx)
            try:
                ctx.emit(opening_event(task, ctx, resumed))
                end = await drive(ctx, folder, fresh=not resumed, answer=answer, asker=self._asker)
                if end.finished:
                    set_aside_unproven(ctx, [unpacked(raw, ctx.tape) for raw in end.state["calls"]])
                ctx.tape.close()  # the room that it held for a reply is the result's now
                result = make_result(end, ctx, seconds=time.monotonic() - started, run_dir=folder.run.path.resolve())
                result = self._saved(result, folder, end.level)
                ctx.emit(closing_event(result))
                if thread:
                    keep_turn(folder)
            except UserError:
                folder.set_state("failed")
                raise
            finally:
                self._open.remove(ctx)
                await ctx.aclose()
                ctx.tape.close()
                sink.close()
            if isinstance(end.error, asyncio.CancelledError):
                raise end.error
            return result

    def _saved(self, result: TaskResult, folder: TaskDir, level: str) -> TaskResult:
        """`result`, written down; where this machine refuses that, it says so, and the task can be resumed."""
        try:
            if not self._alone:  # of many tasks, whoever runs them writes it once
                folder.run.write_run(self.settings.model_dump(mode="json"), sandbox_level=level)
            folder.save_result(result)
        except (OSError, PlaceError) as error:
            told = f"the result could not be written: {place_failure(error) or error}"
            told = f"{result.error}; {told}" if result.error else told
            return result.model_copy(update={"status": "environment_error", "error": told})
        return result

    def _workshop(self, task: Task, folder: TaskDir, public: Path, emit: Events, replay: Path | None) -> TaskContext:
        return build_context(
            task,
            folder,
            public,
            emit,
            self.settings,
            voice=only_task(RunDir.open(replay), None).tape if replay else None,
            clients=self._clients,
            granter=self._granter,
            shared=self._shared,
            may_ask=not self._alone,
            sources=self.sources,
            purse=self._purse,
        )
