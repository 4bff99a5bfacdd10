"""A process that trains, and may kill itself with SIGKILL. Its one argument holds orders as JSON:

name, rows (ids) or dataset (a file), settings, resume; `kill_at`: at the n-th event of a task or a step;
`kill_absorbing`: [step, when], with `before` or `after` for when; `kill_point`: [step, point of the journal], with the
real curator; `feed`: a library to work on; `file_limit`: no file may grow beyond so many bytes, as on a full disk.
Prints how the run ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from doubles import Gatherer, rows_of

from habilis import Evolution, load_settings
from habilis.config import Settings
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished
from habilis.evaluation import datasets
from habilis.rundir import TrainingDir
from habilis.runtime.host import ToolHost
from habilis.training.shelf import Absorbed, Shelf


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class KillAt:
    """Ends the process when event `number` comes (counted from 1; 0: never)."""

    def __init__(self, number: int) -> None:
        self.number, self.seen = number, 0

    def emit(self, event: Any) -> None:
        self.seen += 1
        if self.seen == self.number:
            die()


class DyingGatherer(Gatherer):
    """A curator that dies in a step."""

    def __init__(self, training: TrainingDir, place: list[Any]) -> None:
        super().__init__(training)
        self.place = place

    async def absorb(self, step: int, finished: Sequence[Finished]) -> Absorbed:
        if self.place == [step, "before"]:
            die()
        absorbed = await super().absorb(step, finished)
        if self.place == [step, "after"]:
            die()
        return absorbed


class DyingJournal(Journal):
    """A journal whose process dies right behind one of its notes."""

    place: list[Any]

    def write(self, step: int, point: Any, payload: dict[str, Any]) -> None:
        super().write(step, point, payload)
        if self.place == [step, point]:
            die()


def curated(training: TrainingDir, settings: Settings, place: list[Any], run: str) -> Shelf:
    """The real curator, over a journal that dies at `place`; `run` as in `Shelf`."""
    journal = DyingJournal(training.journal)
    journal.place = place
    return Shelf(training, settings, ToolHost(settings.sandbox), journal=journal, run=run)


def main() -> None:
    orders = json.loads(sys.argv[1])
    if "file_limit" in orders:
        resource.setrlimit(resource.RLIMIT_FSIZE, (orders["file_limit"],) * 2)
    killer = KillAt(orders.get("kill_at", 0))
    settings = load_settings(overrides=["runs_dir=runs", "evolution.batch_size=4", *orders.get("settings", [])])
    evolution = Evolution(
        settings,
        feed=Path(orders["feed"]) if "feed" in orders else None,
        sinks=[killer],
        watch=lambda task, event: killer.emit(event),
        absorbing=lambda training: (
            curated(training, settings, orders["kill_point"], evolution._run)
            if "kill_point" in orders
            else DyingGatherer(training, orders.get("kill_absorbing", []))
        ),
    )
    name = orders.get("name", "first")
    if orders.get("resume"):
        training = asyncio.run(evolution.resume(Path("runs") / name))
    else:
        dataset = orders.get("dataset")
        rows = datasets.load(dataset) if dataset else rows_of(*orders.get("rows", []))
        training = evolution.run_sync(rows, name=name, base=Path(dataset).parent if dataset else Path.cwd())
    print(training.stopped, killer.seen)


if __name__ == "__main__":
    main()
