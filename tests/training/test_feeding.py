"""Several trainings that feed one library, at the same time: each tool of each run is accounted for, once."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from habilis import Evolution
from habilis.checking.runs import check_run
from habilis.core.errors import PlaceError, UserError
from habilis.core.ports import Swap
from habilis.curation.curator import Curator
from habilis.library.generations import Generations
from habilis.rundir import RunDir, read_jsonl
from habilis.rundir.fetching import fetch
from habilis.rundir.kept import KeptFolder, kept_at
from habilis.rundir.store import FileStore, open_store
from habilis.rundir.training import fed_by
from habilis.training.outcome import Training

from .conftest import World

ONE, OTHER = ("mean", "sum", "arithmetic", "gcd"), ("mean2", "rows", "max", "gcd")
STEPS_OF_TWO = ["evolution.batch_size=2"]


@dataclass
class Common:
    """A library that several runs feed: a folder, or one that the store of this address keeps."""

    world: World
    store: str = ""

    @property
    def settings(self) -> list[str]:
        return [*STEPS_OF_TWO, *([f"store={self.store}"] if self.store else [])]

    @property
    def feed(self) -> Path:
        return Path("common") if self.store else self.world.home / "common"

    def feeding(self, *more: str) -> Evolution:
        return self.world.evolution(*self.settings, *more, absorbing=None, feed=self.feed)

    async def resume(self, name: str) -> Training:
        return await self.world.evolution(*self.settings, absorbing=None).resume(self.world.runs / name)

    def library(self) -> Path:
        """The library as it is now; of one in a store a copy, made from nothing."""
        if not self.store:
            return self.feed
        copy = self.world.home / f"copy-{len(list(self.world.home.iterdir()))}"
        with contextlib.closing(open_store(self.store)) as store:
            fetch(
                KeptFolder(copy, store, store.lease("a reader", "a test", over="a test"), "a reader", "library/common")
            )
        return copy / "library"

    def steps(self) -> list[dict[str, Any]]:
        """The steps that made the generations of the common library, the oldest first."""
        generations = Generations(self.library())
        reports = [generations.report(number) or {} for number in generations.numbers()]
        assert [report["generation"] for report in reports] == list(range(1, len(reports) + 1))
        return [report for report in reports if "fates" in report]

    def calls(self) -> int:
        """How many recorded calls it holds."""
        records = (self.library() / "records").glob("*.jsonl")
        return sum(len(path.read_text().splitlines()) for path in records)


PLACES = ["a folder", "a store"]


@pytest.fixture(params=PLACES)
def common(world: World, request: pytest.FixtureRequest) -> Common:
    return Common(world, (world.home / "store").as_uri() if request.param == "a store" else "")


def check_account(common: Common, *runs: str) -> None:
    """Each step of each run made at most one generation, each tool that went in has one fate; no run is damaged."""
    world, steps = common.world, common.steps()
    made = Counter((report["run"], report["step"]) for report in steps)
    assert set(made.values()) == {1}, made
    for report in steps:
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


async def check_answers(common: Common) -> None:
    """The common library alone, frozen, answers what both runs answered."""
    world = common.world
    rows = world.rows(*dict.fromkeys((*ONE, *OTHER)))
    exam = world.evolution("tools.synthesis=false", absorbing=None, library=common.library())
    assert (await exam.run(rows, name="exam", base=world.home)).stopped == "done"
    assert world.answers("exam") == world.expected(*(row.id for row in rows))


async def test_two_runs_at_once_feed_one_library_and_lose_nothing(world: World, common: Common) -> None:
    both = (
        common.feeding().run(world.rows(*ONE), name="one", base=world.home),
        common.feeding().run(world.rows(*OTHER), name="other", base=world.home),
    )
    assert [training.stopped for training in await asyncio.gather(*both)] == ["done", "done"]
    assert world.answers("one") | world.answers("other") == world.expected(*ONE, *OTHER)
    assert len({report["run"] for report in common.steps()}) == 2, "one of them fed nothing"
    check_account(common, "one", "other")
    await check_answers(common)


async def test_a_run_works_with_what_another_one_fed(world: World, common: Common) -> None:
    await common.feeding().run(world.rows("mean", "sum"), name="one", base=world.home)
    later = await common.feeding().run(world.rows("mean2", "sum"), name="other", base=world.home)
    assert later.steps[0].synthesised == 0, "the tools were there"
    own = sorted(path.name for path in (world.runs / "other").glob("generations/[0-9]*"))
    assert own == (["0002", "0003"] if common.store else []), "a copy of what it began with, and what it made itself"
    check_account(common, "one")


def kills() -> Iterator[Any]:
    """Every place, step and point; continuous integration kills at each point in one step and one of the places."""
    for number, point in enumerate(["collected", "clustered", "verified", "published"]):
        for step, place in itertools.product([1, 2], PLACES):
            promised = step - 1 == number // 2 and number % 2 == PLACES.index(place)
            marks = [pytest.mark.slow, *([pytest.mark.promise] if promised else [])]
            yield pytest.param(place, step, point, marks=marks, id=f"{place}-{step}-{point}")


@pytest.mark.parametrize(("common", "step", "point"), tuple(kills()), indirect=["common"])
async def test_killed_in_a_step_it_goes_on_with_what_others_fed_meanwhile(
    world: World, common: Common, step: int, point: str
) -> None:
    """With a store, it goes on over an empty disk."""
    orders = {"name": "one", "rows": ONE, "feed": str(common.feed), "settings": common.settings}
    child = world.start(**orders, kill_point=[step, point])
    await asyncio.to_thread(child.communicate)
    assert child.returncode == -9
    await common.feeding().run(world.rows(*OTHER), name="other", base=world.home)
    if common.store:
        shutil.rmtree(world.runs / "one")
    assert (await common.resume("one")).stopped == "done"
    own = [key for task in ONE for key in world.asked(task, "one")]
    assert len(own) == len(set(own)), "a reply was paid for twice"
    check_account(common, "one", "other")
    await check_answers(common)


async def test_twins_of_one_data_set_are_two_runs(world: World, common: Common) -> None:
    """The same rows, steps and tools: only the run's own name in the account tells their steps apart."""
    orders = {"name": "one", "rows": ["gcd"], "feed": str(common.feed), "settings": common.settings}
    child = world.start(**orders, kill_point=[1, "collected"])
    await asyncio.to_thread(child.communicate)
    assert child.returncode == -9
    await common.feeding().run(world.rows("gcd"), name="other", base=world.home)
    calls = common.calls()
    assert (await common.resume("one")).stopped == "done"
    check_account(common, "one", "other")
    assert common.calls() == 2 * calls > 0, "the calls of the other one do not count as this one's"


