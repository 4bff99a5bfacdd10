"""When this machine fails in a training: the run stops, says what to do, keeps its rows open, and goes on after that."""

from __future__ import annotations

import pytest

from habilis.core.errors import PlaceError

from ..fulldisk import FullDisk
from .conftest import World
from .doubles import FEW

PROMISE = [pytest.mark.slow, pytest.mark.promise]


@pytest.mark.parametrize("part", [0.5, *(pytest.param(part, marks=PROMISE) for part in (0.1, 0.25, 0.4, 0.7, 0.85))])
async def test_a_full_disk_stops_a_run_which_goes_on_when_there_is_room(world: World, part: float) -> None:
    with FullDisk(world.home) as disk:
        whole = await world.evolution().run(world.rows(), name="whole", base=world.home)
    assert whole.stopped == "done"
    world.server.requests.clear()
    with FullDisk(world.home, int(disk.writes * part), shared=True) as full:
        stopped = await world.evolution().run(world.rows(), name="first", base=world.home)
    assert full.refused
    assert (stopped.stopped, "free space" in stopped.reason) == ("environment_error", True), stopped
    assert "--resume" in stopped.reason
    assert stopped.left > 0
    assert bool(stopped.tokens) == bool(world.server.finished)
    assert set(stopped.statuses) <= {"answered"}, "nobody is blamed"
    again = await world.evolution().resume(world.runs / "first")
    assert (again.stopped, again.left, world.answers()) == ("done", 0, world.expected())
    assert again.tokens == pytest.approx(whole.tokens, rel=0.05)
    assert world.server.repeated() == []


async def test_a_place_that_fails_before_a_run_costs_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = world.home / "cache"
    cache.write_text("no folder")
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(cache))
    with pytest.raises(PlaceError, match="cache stands where a folder is needed: remove that file"):
        await world.evolution().run(world.rows(), name="first", base=world.home)
    assert world.server.requests == []
    assert not (world.runs / "first").exists()
    monkeypatch.undo()
    training = await world.evolution().run(world.rows(*FEW[:1]), name="first", base=world.home)
    assert training.stopped == "done"
