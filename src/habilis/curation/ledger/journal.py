"""How far each step of a run has come, so that a run killed anywhere goes on behind what it has finished.

One JSON line per point of a step, `{step, point, payload}`, on the disk before anything builds on it. A torn last line,
left by a kill, counts as never written.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.core.types import Usage
from habilis.curation.ledger.reports import Point
from habilis.rundir import append_line, read_jsonl
from habilis.rundir.files import row_of
from habilis.rundir.plain import lines_of
from habilis.rundir.training import journal_line


class Journal:
    """The journal of one run, in the file `path`, which need not exist. One process at a time writes it.

    Raises `UserError` for a file that is damaged before its end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entries: dict[tuple[int, str], dict[str, Any]] = {}
        self._load()

    def entry(self, step: int, point: Point) -> dict[str, Any] | None:
        """What was written of a point, the newest if it was written again; None while the step has not reached it."""
        return self._entries.get((step, point))

    def write(self, step: int, point: Point, payload: dict[str, Any]) -> None:
        """Write a point down (`payload` is JSON-plain). It is on the disk when this returns. Raises OSError."""
        line = journal_line(step, point, payload)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.path, line)
        self._entries[step, point] = row_of(line)["payload"]

    def _load(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            for number, raw in enumerate(lines_of(self.path), 1):
                if not raw.endswith(b"\n"):
                    return  # torn: the last one
                try:
                    row = row_of(raw)
                    self._entries[row["step"], row["point"]] = row["payload"]
                except (ValueError, KeyError, TypeError):
                    raise UserError(
                        f"{self.path} is damaged at line {number}; 'habilis runs check --repair' sets that line aside"
                    ) from None


def paid_on(path: Path) -> tuple[Usage, int]:
    """What the model calls on a tape cost, failed attempts included, and how many were finished."""
    rows = [row for row in read_jsonl(path) if row.get("kind") in ("reply", "refusal")]
    return sum((Usage.model_validate(row.get("usage", {})) for row in rows), Usage()), len(rows)
