"""What a training answered, its library answers ever after: frozen, it is asked by a model that can only use it."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from habilis.config import Settings
from habilis.curation.ledger.reports import Row
from habilis.evaluation.datasets.loading import load
from habilis.testing import ScriptedServer, seeded
from habilis.testing.faults import FaultKind
from habilis.training.shelf import Absorbing, Shelf

from ..toolshop import QuickHost
from .careless import Careless
from .conftest import World

BENCHMARK = Path(__file__).parents[2] / "examples" / "benchmark" / "tasks.jsonl"
TRAININGS, PROMISED = 20, (8, 10, 11, 15, 17, 19)
"""How many in all, and the seeds of those that carry the promise: between them every fault happens."""
FAMILIES, OF_ONE = 4, 2
OF_SERVICE: tuple[FaultKind, ...] = ("drop", "malformed_json", "malformed_arguments", "unknown_tool", "empty")
ALIKE = ["evolution.batch_size=4", "evolution.concurrency=2", "models.basic.max_retries=6"]


def drawn(seed: int) -> list[Row]:
    """The tasks of one training: of some families, two each, in any order."""
    lot = random.Random(seed)
    families: dict[str, list[Row]] = defaultdict(list)
    for row in load(str(BENCHMARK)):
        families[row.id.rsplit("-", 1)[0]].append(row)
    chosen = lot.sample([rows for rows in families.values() if len(rows) >= OF_ONE], FAMILIES)
    rows = [row for rows in chosen for row in lot.sample(rows, OF_ONE)]
    return lot.sample(rows, len(rows))


def curating(settings: Settings) -> Absorbing:
    """The real curator, which runs tools in this process: a step of it makes hundreds of calls."""
    return lambda training: Shelf(training, settings, QuickHost())  # type: ignore[arg-type]


async def forgotten(world: World, seed: int, counted: Counter[str]) -> list[str]:
    """Trains with faults, freezes, and asks again: the questions that are not answered as they were. Counts what
    happened."""
    rows, careless = drawn(seed), Careless(seed)
    with ScriptedServer(careless, faults=seeded(seed, rate=0.05, kinds=OF_SERVICE)) as bad:
        chosen = world.settings(*ALIKE, "evolution.merge_policy=model", f"models.basic.base_url={bad.base_url}")
        trained = await world.evolution(settings=chosen, absorbing=curating(chosen)).run(
            rows, name=f"t{seed}", base=BENCHMARK.parent
        )
        counted.update(f"service: {seen.fault.kind}" for seen in bad.requests if seen.fault)
    assert trained.stopped == "done", (seed, trained.reason)
    counted.update(careless.made)
    answered = {name: said for name, said in world.answers(f"t{seed}").items() if said[0] == "answered"}
    counted.update(asked=len(rows), answered=len(answered))
    library = world.training(f"t{seed}").library
    frozen = world.evolution(*ALIKE, "tools.synthesis=false", library=library, absorbing=None)
    again = [row for row in rows if row.id in answered]
    ended = await frozen.run(again, name=f"f{seed}", base=BENCHMARK.parent)
    assert (ended.stopped, sum(row.synthesised for row in ended.steps)) == ("done", 0)
    now = world.answers(f"f{seed}")
    steps = [path.read_text() for path in sorted(library.parent.glob("generations/*/report.json"))]
    return [
        f"training {seed}, {row.id}: {row.question} gave {answered[row.id]}, and gives {now[row.id]}; {steps}"
        for row in again
        if now[row.id] != answered[row.id]
    ]


FAULTS = ("service: drop", "build: rubbish", "build: knows one call", "enhance: knows one call", "merge: lossy")
"""Faults that any six trainings or more meet."""


@pytest.mark.slow
@pytest.mark.promise(long=True)
async def test_a_frozen_library_answers_what_its_training_answered(world: World) -> None:
    counted: Counter[str] = Counter()
    lost = [line for seed in PROMISED for line in await forgotten(world, seed, counted)]
    print(counted)
    assert lost == []
    assert [fault for fault in FAULTS if not counted[fault]] == [], counted
    assert counted["answered"] >= counted["asked"] * 0.8


@pytest.mark.slow
async def test_twenty_frozen_libraries_answer_what_their_trainings_answered(world: World) -> None:
    counted: Counter[str] = Counter()
    lost = [line for seed in range(100, 100 + TRAININGS) for line in await forgotten(world, seed, counted)]
    print(counted)
    assert lost == []
    assert [fault for fault in FAULTS if not counted[fault]] == [], counted
