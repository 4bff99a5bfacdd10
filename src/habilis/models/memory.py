"""Token-buffer memory: which of the earlier turns a request holds, newest first, and how they stand in it.

Pure functions. A call and its results are kept together or left out together; nothing is cut in the middle, and what is
kept never exceeds the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from habilis.core.types import PastCall, PastTurn

Size = Callable[[Sequence[BaseMessage]], int]
"""Tokens of messages; those of a list are the sum of its messages'."""


def messages_of(turn: PastTurn) -> list[BaseMessage]:
    """A turn as it stood in its history: the question, each round of calls with its results, the answer."""
    found: list[BaseMessage] = [HumanMessage(turn.question)]
    for calls in turn.rounds:
        found += _round(calls)
    return [*found, AIMessage(answer_of(turn))]


def answer_of(turn: PastTurn) -> str:
    """The answer, and the files that the turn's tools made."""
    return f"{turn.answer}\n[Files made: {', '.join(turn.made)}]" if turn.made else turn.answer


def conversation(turns: Sequence[PastTurn]) -> list[BaseMessage]:
    """`turns` one after another, as messages."""
    return [message for turn in turns for message in messages_of(turn)]


def within(turns: Sequence[PastTurn], limit: int, size: Size) -> tuple[PastTurn, ...]:
    """The newest of `turns` (oldest first) that fit in `limit` tokens together, in their order.

    All tool work together takes at most half of that, so that questions and answers reach further back: where it is
    used up, a turn stands without its oldest rounds, or with its question and answer alone.
    """
    kept: list[PastTurn] = []
    left, work = limit, limit // 2
    for turn in reversed(turns):
        bare = turn.model_copy(update={"rounds": ()})
        left -= size(messages_of(bare))
        if left < 0:
            break
        rounds, used = _newest_rounds(turn.rounds, min(left, work), size)
        left, work = left - used, work - used
        kept.append(turn if len(rounds) == len(turn.rounds) else turn.model_copy(update={"rounds": rounds}))
    return tuple(reversed(kept))


def _newest_rounds(
    rounds: Sequence[tuple[PastCall, ...]], room: int, size: Size
) -> tuple[tuple[tuple[PastCall, ...], ...], int]:
    """The newest rounds that fit in `room` tokens, in their order, and how many tokens they take."""
    kept: list[tuple[PastCall, ...]] = []
    used = 0
    for calls in reversed(rounds):
        tokens = size(_round(calls))
        if used + tokens > room:
            break
        used += tokens
        kept.append(calls)
    return tuple(reversed(kept)), used


def _round(calls: Sequence[PastCall]) -> list[BaseMessage]:
    asked = [{"name": call.tool, "args": call.arguments, "id": call.id, "type": "tool_call"} for call in calls]
    results = [
        ToolMessage(call.result, tool_call_id=call.id, name=call.tool, status="error" if call.error else "success")
        for call in calls
    ]
    return [AIMessage("", tool_calls=asked), *results]
