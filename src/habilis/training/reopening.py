"""Rows that are to be run once more: what stood in their way is mended by now."""

from __future__ import annotations

from collections.abc import Collection

from habilis.core.errors import UserError
from habilis.rundir import KeyedRows, RunDir, TrainingDir, begin_anew
from habilis.training.batch import FINAL, OUTER

AGAIN = sorted(FINAL | OUTER.keys())
"""Statuses whose rows can be run anew."""
_CLOSED = ("answered", "gave_up", "waiting")
"""Ends that a resume of the task leaves as they are: such a task begins from nothing, its folder kept in `earlier/`."""


def reopen(run: RunDir, statuses: Collection[str]) -> int:
    """Open the rows that ended with one of `statuses`; returns how many. The others go on from where they stood.

    Raises `UserError` for a status that no row can have, OSError.
    """
    for status in statuses:
        if status not in AGAIN:
            raise UserError(f"--again {status}: no row ends with that status; choose from {', '.join(AGAIN)}")
    predictions = KeyedRows(TrainingDir(run.path).predictions, "task_id")
    rows = [row for row in predictions.rows() if row.get("status") in statuses and not row.get("open")]
    for row in rows:
        predictions.put({**row, "open": True})
        if row["status"] in _CLOSED:
            begin_anew(run, row["task_id"])
    return len(rows)
