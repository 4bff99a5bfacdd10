"""Conversations as other programs keep them: read and written in the JSON of OpenAI's chat completions and of
Anthropic's messages.

Formats: https://platform.openai.com/docs/api-reference/chat (messages, tool_calls) and
https://docs.anthropic.com/en/api/messages (tool_use, tool_result). What is written is in order and complete
(`messages.history`): each call has its result right behind it. Reasoning is kept beside a message, as reasoning, and is
not written: services sign their own and refuse what others thought.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.core.errors import UserError
from habilis.messages.arguments import strict_arguments
from habilis.messages.calls import UNREADABLE_AT
from habilis.messages.history import repair_history, text_of

Row = dict[str, Any]
_DATA_URL = re.compile(r"data:([a-z0-9.+/-]+);base64,(.*)", re.DOTALL)


def read_transcript(rows: Iterable[Any]) -> list[BaseMessage]:
    """The messages of a conversation in either shape, mixed even; nothing is put in order here.

    A row is a dict, an object of a client library (`model_dump`), or the bare text of an assistant. Calls without an
    id get one. Raises `UserError` that names the row.
    """
    messages: list[BaseMessage] = []
    for number, raw in enumerate(rows, 1):
        row = _plain(raw)
        role = row.get("role") if row is not None else None
        if row is None or not isinstance(role, str):
            raise UserError(f"message {number} of the conversation must be an object with a role")
        try:
            messages += _read(role, row, number)
        except (KeyError, TypeError, AttributeError) as error:
            what = f"{type(error).__name__}: {error}"
            raise UserError(f"message {number} of the conversation ({role}) cannot be read: {what}") from None
    return messages


def _plain(raw: Any) -> Row | None:
    if isinstance(raw, str):
        return {"role": "assistant", "content": raw}
    if not isinstance(raw, dict) and callable(getattr(raw, "model_dump", None)):
        raw = raw.model_dump()
    return raw if isinstance(raw, dict) else None


def _read(role: str, row: Row, number: int) -> Iterator[BaseMessage]:
    content = row.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    if role in ("system", "developer"):
        yield SystemMessage(_joined(blocks))
    elif role in ("tool", "function"):
        yield ToolMessage(_shown(blocks), tool_call_id=str(row.get("tool_call_id") or ""), name=row.get("name"))
    elif role in ("assistant", "ai"):
        yield _assistant(row, blocks, number)
    elif role in ("user", "human"):
        for block in blocks:
            if block.get("type") == "tool_result":
                yield _result(block)
        rest = [block for block in blocks if block.get("type") != "tool_result"]
        if rest or not blocks:
            yield HumanMessage(_shown(rest))
    else:
        raise UserError(f"message {number} of the conversation has the role {role!r}, which is not known")


def _result(block: Row) -> ToolMessage:
    content = block.get("content")
    parts: list[Any] = [content] if isinstance(content, str) else list(content or ())
    shown = _shown([{"type": "text", "text": part} if isinstance(part, str) else part for part in parts])
    status: Any = "error" if block.get("is_error") else "success"
    return ToolMessage(shown, tool_call_id=str(block["tool_use_id"]), status=status)


def _assistant(row: Row, blocks: list[Row], number: int) -> AIMessage:
    """A reply with its calls from `tool_calls`, then from `tool_use` blocks that are not the same calls again."""
    sent = [(c.get("id"), c["function"]["name"], c["function"].get("arguments")) for c in row.get("tool_calls") or ()]
    told = {str(call_id) for call_id, _, _ in sent if call_id}
    used = [(b.get("id"), b["name"], b.get("input")) for b in blocks if b.get("type") == "tool_use"]
    sent += [call for call in used if str(call[0]) not in told]
    calls: list[Any] = []
    broken: list[Any] = []
    places: list[int] = []
    for place, (given, name, raw) in enumerate(sent):
        call_id = str(given) if given else f"call_{number}_{place + 1}"
        args = strict_arguments(raw)
        if args is not None:
            calls.append({"name": str(name), "args": args, "id": call_id, "type": "tool_call"})
        else:
            text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
            bad = {"name": str(name), "args": text, "id": call_id, "error": None, "type": "invalid_tool_call"}
            broken.append(bad)
            places.append(place)
    thoughts = [row.get("reasoning_content"), *(b.get("thinking") for b in blocks if b.get("type") == "thinking")]
    extra: Row = {"reasoning_content": "\n".join(t for t in thoughts if t)} if any(thoughts) else {}
    if places:
        extra[UNREADABLE_AT] = places
    text = _joined([block for block in blocks if block.get("type") in ("text", "output_text")])
    return AIMessage(text, tool_calls=calls, invalid_tool_calls=broken, additional_kwargs=extra)


def _shown(blocks: Sequence[Row]) -> Any:
    """The content of a message: one text, or blocks where there is more to see than text."""
    if all("text" in block for block in blocks):
        return _joined(blocks)
    return [_image(block) for block in blocks]


def _joined(blocks: Sequence[Row]) -> str:
    """The text of blocks; of an image only that there was one."""
    return "".join(block["text"] if "text" in block else f"[{block.get('type', 'block')}]" for block in blocks)


def write_openai(messages: Sequence[BaseMessage]) -> list[Row]:
    """`messages` for chat completions."""
    return [_openai(message) for message in repair_history(messages)]


def _openai(message: BaseMessage) -> Row:
    if isinstance(message, ToolMessage):
        # This form has no place for what a tool shows; that there was something is said.
        blocks = message.content if isinstance(message.content, list) else [message.content]
        said = _joined([{"text": block} if isinstance(block, str) else block for block in blocks])
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": said}
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": text_of(message)}
    if not isinstance(message, AIMessage):
        return {"role": "user", "content": message.content}
    row: Row = {"role": "assistant", "content": text_of(message)}
    if message.tool_calls:
        row["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    return row


def write_anthropic(messages: Sequence[BaseMessage]) -> tuple[str, list[Row]]:
    """`messages` for Anthropic's messages: the system text, and the rows, all results of a reply in one of them."""
    system: list[str] = []
    rows: list[Row] = []
    results: list[Row] = []
    for message in repair_history(messages):
        if isinstance(message, ToolMessage):
            results.append(_anthropic_result(message))
            if len(results) == 1:
                rows.append({"role": "user", "content": results})
            continue
        results = []
        if isinstance(message, SystemMessage):
            system.append(text_of(message))
        elif isinstance(message, AIMessage):
            rows.append({"role": "assistant", "content": _anthropic_reply(message)})
        else:
            content = message.content
            blocks = content if isinstance(content, str) else [_anthropic_block(block) for block in content]
            rows.append({"role": "user", "content": blocks})
    return "\n\n".join(system), rows


