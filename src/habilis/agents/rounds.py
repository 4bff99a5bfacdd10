"""One tool round: run the calls of a reply, guard against repetition, note what was seen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from habilis.agents import verdicts
from habilis.agents.state import ExecutorState, packed
from habilis.context.presets import ASK_USER, FINISH_TASK
from habilis.context.task import TaskContext, call_key
from habilis.core.events import Judged, Thought, ThoughtCall
from habilis.core.types import CallError, CallOutcome, Invocation
from habilis.messages.calls import Call, CheckedCalls

REPEATED = "the same call was already made"
WARNED_FROM, STOPPED_AT = 2, 4
"""The same call of the same tool: run with a warning from the second time on, and no more at the fourth."""


async def run_round(checked: CheckedCalls, state: ExecutorState, ctx: TaskContext) -> list[Invocation]:
    """Run what `checked` holds, side by side, calls that write one after another in their order.

    Returns an invocation for each call in the order of the reply, with the verdicts that rules can give, recorded.
    Calls of `ask_user` and `finish_task` are left to the executor. Calls with problems come back as errors.
    """
    calls = [call for call in checked.calls if call.name not in (ASK_USER, FINISH_TASK)]
    done: dict[str, Invocation] = {}
    await ctx.settle(call.name for call in calls)

    async def one(call: Call) -> None:
        done[call.id] = await _guarded(call, calls, state, ctx)

    async def in_order(writing: Sequence[Call]) -> None:
        for call in writing:
            await one(call)

    async with asyncio.TaskGroup() as group:
        group.create_task(in_order([call for call in calls if ctx.effects(call.name) == "writes"]))
        for call in calls:
            if ctx.effects(call.name) != "writes":
                group.create_task(one(call))
    for problem in checked.problems:
        kind = "invalid_arguments" if ctx.version(problem.name) else "unknown_tool"
        outcome = CallOutcome(error=CallError(kind=kind, message=problem.text))
        call = Call(id=problem.call_id, name=problem.name, args={})
        done[problem.call_id] = await _closed(call, outcome, state, ctx)
    order = [call["id"] or "" for call in checked.message.tool_calls]
    return [_ruled(done[call_id], ctx) for call_id in order if call_id in done]


async def _guarded(call: Call, siblings: Sequence[Call], state: ExecutorState, ctx: TaskContext) -> Invocation:
    """Run one call, unless the same one was made before in this execution."""
    version = ctx.version(call.name)
    key = call_key(call.name, version, call.args)
    before = [
        raw["call_id"]
        for raw in state["calls"]
        if raw["attempt"] == state["attempt"] and call_key(raw["tool"], raw["version"], raw["arguments"]) == key
    ]
    earlier_siblings = siblings[: siblings.index(call)]
    nth = (
        1 + len(before) + sum(call_key(c.name, version, c.args) == key for c in earlier_siblings if c.name == call.name)
    )
    if nth < WARNED_FROM:
        return await ctx.invoke(call, attempt=state["attempt"], ordinal=_ordinal(state))
    if nth >= STOPPED_AT:
        message = f"not run: {REPEATED} {nth - 1} times. Answer from what you have."
        return await _closed(call, CallOutcome(error=CallError(kind="denied", message=message)), state, ctx)
    warning = f"(Warning: {REPEATED}; this is number {nth}. Take another way, or answer.)"
    recorded = ctx.tape.call_state(before[0]) if before and ctx.effects(call.name) == "pure" else None
    if isinstance(recorded, CallOutcome):
        return await _closed(call, recorded, state, ctx, reused=True, note=warning)
    ran = await ctx.invoke(call, attempt=state["attempt"], ordinal=_ordinal(state))
    return ran.model_copy(update={"text": f"{ran.text}\n{warning}"})


async def _closed(
    call: Call, outcome: CallOutcome, state: ExecutorState, ctx: TaskContext, *, reused: bool = False, note: str = ""
) -> Invocation:
    """The invocation of a call that is not run: its outcome is known already."""
    return await ctx.finish(
        call,
        outcome,
        ctx.version(call.name),
        ctx.effects(call.name),
        attempt=state["attempt"],
        ordinal=_ordinal(state),
        reused=reused,
        note=note,
    )


def _ordinal(state: ExecutorState) -> int:
    return state.get("rounds", 0) + 1


def _ruled(call: Invocation, ctx: TaskContext) -> Invocation:
    """`call` with the verdict that needs no model, if there is one; then it is recorded with its tool."""
    verdict, reason = verdicts.verdict_by_rule(call)
    if verdict is None:
        return call
    ctx.emit(Judged(call_id=call.call_id, tool=call.tool, verdict=verdict, reason=reason, by="rule"))
    judged = call.model_copy(update={"verdict": verdict})
    ctx.keep_record(judged)
    return judged


def repeated_too_often(results: Sequence[Invocation]) -> bool:
    """Whether a call of this round was refused because it was made too often."""
    return any(call.outcome.error and call.outcome.error.message.startswith(f"not run: {REPEATED}") for call in results)


def observe(position: int, thought: str, results: Sequence[Invocation], ctx: TaskContext) -> None:
    """Write the round's thought record for the last time, with what the tools gave."""
    calls = tuple(
        ThoughtCall(
            call_id=call.call_id,
            tool=call.tool,
            arguments=call.arguments,
            observation=call.text,
            seconds=call.outcome.seconds,
            error=call.outcome.error.message if call.outcome.error else None,
        )
        for call in results
    )
    ctx.emit(Thought(position=position, stage="observed", thought=thought, calls=calls))


def logged(state: ExecutorState, results: Sequence[Invocation]) -> list[dict[str, object]]:
    """The log of invocations with `results` at its end, each call id once."""
    new = {call.call_id for call in results}
    return [raw for raw in state["calls"] if raw["call_id"] not in new] + [packed(call) for call in results]
