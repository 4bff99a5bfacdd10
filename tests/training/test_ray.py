"""Tasks on the nodes of a Ray cluster: nodes, driver and database die, and every row is there once, nothing paid twice.

The cluster is one of this machine; each node has a cache of its own, so that nothing passes but through the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import ValidationError

from habilis.core.errors import HabilisError
from habilis.curation.ledger.reports import Row
from habilis.library.generations import digest
from habilis.rundir.store.postgres import PostgresStore
from habilis.training.runners import actors

from ..store.conftest import database, server, template
from ..store.postgres import PostgresServer
from .cluster import RAY, Cluster, begun, can_hide, cluster
from .conftest import World
from .doubles import QUESTIONS
from .test_feeding import Common, check_account
from .test_kept import NAMES
from .test_training import finished

__all__ = ["begun", "cluster", "database", "server", "template"]
SEEDS = range(int(os.environ.get("RAY_ROUNDS", "1")))
"""How often something dies at a random moment."""
pytestmark = [*RAY, pytest.mark.sandbox]


def settings_of(cluster: Cluster, database: str) -> list[str]:
    ray = ["evolution.runner=ray", f"evolution.ray_address={cluster.address}"]
    return [f"store={database}", *ray, "evolution.batch_size=3"]


async def library_of(world: World) -> str:
    """The digest of the library that the local runner comes to, one task after the other."""
    plain = {"name": "plain", "rows": NAMES, "settings": ["evolution.concurrency=1", "evolution.batch_size=3"]}
    code, out, errors = await finished(world.start(**plain, kill_point=[0, ""]))
    assert code == 0, out or errors
    return digest((world.runs / "plain" / "library").resolve())


@contextlib.contextmanager
def anew(folders: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of a test's own, with two nodes."""
    made = Cluster(folders.mktemp("cluster"))
    try:
        made.add()
        made.add()
        yield made
    finally:
        made.end()


def trained(world: World, cluster: Cluster, database: str, *options: str) -> Any:
    """`habilis evolve` in a process of its own."""
    ray = ["--runner", "ray", "--ray-address", cluster.address, "--set", f"store={database}"]
    command = [sys.executable, "-m", "habilis", "evolve", "--run-name", "first", "--set", f"runs_dir={world.runs}"]
    return world.program([*command, *ray, *options], cluster.environment)


