"""Kills a host at one exact step of the process that it starts: `stepping.py HOST CHILD STEP GO`.

Takes hold of process CHILD, makes the file GO for it (it becomes the program), and counts: it and all that it starts
stop before and after each system call. Ends process HOST at stop STEP, or where one stops itself, and lets go. Prints
how many stops there were. See ptrace(2): whoever is held goes on when we end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

SEIZE, SYSCALL, INTERRUPT = 0x4206, 24, 0x4207
SYSGOOD, FORK, VFORK, CLONE, EXEC = 1, 2, 4, 8, 16
SYSCALL_STOP, EXECUTED, WALL = signal.SIGTRAP | 0x80, 4, 0x40000000

TIES, WAITS = ("157 0x1 0x9 ", "167 0x1 0x9 "), ("7 0x", "73 0x", "271 0x")
"""prctl(2) and poll(2), on x86-64 and on arm64. Between the two bwrap is tied to its host, and its own child waits for
a word of it: killed there it leaves that one waiting, before anything of a tool has run. We have
no cheap way to close that window:
the wait is inside bwrap. What was not tried: a process of ours around it that heads a process namespace, and the next
run ending what an earlier one left."""

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ask(request: int, pid: int, data: int = 0) -> None:
    """Raises OSError, with the error's number."""
    if libc.ptrace(request, pid, None, data) == -1:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


def is_call(pid: int, calls: tuple[str, ...]) -> bool:
    """Whether a process that is held is about to make one of these calls, or just made it."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/syscall").read_text().startswith(calls)
    return False


def steps(child: int, go: Path, wanted: int) -> int:
    """Go on to stop `wanted`, or to where one stops itself; how many stops there were."""
    ask(SEIZE, child, SYSGOOD | FORK | VFORK | CLONE | EXEC)
    go.touch()
    begun, count, blind = False, 0, False
    ask(INTERRUPT, child)
    while True:
        try:
            pid, status = os.waitpid(-1, WALL)
        except ChildProcessError:
            return count
        if not os.WIFSTOPPED(status):
            continue
        number, event = os.WSTOPSIG(status), status >> 16
        begun = begun or event == EXECUTED
        if number == SYSCALL_STOP and begun:
            count += 1
            if pid == child:
                blind = (blind or is_call(pid, TIES)) and not is_call(pid, WAITS)
        if (count >= wanted and not blind) or (begun and number == signal.SIGSTOP and not event):
            return count
        with suppress(ProcessLookupError):
            ask(SYSCALL, pid, 0 if number == SYSCALL_STOP or event else number)


if __name__ == "__main__":
    host, child, wanted = map(int, sys.argv[1:4])
    reached = steps(child, Path(sys.argv[4]), wanted)
    os.kill(host, signal.SIGKILL)
    state = Path(f"/proc/{host}/stat")
    with suppress(FileNotFoundError, ProcessLookupError):  # who waits for it keeps it; it has ended by then
        while state.read_text().rpartition(")")[2].split()[0] not in "ZX":
            os.sched_yield()
    print(reached, flush=True)
