"""Runs one confined process tree under watch, without ever blocking the event loop.

Request in, reply out over private descriptors; stdout and stderr are only listened to. Ends the tree at its time
limit, when it says too much, when all of it together takes too much memory or disk (what rlimits, which count single
processes and files, cannot see), and when the caller is cancelled. Returns only when the tree is gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from habilis.core.ports import SandboxExit, SandboxJob, SandboxLimits
from habilis.sandbox.processes.pipes import Ears, Pipes, read_some
from habilis.sandbox.processes.watching import Watch, nodes_memory, tree_memory

GRACE_S = 6.0
LOST = "lost"
"""Why a call ended that was ended by nothing of its own."""
_SIGNAL_BASE = 128
_T = TypeVar("_T")
Command = Callable[[Pipes], Sequence[str]]
"""Makes the command line, given the descriptors that it may name."""


class Tree(ABC):
    """A confined process and all below it."""

    inside: int | None = None
    """The first process of its process namespace, once it is known."""
    lost: bool = False
    """Whether what it was made by was killed under it, and it with that."""

    @property
    @abstractmethod
    def returncode(self) -> int:
        """How it ended, once it has; negative for a signal."""

    @abstractmethod
    def memory(self) -> int:
        """Resident bytes; shared pages count for each process."""

    @abstractmethod
    def when_exited(self, told: Callable[[], None]) -> None:
        """Have `told` called once the process has ended."""

    @abstractmethod
    async def end(self) -> None:
        """Kill what is left and wait until all of the tree is gone."""


Start = Callable[[Pipes], Awaitable[Tree]]
"""Starts a tree with the child's ends of the pipes, and closes those; `about_out` is its own from then on. Where it
raises, all are closed."""


async def run_confined(start: Start, job: SandboxJob, *, scratch: Path | None = None) -> SandboxExit:
    """Run what `start` makes of the pipes.

    `scratch` is a folder besides the workspace that counts against the job's disk limit.

    Raises OSError when the program cannot be started at all, MemoryError when we have none for what it says.
    """
    pipes = Pipes.open(job.request)
    started = time.monotonic()
    tree = await start(pipes)
    ears = Ears(pipes.reply_out, pipes.printed_out, job.limits)
    tree.when_exited(lambda: ears.stop_for(LOST if tree.lost else ""))

    def memory() -> int:
        return tree.memory() + nodes_memory(tree.inside)

    try:
        reason = await until_stopped(ears, job.limits, [job.workspace, *([scratch] if scratch else [])], memory)
    finally:
        await uncancelled(tree.end())
        ears.close()
    return exit_of(ears, tree.returncode, reason, time.monotonic() - started)


async def until_stopped(ears: Ears, limits: SandboxLimits, folders: Sequence[Path], memory: Callable[[], int]) -> str:
    """Wait for the end of a call; why the host ends it, "" when it ended by itself."""
    watching = Watch(ears.stop_for, limits, folders, memory)
    try:
        async with asyncio.timeout(limits.wall_s):
            return await ears.stopped
    except TimeoutError:
        return "time"
    finally:
        watching.cancel()


def exit_of(ears: Ears, returncode: int, reason: str, seconds: float) -> SandboxExit:
    """How a call ended. `returncode` is negative for a signal, as the standard library has it.

    Raises MemoryError when we had none for what the call said."""
    if ears.deaf:
        raise MemoryError
    return SandboxExit(
        reply=bytes(ears.reply) or None,
        returncode=_SIGNAL_BASE - returncode if returncode < 0 else returncode,
        printed=ears.printed.decode("utf-8", "replace"),
        timed_out=reason == "time",
        over_output=reason in ("output", "printed"),
        seconds=seconds,
        stopped=reason,
    )


async def uncancelled(work: Coroutine[None, None, _T]) -> _T:
    """Finish `work` even when the caller is cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


