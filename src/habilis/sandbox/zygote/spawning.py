"""The host's end of the zygote (see this room): starts it, renews it, has it fork, and watches what it made."""

from __future__ import annotations

import asyncio
import atexit
import errno
import json
import logging
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from habilis.sandbox.inside import program
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, compiled, python
from habilis.sandbox.processes.pipes import Pipes, unnamed_file
from habilis.sandbox.processes.process import Tree, uncancelled
from habilis.sandbox.processes.walls import HOST_NAME
from habilis.sandbox.processes.watching import children_of, tree_memory

logger = logging.getLogger(__name__)
MOST_SPAWNS = 200
"""Forks after which a zygote is renewed: so many tasks at most share places in memory."""
GRACE_S, START_S, BUSY_S = 6.0, 30.0, 0.005
_FULL = (errno.EAGAIN, errno.ETOOMANYREFS, errno.ENOBUFS)
"""What the kernel says where more is asked at once than may wait in a socket."""
_READ_AT_START = ("PYTHON", "PYDANTIC_", "LD_", "LC_", "LANG", "TZ", "MALLOC_", "GLIBC_")
"""How the names begin of variables that an interpreter and its libraries read as they start."""
_SPAWN = b"spawn 1\n"
_DIGITS = 10
_MACHINE = ("sysname", "nodename", "release", "version", "machine")
_HERE = Path(__file__).parent
_OURS = ("zygote", "newborn", "mounting")
_INSIDE = ("server", "confine", "guest", "domains", "rooms", "rehearsal", "sprouting")


class ZygoteGone(OSError):
    """Nothing was made: the zygote has ended, or it cannot fork."""


