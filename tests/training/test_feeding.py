"""Several trainings that feed one library, at the same time: each tool of each run is accounted for, once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from habilis import Evolution
from habilis.checking.runs import check_run
from habilis.core.errors import UserError
from habilis.library.generations import Generations
from habilis.rundir import RunDir, read_jsonl
from habilis.rundir.training import fed_by

from .conftest import World

ONE, OTHER = ("mean", "sum", "arithmetic", "gcd"), ("mean2", "rows", "max", "gcd")
STEPS_OF_TWO = ["evolution.batch_size=2"]


def feeding(world: World, *more: str) -> Evolution:
    return world.evolution(*STEPS_OF_TWO, *more, absorbing=None, feed=world.home / "common")


def steps(world: World) -> list[dict[str, Any]]:
    """The steps that made the generations of the common library, the oldest first."""
    generations = Generations(world.home / "common")
    reports = [generations.report(number) or {} for number in generations.numbers()]
    assert [report["generation"] for report in reports] == list(range(1, len(reports) + 1))
    return [report for report in reports if "fates" in report]


def check_account(world: World, *runs: str) -> None:
    """Each step of each run made at most one generation, each tool that went in has one fate; no run is damaged."""
    made = Counter((report["run"], report["step"]) for report in steps(world))
    assert set(made.values()) == {1}, made
    for report in steps(world):
        assert Counter(report["went_in"]) == Counter(fate["tool"] for fate in report["fates"])
    told: set[str] = set()
    for name in runs:
        run = RunDir.open(world.runs / name)
        assert check_run(run) == []
        known = run.read_run()["training"]["feed"]["run"]
        journal = [row for row in read_jsonl(world.training(name).journal) if row["point"] == "published"]
        assert {row["payload"]["report"]["run"] for row in journal} == {known}, "a step of another run"
        assert len(journal) == len({row["step"] for row in journal}), "a step was absorbed twice"
        told |= {fate["tool"] for row in journal for fate in row["payload"]["report"]["fates"]}
    proven = {
        f"{path.parent.parent.name}:{path.stem}@"
        for name in runs
        for path in world.training(name).path.glob("tasks/*/tools/*.py")
    }
    lost = {one for one in proven if not any(tool.startswith(one) for tool in told)}
    assert proven
    assert not lost, "tools that no step tells of"


async def check_answers(world: World) -> None:
    """The common library alone, frozen, answers what both runs answered."""
    rows = world.rows(*dict.fromkeys((*ONE, *OTHER)))
    exam = world.evolution("tools.synthesis=false", absorbing=None, library=world.home / "common")
    assert (await exam.run(rows, name="exam", base=world.home)).stopped == "done"
    assert world.answers("exam") == world.expected(*(row.id for row in rows))


async def test_two_runs_at_once_feed_one_library_and_lose_nothing(world: World) -> None:
    both = (
        feeding(world).run(world.rows(*ONE), name="one", base=world.home),
        feeding(world).run(world.rows(*OTHER), name="other", base=world.home),
    )
    assert [training.stopped for training in await asyncio.gather(*both)] == ["done", "done"]
    assert world.answers("one") | world.answers("other") == world.expected(*ONE, *OTHER)
    assert len({report["run"] for report in steps(world)}) == 2, "one of them fed nothing"
    check_account(world, "one", "other")
    await check_answers(world)


async def test_a_run_works_with_what_another_one_fed(world: World) -> None:
    await feeding(world).run(world.rows("mean", "sum"), name="one", base=world.home)
    later = await feeding(world).run(world.rows("mean2", "sum"), name="other", base=world.home)
    assert later.steps[0].synthesised == 0, "the tools were there"
    assert not (world.runs / "other" / "generations").exists(), "it has no library of its own"
    check_account(world, "one")


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("point", ["collected", "clustered", "verified", "published"])
@pytest.mark.parametrize("step", [1, 2])
async def test_killed_in_a_step_it_goes_on_with_what_others_fed_meanwhile(world: World, step: int, point: str) -> None:
    orders = {"name": "one", "rows": ONE, "feed": str(world.home / "common"), "settings": STEPS_OF_TWO}
    child = world.start(**orders, kill_point=[step, point])
    await asyncio.to_thread(child.communicate)
    assert child.returncode == -9
    await feeding(world).run(world.rows(*OTHER), name="other", base=world.home)
    assert (await world.evolution(absorbing=None).resume(world.runs / "one")).stopped == "done"
    own = [key for task in ONE for key in world.asked(task, "one")]
    assert len(own) == len(set(own)), "a reply was paid for twice"
    check_account(world, "one", "other")
    await check_answers(world)


async def test_twins_of_one_data_set_are_two_runs(world: World) -> None:
    """The same rows, steps and tools: only the run's own name in the account tells their steps apart."""
    orders = {"name": "one", "rows": ["gcd"], "feed": str(world.home / "common"), "settings": STEPS_OF_TWO}
    child = world.start(**orders, kill_point=[1, "collected"])
    await asyncio.to_thread(child.communicate)
    assert child.returncode == -9
    await feeding(world).run(world.rows("gcd"), name="other", base=world.home)
    calls = sum(len(path.read_text().splitlines()) for path in world.home.glob("common/records/*.jsonl"))
    assert (await world.evolution(absorbing=None).resume(world.runs / "one")).stopped == "done"
    check_account(world, "one", "other")
    both = sum(len(path.read_text().splitlines()) for path in world.home.glob("common/records/*.jsonl"))
    assert both == 2 * calls > 0, "the calls of the other one do not count as this one's"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda place: place.write_text("x"), "is a file"),
        (lambda place: (place.parent / "task.json").write_text("{}"), "holds the tools of one task"),
    ],
    ids=["a file", "a task's tools"],
)
async def test_what_cannot_be_fed_is_refused_before_anything_is_made(world: World, spoil: Any, said: str) -> None:
    spoil(world.home / "common")
    with pytest.raises(UserError, match=said):
        await feeding(world).run(world.rows("gcd"), name="one", base=world.home)
    assert not (world.runs / "one").exists()


async def test_a_generation_is_not_fed(world: World) -> None:
    await feeding(world).run(world.rows("gcd"), name="one", base=world.home)
    newest = world.home / "common-generations" / "0001"
    with pytest.raises(UserError, match="one generation of a library"):
        await world.evolution(absorbing=None, feed=newest).run(world.rows("gcd"), name="other", base=world.home)


async def test_a_library_that_is_gone_is_told_and_not_begun_anew_in_silence(world: World, said: Any) -> None:
    await feeding(world).run(world.rows("gcd"), name="first", base=world.home)
    for place in ("common", "common-generations"):
        Path(world.home / place).rename(world.home / f"moved-{place}")
    damages = check_run(RunDir.open(world.runs / "first"))
    assert any("generation 2 is gone" in str(damage) for damage in damages), damages
    assert json.loads((world.runs / "first" / "state.json").read_text())["state"] == "finished"


@pytest.mark.parametrize("feed", [5, "common", [], {"library": 5, "run": "x"}, {"library": "common"}, None])
def test_a_record_that_names_no_library_in_the_right_form_is_that_of_a_run_with_its_own(
    feed: Any,
) -> None:
    assert fed_by({"feed": feed}) == (None, "")
