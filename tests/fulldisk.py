"""A disk that is full from its n-th write on: at Python's doors to the system, so that every write passes here.

What is counted: bytes written by `os.write` and file objects, files and folders made, renames, what SQLite commits,
and room that is kept for later. What is freed, by removing or shortening a file, can be written again, as on any disk.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from habilis.rundir import ahead

ENTRY = 64
"""Bytes that a new name takes."""
_FOR_WRITING = os.O_WRONLY | os.O_RDWR
_Real = dict[tuple[Any, str], Any]


class FullDisk:
    """The disk of `folder`: full from write number `at` on (counted from 1; 0: never). `refused` counts refusals.

    `shared`: what is freed, others take at once.
    """

    def __init__(self, folder: Path, at: int = 0, *, shared: bool = False) -> None:
        self.writes = self.refused = 0
        self._folder, self._at = f"{folder.resolve()}/", at
        self._free, self._shared = 0, shared
        self._kept: dict[int, int] = {}
        self._real: _Real = {}

    def __enter__(self) -> FullDisk:
        real = self._real
        for module, name, ours in (
            (os, "write", self._write),
            (os, "open", self._open),
            (os, "mkdir", self._named(0)),
            (os, "rename", self._named(1)),
            (os, "replace", self._named(1)),
            (os, "link", self._named(1)),
            (os, "symlink", self._named(1)),
            (os, "unlink", self._unlink),
            (os, "ftruncate", self._ftruncate),
            (os, "close", self._close),
            (io, "open", self._file),
            (builtins, "open", self._file),
            (sqlite3, "connect", self._connect),
            (ahead, "reserve", self._reserve),
        ):
            real[module, name] = getattr(module, name)
            setattr(module, name, ours(name) if name in _MADE else ours)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for (module, name), before in self._real.items():
            setattr(module, name, before)

    def charge(self, size: int, path: object = None) -> None:
        """Take `size` bytes of the disk. Raises OSError once it is full and nothing was freed."""
        self.writes += 1
        if not self._at or self.writes < self._at:
            return
        if size > (0 if self._shared else self._free):
            self.refused += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        self._free -= size

    def holds(self, place: Any) -> bool:
        """Whether `place`, a path or a descriptor, lies on this disk, as a plain file or a folder."""
        try:
            if isinstance(place, int):
                if not stat.S_ISREG(os.fstat(place).st_mode):
                    return False
                place = os.readlink(f"/proc/self/fd/{place}")  # noqa: PTH115
            return os.path.abspath(os.fsdecode(place)).startswith(self._folder)  # noqa: PTH100
        except (OSError, TypeError):
            return False

    # --- the doors

    def _write(self, descriptor: int, data: Any) -> int:
        if self.holds(descriptor):
            size = len(memoryview(data))
            kept = self._kept.get(descriptor, 0)
            self._kept[descriptor] = max(kept - size, 0)
            self.charge(max(size - kept, 0))
        return int(self._real[os, "write"](descriptor, data))

    def _open(self, path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and self.holds(path) and not os.path.lexists(path):
            self.charge(ENTRY, path)
        return int(self._real[os, "open"](path, flags, *more, **named))

    def _named(self, place: int) -> Callable[[str], Callable[..., Any]]:
        def making(name: str) -> Callable[..., Any]:
            def made(*given: Any, **named: Any) -> Any:
                fresh = name != "mkdir" or not os.path.lexists(given[0])
                if fresh and self.holds(given[place]):
                    self.charge(0 if name in ("rename", "replace") else ENTRY, given[place])
                return self._real[os, name](*given, **named)

            return made

        return making

    def _unlink(self, path: Any, **named: Any) -> None:
        held = not named and self.holds(path) and Path(path).lstat().st_size
        self._real[os, "unlink"](path, **named)
        self._free += held or 0

    def _ftruncate(self, descriptor: int, size: int) -> None:
        if self.holds(descriptor):
            self._free += max(os.fstat(descriptor).st_size - size, 0) + self._kept.pop(descriptor, 0)
        self._real[os, "ftruncate"](descriptor, size)

    def _close(self, descriptor: int) -> None:
        self._kept.pop(descriptor, None)
        self._real[os, "close"](descriptor)

    def _reserve(self, descriptor: int, size: int) -> bool:
        if self.holds(descriptor):
            self.charge(size)
            self._kept[descriptor] = size
        return True

    def _file(self, file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
        opened = self._real[io, "open"]
        if not (set(mode) & set("wxa+") and self.holds(file)) or isinstance(file, int):
            return opened(file, mode, buffering, *more, **named)
        if set(mode) & set("wxa") and not os.path.lexists(file):
            self.charge(ENTRY, file)
        raw = _Charged(os.fspath(file), mode.replace("b", "").replace("t", ""))
        raw.disk = self
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *more, **named)

    def _connect(self, path: Any, *more: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._real[sqlite3, "connect"](
            path, *more, **({"factory": _Base} | named if self.holds(path) else named)
        )
        if isinstance(connection, _Base):
            connection.disk = self
        return connection


_MADE = ("mkdir", "rename", "replace", "link", "symlink")


class _Charged(io.FileIO):
    disk: FullDisk

    def write(self, data: Any) -> int:
        self.disk.charge(len(memoryview(data)), self.name)
        return super().write(data) or 0


class _Base(sqlite3.Connection):
    """A connection of SQLite's, to which the disk is full where it is so to everyone."""

    disk: FullDisk

    def executescript(self, script: str, /) -> sqlite3.Cursor:
        self._charge()
        return super().executescript(script)

    def commit(self) -> None:
        if self.in_transaction:
            self._charge()
        super().commit()

    def _charge(self) -> None:
        try:
            self.disk.charge(4096)
        except OSError:
            self.rollback()
            full = sqlite3.OperationalError("database or disk is full")
            full.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise full from None
