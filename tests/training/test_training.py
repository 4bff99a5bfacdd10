"""A training run from the first row to the last: what was paid for stays, whatever ends in between."""

from __future__ import annotations

import asyncio
import gc
import os
import select
import shutil
from pathlib import Path
from typing import Any, get_args

import pytest

from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Point, Row
from habilis.library.generations import digest
from habilis.testing import SeenRequest

from ..marks import PROMISE
from ..openfiles import held_back, open_files
from .conftest import World, processes_below
from .doubles import QUESTIONS

PATIENCE_S = 60.0
BENCHMARK = Path(__file__).parents[2] / "examples" / "benchmark" / "tasks.jsonl"


async def test_a_run_answers_its_rows_and_its_library_grows_step_by_step(world: World) -> None:
    training = await world.evolution().run(world.rows(), name="first", base=world.home)
    assert (training.stopped, training.left, training.tasks) == ("done", 0, 5)
    assert world.answers() == world.expected()
    assert list(world.predictions()) == [row.id for row in world.rows()], "in the order of the data set"
    assert [row.step for row in training.steps] == [1, 2]
    first, second = training.steps
    assert first.library_size == first.synthesised > 0
    assert second.reuse_rate is not None
    assert second.reuse_rate > 0, "the mean was asked for twice"
    assert (second.egl or 1) == second.synthesised_so_far / second.invocations_so_far
    assert world.server.repeated() == []


async def test_a_training_leaves_nothing_open_and_the_collector_of_garbage_as_it_was(world: World) -> None:
    left = []
    frozen = gc.get_freeze_count()
    for name in ("first", "second", "third", "fourth", "fifth"):
        await world.evolution().run(world.rows(), name=name, base=world.home)
        left.append(open_files())
    assert held_back(left) == 0, left
    given_up = frozen - gc.get_freeze_count()  # a full cache gives up its oldest objects, whoever froze them
    assert 0 <= given_up < 100, "a program's own objects are its own to keep"


async def test_a_task_looks_at_no_record_of_another_which_would_take_ever_longer(world: World) -> None:
    """What each task asks is marked as ours. One that was changed since is no reason to refuse its neighbours."""

    def choose(seen: SeenRequest) -> None:
        if "2+3*4" in seen.prompt:
            (world.training().path / "tasks" / "mean" / "task.json").write_text("{}", encoding="utf-8")

    world.server.choose = choose
    one_by_one = ("evolution.batch_size=1", "evolution.concurrency=1")
    training = await world.evolution(*one_by_one).run(
        world.rows("mean", "arithmetic", "gcd"), name="first", base=world.home
    )
    assert (training.stopped, world.answers()) == ("done", world.expected("mean", "arithmetic", "gcd"))


# --- tasks that end badly


class HangsWhen:
    """A server's answer that hangs for one question, in the middle of its task."""

    def __init__(self, world: World, text: str) -> None:
        from habilis.testing import Fault

        def choose(seen: SeenRequest) -> Fault | None:
            return Fault("hang") if text in seen.prompt and "<candidates>" not in seen.prompt else None

        world.server.choose = choose


class Limits:
    """Time limits that are over for `late` tasks once all others have ended."""

    def __init__(self, others: int) -> None:
        self.others, self.over = others, asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        await self.over.wait()

    def emit(self, event: Any) -> None:
        if event.kind == "step_task_ended":
            self.others -= 1
            if self.others == 0:
                self.over.set()


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("kind", ["local", "process"])
async def test_one_task_that_hangs_in_a_batch_of_eight_ends_alone(world: World, kind: str) -> None:
    from habilis.training.runners import LocalRunner, ProcessRunner

    HangsWhen(world, "gcd of 12")
    limits = Limits(others=7)
    settings = world.settings("evolution.batch_size=8")
    runner = (LocalRunner if kind == "local" else ProcessRunner)(settings, sleep=limits)
    evolution = world.evolution(settings=settings, runner=runner)
    evolution._sinks = (*evolution._sinks, limits)
    training = await evolution.run(world.rows(*QUESTIONS), name="first", base=world.home)
    assert training.stopped == "done"
    expected = {**world.expected(*QUESTIONS), "gcd": ("timed_out", "")}
    assert world.answers() == expected
    (row,) = training.steps
    assert row.statuses == {"answered": 7, "timed_out": 1}
    ((_, seen),) = world.gatherers[0].seen
    assert dict(seen)["gcd"] == "timed_out"
    assert "gcd" not in " ".join(path.stem for path in world.training().library.glob("*.py"))
    assert processes_below(world.home) == {}
    state = (world.runs / "first" / "tasks" / "gcd" / "state.json").read_text()
    assert '"timed_out"' in state


