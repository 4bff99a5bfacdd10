"""A few processes for the tasks of a batch: each takes its share, and what ends one of them ends no other's tasks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from habilis import Evolution
from habilis.config import load_settings
from habilis.core.errors import PlaceError, UserError
from habilis.core.events import Event
from habilis.core.types import Task
from habilis.curation.ledger.reports import Finished
from habilis.rundir import RunDir
from habilis.testing import Fault
from habilis.testing.faults import SeenRequest
from habilis.training.runners import Job
from habilis.training.runners.program import Death
from habilis.training.runners.workers import WorkersRunner

from .conftest import World, processes_below
from .doubles import QUESTIONS

NOTICE = {"kind": "notice", "text": "at work"}


class Program:
    """A process that the test speaks for: what it was told, and what it says."""

    def __init__(self, number: int, first: Mapping[str, Any]) -> None:
        self.number, self.told = number, [dict(first)]
        self.killed = False
        self._said: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._death = Death(0, b"")

    @property
    def tasks(self) -> dict[str, int]:
        """The numbers of the tasks that it was given, by their ids."""
        return {said["job"]["task"]["id"]: said["start"] for said in self.told if "start" in said}

    def speak(self, **what: Any) -> None:
        self._said.put_nowait(json.dumps(what).encode())

    def finish(self, task: str) -> None:
        end = Finished(task_id=task, status="answered", folder="f", seconds=1.5)
        self.speak(ended=end.model_dump(mode="json"), of=self.tasks[task])

    def die(self, code: int = -9, printed: bytes = b"") -> None:
        self._death = Death(code, printed)
        self._said.put_nowait(None)

    def say(self, said: Mapping[str, Any]) -> None:
        self.told.append(dict(said))

    async def lines(self) -> AsyncIterator[bytes]:
        while (line := await self._said.get()) is not None:
            yield line

    async def begun(self) -> None: ...

    async def memory_bytes(self) -> int:
        return 0

    async def kill(self) -> None:
        if not self.killed:
            self.killed = True
            self.die()

    async def death(self) -> Death:
        return self._death


class Spread:
    """A runner over such processes, and tasks that it runs."""

    def __init__(self, folder: Path, number: int = 2) -> None:
        self.folder, self.programs = folder, list[Program]()
        self.heard: list[tuple[str, str]] = []
        self.ready = asyncio.Event()
        self.ready.set()
        self.runner = WorkersRunner(load_settings(environ={}), number, start=self._start, grace_s=0.05)

    async def _start(self, first: Mapping[str, Any]) -> Program:
        await self.ready.wait()
        self.programs.append(Program(len(self.programs), first))
        return self.programs[-1]

    def begin(self, *names: str) -> list[asyncio.Task[Finished]]:
        return [asyncio.create_task(self.runner.run(self.job(name), self._watch(name))) for name in names]

    async def begun(self, *names: str) -> list[asyncio.Task[Finished]]:
        """Tasks that their processes know of."""
        tasks = self.begin(*names)
        while not all(any(name in program.tasks for program in self.programs) for name in names):
            await asyncio.sleep(0)
        return tasks

    def job(self, name: str) -> Job:
        run = RunDir.at(self.folder / "run")
        return Job(task=Task(id=name, question="?"), run=str(run.path), library=str(self.folder / "lib"), timeout_s=5)

    def _watch(self, name: str) -> Any:
        return lambda event: self.heard.append((name, event.kind))


async def test_tasks_are_spread_and_each_hears_its_own(tmp_path: Path) -> None:
    spread = Spread(tmp_path)
    tasks = await spread.begun("a", "b", "c", "d")
    first, second = spread.programs
    assert sorted([sorted(first.tasks), sorted(second.tasks)]) == [["a", "c"], ["b", "d"]]
    assert first.told[0]["settings"] == second.told[0]["settings"]
    first.speak(event=NOTICE, of=first.tasks["c"])
    for name in "abcd":
        next(program for program in spread.programs if name in program.tasks).finish(name)
    assert [(end.task_id, end.status) for end in await asyncio.gather(*tasks)] == [(n, "answered") for n in "abcd"]
    assert spread.heard == [("c", "notice")]
    await spread.runner.aclose()
    assert first.killed
    assert second.killed


async def test_the_next_task_goes_where_the_fewest_are(tmp_path: Path) -> None:
    spread = Spread(tmp_path)
    _, b, _ = await spread.begun("a", "b", "c")
    second = next(program for program in spread.programs if "b" in program.tasks)
    second.finish("b")
    await b
    await spread.begun("d", "e")
    assert list(second.tasks) == ["b", "d", "e"]


async def test_a_process_that_dies_takes_its_own_tasks_along_and_no_others(tmp_path: Path) -> None:
    spread = Spread(tmp_path)
    a, b, c = await spread.begun("a", "b", "c")
    first, second = spread.programs
    first.die(-11, b"noise\nlibfoo: assertion failed\n")
    for end in (await a, await c):
        assert (end.status, end.result) == ("crashed", None)
        assert end.error == (
            "the task's process ended by signal SIGSEGV before it had a result: libfoo: assertion failed"
        )
    folder = RunDir(tmp_path / "run").task("a")
    assert (folder.read_state(), folder.state_record()["status"]) == ("failed", "crashed")
    (d,) = await spread.begun("d")
    third = spread.programs[2]
    assert list(third.tasks) == ["d"], "another takes its place"
    third.finish("d")
    second.finish("b")
    assert [(await b).status, (await d).status] == ["answered", "answered"]


async def test_a_process_that_was_asked_to_end_leaves_its_tasks_to_a_resume(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)
    (a,) = await spread.begun("a")
    spread.programs[0].die(-15)
    assert (await a).status == "interrupted"


async def test_what_fails_a_process_is_told_of_each_of_its_tasks(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)
    a, b = await spread.begun("a", "b")
    spread.programs[0].speak(failed="out of memory; free some", place=True)
    spread.programs[0].die(1)
    for end in (await a, await b):
        assert (end.status, end.error) == ("environment_error", "out of memory; free some")


async def test_an_end_that_cannot_be_put_on_record_fails_the_place_and_not_the_neighbour(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)
    a, b, c = await spread.begun("a", "b", "c")
    (program,) = spread.programs
    program.speak(failed="no space left", place=True, of=program.tasks["a"])
    program.speak(failed="ValueError: what now", place=False, of=program.tasks["b"])
    program.finish("c")
    with pytest.raises(PlaceError, match="no space left"):
        await a
    assert ((await b).status, (await b).error) == ("crashed", "ValueError: what now")
    assert (await c).status == "answered"


async def test_a_task_that_is_cancelled_is_stopped_alone(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)
    a, b = await spread.begun("a", "b")
    (program,) = spread.programs
    a.cancel()
    while "stop" not in program.told[-1]:
        await asyncio.sleep(0)
    assert program.told[-1] == {"stop": program.tasks["a"]}
    program.speak(failed="stopped", place=False, of=program.tasks["a"])
    with pytest.raises(asyncio.CancelledError):
        await a
    program.finish("b")
    assert (await b).status == "answered"
    assert not program.killed


async def test_a_process_that_does_not_heed_a_stop_is_killed(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)
    (a,) = await spread.begun("a")
    a.cancel()
    with pytest.raises(asyncio.CancelledError):
        await a
    assert spread.programs[0].killed


async def test_an_interrupt_reaches_every_process_those_that_still_start_as_well(tmp_path: Path) -> None:
    spread = Spread(tmp_path)
    await spread.begun("a")
    spread.ready.clear()
    (b,) = spread.begin("b")
    await asyncio.sleep(0)
    spread.runner.interrupt()
    spread.ready.set()
    while not (len(spread.programs) == 2 and "b" in spread.programs[1].tasks):
        await asyncio.sleep(0)
    assert [program.told[-1] for program in spread.programs] == [{"order": "interrupt"}] * 2
    b.cancel()


async def test_where_no_process_can_be_started_the_place_is_told_and_the_next_task_tries_again(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)
    start = spread._start

    async def refused(first: Mapping[str, Any]) -> Program:
        raise OSError(11, "Resource temporarily unavailable")

    spread.runner._start = refused
    with pytest.raises(OSError, match="temporarily"):
        await asyncio.gather(*spread.begin("a"))
    spread.runner._start = start
    (b,) = await spread.begun("b")
    spread.programs[0].finish("b")
    assert (await b).status == "answered"
    await spread.runner.aclose()


async def test_who_watches_and_fails_leaves_no_process_behind(tmp_path: Path) -> None:
    spread = Spread(tmp_path, 1)

    def fails(event: Event) -> None:
        raise RuntimeError("the terminal is gone")

    spread._watch = lambda name: fails  # type: ignore[method-assign]
    (a,) = await spread.begun("a")
    spread.programs[0].speak(event=NOTICE, of=1)
    assert ((await a).status, (await a).error) == ("crashed", "RuntimeError: the terminal is gone")
    assert spread.programs[0].killed
    await spread.runner.aclose()


async def test_your_own_models_stay_in_this_process(world: World) -> None:
    evolution = Evolution(world.settings("evolution.workers=2"), clients=lambda *asked, **more: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(UserError, match=r"only in this process; set evolution\.workers=1"):
        await evolution.run(world.rows("arithmetic"), name="first")


# --- real processes


def forked(parent: int) -> list[int]:
    """The processes that were forked from the template process of this one."""
    found = []
    for child in psutil.Process(parent).children():
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            if any("runners.template" in word for word in child.cmdline()):
                found += [one.pid for one in child.children()]
    return found


@pytest.mark.sandbox
async def test_a_batch_over_two_processes_comes_to_what_one_comes_to(world: World) -> None:
    seen: set[int] = set()
    evolution = world.evolution("evolution.workers=2", "evolution.batch_size=8")
    evolution._watch = lambda task, event: seen.update(forked(os.getpid()))
    training = await evolution.run(world.rows(*QUESTIONS), name="first", base=world.home)
    assert (training.stopped, training.left) == ("done", 0)
    assert world.answers() == world.expected(*QUESTIONS)
    assert world.server.repeated() == []
    assert len(seen) == 2
    assert processes_below(world.home) == {}
    assert forked(os.getpid()) == []


@pytest.mark.sandbox
async def test_a_worker_that_is_killed_loses_no_row(world: World) -> None:
    """What its tasks had paid for is on their tapes; a resume goes on from there."""
    killed: list[int] = []

    def choose(seen: SeenRequest) -> Fault | None:
        if not killed and len(world.server.requests) > 6:
            killed.extend(forked(os.getpid())[:1])
            for number in killed:
                os.kill(number, signal.SIGKILL)
        return None

    world.server.choose = choose
    options = ("evolution.workers=2", "evolution.batch_size=8")
    training = await world.evolution(*options).run(world.rows(*QUESTIONS), name="first", base=world.home)
    assert (training.stopped, len(killed)) == ("failed", 1)
    assert "ended by signal SIGKILL before it had a result" in training.reason
    assert training.left >= 3, "those of the other one finished their step, or more"
    training = await world.evolution(*options).resume(world.runs / "first")
    assert (training.stopped, training.left) == ("done", 0)
    assert world.answers() == world.expected(*QUESTIONS)
    assert len(world.server.repeated()) <= 4, "no more than the replies on their way were asked for again"
