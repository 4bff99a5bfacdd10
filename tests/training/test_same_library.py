"""The same tasks and the same replies give the same library, byte for byte, whatever comes first and whatever dies."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from habilis import Evolution
from habilis.curation.ledger.reports import Row
from habilis.rundir import read_jsonl

from .conftest import World
from .doubles import Gatherer
from .schedules import Shuffled

MEANS = (
    Row(id="z-mean", question="What is the average price in sales.csv?"),
    Row(id="a-mean", question="What is the mean price in sales.csv?"),
)
DIVISORS = (
    Row(id="m-gcd", question="What is the gcd of 12 and 18?"),
    Row(id="b-gcd", question="What is the greatest common divisor of 15 and 25?"),
)
SUMS = (
    Row(id="sum", question="What is the total price in untidy.csv?"),
    Row(id="c-sum", question="What is the sum of price in sales.csv?"),
)
PAIRS = (*MEANS, *DIVISORS)
MENDED = (*DIVISORS, *SUMS)
"""Here the one whose tool is taken over mends it at once, before or after the other looks."""


def library(world: World, name: str) -> dict[str, bytes]:
    """All that a run's generations hold. Left out is what begins with a dot: the lock, which names the process that
    wrote last, and the catalogue, which says by which times of files it is up to date."""
    return files(world.runs / name / "generations")


def files(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in found.items()
        if not any(part.startswith(".") for part in name.parts)
    }


def account(world: World, name: str) -> dict[str, Any]:
    """What a run says of its tasks and of its steps, but for seconds; and what its tasks have of tools."""
    training = world.training(name)
    predictions = [{**row, "seconds": 0} for row in read_jsonl(training.predictions)]
    tasks = {path.parent.name: files(path) for path in sorted(training.path.glob("tasks/*/tools"))}
    return {"predictions": predictions, "journal": list(read_jsonl(training.journal)), "tools": tasks}


async def trained(world: World, name: str, rows: tuple[Row, ...], seed: int, **options: Any) -> Shuffled:
    """A run whose replies come in an order drawn by `seed`; its concurrency and its runner are given, or drawn too."""
    drawn = random.Random(seed)
    settings = {"concurrency": drawn.choice((4, 8)), "runner": "local", "batch_size": 8, **options}
    world.server.answer = shuffled = Shuffled(seed, len(rows), settings["concurrency"])
    absorbing = settings.pop("absorbing", None)
    overrides = [f"evolution.{key}={value}" for key, value in settings.items()]
    evolution = Evolution(world.settings(*overrides), watch=shuffled.heed, absorbing=absorbing)
    training = await evolution.run(rows, name=name, base=world.home)
    assert training.stopped == "done"
    return shuffled


async def one_by_one(
    world: World, rows: tuple[Row, ...], **options: Any
) -> tuple[dict[str, bytes], dict[str, Any], int]:
    """What the rows come to in turn, and how many replies that took."""
    untidy = 'region,price\nnorth,"1,200"\nsouth,20\neast,30 EUR\n'
    (world.home / "untidy.csv").write_text(untidy, encoding="utf-8")
    shuffled = await trained(world, "in-turn", rows, 0, **{**options, "concurrency": 1, "runner": "local"})
    assert shuffled.overtaken == 0
    return library(world, "in-turn"), account(world, "in-turn"), shuffled.asked


async def shuffled_alike(world: World, rows: tuple[Row, ...], seeds: range, **options: Any) -> None:
    """Each of the schedules of `seeds` comes to what the rows come to in turn, and asks no more of the model."""
    kept, said, asked = await one_by_one(world, rows, **options)
    assert "adopted" in origins(world, "in-turn"), "nobody took over what another had built"
    overtaken = 0
    for seed in seeds:
        name = f"schedule-{seed}"
        shuffled = await trained(world, name, rows, seed, **options)
        overtaken += shuffled.overtaken
        assert library(world, name) == kept, seed
        assert account(world, name) == said, seed
        assert shuffled.asked == asked, f"{seed}: paid for more than in turn"
    assert overtaken, "nobody was ever overtaken: the schedules were all the same"


def origins(world: World, name: str) -> set[str]:
    """How the tasks came to their tools, versions that were mended since counted in."""
    tools = (world.runs / name).glob("tasks/*/tools/**/*.json")
    return {json.loads(path.read_text())["origin"]["how"] for path in tools}


async def test_pairs_side_by_side_give_the_library_that_they_give_in_turn(world: World) -> None:
    await shuffled_alike(world, DIVISORS, range(4, 8))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "seeds"),
    [
        pytest.param(DIVISORS, range(100, 112), marks=pytest.mark.promise, id="a pair"),
        pytest.param(PAIRS, range(10, 17), marks=pytest.mark.promise, id="two pairs"),
        pytest.param(DIVISORS, range(112, 126), id="a pair, more often"),
        pytest.param(PAIRS, range(17, 24), id="two pairs, more often"),
    ],
)
async def test_pairs_in_any_of_many_schedules_give_the_very_same_library(
    world: World, rows: tuple[Row, ...], seeds: range
) -> None:
    await shuffled_alike(world, rows, seeds)


@pytest.mark.slow
@pytest.mark.promise
async def test_a_tool_that_is_mended_at_once_is_taken_over_as_it_was_built(world: World) -> None:
    await shuffled_alike(world, MENDED, range(50, 54), absorbing=Gatherer)
    assert "enhanced" in origins(world, "in-turn")


@pytest.mark.slow
@pytest.mark.promise
async def test_tasks_in_processes_of_their_own_give_the_very_same_library(world: World) -> None:
    await shuffled_alike(world, PAIRS, range(70, 72), runner="process")


@pytest.mark.slow
@pytest.mark.promise
async def test_tasks_that_share_several_processes_give_the_very_same_library(world: World) -> None:
    await shuffled_alike(world, PAIRS, range(80, 84), workers=3)


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize(
    "kill",
    [{"kill_at": 25}, {"kill_at": 60}, {"kill_point": [1, "verified"]}],
    ids=str,
)
async def test_killed_side_by_side_and_resumed_the_library_is_the_very_same(world: World, kill: dict[str, Any]) -> None:
    names = ["mean", "gcd", "mean2"]
    rows = tuple(world.rows(*names))
    kept, said, _ = await one_by_one(world, rows)
    world.server.answer = Shuffled(1, 0, 8)
    side_by_side = ["evolution.batch_size=8", "evolution.concurrency=8"]
    orders = {"name": "killed", "rows": names, "settings": side_by_side, "kill_point": [0, ""], **kill}
    child = world.start(**orders)
    await asyncio.to_thread(child.communicate)
    assert child.returncode == -9
    training = await Evolution(world.settings(*side_by_side)).resume(world.runs / "killed")
    assert training.stopped == "done"
    assert library(world, "killed") == kept
    assert account(world, "killed")["tools"] == said["tools"]
