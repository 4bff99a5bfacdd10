"""Temporary folders, all in one of this process's own, which the next process removes should this one be killed.

A folder whose process lives is known by its lock, which the kernel lets go of at any death; so it is never mistaken,
not even where processes have numbers of their own. One that is being made bears another name until it is locked.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from habilis.rundir.locks import take
from habilis.sandbox.processes.walking import remove

MADE, BEGUN, LOCK = "habilis-", "beginning-habilis-", ".lock"
BEGINNING_S = 3_600.0
"""Seconds after which a folder that was never locked is nobody's."""


class _Own:
    """This process's folder and its lock; a fork of us begins its own."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._pid, self._lock = 0, -1
        self._making = threading.Lock()

    def get(self) -> Path:
        with self._making:
            if self.folder is None or self._pid != os.getpid() or not self.folder.is_dir():
                clear()
                self._make()
            assert self.folder is not None
            return self.folder

    def _make(self) -> None:
        begun = Path(tempfile.mkdtemp(prefix=BEGUN))
        begun.chmod(0o711)  # the sandbox's users reach what is given to them by name
        self._lock = os.open(begun / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        take(self._lock)
        self.folder = begun.rename(begun.with_name(MADE + begun.name.removeprefix(BEGUN)))
        self._pid = os.getpid()

    def leave(self) -> None:
        if self.folder is not None and self._pid == os.getpid():
            with contextlib.suppress(OSError):
                if os.listdir(self.folder) == [LOCK]:  # noqa: PTH208 - else it stays, for the next process to remove
                    (self.folder / LOCK).unlink()
                    self.folder.rmdir()


_own = _Own()
atexit.register(_own.leave)


def new_folder(kind: str) -> Path:
    """A new, empty folder, its name beginning with `kind`. Raises OSError when there is none to be had."""
    return Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=_own.get()))


@contextlib.contextmanager
def temporary(kind: str) -> Iterator[Path]:
    """The same for a block, at whose end it is removed, as far as that is possible."""
    folder = new_folder(kind)
    try:
        yield folder
    finally:
        remove(folder)


@lru_cache(maxsize=1)
def clear() -> None:
    """Remove what killed processes of ours left; what a living one holds stays. Once for each process."""
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as found:
        for entry in found:
            if entry.name.startswith((MADE, BEGUN)):
                with contextlib.suppress(OSError):
                    _clear(entry)


def _clear(entry: os.DirEntry[str]) -> None:
    about = entry.stat(follow_symlinks=False)
    if about.st_uid != os.getuid() or not stat.S_ISDIR(about.st_mode):
        return
    if entry.name.startswith(BEGUN):
        if about.st_mtime < time.time() - BEGINNING_S:
            remove(entry.path)
        return
    lock = os.open(Path(entry.path, LOCK), os.O_RDWR | os.O_NOFOLLOW)
    try:
        if take(lock):  # not while its process lives
            remove(entry.path)
    finally:
        os.close(lock)
