"""What an MCP tool gave back, by kind: structured data as it is, text as text, links named, the rest kept as files."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.types import CallOutcome
from habilis.sources.foreign.answers import failed, kept_file
from habilis.sources.foreign.presenting import one_line

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

SHOWN_CHARS = 2_000
MAX_PARTS = 200


def outcome_of_result(result: CallToolResult, workspace: Path) -> CallOutcome:
    """The outcome of a call. A result that the tool calls an error is one."""
    parts: list[Any] = []
    made: list[str] = []
    for block in result.content[:MAX_PARTS]:
        part = _part(block, workspace)
        if isinstance(part, CallOutcome):
            made += part.made
            part = part.output if part.error is None else f"({part.error.message})"
        parts.append(part)
    texts = [part for part in parts if isinstance(part, str)]
    if result.is_error:
        told = one_line(" ".join(texts) or "it gave no reason", SHOWN_CHARS)
        return failed("crashed", f"the tool failed: {told}")
    output = _output(result.structured_content, parts, texts)
    return CallOutcome(output=output, made=tuple(dict.fromkeys(made)))


def _output(structured: Any, parts: list[Any], texts: list[str]) -> Any:
    """Structured data stands for the texts, which repeat it; files and links stand beside it."""
    others = [part for part in parts if not isinstance(part, str)]
    if structured is not None and structured != {}:
        return {"result": structured, "content": others} if others else structured
    if not parts:
        return "(done; the answer is empty)"
    if not others:
        return "\n".join(texts) if any(text.strip() for text in texts) else "(done; the answer is empty)"
    return parts[0] if len(parts) == 1 else parts


def _part(block: ContentBlock, workspace: Path) -> Any:
    """A block as JSON or text, or the outcome of keeping it as a file."""
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return _file(block.data, block.mime_type, workspace)
        case "resource_link":
            said = {"link": str(block.uri), "name": block.name, "type": block.mime_type}
            return {key: value for key, value in said.items() if value}
        case "resource":
            inside = block.resource
            text = getattr(inside, "text", None)
            if text is not None:
                return text
            return _file(getattr(inside, "blob", ""), inside.mime_type or "application/octet-stream", workspace)


def _file(data: str, media_type: str, workspace: Path) -> CallOutcome:
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return failed("bad_output", f"a file of the type {one_line(media_type, 60)} came in a form that cannot be read")
    return kept_file(content, media_type, workspace)
