"""What the verbs share: the library that is meant, JSON or lines, progress, and how a result is awaited."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from habilis.terminal.wording import report_line


def as_json(document: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def plainly(rows: Sequence[Any]) -> list[Any]:
    """Frozen data as JSON-plain data."""
    return [row.model_dump(mode="json") for row in rows]


def lines(texts: Sequence[str]) -> None:
    """Lines on standard output."""
    for text in texts:
        print(report_line(text))


class Progress:
    """How far a long look at many tools has come, on one line of the terminal; nothing where there is none."""

    def __init__(self, total: int, what: str) -> None:
        self._total, self._what, self._done, self._shown = total, what, 0, 0.0
        self._live = sys.stderr.isatty() and total != 1

    def step(self) -> None:
        """One more is done."""
        self.at(self._done + 1, self._total)

    def at(self, done: int, total: int) -> None:
        """So many of so many are done."""
        self._done, self._total = done, total
        now = time.monotonic()
        if self._live and (now - self._shown > 0.1 or self._done == self._total):
            self._shown = now
            print(f"\r{self._what} {self._done:,} of {self._total:,}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._live and self._done:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
