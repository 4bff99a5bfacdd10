"""The program of one task: a process that hears lines and says lines, here or on another machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import habilis
from habilis.config import environment
from habilis.core.masker import MASKER
from habilis.sandbox.backends.probing import findings
from habilis.sandbox.processes.attached import attached
from habilis.training.runners.forks import Streams, forked, prepared
from habilis.training.runners.tree import kill_tree, memory_bytes

PROGRAM = (sys.executable, "-m", "habilis.training.runners.child")
MAX_LINE_BYTES = 64 << 20
_KEPT_BYTES = 4_000
_ASKED_TO_END = {-signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT}


class Death(NamedTuple):
    """How a process ended: its exit code, below zero the signal, and the last of what it printed."""

    code: int
    printed: bytes

    @property
    def asked_for(self) -> bool:
        """Whether somebody asked it to end: whoever ends us asks all that we started as well."""
        return self.code in _ASKED_TO_END

    @property
    def words(self) -> str:
        """How it died, in one line."""
        try:
            how = f"by signal {signal.Signals(-self.code).name}" if self.code < 0 else f"with exit code {self.code}"
        except ValueError:
            how = f"by signal {-self.code}"
        last = MASKER.mended(self.printed.decode("utf-8", "replace").strip().rpartition("\n")[2].strip())
        return f"the task's process ended {how} before it had a result" + (f": {last[:300]}" if last else "")


class TaskProgram(Protocol):
    """A task's process. `LocalProgram` runs on this machine, `NodeProgram` on a node of Ray's."""

    def say(self, said: Mapping[str, Any]) -> None:
        """Send a line; to one that is gone, nothing."""
        ...

    def lines(self) -> AsyncIterator[bytes]:
        """What it says, until it is gone."""
        ...

    async def begun(self) -> None:
        """Returns when it has a place to run: its time is counted from there."""
        ...

    async def memory_bytes(self) -> int:
        """What it takes with all its processes."""
        ...

    async def kill(self) -> None:
        """End it with its whole tree; nothing can refuse."""
        ...

    async def death(self) -> Death:
        """How it ended, once it has. What it left is here then."""
        ...


class LocalProgram:
    """A process of this machine."""

    def __init__(self, number: int, streams: Streams, code: Awaitable[int]) -> None:
        """`number`: the process; `code`: its exit code, once it has ended."""
        self._number, self._streams = number, streams
        self._printed = b""
        self._code = asyncio.ensure_future(code)
        self._errors = asyncio.ensure_future(self._tail(streams.errors))

    @staticmethod
    def prepare() -> None:
        """Have what programs are forked from load all that they need, while something else is done."""
        prepared(_environment())

    @classmethod
    async def start(cls, first: Mapping[str, Any], command: Sequence[str] | None = None) -> LocalProgram:
        """Start the program of a task, or what `command` says. Its first line is `first` with what is known of this
        machine's sandboxes. It ends with us, however we end."""
        fork = await forked(_environment(), MAX_LINE_BYTES) if command is None else None
        program = cls(*fork) if fork else await cls._started(command or PROGRAM)
        program.say({**first, "sandbox": findings()})
        return program

    @classmethod
    async def _started(cls, command: Sequence[str]) -> LocalProgram:
        process = await asyncio.create_subprocess_exec(
            *attached(command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(),
            start_new_session=True,
            limit=MAX_LINE_BYTES,
        )
        assert process.stdin
        assert process.stdout
        assert process.stderr
        return cls(process.pid, Streams(process.stdin.transport, process.stdout, process.stderr), process.wait())

    def say(self, said: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # it is gone; its end says so
            self._streams.told.write(json.dumps(said).encode() + b"\n")

    async def lines(self) -> AsyncIterator[bytes]:
        async for line in self._streams.says:
            yield line
        await self._code
        await asyncio.wait({self._errors}, timeout=1.0)  # a process of its own may hold the pipe

    async def begun(self) -> None:
        """At once."""

    async def memory_bytes(self) -> int:
        return await asyncio.to_thread(memory_bytes, self._number)

    async def kill(self) -> None:
        kill_tree(self._number)
        self._errors.cancel()

    async def death(self) -> Death:
        code = await self._code
        self._streams.told.close()
        return Death(code, self._printed)

    async def _tail(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(1 << 16):
            self._printed = (self._printed + data)[-_KEPT_BYTES:]


def _environment() -> dict[str, str]:
    """Our environment, in which the child finds this very package, installed or not."""
    ours = environment()
    source = str(Path(habilis.__file__).resolve().parents[1])
    paths = [source, *filter(None, [ours.get("PYTHONPATH")])]
    return {**ours, "PYTHONPATH": os.pathsep.join(paths)}
