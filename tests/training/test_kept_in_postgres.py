"""A training run kept in PostgreSQL: its driver and its database are killed, and it goes on from an empty disk."""

from __future__ import annotations

import asyncio
import random
import shutil
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from habilis.library.generations import digest
from habilis.rundir.fetching import fetch
from habilis.rundir.kept import KeptFolder
from habilis.rundir.store.postgres import PostgresStore

from ..runners import RUNNERS
from ..store.conftest import database, server, template
from ..store.postgres import POSTGRES, PostgresServer
from .conftest import World
from .test_feeding import ONE, OTHER, Common, check_account, check_answers
from .test_kept import NAMES, ONE_BY_ONE
from .test_training import finished

__all__ = ["database", "server", "template"]
pytestmark = [*POSTGRES, pytest.mark.sandbox]


@pytest.mark.parametrize("more", RUNNERS.values(), ids=RUNNERS)
async def test_killed_at_random_moments_a_run_goes_on_from_an_empty_disk(
    world: World, database: str, more: list[str]
) -> None:
    """Every row once, nothing that was paid for paid again, and the library that a run in files alone comes to."""
    chance = random.Random(f"{more}")
    kept: dict[str, Any] = {"rows": NAMES, "settings": [*ONE_BY_ONE, *more, f"store={database}"]}
    lost = 0
    for number, kill in enumerate([{"kill_at": chance.randrange(8, 60)}, {"kill_point": [1, "collected"]}]):
        code, out, errors = await finished(world.start(**{"kill_point": [0, ""], **kept, **kill}, resume=number > 0))
        assert code == -9, f"not killed: {out or errors}"
        lost = world.server.finished - world.replies_on_tapes()
        assert 0 <= lost <= number + 1, "a kill costs no more than the reply that was on its way"
        await asyncio.to_thread(shutil.rmtree, world.runs)
    code, out, errors = await finished(world.start(**kept, kill_point=[0, ""], resume=True))
    assert (code, out.split()[:1]) == (0, ["done"]), errors
    assert world.answers() == world.expected(*NAMES)
    assert world.server.finished - world.replies_on_tapes() == lost, "a finished model call was paid twice"
    with psycopg.connect(database) as connection:
        text = (
            "SELECT string_agg(data, ''::bytea ORDER BY at) FROM habilis.chunk WHERE name = 'first/predictions.jsonl'"
        )
        rows = connection.execute(text.encode()).fetchone()
    assert rows is not None
    assert bytes(rows[0]) == world.training().predictions.read_bytes()
    assert bytes(rows[0]).count(b"\n") == len(NAMES)

    plain = {"name": "plain", "rows": NAMES, "settings": [*ONE_BY_ONE, *more], "kill_point": [0, ""]}
    code, out, errors = await finished(world.start(**plain))
    assert code == 0, errors
    one, other = ((world.runs / run / "library").resolve() for run in ("first", "plain"))
    assert digest(one) == digest(other)


async def test_a_killed_run_goes_on_from_an_empty_disk_although_somebody_pruned_all_the_time(
    world: World, database: str
) -> None:
    """Nothing went that it still needed; what the store has left can be read, all of it."""
    over, gone = threading.Event(), []

    def prune() -> None:
        with closing(PostgresStore(database)) as store:
            while not over.wait(0.02):
                gone.extend(store.remove(store.unused().free))

    pruning = asyncio.ensure_future(asyncio.to_thread(prune))
    kept: dict[str, Any] = {"rows": NAMES, "settings": [*ONE_BY_ONE, "evolution.runner=process", f"store={database}"]}
    try:
        code, out, errors = await finished(world.start(**kept, kill_point=[1, "collected"]))
        assert code == -9, f"not killed: {out or errors}"
        await asyncio.to_thread(shutil.rmtree, world.runs)
        code, out, errors = await finished(world.start(**kept, kill_point=[0, ""], resume=True))
    finally:
        over.set()
        await pruning
    assert (code, out.split()[:1]) == (0, ["done"]), errors
    assert world.answers() == world.expected(*NAMES)
    with closing(PostgresStore(database)) as store:
        gone.extend(store.remove(store.unused().free))
        assert gone, "nothing was pruned"
        shutil.rmtree(world.runs)
        run = world.runs / "first"
        fetch(KeptFolder(run, store, store.lease("first", "me"), "first"))
        assert (run / "library").resolve().is_dir()


async def test_two_runs_feed_one_library_one_of_them_killed_and_continued_over_an_empty_disk(
    world: World, database: str
) -> None:
    common = Common(world, database)
    orders = {"name": "one", "rows": ONE, "feed": str(common.feed), "settings": common.settings}
    code, out, errors = await finished(world.start(**orders, kill_point=[1, "verified"]))
    assert code == -9, f"not killed: {out or errors}"
    shutil.rmtree(world.runs / "one")
    both = common.resume("one"), common.feeding().run(world.rows(*OTHER), name="other", base=world.home)
    assert [training.stopped for training in await asyncio.gather(*both)] == ["done", "done"]
    assert world.answers("one") | world.answers("other") == world.expected(*ONE, *OTHER)
    check_account(common, "one", "other")
    await check_answers(common)


async def test_a_database_that_dies_stops_the_run_which_goes_on_when_it_is_back(
    world: World, database: str, server: PostgresServer
) -> None:
    dead: list[str] = []

    def kill(task: str, event: Any) -> None:
        if not dead and event.kind == "tool_call_started":
            server.stop()
            dead.append(task)

    settings = (f"store={database}", *ONE_BY_ONE)
    evolution = world.evolution(*settings, absorbing=None)
    evolution._watch = kill
    try:
        training = await evolution.run(world.rows("mean", "sum"), name="first", base=world.home)
    finally:
        if dead:
            server.start()
    assert dead, "the database lived on"
    assert training.stopped == "environment_error"
    assert "--resume" in training.reason
    paid = world.server.finished
    shutil.rmtree(world.runs)
    training = await world.evolution(*settings, absorbing=None).resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected("mean", "sum"))
    assert world.server.finished - world.replies_on_tapes() <= 1, "only the reply that met a dead database"
    assert paid


async def test_a_driver_that_was_cut_off_cannot_write_when_it_comes_back(world: World, database: str) -> None:
    """Another one took its run over: what that one has stays as it is, and the first ends with one line."""
    others: list[PostgresStore] = []

    def take_over(task: str, event: Any) -> None:
        if not others and event.kind == "tool_call_started":
            with psycopg.connect(database, autocommit=True) as connection:
                connection.execute("UPDATE habilis.lease SET expires = '-infinity'")
            others.append(PostgresStore(database))
            others[0].lease("first", "another machine")
            before.extend((name, others[0].read(name)) for name in others[0].names("first/"))

    before: list[tuple[str, bytes | None]] = []
    evolution = world.evolution(f"store={database}", *ONE_BY_ONE, absorbing=None)
    evolution._watch = take_over
    training = await evolution.run(world.rows("mean", "sum"), name="first", base=world.home)
    assert others, "nobody took over"
    assert training.stopped == "environment_error"
    assert "taken over" in training.reason
    assert [(name, others[0].read(name)) for name in others[0].names("first/")] == before
    others[0].close()
    assert Path(world.runs / "first").is_dir(), "the working copy stays, for a look"
