"""A training run that is kept in a store: on an empty disk it goes on where it stood, whoever was killed and when."""

from __future__ import annotations

import asyncio
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from habilis import Evolution, load_settings
from habilis.core.errors import HabilisError, LeaseHeld, PlaceError, UserError
from habilis.core.ports import Put
from habilis.library.generations import digest
from habilis.rundir.kept import kept_at
from habilis.rundir.owner import is_dead, this_process
from habilis.rundir.store import FileStore

from .conftest import World
from .test_training import finished

pytestmark = pytest.mark.sandbox
NAMES = ("mean", "sum", "arithmetic", "gcd", "mean2", "rows")
ONE_BY_ONE = ("evolution.concurrency=1", "evolution.batch_size=3")


def contents(folder: Path) -> dict[str, bytes]:
    """All that a run holds, by name, but for locks, checkpoints and links to the task's files."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.endswith(".lock") and "checkpoints" not in path.name and not path.is_symlink()
    }


@pytest.mark.slow
@pytest.mark.promise
async def test_a_run_that_was_killed_goes_on_over_an_empty_disk(world: World) -> None:
    """The folder is lost with its machine: what was paid for is on the tapes in the store, and the library comes out
    the same as that of a run which nobody kept anywhere."""
    store = world.home / "store"
    kept = [*ONE_BY_ONE, f"store={store.as_uri()}"]
    orders: dict[str, Any] = {"rows": NAMES, "settings": kept, "kill_point": [1, "collected"]}
    code, out, errors = await finished(world.start(**orders))
    assert code == -9, f"not killed: {out or errors}"
    paid = world.server.finished
    assert world.replies_on_tapes() == paid
    shutil.rmtree(world.runs)
    code, out, errors = await finished(world.start(**orders | {"kill_point": [0, ""]}, resume=True))
    assert (code, out.split()[:1]) == (0, ["done"]), errors
    assert world.answers() == world.expected(*NAMES)
    assert world.replies_on_tapes() == world.server.finished, "a finished model call was paid twice"

    plain = {"name": "plain", "rows": NAMES, "settings": ONE_BY_ONE, "kill_point": [0, ""]}
    code, out, errors = await finished(world.start(**plain))
    assert code == 0, errors
    one, other = ((world.runs / run / "library").resolve() for run in ("first", "plain"))
    assert digest(one) == digest(other)
    assert not (world.runs / "plain" / "store").exists()


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("orders", [{"kill_at": 1}, {"kill_at": 25}, {"kill_at": 70}])
async def test_killed_in_the_middle_of_a_task_no_call_is_paid_twice(world: World, orders: dict[str, Any]) -> None:
    kept = [*ONE_BY_ONE, f"store={(world.home / 'store').as_uri()}"]
    code, out, errors = await finished(world.start(rows=NAMES, settings=kept, kill_point=[0, ""], **orders))
    assert code == -9, f"not killed: {out or errors}"
    lost = world.server.finished - world.replies_on_tapes()
    assert 0 <= lost <= 1, "a kill costs no more than the reply that was on its way"
    shutil.rmtree(world.runs)
    code, out, errors = await finished(world.start(rows=NAMES, settings=kept, kill_point=[0, ""], resume=True))
    assert (code, out.split()[:1]) == (0, ["done"]), errors
    assert world.answers() == world.expected(*NAMES)
    assert world.server.finished - world.replies_on_tapes() == lost


@pytest.mark.slow
@pytest.mark.promise
async def test_who_lost_the_lease_writes_nothing_more_and_says_so(world: World) -> None:
    """A driver that was cut off sees another one in its place: its run ends, and what the other has stays as it is."""
    root = world.home / "store"
    evolution = world.evolution(f"store={root.as_uri()}", *ONE_BY_ONE)
    taken: list[bytes | None] = []

    def take_over(task: str, event: Any) -> None:
        mine = kept_at(world.runs / "first")
        if not taken and event.kind == "tool_call_started" and mine is not None:
            mine.store.release(mine.lease)
            other = FileStore(root)
            other.write(other.lease("first", "other"), [Put("first/state.json", b"{}\n")])
            taken.append(other.read("first/state.json"))
            others.append(other)

    others: list[FileStore] = []
    evolution._watch = take_over
    training = await evolution.run(world.rows("mean", "sum"), name="first", base=world.home)
    assert taken, "nobody took over"
    assert training.stopped == "environment_error"
    assert "over" in training.reason
    assert FileStore(root).read("first/state.json") == b"{}\n"
    others[0].close()


async def test_a_store_that_dies_ends_those_too_who_wait_for_what_another_task_builds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can tell them any more that the builder works no longer: the run waited for them for ever."""
    evolution = world.evolution(f"store={(world.home / 'store').as_uri()}", "evolution.concurrency=4")
    change, waiting = FileStore._change, []

    def dead(store: FileStore, what: Any) -> None:
        if waiting:
            raise PlaceError("the store is gone")
        change(store, what)

    def heard(task: str, event: Any) -> None:
        if event.kind == "build_awaited":
            waiting.append(task)

    monkeypatch.setattr(FileStore, "_change", dead)
    evolution._watch = heard
    work = evolution.run(world.rows("mean", "mean2", "sum"), name="first", base=world.home)
    training = await asyncio.wait_for(work, 120)
    assert waiting, "nobody waited"
    assert training.stopped == "environment_error"
    assert "the store is gone" in training.reason


