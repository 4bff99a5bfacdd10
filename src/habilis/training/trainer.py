"""Evolution: a stream of tasks turned into a better library, step by step. What a user of the library holds in hands.

A step runs the tasks of one batch, has the curator absorb their tools into the next generation of the run's library,
and writes its row of figures. All of it is on disk before the next step starts; killed anywhere, `resume` goes on
without running a finished task again or asking a model anything that was answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.checking import mend_run
from habilis.config import Settings, load_settings
from habilis.context.task import Events
from habilis.core.errors import (
    BudgetReached,
    HabilisError,
    Interrupted,
    ModelMisconfigured,
    ModelUnreachable,
    UserError,
)
from habilis.core.events import Event, Notice
from habilis.core.place import place_failure
from habilis.core.signals import WIND_DOWN_S
from habilis.core.types import Usage
from habilis.curation.ledger.reports import Row
from habilis.models.purse import SpendingPurse
from habilis.rundir import JsonlSink, KeyedRows, RunDir, TrainingDir, marks
from habilis.rundir.kept import kept_at
from habilis.rundir.training import fed_by
from habilis.runtime.host import ToolHost
from habilis.runtime.preflight import try_places
from habilis.telemetry.observing import TrainingObservation
from habilis.training.batch import BROKEN_OFF, Batch, Stop, Watch, task_of
from habilis.training.beginning import check_rows, fixed_of, kept_row, new_run, taken, with_fixed
from habilis.training.budget import RunBudget, more_of
from habilis.training.holding import check_store, held_run
from habilis.training.outcome import Training, paid_in, read_training, write_outcome
from habilis.training.reopening import reopen
from habilis.training.runners import BatchRunner
from habilis.training.runners.choosing import apart, check_runner, load_ahead, running
from habilis.training.shelf import Absorbing, Shelf, StepAbsorber, check_feed, fork, join
from habilis.training.steps import Scorer, Steps

if TYPE_CHECKING:
    from habilis.agents.wiring import Clients
    from habilis.core.ports import EventSink

CURATOR = "curator"
"""Under this name `watch` hears what the curator does."""
log = logging.getLogger(__name__)


class Evolution:
    """Runs training. One object, one run at a time.

    `library` is the library to start from (never written); without one the run starts with an empty library. `feed` is
    a library to work on in place of one of the run's own, which other runs may work on at the same time: its folder, or
    its name in the store that the run is kept in. `clients` makes chat models instead of the configured ones (local
    runner alone). `scorer` tells right answers from wrong. `watch` hears the events of tasks, `sinks` those of steps.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        library: Path | None = None,
        feed: Path | None = None,
        sinks: Sequence[EventSink] = (),
        watch: Watch | None = None,
        clients: Clients | None = None,
        scorer: Scorer | None = None,
        runner: BatchRunner | None = None,
        absorbing: Absorbing | None = None,
    ) -> None:
        self.settings = settings or load_settings()
        self._library, self._feed, self._run = library, feed, ""
        self._sinks, self._clients = tuple(sinks), clients
        self._watch: Watch = watch or (lambda task_id, event: None)
        self._scorer, self._runner, self._absorbing = scorer, runner, absorbing
        self._batch: Batch | None = None
        self._purse: SpendingPurse | None = None
        self._interrupted = False

    async def run(
        self,
        rows: Sequence[Row],
        *,
        name: str | None = None,
        start: int = 0,
        base: Path | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Training:
        """Train on `rows` from the `start`-th (counted from 0) in a new run called `name`.

        `base` is the data set's folder; `about` (JSON-plain) goes into `run.yaml`. Raises `UserError` for what a person
        must mend first: no rows, an id twice, a missing file, a name that is taken, no model; `PlaceError` where this
        machine fails before the run has begun.
        """
        rows = tuple(rows)[start:]
        check_rows(rows, start)
        if self._library is not None and not self._library.is_dir():
            raise UserError(f"there is no library {self._library} to start from")
        shelf = check_feed(self._feed, self.settings)
        run = new_run(Path(self.settings.runs_dir), name)
        try:
            async with held_run(self.settings, run.path, shelf=shelf):
                return await self._begin(run, rows, base, about or {})
        except HabilisError:
            if TrainingDir(run.path).exists() is False:
                run.discard_if_unused()
            raise

    async def _begin(self, run: RunDir, rows: Sequence[Row], base: Path | None, about: Mapping[str, Any]) -> Training:
        training = TrainingDir(run.path)
        with training.lock():
            if training.exists():
                raise UserError(taken(run))
            try:
                for row in rows:
                    task_of(row, base, run.path)
                level = await self._preflight()
            except BaseException:
                run.discard_if_unused()
                raise
            training.save_rows(kept_row(row) for row in rows)
            fixed = fixed_of(self.settings, base, self._library, self._feed)
            fixed["rows"] = marks.digest_of_file(training.rows)
            self._feed, _, self._run = fed_by(fixed)
            run.write_run(self.settings.model_dump(mode="json"), sandbox_level=level, training=fixed, **about)
            training.set_state("running", seconds=0.0, tokens=0, cost=0.0)
            if (kept := kept_at(run.path)) is not None:
                kept.flush()  # what waits for a later line would leave nothing to go on with
            return await self._work(run, rows, base)

    async def resume(self, run_dir: Path, *, trust: bool = False, again: Collection[str] = ()) -> Training:
        """Go on with a run where it stopped. Its rows, batch size and whether tools are made stay as they were.

        What is damaged is mended first, and told. Rows that ended with a status of `again` are run anew.

        Raises `UserError` when another process works on it, and for a run that this user did not make, unless `trust`
        takes it over as theirs.
        """
        emit = Events(self._sinks)
        async with held_run(self.settings, run_dir, lambda text: emit(Notice(text=text))):
            return await self._resume(run_dir, trust, again)

    async def _resume(self, run_dir: Path, trust: bool, again: Collection[str]) -> Training:
        run = RunDir.open(run_dir)
        training = run.training
        if training is None:
            raise UserError(f"{run_dir} holds no training run; continue a single task with 'habilis run --resume'")
        run.accept(trust=trust, tasks=())
        with training.lock():
            for damage in mend_run(run):
                Events(self._sinks)(Notice(level="warning", text=str(damage)))
            fixed = run.read_run().get("training") or {}
            check_store(self.settings, fixed, run.name)
            rows = tuple(Row.model_validate(row) for row in training.load_rows())
            if again:
                reopen(run, again)
            self.settings = with_fixed(self.settings, fixed)
            self._library = Path(fixed["library"]) if fixed.get("library") else None
            self._feed, _, self._run = fed_by(fixed)
            await self._preflight()
            return await self._work(run, rows, Path(fixed["base"]) if fixed.get("base") else None)

    def run_sync(self, rows: Sequence[Row], **options: Any) -> Training:
        """`run` for callers without an event loop."""
        return asyncio.run(self.run(rows, **options))

    def interrupt(self) -> None:
        """Ask for an end (Ctrl-C once): running tasks finish their step, a batch that is complete is absorbed."""
        self._interrupted = True
        if self._batch is not None:
            self._batch.stop("interrupted", "interrupted; continue with --resume")

    def wind_down(self) -> Awaitable[None] | None:
        """Ask for an end and send models nothing more. What to wait for: replies on their way, which are paid for;
        None when there is none."""
        self.interrupt()
        if self._purse is None:
            return None
        self._purse.close("interrupted; continue with --resume")
        return None if self._purse.is_idle else self._purse.idle()

    # --- inside

    async def _preflight(self) -> str:
        """The sandbox level. Raises `UserError` and `PlaceError` for what would end every task alike."""
        from habilis.models.client import Clients as Known
        from habilis.models.prices import Prices

        if self._runner is None:
            check_runner(self.settings, self._clients)
        known = Known(self.settings.models, lambda text: None, self._clients)
        known.check("basic")
        limits = {
            "evolution.max_cost": self.settings.evolution.max_cost,
            "limits.max_cost": self.settings.limits.max_cost,
        }
        for name in (name for name, limit in limits.items() if limit is not None):
            known.check_prices(name, Prices(self.settings.models.prices))
        try_places(Path(self.settings.runs_dir), tasks=self.settings.evolution.concurrency)
        host = ToolHost(self.settings.sandbox)
        loading = [] if self._runner else [asyncio.create_task(load_ahead(self.settings, self._clients))]
        try:
            level = await host.level()
            await host.prepare(())
            return level
        finally:
            await asyncio.gather(*loading)
            await host.aclose()

    async def _work(self, run: RunDir, rows: Sequence[Row], base: Path | None) -> Training:
        """All steps that are left, under the run's lock; whatever happens, where the run stands is on record."""
        training = TrainingDir(run.path)
        sink = JsonlSink(training.events)
        async with TrainingObservation(self.settings, run.name) as observed:
            observed.tell_to(emit := Events([sink, *self._sinks, *observed.sinks]))
            budget = self._budget(run, training)
            self._purse = budget.purse
            training.set_state("running", **budget.account)
            stopped: Stop = "interrupted"
            reason = "stopped at once; continue with --resume"
            try:
                async with self._in_time(budget):
                    stopped, reason = await self._steps(run, training, rows, base, budget, emit, observed)
            except BudgetReached as reached:
                stopped, reason = "budget", str(reached)
            except ModelMisconfigured as error:
                stopped, reason = "misconfigured", str(error)
            except Interrupted as asked:  # the curator was
                stopped = "interrupted" if budget.reached() is None else "budget"
                reason = budget.reached() or str(asked)
            except ModelUnreachable as error:
                stopped, reason = "unreachable", str(error)
            except Exception as error:  # the run's record must say that a step failed, whatever failed in it
                stopped, reason = _failed(error)
                log.debug("a step failed", exc_info=error)
            finally:
                self._batch, self._purse, self._interrupted = None, None, False
                write_outcome(training, stopped, reason, budget)
                observed.failed = stopped if stopped in BROKEN_OFF else ""
                sink.close()
            found = read_training(run.path)  # as it ended, whether or not that could be written
            told = {"stopped": stopped, "reason": reason, "tokens": budget.tokens, "cost": budget.spent.cost}
            told["seconds"] = round(budget.seconds, 3)
            return found.model_copy(update=told)

    async def _steps(
        self,
        run: RunDir,
        training: TrainingDir,
        rows: Sequence[Row],
        base: Path | None,
        budget: RunBudget,
        emit: Events,
        observed: TrainingObservation,
    ) -> tuple[Stop, str]:
        """Step after step until the rows, or a rule, end it: why, and in words."""
        from habilis.models.local.serving import hold

        start = apart(self.settings, self._clients)
        await hold(self.settings.models, run.path, lambda text: emit(Notice(text=text)), start=start)
        predictions = KeyedRows(training.predictions, "task_id")
        settings = self.settings.evolution
        async with self._runner_on(budget.purse) as runner:
            self._batch = Batch(
                run,
                runner,
                predictions,
                budget,
                concurrency=settings.concurrency,
                timeout_s=settings.task_timeout_s,
                library=training.library,
                share_builds=self.settings.tools.synthesis,
                base=base,
                watch=observed.watching(self._watch),
                emit=emit,
                trace=observed.trace,
            )
            if self._interrupted:
                self.interrupt()
            async with self._absorber(training, budget, emit, Events(observed.curator_sinks)) as absorber:
                steps = Steps(training, settings, self._batch, absorber, predictions, budget, self._scorer, emit)
                return await steps.run(rows)

    @contextlib.asynccontextmanager
    async def _in_time(self, budget: RunBudget) -> AsyncIterator[None]:
        """When the run's time is over, tasks end as soon as replies on their way are in; what does not is cut off.

        Raises `BudgetReached` then.
        """
        if (left_s := budget.left_s) is None:
            yield
            return

        def over() -> None:
            budget.purse.close(budget.time_reached)
            if self._batch is not None:
                self._batch.stop("budget", budget.time_reached)

        ending = asyncio.get_running_loop().call_later(left_s, over)
        limit = asyncio.timeout(max(0.0, left_s) + WIND_DOWN_S)
        try:
            async with limit:
                yield
        except TimeoutError:
            if limit.expired():
                raise BudgetReached(budget.time_reached) from None
            raise
        finally:
            ending.cancel()

    @contextlib.asynccontextmanager
    async def _absorber(
        self, training: TrainingDir, budget: RunBudget, emit: Events, observed: Events
    ) -> AsyncIterator[StepAbsorber]:
        """Who takes the steps' tools into the run's library, which is forked first where the run starts from one."""

        def heard(event: Event) -> None:
            budget.heed(event)
            observed(event)
            self._watch(CURATOR, event)

        host = ToolHost.of(self.settings)
        try:
            if self._library is not None:
                await fork(self._library, training, host, emit)
            await join(self._feed, training, emit)
            if self._absorbing is not None:
                yield self._absorbing(training)
            else:
                frozen = not self.settings.tools.synthesis
                yield Shelf(
                    training,
                    self.settings,
                    host,
                    frozen=frozen,
                    clients=self._clients,
                    emit=heard,
                    purse=budget.purse,
                    run=self._run,
                )
        finally:
            await host.aclose()

    def _runner_on(self, purse: SpendingPurse) -> AbstractAsyncContextManager[BatchRunner]:
        if self._runner is not None:
            return contextlib.nullcontext(self._runner)
        return running(self.settings, self._clients, purse)

    def _budget(self, run: RunDir, training: TrainingDir) -> RunBudget:
        """The run's budget with what earlier sessions used: what was noted, or what the tapes say if that is more."""
        before = training.state_record()
        noted = Usage(prompt_tokens=int(before.get("tokens") or 0), cost=before.get("cost"))
        spent = more_of(noted, paid_in(run))
        return RunBudget(self.settings.evolution, spent=spent, spent_s=float(before.get("seconds") or 0.0))


def _failed(error: Exception) -> tuple[Stop, str]:
    """Why a run is broken off by `error`."""
    if (place := place_failure(error)) is not None:
        return "environment_error", f"{place}; then continue with --resume"
    named = "" if isinstance(error, HabilisError | OSError) else f"{type(error).__name__}: "
    return "failed", named + " ".join(str(error).split())
