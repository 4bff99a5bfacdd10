"""Messages as plain JSON, for the tape: what was asked, by digest, and what was replied, exactly as it came back.

Only what a provider is sent goes into a request's digest: no run ids, no usage, no response metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from habilis.core.digests import digest
from habilis.core.masker import MASKER
from habilis.core.types import ToolSpec
from habilis.messages.bounds import CUT_AT, CUT_BY
from habilis.messages.calls import UNREADABLE_AT
from habilis.models.replies import THINKING_BLOCKS

Plain = dict[str, Any]


def request_part(message: BaseMessage) -> Plain:
    """What a provider is sent of `message`."""
    plain: Plain = {"type": message.type, "content": _by_digest(message.content)}
    if message.name:
        plain["name"] = message.name
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        plain["calls"] = [
            [call["id"], call["name"], call["args"]] for call in (*message.tool_calls, *message.invalid_tool_calls)
        ]
    if isinstance(message, ToolMessage):
        plain["call_id"] = message.tool_call_id
    return plain


def _by_digest(content: Any) -> Any:
    """`content` with a digest in the place of each image that it carries: a tape holds what was asked, not albums."""
    if not isinstance(content, list):
        return content
    return [_image_by_digest(block) if isinstance(block, dict) else block for block in content]


def _image_by_digest(block: Plain) -> Plain:
    image = block.get("image_url")
    url = image.get("url") if isinstance(image, dict) else None
    if not isinstance(url, str) or not url.startswith("data:"):
        return block
    kind, _, data = url.partition(",")
    short = f"{kind},blake2b-{hashlib.blake2b(data.encode(), digest_size=16).hexdigest()}"
    return {**block, "image_url": {**block["image_url"], "url": short}}


def tools_part(tools: Sequence[ToolSpec]) -> list[Plain]:
    """What a provider is sent of the tools."""
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]


class Cleaned:
    """Messages without secrets. They come again with every request, and each is looked through once."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], tuple[Plain, str] | None] = {}

    def messages(self, messages: Sequence[Plain]) -> tuple[tuple[Plain, ...], tuple[str, ...]]:
        """`messages` as they may be written, and the digest of each as it is then."""
        told = MASKER.told
        found = [self._one(message, digest(message), told) for message in messages]
        return tuple(message for message, _ in found), tuple(name for _, name in found)

    def _one(self, message: Plain, name: str, told: int) -> tuple[Plain, str]:
        if not told:
            return message, name
        if (name, told) not in self._seen:
            clean = MASKER.value(message)
            self._seen[name, told] = None if clean is message else (clean, digest(clean))
        return self._seen[name, told] or (message, name)


_KEPT_KWARGS = ("reasoning_content", "refusal", UNREADABLE_AT, THINKING_BLOCKS)
_KEPT_METADATA = ("finish_reason", "model_name", CUT_AT, CUT_BY)


def reply_part(message: AIMessage) -> Plain:
    """All of a normalised reply that is kept."""
    plain: Plain = {"content": message.content}
    for name in ("tool_calls", "invalid_tool_calls"):
        if getattr(message, name):
            plain[name] = [dict(call) for call in getattr(message, name)]
    if message.additional_kwargs:
        plain["kwargs"] = {
            key: message.additional_kwargs[key] for key in _KEPT_KWARGS if key in message.additional_kwargs
        }
    if message.response_metadata:
        plain["metadata"] = {
            key: message.response_metadata[key] for key in _KEPT_METADATA if key in message.response_metadata
        }
    return plain


def reply_from(plain: Plain) -> AIMessage:
    """The reply that `reply_part` made `plain` of."""
    return AIMessage(
        content=plain["content"],
        tool_calls=[dict(call) for call in plain.get("tool_calls", ())],
        invalid_tool_calls=[dict(call) for call in plain.get("invalid_tool_calls", ())],
        additional_kwargs=dict(plain.get("kwargs", {})),
        response_metadata=dict(plain.get("metadata", {})),
    )


def contrast(then: Plain | None, now: Plain) -> str:
    """Where two messages begin to differ, with a few words of each."""
    before, after = _flat(then), _flat(now)
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    begin = max(0, start - 30)
    return f"then …{before[begin : start + 60]!r}, now …{after[begin : start + 60]!r}"


def _flat(message: Any) -> str:
    if message is None:
        return ""
    if isinstance(message.get("content"), str):
        rest = {key: value for key, value in message.items() if key not in ("content", "type")}
        return f"{message['type']}: {message['content']}" + (f" {json.dumps(rest, ensure_ascii=False)}" if rest else "")
    return json.dumps(message, ensure_ascii=False)
