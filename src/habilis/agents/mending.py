"""A look at failing tools: verdicts that rules left open, then a better version of what failed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from habilis.agents import verdicts
from habilis.agents.state import ExecutorState, packed, unpacked
from habilis.context.task import TaskContext
from habilis.core.types import Invocation
from habilis.library import Tool
from habilis.messages.history import call_ids, drop_calls

MOST_ENHANCEMENTS = 2
"""Of one tool in one task: what two versions did not mend is no matter of its code."""


@dataclass(frozen=True)
class Mended:
    """What a look came to: tools with a better version, the log with all verdicts, the history without what failed."""

    tools: tuple[str, ...]
    calls: list[dict[str, Any]]
    messages: list[BaseMessage]
    enhancements: dict[str, list[str]]


def is_due(state: Mapping[str, Any], ctx: TaskContext) -> bool:
    """Whether there is anything to look at: a call without verdict, or a failure that may still be mended."""
    open_calls = [
        Invocation.model_validate(raw)
        for raw in state["calls"]
        if raw["verdict"] in (None, "failure") and raw["attempt"] == state["attempt"]
    ]
    if not open_calls:
        return False
    if any(call.verdict is None and ctx.library.get(call.tool) for call in open_calls):
        return True
    return bool(_failing(open_calls, state["enhancements"], ctx) or _mended_before(open_calls, state["messages"], ctx))


async def mend(state: ExecutorState, ctx: TaskContext) -> Mended:
    """Judge what is not judged, then let the smith mend each failing tool, all side by side.

    Only where a better version passed its replay are the failing calls and their results taken out of the history.
    """
    log = [unpacked(raw, ctx.tape) for raw in state["calls"]]
    unjudged = [call for call in log if call.verdict is None and call.attempt == state["attempt"]]
    judged = {call.call_id: call for call in await verdicts.judge(unjudged, ctx)} if unjudged else {}
    for call in judged.values():
        ctx.keep_record(call)
    log = [judged.get(call.call_id, call) for call in log]
    current = [call for call in log if call.attempt == state["attempt"]]
    tried = {tool: list(kinds) for tool, kinds in state.get("enhancements", {}).items()}
    failing = _failing(current, tried, ctx)
    outcomes = await _enhance_all(failing, ctx)
    messages = state["messages"]
    for name, calls in _mended_before(current, messages, ctx).items():
        failing[name], outcomes[name] = calls, True
    for name, better in outcomes.items():
        # one entry for each enhancement, whatever number of kinds it was to mend
        kinds = dict.fromkeys(verdicts.failure_kind(call) for call in failing[name])
        tried.setdefault(name, []).append("\n".join(kinds))
        if better:
            failed = [c for c in current if c.tool == name and c.verdict == "failure"]
            messages = drop_calls(messages, {call.call_id for call in failed})
    return Mended(tuple(n for n, ok in outcomes.items() if ok), [packed(call) for call in log], messages, tried)


def reply_known(before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> AIMessage | None:
    """The calls with which the model once replied to `after`, where the history `before` went on from there."""
    reply = before[len(after)] if len(after) < len(before) else None
    went_on = isinstance(reply, AIMessage) and bool(reply.tool_calls) and list(before[: len(after)]) == list(after)
    return reply if went_on and isinstance(reply, AIMessage) else None


async def _enhance_all(failing: Mapping[str, Sequence[Invocation]], ctx: TaskContext) -> dict[str, bool]:
    tasks: dict[str, asyncio.Task[Tool | Any]] = {}
    async with asyncio.TaskGroup() as group:
        for name, calls in failing.items():
            tool = ctx.library.get(name)
            if tool is not None:
                records = [
                    record for call in calls if (record := ctx.library.record_of(call.tool, call.call_id)) is not None
                ]
                tasks[name] = group.create_task(ctx.smith.enhance(tool, records))
    return {name: isinstance(task.result(), Tool) for name, task in tasks.items()}


def _mended_before(
    calls: Sequence[Invocation], messages: Sequence[BaseMessage], ctx: TaskContext
) -> dict[str, list[Invocation]]:
    """By tool, failures that still stand in the history although the present version was made to mend them.

    So it is after a kill between the tool's replacement and the checkpoint: the step runs again, the work is done.
    """
    standing = {call_id for message in messages for call_id in call_ids(message)}
    found: dict[str, list[Invocation]] = {}
    for call in calls:
        if call.verdict != "failure" or call.call_id not in standing:
            continue  # asked before the library, which looks at files: this runs over the whole log every round
        tool = ctx.library.get(call.tool)
        if tool is not None and (tool.manifest.name, call.version) in _made_from(tool):
            found.setdefault(call.tool, []).append(call)
    return found


def _made_from(tool: Tool) -> set[tuple[str, str]]:
    """Names and versions of what `tool` was made from."""
    labels = (parent.rpartition("@") for parent in tool.origin.parents)
    return {(name, identity.partition("-")[0]) for name, _, identity in labels}


def _failing(
    calls: Sequence[Invocation], tried: Mapping[str, Sequence[str]], ctx: TaskContext
) -> dict[str, list[Invocation]]:
    """By tool, the failures of its present version whose kind was not tried yet, within the limit of enhancements."""
    found: dict[str, list[Invocation]] = {}
    for call in calls:
        if call.verdict != "failure" or not ctx.settings.tools.synthesis:
            continue
        tool = ctx.library.get(call.tool)
        if tool is None or tool.version != call.version:
            continue
        looks = tried.get(call.tool, ())
        kinds = {kind for look in looks for kind in look.split("\n")}
        if verdicts.failure_kind(call) in kinds or len(looks) >= MOST_ENHANCEMENTS:
            continue
        found.setdefault(call.tool, []).append(call)
    return found
