"""A process with all its descendants: who they are, what memory they take, and their end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections import defaultdict
from pathlib import Path

_PROC = Path("/proc")
_PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, itself left out, the nearest first; none where there is no /proc."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # after the last bracket, since a program's name may hold any character (proc_pid_stat(5))
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                children[int(fields[1])].append(int(entry.name))
    found, queue = [], [pid]
    while queue:
        below = children[queue.pop(0)]
        found += below
        queue += below
    return found


def memory_bytes(pid: int) -> int:
    """What `pid` and its descendants take from the machine: proportional set sizes, shared pages counted once."""
    return sum(map(_pss, [pid, *descendants(pid)]))


def kill_tree(pid: int) -> None:
    """End `pid`, its process group and all its descendants, whatever groups they are in; nothing can refuse."""
    below = descendants(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for one in [pid, *below]:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGKILL)


def _pss(pid: int) -> int:
    try:
        found = _PSS.search((_PROC / str(pid) / "smaps_rollup").read_bytes())
    except OSError:  # gone, or not ours to look at
        return 0
    return int(found[1]) * 1024 if found else 0