async def test_a_batch_without_a_tool_call_is_absorbed(world: World) -> None:
    rows = [Row(id=str(n), question=f"Please sing song number {n}.") for n in range(2)]
    training = await world.evolution().run(rows, name="first")
    assert training.stopped == "done"
    (row,) = training.steps
    assert (row.invocations, row.egl, row.reuse_rate, row.tool_success_rate, row.accuracy) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert row.statuses == {"gave_up": 2}


async def test_ids_that_come_twice_and_empty_data_sets_are_refused_before_anything_is_written(world: World) -> None:
    with pytest.raises(UserError, match="more than one row with the id mean"):
        await world.evolution().run([*world.rows("mean"), *world.rows("mean")], name="first")
    with pytest.raises(UserError, match="no rows after the first 9"):
        await world.evolution().run(world.rows(), name="first", start=9)
    with pytest.raises(UserError, match=r"row x of the data set: .*no such file"):
        await world.evolution().run([Row(id="x", question="?", files=("nowhere.csv",))], name="first")
    assert not (world.runs / "first").exists()


async def test_two_runs_never_share_a_name(world: World) -> None:
    await world.evolution().run(world.rows("arithmetic"), name="first")
    with pytest.raises(UserError, match=r"a run named first exists .* --resume"):
        await world.evolution().run(world.rows("arithmetic"), name="first")


async def test_a_run_in_use_is_refused_in_one_line(world: World) -> None:
    await world.evolution().run(world.rows("arithmetic"), name="first")
    with world.training().lock(), pytest.raises(UserError, match="run first is in use by another process"):
        await world.evolution().resume(world.runs / "first")


# --- when to stop


@pytest.mark.slow
@pytest.mark.promise
async def test_a_stop_file_ends_the_run_after_the_step_under_way(world: World) -> None:
    stop = world.home / "stop"
    evolution = world.evolution(f"evolution.stop_file={stop}", "evolution.batch_size=2")

    async def touch(step: int) -> None:
        stop.touch()

    evolution._absorbing = lambda training: _with_before(world, training, touch)
    training = await evolution.run(world.rows(), name="first", base=world.home)
    assert (training.stopped, len(training.steps), training.left) == ("stop_file", 1, 3)
    stop.unlink()
    training = await world.evolution().resume(world.runs / "first")
    assert (training.stopped, training.left) == ("done", 0)


def _with_before(world: World, training: Any, before: Any) -> Any:
    from .doubles import Gatherer

    gatherer = Gatherer(training)
    gatherer.before = before
    world.gatherers.append(gatherer)
    return gatherer


async def test_train_steps_are_counted_over_the_whole_run(world: World) -> None:
    few = ("evolution.batch_size=1", "evolution.train_steps=1")
    training = await world.evolution(*few).run(world.rows("arithmetic", "gcd"), name="first")
    assert (training.stopped, training.left) == ("train_steps", 1)
    training = await world.evolution("evolution.train_steps=1").resume(world.runs / "first")
    assert (training.stopped, training.left) == ("train_steps", 1)
    training = await world.evolution("evolution.train_steps=2").resume(world.runs / "first")
    assert (training.stopped, training.left, len(training.steps)) == ("done", 0, 2)


@pytest.mark.slow
@pytest.mark.promise
async def test_a_used_up_budget_keeps_everything_and_goes_on_later(world: World) -> None:
    evolution = world.evolution("evolution.max_tokens=9000", "evolution.concurrency=2")
    training = await evolution.run(world.rows(), name="first", base=world.home)
    assert (training.stopped, training.left > 0) == ("budget", True)
    assert "token budget of the run reached" in training.reason
    assert training.tokens >= 9000
    answered = {key for key, (status, _) in world.answers().items() if status == "answered"}
    assert len(answered) + training.left == 5
    training = await world.evolution("evolution.max_tokens=9000").resume(world.runs / "first")
    assert training.stopped == "budget", "what was used before counts"
    training = await world.evolution().resume(world.runs / "first")
    assert training.stopped == "done"
    assert world.answers() == world.expected()
    assert world.server.repeated() == []