async def test_a_run_that_loses_its_turn_writes_nothing_more_and_goes_on_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody took it for dead while it worked on the library in the store."""
    common, step = Common(world, (world.home / "store").as_uri()), Curator.step

    async def robbed(curator: Curator, *about: Any) -> Any:
        kept = kept_at(world.runs / "one")
        assert kept is not None
        assert kept.turn is not None
        kept.store.release(kept.turn)
        return await step(curator, *about)

    with monkeypatch.context() as patched:
        patched.setattr(Curator, "step", robbed)
        training = await common.feeding().run(world.rows("gcd"), name="one", base=world.home)
    assert training.stopped == "environment_error"
    assert "library/common" in training.reason
    assert common.steps() == []
    await common.feeding().run(world.rows("mean"), name="other", base=world.home)
    assert (await common.resume("one")).stopped == "done"
    check_account(common, "one", "other")


async def test_a_generation_that_was_kept_and_never_in_force_is_made_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of files keeps a generation, and is killed before it points to it: the next run takes its number."""
    common, change = Common(world, (world.home / "store").as_uri()), FileStore._change

    def killed(store: FileStore, what: Any) -> None:
        if isinstance(what, Swap) and what.before is not None:
            raise PlaceError("killed here")
        change(store, what)

    with monkeypatch.context() as patched:
        patched.setattr(FileStore, "_change", killed)
        assert (await common.feeding().run(world.rows("gcd"), name="one", base=world.home)).stopped != "done"
    assert (world.home / "store" / "library/common/generations/0002/tree.json").is_file()
    assert common.steps() == []
    await common.feeding().run(world.rows("mean"), name="other", base=world.home)
    assert [report["generation"] for report in common.steps()] == [2]
    shutil.rmtree(world.runs / "one")
    assert (await common.resume("one")).stopped == "done"
    check_account(common, "one", "other")


async def test_the_turn_at_a_library_in_a_store_is_waited_for_and_told(world: World) -> None:
    one, other = Common(world, (world.home / "store").as_uri()).feeding(), FileStore(world.home / "store")
    turn, told = other.lease("library/common", "another machine"), []

    class Patient:
        def emit(self, event: Any) -> None:
            if event.kind == "notice" and "waiting" in event.text:
                told.append(event.text)
                other.release(turn)

    one._sinks = (Patient(),)
    assert (await one.run(world.rows("gcd"), name="one", base=world.home)).stopped == "done"
    assert told == ["library/common in the store is being written by another run; waiting for it"]
    other.close()


@pytest.mark.parametrize("name", ["../common", "a/b", ".hidden", "/tmp/common", "-x"])
async def test_a_library_in_a_store_has_a_plain_name(world: World, name: str) -> None:
    store = f"store={(world.home / 'store').as_uri()}"
    with pytest.raises(UserError, match="cannot name a library in a store"):
        await world.evolution(store, absorbing=None, feed=Path(name)).run(world.rows("gcd"), name="one")
    assert not (world.runs / "one").exists()
    with pytest.raises(UserError, match="cannot name a library in a store"):
        fed_by({"feed": {"library": name, "run": "x"}, "store": "file:///x"})


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
        await Common(world).feeding().run(world.rows("gcd"), name="one", base=world.home)
    assert not (world.runs / "one").exists()


async def test_a_generation_is_not_fed(world: World) -> None:
    await Common(world).feeding().run(world.rows("gcd"), name="one", base=world.home)
    newest = world.home / "common-generations" / "0001"
    with pytest.raises(UserError, match="one generation of a library"):
        await world.evolution(absorbing=None, feed=newest).run(world.rows("gcd"), name="other", base=world.home)


async def test_a_library_that_is_gone_is_told_and_not_begun_anew_in_silence(world: World, said: Any) -> None:
    await Common(world).feeding().run(world.rows("gcd"), name="first", base=world.home)
    for place in ("common", "common-generations"):
        Path(world.home / place).rename(world.home / f"moved-{place}")
    damages = check_run(RunDir.open(world.runs / "first"))
    assert any("generation 2 is gone" in str(damage) for damage in damages), damages
    assert json.loads((world.runs / "first" / "state.json").read_text())["state"] == "finished"


@pytest.mark.parametrize("feed", [5, "common", [], {"library": 5, "run": "x"}, {"library": "common"}, None])
def test_a_record_that_names_no_library_in_the_right_form_is_that_of_a_run_with_its_own(
    feed: Any,
) -> None:
    assert fed_by({"feed": feed}) == fed_by({"feed": feed, "store": "file:///x"}) == (None, "", "")
