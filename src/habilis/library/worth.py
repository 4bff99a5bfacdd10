"""What a tool's record says for it: in figures, and as one number, which decides between near equals alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from habilis.core.types import Frozen

CARRIED = ("tasks", "offered")
"""Counters that recorded calls do not tell: tasks that ended well with the tool, and how often a plan was shown it
while nobody had called it yet."""
_WELL_KNOWN = 3
_PASSED_OVER = 10
_BYTES_A_TOKEN = 4


class WorthRecord(Frozen):
    """What is on record of one tool. `calls`, `success`, `failure` are of its present version, `tasks` ended well with
    it, `offered` counts plans that were shown it before anybody called it. `new_tokens` is the least that writing it
    again would cost (its source, at four bytes a token), `saved_tokens` that for each of `tasks`. `last_used`: when a
    call of it was last kept, in seconds since the epoch; None where none was."""

    name: str
    worth: float
    calls: int
    success: int
    failure: int
    tasks: int
    offered: int
    new_tokens: int
    saved_tokens: int
    last_used: float | None


def worth(counters: Mapping[str, int]) -> float:
    """0 to 1, and one half of a tool that nothing is known of: the share of good calls (Laplace's rule of succession),
    the nearer to one half the fewer calls and tasks stand behind it; less where it was offered and never called."""
    calls, tasks = counters.get("calls", 0), counters.get("tasks", 0)
    good, bad = counters.get("success", 0), counters.get("failure", 0)
    known = (calls + tasks) / (calls + tasks + _WELL_KNOWN)
    heeded = 1.0 if calls else _PASSED_OVER / (_PASSED_OVER + counters.get("offered", 0))
    return round((0.5 + ((good + 1) / (good + bad + 2) - 0.5) * known) * heeded, 3)


def record_of(
    folder: Path, name: str, aliases: Iterable[str], counts: tuple[int, int, int, int, int], value: float
) -> WorthRecord:
    """The record of tool `name` of the library in `folder`, with its counters as the catalogue has them."""
    calls, success, failure, tasks, offered = counts
    new = -(-_size(folder / f"{name}.py") // _BYTES_A_TOKEN)
    return WorthRecord(
        name=name,
        worth=value,
        calls=calls,
        success=success,
        failure=failure,
        tasks=tasks,
        offered=0 if calls else offered,
        new_tokens=new,
        saved_tokens=new * tasks,
        last_used=max(filter(None, (_kept(folder, known) for known in (name, *aliases))), default=None),
    )


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _kept(folder: Path, name: str) -> float | None:
    with contextlib.suppress(OSError):
        return (folder / "records" / f"{name}.jsonl").stat().st_mtime
    return None
