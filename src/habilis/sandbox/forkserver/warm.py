"""The host's end of a warm server: a process that waits inside the sandbox and forks for each call (see `server`).

Every call has pipes of its own, so nothing of two calls can be mixed up; over the server's socket go only the calls'
numbers and how they ended, and what comes out of there is believed no more than anything else from the sandbox.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.ports import SandboxExit, SandboxJob, SandboxLimits
from habilis.sandbox.forkserver.early import AT_ONCE, MOST, Early, Seed, SeedShelf
from habilis.sandbox.inside import program
from habilis.sandbox.processes.interpreter import FLAGS, compiled, python
from habilis.sandbox.processes.pipes import Ears, Pipes, channels
from habilis.sandbox.processes.process import LOST, Start, Tree, exit_of, uncancelled, until_stopped
from habilis.sandbox.processes.walls import without_private_tmp
from habilis.sandbox.processes.watching import beyond_own_limit, moment, nodes_lately, stirs, tree_memory

if TYPE_CHECKING:
    from habilis.sandbox.ownership.tenancy import Tenancy

START_S = 20.0
GRACE_S = 6.0
SPARE_LIMITS = {"processes": 100_000, "open_files": 4_096, "cpu_s": 1_000_000}
"""Limits of a server itself; each call sets its own, which are lower, on top."""
OWN_PROCESSES = 3
"""What runs beside the calls in the same process namespace: its first process, the server, a fork that waits."""
LOOKS = 3
"""How often a call that was stopped is found awake before it is ended; it may not have been stopped yet."""
_SERVER = program("server")
_PROGRAMS = {n: program(n) for n in ("guest", "domains", "rooms", "rehearsal", "sprouting")}
_MESSAGE_BYTES = 256


class ServerGone(ConnectionError):
    """The call was never started: the server is gone, or takes no more."""


def serving(job: SandboxJob, packages: Sequence[Path]) -> SandboxJob:
    """The job of serving calls like `job`, whose packages lie in `packages`; a back end's `serve` runs it."""
    programs = {name: compiled(path) for name, path in _PROGRAMS.items()}
    setup = {
        "programs": {name: str(path) for name, path in programs.items()},
        "packages": [str(path) for path in packages],
        "limits": {"cpu_s": job.limits.cpu_s, "open_files": job.limits.open_files},
    }
    return replace(
        job,
        argv=[str(python()), *FLAGS, str(compiled(_SERVER))],
        request=json.dumps(setup).encode("ascii"),
        read_only=(*job.read_only, compiled(_SERVER), *programs.values()),
    )


@dataclass
class RunningCall:
    """A call that the server runs: its ears, and what becomes known of its process."""

    ears: Ears
    ended: asyncio.Future[int]
    processes: int
    pid: int | None = None
    asked: bool = False
    refused: bool = False
    held: bool = False
    stirred: int = 0
    splitting: int = 0