class Zygote:
    """One zygote. `packages`: the folders that it has loaded Pydantic from."""

    def __init__(self, packages: tuple[Path, ...]) -> None:
        self.packages, self.spawns, self.retired = packages, 0, False
        self._living, self._counting = 0, threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        with theirs, os.fdopen(unnamed_file(self._setup(theirs)), "rb") as setup:
            try:
                self.process = subprocess.Popen(
                    [str(python()), *FLAGS, str(compiled(_HERE / "zygote.py")), str(setup.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=FIXED_VARIABLES,
                    cwd="/",
                    pass_fds=[theirs.fileno(), setup.fileno()],
                    start_new_session=True,
                )
            except BaseException:
                self._control.close()
                raise

    def _setup(self, control: socket.socket) -> bytes:
        given = {
            "parent": os.getpid(),
            "control": control.fileno(),
            "own_user": os.geteuid() != 0,
            "machine": [HOST_NAME if name == "nodename" else getattr(os.uname(), name) for name in _MACHINE],
            "programs": {name: str(path) for name, path in _programs().items()},
            "packages": [str(path) for path in self.packages],
        }
        return json.dumps(given).encode("ascii")

    @property
    def usable(self) -> bool:
        return not self.retired and self.process.poll() is None

    async def ask(self, channel: socket.socket, spec: bytes, pipes: Pipes) -> None:
        """Have it fork. Raises ZygoteGone."""
        self.spawns += 1
        given = unnamed_file(spec)
        handed = [channel.fileno(), given, pipes.request, pipes.reply, pipes.printed]
        try:
            while not self._asked(handed):  # noqa: ASYNC110 - nobody tells when there is room again
                await asyncio.sleep(BUSY_S)
        finally:
            os.close(given)

    def _asked(self, handed: Sequence[int]) -> bool:
        """Whether it was told; not while too many ask at once."""
        try:
            socket.send_fds(self._control, [_SPAWN], handed)
        except OSError as error:
            if error.errno in _FULL:
                return False
            self.retire()  # one that was killed may still be on its way out, and looks alive
            raise ZygoteGone(error.errno, f"the zygote does not listen: {error.strerror}") from None
        return True

    def retire(self) -> None:
        """Ask it no more; it ends with the last that it made."""
        self.retired = True
        self.count(0)

    def count(self, more: int) -> None:
        """So many more of what it made are there. Loops of several threads may ask one zygote."""
        with self._counting:
            self._living += more
            over = self.retired and not self._living
        if over:
            self.end()

    def end(self) -> None:
        """End it, and all that it made."""
        self._control.close()
        self.process.kill()
        self.process.wait()


class Nursery:
    """The zygotes of this process: one that is asked, and older ones whose forks still run.

    After `most_spawns` forks, or where it makes none within `start_s` (seconds), another takes its place."""

    def __init__(self, most_spawns: int = MOST_SPAWNS, start_s: float = START_S) -> None:
        self._most, self._start_s, self._lock, self._pid = most_spawns, start_s, threading.Lock(), os.getpid()
        self._zygote: Zygote | None = None
        self._older: list[Zygote] = []
        self._theirs: list[Zygote] = []

    def zygote(self, packages: tuple[Path, ...]) -> Zygote:
        """The zygote that has loaded Pydantic from `packages` (any, if there are none). Raises OSError."""
        with self._lock:
            if self._pid != os.getpid():  # a fork of the host has no part in its zygote, and lets it be
                self._theirs += [*self._older, *([self._zygote] if self._zygote else [])]
                self._zygote, self._older, self._pid = None, [], os.getpid()
            now = self._zygote
            if now is not None and now.usable and now.spawns < self._most and packages in ((), now.packages):
                return now
            if now is not None:
                now.retire()
                self._older = [one for one in (*self._older, now) if one.process.returncode is None]
            self._zygote = Zygote(packages)
            return self._zygote

    @property
    def number(self) -> int | None:
        """The process number of the zygote that is asked, if there is one."""
        return None if self._zygote is None else self._zygote.process.pid

    def close(self) -> None:
        """End them all."""
        if self._pid != os.getpid():
            return
        for one in (*self._older, *([self._zygote] if self._zygote else [])):
            one.end()
        self._zygote, self._older = None, []

    async def spawn(self, spec: bytes, packages: Sequence[Path], pipes: Pipes) -> Tree:
        """Have a process made that is what `spec` says (see `newborn`): a `Start`. Raises OSError."""
        try:
            try:
                tree = await self._spawned(spec, packages, pipes)
            except ZygoteGone as error:  # it was killed, say: the next one is another
                logger.info("once more: %s", error)
                tree = await self._spawned(spec, packages, pipes)
        except BaseException:
            pipes.close_childs()
            pipes.close_ours()
            raise
        pipes.close_childs()
        os.close(pipes.about_out)  # the zygote says itself what it made
        return tree

    async def _spawned(self, spec: bytes, packages: Sequence[Path], pipes: Pipes) -> Tree:
        """The same once, which leaves `pipes` alone."""
        zygote = self.zygote(tuple(packages[-1:]))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        tree = Offspring(zygote, ours)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._start_s):
                    with theirs:
                        await zygote.ask(theirs, spec, pipes)
                    await asyncio.wait([tree.born])
            if not tree.born.done():
                zygote.retire()
                tree.let_go()
                raise ZygoteGone(errno.ETIMEDOUT, "the zygote is stuck")
            if refusal := tree.born.result():
                raise ZygoteGone(errno.ECHILD, refusal)
        except BaseException:
            await uncancelled(tree.end())
            raise
        return tree


@lru_cache(maxsize=1)
def nursery() -> Nursery:
    """The nursery of this process, which ends with it."""
    made = Nursery()
    atexit.register(made.close)
    return made


def serves(packages: Sequence[Path], env: Mapping[str, str]) -> bool:
    """Whether an interpreter with `packages` and `env` would be as the zygote's forks are; else each has to start."""
    told = {name: value for name, value in env.items() if name.startswith(_READ_AT_START)}
    return told.items() <= FIXED_VARIABLES.items() and _fit(tuple(packages))


@lru_cache(maxsize=64)
def _fit(packages: tuple[Path, ...]) -> bool:
    """Whether what a zygote loads from the last of `packages` is what an interpreter would find in all of them."""
    if len(packages) < 2:
        return True
    base = {path.name for path in packages[-1].glob("*.dist-info")}
    names = {name.split("-")[0] for name in base}
    return all(
        path.name in base
        for folder in packages[:-1]
        for path in folder.glob("*.dist-info")
        if path.name.split("-")[0] in names
    )


class Offspring(Tree):
    """A tree that a zygote made. `born` is done with the reason when there is none, "" when there is."""

    def __init__(self, zygote: Zygote, channel: socket.socket) -> None:
        self._zygote, self._channel = zygote, channel
        self._loop = asyncio.get_running_loop()
        self.born: asyncio.Future[str] = self._loop.create_future()
        self._exited: asyncio.Future[int] = self._loop.create_future()
        self._handle: int | None = None
        self._open = True
        zygote.count(1)
        self._loop.add_reader(channel.fileno(), self._hear)

    @property
    def returncode(self) -> int:
        return os.waitstatus_to_exitcode(self._exited.result()) if self._exited.done() else -signal.SIGKILL

    def memory(self) -> int:
        if self.inside is None:
            return 0
        return sum(tree_memory(pid) for pid in children_of(self.inside))  # the first itself is the zygote's, shared

    def when_exited(self, told: Callable[[], None]) -> None:
        self._exited.add_done_callback(lambda _: told())

    async def end(self) -> None:
        if not self._open:
            return
        if not self._exited.done():
            with suppress(OSError):
                self._channel.shutdown(socket.SHUT_WR)
            await asyncio.wait([self._exited], timeout=GRACE_S)
        if self._handle is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            ended = asyncio.Event()
            self._loop.add_reader(self._handle, ended.set)
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_S):
                    await ended.wait()
            self._loop.remove_reader(self._handle)
        self.let_go()

    def let_go(self) -> None:
        """Close what is open, which ends it; nobody waits for that."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._channel.fileno())
            self._channel.close()
            if self._handle is not None:
                os.close(self._handle)
            self._zygote.count(-1)

    def _hear(self) -> None:
        """Take what the zygote says. Whoever says anything else is none, and is ended."""
        try:
            message, given, _, _ = socket.recv_fds(self._channel, 64, 1)
        except BlockingIOError:
            return
        except OSError:
            message, given = b"", []
        verb, _, word = message.partition(b" ")
        number = int(word) if word.isdigit() and len(word) < _DIGITS else 0
        if verb == b"born" and number and given and not self.born.done():
            self.inside, self._handle = number, given[0]
            self.born.set_result("")
            return
        for one in given:
            os.close(one)
        if verb == b"refused" and number and not self.born.done():
            self._tell(f"the zygote cannot fork: {os.strerror(number)}", 0)
        elif verb == b"born" and number and not given and not self.born.done():
            self._tell("no descriptor is left for what the zygote made", 0)
        elif verb == b"ended" and word.isdigit() and self.inside is not None:
            self._tell("", number)
        else:
            self.lost = True
            self._zygote.process.kill()
            self._zygote.retire()
            self._tell("the zygote has ended", signal.SIGKILL)

    def _tell(self, reason: str, status: int) -> None:
        self._loop.remove_reader(self._channel.fileno())
        if not self.born.done():
            self.born.set_result(reason)
        self._exited.set_result(status)


@lru_cache(maxsize=1)
def _programs() -> dict[str, Path]:
    ours = {name: compiled(_HERE / f"{name}.py") for name in _OURS}
    return ours | {name: compiled(program(name)) for name in _INSIDE}