@pytest.mark.slow
@pytest.mark.promise
async def test_a_model_that_cannot_be_reached_stops_the_run_and_nothing_is_absorbed(world: World) -> None:
    world.server.key = "another"
    training = await world.evolution().run(world.rows(), name="first", base=world.home)
    assert (training.stopped, training.steps) == ("unreachable", ())
    assert "401" in training.reason
    world.server.key = None
    training = await world.evolution().resume(world.runs / "first")
    assert training.stopped == "done"
    assert world.answers() == world.expected()


# --- broken off


@pytest.mark.slow
@pytest.mark.promise
async def test_ctrl_c_once_finishes_the_steps_of_tasks_and_the_run_goes_on_later(world: World) -> None:
    evolution = world.evolution("evolution.concurrency=2")
    evolution._watch = lambda task, event: evolution.interrupt() if event.kind == "tool_built" else None
    training = await evolution.run(world.rows(), name="first", base=world.home)
    assert training.stopped == "interrupted"
    assert training.left > 0
    training = await world.evolution().resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected())
    assert world.server.repeated() == []


async def test_ctrl_c_twice_stops_at_once_and_the_run_goes_on_later(world: World) -> None:
    HangsWhen(world, "gcd of 12")
    begun = asyncio.Event()
    evolution = world.evolution()
    evolution._watch = lambda task, event: begun.set() if event.kind == "tool_build_started" else None
    running = asyncio.create_task(evolution.run(world.rows(), name="first", base=world.home))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert processes_below(world.home) == {}
    assert world.training().read_state() == "stopped"
    world.server.choose = lambda seen: None
    training = await world.evolution().resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected())


@pytest.mark.slow
@pytest.mark.promise
async def test_a_curator_that_fails_leaves_a_run_that_can_be_gone_on_with(world: World) -> None:
    async def fail(step: int) -> None:
        raise ValueError("a bug in clustering")

    evolution = world.evolution(absorbing=lambda training: _with_before(world, training, fail))
    training = await evolution.run(world.rows(), name="first", base=world.home)
    assert (training.stopped, training.reason) == ("failed", "ValueError: a bug in clustering")
    asked = world.server.finished
    training = await world.evolution("evolution.train_steps=1").resume(world.runs / "first")
    assert (training.stopped, len(training.steps)) == ("train_steps", 1)
    assert world.server.finished == asked, "the finished tasks were not run again"


# --- killed, in a process of its own


async def finished(child: Any) -> tuple[int, str, str]:
    out, errors = await asyncio.to_thread(child.communicate)
    return child.returncode, out, errors


@pytest.mark.slow
@pytest.mark.promise
async def test_files_that_may_not_grow_stop_the_run_and_lose_nothing(world: World) -> None:
    code, out, errors = await finished(world.start(file_limit=42_000))
    assert (code, out.split()[:1]) == (0, ["environment_error"]), errors
    assert not any(status == "crashed" for status, _ in world.answers().values())
    training = await world.evolution().resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected())
    assert world.server.repeated() == []


@pytest.mark.parametrize(
    "orders",
    [
        {"kill_at": 40},
        pytest.param({"kill_at": 120}, marks=PROMISE),
        {"kill_absorbing": [1, "before"]},
        pytest.param({"kill_absorbing": [1, "after"]}, marks=PROMISE),
        pytest.param({"kill_at": 90, "settings": ["evolution.runner=process"]}, marks=PROMISE),
    ],
    ids=lambda orders: "-".join(f"{key}-{value}" for key, value in orders.items()),
)
async def test_killed_anywhere_a_run_goes_on_where_it_stood(world: World, orders: dict[str, Any]) -> None:
    code, out, errors = await finished(world.start(**orders))
    assert code == -9, f"not killed: {out or errors}"
    assert await asyncio.to_thread(gone, world.home), "the tasks' processes went with it"
    before = world.predictions() if world.training().predictions.exists() else {}
    asked = {request.index for request in world.server.requests}
    on_its_way = world.server.finished - world.replies_on_tapes()
    assert 0 <= on_its_way <= 8, "no more than a reply for each task at work"
    with world.training().predictions.open("a") as torn:
        torn.write('{"task_id": "me')
    training = await world.evolution().resume(world.runs / "first")
    assert (training.stopped, training.left) == ("done", 0)
    assert world.answers() == world.expected()
    assert len(world.server.repeated()) <= on_its_way, "only what had not reached us is asked again"
    for name, row in before.items():
        assert world.predictions()[name] == row, "a finished task keeps its row"
    ran = {event.task_id for task, event in world.heard if event.kind == "task_started"}
    assert not ran & set(before), "and is not run again"
    assert len(asked) > 0
    assert [row.step for row in training.steps] == [1, 2]


