"""From where a task stopped to its result: an honest status, the best text there is, what it made and used."""

from __future__ import annotations

import asyncio
from pathlib import Path

from habilis.agents.drive import DriveEnd
from habilis.agents.givenup import given_up
from habilis.agents.integrator import NO_RESULT, best_text
from habilis.agents.state import TaskState, unpacked
from habilis.context.task import TaskContext
from habilis.core.errors import (
    BudgetReached,
    Interrupted,
    ModelMisconfigured,
    ModelReplyUnusable,
    ModelUnreachable,
    PlaceError,
    ReplayMismatch,
)
from habilis.core.events import Notice, ToolArchived
from habilis.core.types import Answer, Invocation, Review, Status, TaskResult, Usage
from habilis.judging import standings_on

MENDED = ("enhanced", "forked")


def status_of(state: TaskState, error: BaseException | None, *, waiting: bool) -> tuple[Status, str | None]:
    """The status and, unless `answered` or `waiting`, its reason in one line.

    `answered` only if a review accepted an execution and the integrator's call succeeded.
    """
    match error:
        case None:
            pass
        case BudgetReached():
            return "budget", str(error)
        case ModelMisconfigured():
            return "misconfigured", str(error)
        case PlaceError():
            return "environment_error", str(error)
        case ModelUnreachable():
            return "unreachable", str(error)
        case Interrupted() | asyncio.CancelledError():
            return "interrupted", str(error) or "stopped by the user"
        case ModelReplyUnusable():
            return "gave_up", str(error)
        case ReplayMismatch() | OSError():
            return "crashed", str(error)
        case _:
            return "crashed", f"{type(error).__name__}: {error}"
    if waiting:
        return "waiting", None
    if not state.get("accepted"):
        return "gave_up", state.get("report") or "no execution was accepted"
    if state.get("answer_error") or not state.get("answer"):
        return "gave_up", state.get("answer_error") or "integrator: no answer was made"
    return "answered", None


def make_result(end: DriveEnd, ctx: TaskContext, *, seconds: float, run_dir: Path) -> TaskResult:
    """The task's result as it stands in `result.json`."""
    state = end.state
    status, reason = status_of(state, end.error, waiting=end.question is not None)
    answer = Answer.model_validate(state["answer"]) if state.get("answer") else None
    if answer is None:
        best = best_text(state)
        answer = Answer(final_answer=best or ("" if status == "waiting" else NO_RESULT))
    calls = [unpacked(raw, ctx.tape) for raw in state.get("calls", [])]
    model = ctx.models.name("basic")
    ending = given_up(reason or "", state, calls, ctx.task, ctx.settings, model) if status == "gave_up" else None
    by_role = ctx.models.usage_by_role
    if ctx.models.tape.replay_only:
        by_role = {role: used.replayed() for role, used in by_role.items()}
    usage = sum(by_role.values(), Usage())
    return TaskResult(
        task_id=ctx.task.id,
        status=status,
        question=ctx.task.question,
        final_answer=answer.final_answer,
        reasoning_summary=answer.reasoning_summary,
        answer_data=answer.data,
        error=reason,
        found=ending.found if ending else (),
        missing=ending.missing if ending else "",
        suggestions=ending.suggestions if ending else (),
        question_asked=end.question,
        review=Review.model_validate(state["review"]) if state.get("review") else None,
        judges=standings_on(ctx.models.tape),
        files=tuple(_files_made(calls, ctx.workspace)),
        sandbox_level=end.level,
        model=model,
        attempts=state.get("attempt", 0),
        rounds=state.get("rounds", 0),
        round_limit_reached=state.get("round_limit_reached", False),
        tools_made=tuple(ctx.library.private.names()),
        tools_used=tuple(dict.fromkeys(call.tool for call in calls if call.outcome.error is None)),
        tool_calls=len(calls),
        invocations=tuple(calls),
        usage=usage,
        usage_by_role=by_role,
        cost=usage.cost,
        prices=usage.prices,
        seconds=round(seconds, 3),
        run_dir=str(run_dir),
    )


def set_aside_unproven(ctx: TaskContext, calls: list[Invocation]) -> None:
    """Archive private tools that never proved themselves: built, and no call of theirs was a success.

    A tool that was enhanced has passed the replay of its record, which is proof as good as a call.
    """
    proven = {call.tool for call in calls if call.verdict == "success"}
    for name in ctx.library.private.names():
        tool = ctx.library.private.get(name)
        if tool is None or name in proven or tool.origin.how in MENDED:
            continue
        called = any(call.tool == name for call in calls)
        reason = "no call of it succeeded" if called else "it was never called"
        try:
            path = ctx.library.private.archive(name, reason)
        except OSError as error:  # it stays where it is: better kept twice than lost
            ctx.emit(Notice(level="warning", text=f"{name} could not be set aside: {error.strerror or error}"))
            continue
        ctx.emit(ToolArchived(tool=name, reason=reason, path=str(path)))


def _files_made(calls: list[Invocation], workspace: Path) -> list[str]:
    names = dict.fromkeys(name for call in calls for name in call.outcome.made)
    return [str(workspace / name) for name in names if (workspace / name).exists()]