async def test_tasks_on_nodes_come_to_what_tasks_here_come_to(
    world: World, cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, known = list[None](), actors._made
    monkeypatch.setattr(actors, "_made", lambda: made.append(None) or known())
    evolution = world.evolution(*settings_of(cluster, database), absorbing=None)
    done = await evolution.run(world.rows(*NAMES), name="first", base=world.home)
    assert done.stopped == "done", done.reason
    assert world.answers() == world.expected(*NAMES)
    assert world.server.finished == world.replies_on_tapes()
    assert len(cluster.worked()) > 1, "one node did it all"
    assert len(made) < len(NAMES), "each task paid for an actor of its own"
    assert digest((world.runs / "first" / "library").resolve()) == await library_of(world)


async def test_tasks_on_nodes_work_with_what_another_run_fed(world: World, cluster: Cluster, database: str) -> None:
    common = Common(world, database)
    ray = settings_of(cluster, database)
    assert (await common.feeding().run(world.rows("mean", "sum"), name="here", base=world.home)).stopped == "done"
    done = await common.feeding(*ray).run(world.rows("mean2", "sum"), name="first", base=world.home)
    assert done.stopped == "done", done.reason
    assert world.answers() == world.expected("mean2", "sum")
    assert done.steps[0].synthesised == 0, "the tools were there"
    check_account(common, "here", "first")


@pytest.mark.skipif(not can_hide(), reason="only root can hide a folder from a node")
async def test_files_reach_nodes_that_do_not_have_them(world: World, cluster: Cluster, database: str) -> None:
    """A row's files are the same on every node, under the names that the local runner knows them by."""
    data, other = cluster.hidden / "data", cluster.hidden / "other"
    for folder in (data / "tables" / "of 2024", other):
        folder.mkdir(parents=True)
    for place in (data, data / "tables" / "of 2024", other):
        shutil.copy(world.home / "sales.csv", place)
    rows = [
        *world.rows(*NAMES),
        Row(id="below", question='What is the sum of price in "tables/of 2024/sales.csv"?'),
        Row(id="outside", question="What is the maximum price?", files=(str(other / "sales.csv"),)),
    ]
    assert not any(cluster.sees(number, data) for number in cluster.alive())
    plain = ["evolution.concurrency=1", "evolution.batch_size=3"]
    done = await world.evolution(*plain, absorbing=None).run(rows, name="plain", base=data)
    assert done.stopped == "done", done.reason
    done = await world.evolution(*settings_of(cluster, database), absorbing=None).run(rows, name="first", base=data)
    assert done.stopped == "done", done.reason
    assert world.answers() == world.answers("plain")
    assert world.answers()["below"] == ("answered", "60")
    assert world.answers()["outside"] == ("answered", "30")
    assert world.asked("below") == world.asked("below", "plain"), "other words were sent to the model"
    assert world.asked("outside") == world.asked("outside", "plain"), "other words were sent to the model"
    assert digest((world.runs / "first" / "library").resolve()) == digest((world.runs / "plain" / "library").resolve())


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_node_that_dies_costs_what_was_on_its_way(
    world: World, cluster: Cluster, database: str, seed: int
) -> None:
    """Its tasks go on elsewhere from what the store has of them."""
    chance, killed, seen = random.Random(seed), [], 0
    moment = chance.randrange(3, 40)

    def kill(task: str, event: Any) -> None:
        nonlocal seen
        seen += 1
        busy = [number for number in cluster.alive() if cluster.works_on(number)]
        if seen >= moment and not killed and busy:
            killed.append(chance.choice(busy))
            cluster.kill(killed[0])

    evolution = world.evolution(*settings_of(cluster, database), absorbing=None)
    evolution._watch = kill
    done = await evolution.run(world.rows(*NAMES), name="first", base=world.home)
    assert killed, "no node died"
    assert done.stopped == "done", done.reason
    assert world.answers() == world.expected(*NAMES)
    lost = world.server.finished - world.replies_on_tapes()
    assert 0 <= lost <= 3, "each task loses the reply that was on its way, and no more"


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_driver_that_dies_goes_on_from_an_empty_disk(
    world: World, cluster: Cluster, database: str, seed: int
) -> None:
    chance = random.Random(seed)
    orders: dict[str, Any] = {"rows": NAMES, "settings": settings_of(cluster, database), "kill_point": [0, ""]}
    for number, kill in enumerate([{"kill_at": chance.randrange(8, 40)}, {"kill_point": [1, "collected"]}]):
        code, out, errors = await finished(world.start(**{**orders, **kill}, resume=number > 0))
        assert code == -signal.SIGKILL, f"not killed: {out or errors}"
        await asyncio.to_thread(shutil.rmtree, world.runs)
    code, out, errors = await finished(world.start(**orders, resume=True))
    assert (code, out.split()[:1]) == (0, ["done"]), errors
    assert world.answers() == world.expected(*NAMES)
    assert world.server.finished - world.replies_on_tapes() <= 2 * 3, "each kill costs what was on its way"
    assert digest((world.runs / "first" / "library").resolve()) == await library_of(world)


async def test_a_node_that_was_cut_off_writes_nothing_when_it_comes_back(
    world: World, cluster: Cluster, database: str
) -> None:
    """Its task went on elsewhere: what stands there stays as it is."""
    frozen: list[int] = []

    def freeze(task: str, event: Any) -> None:
        busy = [number for number in cluster.alive() if cluster.works_on(number)]
        if event.kind == "tool_call_started" and not frozen and busy:
            frozen.append(busy[0])
            cluster.freeze(busy[0])

    evolution = world.evolution(*settings_of(cluster, database), absorbing=None)
    evolution._watch = freeze
    done = await evolution.run(world.rows(*NAMES), name="first", base=world.home)
    assert frozen, "no node was cut off"
    assert done.stopped == "done", done.reason
    assert world.answers() == world.expected(*NAMES)
    with contextlib.closing(PostgresStore(database)) as store:
        before = {name: store.read(name) for name in store.names("first/")}
        cluster.thaw(frozen[0])
        await asyncio.to_thread(cluster.nodes[frozen[0]].wait, 60)  # it learns that it was given up, and ends
        assert {name: store.read(name) for name in store.names("first/")} == before


async def test_a_database_that_dies_stops_the_run_which_goes_on_when_it_is_back(
    world: World, cluster: Cluster, database: str, server: PostgresServer
) -> None:
    dead: list[str] = []

    def kill(task: str, event: Any) -> None:
        if not dead and event.kind == "tool_call_started":
            server.stop()
            dead.append(task)

    evolution = world.evolution(*settings_of(cluster, database), absorbing=None)
    evolution._watch = kill
    try:
        training = await evolution.run(world.rows(*NAMES), name="first", base=world.home)
    finally:
        if dead:
            server.start()
    assert dead, "the database lived on"
    assert training.stopped == "environment_error", training.reason
    training = await world.evolution(*settings_of(cluster, database), absorbing=None).resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected(*NAMES))
    lost = world.server.finished - world.replies_on_tapes()
    assert 0 <= lost <= 3, "each task loses the reply that met a dead database, and no more"


