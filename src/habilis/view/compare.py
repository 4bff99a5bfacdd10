"""Two runs side by side, what each came to, and where the same question ended otherwise; two tasks side by side."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from habilis.rundir import RunDir, TaskDir
from habilis.view.records import number, part, record, rows, tokens
from habilis.view.runs import RunRow, Runs
from habilis.view.task import task_page

MAX_TASKS = 500


@dataclass(frozen=True)
class TaskEnd:
    """How one task ended."""

    task_id: str
    question: str
    status: str
    answer: str
    tokens: int | None
    seconds: float | None
    kept: bool = True


@dataclass(frozen=True)
class Side:
    """A run of the two, with its last step where it is a training."""

    run: RunDir
    row: RunRow
    last: dict[str, Any]


def compared(runs: Runs, one: RunDir, other: RunDir) -> dict[str, Any]:
    """Both runs, and their tasks in pairs by id; two runs of one task each are a pair whatever their ids."""
    ends = [_ends(run) for run in (one, other)]
    if all(len(found) == 1 for found in ends):
        pairs = [(next(iter(ends[0].values())), next(iter(ends[1].values())))]
    else:
        ids = list(dict.fromkeys([*ends[0], *ends[1]]))
        pairs = [(ends[0].get(name), ends[1].get(name)) for name in ids]  # type: ignore[misc]
        pairs.sort(key=_alike)
    sides = [Side(run, runs.row(run), _last(run)) for run in (one, other)]
    return {"sides": sides, "pairs": pairs[:MAX_TASKS], "total": len(pairs)}


def _alike(pair: tuple[TaskEnd | None, TaskEnd | None]) -> bool:
    one, other = pair
    return one is not None and other is not None and (one.status, one.answer) == (other.status, other.answer)


def _last(run: RunDir) -> dict[str, Any]:
    return next(iter(deque(rows(run.path / "metrics.jsonl"), maxlen=1)), {})


def _ends(run: RunDir) -> dict[str, TaskEnd]:
    if run.training is not None:
        kept = {task.id for task in run.tasks()}
        ends = [_end(row, "prediction", str(row.get("task_id"))) for row in rows(run.path / "predictions.jsonl")]
        return {end.task_id: TaskEnd(**{**vars(end), "kept": end.task_id in kept}) for end in ends}
    found = {}
    for task in run.tasks()[:MAX_TASKS]:
        result = record(task.result) or {"status": task.read_state()}
        found[task.id] = _end(result, "final_answer", task.id)
    return found


def _end(row: dict[str, Any], answer: str, name: str) -> TaskEnd:
    return TaskEnd(
        name,
        str(row.get("question") or ""),
        str(row.get("status") or ""),
        str(row.get(answer) or ""),
        tokens(part(row, "usage")),
        number(row.get("seconds")),
    )


def tasks_compared(one: TaskDir, other: TaskDir) -> dict[str, Any]:
    """What the pages of both tasks show, and all roles of either."""
    sides = [task_page(task, 1) for task in (one, other)]
    by_role = [{role: used for role, used, _ in side["roles"]} for side in sides]
    roles = list(dict.fromkeys([*by_role[0], *by_role[1]]))
    return {"sides": sides, "roles": [(role, [used.get(role, {}) for used in by_role]) for role in roles]}
