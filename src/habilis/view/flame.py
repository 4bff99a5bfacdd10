"""A picture of who worked when: what took time in a task or a training as bars, side by side where they were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from habilis.view.log import LoggedEvent
from habilis.view.records import moment, number
from habilis.view.rendering import seconds
from habilis.view.visible import short

WIDTH, ROW, GAP = 1000.0, 20, 4
MAX_BARS = 600
"""Bars of one picture; beyond it the longest are drawn."""
_BEGINS = {
    "model_call_started": "model",
    "tool_call_started": "tool",
    "tool_build_started": "build",
    "build_awaited": "awaited",
}
_ENDS = {
    "model_call_ended": "model",
    "tool_call_ended": "tool",
    "tool_built": "build",
    "tool_enhanced": "build",
    "tool_given_up": "build",
}
_GO_ON = ("build_awaited", "tool_build_started", "tool_adopted", "tool_given_up")
"""What a task does when it need not wait any more for the build of another one, or waits for the next."""


@dataclass(frozen=True)
class Stretch:
    """Something that took time: `kind` is model, tool, build, awaited (the build of another task) or wait; in a
    training task, step or wait. Times are seconds since the epoch."""

    kind: str
    label: str
    begin: float
    end: float
    failed: bool = False
    open: bool = False

    @property
    def seconds(self) -> float:
        return max(0.0, self.end - self.begin)


@dataclass(frozen=True)
class Bar:
    """A span as it is drawn, in units of the picture. `look` is its classes, `title` what is said of it, `text` what
    stands in it, empty where that has no room."""

    look: str
    title: str
    text: str
    x: float
    y: int
    width: float


@dataclass(frozen=True)
class Flame:
    """The whole picture. `marks` are places on the axis of time with their labels; `sums` seconds by kind."""

    bars: tuple[Bar, ...]
    height: int
    seconds: float
    marks: tuple[tuple[float, str], ...]
    sums: dict[str, float]
    left_out: int = 0


def spans_of(events: Iterable[LoggedEvent]) -> list[Stretch]:
    """What took time in `events`. What did not end there lasts to the last of them."""
    begun: dict[tuple[str, str], list[LoggedEvent]] = {}
    spans: list[Stretch] = []
    last = 0.0
    for event in events:
        if not event.at:
            continue
        last = max(last, event.at)
        if event.kind in _GO_ON and (waiting := begun.get(("awaited", _key(event)))):
            spans.append(_span("awaited", waiting.pop(0), event.at))
        if kind := _BEGINS.get(event.kind):
            begun.setdefault((kind, _key(event)), []).append(event)
        elif (kind := _ENDS.get(event.kind)) and (waiting := begun.get((kind, _key(event)))):
            spans.append(_span(kind, waiting.pop(0), event.at, made=event.text("tool"), failed=_failed(event)))
    for (kind, _), left in begun.items():
        spans += [_span(kind, event, last, is_open=True) for event in left]
    return sorted(spans, key=lambda span: (span.begin, -span.end))


def waits(spans: Iterable[Stretch]) -> list[Stretch]:
    """The times in which nothing else went on: the task's own work, and waiting for this machine."""
    found, until = [], None
    for span in spans:
        if until is not None and span.begin > until:
            found.append(Stretch("wait", "own work and waiting", until, span.begin))
        until = span.end if until is None else max(until, span.end)
    return found


def of_training(rows: Iterable[dict[str, Any]]) -> list[Stretch]:
    """What took time in a training, by its own events: its tasks, and the work on the library after those of a step."""
    spans: list[Stretch] = []
    last = 0.0
    for row in rows:
        at = moment(row.get("at"))
        took = min(max(number(row.get("seconds")) or 0.0, 0.0), at)
        if not at:
            continue
        if row.get("kind") == "step_task_ended":
            failed = row.get("status") != "answered"
            spans.append(Stretch("task", short(row.get("task_id"), 80), at - took, at, failed))
        elif row.get("kind") == "step_ended" and last:
            spans.append(Stretch("step", f"step {row.get('step')}: library", last, at))
        last = at
    return sorted(spans, key=lambda span: (span.begin, -span.end))


def flame(spans: list[Stretch]) -> Flame | None:
    """The picture of `spans`, which are in order; None where nothing took time."""
    if not spans:
        return None
    begin, end = spans[0].begin, max(span.end for span in spans)
    length = max(end - begin, 0.001)
    everything = [*spans, *waits(spans)]
    chosen = sorted(everything, key=lambda span: -span.seconds)[:MAX_BARS]
    chosen.sort(key=lambda span: (span.begin, -span.end))
    rows: list[float] = []
    bars = [_bar(span, rows, begin, length) for span in chosen]
    sums: dict[str, float] = {}
    for span in everything:
        sums[span.kind] = sums.get(span.kind, 0.0) + span.seconds
    marks = tuple((WIDTH * part / 4, f"{length * part / 4:.3g} s") for part in range(5))
    height = len(rows) * (ROW + GAP) + 22
    return Flame(tuple(bars), height, length, marks, sums, len(everything) - len(chosen))


def _bar(span: Stretch, rows: list[float], begin: float, length: float) -> Bar:
    """The span in the first row that is free at its begin."""
    row = next((place for place, until in enumerate(rows) if until <= span.begin), len(rows))
    rows[row:] = [span.end, *rows[row + 1 :]]
    width = max(1.5, WIDTH * span.seconds / length)
    look = f"bar {span.kind}{' failed' * span.failed}{' open' * span.open}"
    title = f"{span.label}, {seconds(span.seconds)}{', failed' * span.failed}{', not ended yet' * span.open}"
    text = short(span.label, int(width / 7)) if width > 60 and span.kind != "wait" else ""
    x = round(WIDTH * (span.begin - begin) / length, 2)
    return Bar(look, title, text, x, row * (ROW + GAP), round(width, 2))


def _key(event: LoggedEvent) -> str:
    """By what the end of something finds its begin: an id, in old records what both ends say."""
    if found := event.text("call_id") or event.text("build_id"):
        return found
    return "|".join(event.text(key) for key in ("role", "tool") if event.text(key))


def _span(
    kind: str, event: LoggedEvent, end: float, *, made: str = "", failed: bool = False, is_open: bool = False
) -> Stretch:
    label = made or event.text("tool") or f"{event.text('role')}: {event.text('purpose')}"
    if kind == "build":
        label = f"{event.text('purpose')} {label}"
    elif kind == "awaited":
        label = f"waiting for {event.text('builder')}, which builds much the same as {label}"
    return Stretch(kind, short(label, 80), event.at, max(end, event.at), failed, is_open)


def _failed(event: LoggedEvent) -> bool:
    return event.kind == "tool_given_up" or bool(event.row.get("error"))
