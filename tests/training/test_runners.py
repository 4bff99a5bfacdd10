"""The process runner: whatever a task's process does, its end is a typed result and nothing of it stays."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from habilis.config import load_settings
from habilis.core.types import Task
from habilis.rundir import RunDir
from habilis.testing import Fault
from habilis.testing.faults import SeenRequest
from habilis.training.runners import Job, ProcessRunner
from habilis.training.runners.process import first_line
from habilis.training.runners.program import LocalProgram

from .conftest import World, processes_below

CHILD = Path(__file__).parent / "misbehaving.py"


class Signal:
    """A time limit, or a look at memory, that comes when the test says so."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        await self.event.wait()


def job(folder: Path, kind: str) -> Job:
    run = RunDir.at(folder / "run")
    return Job(task=Task(id=kind, question="?"), run=str(run.path), library=str(folder / "library"), timeout_s=5)


def runner(folder: Path, **options: Any) -> ProcessRunner:
    settings = load_settings(overrides=["evolution.task_memory_mb=128"], environ={})
    options.setdefault("sleep", Signal())
    command = [sys.executable, str(CHILD), str(folder)]
    return ProcessRunner(
        settings, start=lambda job: LocalProgram.start(first_line(job, settings), command), grace_s=0.2, **options
    )


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("exits", "ended with exit code 7 before it had a result: libfoo: assertion failed"),
        ("segfaults", "ended by signal SIGSEGV before it had a result"),
        ("babbles", "ended with exit code 0 before it had a result"),
    ],
)
async def test_a_process_that_dies_is_a_crashed_task(tmp_path: Path, kind: str, error: str) -> None:
    end = await runner(tmp_path).run(job(tmp_path, kind), lambda event: None)
    assert (end.status, end.result, end.absorbable) == ("crashed", None, False)
    assert error in (end.error or "")
    folder = RunDir(tmp_path / "run").task(kind)
    assert (folder.read_state(), folder.state_record()["status"]) == ("failed", "crashed")


async def test_a_process_that_is_deaf_to_everything_ends_at_its_time_limit_with_all_it_started(tmp_path: Path) -> None:
    limit = Signal()
    end = await runner(tmp_path, sleep=limit).run(job(tmp_path, "blocks"), lambda event: limit.event.set())
    assert (end.status, end.result) == ("timed_out", None)
    assert end.error == "the task was ended at its time limit of 5 s"
    assert processes_below(tmp_path) == {}


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is watched on Linux alone")
async def test_a_process_that_eats_memory_is_ended(tmp_path: Path) -> None:
    look = Signal()
    end = await runner(tmp_path, look=look).run(job(tmp_path, "eats"), lambda event: look.event.set())
    assert (end.status, end.error) == ("crashed", "the task took more than 128 MiB of memory")
    assert processes_below(tmp_path) == {}


async def test_a_cancelled_runner_takes_its_process_along(tmp_path: Path) -> None:
    begun = asyncio.Event()
    running = asyncio.create_task(runner(tmp_path).run(job(tmp_path, "blocks"), lambda event: begun.set()))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert processes_below(tmp_path) == {}


REFUSALS = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
    "response_format": "Unsupported parameter: 'response_format' is not supported with this model.",
}


@pytest.mark.slow
@pytest.mark.promise
async def test_what_a_server_refuses_one_process_it_is_not_asked_again_by_the_next(world: World) -> None:
    """Each refusal is a request; with a process for each task they would come again for each."""
    refused: list[str] = []

    def fault(seen: SeenRequest) -> Fault | None:
        field = next((name for name in REFUSALS if name in seen.body), None)
        refused.extend([field] if field else [])
        return Fault("bad_request", text=REFUSALS[field]) if field else None

    world.server.choose = fault
    options = ("evolution.runner=process", "evolution.concurrency=1")
    training = await world.evolution(*options).run(world.rows("arithmetic", "gcd"), name="first", base=world.home)
    assert (training.stopped, world.answers()) == ("done", world.expected("arithmetic", "gcd"))
    assert sorted(refused) == ["max_tokens", "response_format"]
