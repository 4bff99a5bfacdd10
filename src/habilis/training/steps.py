"""The loop itself: step after step, until the rows or a rule end it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from habilis.config import EvolutionSettings
from habilis.core.events import Event, StepEnded, StepStarted
from habilis.curation.ledger.metrics import StepMetrics, step_metrics
from habilis.curation.ledger.reports import Finished, Row
from habilis.rundir import KeyedRows, TrainingDir
from habilis.training.batch import OUTER, Batch, Stop
from habilis.training.budget import RunBudget
from habilis.training.shelf import StepAbsorber

Scorer = Callable[[Row, str], Awaitable[bool | None]]
"""Whether a prediction meets the row's known answer; None when that cannot be told."""


class Steps:
    """The steps of one run. A step is done when its row of figures is written; a resumed run goes on behind that."""

    def __init__(
        self,
        training: TrainingDir,
        settings: EvolutionSettings,
        batch: Batch,
        absorber: StepAbsorber,
        predictions: KeyedRows,
        budget: RunBudget,
        scorer: Scorer | None,
        emit: Callable[[Event], None],
    ) -> None:
        self._training, self._settings, self._batch, self._absorber = training, settings, batch, absorber
        self._predictions, self._budget, self._scorer, self._emit = predictions, budget, scorer, emit
        self._metrics = KeyedRows(training.metrics, "step")

    async def run(self, rows: Sequence[Row]) -> tuple[Stop, str]:
        """Why the steps came to an end, and in words. Raises what a step that fails raises."""
        why = await self._run(rows)
        self._predictions.arrange(row.id for row in rows)  # once: each time all of them are written anew
        return why

    async def _run(self, rows: Sequence[Row]) -> tuple[Stop, str]:
        size = self._settings.batch_size
        batches = dict(enumerate((rows[at : at + size] for at in range(0, len(rows), size)), 1))
        ruled: tuple[Stop, str] | None = None
        for number, batch in batches.items():
            if self._metrics.get(number) is not None:
                continue
            if (ruled := self._why_stop(number)) is not None:
                break
            if not await self._step(number, batch):
                return self._batch.stopped or "interrupted", self._batch.reason
        if ruled is not None and ruled[0] != "train_steps":
            return ruled
        absorbed = [row for number, batch in batches.items() if self._metrics.get(number) for row in batch]
        why = await self._further(absorbed, len(batches))
        return ruled if ruled is not None and why[0] == "done" else why

    async def _further(self, rows: Sequence[Row], steps: int) -> tuple[Stop, str]:
        """Rows of absorbed steps that are open still, or again, in further steps: what was absorbed stays as it is."""
        last = max([steps, *(row.step for row in self._rows())])
        while True:
            number = last + 1
            begun = [row for row in rows if (self._predictions.get(row.id) or {}).get("step") == number]
            more = [row for row in self._batch.untried(rows) if row not in begun]
            batch = [*begun, *more][: self._settings.batch_size]
            if not batch:
                break
            if (why := self._why_stop(0)) is not None:
                return why
            if not await self._step(number, batch):
                return self._batch.stopped or "interrupted", self._batch.reason
            last = number
        if not (left := self._batch.left(rows)):
            return "done", ""
        known = self._predictions.get(left[0].id) or {}
        status, error = str(known.get("status") or "interrupted"), known.get("error") or "continue with --resume"
        return OUTER.get(status, "interrupted"), f"{len(left)} open, first {left[0].id} ({status}): {error}"

    async def _step(self, number: int, rows: Sequence[Row]) -> bool:
        """Run the tasks, absorb what they made, write the figures. False when the tasks were broken off."""
        started = time.monotonic()
        left = len(self._batch.left(rows))
        self._emit(StepStarted(step=number, tasks=tuple(row.id for row in rows), left=left))
        finished = await self._batch.work(number, rows)
        if finished is None:
            return False
        absorbed = await self._absorber.absorb(number, finished)
        row = step_metrics(
            number,
            finished,
            self._before(number),
            generation=absorbed.generation,
            library_size=absorbed.tools,
            verdicts=await self._verdicts(rows, finished),
            seconds=time.monotonic() - started,
        ).model_dump(mode="json")
        self._metrics.put(row)
        self._training.set_state("running", **self._budget.account)
        self._emit(StepEnded(step=number, metrics=row))
        return True

    def _why_stop(self, number: int) -> tuple[Stop, str] | None:
        """The rule that keeps step `number` from being begun, if one does; 0 is one that no count of steps ends."""
        settings, batch = self._settings, self._batch
        if batch.stopped is not None:
            return batch.stopped, batch.reason
        if (reached := self._budget.reached()) is not None:
            return "budget", reached
        if settings.stop_file is not None and Path(settings.stop_file).exists():
            return "stop_file", f"{settings.stop_file} is there"
        if settings.train_steps is not None and number > settings.train_steps:
            return "train_steps", f"{settings.train_steps} steps are done"
        return None

    async def _verdicts(self, rows: Sequence[Row], finished: Sequence[Finished]) -> list[bool | None]:
        """Whether each known answer was met; what was not answered was not."""
        found: list[bool | None] = []
        for row, end in zip(rows, finished, strict=True):
            if row.answer is None or self._scorer is None:
                found.append(None)
            elif end.status != "answered" or end.result is None:
                found.append(False)
            else:
                found.append(await self._scorer(row, end.result.final_answer))
        return found

    def _before(self, number: int) -> StepMetrics | None:
        """The figures of the last step before `number`."""
        rows = (row for row in self._metrics.rows() if row["step"] < number)
        last = max(rows, key=lambda row: row["step"], default=None)
        return None if last is None else StepMetrics.model_validate(last)

    def _rows(self) -> list[StepMetrics]:
        return [StepMetrics.model_validate(row) for row in self._metrics.rows()]