ONE_BY_ONE = ["evolution.concurrency=1"]


@pytest.mark.slow
@pytest.mark.promise
async def test_killed_at_each_point_of_the_journal_a_run_comes_to_the_very_same_library(world: World) -> None:
    names = ["mean", "arithmetic", "mean2"]
    whole = await world.evolution(*ONE_BY_ONE, absorbing=None).run(world.rows(*names), name="whole", base=world.home)
    assert whole.stopped == "done"
    calls = world.server.finished
    for place in get_args(Point):
        before, name = world.server.finished, f"killed-{place}"
        orders = {"name": name, "rows": names, "settings": ONE_BY_ONE, "kill_point": [1, place]}
        code, _, errors = await finished(world.start(**orders))
        assert code == -9, errors
        training = await world.evolution(*ONE_BY_ONE, absorbing=None).resume(world.runs / name)
        assert training.stopped == "done", place
        assert world.server.finished - before == calls, f"{place}: a finished call was paid again"
        assert world.answers(name) == world.answers("whole") == world.expected(*names)
        assert _same_but_for_time(training.steps) == _same_but_for_time(whole.steps)
        one, other = (world.runs / run / "generations" / "0001" for run in ("whole", name))
        assert digest(one) == digest(other), place


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "batch", "of_points"),
    [pytest.param(4, 3, 2, marks=pytest.mark.promise(long=True), id="every fourth row, every second point"), (1, 8, 1)],
)
async def test_the_shipped_benchmark_killed_again_and_again_comes_to_the_very_same_library(
    world: World, share: int, batch: int, of_points: int
) -> None:
    shutil.copytree(BENCHMARK.parent, world.home / "benchmark")
    dataset = world.home / "benchmark" / BENCHMARK.name
    rows = dataset.read_text("utf-8").splitlines(keepends=True)[::share]
    dataset.write_text("".join(rows), "utf-8")
    settings = [*ONE_BY_ONE, "evolution.merge_policy=model", f"evolution.batch_size={batch}"]
    orders = {"dataset": str(dataset), "settings": settings}
    code, out, errors = await finished(world.start(**orders, name="whole", kill_point=[0, ""]))
    assert (code, out.split()[0]) == (0, "done"), errors
    calls = world.server.finished
    points = get_args(Point)[::of_points]
    kills: list[dict[str, Any]] = [{"kill_point": [step, place]} for step, place in enumerate(points, 1)]
    kills += [{"kill_at": at, "kill_point": [0, ""]} for at in (20, 40)]  # in the middle of tasks
    on_its_way = 0
    for number, kill in enumerate(kills):
        code, _, errors = await finished(world.start(**orders, **kill, name="killed", resume=number > 0))
        assert code == -9, errors
        on_its_way = world.server.finished - calls - world.replies_on_tapes("killed")
        assert 0 <= on_its_way <= number + 1, f"{kill}: a kill costs no more than the reply that was on its way"
    code, out, errors = await finished(world.start(**orders, name="killed", kill_point=[0, ""], resume=True))
    assert (code, out.split()[0]) == (0, "done"), errors
    assert world.server.finished - calls == calls + on_its_way, "no finished call was made again"
    assert world.answers("killed") == world.answers("whole")
    assert len(world.answers("killed")) == len(rows)
    one, other = ((world.runs / run / "library").resolve() for run in ("whole", "killed"))
    assert (one.name, digest(one)) == (other.name, digest(other))


def _same_but_for_time(steps: Any) -> list[Any]:
    return [row.model_copy(update={"seconds": 0}) for row in steps]


def gone(folder: Path) -> bool:
    """Whether every process that names something in `folder` goes, without being told to: each is waited for itself."""
    while left := processes_below(folder):
        try:
            end = os.pidfd_open(next(iter(left)))
        except ProcessLookupError:
            continue
        try:
            if not select.select([end], [], [], PATIENCE_S)[0]:
                return False
        finally:
            os.close(end)
    return True
