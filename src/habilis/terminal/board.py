"""A training at a glance: how far it is, what it has cost, how long it may take, what each task under way waits for.

It reads events alone and draws nothing; `pane.py` does. What it cannot know it leaves out.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from habilis.core import events as ev
from habilis.core.types import Usage
from habilis.core.usage import money_text
from habilis.terminal.doing import Doing
from habilis.terminal.tables import columns_of, cut, fitted
from habilis.terminal.wording import one_line

if TYPE_CHECKING:
    from rich.text import Text

CURATOR = "curator"
_OPEN = frozenset({"interrupted", "environment_error", "unreachable", "misconfigured"})
"""Ends after which a task is still to be run."""
_WORDS = {"gave_up": "given up", "timed_out": "out of time", "budget": "out of budget"}
ENDS_TO_TELL = 3
"""Tasks that must have ended before it is told how long the others may take."""
_LOW, _NAME, _AGE = 12, 16, 7
"""A terminal of so many rows is low: its head is shorter. Columns of a task's name, at most, and of its time."""


class Board:
    """Hears the events of a training, and tells how it stands. Safe to be asked from another thread.

    `clock` counts seconds and never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._began = clock()
        self._rows = self._steps = self._step = self._left = 0
        self._ends: dict[str, str] = {}
        self._ended_here = 0
        self._working_since: float | None = None
        self._side_by_side = 0
        self._tasks: dict[str, Doing] = {}
        self._usage = Usage()

    def expect(self, rows: int, steps: int, ended: Mapping[str, str]) -> None:
        """What the whole run has to do, and the tasks that ended in earlier sessions, each with its status."""
        self._rows, self._steps = rows, steps
        self._ends.update(ended)

    def heard(self, task_id: str, event: ev.Event) -> None:
        """Take in what happens in one task, or in the curator."""
        now = self._clock()
        with self._lock:
            if event.kind == "model_call_ended":
                self._usage += event.usage
            if task_id not in self._tasks:
                self._tasks[task_id] = Doing(now)
                self._side_by_side = max(self._side_by_side, len(self._tasks))
            self._tasks[task_id].heard(event, now)

    def emit(self, event: ev.Event) -> None:
        """Take in what happens in the run."""
        with self._lock:
            if event.kind == "step_started":
                self._step, self._left = event.step, event.left
                self._working_since = self._clock() if self._working_since is None else self._working_since
            elif event.kind == "step_task_ended":
                self._ended(event)
            elif event.kind == "step_ended":
                self._tasks.clear()

    def lines(self, columns: int, rows: int) -> list[Text]:
        """The board in at most so many columns and rows, with room above it for what is printed."""
        from rich.text import Text

        now, room = self._clock(), columns - 1
        with self._lock:
            head = list(self._head(now, room))
            tasks = [(one_line(name), *doing.told(now)) for name, doing in self._tasks.items()]
        most = max(2, rows - max(3, rows // 4))
        head = head[: min(2 if rows <= _LOW else 3, most - 1)]
        shown = tasks if len(head) + len(tasks) <= most else tasks[: max(0, most - len(head) - 1)]
        width = max((columns_of(name) for name, *_ in shown), default=0)
        width = min(width, _NAME, max(4, room // 4))
        found = [Text(cut(line, room), "bold" if number == 0 else "dim") for number, line in enumerate(head)]
        for name, text, seconds in shown:
            ahead = f" {fitted(name, width)} {_age(seconds):>{_AGE}}  "
            line = Text(ahead, "cyan")
            line.append(cut(one_line(text), max(0, room - columns_of(ahead))), "default")
            found.append(line)
        if len(shown) < len(tasks):
            found.append(Text(cut(f" … and {len(tasks) - len(shown)} more at work", room), "dim"))
        return found[:most]

    def left_s(self) -> float | None:
        """Seconds that the run may still take: as long for each row as so far. None before there is enough to tell by,
        and where it is not known how many rows there are."""
        left = self._rows - self._done()
        if self._working_since is None or self._ended_here < max(ENDS_TO_TELL, self._side_by_side) or left <= 0:
            return None
        return (self._clock() - self._working_since) / self._ended_here * left

    def _ended(self, event: ev.StepTaskEnded) -> None:
        self._tasks.pop(event.task_id, None)
        self._ends[event.task_id] = event.status
        if event.status in _OPEN:
            return
        self._ended_here += 1
        self._left -= 1
        if self._left == 0:
            self._tasks[CURATOR] = Doing(self._clock(), f"absorbing what step {self._step} proved")

    def _done(self) -> int:
        return sum(status not in _OPEN for status in self._ends.values())

    def _head(self, now: float, room: int) -> Iterator[str]:
        """What is told of the run as a whole, in lines of at most `room` columns."""
        line = ""
        for part in self._facts(now):
            longer = f"{line} · {part}" if line else part
            if line and columns_of(longer) > room:
                yield line
                longer = part
            line = longer
        yield line

    def _facts(self, now: float) -> Iterator[str]:
        if self._step:
            yield f"step {self._step} of {max(self._step, self._steps)}" if self._steps else f"step {self._step}"
        done = self._done()
        yield f"{done} of {max(self._rows, done)} tasks" if self._rows else f"{done} tasks done"
        counts = Counter(status for status in self._ends.values() if status not in _OPEN)
        if ended := ", ".join(f"{n} {_WORDS.get(said, said.replace('_', ' '))}" for said, n in counts.most_common()):
            yield ended
        yield _age(now - self._began)
        if (left := self.left_s()) is not None:
            yield f"about {_roughly(left)} left"
        if self._usage.model_calls:
            yield f"{self._usage.total_tokens:,} tokens"
        if self._usage.cost and not self._usage.unpriced:
            yield money_text(self._usage.cost)


def _age(seconds: float) -> str:
    """Seconds that passed, in at most seven columns: `7 s`, `3:20`, `2:05:00`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, hours = whole // 60, whole // 3600
    return f"{hours}:{minutes % 60:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def _roughly(seconds: float) -> str:
    """No more exact than an estimate can be."""
    if seconds < 50:
        return f"{max(10, round(seconds, -1)):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60 // 10 * 10} min"
