"""What a service on the other side gave back, as a call's outcome: by its kind, bounded, secrets taken out.

Text stays text, JSON becomes data, anything else is kept as a file of the workspace and named by path and type.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from habilis.contract.paths import keep_file
from habilis.core.types import CallError, CallOutcome, Effects, ErrorKind
from habilis.sources.foreign.presenting import one_line

SHOWN_CHARS = 800
"""Characters of an error's text that the model is shown."""
UNKNOWN = "Whether it did what was asked is unknown: look before you repeat it."
_TEXTS = ("xml", "yaml", "csv", "javascript", "x-ndjson", "jsonl", "x-www-form-urlencoded", "graphql", "sql")


def failed(kind: ErrorKind, message: str) -> CallOutcome:
    """A call that gave no output; `message` tells the model what to do."""
    return CallOutcome(error=CallError(kind=kind, message=message))


def late(limit: float, effects: Effects) -> CallOutcome:
    """A call that gave nothing within `limit` seconds; of one that may write, nobody knows what it did."""
    unknown = "" if effects == "reads" else f" {UNKNOWN}"
    return failed("timeout", f"no answer within {limit:g} s; ask for less, or go on without.{unknown}")


def outcome_of(content: bytes, media_type: str, workspace: Path) -> CallOutcome:
    """The outcome of a call that gave `content` of the type `media_type` (a header's value, perhaps empty)."""
    kind, _, rest = media_type.partition(";")
    kind = kind.strip().lower()
    if not content.strip():
        return CallOutcome(output="(done; the answer is empty)")
    if kind.endswith(("/json", "+json")):
        return _json(content)
    text = _text(content, rest) if not kind or kind.startswith("text/") or kind.endswith(_TEXTS) else None
    if text is not None:
        return CallOutcome(output=text)
    return kept_file(content, kind or "application/octet-stream", workspace)


def kept_file(content: bytes, media_type: str, workspace: Path) -> CallOutcome:
    """A file that a call gave, kept in the workspace, as the whole of its outcome."""
    try:
        name = keep_file(workspace, content, media_type)
    except OSError as error:
        return failed("unavailable", f"it gave a file, which could not be kept: {error.strerror or error}")
    return CallOutcome(output={"file": name, "type": media_type, "bytes": len(content)}, made=(name,))


def as_outcome(value: Any, workspace: Path) -> CallOutcome:
    """The outcome of a call that gave a value of Python: text, data, bytes, or parts of a message."""
    if isinstance(value, bytes):
        return kept_file(value, "application/octet-stream", workspace)
    if isinstance(value, list) and value and all(map(_is_text, value)):
        value = "\n".join(str(part.get("text", "")) for part in value)
    if isinstance(value, str):
        return CallOutcome(output=value if value.strip() else "(done; the answer is empty)")
    try:
        plain = json.loads(json.dumps(_to_plain(value), default=str))
    except (ValueError, TypeError, RecursionError) as error:
        return failed("bad_output", f"it gave what cannot be written as JSON: {one_line(str(error), 200)}")
    return CallOutcome(output=_with_content(plain))


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


def _to_plain(value: Any) -> Any:
    """A Pydantic model as data; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else value


def _json(content: bytes) -> CallOutcome:
    try:
        value = json.loads(content, parse_constant=str)
        json.dumps(value)  # nothing nested so deep, no number so long, that it could not be written down
        return CallOutcome(output=_with_content(value))
    except (ValueError, RecursionError) as error:
        begins = one_line(content[:2_000].decode("utf-8", "replace"), SHOWN_CHARS)
        told = one_line(str(error), 120)
        return failed(
            "bad_output", f"it said that it sends JSON, but that cannot be read ({told}); it begins: {begins}"
        )


def _with_content(value: Any) -> Any:
    """`value`; for `{}` and null, which say nothing, words that say so."""
    return f"(done; the answer is {json.dumps(value)})" if value is None or value == {} else value


def _text(content: bytes, parameters: str) -> str | None:
    """`content` as text, None if it is none."""
    charset = next((p.split("=")[1].strip(" \"'") for p in parameters.split(";") if "charset=" in p.lower()), "utf-8")
    try:
        text = content.decode(charset, "replace")
    except LookupError:
        text = content.decode("utf-8", "replace")
    return None if "\0" in text else text
