"""Deciding without doing: the next calls of a model, checked, for someone else to run.

A step takes a conversation and the results of its open calls, by id, and gives calls or the answer. It is the executor
with no tool rounds at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis import rules
from habilis.agents.correcting import corrected_step
from habilis.agents.outcome import status_of
from habilis.agents.state import TaskState
from habilis.context.task import MOST_BOUND, TaskContext
from habilis.core.errors import HabilisError, UserError
from habilis.core.types import DecidedCall, Decision, ToolSpec
from habilis.messages.bounds import cut_of
from habilis.messages.calls import CheckedCalls
from habilis.messages.history import call_ids, pending_calls
from habilis.tool_calling.transcripts import result_text, write_openai


def with_results(messages: Sequence[BaseMessage], results: Mapping[str, Any]) -> list[BaseMessage]:
    """`messages` with `results` by call id. A result of a call that is not open is kept as a note of the user's."""
    known = pending_calls(messages)
    given: list[BaseMessage] = [
        ToolMessage(result_text(output), tool_call_id=call_id)
        for call_id, output in results.items()
        if call_id in known
    ]
    notes = [
        HumanMessage(f"Result of {call_id}, a call that is not open here: {result_text(output)}")
        for call_id, output in results.items()
        if call_id not in known
    ]
    return [*messages, *given, *notes]


def opening(ctx: TaskContext) -> HumanMessage:
    """The first message of a conversation about the task."""
    task = ctx.task
    prompt = ctx.prompts.render(
        "execute", question=task.question, files=ctx.files_view, missing=task.missing, guidance=""
    )
    return HumanMessage(prompt.user)


def specs_of(tools: Sequence[ToolSpec | Mapping[str, Any]]) -> list[ToolSpec]:
    """Tools given as specs or as function schemas of chat completions. Raises `UserError` that names a bad one."""
    found: list[ToolSpec] = []
    for number, tool in enumerate(tools, 1):
        if isinstance(tool, ToolSpec):
            found.append(tool)
            continue
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        schema = function.get("parameters", function.get("input_schema", {})) if isinstance(function, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(name, str) or not name or not isinstance(schema, dict):
            raise UserError(f"tool {number} is not a function schema: it needs a name, a description and parameters")
        found.append(ToolSpec(name=name, description=str(function.get("description", "")), parameters=schema))
    names = [spec.name for spec in found]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise UserError(f"two tools are named {double}")
    return found


async def nearest_specs(ctx: TaskContext) -> list[ToolSpec]:
    """The tools of the library and of all sources that fit the task best. Raises `UserError` if a source must be there
    and is not."""
    await ctx.library.describe_missing(ctx.host)
    await ctx.open_external()
    cards = ctx.candidates(ctx.task.question, MOST_BOUND)
    return [tool.spec for card in cards if (tool := ctx.tool(card.name)) is not None][:MOST_BOUND]


async def decide(ctx: TaskContext, messages: Sequence[BaseMessage], specs: Sequence[ToolSpec]) -> Decision:
    """The next step of `messages`. Every outcome but a `UserError` is a `Decision`."""
    pending = pending_calls(messages)
    if pending:
        error = f"no result yet for {', '.join(pending)}"
        return Decision(status="unanswered", pending=tuple(pending), error=error, conversation=_written(messages))
    if not specs:
        raise UserError("there is no tool to decide for: give --tools, or a library or a source that holds some")
    turn = 1 + sum(message.type == "ai" for message in messages)
    asked = [SystemMessage(ctx.system_prompt), *messages]
    taken = {call_id for message in messages for call_id in call_ids(message)}
    try:
        checked, doubt = await corrected_step(
            asked, specs, ctx, label=f"decision {turn}", position=turn, prefix=f"d{turn}", taken=taken
        )
    except UserError:
        raise
    except (HabilisError, OSError) as caught:
        nothing: TaskState = {}
        status, reason = status_of(nothing, caught, waiting=False)
        return Decision(status=status, error=reason, conversation=_written(messages))
    return _decided(messages, checked, doubt)


def _decided(messages: Sequence[BaseMessage], checked: CheckedCalls, doubt: str) -> Decision:
    if checked.problems or doubt:
        reasons = "; ".join([*(problem.text for problem in checked.problems), *([doubt] if doubt else [])])
        error = f"no reply of the model was a usable decision; the last: {reasons}"
        return Decision(status="gave_up", error=error, conversation=_written(messages))
    calls = tuple(DecidedCall(id=call.id, name=call.name, arguments=call.args) for call in checked.calls)
    answer = str(checked.message.content).strip()
    cut = cut_of(checked.message)
    if not calls and (cut or not answer):
        error = f"the reply {cut.in_full}" if cut else "the model gave an empty reply"
        return Decision(status="gave_up", answer=answer, error=error, conversation=_written(messages))
    said = _written([*messages, checked.message])
    if calls:
        return Decision(status="calls", calls=calls, conversation=said)
    if undone := _undone(answer, messages):
        error = f'the model says that it could not answer ("{undone}")'
        return Decision(status="gave_up", answer=answer, error=error, conversation=said)
    return Decision(status="answered", answer=answer, conversation=said)


def _undone(answer: str, messages: Sequence[BaseMessage]) -> str:
    """The words by which `answer` says that nothing came of the question; what a result says is no word of its own."""
    results = " ".join(str(message.content) for message in messages if isinstance(message, ToolMessage))
    found = (" ".join(match[0].split()) for match in rules.UNDONE.finditer(answer[: rules.MAX_TEXT]))
    return next((words for words in found if rules.plain(words) not in rules.plain(results)), "")


def _written(messages: Sequence[BaseMessage]) -> tuple[dict[str, Any], ...]:
    """`messages` as chat completions have them; calls that wait for their results stay open."""
    rows = write_openai(messages)
    waiting = set(pending_calls(messages))
    return tuple(row for row in rows if row.get("tool_call_id") not in waiting)
