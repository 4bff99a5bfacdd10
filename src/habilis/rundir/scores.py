"""What a run of many tasks answered, and what that was worth: predictions, the rows behind them, scores."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from habilis.rundir.files import atomic_write, read_jsonl
from habilis.rundir.plain import open_plain


class ScoresDir:
    """The files in the folder of a run, `path`, that scoring reads and writes. See `runs/README.md`."""

    def __init__(self, path: Path) -> None:
        self.predictions, self.rows = path / "predictions.jsonl", path / "rows.jsonl"
        self.scores, self.part = path / "scores.jsonl", path / ".scores.part.jsonl"

    def read(self) -> Iterator[dict[str, Any]]:
        """The scores that stand here: of the last time, then those of a scoring that was cut off."""
        yield from read_jsonl(self.scores)
        yield from read_jsonl(self.part)

    @contextlib.contextmanager
    def adding(self) -> Iterator[Callable[[Mapping[str, Any]], None]]:
        """Gives a function that puts one score by, with the kernel when it returns, until `write` has all of them."""
        descriptor = open_plain(self.part, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            if os.fstat(descriptor).st_size:
                os.write(descriptor, b"\n")  # a kill may have left half a line
            yield lambda row: _append(descriptor, _line(row))
        finally:
            os.close(descriptor)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write all scores, whole or not at all."""
        atomic_write(self.scores, b"".join(map(_line, rows)))
        self.part.unlink(missing_ok=True)


def _line(row: Mapping[str, Any]) -> bytes:
    return (json.dumps(row, ensure_ascii=False, default=str) + "\n").encode("utf-8", "backslashreplace")


def _append(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
