"""Watching what a confined process tree takes: all that rlimits, which count single processes and files, cannot see."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from habilis.core.ports import SandboxLimits
from habilis.sandbox.processes.walking import too_deep, walk

WATCH_S = 0.1
NODE_BYTES = 1024
SLACK_S = 0.05
"""Less than by this much no clock is set back: two clocks are not read at one moment."""
Older = frozenset[tuple[int, int, int]]
"""Files that are older than a call, each with its last change."""


class Round:
    """Looks at all that is watched in one event loop, every WATCH_S: hundreds of timers would cost more than that."""

    def __init__(self) -> None:
        self._looks: dict[object, Callable[[], None]] = {}
        self._later: asyncio.TimerHandle | None = None

    def add(self, whose: object, look: Callable[[], None]) -> None:
        """Have `look` called within WATCH_S, and again and again, until it is removed."""
        self._looks[whose] = look
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(WATCH_S, self._go)

    def remove(self, whose: object) -> None:
        self._looks.pop(whose, None)
        if not self._looks and self._later is not None:
            self._later.cancel()
            self._later = None

    def _go(self) -> None:
        loop = asyncio.get_running_loop()
        self._later = loop.call_later(WATCH_S, self._go)
        for look in list(self._looks.values()):
            try:
                look()
            except Exception as error:  # one that cannot be looked at must not keep the others from it
                loop.call_exception_handler({"message": "a call could not be watched", "exception": error})


_ROUNDS: WeakKeyDictionary[asyncio.AbstractEventLoop, Round] = WeakKeyDictionary()


class Watch:
    """Looks at memory and disk now and then, the first time within WATCH_S, until cancelled. Calls `stop_for` with
    `memory` or `disk` when there is more than `limits` allow.

    What a call wrote is told by the time of its last change, which the clock on the `wall` gives it. Where that clock
    is set back, what is older than the call is put down once, and everything else counts.
    """

    def __init__(
        self,
        stop_for: Callable[[str], None],
        limits: SandboxLimits,
        folders: Sequence[Path],
        memory: Callable[[], int],
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._stop_for, self._limits, self._folders, self._memory = stop_for, limits, folders, memory
        self._wall, self._began = wall, wall()
        self._ahead = self._began - time.monotonic()
        self._looked = self._began
        self._older: asyncio.Future[Older] | None = None
        self._room = [free_lately(folder, moment()) for folder in folders]
        self._measuring: asyncio.Task[None] | None = None
        self._round = _ROUNDS.setdefault(asyncio.get_running_loop(), Round())
        self._round.add(self, self._look)

    def cancel(self) -> None:
        self._round.remove(self)
        for work in (self._measuring, self._older):
            if work is not None:
                work.cancel()

    def _look(self) -> None:
        # a single process is held by its own limit; a quarter more leaves that limit the first word
        if self._memory() > self._limits.memory_bytes * 5 // 4:
            self._stop_for("memory")
        wall = self._wall()
        behind = self._ahead + time.monotonic() - wall
        if behind > SLACK_S and self._older is None:
            begun, earliest = self._began, self._looked - behind
            self._older = asyncio.ensure_future(asyncio.to_thread(older, self._folders, begun, earliest))
        self._looked = wall - SLACK_S
        now = zip(self._folders, self._room, strict=True)
        fuller = any(before - free_lately(folder, moment()) > self._limits.disk_bytes // 2 for folder, before in now)
        if fuller and (self._measuring is None or self._measuring.done()):
            self._measuring = asyncio.ensure_future(self._measure())

    async def _measure(self) -> None:
        known = await asyncio.shield(self._older) if self._older is not None else None
        # all folders each time: they often share a disk, and one of them alone must not keep the others from a look
        for folder in self._folders:
            if await asyncio.to_thread(written_since, folder, self._began, known) > self._limits.disk_bytes:
                self._stop_for("disk")


def moment() -> int:
    """The present, as coarse as what all calls of a folder may be told alike."""
    return int(time.monotonic() * 2 / WATCH_S)


@lru_cache(maxsize=64)
def free_lately(folder: Path, at: int) -> int:
    """`free_space`, found out once for every `moment`: hundreds of calls watch the same disk."""
    return free_space(folder)


def free_space(folder: Path) -> int:
    """Bytes free on the disk of `folder`, less a block for each file that exists; 0 when it cannot be read."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0
    return disk.f_bavail * disk.f_frsize + disk.f_ffree * 4096


