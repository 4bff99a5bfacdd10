"""One step of a model whose calls fit their schemas, or the last try after all corrections were asked for."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from habilis.context.task import TaskContext
from habilis.core.types import ToolSpec
from habilis.messages.bounds import USELESS
from habilis.messages.calls import CheckedCalls, check_calls, with_unique_ids
from habilis.models.continuing import MOST_PARTS

CORRECTIONS = 3
"""Times that a model is told what is wrong with its calls."""


async def corrected_step(
    messages: Sequence[BaseMessage],
    specs: Sequence[ToolSpec],
    ctx: TaskContext,
    *,
    label: str,
    position: int,
    prefix: str,
    taken: Collection[str],
    unshown: Sequence[ToolSpec] = (),
    whole: bool = True,
) -> tuple[CheckedCalls, str]:
    """The reply to `messages`, checked, and what is still doubtful about it once all corrections are used.

    Corrections are a conversation of this step alone: what is wrong with all calls of a reply is said together, next
    to that reply. Ids of calls are `<prefix>_<n>` where the model gives none, or one of `taken`. `unshown` are tools
    that answer as well where they are called. Without any the reply is its text alone. `whole`: an answer that is cut
    off is asked to go on. The same reply for the third time is the last, whatever corrections are left.
    """
    parts = MOST_PARTS if whole else 1
    asked = list(messages)
    corrections = CORRECTIONS
    said: list[str] = []
    while True:
        step = await ctx.strategies.step(asked, specs, label=label, position=position, parts=parts)
        said.append(_said(step.message))
        corrections = 0 if said.count(said[-1]) >= USELESS else corrections
        if step.doubt and corrections:
            corrections -= 1
            asked += [step.message, HumanMessage(step.doubt)]
            continue
        called = {call["name"] for call in step.message.tool_calls}
        also = [spec for spec in unshown if spec.name in called]
        if not (specs or also):
            text = "" if step.acted else str(step.message.content)
            answer = AIMessage(text, response_metadata=step.message.response_metadata)
            return CheckedCalls((), (), answer), step.doubt
        checked = check_calls(with_unique_ids(step.message, prefix, taken), [*specs, *also])
        if not checked.problems or not corrections:
            return checked, step.doubt
        corrections -= 1
        asked += [checked.message, *_corrections(checked)]


def _said(reply: AIMessage) -> str:
    """What a reply says and calls, by which it is known again."""
    calls = [[call["name"], call["args"]] for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
    return json.dumps([reply.content, calls], sort_keys=True, default=str)


def _corrections(checked: CheckedCalls) -> list[ToolMessage]:
    """A result for every call of a reply with problems: what is wrong with it, or that it waits for the others."""
    wrong = {problem.call_id: problem.text for problem in checked.problems}
    waiting = "Not run: another call of this reply is wrong. Send this call again with the corrected one."
    return [
        ToolMessage(wrong.get(call["id"] or "", waiting), tool_call_id=call["id"], name=call["name"], status="error")
        for call in checked.message.tool_calls
    ]
