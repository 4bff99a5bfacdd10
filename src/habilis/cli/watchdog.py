"""Ends a command that was asked to end, by SIGTERM or SIGHUP, and does not, because its loop is stuck.

A handler in Python runs only when the interpreter comes to it, and code in C that never returns keeps it from that.
But the interpreter's own handler, in C, writes each signal's number into a pipe at once (`signal.set_wakeup_fd`). At
its other end waits a small process, the `watcher`. A loop that lives, and waits for replies of models that are on their
way, tells it so and gets ten seconds more. What was recorded so far is on disk, as after any kill, and children
die with their parent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

_WATCHER = Path(__file__).with_name("watcher.py")


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """While the block runs, this process is watched; main thread only. Where that cannot be, it is not."""
    with contextlib.ExitStack() as opened:
        reading, writing = os.pipe()
        opened.callback(os.close, reading)  # kept open, for a pipe that nobody reads is an error to who writes
        opened.callback(os.close, writing)
        watcher = _started(reading)
        os.set_blocking(writing, False)
        before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            opened.close()
            if watcher is not None:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(watcher, 0)


def _started(reading: int) -> int | None:
    """The process that watches this one; None where there is none, on an old kernel, say."""
    try:
        ourselves = os.pidfd_open(os.getpid())
    except (AttributeError, OSError):
        return None
    try:
        # Twice, because 3 and 4 may be these very descriptors: first to where they are in nobody's way.
        far = 64 + max(reading, ourselves)
        moved = [(os.POSIX_SPAWN_DUP2, reading, far), (os.POSIX_SPAWN_DUP2, ourselves, far + 1)]
        placed = [(os.POSIX_SPAWN_DUP2, far, 3), (os.POSIX_SPAWN_DUP2, far + 1, 4)]
        command = [sys.executable, "-I", "-S", str(_WATCHER)]
        return os.posix_spawn(sys.executable, command, {}, file_actions=[*moved, *placed], setsid=True)
    except OSError:
        return None
    finally:
        os.close(ourselves)
