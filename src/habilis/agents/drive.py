"""Driving the graph of one task: from where it stands to its end, an interruption, or an open question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from habilis.agents.graph import TaskGraph, build_graph, initial_state
from habilis.agents.state import TaskState
from habilis.context.task import TaskContext
from habilis.contract import taskfiles
from habilis.core.errors import BudgetReached, ReplayMismatch, UserError
from habilis.core.place import place_failure
from habilis.rundir import TaskDir
from habilis.runtime.preflight import try_places

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from habilis.agents.checkpoints import NewestCheckpoints

log = logging.getLogger(__name__)

Asker = Callable[[str], Awaitable[str | None]]
"""Puts a question to a person; None leaves it open."""
STEPS = 100_000
"""Steps after which LangGraph itself would stop; our own limits end every loop long before."""


@dataclass
class DriveEnd:
    """Where a drive ended: the state reached, what broke it off, the question that is open, the sandbox's level."""

    state: TaskState = field(default_factory=initial_state)
    error: BaseException | None = None
    question: str | None = None
    level: str = ""

    @property
    def finished(self) -> bool:
        return self.error is None and self.question is None


async def drive(ctx: TaskContext, folder: TaskDir, *, fresh: bool, answer: str | None, asker: Asker | None) -> DriveEnd:
    """Run the graph from its start, or from its last checkpoint. Every outcome but a `UserError` is an `DriveEnd`."""
    end = DriveEnd()
    limit = ctx.settings.limits.max_time_s
    try:
        async with asyncio.timeout(limit):
            end.level = await _ready(ctx, folder)
            await ctx.library.describe_missing(ctx.host)
            await ctx.open_external()
            taskfiles.link_into(ctx.workspace, ctx.task.files)
            ctx.expect_calls()
            await _run_graph(ctx, folder, end, fresh=fresh, answer=answer, asker=asker)
    except TimeoutError:
        end.error = BudgetReached(f"the time budget of {limit or 0:g} s is used up")
    except (Exception, asyncio.CancelledError) as caught:  # every outcome is a result
        root = _root(caught)
        end.error = place_failure(root) or root
        if isinstance(end.error, UserError) and not isinstance(end.error, ReplayMismatch):
            raise end.error from None
        log.debug("task %s ended early", ctx.task.id, exc_info=caught)
    return end


async def _ready(ctx: TaskContext, folder: TaskDir) -> str:
    """The sandbox's level, once all that a task needs of this machine has been tried. Raises `PlaceError`."""
    try_places(folder.path)
    async with asyncio.TaskGroup() as group:
        level = group.create_task(ctx.host.level())
        group.create_task(ctx.host.prepare(()))
        group.create_task(asyncio.to_thread(ctx.models.load))  # imports, while the sandbox is probed
    return level.result()


async def _run_graph(
    ctx: TaskContext, folder: TaskDir, end: DriveEnd, *, fresh: bool, answer: str | None, asker: Asker | None
) -> None:
    """The graph over its checkpoints; `end` holds the state reached, however this is left."""
    from langgraph.types import Command

    from habilis.agents.checkpoints import NewestCheckpoints

    config: RunnableConfig = {"configurable": {"thread_id": ctx.task.id}, "recursion_limit": STEPS}
    with NewestCheckpoints.at(folder.checkpoints) as saver:
        if not fresh:
            ctx.models.tape.resume_at((await _newest(saver, config)).get("tape", 0))
        graph = build_graph(saver)
        step: Any = initial_state() if fresh else await _where_it_stood(graph, config, answer)
        try:
            while True:
                out = await graph.ainvoke(step, config, context=ctx, durability="sync")
                end.question = _asked(out)
                said = await asker(end.question) if end.question is not None and asker else None
                if said is None:
                    break
                step = Command(resume=said)
        finally:
            end.state = await _reached(graph, saver, config)


async def _where_it_stood(graph: TaskGraph, config: RunnableConfig, answer: str | None) -> Any:
    """What to send into a resumed graph: the user's answer, nothing (go on), or the start if no step was finished."""
    from langgraph.types import Command

    state = await graph.aget_state(config)
    if not state.values:
        return initial_state()
    if answer is not None and state.interrupts:
        return Command(resume=answer)
    return None


async def _reached(graph: TaskGraph, saver: NewestCheckpoints, config: RunnableConfig) -> TaskState:
    """The state reached; of an execution that was broken off, the calls and rounds that it had come to."""
    state = cast(TaskState, {**initial_state(), **(await graph.aget_state(config)).values})
    newest = await _newest(saver, config)
    if newest.get("attempt", 0) > state["attempt"]:  # the executor's own checkpoint is the newest
        state["calls"] = newest.get("calls", state["calls"])
        state["rounds"] += newest.get("rounds", 0)
        state["pending"] = newest.get("text") or state["pending"]
    return state


async def _newest(saver: NewestCheckpoints, config: RunnableConfig) -> dict[str, Any]:
    """Values of the newest checkpoint, of the graph or of its executor; empty when there is none."""
    found = [checkpoint async for checkpoint in saver.alist(config, limit=1)]
    return dict(found[0].checkpoint["channel_values"]) if found else {}


def _asked(out: Any) -> str | None:
    found = out.get("__interrupt__") if isinstance(out, dict) else None
    return str(found[0].value.get("question", "")) if found else None


def _root(error: BaseException) -> BaseException:
    """The first real error inside groups of them (side-by-side work raises groups)."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
