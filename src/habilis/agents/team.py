"""The team: one question in, one honest result out. What a user of the library holds in hands."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from habilis.agents.graph import TaskGraph, build_graph, initial_state
from habilis.agents.outcome import make_result, set_aside_unproven
from habilis.agents.state import TaskState, unpacked
from habilis.config import Settings, load_settings
from habilis.core.errors import BudgetReached, ReplayMismatch, UserError
from habilis.core.events import Event, Notice, TaskEnded, TaskStarted
from habilis.core.ports import EventSink
from habilis.core.types import Role, Task, TaskResult
from habilis.models.chat import Models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.rundir import JsonlSink, RunDir, TaskDir, safe_id
from habilis.tools import taskfiles
from habilis.tools.host import ToolHost
from habilis.tools.library import LayeredLibrary, Library
from habilis.tools.presets import Presets
from habilis.tools.smith import Smith
from habilis.tools.workshop import Events, Workshop
from habilis.tools.writers import make_writer

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from habilis.config import RoleSettings

log = logging.getLogger(__name__)

Clients = Callable[[Role, "RoleSettings"], "BaseChatModel"]
Asker = Callable[[str], Awaitable[str | None]]
"""Answers a question to the user; None leaves it open, and the task waits."""


class Team:
    """Runs tasks. One team can run many, each with its own folder, tape and tool host.

    `library` is the public library (default: `library` in the runs folder). `clients` makes the chat model of a role
    instead of the configured one. `asker` answers a tool developer's question to the user; without one such a task
    ends as `waiting` and goes on with `resume(…, answer=…)`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        library: Path | None = None,
        sinks: Sequence[EventSink] = (),
        clients: Clients | None = None,
        asker: Asker | None = None,
    ) -> None:
        self.settings = settings or load_settings()
        self.library = library or Path(self.settings.runs_dir) / "library"
        self._sinks = tuple(sinks)
        self._clients = clients
        self._asker = asker
        self._open: list[Workshop] = []

    async def run(
        self,
        question: str | Task,
        *,
        files: Sequence[str | Path] = (),
        run_dir: Path | None = None,
        task_id: str | None = None,
        replay: Path | None = None,
        base: Path | None = None,
    ) -> TaskResult:
        """Answer `question` with the help of `files`; relative names mean `base` (default: the current folder).

        Every outcome of the task itself is a `TaskResult`. `replay` names the run whose tape answers instead of a
        model; the first request that differs ends the task. Raises `UserError` for what a person must mend first:
        an empty question, a file that is not there, no sandbox, a folder that cannot be written.
        """
        task = question if isinstance(question, Task) else _task(question, files, base or Path.cwd(), task_id)
        if not task.question.strip():
            raise UserError('the question is empty; give one, for example: main.py "What is 2+3*4?"')
        run = RunDir.at(run_dir) if run_dir else RunDir.create(Path(self.settings.runs_dir), None, task.question)
        folder = run.task(task.id)
        with folder.lock():
            if folder.load_task() is not None:
                raise UserError(
                    f"{folder.path} holds a task already; continue it with --resume, or take another --run-dir"
                )
            folder.save_task(task, {"library": str(self.library)})
            return await self._work(task, folder, resumed=False, replay=replay)

    async def resume(self, run_dir: Path, task_id: str | None = None, answer: str | None = None) -> TaskResult:
        """Go on with a task where it stopped: killed, interrupted, out of budget, unreachable, or waiting.

        No finished model call is made again. A finished task's result is returned as it is. `answer` is what the user
        says to the question that a waiting task asked.
        """
        run = RunDir.open(run_dir)
        folder = _only_task(run, task_id)
        stored = folder.load_task()
        if stored is None:
            raise UserError(f"{folder.path} holds no task; nothing to resume")
        with folder.lock():
            before = folder.load_result()
            if before is not None and before.status in ("answered", "gave_up"):
                return before
            if before is not None and before.status == "waiting" and answer is None and self._asker is None:
                return before
            return await self._work(stored[0], folder, resumed=True, answer=answer)

    def run_sync(self, question: str | Task, **options: Any) -> TaskResult:
        """`run` for callers without an event loop."""
        return asyncio.run(self.run(question, **options))

    async def stream(self, question: str | Task, **options: Any) -> AsyncIterator[Event | TaskResult]:
        """The events of `run` as they come, then its result."""
        queue: asyncio.Queue[Event | TaskResult | None] = asyncio.Queue()
        sink = _QueueSink(queue)
        watched = Team(
            self.settings, library=self.library, sinks=(*self._sinks, sink), clients=self._clients, asker=self._asker
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
        for shop in self._open:
            shop.stopping = True

    async def _work(
        self, task: Task, folder: TaskDir, *, resumed: bool, answer: str | None = None, replay: Path | None = None
    ) -> TaskResult:
        started = time.monotonic()
        folder.set_state("running")
        sink = JsonlSink(folder.events)
        emit = Events([sink, *self._sinks])
        shop = self._workshop(task, folder, emit, replay)
        self._open.append(shop)
        end = _End()
        try:
            level = await shop.host.level()
            await shop.library.describe_missing(shop.host)
            shop.emit(_opening_event(task, shop, resumed))
            taskfiles.link_into(shop.workspace, task.files)
            end = await self._graph_run(shop, folder, fresh=not resumed, answer=answer)
            if end.finished:
                set_aside_unproven(shop, [unpacked(raw, shop.tape) for raw in end.state.get("calls", [])])
            result = make_result(
                end.state,
                shop,
                error=end.error,
                question_asked=end.question,
                level=level,
                seconds=time.monotonic() - started,
                run_dir=folder.run.path.resolve(),
            )
            folder.run.write_run(self.settings.model_dump(mode="json"), sandbox_level=level)
            folder.save_result(result)
            shop.emit(_closing_event(result))
        except UserError:
            folder.set_state("failed")
            raise
        finally:
            self._open.remove(shop)
            await shop.host.aclose()
            await shop.models.aclose()
            sink.close()
        if isinstance(end.error, asyncio.CancelledError):
            raise end.error
        return result

    def _workshop(self, task: Task, folder: TaskDir, emit: Events, replay: Path | None) -> Workshop:
        settings = self.settings
        tape = Tape(folder.tape)
        voice = Tape(_only_task(RunDir.open(replay), None).tape, replay_only=True) if replay else tape
        limits = settings.limits
        models = Models(
            settings.models,
            tape=voice,
            emit=emit,
            budget=Budget(limits.max_tokens, limits.max_time_s),
            clients=self._clients,
        )
        host = ToolHost(
            settings.sandbox,
            notice=lambda text: emit(Notice(level="warning", text=text)),
            allow_packages=settings.tools.allow_packages,
        )
        prompts = Prompts(Path(settings.prompts_dir) if settings.prompts_dir else None)
        library = LayeredLibrary(Library(folder.tools), Library(self.library))
        writer = make_writer(settings.writer, models)
        smith = Smith(host, library, writer, models, prompts, emit, settings.tools, task_id=task.id)
        presets = Presets(models, prompts, task, folder.workspace, settings.tools)
        return Workshop(
            task=task,
            settings=settings,
            prompts=prompts,
            models=models,
            host=host,
            library=library,
            smith=smith,
            presets=presets,
            tape=tape,
            emit=emit,
            workspace=folder.workspace,
        )

    async def _graph_run(self, shop: Workshop, folder: TaskDir, *, fresh: bool, answer: str | None) -> _End:
        """Drive the graph to its end, an interruption, or a question that nobody here can answer."""
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.types import Command

        config: RunnableConfig = {"configurable": {"thread_id": shop.task.id}, "recursion_limit": 100_000}
        limit = shop.settings.limits.max_time_s
        async with AsyncSqliteSaver.from_conn_string(str(folder.checkpoints)) as saver:
            if not fresh:
                shop.models.tape.resume_at(await _place_on_tape(saver, config))
            graph = build_graph(saver)
            step: Any = initial_state() if fresh else await _where_it_stood(graph, config, answer)
            question: str | None = None
            error: BaseException | None = None
            try:
                async with asyncio.timeout(limit):
                    while True:
                        out = await graph.ainvoke(step, config, context=shop, durability="sync")
                        question = _asked(out)
                        if question is None or self._asker is None:
                            break
                        said = await self._asker(question)
                        if said is None:
                            break
                        step = Command(resume=said)
            except UserError as bad:
                if not isinstance(bad, ReplayMismatch):
                    raise
                error = bad
            except TimeoutError:
                error = BudgetReached(f"the time budget of {limit:g} s is used up")
            except (Exception, asyncio.CancelledError, BaseExceptionGroup) as caught:  # every outcome is a result
                error = _root(caught)
                log.debug("task %s ended early", shop.task.id, exc_info=caught)
            state = cast(TaskState, (await graph.aget_state(config)).values)
        return _End(state, error, question)


class _End:
    """Where a drive of the graph ended."""

    def __init__(
        self, state: TaskState | None = None, error: BaseException | None = None, question: str | None = None
    ) -> None:
        self.state: TaskState = state or initial_state()
        self.error = error
        self.question = question

    @property
    def finished(self) -> bool:
        return self.error is None and self.question is None


class _QueueSink:
    def __init__(self, queue: asyncio.Queue[Event | TaskResult | None]) -> None:
        self._queue = queue

    def emit(self, event: Event) -> None:
        self._queue.put_nowait(event)


async def _where_it_stood(graph: TaskGraph, config: RunnableConfig, answer: str | None) -> Any:
    """What to send into a resumed graph: the user's answer, nothing (go on), or the start if no step was finished."""
    from langgraph.types import Command

    state = await graph.aget_state(config)
    if not state.values:
        return initial_state()
    if answer is not None and state.interrupts:
        return Command(resume=answer)
    return None


async def _place_on_tape(saver: AsyncSqliteSaver, config: RunnableConfig) -> int:
    """How far the tape was used at the newest checkpoint, of the graph or of its executor."""
    async for newest in saver.alist(config, limit=1):
        return int(newest.checkpoint["channel_values"].get("tape", 0))
    return 0


def _asked(out: Any) -> str | None:
    found = out.get("__interrupt__") if isinstance(out, dict) else None
    return str(found[0].value.get("question", "")) if found else None


def _root(error: BaseException) -> BaseException:
    """The first real error inside groups of them (side-by-side work raises groups)."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _task(question: str, files: Sequence[str | Path], base: Path, task_id: str | None) -> Task:
    found, missing = taskfiles.gather(question, files, base)
    return Task(id=safe_id(task_id or "task"), question=question, files=found, missing=missing)


def _only_task(run: RunDir, task_id: str | None) -> TaskDir:
    tasks = {task.id: task for task in run.tasks()}
    if task_id is not None:
        if safe_id(task_id) not in tasks:
            raise UserError(f"{run.path} has no task {task_id}; it has: {', '.join(tasks) or 'none'}")
        return tasks[safe_id(task_id)]
    if len(tasks) != 1:
        raise UserError(f"{run.path} has {len(tasks)} tasks; name one with --task-id")
    return next(iter(tasks.values()))


def _opening_event(task: Task, shop: Workshop, resumed: bool) -> TaskStarted:
    return TaskStarted(
        task_id=task.id,
        question=task.question,
        files=tuple(file.named for file in task.files),
        model=shop.models.name("basic"),
        resumed=resumed,
    )


def _closing_event(result: TaskResult) -> TaskEnded:
    return TaskEnded(
        task_id=result.task_id,
        status=result.status,
        final_answer=result.final_answer,
        error=result.error,
        usage=result.usage,
        seconds=result.seconds,
    )
