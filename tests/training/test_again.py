"""Rows that ended for a reason outside of them: they stop the run in time, stay open, and are run anew when asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from habilis.core.errors import UserError
from habilis.core.types import Status, TaskResult, Usage
from habilis.curation.ledger.reports import Finished
from habilis.training.runners import Job
from habilis.training.runners.job import Watch

from .conftest import World

pytestmark = pytest.mark.sandbox
Plan = Callable[[str, int], tuple[Status, str | None]]
"""How a task ends, by its id and how often it was run before."""


class Planned:
    """A runner whose tasks end as planned; each run costs ten tokens."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.ran = plan, Counter[str]()

    async def run(self, job: Job, watch: Watch) -> Finished:
        name = job.task.id
        status, error = self.plan(name, self.ran[name])
        self.ran[name] += 1
        usage = Usage(model_calls=1, prompt_tokens=10)
        result = TaskResult(
            task_id=name, status=status, question=job.task.question, final_answer=name, error=error, usage=usage
        )
        kept = None if status == "crashed" else result
        if kept is not None:
            job.folder.save_task(job.task)
            job.folder.save_result(kept)
        return Finished(task_id=name, status=status, folder=str(job.folder.path), result=kept, error=error)

    def interrupt(self) -> None:
        return None


def well(name: str, before: int) -> tuple[Status, str | None]:
    return "answered", None


@pytest.mark.parametrize(
    ("status", "error", "stopped"),
    [
        ("unreachable", "no route", "unreachable"),
        ("crashed", "KeyError: 'x' in task {name}", "failed"),
    ],
)
async def test_three_in_a_row_of_one_outer_reason_stop_the_run_and_stay_open(
    world: World, status: Status, error: str, stopped: str
) -> None:
    runner = Planned(lambda name, before: (status, error.replace("{name}", name)))
    training = await world.evolution("evolution.concurrency=1", runner=runner).run(world.rows(), name="first")
    assert training.stopped == stopped
    assert sum(runner.ran.values()) == 3
    assert error.partition(" in ")[0] in training.reason
    assert (training.left, training.statuses, training.steps) == (5, {}, ())
    again = Planned(well)
    training = await world.evolution(runner=again).resume(world.runs / "first")
    assert (training.stopped, training.left, training.statuses) == ("done", 0, {"answered": 5})
    assert all(count == 1 for count in again.ran.values())


async def test_a_failure_of_the_place_stops_the_run_at_once_and_leaves_its_row_open(world: World) -> None:
    runner = Planned(lambda name, before: ("environment_error", "disk full"))
    training = await world.evolution("evolution.concurrency=1", runner=runner).run(world.rows(), name="first")
    assert (training.stopped, sum(runner.ran.values())) == ("environment_error", 1)
    assert "disk full" in training.reason
    assert (training.left, training.statuses, training.steps) == (5, {}, ())
    training = await world.evolution(runner=Planned(well)).resume(world.runs / "first")
    assert (training.stopped, training.left, training.statuses) == ("done", 0, {"answered": 5})


async def test_crashes_in_other_words_are_fates_of_their_own(world: World) -> None:
    runner = Planned(lambda name, before: ("crashed", f"words of {name}: {len(name) * '!'}"))
    training = await world.evolution("evolution.concurrency=1", runner=runner).run(world.rows(), name="first")
    assert (training.stopped, training.statuses) == ("done", {"crashed": 5})


async def test_a_run_with_an_open_row_is_never_done(world: World) -> None:
    runner = Planned(lambda name, before: ("unreachable", "no route") if name == "sum" else ("answered", None))
    training = await world.evolution(runner=runner).run(world.rows(), name="first")
    assert (training.stopped, training.left, training.statuses) == ("unreachable", 1, {"answered": 4})
    assert "sum" in training.reason
    training = await world.evolution(runner=Planned(well)).resume(world.runs / "first")
    assert (training.stopped, training.left, training.statuses) == ("done", 0, {"answered": 5})


async def test_rows_of_absorbed_steps_are_run_anew_in_further_steps_and_count_once(world: World) -> None:
    plan: Plan = lambda name, before: ("gave_up", "no way") if name in ("sum", "gcd") else ("answered", None)  # noqa: E731
    training = await world.evolution("evolution.batch_size=2", runner=Planned(plan)).run(world.rows(), name="first")
    assert (training.stopped, training.statuses) == ("done", {"answered": 3, "gave_up": 2})
    before = [row.model_dump() for row in training.steps]
    again = Planned(well)
    training = await world.evolution(runner=again).resume(world.runs / "first", again=["gave_up"])
    assert (training.stopped, training.statuses, training.left) == ("done", {"answered": 5}, 0)
    assert set(again.ran) == {"sum", "gcd"}
    assert [row.model_dump() for row in training.steps[:3]] == before
    assert [(row.step, row.tasks) for row in training.steps[3:]] == [(4, 2)]
    kept = world.runs / "first" / "earlier"
    assert sorted(path.name for path in kept.iterdir()) == ["gcd.1", "sum.1"]
    assert (kept / "sum.1" / "result.json").is_file()


async def test_a_status_that_no_row_has_is_refused(world: World) -> None:
    await world.evolution(runner=Planned(well)).run(world.rows("sum"), name="first")
    with pytest.raises(UserError, match="--again odd: no row ends with that status"):
        await world.evolution(runner=Planned(well)).resume(world.runs / "first", again=["odd"])
