"""Which warm servers run: one for each workspace and environment, few at a time, none for long without work."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

from habilis.core.ports import Sandbox, SandboxJob
from habilis.sandbox.forkserver.warm import WarmServer, serving
from habilis.sandbox.processes.process import uncancelled

logger = logging.getLogger(__name__)
MOST_SERVERS = 4
MOST_IN_PROCESS, SPARED_S = 6, 5.0
"""How many all hosts of a process may have (a batch has a host for each task), and for how long after its last call a
server does not make way for another's. Who gets none runs its calls cold, which costs a task of few calls no more."""
HEAVY_BYTES = 512 << 20
"""Resident memory of all servers together above which those that were idle longest leave."""
IDLE_S, LOOK_S = 300.0, 10.0
"""After how long without a call a server ends, and how often that is looked at."""
AGAIN_S, LATEST_S = 30.0, 600.0
"""How long no server is started after one that did not start; twice as long each time, up to the latest."""
_Key = tuple[Path, tuple[Path, ...]]


@dataclass
class _Place:
    """A server, or the start of one, and the job that it was started for."""

    job: SandboxJob
    starting: asyncio.Task[WarmServer | None]

    @property
    def server(self) -> WarmServer | None:
        """The server, once it runs."""
        return self.starting.result() if self.starting.done() and not self.starting.cancelled() else None

    @property
    def fresh(self) -> bool:
        """Whether calls may still be given to it: it is starting, or takes calls."""
        return not self.starting.done() or (self.server is not None and self.server.usable)


_hosts: WeakSet[Servers] = WeakSet()


class Servers:
    """The warm servers of one host. A server is never shared between workspaces, nor between lists of files.

    Where `sandbox` cannot serve, or a server did not start, there is none: the caller runs the call cold. What kept a
    server from starting may pass (a full disk, a lack of processes), so after `again_s` another start is tried.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        idle_s: float = IDLE_S,
        look_s: float = LOOK_S,
        heavy_bytes: int = HEAVY_BYTES,
        again_s: float = AGAIN_S,
    ) -> None:
        self._sandbox, self._quick = sandbox, bool(getattr(sandbox, "quick", False))
        self._met: set[_Key] = set()
        self._serve: Callable[[SandboxJob], Awaitable[WarmServer]] | None = getattr(sandbox, "serve", None)
        self._idle_s, self._look_s, self._heavy_bytes = idle_s, look_s, heavy_bytes
        self._places: dict[_Key, _Place] = {}
        self._first_pause_s = self._pause_s = again_s
        self._not_before = time.monotonic() if self._serve else math.inf
        self._ending: set[asyncio.Task[None]] = set()
        self._look: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        _hosts.add(self)

    def expect(self, job: SandboxJob, packages: Sequence[Path]) -> None:
        """Calls like `job` will come. Where one of its own is quick, a server is started for the second one alone."""
        if self._quick:
            self._sandbox.expect(packages)  # type: ignore[attr-defined]
        else:
            self.begin(job, packages)

    def begin(self, job: SandboxJob, packages: Sequence[Path]) -> None:
        """Start a server for calls like `job` in the background, unless there is one."""
        key = (job.workspace, tuple(packages))
        place = self._places.get(key)
        if place is not None and place.fresh and place.job.read_only == job.read_only:
            return
        if time.monotonic() < self._not_before:
            return
        if place is not None:
            self._retire(key)
        while len(self._places) >= MOST_SERVERS and (oldest := self._longest_idle()) is not None:
            self._retire(oldest)
        if not self._has_room():
            return
        self._places[key] = _Place(job, asyncio.create_task(self._start(serving(job, packages))))
        if self._look is None:
            self._look = asyncio.get_running_loop().call_later(self._look_s, self._look_after)

    async def server(self, job: SandboxJob, packages: Sequence[Path]) -> WarmServer | None:
        """The server for calls like `job`, waited for while it starts; None when there is none to be had."""
        key = (job.workspace, tuple(packages))
        if self._quick and key not in self._met:
            self._met.add(key)
            return None
        self.begin(job, packages)
        place = self._places.get(key)
        if place is None:
            return None
        if not place.starting.done():
            await asyncio.wait([place.starting])
        return place.server if place.fresh else None

    async def aclose(self) -> None:
        """End all servers, and the calls that still run in them."""
        if self._look is not None:
            self._look.cancel()
            self._look = None
        for place in self._places.values():
            self._later(self._end(place))
        self._places.clear()
        if self._ending:
            await uncancelled(self._ended())

    async def _ended(self) -> None:
        await asyncio.wait(self._ending)

    async def _start(self, job: SandboxJob) -> WarmServer | None:
        assert self._serve is not None
        try:
            server = await self._serve(job)
            server.when_unusable = self._sort_out
            self._pause_s = self._first_pause_s
            return server
        except (OSError, TimeoutError, MemoryError, RuntimeError) as error:  # the last two: no memory, no thread
            self._not_before = time.monotonic() + self._pause_s
            logger.info("no warm server for %g s (%s): each call starts an interpreter", self._pause_s, error)
            self._pause_s = min(2 * self._pause_s, LATEST_S)
            return None

    def _has_room(self) -> bool:
        """Whether this process may have one more server, one that was long idle making way for it."""
        beside = [host for host in _hosts if host._loop is self._loop]
        while sum(len(host._places) for host in beside) >= MOST_IN_PROCESS:
            since = time.monotonic() - SPARED_S
            idle = [(*found, host) for host in beside if (found := host._idle()) and found[0] < since]
            if not idle:
                return False
            _, key, host = min(idle, key=lambda one: one[0])
            host._retire(key)
        return True

    def _longest_idle(self) -> _Key | None:
        found = self._idle()
        return found[1] if found else None

    def _idle(self) -> tuple[float, _Key] | None:
        """Since when the server that was idle longest is so, and which it is."""
        idle = [(p.server.last_used, key) for key, p in self._places.items() if p.server and not p.server.calls]
        return min(idle) if idle else None

    def _weight(self) -> int:
        return sum(place.server.memory for place in self._places.values() if place.server is not None)

    def _sort_out(self) -> None:
        """Let go of servers that take no more calls."""
        for key, place in list(self._places.items()):
            if not place.fresh:
                self._retire(key)

    def _look_after(self) -> None:
        """Let go of servers that nobody has used for long, and of idle ones while all of them weigh too much."""
        since = time.monotonic() - self._idle_s
        for key, place in list(self._places.items()):
            server = place.server
            if server is not None and not server.calls and server.last_used < since:
                self._retire(key)
        while self._weight() > self._heavy_bytes and (oldest := self._longest_idle()) is not None:
            self._retire(oldest)
        loop = asyncio.get_running_loop()
        self._look = loop.call_later(self._look_s, self._look_after) if self._places else None

    def _retire(self, key: _Key) -> None:
        self._later(self._drained(self._places.pop(key)))

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _drained(self, place: _Place) -> None:
        """End a server when the calls that run in it are done."""
        if place.server is not None:
            await place.server.drained()
        await self._end(place)

    async def _end(self, place: _Place) -> None:
        if not place.starting.done():
            place.starting.cancel()
            await asyncio.wait([place.starting])
        if place.server is not None:
            await place.server.aclose()
