"""What was said to a model and what it replied, from a task's tape: masked there, and in no event."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from habilis.rundir.files import row_of
from habilis.rundir.plain import MAX_LINE_BYTES, reading

Said = tuple[list[dict[str, Any]], dict[str, Any]]
_ROLES = {"human": "user", "ai": "assistant"}


class TapeContents:
    """Reads a tape as it grows, each line once."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0
        self._messages: dict[str, Any] = {}

    def of(self, call_id: str) -> tuple[str, str] | None:
        """What the call sent and what came back, as JSON lists of messages (GenAI conventions, `gen_ai.input.messages`
        and `gen_ai.output.messages`); None where the tape does not tell."""
        found: dict[str, Any] | None = None
        try:
            with reading(self._path) as stream:
                stream.seek(self._at, os.SEEK_SET)
                while (line := stream.readline(MAX_LINE_BYTES)).endswith(b"\n"):
                    self._at += len(line)
                    row = self._taken(line)
                    found = row if f"{row.get('key')}-{row.get('n')}" == call_id else found
        except OSError:
            return None
        if found is None or found.get("kind") != "reply":
            return None
        asked = [_message(self._messages.get(digest)) for digest in found.get("messages", ())]
        return json.dumps(asked, ensure_ascii=False), json.dumps([_output(found.get("reply"))], ensure_ascii=False)

    def _taken(self, line: bytes) -> dict[str, Any]:
        try:
            row = row_of(line)
        except ValueError:
            return {}
        if row.get("kind") == "message":
            self._messages[str(row.get("digest"))] = row.get("message")
        return row


def _message(said: Any) -> dict[str, Any]:
    """A message of the tape as the conventions have it. A request has its calls as lists, a reply as objects."""
    said = said if isinstance(said, dict) else {}
    kind = str(said.get("type") or said.get("role") or "ai")
    content = said.get("content")
    if kind == "tool":
        return {"role": kind, "parts": [{"type": "tool_call_response", "id": said.get("call_id"), "response": content}]}
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if content else []
    for call in said.get("calls") or ():
        parts.append(dict(zip(("type", "id", "name", "arguments"), ("tool_call", *call), strict=False)))
    for call in said.get("tool_calls") or ():
        parts.append(
            {"type": "tool_call", "id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
        )
    return {"role": _ROLES.get(kind, kind), "parts": parts}


def _output(reply: Any) -> dict[str, Any]:
    """A reply as the conventions have it: they want to know why it ended."""
    metadata = reply.get("metadata") if isinstance(reply, dict) else None
    why = str((metadata if isinstance(metadata, dict) else {}).get("finish_reason") or "stop")
    return {**_message(reply), "finish_reason": "tool_call" if why == "tool_calls" else why}