class StartedTree(Tree):
    """A tree whose first process is a child of ours. Over `gate`, if given, it asks once whether we live."""

    def __init__(self, process: subprocess.Popen[bytes], about_out: int, gate: socket.socket | None) -> None:
        self.process = process
        self._about_out, self._gate, self._supervised = about_out, gate, gate is None
        self._about = b""
        self._last: int | None = None
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._alone = asyncio.Event()
        self._loop.add_reader(about_out, self._hear_about)
        if gate is not None:
            self._loop.add_reader(gate, self._answer)
        self._waiting = asyncio.ensure_future(self._wait())

    @classmethod
    def starting(cls, command: Command, job: SandboxJob, *, supervised: bool = False) -> Start:
        """Starts what `command` makes of the pipes. `supervised`: it answers SIGTERM by ending its whole tree; else it
        asks over its standard input whether we live (see `confine`)."""

        async def start(pipes: Pipes) -> Tree:
            return cls._started(command, job, pipes, supervised=supervised)

        return start

    @classmethod
    def _started(cls, command: Command, job: SandboxJob, pipes: Pipes, *, supervised: bool) -> Tree:
        gate: socket.socket | None = None
        try:
            with ExitStack() as childs:
                asking = subprocess.DEVNULL
                if not supervised:
                    gate, asked = socket.socketpair()
                    asking = childs.enter_context(asked).fileno()
                process = subprocess.Popen(
                    list(command(pipes)),
                    stdin=asking,
                    stdout=pipes.printed,
                    stderr=pipes.printed,
                    env={**job.env, "HABILIS_IN": str(pipes.request), "HABILIS_OUT": str(pipes.reply)},
                    cwd="/",
                    pass_fds=pipes.for_child(about=not supervised),
                    start_new_session=True,
                )
        except BaseException:
            pipes.close_childs()
            pipes.close_ours()
            if gate is not None:
                gate.close()
            raise
        pipes.close_childs()
        return cls(process, pipes.about_out, gate)

    @property
    def returncode(self) -> int:
        return int(self.process.returncode)

    def memory(self) -> int:
        return tree_memory(self.process.pid)

    def when_exited(self, told: Callable[[], None]) -> None:
        self._waiting.add_done_callback(lambda _: told())

    async def end(self) -> None:
        if self._supervised and not self._exited.is_set():
            self.process.terminate()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_S):
                    await self._exited.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self._waiting
        if not self._supervised:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_S):
                    await self._alone.wait()
        self._close_gate()
        self._loop.remove_reader(self._about_out)
        if self._last is not None:
            self._forget(self._last)
        os.close(self._about_out)

    async def _wait(self) -> None:
        ended = asyncio.Event()
        handle = self._when_ended(self.process.pid, ended)
        if handle is None:
            await self._loop.run_in_executor(None, self.process.wait)
        else:
            await ended.wait()
            self._forget(handle)
            self.process.wait()
        self._exited.set()

    def _when_ended(self, pid: int, event: asyncio.Event) -> int | None:
        """Set `event` when process `pid` ends; the handle to forget, None where the system has no such thing."""
        try:
            handle = os.pidfd_open(pid)
        except (AttributeError, OSError):
            return None
        self._loop.add_reader(handle, event.set)
        return handle

    def _forget(self, handle: int) -> None:
        self._loop.remove_reader(handle)
        os.close(handle)

    def _answer(self) -> None:
        """Say that we live; also where nobody asks any more, who has ended before."""
        if self._gate is not None:
            with suppress(OSError):
                self._gate.send(b"!")
            self._close_gate()

    def _close_gate(self) -> None:
        if self._gate is not None:
            self._loop.remove_reader(self._gate)
            self._gate.close()
            self._gate = None

    def _hear_about(self) -> None:
        data = read_some(self._loop, self._about_out)
        if data is None:
            return
        self._about += data
        if b"}" in data and self._last is None:
            self.inside = int(json.loads(self._about)["child-pid"])
            self._last = self._when_ended(self.inside, self._alone)
        if data == b"" and self._last is None:  # it never came so far, or is gone already
            self._alone.set()
