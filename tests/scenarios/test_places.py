"""When this machine fails: nobody is blamed for it, nothing is paid twice, and the task goes on after the mend."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from habilis.core.errors import PlaceError
from habilis.core.events import Event
from habilis.core.types import TaskResult

from .. import nursery
from ..fulldisk import FullDisk
from ..marks import PROMISE
from .conftest import LONG, World

MISPLACED = Path(__file__).parent / "misplaced.py"

QUESTION = "What is the average price in euro.csv?"
"""Answered with a tool that is written, fails, and is mended."""
CALLS = 12
"""Of models, that an undisturbed task makes for its answer."""


SHORT = ("What is 2+3*4?", "tools.short_way=true")
"""A question, and a setting with which the least is written for its answer."""
MENDED = (QUESTION, LONG)


async def _whole(world: World, asked: str = QUESTION, way: str = LONG) -> tuple[TaskResult, int]:
    """The result of a run that nothing disturbs, and how many times it writes."""
    with FullDisk(world.home) as disk:
        result = await world.team(way).run(asked, base=world.home, run_dir=world.home / "runs" / "whole")
    assert result.status == "answered"
    return result, disk.writes


async def _filled(world: World, at: int, whole: TaskResult, way: str = LONG) -> bool:
    """A run whose disk is full from write `at` on, and which goes on when there is room again; whether it was ended.

    The last writes find the room that was kept for replies, or are observers' alone.
    """
    asked = whole.question
    run = world.home / "runs" / f"full{at}"
    world.server.requests.clear()
    result: TaskResult | None = None
    told = ""
    with FullDisk(world.home, at) as disk:
        try:
            result = await world.team(way).run(asked, base=world.home, run_dir=run)
        except PlaceError as error:
            told = str(error)
    # not even the question could be kept
    assert result is not None or ("No space left" in told and not world.server.finished), (at, told)
    assert disk.refused or (result is not None and result.status == "answered"), at
    if result is not None and result.status != "answered":
        assert (result.status, "free space" in str(result.error)) == ("environment_error", True), (at, result.error)
        assert not [e for e in result.invocations if e.outcome.error and "space" in e.outcome.error.message], at
    if (run / "tasks" / "task" / "task.json").is_file():
        again = await world.team(way).resume(run)
    else:
        again = await world.team(way).run(asked, base=world.home, run_dir=run)
    assert (again.status, again.final_answer) == ("answered", whole.final_answer), (at, again.error)
    assert world.server.finished == whole.usage.model_calls, (at, "a call was paid again, or a tool was blamed")
    assert again.usage.total_tokens == whole.usage.total_tokens, at
    assert again.tools_made == whole.tools_made, at
    return result is None or result.status != "answered"


@pytest.mark.slow
async def test_on_a_full_disk_a_task_says_so_and_goes_on_when_there_is_room(world: World) -> None:
    whole, writes = await _whole(world)
    assert whole.usage.model_calls == CALLS
    assert await _filled(world, writes // 2, whole)


PROMISED = pytest.mark.promise(long=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "points"),
    [
        pytest.param(SHORT, 20, marks=PROMISED, id="many a write"),
        pytest.param(MENDED, 5, marks=PROMISED, id="a mended tool"),
        pytest.param(SHORT, None, id="every write"),
        pytest.param(MENDED, 30, id="a mended tool, at more of them"),
    ],
)
async def test_a_disk_may_be_full_at_any_write_of_a_task(
    world: World, asked: tuple[str, str], points: int | None
) -> None:
    whole, writes = await _whole(world, *asked)
    assert writes > 80, "the layer sees the writes"
    places = range(1, writes + 1, 1 if points is None else writes // points)
    ended = [await _filled(world, at, whole, asked[1]) for at in places]
    assert sum(ended) > 0.9 * len(places), "the disk was full"


# --- in the middle of a task


class _Breaks:
    """Breaks the place when the `n`-th event of `kind` comes."""

    def __init__(self, kind: str, n: int, fault: Callable[[], object]) -> None:
        self._kind, self._left, self._fault = kind, n, fault

    def emit(self, event: Event) -> None:
        if event.kind == self._kind:
            self._left -= 1
            if self._left == 0:
                self._fault()


@contextlib.contextmanager
def _no_temporary_folder(world: World) -> Iterator[Callable[[], object]]:
    before = tempfile.gettempdir()
    try:
        yield lambda: setattr(tempfile, "tempdir", str(world.home / "gone"))
    finally:
        tempfile.tempdir = before


@contextlib.contextmanager
def _no_sandbox(world: World) -> Iterator[Callable[[], object]]:
    """The program that makes the sandbox is gone, and so is the one of the other kind; no zygote starts."""
    from habilis.sandbox.backends import bubblewrap, landlock
    from habilis.sandbox.zygote import spawning

    walls, command, spawned = bubblewrap.Bubblewrap._walls, landlock.Landlock._policy, spawning.Nursery._spawned
    gone = Path("/no/such/bwrap")

    def broken() -> None:
        bubblewrap.Bubblewrap._walls = lambda *_: [str(gone)]  # type: ignore[method-assign]
        landlock.Landlock._policy = lambda *_: {"uid": -7}  # type: ignore[method-assign]
        spawning.Nursery._spawned = no_zygote  # type: ignore[assignment, method-assign]

    async def no_zygote(*_: object) -> NoReturn:
        raise spawning.ZygoteGone(errno.ECHILD, "none starts")

    try:
        yield broken
    finally:
        bubblewrap.Bubblewrap._walls, landlock.Landlock._policy = walls, command  # type: ignore[method-assign]
        spawning.Nursery._spawned = spawned  # type: ignore[method-assign]


@contextlib.contextmanager
def _no_interpreter(world: World) -> Iterator[Callable[[], object]]:
    """The interpreter that runs tools was taken away, as an upgrade does. What has loaded it goes on; it ends here."""
    from habilis.sandbox.processes.interpreter import python, python_paths
    from habilis.sandbox.zygote.spawning import nursery as zygotes

    before = sys._base_executable

    def becomes(path: str) -> None:
        sys._base_executable = path
        python.cache_clear()
        python_paths.cache_clear()
        zygotes().close()

    try:
        yield lambda: becomes("/no/such/python3")
    finally:
        becomes(before)


MOMENTS = [("model_call_started", 2), ("model_call_ended", 2), ("tool_call_started", 1)]


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize(
    ("place", "moment"),
    [
        *((place, moment) for place in (_no_temporary_folder, _no_sandbox) for moment in MOMENTS),
        (_no_interpreter, MOMENTS[1]),
    ],
)
async def test_a_place_that_fails_in_the_middle_of_a_task_blames_nobody(
    world: World,
    place: Callable[[World], contextlib.AbstractContextManager[Callable[[], object]]],
    moment: tuple[str, int],
) -> None:
    whole, _ = await _whole(world)
    world.server.requests.clear()
    run = world.home / "runs" / "broken"
    with place(world) as fault:
        sink: Any = _Breaks(*moment, fault)
        result = await world.team(LONG, "sandbox.warm=false", sink=sink).run(QUESTION, base=world.home, run_dir=run)
    assert result.status == "environment_error" or (place, result.status) == (_no_temporary_folder, "answered")
    assert [event for event in _events(run) if event["kind"] in ("tool_rejected", "tool_given_up")] == _refusals(whole)
    again = await world.team(LONG).resume(run)
    assert (again.status, again.final_answer) == ("answered", whole.final_answer)
    assert world.server.finished == whole.usage.model_calls
    assert again.usage.total_tokens == whole.usage.total_tokens


def _events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "tasks" / "task" / "events.jsonl").read_text().splitlines()]


def _refusals(whole: TaskResult) -> list[dict[str, Any]]:
    """What a run that nothing disturbs rejects of its writer's work."""
    return [e for e in _events(Path(whole.run_dir)) if e["kind"] in ("tool_rejected", "tool_given_up")]