def _anthropic_result(message: ToolMessage) -> Row:
    content = message.content
    shown: Any = content if isinstance(content, str) else [_anthropic_block(block) for block in content]
    row = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": shown}
    return {**row, "is_error": True} if message.status == "error" else row


def _anthropic_reply(message: AIMessage) -> list[Row]:
    text = text_of(message)
    said: list[Row] = [{"type": "text", "text": text}] if text.strip() else []
    return said + [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}
        for call in message.tool_calls
    ]


def _image(block: Row) -> Row:
    """A block with Anthropic's way of giving an image turned into OpenAI's; any other as it is."""
    source = block.get("source") if block.get("type") == "image" else None
    if not isinstance(source, dict):
        return block
    url = source.get("url") or f"data:{source.get('media_type', 'image/png')};base64,{source.get('data', '')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _anthropic_block(block: Any) -> Row:
    if not isinstance(block, dict):
        return {"type": "text", "text": str(block)}
    if block.get("type") != "image_url":
        return block
    url = str((block.get("image_url") or {}).get("url", ""))
    data = _DATA_URL.fullmatch(url)
    if data is None:
        return {"type": "image", "source": {"type": "url", "url": url}}
    return {"type": "image", "source": {"type": "base64", "media_type": data[1], "data": data[2]}}


def result_text(output: Any) -> str:
    """What a tool returned, as the text of its result: text as it is, anything else as JSON."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
