"""Tools that are loaded before they are called: seeds. A tool that was called is loaded again at once, behind all of a
call's walls, and its process waits, stopped. Each call of that tool is a process split off from it, which does one call
and ends: nothing goes from a call to the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from habilis.core.ports import SandboxLimits

if TYPE_CHECKING:
    from habilis.sandbox.forkserver.warm import RunningCall, WarmServer

LOAD_S, KEEP_S, PATIENCE_S = 10.0, 60.0, 2.0
"""How long a tool may take to load, how long it is kept, and how long a call waits for one that is being loaded."""
MOST = 1
"""Tools that are kept loaded. Each takes memory, as does the process that waits for the first call of any other."""
AT_ONCE = 32
"""For how many calls at once a seed's limit of processes is made; all that are split off from it inherit it."""


@dataclass(frozen=True)
class Early:
    """A request in two parts: the tool with all that is known before the call, and the call's arguments. `quiet` tells
    whether the tool may be loaded before it is called."""

    tool: bytes
    arguments: bytes
    quiet: Callable[[], bool]


class Seed:
    """A tool that is loaded, or is being loaded. `ready` is done once that is known to have worked, or not."""

    def __init__(self) -> None:
        self.number = 0
        self.call: RunningCall | None = None
        self.ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def settle(self, loaded: bool) -> None:
        if not self.ready.done():
            self.ready.set_result(loaded)


class SeedShelf:
    """The seeds of one server: of the last few tools, one process each."""

    def __init__(self, server: WarmServer) -> None:
        self._server = server
        self._seeds: dict[bytes, Seed] = {}
        self._quiet: dict[bytes, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def seed(self, early: Early, processes: int, *, alone: bool) -> Seed | None:
        """The seed of a tool; None where there is none, or its limit of processes is low.

        A call that comes `alone` has the seed for itself, loaded or not; among many each waits while it loads.
        """
        seed = self._seeds.get(early.tool)
        if seed is None:
            return None
        if alone:
            if seed.call is None or seed.call.ended.done() or processes > seed.call.processes:
                return None
            return self._seeds.pop(early.tool)
        if not seed.ready.done():
            await asyncio.wait([seed.ready], timeout=PATIENCE_S)
        if self._seeds.get(early.tool) is not seed or not seed.ready.done() or not seed.ready.result():
            return None
        if seed.call is None or seed.call.ended.done() or processes > seed.call.processes:
            return None
        self._seeds[early.tool] = self._seeds.pop(early.tool)  # used last, let go of last
        return seed

    def refill(self, early: Early, limits: SandboxLimits) -> None:
        """Have a tool loaded for calls to come."""
        if early.tool not in self._seeds and self._quiet.get(early.tool, True):
            seed = self._seeds[early.tool] = Seed()
            task = asyncio.create_task(self._keep(seed, early, limits))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """End what waits; the server has gone, or is told."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _keep(self, seed: Seed, early: Early, limits: SandboxLimits) -> None:
        """Load the tool, keep it while it is wanted."""
        try:
            if early.tool not in self._quiet:
                self._quiet[early.tool] = await asyncio.to_thread(early.quiet)
            if self._quiet[early.tool] and self._server.usable:
                reason = await self._lived(seed, early, limits)
                self._quiet[early.tool] = reason in ("spent", "enough")
        except ConnectionError:  # the server takes no more calls
            return
        finally:
            seed.settle(loaded=False)
            if self._seeds.get(early.tool) is seed:
                del self._seeds[early.tool]
            if seed.call is not None:
                await self._server.end(seed.number)

    async def _lived(self, seed: Seed, early: Early, limits: SandboxLimits) -> str:
        """Begin, and wait for the end: why it came. `spent`: it did a call itself; `enough`: it was not wanted more."""
        seed.number, seed.call = self._server.begin(early.tool, limits)
        ears = seed.call.ears
        ears.told = lambda: ears.stop_for("loaded") if b"loaded" in ears.reply else None
        reason = await self._server.watched(seed.number, replace(limits, wall_s=LOAD_S))
        if reason != "loaded":
            return reason
        if seed.call.ended.done():
            return "" if seed.call.ended.result() else "spent"
        ears.again()
        seed.call.held = True
        with suppress(OSError):  # the server has gone, which ends the wait
            self._server.tell(f"hold {seed.number}")
        seed.settle(loaded=True)
        for oldest in list(self._seeds.values())[:-MOST]:
            if oldest.call is not None:
                oldest.call.ears.stop_for("enough")
        reason = await self._server.watched(seed.number, replace(limits, wall_s=KEEP_S))
        return "enough" if reason == "time" else reason
