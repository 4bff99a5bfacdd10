"""Histories as lists of LangChain messages: what a provider would refuse is put right, and nothing else is touched.

Pure functions. A call and its result are always kept or dropped together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from habilis.messages.arguments import ArgumentsUnreadable, read_arguments
from habilis.messages.calls import UNREADABLE, UNREADABLE_AT, calls_in_order

NO_RESULT = "No result: this call was not run."
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_ECHO = re.compile(r"\s*<(?:question|failure_report)>\s")
"""How our own prompts begin: weak models give them back in the place of an answer."""
_BLANK = re.compile(r"[\s\u200b\u2060\ufeff]*")
_THINKING = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)


def text_of(message: BaseMessage) -> str:
    """The plain text of a message, without blocks of any other kind."""
    if isinstance(message.content, str):
        return message.content
    parts = [block if isinstance(block, str) else _block_text(block) for block in message.content]
    return "".join(parts)


def _block_text(block: dict[str, Any]) -> str:
    text = block.get("text") if block.get("type") in ("text", "output_text") else None
    return text if isinstance(text, str) else ""


def is_empty_reply(message: AIMessage) -> bool:
    """Whether a reply holds no call and no text of its own: thinking alone is empty, and so is the prompt again."""
    if message.tool_calls or message.invalid_tool_calls:
        return False
    text = _THINKING.sub("", text_of(message))
    return _BLANK.fullmatch(text) is not None or _ECHO.match(text) is not None


def call_ids(message: BaseMessage) -> list[str]:
    """The ids of all calls of a message, readable or not, in order."""
    if not isinstance(message, AIMessage):
        return []
    return [call["id"] or "" for call in (*message.tool_calls, *message.invalid_tool_calls)]


def pending_calls(messages: Sequence[BaseMessage]) -> dict[str, int]:
    """Calls without a result: id → how many times. A result that nobody asked for counts for nothing."""
    open_calls: Counter[str] = Counter()
    for message in messages:
        open_calls.update(call_ids(message))
        if isinstance(message, ToolMessage):
            open_calls[message.tool_call_id] -= 1
    return {call_id: count for call_id, count in open_calls.items() if count > 0}


def repair_history(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """`messages` in a shape that no provider refuses; a history that is in order comes back as it is.

    Results stand right behind their calls, in the order of the calls. A call without a result gets one that says so;
    a result without a call becomes a user's note. Calls with unreadable arguments, or names that no provider
    takes, are rewritten so that every server can read them; a doubled id within one reply is told apart; blank
    replies without calls are left out.
    """
    prepared = [_readable(message) if isinstance(message, AIMessage) else message for message in messages]
    results, orphans = _assigned(prepared)
    repaired: list[BaseMessage] = []
    for index, message in enumerate(prepared):
        if isinstance(message, ToolMessage):
            if index in orphans:
                repaired.append(HumanMessage(f"Result of a call that is not shown: {text_of(message)}"))
        elif not isinstance(message, AIMessage):
            repaired.append(message)
        elif message.tool_calls:
            repaired += _with_results(message, results.get(index, {}))
        elif not is_empty_reply(message):
            repaired.append(message)
    return repaired


def _readable(message: AIMessage) -> AIMessage:
    named = all(_NAME.fullmatch(call["name"]) for call in message.tool_calls)
    if not message.invalid_tool_calls and named:
        return message
    calls: list[Any] = []
    for call_id, name, raw in calls_in_order(message):
        try:
            args = read_arguments(raw, cut=True)
        except ArgumentsUnreadable:
            args = {UNREADABLE: raw}
        name = _NOT_IN_NAME.sub("_", name)[:64] or "unnamed"
        calls.append({"name": name, "args": args, "id": call_id, "type": "tool_call"})
    extra = {k: v for k, v in message.additional_kwargs.items() if k not in ("tool_calls", UNREADABLE_AT)}
    return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": [], "additional_kwargs": extra})


def _assigned(messages: Sequence[BaseMessage]) -> tuple[dict[int, dict[str, list[ToolMessage]]], set[int]]:
    """Which results belong to which reply: the nearest reply before with that call, else the first one behind."""
    askers: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        for call_id in dict.fromkeys(call_ids(message)):
            askers.setdefault(call_id, []).append(index)
    results: dict[int, dict[str, list[ToolMessage]]] = {}
    orphans: set[int] = set()
    for index, message in enumerate(messages):
        if not isinstance(message, ToolMessage):
            continue
        places = askers.get(message.tool_call_id)
        if not places:
            orphans.add(index)
            continue
        before = [place for place in places if place < index]
        owner = before[-1] if before else places[0]
        results.setdefault(owner, {}).setdefault(message.tool_call_id, []).append(message)
    return results, orphans


def _with_results(message: AIMessage, results: dict[str, list[ToolMessage]]) -> list[BaseMessage]:
    """A reply and one result for each of its calls. Several results of one call: the newest counts."""
    counts = Counter(call_ids(message))
    calls: list[Any] = []
    answers: list[BaseMessage] = []
    seen: Counter[str] = Counter()
    for call in message.tool_calls:
        call_id = call["id"] or ""
        given = results.get(call_id, [])
        place = seen[call_id]
        seen[call_id] += 1
        result = (
            (given[place] if place < len(given) else None) if counts[call_id] > 1 else (given[-1] if given else None)
        )
        own_id = call_id if call_id and not place else _fresh(call_id, place, counts)
        calls.append(call if own_id == call["id"] else {**call, "id": own_id})
        if result is None:
            result = ToolMessage(NO_RESULT, tool_call_id=own_id, name=call["name"], status="error")
        elif own_id != result.tool_call_id:
            result = result.model_copy(update={"tool_call_id": own_id})
        answers.append(result)
    if calls != message.tool_calls:
        message = message.model_copy(update={"tool_calls": calls})
    return [message, *answers]


def _fresh(call_id: str, place: int, taken: Counter[str]) -> str:
    name = f"{call_id or 'call'}_{place + 1}"
    while name in taken:
        name += "_"
    return name


def drop_calls(messages: Sequence[BaseMessage], ids: Collection[str]) -> list[BaseMessage]:
    """`messages` without the calls of `ids` and their results. The assistant's text stays; a reply left blank goes."""
    kept: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage) and message.tool_call_id in ids:
            continue
        if isinstance(message, AIMessage) and any(call_id in ids for call_id in call_ids(message)):
            message = message.model_copy(
                update={
                    "tool_calls": [call for call in message.tool_calls if call["id"] not in ids],
                    "invalid_tool_calls": [call for call in message.invalid_tool_calls if call["id"] not in ids],
                    "additional_kwargs": {k: v for k, v in message.additional_kwargs.items() if k != "tool_calls"},
                }
            )
            if is_empty_reply(message):
                continue
        kept.append(message)
    return kept


def roll_back(messages: Sequence[BaseMessage], keep: Collection[str] = ()) -> tuple[list[BaseMessage], int]:
    """Take the last reply and what followed it away; also how many tool rounds went with it (0 or 1).

    What a user said is never taken away. Nothing is, if a call of that reply is in `keep` (calls that write): the
    model must go on knowing what was done.
    """
    last = next((i for i in range(len(messages) - 1, -1, -1) if isinstance(messages[i], AIMessage)), None)
    if last is None:
        return list(messages), 0
    tail = messages[last:]
    if any(call_id in keep for call_id in call_ids(tail[0])):
        return list(messages), 0
    stays = [m for m in tail if not isinstance(m, AIMessage | ToolMessage)]
    return [*messages[:last], *stays], int(any(isinstance(m, ToolMessage) for m in tail))
