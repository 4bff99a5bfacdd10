"""The list of runs: thousands of them, of which only those are read that a page shows, or that it is sorted by."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.rundir import RunDir
from habilis.view.records import number, part, record, rows, tokens
from habilis.view.visible import short

PAGE_RUNS = 100
Stamp = tuple[int, ...]
SORTS: dict[str, Callable[[RunRow], Any]] = {
    "name": lambda row: row.name,
    "status": lambda row: row.status,
    "question": lambda row: row.question.casefold(),
    "created": lambda row: row.created,
    "seconds": lambda row: row.seconds if row.seconds is not None else -1.0,
    "tokens": lambda row: row.tokens if row.tokens is not None else -1,
    "cost": lambda row: row.cost if row.cost is not None else -1.0,
}


@dataclass(frozen=True)
class RunRow:
    """A run in one line. `seconds`, `tokens` and `cost` are None where the record tells none."""

    name: str
    status: str
    question: str
    created: float
    tasks: int
    training: bool
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None


class Runs:
    """The runs in the folder `root`, or only those that were `named`."""

    def __init__(self, root: Path, named: tuple[RunDir, ...] = ()) -> None:
        self._root, self._named = root, {run.name: run for run in named}
        self._rows: dict[str, tuple[tuple[str, ...], Stamp, RunRow]] = {}
        self._created: dict[str, tuple[Stamp, float]] = {}
        if len(self._named) < len(named):
            raise UserError("two of the runs have the same name; name one of them")

    def all(self) -> list[RunDir]:
        """All of them, the newest first."""
        if self._named:
            return list(self._named.values())
        try:
            names = [entry.name for entry in os.scandir(self._root) if not entry.name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UserError(f"cannot read {self._root}: {error.strerror}") from None
        found = [(created, name) for name in names if (created := self._made(name)) is not None]
        return [RunDir(self._root / name) for _, name in sorted(found, reverse=True)]

    def _made(self, name: str) -> float | None:
        """When the run of this name was made, read once; None where there is no run."""
        path = f"{self._root}/{name}/run.yaml"
        known, stamp = self._created.get(name), _stamp((path,))
        if known is None or known[0] != stamp:
            if not Path(path).is_file():
                return None
            known = self._created[name] = (stamp, RunDir(self._root / name).created)
        return known[1]

    def get(self, name: str) -> RunDir | None:
        """The run of this very name."""
        if self._named:
            return self._named.get(name)
        if not name or name.startswith(".") or "/" in name or "\0" in name:
            return None
        path = self._root / name
        return RunDir(path) if (path / "run.yaml").is_file() else None

    def listed(self, *, said: str = "", status: str = "", sort: str = "", down: bool = True) -> list[RunDir]:
        """Those that hold the words of `said` and have this status, in the order of `sort` (default: by age)."""
        runs = self.all()
        if said or status:
            words = said.casefold().split()
            runs = [run for run in runs if self._fits(self.row(run), words, status)]
        if sort in SORTS and (sort, down) != ("created", True):
            key = SORTS[sort]
            runs.sort(key=lambda run: key(self.row(run)), reverse=down)
        return runs

    def row(self, run: RunDir) -> RunRow:
        """The run's line; read anew when something in it changed."""
        known = self._rows.get(run.name)
        if known is None or known[1] != _stamp(known[0]) or known[2].status == "running":
            paths = _telling(run)
            stamp = _stamp(paths)  # before the reading: what changes meanwhile is read again
            known = self._rows[run.name] = (paths, stamp, row_of_run(run))
        return known[2]

    @staticmethod
    def _fits(row: RunRow, words: list[str], status: str) -> bool:
        held = f"{row.name} {row.question}".casefold()
        return (not status or row.status == status) and all(word in held for word in words)


def row_of_run(run: RunDir) -> RunRow:
    """What the records of `run` say in one line."""
    tasks, training = run.tasks(), run.training
    state = run.state()
    if training is not None:
        steps = list(rows(training.metrics))
        spent = [number(step.get("tokens")) or 0 for step in steps]
        took = sum(number(step.get("seconds")) or 0 for step in steps)
        told = f"training, {len(tasks)} tasks"
        paid = _sum([number(step.get("cost")) for step in steps])
        return RunRow(run.name, state, told, run.created, len(tasks), True, took, int(sum(spent)), paid)
    question = status = ""
    seconds: float | None = None
    used: list[int] = []
    costs: list[float | None] = []
    for task in tasks:
        result = record(task.result)
        question = question or short(part(record(task.task), "task").get("question"), 300)
        status = str(task.state_record().get("status") or "")
        if (spent_here := tokens(part(result, "usage"))) is not None:
            used.append(spent_here)
        seconds = _plus(seconds, number(result.get("seconds")))
        costs += [number(part(result, "usage").get("cost"))] if spent_here else []
    status = status if len(tasks) == 1 and state in ("finished", "failed") and status else state
    return RunRow(
        run.name, status, question, run.created, len(tasks), False, seconds, sum(used) if used else None, _sum(costs)
    )


def _sum(costs: list[float | None]) -> float | None:
    """What all of them come to; None where there is none, or one that nobody knows."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _plus(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def _telling(run: RunDir) -> tuple[str, ...]:
    """The files and folders that tell whether the run's line may have changed."""
    names = [str(run.path / name) for name in ("run.yaml", "metrics.jsonl", "state.json", "tasks")]
    return (*names, *(str(task.state) for task in (run.tasks() if run.training is None else ())))


def _stamp(paths: Iterable[str]) -> Stamp:
    """Which files these are now; what is not there is told as well."""
    found: list[int] = []
    for path in paths:
        try:
            status = os.lstat(path)
        except OSError:
            found.append(0)
        else:
            found += (status.st_ino, status.st_mtime_ns, status.st_size)
    return tuple(found)
