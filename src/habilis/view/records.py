"""Records of a run as plain data, within bounds. What is broken or a stranger's is nothing, not an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.rundir import read_jsonl
from habilis.rundir.plain import plain_json, read_plain
from habilis.rundir.seals import unsealed

MAX_RECORD_BYTES = 64 << 20
MAX_ROWS = 20_000
MOST = 1e300
LAST_MOMENT = 1e11


def record(path: Path) -> dict[str, Any]:
    """The JSON object in `path`, {} where there is none that can be read."""
    try:
        found = plain_json(unsealed(read_plain(path, MAX_RECORD_BYTES)))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """At most `MAX_ROWS` rows of a JSONL file."""
    try:
        for number, row in enumerate(read_jsonl(path)):
            if number == MAX_ROWS:
                return
            yield row
    except (OSError, UserError):
        return


def part(found: Any, *keys: str) -> dict[str, Any]:
    """The object below `keys`, {} where there is none."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def number(found: Any) -> float | None:
    """`found` if it is a number, and not without end."""
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    return float(found) if -MOST < found < MOST else None


def moment(found: Any) -> float:
    """`found` if it is a time that a picture can show, in seconds since the epoch, else 0."""
    at = number(found)
    return at if at is not None and 0 < at < LAST_MOMENT else 0.0


def tokens(usage: dict[str, Any]) -> int | None:
    """Tokens of a usage; None where it tells none."""
    sides = [number(usage.get(key)) for key in ("prompt_tokens", "completion_tokens")]
    return int(sum(side or 0 for side in sides)) if any(side is not None for side in sides) else None


def inside(path: Path, folder: Path) -> bool:
    """Whether `path`, all links followed, lies in `folder`."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False
