"""Each task of a batch in a process of its own: nothing that it does reaches its neighbours.

The child (`habilis.training.runners.child`) gets the job and the settings on its standard input, which stays open: its
end tells the child that we are gone. It says what happens, line by line, on its standard output; the result it writes
into the task's folder, like every task. Its whole tree ends with it. What it learns of its server the next ones
are told as they start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from habilis.core.ports import Purse
from habilis.core.types import Status
from habilis.curation.ledger.reports import Finished
from habilis.models.purse import SpendingPurse
from habilis.models.quirks import PROCESS_QUIRKS
from habilis.training.runners.drawing import Till
from habilis.training.runners.job import GRACE_S, Job, Watch, broken_off, ended, saved_result, too_long
from habilis.training.runners.program import Death, LocalProgram, TaskProgram
from habilis.training.runners.speaking import event_of

if TYPE_CHECKING:
    from habilis.config import Settings

Start = Callable[[Job], Awaitable[TaskProgram]]
STOP_S = 3.0
"""Seconds that a task has for that where the whole run is stopped at once."""
LOOK_S = 0.5
"""Seconds between two looks at a task's memory."""
_MIB = 1 << 20


@dataclass
class _Child:
    """A running program, and what it has said so far: whether its result is written, or why it could not work, and
    whether that was the `place`'s fault."""

    program: TaskProgram
    till: Till
    done: bool = False
    failed: str | None = None
    place: bool = False

    def order(self, what: str) -> None:
        """Have it `interrupt` or `stop` its task; one that is still starting does so when it can."""
        self.program.say({"order": what})


class ProcessRunner:
    """`start` starts the program of a job; `sleep` waits out the time limit, `look` between two looks at memory.

    On `purse` draw all tasks of a run.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        start: Start | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        look: Callable[[float], Awaitable[None]] = asyncio.sleep,
        grace_s: float = GRACE_S,
        purse: Purse | None = None,
    ) -> None:
        self._purse = purse or SpendingPurse()
        self._settings, self._sleep, self._look, self._grace_s = settings, sleep, look, grace_s
        self._start = start or (lambda job: LocalProgram.start(first_line(job, settings)))
        self._open: list[_Child] = []
        self._interrupted = False

    async def run(self, job: Job, watch: Watch) -> Finished:
        started = time.monotonic()
        program = await self._start(job)
        child = _Child(program, Till(self._purse, program.say))
        self._open.append(child)
        if self._interrupted:
            child.order("interrupt")
        listening = asyncio.ensure_future(self._listen(child, watch))
        limit = asyncio.ensure_future(self._time_over(program, job))
        eaten = asyncio.ensure_future(self._memory_over(child))
        stop: Status | None = None
        try:
            await asyncio.wait({listening, limit, eaten}, return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                stop = "timed_out" if limit.done() else "crashed"
                await self._stop(child, listening, politely=stop == "timed_out")
        except asyncio.CancelledError:
            await self._stop(child, listening, politely=True, within_s=min(self._grace_s, STOP_S))
            raise
        finally:
            self._open.remove(child)
            for waiting in (limit, eaten, listening):
                waiting.cancel()
            await program.kill()
            child.till.close()
        return self._told(job, child, stop, await program.death(), time.monotonic() - started)

    def interrupt(self) -> None:
        self._interrupted = True
        for child in self._open:
            child.order("interrupt")

    def _told(self, job: Job, child: _Child, stop: Status | None, death: Death, seconds: float) -> Finished:
        """What a child that is gone came to."""
        if stop == "timed_out":
            return broken_off(job, "timed_out", too_long(job), seconds, saved=child.done)
        if stop == "crashed":
            limit = self._settings.evolution.task_memory_mb
            return broken_off(job, "crashed", f"the task took more than {limit} MiB of memory", seconds, saved=False)
        result = saved_result(job) if child.done else None
        if result is not None:
            return ended(job, result, seconds)
        if child.place and child.failed:
            return broken_off(job, "environment_error", child.failed, seconds, saved=True)
        if death.asked_for and child.failed is None:
            return broken_off(job, "interrupted", "stopped", seconds, saved=False)
        return broken_off(job, "crashed", child.failed or death.words, seconds, saved=False)

    async def _listen(self, child: _Child, watch: Watch) -> None:
        """Take in what the child says until it is gone."""
        async for line in child.program.lines():
            with contextlib.suppress(ValueError):  # the torn line of one that died while it spoke
                if isinstance(said := json.loads(line), dict):
                    self._heard(said, child, watch)

    def _heard(self, said: dict[str, Any], child: _Child, watch: Watch) -> None:
        if "event" in said:
            watch(event_of(said["event"]))
        PROCESS_QUIRKS.take_in(said.get("learnt", ()))
        child.till.heard(said)
        child.done = child.done or bool(said.get("done"))
        child.failed = said.get("failed", child.failed)
        child.place = child.place or bool(said.get("place"))

    async def _time_over(self, program: TaskProgram, job: Job) -> None:
        await program.begun()
        await self._sleep(job.timeout_s)

    async def _memory_over(self, child: _Child) -> None:
        """Returns when the child with all its processes takes more than it may; never where no limit is set."""
        limit = self._settings.evolution.task_memory_mb
        while limit is None or await child.program.memory_bytes() <= limit * _MIB:
            await (self._look(LOOK_S) if limit is not None else asyncio.Event().wait())

    async def _stop(
        self, child: _Child, listening: asyncio.Future[None], *, politely: bool, within_s: float | None = None
    ) -> None:
        """End the child: asked to write down where it stands, then with its whole tree, whatever it does."""
        if politely:
            child.order("stop")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({listening}, timeout=within_s or self._grace_s)
        await child.program.kill()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({listening}, timeout=self._grace_s)


def first_line(job: Job, settings: Settings) -> dict[str, Any]:
    """What the program of a task is told at first."""
    work = {"job": job.model_dump(mode="json"), "settings": settings.model_dump(mode="json")}
    return {**work, "learnt": PROCESS_QUIRKS.told()}