async def test_a_head_that_dies_stops_the_run_which_goes_on_with_another_one(
    world: World, tmp_path_factory: pytest.TempPathFactory, database: str
) -> None:
    """Ray itself would wait for it, and then end the process. Nothing is lost, and no finished reply is paid again."""
    rows = [{"id": name, "question": QUESTIONS[name][0], "answer": QUESTIONS[name][1]} for name in NAMES]
    (world.home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with anew(tmp_path_factory) as first:
        child = trained(world, first, database, "--dataset", "rows.jsonl", "--batch-size", "3")
        assert await asyncio.to_thread(world.server.wait_for, 3, 120.0), "no task was under way"  # none takes so few
        world.server.latency_s = 50.0  # what is under way now is under way still when the head is given up
        first.kill_head()
        code, out, errors = await finished(child)
        assert code == 5, out or errors
        line = next(line for line in out.splitlines() if "outcome" in line)
        assert "its head has not answered for 30 s; start it again; then continue with --resume" in line, out
        assert "Traceback" not in errors
    assert not world.training().predictions.exists(), "a task was over before the head was given up"
    world.server.latency_s = 0.0
    with anew(tmp_path_factory) as second:
        code, out, errors = await finished(trained(world, second, database, "--resume"))
    assert code == 0, out or errors
    assert world.answers() == world.expected(*NAMES)
    lost = world.server.finished - world.replies_on_tapes()
    assert 0 <= lost <= 3, "each task loses the reply that was on its way, and no more"
    assert digest((world.runs / "first" / "library").resolve()) == await library_of(world)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["evolution.ray_address=127.0.0.1:9"], "the Ray cluster at 127.0.0.1:9 cannot be reached"),
        (["store="], "the runner ray needs a store that all nodes reach"),
        (['models.basic.headers={"x-token": "abc"}'], "models.basic.headers.x-token holds a secret"),
    ],
)
async def test_what_keeps_a_run_from_the_cluster_is_one_line(
    world: World, cluster: Cluster, database: str, more: list[str], told: str
) -> None:
    evolution = world.evolution(*settings_of(cluster, database), *more)
    try:
        line = (await evolution.run(world.rows("mean"), name="first", base=world.home)).reason
    except HabilisError as error:
        line = str(error)
    assert told in line
    assert "\n" not in line


async def test_a_cluster_without_a_free_node_is_said(world: World, cluster: Cluster, database: str) -> None:
    """Ray waits without a word; a person would wait with it."""
    for number in cluster.alive():
        cluster.kill(number)
    evolution = world.evolution(*settings_of(cluster, database))

    def heard(task: str, event: Any) -> None:
        if event.kind == "notice":
            told.append(event.text)
        if told and "waits for a node" in told[-1]:
            evolution.interrupt()

    told: list[str] = []
    evolution._watch = heard
    done = await evolution.run(world.rows("mean"), name="first", base=world.home)
    assert any("waits for a node" in text for text in told), told
    assert done.stopped == "interrupted"


def test_ray_takes_the_file_that_starts_a_cluster() -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    file = Path(__file__).resolve().parents[2] / "examples" / "cluster" / "ray-cluster.yaml"
    config = prepare_config(yaml.safe_load(file.read_text(encoding="utf-8")))
    validate_config(config)
    with pytest.raises(ValidationError, match="setup_command"):
        validate_config({**config, "setup_command": []})
