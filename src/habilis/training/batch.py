"""The tasks of one step: run side by side within bounds, each end written down at once, nothing finished run again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from habilis.contract import taskfiles
from habilis.core.errors import PlaceError, UserError
from habilis.core.events import Event, StepTaskEnded
from habilis.core.types import Task
from habilis.curation.ledger.metrics import usage_of
from habilis.curation.ledger.reports import Finished, Row
from habilis.rundir import KeyedRows, RunDir, TaskDir, safe_id
from habilis.rundir.kept import lease_of
from habilis.synthesis.sharing import OPEN as STOPPED
from habilis.synthesis.sharing import OVER, end_builds, open_builds
from habilis.training.budget import RunBudget
from habilis.training.runners import BatchRunner, Job

Stop = Literal[
    "done",
    "train_steps",
    "egl_flat",
    "stop_file",
    "budget",
    "interrupted",
    "unreachable",
    "misconfigured",
    "environment_error",
    "failed",
]
"""Why a training run ended, or was broken off (from `budget` on). `egl_flat` is of runs of earlier versions."""
BROKEN_OFF = frozenset({"budget", "interrupted", "unreachable", "misconfigured", "environment_error", "failed"})
FINAL = frozenset({"answered", "gave_up", "timed_out", "crashed", "budget", "waiting"})
"""Statuses of tasks that are over; others go on after a resume."""
OPEN = frozenset({"interrupted", "environment_error"})
"""Statuses that say nothing of their task: they are not written down as its end."""
OUTER: dict[str, Stop] = {"unreachable": "unreachable", "environment_error": "environment_error", "crashed": "failed"}
"""Ends that come from outside a task, and what they make of the run that sees one again and again."""
IN_A_ROW = 3
Watch = Callable[[str, Event], None]
"""Hears the events of a task, by its id."""


class Batch:
    """Runs the rows of one step after the other. One for a whole run; `stop` ends it from outside."""

    def __init__(
        self,
        run: RunDir,
        runner: BatchRunner,
        predictions: KeyedRows,
        budget: RunBudget,
        *,
        concurrency: int,
        timeout_s: float,
        library: Path,
        share_builds: bool,
        base: Path | None,
        watch: Watch,
        emit: Callable[[Event], None],
        trace: str = "",
    ) -> None:
        self._run, self._runner, self._predictions, self._budget = run, runner, predictions, budget
        self._concurrency, self._timeout_s = concurrency, timeout_s
        self._library, self._share_builds, self._base = library, share_builds, base
        self._watch, self._emit, self._trace = watch, emit, trace
        self._trusted = run.mark() is None  # whoever begins a batch has looked at the run; here no key can be kept
        self.stopped: Stop | None = None
        self.reason = ""
        self._alike: list[Finished] = []
        self._ended: set[str] = set()

    def stop(self, why: Stop, reason: str) -> None:
        """Start no further task; those that run finish their step and can be resumed."""
        if self.stopped is None:
            self.stopped, self.reason = why, reason
            self._runner.interrupt()

    def left(self, rows: Sequence[Row]) -> list[Row]:
        """The rows that are still to be run."""
        return [row for row in rows if not self._is_over(row)]

    async def work(self, step: int, rows: Sequence[Row]) -> list[Finished] | None:
        """How each row of the step ended, in their order; None when the batch was broken off.

        Raises OSError or `PlaceError` when an end cannot be written down, once the other tasks have stopped.
        """
        at_once = asyncio.Semaphore(self._concurrency)
        ends: dict[str, Finished] = {}
        unwritten: list[OSError | PlaceError] = []
        left, order = self.left(rows), [row.id for row in rows]
        builds = self._builds(step)
        if builds is not None:
            open_builds(builds, order, {row.id for row in left}, self._is_begun)

        async def one(row: Row) -> None:
            async with at_once:  # first come, first served: no task begins before those that it may wait for
                self._heed_budget()
                if self.stopped is not None:
                    return
                try:
                    ends[row.id] = end = await self._one(step, row, tuple(order[: order.index(row.id)]))
                    if builds is not None:
                        end_builds(builds, row.id, STOPPED if end.status in OPEN else OVER)
                except (OSError, PlaceError) as error:  # raised once the others have kept what they paid for
                    unwritten.append(error)
                    self.stop("environment_error", str(error))

        try:
            async with asyncio.TaskGroup() as group:
                for row in left:
                    group.create_task(one(row))
        except BaseExceptionGroup as several:
            raise _first(several) from None
        if unwritten:
            raise unwritten[0]
        if ends and all(end.status == "unreachable" for end in ends.values()):
            self.stop("unreachable", next(iter(ends.values())).error or "the model cannot be reached")
        if self.stopped in ("misconfigured", *OUTER.values()) or not all(
            self._is_over(row) or _over(ends.get(row.id)) for row in rows
        ):
            self.stop("interrupted", "a task was stopped")
            return None
        return [ends.get(row.id) or self._known(row) for row in rows]

    async def _one(self, step: int, row: Row, before: tuple[str, ...]) -> Finished:
        end = await self._runner.run(self._job(step, row, before), lambda event: self._hear(row.id, event))
        if end.status == "misconfigured":  # no other task will fare better
            self.stop("misconfigured", end.error or "the model's settings are wrong")
        if end.status == "environment_error":
            self.stop("environment_error", f"{end.error}; then continue with --resume")
        self._ended.add(row.id)
        self._heed_outer(end)
        usage = usage_of(end)
        prediction = end.result.final_answer if end.result is not None and end.status == "answered" else ""
        if end.status not in OPEN:
            self._predictions.put(
                {
                    "task_id": row.id,
                    "question": row.question,
                    "prediction": prediction,
                    "status": end.status,
                    "step": step,
                    "seconds": end.seconds,
                    "usage": usage.model_dump(mode="json"),
                    **({"error": end.error} if end.error else {}),
                    **({"open": True} if end in self._alike and self.stopped in OUTER.values() else {}),
                }
            )
        self._emit(
            StepTaskEnded(
                step=step,
                task_id=row.id,
                status=end.status,
                prediction=prediction,
                error=end.error,
                usage=usage,
                seconds=end.seconds,
            )
        )
        return end

    def _hear(self, task_id: str, event: Event) -> None:
        self._budget.heed(event)
        self._heed_budget()
        self._watch(task_id, event)

    def _heed_outer(self, end: Finished) -> None:
        """Stop the run at the third task in a row that ends for one reason from outside; their rows stay open."""
        if end.status == "interrupted":
            return
        last = self._alike[-1] if self._alike else end
        same = end.status == last.status and (end.status != "crashed" or _words(end) == _words(last))
        self._alike = [*(self._alike if same else ()), end] if end.status in OUTER else []
        if len(self._alike) >= IN_A_ROW and self.stopped is None:
            for one in self._alike[:-1]:
                if (known := self._predictions.get(one.task_id)) is not None:
                    self._predictions.put({**known, "open": True})
            words = "crashed" if end.status == "crashed" else end.status.replace("_", " ")
            self.stop(OUTER[end.status], f"{len(self._alike)} tasks in a row ended the same way ({words}): {end.error}")

    def _heed_budget(self) -> None:
        reason = self._budget.reached()
        if reason is not None:
            self.stop("budget", reason)

    def _builds(self, step: int) -> Path | None:
        """Where the tasks of `step` share what they build, if they do."""
        return self._run.training.builds(step).absolute() if self._share_builds and self._run.training else None

    def _is_begun(self, task: str) -> bool:
        return TaskDir(self._run.path / "tasks" / safe_id(task)).task.exists()

    def _job(self, step: int, row: Row, before: tuple[str, ...]) -> Job:
        builds = self._builds(step)
        return Job(
            task=task_of(row, self._base, self._run.path),
            run=str(self._run.path.absolute()),
            library=str(self._library.absolute()),
            builds=str(builds) if builds else None,
            before=before,
            timeout_s=self._timeout_s,
            trusted=self._trusted,
            trace=self._trace,
            lease=lease_of(self._run.path),
        )

    def _is_over(self, row: Row) -> bool:
        return is_over(self._predictions.get(row.id))

    def untried(self, rows: Sequence[Row]) -> list[Row]:
        """Those of the rows that are left and that no task of this session has come to an end with."""
        return [row for row in self.left(rows) if row.id not in self._ended]

    def _known(self, row: Row) -> Finished:
        """How a row ended in an earlier session."""
        known = self._predictions.get(row.id) or {}
        folder = TaskDir(self._run.path / "tasks" / safe_id(row.id))
        try:
            result = folder.load_result()
        except UserError:
            result = None
        status = known.get("status", "crashed")
        return Finished(
            task_id=row.id,
            status=status,
            folder=str(folder.path.absolute()),
            result=result if result is not None and result.status == status else None,
            error=known.get("error"),
            seconds=known.get("seconds", 0.0),
        )


def is_over(prediction: Mapping[str, Any] | None) -> bool:
    """Whether a row has its end: one that was reopened, or ended for want of a model or of room, is to be run."""
    return prediction is not None and prediction.get("status") in FINAL and not prediction.get("open")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first real error in a group of them."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _words(end: Finished) -> str:
    """What a task said at its end, without its name."""
    return (end.error or "").replace(safe_id(end.task_id), "").replace(end.task_id, "")


def _over(end: Finished | None) -> bool:
    """Whether a task that ended in this session needs no further one. A single unreachable model is its own fate."""
    return end is not None and end.status not in OPEN


def task_of(row: Row, base: Path | None, run: Path) -> Task:
    """The task that `row` asks for. Of its answer nothing goes along.

    Files are named from `base`, the data set's folder, below which paths in the question count as well. Raises
    `UserError` for a file that is not there.
    """
    here = (base or run).absolute()
    given = [_named(Path(name), here) for name in row.files]
    try:
        files, missing = taskfiles.gather(row.question, given, here, here)
    except UserError as error:
        raise UserError(f"row {row.id} of the data set: {str(error).removeprefix('--file ')}") from None
    return Task(id=row.id, question=row.question, files=files, missing=missing)


def _named(path: Path, base: Path) -> str:
    """`path` as a user in `base` would write it."""
    full = (base / path).resolve()
    return str(full.relative_to(base.resolve())) if full.is_relative_to(base.resolve()) else str(full)
