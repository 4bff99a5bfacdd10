"""Questions that the offline model can answer, and a curator that is simple enough to be right."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from habilis.curation.ledger.reports import Finished, Row
from habilis.library import Library
from habilis.rundir import TrainingDir
from habilis.training.shelf import Absorbed

QUESTIONS = {
    "mean": ("What is the average price in sales.csv?", "20"),
    "sum": ("What is the sum of price in sales.csv?", "60"),
    "arithmetic": ("What is 2+3*4?", "14"),
    "gcd": ("What is the gcd of 12 and 18?", "6"),
    "mean2": ("What is the mean price in sales.csv?", "20"),
    "rows": ("How many rows are in sales.csv?", "3"),
    "max": ("What is the maximum price in sales.csv?", "30"),
    "min": ("What is the minimum price in sales.csv?", "10"),
}
"""Questions of the offline model's with their answers."""
FEW = ("mean", "sum", "arithmetic", "gcd", "mean2")


class Gatherer:
    """A curator's double: every proven tool goes into the library, a plain folder, under its own name.

    `before` and `after` are called around a step; what they raise is a step that failed.
    """

    def __init__(self, training: TrainingDir) -> None:
        self.library = training.library
        self.seen: list[tuple[int, list[tuple[str, str]]]] = []
        self.before: Callable[[int], Awaitable[None]] | None = None

    async def absorb(self, step: int, finished: Sequence[Finished]) -> Absorbed:
        if self.before:
            await self.before(step)
        self.seen.append((step, [(end.task_id, end.status) for end in finished]))
        self.library.mkdir(exist_ok=True)
        for end in finished:
            if end.absorbable:
                for tool in Library(Path(end.folder) / "tools").tools():
                    for suffix in (".py", ".json"):
                        shutil.copy(tool.path.with_suffix(suffix), self.library)
        return Absorbed(generation=step, tools=len(Library(self.library).names()))


def rows_of(*names: str) -> list[Row]:
    return [Row(id=name, question=QUESTIONS[name][0], answer=QUESTIONS[name][1]) for name in names or FEW]
