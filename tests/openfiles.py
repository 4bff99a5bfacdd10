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
