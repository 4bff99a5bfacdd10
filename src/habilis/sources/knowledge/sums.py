"""A checksum beside the file of a store, since SQLite has none of its own: a changed bit is seen before it answers.

Whoever closes the file last puts the sum down, and whoever changes it takes it away first; so a process that was killed
leaves none, and nothing is held against its file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

MOST_BYTES = 256 << 20
"""Of a file that is summed up; a larger one would hold up the start of a task."""


def fits(path: Path) -> bool:
    """Whether `path` is as its sum says; True where there is none, or another process is at work on the file."""
    try:
        told = _beside(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    return _in_use(path) or told == _sum_of(path)


def take_away(path: Path) -> None:
    """Before `path` is changed. Raises OSError."""
    _beside(path).unlink(missing_ok=True)


def put_down(path: Path) -> None:
    """After `path` was closed, where nobody else has it open. Where it cannot be written, there is none."""
    with contextlib.suppress(OSError):
        before = _looks(path)
        if _beside(path).exists() or _in_use(path) or path.stat().st_size > MOST_BYTES:
            return
        found = _sum_of(path)
        aside = path.with_name(f"{path.name}.{os.getpid()}.sum")
        aside.write_text(found, encoding="ascii")
        aside.replace(_beside(path))
        if _in_use(path) or _looks(path) != before:  # somebody began meanwhile
            take_away(path)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.sum")


def _in_use(path: Path) -> bool:
    return path.with_name(f"{path.name}-wal").exists()


def _looks(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_mtime_ns, about.st_size


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
