"""When this machine fails in a training: the run stops, says what to do, keeps its rows open, and goes on later."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from typing import Any, NoReturn

import pytest
from langchain_core.messages import AIMessage

from habilis.cli import main
from habilis.core.errors import PlaceError
from habilis.rundir import KeyedRows
from habilis.training.runners import ProcessRunner
from habilis.training.runners.program import LocalProgram

from ..fulldisk import FullDisk
from ..marks import PROMISE
from .conftest import World
from .doubles import FEW

PATIENCE_S = 30.0


@pytest.mark.parametrize("part", [pytest.param(part, marks=PROMISE) for part in (0.1, 0.25, 0.4, 0.5, 0.7, 0.85)])
async def test_a_full_disk_stops_a_run_which_goes_on_when_there_is_room(world: World, part: float) -> None:
    with FullDisk(world.home) as disk:
        assert (await world.evolution().run(world.rows(), name="whole", base=world.home)).stopped == "done"
    world.server.requests.clear()
    with FullDisk(world.home, int(disk.writes * part), shared=True) as full:
        stopped = await world.evolution().run(world.rows(), name="first", base=world.home)
    assert full.refused
    assert (stopped.stopped, "free space" in stopped.reason) == ("environment_error", True), stopped
    assert "--resume" in stopped.reason
    assert stopped.left > 0
    assert bool(stopped.tokens) == bool(world.server.finished)
    assert set(stopped.statuses) <= {"answered"}, ("somebody is blamed", world.predictions())
    again = await world.evolution().resume(world.runs / "first")
    assert (again.stopped, again.left, world.answers()) == ("done", 0, world.expected())
    assert world.server.repeated() == [], "nothing is paid twice"
    assert world.replies_on_tapes() == world.server.finished, "what was paid for is on record"
    assert again.tokens > stopped.tokens


async def test_where_the_end_of_a_task_cannot_be_written_the_others_keep_the_replies_on_their_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, answer = threading.Event(), world.server.answer

    def late(*asked: Any) -> AIMessage:
        if "gcd" in str(asked):
            full.wait(PATIENCE_S)
        return answer(*asked)

    def unwritten(*_: object) -> NoReturn:
        full.set()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    world.server.answer = late
    monkeypatch.setattr(KeyedRows, "put", unwritten)
    stopped = await world.evolution().run(world.rows("arithmetic", "gcd"), name="first", base=world.home)
    assert (stopped.stopped, "free space" in stopped.reason, stopped.left) == ("environment_error", True, 2), stopped
    assert world.replies_on_tapes() == world.server.finished
    monkeypatch.undo()
    again = await world.evolution().resume(world.runs / "first")
    assert (again.stopped, again.left, world.server.repeated()) == ("done", 0, [])


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


SAYS = """
import sys
print('{"failed": "disk: full; free space", "place": true}')
"""


async def test_a_task_in_a_process_of_its_own_stops_the_run_for_a_failure_of_the_place(world: World) -> None:
    runner = ProcessRunner(world.settings(), start=lambda job: LocalProgram.start({}, (sys.executable, "-c", SAYS)))
    stopped = await world.evolution(runner=runner).run(world.rows(), name="first", base=world.home)
    assert (stopped.stopped, stopped.left) == ("environment_error", len(FEW))
    assert stopped.reason == "disk: full; free space; then continue with --resume"
    assert stopped.statuses == {}
    again = await world.evolution().resume(world.runs / "first")
    assert (again.stopped, world.answers()) == ("done", world.expected())


def test_the_command_says_what_to_do_and_ends_with_a_code_of_its_own(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(world.home)
    rows = [json.dumps({"id": row.id, "question": row.question}) for row in world.rows()]
    (world.home / "rows.jsonl").write_text("\n".join(rows))
    here = [f"models.basic.base_url={world.server.base_url}", "models.basic.model=scripted", "evolution.batch_size=4"]
    settings = [word for setting in here for word in ("--set", setting)]
    with FullDisk(world.home, 60, shared=True) as full:
        code = main(["evolve", "--dataset", "rows.jsonl", "--run-name", "first", *settings])
    assert (full.refused > 0, code) == (True, 5)
    told = capsys.readouterr()
    assert "free space on this disk" in told.out + told.err
    assert main(["evolve", "--resume", "--run-name", "first", *settings]) == 0
    assert world.predictions().keys() == set(FEW)
    assert world.server.repeated() == []