# --- in a process of its own


def _said(world: World, fault: dict[str, Any], *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`habilis` with `words` in the world's folder, where `fault` holds; a variable that is empty is not set."""
    env = {
        name: value
        for name, value in (world.environment(HABILIS_TOOLS__SHORT_WAY="false") | variables).items()
        if value
    }
    command = [sys.executable, str(MISPLACED), json.dumps(fault), *words]
    return nursery.run(command, cwd=world.home, env=env, text=True, timeout=120)


def _mended(world: World, *, unheard: int = 0) -> None:
    """The task goes on, once the place is as it should be, and costs what a task costs.

    `unheard`: so many replies at most came when there was nothing to keep them in.
    """
    ended = _said(world, {}, "run", "--resume", "--json")
    told = json.loads(ended.stdout)
    assert (ended.returncode, told["status"], told["final_answer"]) == (0, "answered", "1500.5"), ended.stderr
    assert told["usage"]["model_calls"] == CALLS
    assert CALLS <= world.server.finished <= CALLS + unheard


NO_HOME = {"HABILIS_CACHE_DIR": "", "HABILIS_DATA_DIR": "", "HOME": ""}


@pytest.mark.parametrize(
    ("fault", "variables", "advice"),
    [
        pytest.param({"files": 50}, {}, "allow more open files (ulimit -n)", id="no descriptors", marks=PROMISE),
        pytest.param(
            {},
            {"HABILIS_CACHE_DIR": "sales.csv"},
            "sales.csv stands where a folder is needed: remove that file",
            id="cache at a file",
        ),
        pytest.param(
            {},
            {"HABILIS_CACHE_DIR": "/proc/cache"},
            "/proc/cache is gone: make it, or choose another folder",
            id="unwritable cache",
            marks=PROMISE,
        ),
        pytest.param({"uid": 61_000}, NO_HOME, "set HOME or HABILIS_CACHE_DIR", id="no home", marks=PROMISE),
    ],
)
def test_a_place_that_fails_is_named_before_anything_is_paid(
    world: World, fault: dict[str, Any], variables: dict[str, str], advice: str
) -> None:
    if "uid" in fault:
        _open_to_all(world)
    ended = _said(world, fault, "run", QUESTION, **variables)
    assert (ended.returncode, world.server.finished) == (5, 0), ended.stderr
    (line,) = [line for line in (ended.stdout + ended.stderr).splitlines() if advice in line]
    assert "Traceback" not in ended.stderr
    assert line.strip()
    results = list((world.home / "runs").glob("*/tasks/task/result.json"))
    assert all(json.loads(result.read_text())["status"] == "environment_error" for result in results)
    if "uid" not in fault:
        assert len(results) == 1
        _mended(world)


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("moment", MOMENTS)
def test_descriptors_that_run_out_in_the_middle_of_a_task_blame_nobody(world: World, moment: tuple[str, int]) -> None:
    ended = _said(world, {"full_at": moment}, "run", QUESTION)
    assert ended.returncode == 5, ended.stderr
    assert "allow more open files (ulimit -n)" in ended.stderr
    assert "Traceback" not in ended.stderr
    _mended(world)


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize(("moment", "warm"), [(MOMENTS[0], "true"), (MOMENTS[1], "false"), (MOMENTS[2], "true")])
def test_without_memory_a_task_ends_and_goes_on_when_there_is_some(
    world: World, moment: tuple[str, int], warm: str
) -> None:
    """Where a thread dies as it begins, or a reply is heard by nobody, a command waited for ever."""
    ended = _said(world, {"starved_at": moment}, "run", QUESTION, "--quiet", "--set", f"sandbox.warm={warm}")
    begun, *lines = ended.stderr.splitlines()
    assert begun == "no memory from here on", ended.stderr
    assert (ended.returncode, ["out of memory" in line for line in lines]) == (5, [True]), ended.stderr
    _mended(world, unheard=1)


@pytest.mark.slow
@pytest.mark.promise
def test_a_clock_that_jumps_neither_ends_nor_holds_up_a_task(world: World) -> None:
    ended = _said(world, {"wall_s": 86_400.0 * 400}, "run", QUESTION, "--json", "--set", "limits.max_time_s=100")
    told = json.loads(ended.stdout)
    assert (ended.returncode, told["status"], told["final_answer"]) == (0, "answered", "1500.5"), ended.stderr
    assert 0 < told["seconds"] < 100


def _open_to_all(world: World) -> None:
    """Whoever may read and write in the world's folder."""
    if os.getuid():
        pytest.skip("only root becomes somebody else")
    for folder in (world.home, *world.home.parents[:-2]):
        folder.chmod(0o777)
    for path in world.home.iterdir():
        path.chmod(0o777)
