"""Locks on files: held by one process, let go of by the kernel when it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from habilis.core.errors import UserError
from habilis.rundir.plain import open_plain


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


def is_held(path: Path) -> bool:
    """Whether some process holds the lock file `path` now."""
    try:
        descriptor = open_plain(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _hold(descriptor: int) -> bool:
    """Lock an open file. Tries for a moment, since a reader of the state (`is_held`) holds it for an instant."""
    for pause_s in (0.01, 0.03, 0.06, 0.0):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(pause_s)
        else:
            return True
    return False
