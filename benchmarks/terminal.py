"""What the live view of a training costs: `python benchmarks/terminal.py [ROWS]`.

A training with the offline model in this process, shown on a terminal that somebody reads. Each share is of the same
run: processor time of the view, by the clocks of the threads that drew and counted, over the time that the run took,
and over all processor time of this process. The account in lines, which is there without the view, is counted apart.
"""

from __future__ import annotations

import asyncio
import os
import pty
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from habilis.cli.training import TrainingConsole
from habilis.config import load_settings
from habilis.evaluation.datasets import load
from habilis.terminal.board import Board
from habilis.terminal.console import make_console
from habilis.terminal.pane import Pane
from habilis.training.trainer import Evolution
from measure import ROOT, machine


class Spent:
    """Seconds of processor time by what they were spent on."""

    def __init__(self) -> None:
        self.drawing = self.hearing = self.account = 0.0

    def timed(self, what: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            began = time.thread_time()
            try:
                return work(*args)
            finally:
                setattr(self, what, getattr(self, what) + time.thread_time() - began)

        return timed


class TimedBoard(Board):
    def __init__(self, spent: Spent) -> None:
        super().__init__()
        self.heard = spent.timed("hearing", super().heard)  # type: ignore[method-assign]
        self.emit = spent.timed("hearing", super().emit)  # type: ignore[method-assign]


class TimedPane(Pane):
    spent: Spent

    def draw(self) -> None:
        self.spent.timed("drawing", super().draw)()


class Timed(TrainingConsole):
    """The account with its view, as `habilis evolve` shows it."""

    def __init__(self, stream: Any, spent: Spent) -> None:
        super().__init__(make_console(stream))
        assert self._pane is not None, "this is no terminal for the view: unset NO_COLOR and CI"
        self.board = TimedBoard(spent)
        self._pane = TimedPane(self._console, self.board.lines)
        self._pane.spent = spent
        self.emit = spent.timed("account", super().emit)  # type: ignore[method-assign]
        self.heard = spent.timed("account", super().heard)  # type: ignore[method-assign]


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    threading.Thread(target=_read, args=(ours,), daemon=True).start()
    benchmark = ROOT / "examples" / "benchmark"
    with tempfile.TemporaryDirectory() as folder, os.fdopen(theirs, "w", encoding="utf-8") as stream:
        settings = load_settings([ROOT / "configs" / "offline.yaml"], [f"runs_dir={folder}", "evolution.batch_size=8"])
        spent = Spent()
        shown = Timed(stream, spent)
        rows = load(str(benchmark / "tasks.jsonl"))[:most]
        shown.board.expect(len(rows), -(-len(rows) // 8), {})
        evolution = Evolution(settings, sinks=[shown], watch=shown.heard)
        began, before = time.monotonic(), time.process_time()
        asyncio.run(evolution.run(rows, base=Path(benchmark)))
        shown.close()
        wall, cpu = time.monotonic() - began, time.process_time() - before
    print(f"{len(rows)} rows, {wall:.1f} s, of it {cpu:.1f} s of processor time here; {machine()}\n")
    print("| spent on | s | of the run's time | of the processor time |\n| --- | --- | --- | --- |")
    lines = spent.account - spent.hearing
    for what, s in (("the view", spent.drawing + spent.hearing), ("the account in lines, with what it redraws", lines)):
        print(f"| {what} | {s:.3f} | {100 * s / wall:.2f} % | {100 * s / cpu:.2f} % |")


def _read(terminal: int) -> None:
    while True:
        try:
            if not os.read(terminal, 65_536):
                return
        except OSError:
            return


if __name__ == "__main__":
    main()
