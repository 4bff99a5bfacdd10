"""What a training run came to: written when it ends, read back from its files at any time."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path

from pydantic import Field

from habilis.core.errors import PlaceError
from habilis.core.types import FORMAT, Frozen, Usage
from habilis.core.usage import Money
from habilis.curation.ledger.metrics import StepMetrics, usage_on
from habilis.rundir import KeyedRows, RunDir, TrainingDir
from habilis.training.batch import Stop, is_over
from habilis.training.budget import RunBudget

log = logging.getLogger(__name__)
_STATES: dict[Stop, str] = {
    "budget": "stopped",
    "interrupted": "stopped",
    "unreachable": "stopped",
    "misconfigured": "stopped",
    "environment_error": "stopped",
    "failed": "failed",
}


class Training(Frozen):
    """What a training run came to. `stopped` says why it ended; from `budget` on it can be resumed.

    `tokens`, `cost` (USD; None where a price is not known) and `seconds` are of the whole run, earlier sessions
    included. `left` counts tasks without an end.
    """

    format: int = FORMAT
    run_dir: str
    stopped: Stop
    reason: str = ""
    steps: tuple[StepMetrics, ...] = ()
    statuses: dict[str, int] = Field(default_factory=dict)
    tasks: int = 0
    left: int = 0
    tokens: int = 0
    cost: Money | None = None
    seconds: float = 0.0

    @property
    def absorbed(self) -> bool:
        """Whether every step that was begun was absorbed."""
        return self.stopped in ("done", "train_steps", "egl_flat", "stop_file")


def read_training(run_dir: Path) -> Training:
    """What the run in `run_dir` came to so far, from its files alone."""
    training = TrainingDir(run_dir)
    state = training.state_record()
    predictions = KeyedRows(training.predictions, "task_id").rows()
    ids = {str(row.get("id")) for row in training.load_rows()}
    over = [row for row in predictions if is_over(row) and (not ids or row["task_id"] in ids)]
    left = max(len(ids) - len(over), 0)
    steps = tuple(StepMetrics.model_validate(row) for row in KeyedRows(training.metrics, "step").rows())
    if "tokens" not in state:  # lost: what was paid for stands on the tapes
        used = paid_in(RunDir(run_dir))
        state |= {"tokens": used.total_tokens, "cost": used.cost, "seconds": sum(row.seconds for row in steps)}
    return Training(
        run_dir=str(run_dir.resolve()),
        stopped="interrupted" if left and state.get("stopped") == "done" else state.get("stopped") or "interrupted",
        reason=state.get("reason") or "",
        steps=tuple(sorted(steps, key=lambda row: row.step)),
        statuses=dict(sorted(Counter(str(row.get("status")) for row in over).items())),
        tasks=max(len(ids), len(over)),
        left=left,
        tokens=int(state.get("tokens") or 0),
        cost=state.get("cost"),
        seconds=round(float(state.get("seconds") or 0.0), 3),
    )


def write_outcome(training: TrainingDir, stopped: Stop, reason: str, budget: RunBudget) -> None:
    """Write why the run ended; a full disk is told of in the log, and leaves `running`, which reads as stopped."""
    more = {"stopped": stopped, "reason": reason, **budget.account}
    try:
        training.set_state(_STATES.get(stopped, "finished"), **more)
    except (OSError, PlaceError) as error:
        log.warning("where the run stands could not be written: %s", getattr(error, "strerror", None) or error)


def paid_in(run: RunDir) -> Usage:
    """What all tapes of `run` show as paid: its tasks', those run anew since, the curator's."""
    tapes = [*(task.tape for task in (*run.tasks(), *run.earlier())), *(run.path / "curator").glob("*.jsonl")]
    return sum(map(usage_on, tapes), Usage())
