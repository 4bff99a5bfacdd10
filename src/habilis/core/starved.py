"""Ends a process that has no memory left, where it would wait for ever for what never comes.

Without memory a thread dies before it can say that it began, and who started it waits for that word (CPython's
`threading.Thread.start` has no limit of time); the event loop loses what a callback was about to say. Neither raises
anything where somebody waits. So a timer of the kernel's looks every few seconds: its handler runs in the main thread,
which is where such waits are, and a wait for a lock lets it (PEP 475).
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
from types import FrameType

from habilis.core.place import NO_MEMORY, memory_left

LOOK_S, LOOKS = 5.0, 3
"""Seconds between looks, and how many without any memory in a row end the process."""
SAID = f"habilis: {NO_MEMORY}\n".encode("ascii")
_START = threading.Thread.start.__code__


def end_when_starved(code: int, look_s: float = LOOK_S, *, fd: int = 2, last: bytes = SAID) -> None:
    """From now on, end this process with `code`, and with `last` written to `fd`, once it had no memory for some looks;
    main thread only.

    A thread that does not begin from one look to the next is a `MemoryError` where it was to be started.
    """
    signal.signal(signal.SIGALRM, _Looks(code, fd, last).look)  # it has to break off a wait for a lock: no siginterrupt
    signal.setitimer(signal.ITIMER_REAL, look_s, look_s)
    sys.unraisablehook = _unraisable
    for name in ("asyncio", "concurrent.futures"):
        logging.getLogger(name).addFilter(_tells_more)
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # later there are no handlers, and a signal would kill


def _tells_more(record: logging.LogRecord) -> bool:
    """Whether a record says more than that there was no memory, which is said at the end, in one line."""
    return not (record.exc_info and isinstance(record.exc_info[1], MemoryError))


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    if not isinstance(lost.exc_value, MemoryError):
        sys.__unraisablehook__(lost)


class _Looks:
    def __init__(self, code: int, fd: int, last: bytes) -> None:
        self._code, self._fd, self._last, self._lacking = code, fd, last, 0
        self._start: int | None = None

    def look(self, number: int, frame: FrameType | None) -> None:
        self._lacking = 0 if memory_left() else self._lacking + 1
        if self._lacking >= LOOKS:
            os.write(self._fd, self._last)
            os._exit(self._code)
        before, self._start = self._start, _thread_start(frame)
        if self._start is not None and self._start == before:
            self._start = None
            raise MemoryError


def _thread_start(frame: FrameType | None) -> int | None:
    """Which start of a thread `frame` waits for; None if for none."""
    while frame is not None and frame.f_code is not _START:
        frame = frame.f_back if frame.f_globals.get("__name__") == "threading" else None
    return None if frame is None else id(frame)
