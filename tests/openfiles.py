"""How many files this process has open: raw descriptors that are forgotten are not missed by anybody else."""

from __future__ import annotations

import gc
from pathlib import Path


def open_files() -> int:
    """Of this process, without those of objects that nobody can reach any more."""
    gc.collect()
    return count()


def count() -> int:
    """The same with them, in microseconds; 0 where it cannot be known."""
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return 0


def held_back(left: list[int]) -> int:
    """How many more are open after the last of at least five rounds than after the second one (the first opens what all
    share), but for one that is closed a moment after its round. A round that forgets one leaves two, or more."""
    assert len(left) >= 5
    return max(0, left[-1] - left[1] - 1)
