"""Anthropic's Messages API for a scripted server: what it asks of a request, and its replies, whole and streamed.

Rules after https://docs.anthropic.com/en/api/messages, /messages-streaming and /errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from habilis.models.replies import THINKING_BLOCKS
from habilis.testing.faults import FaultKind, SeenRequest, content_text
from habilis.tool_calling.transcripts import read_transcript

Row = dict[str, Any]
KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
KINDS |= {413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
_NOT_IN_FORMS = ("maxLength", "minLength", "maxItems", "minimum", "maximum", "pattern")


def error_body(status: int, text: str) -> Row:
    return {"type": "error", "error": {"type": KINDS.get(status, "api_error"), "message": text}}


def unfit(seen: SeenRequest) -> tuple[int, str] | None:
    """Status and text with which the service refuses a request that breaks its rules."""
    body, headers = seen.body, seen.headers
    if not headers.get("anthropic-version"):
        return 400, "anthropic-version: header is required"
    if not isinstance(body.get("max_tokens"), int):
        return 400, "max_tokens: Field required"
    unknown = set(body) & {"response_format", "parallel_tool_calls", "max_completion_tokens", "stop"}
    if unknown:
        return 400, f"{min(unknown)}: Extra inputs are not permitted"
    thinking = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
    if thinking and (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        return 400, "Thinking may not be enabled when tool_choice forces tool use."
    text = _unfit_history(body["messages"], thinking) or _unfit_form((body.get("output_config") or {}).get("format"))
    return (400, text) if text else None


def _unfit_history(rows: list[Row], thinking: bool) -> str:
    """What is wrong with the messages: each call needs its result in the very next one, with the thinking before it."""
    if not rows or rows[0]["role"] != "user":
        return "messages: first message must use the user role"
    for number, row in enumerate(rows):
        blocks = row["content"] if isinstance(row["content"], list) else [{"type": "text", "text": row["content"]}]
        if any(block.get("type") == "text" and not str(block.get("text")).strip() for block in blocks):
            return f"messages.{number}: text content blocks must be non-empty"
        asked = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if not asked:
            continue
        behind = rows[number + 1]["content"] if number + 1 < len(rows) else []
        given = [str(b.get("tool_use_id")) for b in behind if isinstance(b, dict) and b.get("type") == "tool_result"]
        if sorted(asked) != sorted(given):
            return f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after"
        if thinking and blocks[0].get("type") not in ("thinking", "redacted_thinking"):
            return f"messages.{number}.content.0: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
        if any(block.get("type") == "thinking" and not block.get("signature") for block in blocks):
            return f"messages.{number}: thinking blocks need a signature"
    return ""


def _unfit_form(form: Any) -> str:
    text = json.dumps(form)
    wrong = [word for word in _NOT_IN_FORMS if f'"{word}"' in text]
    return f"output_config.format.schema: For 'string' type, property '{wrong[0]}' is not supported" if wrong else ""


def read(body: Row) -> tuple[list[BaseMessage], list[Row], Row | None]:
    """Messages, tools and form of a request, in the words of chat completions."""
    system = body.get("system")
    messages = [*([SystemMessage(content_text(system))] if system else []), *read_transcript(body["messages"])]
    tools = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t.get("description", ""), "parameters": t["input_schema"]},
        }
        for t in body.get("tools") or ()
    ]
    form = (body.get("output_config") or {}).get("format")
    asked = {"type": "json_schema", "json_schema": {"name": "answer", "schema": form["schema"]}} if form else None
    return messages, tools, asked


def message_of(seen: SeenRequest, reply: AIMessage, kind: FaultKind | None) -> Row:
    """The body of a message. Thinking of the reply is signed, where the request wants thinking."""
    content: list[Row] = []
    thought = reply.additional_kwargs.get("reasoning_content")
    if thought or (seen.body.get("thinking") or {}).get("type") in ("enabled", "adaptive"):
        content.append({"type": "thinking", "thinking": thought or "So.", "signature": f"signed-{seen.index}"})
    content += reply.additional_kwargs.get(THINKING_BLOCKS) or []
    if content_text(reply.content):
        content.append({"type": "text", "text": content_text(reply.content)})
    for place, call in enumerate((*reply.invalid_tool_calls, *reply.tool_calls)):
        call_id = call["id"] or f"toolu_{seen.index}_{place}"
        content.append({"type": "tool_use", "id": call_id, "name": call["name"], "input": call["args"]})
    calls = bool(reply.tool_calls or reply.invalid_tool_calls)
    reasons = {"cut": "max_tokens", "content_filter": "refusal", "refusal": "refusal"}
    counted = reply.usage_metadata
    return {
        "id": f"msg_{seen.index}",
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": content,
        "stop_reason": reasons.get(kind or "", "tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": counted["input_tokens"] if counted else len(json.dumps(seen.body["messages"])) // 4,
            "output_tokens": counted["output_tokens"] if counted else len(json.dumps(content)) // 4,
        },
    }


def events_of(message: Row) -> Iterator[bytes]:
    """The same as the events of a stream."""
    usage = message.get("usage") or {}
    begun = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1} if usage else None}
    yield _event({"type": "message_start", "message": begun})
    yield _event({"type": "ping"})
    for index, block in enumerate(message["content"]):
        empty, deltas = _pieces(block)
        yield _event({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in deltas:
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    ended = {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}}
    yield _event(ended | ({"usage": {"output_tokens": usage["output_tokens"]}} if usage else {}))
    yield _event({"type": "message_stop"})


def error_event(status: int, text: str) -> bytes:
    """An error in the middle of a stream."""
    return _event(error_body(status, text))


def _pieces(block: Row) -> tuple[Row, Iterable[Row]]:
    """A block as it starts, and what makes it whole."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in _cut(block["text"])]
    if block["type"] == "thinking":
        deltas: list[Row] = [{"type": "thinking_delta", "thinking": part} for part in _cut(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if block["type"] == "tool_use":
        given = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in _cut(given)]
    return block, []


def _cut(text: str) -> list[str]:
    return [text[at : at + 16] for at in range(0, len(text), 16)]


def _event(data: Row) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (str(data["type"]).encode(), json.dumps(data).encode())
