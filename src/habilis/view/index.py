"""Where the lines of a log begin: counted once, and from there on only what was appended."""

from __future__ import annotations

import functools
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = 1 << 18
_HEAD = 256
_MOST = 64
"""Logs that are remembered."""


@dataclass
class LogIndex:
    """A log of `lines` whole lines in its first `size` bytes. `marks` are some lines of it, with the bytes before them;
    `begun` is when its first event was, None while nobody has looked."""

    lines: int = 0
    size: int = 0
    begun: float | None = None
    marks: list[tuple[int, int]] = field(default_factory=lambda: [(1, 0)])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def grow(self, descriptor: int) -> None:
        """Count what was appended. A log that became shorter, or another one, is counted anew."""
        with self._lock:
            if self.size and os.pread(descriptor, 1, self.size - 1) != b"\n":
                self.lines, self.size, self.marks, self.begun = 0, 0, [(1, 0)], None
            at = self.size
            while block := os.pread(descriptor, _BLOCK, at):
                if found := block.count(b"\n"):
                    self.lines += found
                    self.size = at + block.rindex(b"\n") + 1
                    if self.size - self.marks[-1][1] >= _BLOCK:
                        self.marks.append((self.lines + 1, self.size))
                at += len(block)

    def offset(self, descriptor: int, line: int) -> int:
        """Where line `line` begins, or the end of the whole lines."""
        if line > self.lines:
            return self.size
        passed, at = max(mark for mark in self.marks if mark[0] <= line)
        while block := os.pread(descriptor, _BLOCK, at):
            here = block.count(b"\n")
            if passed + here >= line:
                place = 0
                for _ in range(line - passed):
                    place = block.index(b"\n", place) + 1
                return at + place
            passed, at = passed + here, at + len(block)
        return at


def index_of(path: Path, descriptor: int) -> LogIndex:
    """The lines of the log `path`, open as `descriptor`, as they are now. Raises OSError."""
    now = os.fstat(descriptor)
    index = _index(str(path), now.st_dev, now.st_ino, os.pread(descriptor, _HEAD, 0))
    index.grow(descriptor)
    return index


@functools.lru_cache(maxsize=_MOST)
def _index(path: str, device: int, inode: int, head: bytes) -> LogIndex:
    """An empty index of a log that is known by these; `head` is how it begins."""
    return LogIndex()
