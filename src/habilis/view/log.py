"""A run's log of events, read a page at a time: whoever looks at the first of many does not wait for the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from habilis.rundir.files import row_of
from habilis.rundir.plain import MAX_LINE_BYTES, reading
from habilis.view.index import LogIndex, index_of
from habilis.view.records import moment

PAGE_EVENTS = 500
PAGE_BYTES = 24 << 20
"""A page ends early behind this many bytes: one result may have megabytes."""
_PLAIN = (str, int, float, type(None))
_KINDS: dict[str, type] = {
    **dict.fromkeys(("arguments", "plan", "review", "usage", "metrics"), dict),
    **dict.fromkeys(("offered", "made", "granted", "denied", "refused", "needs", "reuse", "calls"), list),
}


@dataclass(frozen=True)
class LoggedEvent:
    """One line of a log. `number` counts lines from 1. `row` is empty for a line that cannot be read."""

    number: int
    row: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.row.get("kind", ""))

    @property
    def at(self) -> float:
        """Seconds since the epoch, 0 where the line does not tell."""
        return moment(self.row.get("at"))

    def text(self, key: str) -> str:
        """What the line says under `key`, as text; empty where it says nothing."""
        found = self.row.get(key)
        return found if isinstance(found, str) else "" if found is None else str(found)


@dataclass(frozen=True)
class LogPage:
    """Some events of a log that has `lines` lines. `first` is the number of the first, `begun` when the log's own
    first event was, in seconds since the epoch; 0 where its first line does not tell."""

    events: tuple[LoggedEvent, ...]
    first: int
    lines: int
    begun: float = 0.0

    @property
    def following(self) -> int:
        """The number of the first event of the next page, 0 when there is none."""
        after = self.first + len(self.events)
        return after if after <= self.lines else 0

    @property
    def previous(self) -> int:
        """The number of the first event of the page before, 0 when there is none."""
        return max(1, self.first - PAGE_EVENTS) if self.first > 1 else 0


def read_page(path: Path, first: int = 1, *, newest: bool = False) -> LogPage:
    """The events from line `first` on, or the `newest` ones. A log that is not there is empty. Raises OSError."""
    try:
        with reading(path) as stream:
            index = index_of(path, stream.fileno())
            start = max(1, index.lines - PAGE_EVENTS + 1) if newest else max(1, first)
            if index.begun is None and index.lines:
                index.begun = next((event.at for event in _from(stream, index, 1)), 0.0)
            return LogPage(tuple(_some(stream, index, start)), start, index.lines, index.begun or 0.0)
    except FileNotFoundError:
        return LogPage((), 1, 0)


def read_event(path: Path, number: int) -> LoggedEvent | None:
    """The event on line `number`; None when there is none. Raises OSError."""
    with reading(path) as stream:
        return next(_from(stream, index_of(path, stream.fileno()), number), None)


def _some(stream: BinaryIO, index: LogIndex, start: int) -> Iterator[LoggedEvent]:
    """The events of a page that begins at line `start`."""
    for taken, event in enumerate(_from(stream, index, start, PAGE_BYTES), 1):
        yield event
        if taken == PAGE_EVENTS:
            return


def _from(stream: BinaryIO, index: LogIndex, start: int, most: int = MAX_LINE_BYTES) -> Iterator[LoggedEvent]:
    """The events from line `start` on, as far as `most` bytes reach; the first one in any case. A last line without its
    end is being written, or was torn, and does not count."""
    stream.seek(index.offset(stream.fileno(), start))
    taken = 0
    for number in range(start, index.lines + 1):
        if not (line := stream.readline(MAX_LINE_BYTES)).endswith(b"\n"):
            return
        taken += len(line)
        yield LoggedEvent(number, _row(line))
        if taken > most:
            return


def _row(line: bytes) -> dict[str, Any]:
    try:
        return shaped(row_of(line))
    except ValueError:
        return {}


def shaped(row: dict[str, Any]) -> dict[str, Any]:
    """`row` without what is of another kind than Habilis writes: the log may be a stranger's."""
    kept: dict[str, Any] = {k: held for k, held in row.items() if isinstance(held, _KINDS.get(k, _PLAIN))}
    if "calls" in kept:
        kept["calls"] = [shaped(call) for call in kept["calls"] if isinstance(call, dict)]
    if "plan" in kept:
        plan = kept["plan"]
        wishes = plan.get("build") if isinstance(plan.get("build"), list) else []
        kept["plan"] = {**shaped(plan), "build": [shaped(wish) for wish in wishes if isinstance(wish, dict)]}
    return kept
