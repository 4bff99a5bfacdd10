"""Signals at any moment of a training: no reply is paid twice, no process stays, and no temporary folder does."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from .. import nursery
from ..runners import RUNNERS, words
from .conftest import World
from .doubles import QUESTIONS

ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
PATIENCE_S = 60.0
WITHIN_S = 2.0
BUSY_S = 28.0
"""What a machine that is busy with other tests takes beside."""


class Training:
    """A training by the command line, that is broken off and gone on with."""

    def __init__(self, world: World, runner: str) -> None:
        self.world, self.runner = world, runner
        self.temporary = world.home / "tmp"
        self.temporary.mkdir()
        rows = [{"id": name, "question": question, "answer": answer} for name, (question, answer) in QUESTIONS.items()]
        (world.home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        world.server.latency_s = 0.15  # so that a signal comes while replies are on their way

    def start(self, name: str) -> Any:
        resume = self.world.training(name).exists()
        what = ["--resume"] if resume else ["--dataset", "rows.jsonl"]
        options = ["--run-name", name, "--json", "--quiet", *words(self.runner)]
        options += ["--set", "evolution.concurrency=2", "--set", "evolution.batch_size=4"]
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": self.world.server.base_url,
            "OPENAI_MODEL": "scripted",
            "TMPDIR": str(self.temporary),
        }
        return nursery.Program(
            [sys.executable, "-m", "habilis", "evolve", *what, *options],
            cwd=self.world.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def broken_off(self, name: str, number: signal.Signals, after: int) -> tuple[int, int]:
        """The exit code of a session that gets a signal when its `after`-th request has come, and how many replies
        were on their way then."""
        server = self.world.server
        before = len(server.requests)
        with self.start(name) as process:
            try:
                came = server.wait_for(before + after, PATIENCE_S)
                assert came or process.poll() is not None, "it hangs"
                family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
                on_their_way = sum(not seen.finished for seen in server.requests[before:])
                process.send_signal(number)
                _, errors = process.communicate(timeout=PATIENCE_S)
                _, alive = psutil.wait_procs(family, timeout=WITHIN_S + BUSY_S)
                assert not alive, f"{number.name}: {[one.cmdline() for one in alive]}"
            finally:
                if process.poll() is None:
                    process.kill()
        assert b"Traceback" not in errors, errors.decode()
        return process.returncode, on_their_way


async def swept(world: World, runner: str, numbers: list[signal.Signals], lot: random.Random) -> None:
    """Each of the signals comes while a training works. One that was done before is followed by another."""
    training, lost, came, name = Training(world, runner), 0, 0, "r1"
    while came < len(numbers):
        number = numbers[came]
        code, on_their_way = await asyncio.to_thread(training.broken_off, name, number, lot.randint(1, 4))
        if code == 0:
            await done(world, training, name, lost)
            lost, name = 0, f"r{came + 2}"
            continue
        came += 1
        assert code == (-9 if number == signal.SIGKILL else 130), number.name
        if number == signal.SIGKILL:
            lost += on_their_way + 1  # what had not reached us is asked again; one more may just have gone out
        else:
            left = [path.name for path in training.temporary.iterdir()]
            assert left == [], f"{number.name} left {left}"
        assert len(world.server.repeated()) <= lost, f"{number.name} at moment {came} lost a reply"
    await done(world, training, name, lost)


async def done(world: World, training: Training, name: str, lost: int) -> None:
    """What became of a training, once it has come to its end: no more than `lost` replies were asked for again."""
    with training.start(name) as process:
        out, errors = await asyncio.to_thread(process.communicate)
    assert process.returncode == 0, errors.decode()
    assert json.loads(out)["stopped"] == "done"
    assert world.answers(name) == world.expected(*QUESTIONS)
    assert len(world.server.repeated()) <= lost
    assert list(training.temporary.iterdir()) == [], "the next start clears what a killed one left"
    world.server.requests.clear()


@pytest.mark.slow
@pytest.mark.parametrize("moments", [pytest.param(4, marks=pytest.mark.promise(long=True)), 30])
@pytest.mark.parametrize("runner", RUNNERS)
async def test_signals_at_many_moments_lose_no_reply_and_leave_nothing(world: World, runner: str, moments: int) -> None:
    numbers = [ENDS[moment % len(ENDS)] for moment in range(moments)]
    await swept(world, runner, numbers, random.Random(moments))


@pytest.mark.slow
@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
@pytest.mark.parametrize("runner", RUNNERS)
async def test_each_signal_again_and_again(world: World, runner: str, number: signal.Signals) -> None:
    await swept(world, runner, [number] * 15, random.Random(number))
