"""Walking and removing folders that a tool may have nested without end.

Python's own walks recurse once per level, and no path longer than 4,096 bytes can be opened: both would let a tool
stop its host, or hide from it, with `mkdir d; cd d` in a loop.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

MAX_DEPTH = 100
MAX_PATH_BYTES = 2_000
"""Beyond these, below the folder that is walked, nothing is looked at and nothing is kept."""


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """os.walk that goes no deeper than MAX_DEPTH. What is deeper still stands in the last level's folders."""
    for where, folders, names in os.walk(top):
        yield where, folders, names
        if too_deep(where, top):
            folders.clear()


def fwalk(top: Path) -> Iterator[tuple[str, list[str], list[str], int]]:
    """os.fwalk, which no exchanged link leads astray, with the same end as `walk`."""
    for where, folders, names, descriptor in os.fwalk(top, follow_symlinks=False):
        yield where, folders, names, descriptor
        if too_deep(where, top):
            folders.clear()


def too_deep(where: str, top: Path) -> bool:
    """Whether folders in `where` are not entered."""
    below = os.fsencode(where)[len(os.fsencode(top)) :]
    return below.count(b"/") >= MAX_DEPTH or len(below) > MAX_PATH_BYTES


def remove(name: str | Path, *, within: int | None = None) -> None:
    """Remove a folder however deep; `within` is the open folder that holds it. What cannot be removed stays."""
    try:
        shutil.rmtree(name, ignore_errors=True, dir_fd=within)
    except RecursionError:
        here = None if within is None else f"/proc/self/fd/{within}"
        subprocess.run(["rm", "-rf", "--", str(name)], cwd=here, stderr=subprocess.DEVNULL, check=False)
