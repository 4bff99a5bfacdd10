"""What a task begins from: its question and files, its place in a run or a conversation, the library as it was then."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.agents.remembering import earlier_of
from habilis.contract import taskfiles
from habilis.core.errors import UserError
from habilis.core.events import Event, TaskEnded, TaskStarted
from habilis.core.types import Task, TaskResult
from habilis.library.generations import generation_of
from habilis.messages.history import text_of
from habilis.rundir import RunDir, TaskDir, ThreadDir, safe_id

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from habilis.config import Settings
    from habilis.context.task import TaskContext


def generation_then(replay: Path, library: Path) -> int:
    """The generation of `library` that the run in `replay` worked with; the present one if that was another library."""
    stored = only_task(RunDir.open(replay), None).load_task()
    told = stored[1] if stored is not None else {}
    same = told.get("library") == str(library) and "generation" in told
    return int(told["generation"]) if same else generation_of(library)


class QueueSink:
    """Hands events on to whoever waits for them."""

    def __init__(self, queue: asyncio.Queue[Event | TaskResult | None]) -> None:
        self._queue = queue

    def emit(self, event: Event) -> None:
        self._queue.put_nowait(event)


def task_of(question: str, files: Sequence[str | Path], base: Path, task_id: str | None) -> Task:
    """The task that asks `question`, with its files. Raises `UserError` for a given file that is not there."""
    found, missing = taskfiles.gather(question, files, base)
    return Task(id=safe_id(task_id or "task"), question=question, files=found, missing=missing)


def first_question(messages: Sequence[BaseMessage]) -> str:
    """What a conversation begins with; it names the run and finds the tools."""
    first = next((message for message in messages if message.type == "human"), None)
    if first is None:
        raise UserError("give a question, or a conversation that holds one")
    return text_of(first)


def only_task(run: RunDir, task_id: str | None) -> TaskDir:
    """The task of `run` that is meant. Raises `UserError` when that is not one."""
    if task_id is not None and (named := run.task_there(task_id)) is not None:
        return named
    tasks = run.tasks()
    if task_id is not None:
        there = ", ".join(task.id for task in tasks) or "none"
        raise UserError(f"{run.path} has no task {task_id}; it has: {there}")
    if len(tasks) != 1:
        raise UserError(f"{run.path} has {len(tasks)} tasks; name one with --task-id")
    return tasks[0]


def as_turn(thread: ThreadDir, task: Task, settings: Settings) -> Task:
    """`task` as the next turn of `thread`: with what it is told of the turns before it, and their files.

    A file that the question names and that an earlier turn has is not missing.
    """
    earlier, files = earlier_of(thread, task.question, task.files, settings)
    names = {Path(file.named).name for file in files}
    missing = tuple(name for name in task.missing if Path(name).name not in names)
    return task.model_copy(update={"id": thread.next_id(), "earlier": earlier, "files": files, "missing": missing})


def sound(task: Task) -> Task:
    """`task` without files of earlier turns that are links by now: where they lie, tools could write since."""
    if task.earlier is None:
        return task
    thread = Path(task.earlier.thread).resolve()
    files = tuple(f for f in task.files if not Path(f.path).is_relative_to(thread) or _is_itself(Path(f.path)))
    return task if files == task.files else task.model_copy(update={"files": files})


def _is_itself(path: Path) -> bool:
    return path.exists() and path.resolve() == path


def library_of(thread: ThreadDir) -> Path | None:
    """The library that the last turn of `thread` worked with; None before the first one."""
    turns = thread.turns()
    named = turns[-1].extra().get("library") if turns else None
    return Path(named) if isinstance(named, str) else None


def opening_event(task: Task, ctx: TaskContext, resumed: bool) -> TaskStarted:
    """What is told when a task begins or goes on."""
    return TaskStarted(
        task_id=task.id,
        question=task.question,
        files=tuple(file.named for file in task.files),
        model=ctx.models.name("basic"),
        resumed=resumed,
    )


def closing_event(result: TaskResult) -> TaskEnded:
    """What is told when a task has ended, however it did."""
    return TaskEnded(
        task_id=result.task_id,
        status=result.status,
        final_answer=result.final_answer,
        error=result.error,
        usage=result.usage,
        seconds=result.seconds,
    )