class WarmServer:
    """A running server. `usable` says whether it takes calls. Everything of it is gone when `aclose` returns."""

    def __init__(self, job: SandboxJob, tree: Tree, control: socket.socket, scratch: Path | None) -> None:
        self.job, self._tree, self._control, self._scratch = job, tree, control, scratch
        self._leave = AsyncExitStack()
        self._uid: int | None = None
        self._lender: Tenancy | None = None
        self._others: Callable[[], int] | None = None
        self.calls: dict[int, RunningCall] = {}
        self._waiting: dict[int, RunningCall] = {}
        self._shelf = SeedShelf(self)
        self._tools: Counter[bytes] = Counter()
        self.usable = False
        self.when_unusable: Callable[[], None] = lambda: None
        self._idle = asyncio.Event()
        self._idle.set()
        self.last_used = time.monotonic()
        self._count = 0
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._greeting: asyncio.Future[str] = self._loop.create_future()
        self._loop.add_reader(control.fileno(), self._hear)
        tree.when_exited(self._lost)

    @classmethod
    async def start(cls, start: Start, job: SandboxJob, *, scratch: Path | None = None) -> WarmServer:
        """Start `job` by `start` and wait until it is warm. Raises OSError when that fails."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        try:
            pipes = Pipes.open(job.request, reply=theirs.detach())
            tree = await start(pipes)
        except BaseException:
            ours.close()
            raise
        server = cls(job, tree, ours, scratch)
        ears = Ears(pipes.reply_out, pipes.printed_out, job.limits)
        try:
            async with asyncio.timeout(START_S):
                said = await server._greeting
        except BaseException:
            await uncancelled(server.aclose())
            raise
        finally:
            ears.close()
        if said != "ready":
            await server.aclose()
            raise OSError(said or ears.printed.decode("utf-8", "replace").strip()[-200:] or "the server did not start")
        server.usable = True
        return server

    def lent(
        self, leave: AsyncExitStack, uid: int | None, lender: Tenancy, others: Callable[[], int] | None = None
    ) -> None:
        """What to give back when the server has ended; calls run as `uid`, to which `lender` lent the workspace.
        `others` counts the processes that the limit of processes counts besides."""
        self._leave, self._uid, self._lender, self._others = leave, uid, lender, others

    @property
    def seeds(self) -> int:
        """How many tools are loaded, or being loaded, for calls to come."""
        return len(self._waiting)

    @property
    def memory(self) -> int:
        """Resident bytes of the server and all that runs below it; shared pages count for each."""
        return self._tree.memory()

    async def adopt(self, owners: frozenset[int]) -> None:
        """Hand over the workspace again, if it now holds something of an owner besides the calls' uid."""
        if self._uid is not None and self._lender is not None and owners - {self._uid}:
            await self._lender.refresh(self.job.workspace)

    async def give_back(self) -> None:
        """Make what the workspace holds the host's again; the workspace itself stays lent."""
        if self._uid is not None and self._lender is not None:
            await self._lender.reclaim(self.job.workspace)

    async def call(self, request: bytes, limits: SandboxLimits, early: Early | None = None) -> SandboxExit:
        """Have one call done, by a process split off from one that has loaded its tool `early` where there is one.
        Raises `ServerGone` when it was never started; cancellation ends it."""
        if early is None:
            return await self._made(request, limits, None)
        if self._tools[early.tool]:  # many at once of one tool: to load it once for all of them pays
            self._shelf.refill(early, limits)
        self._tools[early.tool] += 1
        ended = None
        try:
            alone = self._tools[early.tool] == 1
            if seed := await self._shelf.seed(early, self._processes(limits, at_once=1), alone=alone):
                with suppress(ServerGone):
                    ended = await self._made(early.arguments, limits, seed, split=not alone)
                    if ended.reply or ended.stopped:
                        return ended  # else its seed ended before it had begun
            ended = await self._made(request, limits, None)
        finally:
            self._tools -= Counter((early.tool,))
            if ended is not None and ended.returncode == 0 and not ended.stopped and not self.calls:
                self._shelf.refill(early, limits)
        return ended

    async def _made(
        self, request: bytes, limits: SandboxLimits, seed: Seed | None, *, split: bool = False
    ) -> SandboxExit:
        """Have one call done, `request` being its arguments where it has a `seed`. Raises `ServerGone`."""
        if not self.usable:
            raise ServerGone
        started = time.monotonic()
        verb = "call" if seed is None else f"{'like' if split else 'as'} {seed.number}"
        number, call = self._begin(self.calls, request, self._processes(limits), limits, verb)
        origin = self._waiting.get(seed.number) if seed is not None else None
        if origin is not None:
            call.ears.printed += origin.ears.printed
            origin.splitting += 1
        self._idle.clear()
        try:
            reason = await self.watched(number, limits)
        finally:
            if origin is not None:
                origin.splitting -= 1
            if not call.ended.done():
                await uncancelled(self._kill(number))
            call.ears.close()
            del self.calls[number]
            self.last_used = time.monotonic()
            if not self.calls:
                self._idle.set()
        if call.refused:
            raise ServerGone
        status = call.ended.result() if call.ended.done() else -1
        if status < 0 and not reason:
            reason = LOST
        returncode = os.waitstatus_to_exitcode(status) if status >= 0 else -9
        ended = exit_of(call.ears, returncode, reason, time.monotonic() - started)
        return ended if self._scratch is None else without_private_tmp(ended, self._scratch)

    def begin(self, request: bytes, limits: SandboxLimits) -> tuple[int, RunningCall]:
        """Begin a seed. Raises `ServerGone`."""
        processes = self._processes(limits, at_once=AT_ONCE) + MOST
        return self._begin(self._waiting, request, processes, limits, "seed")

    def tell(self, message: str) -> None:
        """Raises OSError when the server is gone, or does not listen."""
        self._control.send(message.encode("ascii"))

    async def watched(self, number: int, limits: SandboxLimits) -> str:
        """Wait for the end of a call; why the host ends it, "" when it ended by itself."""
        call = self._known(number)
        assert call is not None
        folders = [self.job.workspace, *([self._scratch] if self._scratch else [])]
        return await until_stopped(call.ears, limits, folders, lambda: self._memory(number))

    async def end(self, number: int) -> None:
        """End a call that waits for arguments that do not come."""
        call = self._waiting[number]
        with suppress(OSError):
            self.tell(f"kill {number}")
        try:
            done, _ = await asyncio.wait([call.ended], timeout=GRACE_S)
            if not done:
                self._unusable()
        finally:  # also where the server is closed meanwhile
            call.ears.close()
            del self._waiting[number]

    async def drained(self) -> None:
        """Wait until no call runs any more; no new one is taken."""
        self.usable = False
        await self._idle.wait()

    async def aclose(self) -> None:
        """End the server and every call that still runs in it."""
        self.usable = False
        if self._closed:
            return
        self._closed = True
        self._loop.remove_reader(self._control.fileno())
        self._control.close()
        await self._tree.end()
        self._lost()
        await self._shelf.aclose()
        await self._leave.aclose()

    def _processes(self, limits: SandboxLimits, at_once: int = 0) -> int:
        """The limit of processes of one more call (of `at_once`, if given): all that run as its uid count."""
        others = self._others() if self._others else OWN_PROCESSES + len(self._waiting)
        calls = len(self.calls)
        return others + (calls + at_once * limits.processes if at_once else (calls + 1) * limits.processes)

    def _begin(
        self, among: dict[int, RunningCall], request: bytes, processes: int, limits: SandboxLimits, verb: str
    ) -> tuple[int, RunningCall]:
        self._count += 1
        number = self._count
        file, ((reply_out, reply), (printed_out, printed)) = channels(request, 2)
        given = [file, reply, printed]
        call = among[number] = RunningCall(Ears(reply_out, printed_out, limits), self._loop.create_future(), processes)
        try:
            socket.send_fds(self._control, [f"{verb} {number} {processes}".encode("ascii")], given)
        except OSError:  # gone, or so many calls that its queue is full
            del among[number]
            call.ears.close()
            raise ServerGone from None
        finally:
            for one in given:
                os.close(one)
        return number, call

    def _known(self, number: int) -> RunningCall | None:
        return self.calls.get(number) or self._waiting.get(number)

    async def _kill(self, number: int) -> None:
        """End a call. A server that does not see to it is ended itself."""
        call = self.calls[number]
        with suppress(OSError):
            self._control.send(f"kill {number}".encode("ascii"))
        done, _ = await asyncio.wait([call.ended], timeout=GRACE_S)
        if not done:
            await self.aclose()

    def _hear(self) -> None:
        try:
            self._hear_all()
        except MemoryError:  # what it said is lost: who waits for a call is told
            for call in (*self.calls.values(), *self._waiting.values()):
                call.ears.deaf = call.ears.deaf or not call.ended.done()
            self._loop.remove_reader(self._control.fileno())
            self._lost()

    def _hear_all(self) -> None:
        while not self._closed:
            try:
                message, given, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 8)
            except BlockingIOError:
                return
            except OSError:
                message, given = b"", []
            try:
                if not message:
                    self._loop.remove_reader(self._control.fileno())
                    self._lost()
                    return
                self._understand(message.decode("ascii", "replace"), given)
            finally:
                for one in given:
                    os.close(one)

    def _understand(self, message: str, given: Sequence[int]) -> None:
        """Take a message from the server; what is none is passed over."""
        verb, _, rest = message.partition(" ")
        if not self._greeting.done():
            self._greeting.set_result(message)
            return
        if verb == "soiled":
            self._unusable()
        numbers = [int(word) for word in rest.split() if word.isascii() and word.isdigit() and len(word) < 10]
        call = self._known(numbers[0]) if numbers else None
        if call is None or call.ended.done():
            return
        if verb == "refused":
            call.refused = True
            self._end(call, 0)
        elif verb == "spent" and numbers[0] in self._waiting:
            call.ears.stop_for("spent")
            self._end(call, 0)
        elif verb == "ended" and len(numbers) == 2:
            self._end(call, numbers[1])
        elif verb == "pid" and given:
            call.pid = pid_of(given[0])

    def _end(self, call: RunningCall, status: int) -> None:
        call.ended.set_result(status)
        call.ears.stop_for("")

    def _lost(self) -> None:
        """The server has ended, and with it all of its calls."""
        self._unusable()
        if not self._greeting.done():
            self._greeting.set_result("")
        for call in (*self.calls.values(), *self._waiting.values()):
            if not call.ended.done():
                self._end(call, -1)

    def _unusable(self) -> None:
        if self.usable:
            self.usable = False
            self.when_unusable()

    def _memory(self, number: int) -> int:
        call = self._known(number)
        if call is None:
            return 0
        if not call.asked:
            call.asked = True
            with suppress(OSError):
                self._control.send(f"pid {number}".encode("ascii"))
        if call.held and call.pid is not None and stirs(call.pid, wakes=call.splitting > 0):
            call.stirred += 1
            if call.stirred == LOOKS:
                call.ears.stop_for("stirred")
        own = tree_memory(call.pid) if call.pid is not None and beyond_own_limit(call.pid) else 0
        return own + nodes_lately(self._tree.inside, moment())


def pid_of(handle: int) -> int | None:
    """The process of a descriptor of a process, by its number in our own namespace."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines():
            if line.startswith("Pid:"):
                found = int(line.split()[1])
                return found if found > 0 else None
    return None