async def test_a_run_in_use_elsewhere_is_refused_in_one_line(world: World) -> None:
    other = FileStore(world.home / "store")
    other.lease("first", "another machine")
    with pytest.raises(LeaseHeld, match="in use"):
        await world.evolution(f"store={(world.home / 'store').as_uri()}").run(world.rows("mean"), name="first")
    assert not (world.runs / "first").exists()
    other.close()


async def test_a_kept_run_has_its_name_to_itself_and_does_not_go_on_without_its_store(world: World) -> None:
    store = f"store={(world.home / 'store').as_uri()}"
    await world.evolution(store).run(world.rows("arithmetic"), name="first")
    with pytest.raises(UserError, match="HABILIS_STORE"):
        await world.evolution().resume(world.runs / "first")
    shutil.rmtree(world.runs / "first")
    with pytest.raises(UserError, match="--resume"):
        await world.evolution(store).run(world.rows("arithmetic"), name="first")
    assert not (world.runs / "first").exists()


@pytest.mark.slow
@pytest.mark.promise
async def test_a_run_that_ended_is_fetched_as_it_was(world: World) -> None:
    """The working copy is lost; what comes back from the store are the same files, its generations among them."""
    kept = (f"store={(world.home / 'store').as_uri()}", *ONE_BY_ONE)
    training = await world.evolution(*kept, absorbing=None).run(
        world.rows("mean", "sum"), name="first", base=world.home
    )
    assert training.stopped == "done"
    lost = (world.runs / "first").rename(world.home / "lost")
    again = await world.evolution(*kept, absorbing=None).resume(world.runs / "first")
    assert again.stopped == "done"
    back, before = contents(world.runs / "first"), contents(lost)
    changing = {"state.json", "events.jsonl"}
    assert {name for name in before if name.startswith("generations/0001/")}
    assert set(back) == set(before)
    assert {name for name in before if back[name] != before[name]} <= changing


async def test_names_in_a_store_lead_nowhere_else(world: World) -> None:
    """A store is as far from trusted as a folder that somebody sends."""
    root = world.home / "store"
    store = f"store={root.as_uri()}"
    await world.evolution(store).run(world.rows("arithmetic"), name="first")
    shutil.rmtree(world.runs / "first")
    evil = sha256(b"evil").hexdigest()
    (root / ".blobs" / evil[:2]).mkdir(exist_ok=True)
    (root / ".blobs" / evil[:2] / evil).write_bytes(b"evil")
    tree = {"format": 1, "files": {"../../../../evil.py": [0o644, [evil]]}, "folders": []}
    (root / "first/tasks/arithmetic/tree.json").write_text(json.dumps(tree))
    with pytest.raises(UserError, match="not a file name"):
        await world.evolution(store).resume(world.runs / "first")
    assert not list(world.home.rglob("evil.py"))


async def test_what_is_told_of_a_password_is_not_the_password(world: World) -> None:
    settings = load_settings(overrides=["store=postgresql://me:s3cr3t-w0rd-17@127.0.0.1:1/x", f"runs_dir={world.runs}"])
    with pytest.raises(HabilisError, match="cannot be reached") as told:
        await Evolution(settings).run(world.rows("arithmetic"), name="first")
    assert "s3cr3t" not in str(told.value)
    assert not (world.runs / "first").exists()
    with pytest.raises(UserError, match="PGPASSWORD"):
        load_settings(overrides=["store=postgresql://db/x?password=s3cr3t-w0rd-17"])


def test_an_owner_is_known_to_be_dead_only_where_that_can_be_seen() -> None:
    me = this_process()
    assert not is_dead(me)
    host, _, rest = me.partition(", process ")
    _, _, told = rest.partition(" (")
    assert is_dead(f"{host}, process 1 ({told.rpartition(' ')[0]} 99)"), "another process has its number by now"
    assert not is_dead(f"another-host, process 1 ({told}")
    assert not is_dead("somebody")
