"""The figures of runs, read from their records. What is broken or a stranger's counts as not there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from habilis.core.errors import UserError
from habilis.core.events import Event, ModelCallEnded, Thought, ToolCallEnded
from habilis.core.types import Status
from habilis.rundir import RunDir, TaskDir, read_jsonl
from habilis.telemetry.figures import WorkFigures, total

_COUNTED: dict[str, type[ModelCallEnded | ToolCallEnded | Thought]] = {
    "model_call_ended": ModelCallEnded,
    "tool_call_ended": ToolCallEnded,
    "thought": Thought,
}
_PARTS = {"kind", "position", "stage", "seconds", "usage", "replayed", "reused", "error", "role", "purpose", "model"}
"""What counts of an event; all else is left alone, whatever it holds."""
_STATUSES = set(get_args(Status))
_OVER = {"finished", "failed"}
"""States of tasks that have come to an end; all others may go on."""


class Recorded:
    """Reads runs, each task's log again only when something in it changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, ...], WorkFigures]] = {}

    def of(self, runs: Iterable[RunDir]) -> WorkFigures:
        """The figures of all tasks of `runs` together."""
        now: dict[Path, tuple[tuple[int, ...], WorkFigures]] = {}
        for task in (task for run in runs for task in run.tasks()):
            stamp = _stamp(task)
            held = self._known.get(task.path)
            now[task.path] = held if held is not None and held[0] == stamp else (stamp, figures_of(task))
        self._known = now
        return total(figures for _, figures in now.values())


def figures_of(task: TaskDir) -> WorkFigures:
    """The figures of one task, of its end too where it has come to one."""
    found = WorkFigures()
    for event in _events(task):
        found.heed(event)
    status = _status(task)
    if status:
        found.ends[status] += 1
    return found


def _events(task: TaskDir) -> Iterator[Event]:
    try:
        for row in read_jsonl(task.events):
            kind = _COUNTED.get(str(row.get("kind")))
            if kind is not None and (event := _event(kind, row)) is not None:
                yield event
    except (OSError, UserError):
        return


def _event(kind: type[ModelCallEnded | ToolCallEnded | Thought], row: dict[str, Any]) -> Event | None:
    parts = {key: value for key, value in row.items() if key in _PARTS and key in kind.model_fields}
    if kind is ToolCallEnded:
        parts |= {"call_id": "", "tool": ""}
    try:
        event = kind.model_validate(parts)
    except ValidationError:
        return None
    seconds = 0.0 if isinstance(event, Thought) else event.seconds
    return event if math.isfinite(seconds) and seconds >= 0 else None


def _status(task: TaskDir) -> str:
    """How the task ended; empty while it has not."""
    try:
        status = str(task.state_record().get("status") or "")
        known = status if status in _STATUSES else "other"
        return known if status and task.read_state() in _OVER else ""
    except (OSError, UserError):
        return ""


def _stamp(task: TaskDir) -> tuple[int, ...]:
    found: list[int] = []
    for path in (task.events, task.state):
        try:
            status = path.lstat()
        except OSError:
            continue
        found += (status.st_ino, status.st_mtime_ns, status.st_size)
    return tuple(found)