def older(folders: Sequence[Path], began: float, set_back: float) -> Older:
    """The files below `folders` that were there, as they are, when a call `began`, by a clock that shows `set_back` or
    more since then (both seconds since the epoch): what it dates between that and now was written just now."""
    found: set[tuple[int, int, int]] = set()
    for folder in folders:
        for where, _, names in walk(folder):
            for name in names:
                with suppress(OSError):
                    about = os.lstat(os.path.join(where, name))  # noqa: PTH118
                    if about.st_ctime <= began and not set_back <= about.st_ctime <= time.time():
                        found.add(_state(about))
    return frozenset(found)


def _state(about: os.stat_result) -> tuple[int, int, int]:
    """A file and its last change."""
    return about.st_dev, about.st_ino, about.st_ctime_ns


def written_since(folder: Path, moment: float, known: Older | None = None) -> int:
    """Bytes of the files below `folder` that were changed after `moment` (seconds since the epoch), or that are not
    `known` as they are, where that is given.

    Folders too deep to be looked at count for more than any limit: they hide what they hold.
    """
    total = 0
    for where, folders, names in walk(folder):
        if folders and too_deep(where, folder):
            return sys.maxsize
        for name in names:
            with suppress(OSError):
                found = os.lstat(os.path.join(where, name))  # noqa: PTH118 - hot loop
                if found.st_ctime > moment if known is None else _state(found) not in known:
                    total += found.st_blocks * 512 + 4096
    return total


def beyond_own_limit(root: int) -> bool:
    """Whether process `root`, which its own limit holds, has threads or children, which that limit does not count."""
    try:
        if len(threads_of(root)) > 1:
            return True
        return bool(whole(f"/proc/{root}/task/{root}/children"))
    except OSError:
        return True


def tree_memory(root: int) -> int:
    """Resident bytes of process `root` and all below it; shared pages count for each. 0 without a /proc."""
    if sys.platform != "linux":
        return 0
    page = os.sysconf("SC_PAGE_SIZE")
    total, pending = 0, [root]
    while pending:
        pid = pending.pop()
        try:
            threads = threads_of(pid)
            total += max(resident_pages(f"/proc/{pid}/task/{thread}") for thread in threads[:2]) * page
            for thread in threads:
                pending += map(int, whole(f"/proc/{pid}/task/{thread}/children").split())
        except (OSError, ValueError):
            continue
    return total


def children_of(pid: int) -> list[int]:
    """The children of process `pid`; none where it has ended."""
    try:
        return [int(word) for one in threads_of(pid) for word in whole(f"/proc/{pid}/task/{one}/children").split()]
    except (OSError, ValueError):
        return []


def stirs(root: int, *, wakes: bool = False) -> bool:
    """Whether process `root`, which was stopped, runs again (unless it `wakes` now and then, for a moment, to be split)
    or has children that may run."""
    try:
        state = whole(f"/proc/{root}/stat").rpartition(b")")[2].split()[0]
        if state in (b"R", b"S", b"D") and not wakes:
            return True
        return any(whole(f"/proc/{root}/task/{thread}/children") for thread in threads_of(root))
    except OSError:
        return False


def threads_of(pid: int) -> Sequence[int | str]:
    """The threads of a process. A single one is told by the number of links of their folder, which costs less."""
    folder = f"/proc/{pid}/task"
    return (pid,) if os.stat(folder).st_nlink == 3 else os.listdir(folder)  # noqa: PTH116, PTH208


def whole(file: str) -> bytes:
    """What a small file of /proc holds. Raises OSError."""
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = more = os.read(opened, 1 << 16)
        while more:
            data += (more := os.read(opened, 1 << 16))
        return data
    finally:
        os.close(opened)


@lru_cache(maxsize=16)
def nodes_lately(inside: int | None, at: int) -> int:
    """`nodes_memory`, found out once for every `moment`."""
    return nodes_memory(inside)


def nodes_memory(inside: int | None) -> int:
    """Bytes, roughly, of the files' nodes in the private /tmp and /dev/shm that process `inside` sees: no size limits
    them. 0 where it has none (yet)."""
    total = 0
    for name in ("tmp", "dev/shm"):
        try:
            private = f"/proc/{inside}/root/{name}"
            if inside is None or os.stat(private).st_dev == os.stat(f"/{name}").st_dev:  # noqa: PTH116
                continue
            disk = os.statvfs(private)
        except OSError:
            continue
        total += (disk.f_files - disk.f_ffree) * NODE_BYTES
    return total


def resident_pages(thread: str) -> int:
    """Pages of the process of `thread`, a folder of /proc: none for one that has ended, such as a first thread that
    left its others behind."""
    try:
        return int(whole(f"{thread}/statm").split()[1])
    except (OSError, IndexError):
        return 0
