"""Locks on files (flock(2)), all of them: held by one process, let go of by the kernel when it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from habilis.core.errors import UserError
from habilis.rundir.plain import open_plain

_PAUSES_S = (0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.3)


@contextlib.contextmanager
def held(path: Path, refusal: str) -> Iterator[None]:
    """Hold the lock file `path` for this process. Raises `UserError` with `refusal` when another one holds it."""
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
    try:
        if not _hold(descriptor):
            raise UserError(refusal)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[int]:
    """Hold the lock file `path`, waited for: for the length of a few small writes. Gives its descriptor."""
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def take(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file if that can be had now. Closing the file lets go of it."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take_path(path: Path, *, shared: bool = False) -> int | None:
    """A descriptor that holds the lock file `path`, which others may remove; None when somebody else holds it."""
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
    with contextlib.suppress(FileNotFoundError):
        # The one before may have removed the file between our open and our lock: then ours is nobody's mark.
        if take(descriptor, shared=shared) and os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    os.close(descriptor)
    return None


def is_held(path: Path) -> bool:
    """Whether some process holds the lock file `path` now."""
    try:
        descriptor = open_plain(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not take(descriptor, shared=True)
    finally:
        os.close(descriptor)


def _hold(descriptor: int) -> bool:
    """Lock an open file. Tries for a second: a reader of the state (`is_held`) holds it for an instant, and a process
    that was killed is gone from sight some time before the kernel lets go of its locks."""
    for pause_s in _PAUSES_S:
        if take(descriptor):
            return True
        time.sleep(pause_s)
    return take(descriptor)
