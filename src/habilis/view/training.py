"""What the pages of a training and of its steps show."""

from __future__ import annotations

from typing import Any

from habilis.rundir import RunDir
from habilis.view.curves import curves
from habilis.view.flame import flame, of_training
from habilis.view.library import library_of
from habilis.view.records import number, part, rows, tokens

MAX_CURVE_STEPS = 2_000


def training_page(run: RunDir) -> dict[str, Any]:
    """The steps as they came, with curves of them."""
    steps = list(rows(run.path / "metrics.jsonl"))
    done = {int(number(step.get("step")) or 0) for step in steps}
    ends = list(rows(run.path / "predictions.jsonl"))
    under_way = sorted({int(number(end.get("step")) or 0) for end in ends} - done)
    state = run.state()
    return {
        "run": run,
        "state": state,
        "live": state == "running",
        "steps": steps,
        "under_way": under_way,
        "ended": len(ends),
        "curves": curves(steps[-MAX_CURVE_STEPS:]),
        "flame": flame(of_training(rows(run.path / "events.jsonl"))),
        "has_library": library_of(run) is not None,
        "tokens": int(sum(number(step.get("tokens")) or 0 for step in steps)),
        "seconds": sum(number(step.get("seconds")) or 0 for step in steps),
    }


def step_page(run: RunDir, step: int) -> dict[str, Any]:
    """The tasks of one step."""
    ends = [end for end in rows(run.path / "predictions.jsonl") if number(end.get("step")) == step]
    metrics = next((row for row in rows(run.path / "metrics.jsonl") if number(row.get("step")) == step), {})
    scored = {str(row.get("task_id")): row for row in rows(run.path / "scores.jsonl")}
    kept = {task.id for task in run.tasks()}
    return {
        "run": run,
        "step": step,
        "metrics": metrics,
        "ends": [
            (end, str(end.get("task_id")) in kept, tokens(part(end, "usage")), scored.get(str(end.get("task_id")), {}))
            for end in ends
        ],
    }
