"""A process in a place that fails, in which one command of Habilis runs.

Arguments: the fault as JSON (`files`: how many may be open; `full_at`: the kind of an event,
and the how many-th of it, with which none may be opened more; `starved_at`: the same for memory;
`uid`: who runs it; `wall_s`: the clock on the wall jumps
by so much), then the words of the command.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import sys
import time
from pathlib import Path

from habilis.cli import main
from habilis.core.events import Event
from habilis.rundir import JsonlSink


def full_at(kind: str, left: int) -> None:
    """Let nothing more be opened from the event of this `kind` on that comes after `left` - 1 others."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    record = JsonlSink.emit

    def emit(self: JsonlSink, event: Event) -> None:
        nonlocal left
        record(self, event)
        left -= event.kind == kind
        with contextlib.suppress(OSError):
            while left == 0:
                os.open(os.devnull, os.O_RDONLY)

    JsonlSink.emit = emit  # type: ignore[method-assign]


def starved_at(kind: str, left: int) -> None:
    """Let there be no memory, to the last small object, from the event of this `kind` on as above."""
    record = JsonlSink.emit
    filling: list[bytearray] = []

    def emit(self: JsonlSink, event: Event) -> None:
        nonlocal left
        record(self, event)
        left -= event.kind == kind
        if left == 0:
            left = -1
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
            size = 1 << 20
            while size > 512:
                try:
                    filling.append(bytearray(size))
                except MemoryError:
                    size //= 2
            del filling[-20:]
            sys.__stderr__.write("no memory from here on\n")

    JsonlSink.emit = emit  # type: ignore[method-assign]


def jumping(by_s: float) -> None:
    """Have the clock on the wall jump to and fro with each look at it."""
    now, looks = time.time, itertools.count()
    time.time = lambda: now() + by_s * (-1, 0, 1)[next(looks) % 3]


if __name__ == "__main__":
    fault = json.loads(sys.argv[1])
    if "files" in fault:
        resource.setrlimit(resource.RLIMIT_NOFILE, (fault["files"],) * 2)
    if "full_at" in fault:
        full_at(*fault["full_at"])
    if "wall_s" in fault:
        jumping(fault["wall_s"])
    if "uid" in fault:
        os.setgroups([])
        os.setgid(fault["uid"])
        os.setuid(fault["uid"])
    if "starved_at" in fault:  # as the command itself, which is watched
        starved_at(*fault["starved_at"])
        sys.argv[1:] = sys.argv[2:]
        sys.exit(main())
    sys.exit(main(sys.argv[2:]))
