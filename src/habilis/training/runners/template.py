"""The process that the programs of tasks are forked from (Linux): it loads what each of them needs, once, and then only
forks. So a task in a process of its own does not pay for imports.

Its one argument is a socket (SOCK_SEQPACKET). Each message there brings four open files: standard input, output and
error of a program (`child`), and the file to which its exit code is written when it has ended. The reply is the
program's number, 0 where there can be no more. No thread runs here, so that a fork lacks nothing; a program is in a
session of its own and ends with this process, which ends with its parent.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from habilis.config.variables import one_thread_each
from habilis.core.deferring import defer_unasked
from habilis.sandbox.processes.launcher import end_with

PROGRAM = "habilis.training.runners.child"
NEEDED_LATER = (
    "habilis.models.compatible",
    "habilis.models.streaming",
    "habilis.models.structured",
    "habilis.tool_calling.react",
    "habilis.tool_calling.textcalls",
    "jsonschema",
    "httpx",
    "psycopg",
    "tiktoken",
)
"""What a program loads only once its work has begun. One that is not installed is not missed here."""
FILES = 4
MORE_THAN_ONE_THREAD = 3
"""The exit code where some module has started a thread, and nothing can be forked."""


def main() -> int:
    """Fork until nobody asks any more; in a fork, its program's exit code."""
    control = socket.socket(fileno=int(sys.argv[1]))
    defer_unasked()
    with one_thread_each():
        program = importlib.import_module(PROGRAM)
        for name in NEEDED_LATER:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        return MORE_THAN_ONE_THREAD
    gc.collect()
    gc.freeze()  # a collection in a fork would otherwise copy all that they share
    return int(program.main()) if Forks(control).serve() else 0


class Forks:
    """The programs that run, and what is asked over `control`."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._told: dict[int, int] = {}
        """By the number of each program that runs, the file for its exit code."""
        self._hears, self._wakes = os.pipe()
        os.set_blocking(self._wakes, False)

    def serve(self) -> bool:
        """Fork as often as asked. True in a fork; False when the other end is closed and the last program has ended."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes)
        asked = True
        while asked or self._told:
            ready, _, _ = select.select([self._hears, *([self._control.fileno()] if asked else [])], [], [])
            if self._hears in ready:
                os.read(self._hears, 4096)
                self._reap()
            if self._control.fileno() in ready:
                message, files, _, _ = socket.recv_fds(self._control, 16, FILES)
                if not message:
                    asked = False
                elif self._fork(files):
                    return True
        return False

    def _fork(self, files: Sequence[int]) -> bool:
        """Whether this is the fork."""
        parent = os.getpid()
        began, begins = os.pipe()
        try:
            number = os.fork()
        except OSError:  # no more processes, or no memory
            number = 0
            kept: list[int] = []
        else:
            if number == 0:
                self._become(parent, files)
                os.close(began)
                os.close(begins)
                return True
            kept = [files[-1]]
            self._told[number] = files[-1]
        for file in (*files, begins):
            if file not in kept:
                os.close(file)
        os.read(began, 1)  # it has a session of its own then, or is dead: whoever gets its number can end its group
        os.close(began)
        self._control.send(str(number).encode("ascii"))
        return False

    def _become(self, parent: int, files: Sequence[int]) -> None:
        """Leave behind what is the template's, and take the files of the program."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_with(parent)
        os.setsid()
        for number, file in enumerate(files[:3]):
            os.dup2(file, number)
        self._control.close()
        for file in (*files, *self._told.values(), self._hears, self._wakes):
            os.close(file)

    def _reap(self) -> None:
        """Say of each program that has ended how it did."""
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                told = self._told.pop(found[0])
                with contextlib.suppress(OSError):  # nobody wants to know
                    os.write(told, str(os.waitstatus_to_exitcode(found[1])).encode("ascii"))
                os.close(told)


if __name__ == "__main__":
    sys.exit(main())
