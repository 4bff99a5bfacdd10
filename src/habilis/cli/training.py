"""A training run for people: its account as it goes, then a table with a row for each step."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from habilis.cli.plot import terminal_plot
from habilis.config import unattended
from habilis.core import events as ev
from habilis.core.types import Usage
from habilis.terminal.board import Board
from habilis.terminal.console import ConsoleSink, cost_text
from habilis.terminal.pane import Pane
from habilis.terminal.streams import note_kept
from habilis.terminal.tables import terminal_width
from habilis.terminal.wording import one_line, plain, seconds_text

if TYPE_CHECKING:
    from rich.console import Console

    from habilis.curation.ledger.metrics import StepMetrics
    from habilis.training.outcome import Training

EXIT_CODES = {
    "done": 0,
    "train_steps": 0,
    "egl_flat": 0,
    "stop_file": 0,
    "failed": 1,
    "unreachable": 3,
    "misconfigured": 2,
    "budget": 4,
    "environment_error": 5,
    "interrupted": 130,
}
WORDS = {
    "done": "done",
    "train_steps": "ended at its number of steps",
    "egl_flat": "ended, for EGL is flat",
    "stop_file": "stopped by its stop file",
    "failed": "a step failed",
    "unreachable": "model unreachable",
    "misconfigured": "the model's settings are wrong",
    "budget": "budget used up",
    "environment_error": "this machine failed",
    "interrupted": "interrupted",
}


class TrainingConsole(ConsoleSink):
    """Shows steps and the ends of tasks as lines, which stay. Below them stands the board; on a terminal that is not
    made for that, the line of current activity.
    """

    def __init__(self, console: Console, *, live: bool | None = None) -> None:
        board = live is not False and can_show(console)
        super().__init__(console, live=False if board else live)
        self.board = Board()
        self._pane = Pane(console, self.board.lines) if board else None

    def emit(self, event: ev.Event) -> None:
        if self._pane:
            self.board.emit(event)
            self._pane.open()
        super().emit(event)

    def heard(self, task_id: str, event: ev.Event) -> None:
        """Take in what happens in one task: what it is doing, and what a person must know."""
        if self._pane:
            self.board.heard(task_id, event)
        elif doing := _doing(event):
            self._busy[task_id] = f"{task_id}: {doing}"
        if event.kind == "model_call_ended":
            self._usage += event.usage
        elif event.kind == "notice" and event.level != "info":
            self.line(event.level, f"{task_id}: {one_line(event.text, 300)}", "yellow", "yellow")
        elif event.kind == "alert":
            self.line("alert", f"{task_id}: {event.text}", "yellow", "yellow")
        elif event.kind == "model_retry":
            self.line(
                "retry", f"{task_id}: {event.role} model, try {event.attempt}: {one_line(event.reason)}", "yellow"
            )
        self._refresh()

    def pause(self) -> None:
        if self._pane:
            self._pane.close()
        super().pause()

    def close(self) -> None:
        super().close()
        self._pane = None

    def _print(self, what: Any, **options: Any) -> None:
        if self._pane is None:
            return super()._print(what, **options)
        with self._console.capture() as taken:
            super()._print(what, **options)
        return self._pane.above(taken.get())

    def _on_step_started(self, event: ev.StepStarted) -> None:
        again = f", {event.left} of them left" if event.left < len(event.tasks) else ""
        self.line("step", f"{event.step}: {len(event.tasks)} tasks{again}", "bold")

    def _on_step_task_ended(self, event: ev.StepTaskEnded) -> None:
        self._busy.pop(event.task_id, None)
        took = seconds_text(event.seconds)
        if event.status == "answered":
            self.line("", f"✓ {event.task_id}, {took} → {one_line(event.prediction)}", "green")
        else:
            self.line("", f"✗ {event.task_id} {event.status}, {took}: {one_line(event.error or '', 300)}", "yellow")

    def _on_step_ended(self, event: ev.StepEnded) -> None:
        row = event.metrics
        parts = [
            f"EGL {_number(row['egl'])}",
            f"library {row['library_size']} tools",
            f"reuse {_percent(row['reuse_rate'])}",
            f"accuracy {_percent(row['accuracy'])}",
        ]
        self.line("absorbed", f"step {event.step}: {' · '.join(parts)}", "cyan")


def can_show(console: Console) -> bool:
    """Whether the board can be drawn on `console`. A person who wants no colour, and a terminal that cannot move its
    cursor or has no Unicode, get the plain account; so does a build server."""
    unicode = (console.encoding or "").lower().startswith("utf")
    return console.is_terminal and unicode and not (console.is_dumb_terminal or console.no_color or unattended())


def _doing(event: ev.Event) -> str:
    if event.kind == "task_started":
        return "starting"
    if event.kind == "model_call_started":
        return event.purpose or event.role
    if event.kind == "tool_build_started":
        return f"{'writing' if event.purpose == 'build' else 'mending'} {event.tool}"
    return f"running {event.tool}" if event.kind == "tool_call_started" else ""


def report(training: Training, *, as_json: bool, plot: bool = True, out: TextIO | None = None) -> int:
    """Hand the outcome over on standard output, and return the exit code."""
    out = out or sys.stdout
    note_kept(training.run_dir)
    if as_json:
        print(json.dumps(training.model_dump(mode="json"), ensure_ascii=False, indent=2), file=out)
        return EXIT_CODES[training.stopped]
    ascii_only = not (out.encoding or "utf-8").lower().startswith("utf")
    for line in lines(training, plot=plot, ascii_only=ascii_only, width=terminal_width()):
        print(plain(line), file=out)
    return EXIT_CODES[training.stopped]


def lines(training: Training, *, plot: bool = True, ascii_only: bool = False, width: int | None = None) -> list[str]:
    """The outcome as text: table (in `width` columns, if that is given), plot, how it ended."""
    found = [*table(training.steps, width), LEGEND] if training.steps else []
    if plot and len(training.steps) > 1:
        found += ["", *terminal_plot(training.steps, ascii_only=ascii_only)]
    ended = ", ".join(f"{count} {status}" for status, count in training.statuses.items()) or "none ended"
    found += ["", f"tasks    {training.tasks}: {ended}" + (f", {training.left} left" if training.left else "")]
    cost = cost_text(Usage(prompt_tokens=training.tokens, cost=training.cost))
    found.append(f"cost     {training.tokens:,} tokens{cost}, {seconds_text(training.seconds)}")
    reason = f": {one_line(training.reason, 400)}" if training.reason else ""
    found.append(f"outcome  {WORDS[training.stopped]}{reason}")
    found.append(f"run      {training.run_dir}")
    return found if training.steps else found[1:]


LEGEND = "EGL: evolutionary generality loss, the tools written for each tool call so far; lower is better"


SPARE = ("MADE", "CALLS", "TOOLS OK", "TIME", "COST/TASK", "TOKENS/TASK", "ANSWERED", "REUSE", "LIBRARY")
"""Columns that go in a narrow terminal, in this order; `runs show --json` has all figures."""


def table(steps: Sequence[StepMetrics], width: int | None = None) -> list[str]:
    """One line for each step, under a head; in `width` columns what is least missed goes."""
    head = ["STEP", "TASKS", "ANSWERED", "EGL", "MADE", "CALLS", "REUSE", "TOOLS OK", "LIBRARY", "TOKENS/TASK"]
    priced = any(row.cost_per_task for row in steps)
    head += ["COST/TASK"] if priced else []
    rows = [[*head, "ACCURACY", "TIME"], *(_cells(row, priced) for row in steps)]
    columns = [(max(map(len, column)), column) for column in zip(*rows, strict=True)]
    for name in SPARE:
        if width is None or sum(size + 2 for size, _ in columns) - 2 <= width:
            break
        columns = [(size, column) for size, column in columns if column[0] != name]
    return ["  ".join(column[i].rjust(size) for size, column in columns) for i in range(len(rows))]


def _cells(row: StepMetrics, priced: bool) -> list[str]:
    return [
        str(row.step),
        str(row.tasks),
        str(row.statuses.get("answered", 0)),
        _number(row.egl),
        str(row.synthesised),
        str(row.invocations),
        _percent(row.reuse_rate),
        _percent(row.tool_success_rate),
        str(row.library_size),
        "–" if row.tokens_per_task is None else f"{row.tokens_per_task:,.0f}",
        *([_money(row.cost_per_task)] if priced else []),
        _percent(row.accuracy),
        seconds_text(row.seconds),
    ]


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: Any) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _money(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}"
