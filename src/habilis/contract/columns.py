"""The columns of a small table, as far as rules need them: what they are called and what stands in them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

READ = 200_000
"""Bytes of a file that are read."""
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 2_000, 60, 60


@dataclass(frozen=True)
class Column:
    """One column: its name, and its cells as text, in order."""

    name: str
    cells: tuple[str, ...]

    @property
    def is_numbering(self) -> bool:
        """Whether it numbers the rows: one after another, or by signs such as `A-17` of which no two are alike."""
        if len(self.cells) < 2 or len(set(self.cells)) < len(self.cells):
            return False
        if not self.is_numeric:
            return all(re.search(r"\d", cell) for cell in self.cells) and not self.is_dated
        return all(_as_number(b) - _as_number(a) == 1 for a, b in pairwise(self.cells))

    @property
    def is_naming(self) -> bool:
        """Whether each row has a name of its own in it."""
        return not self.is_numeric and len(set(self.cells)) == len(self.cells)

    @property
    def is_dated(self) -> bool:
        return all(re.match(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}:\d\d", cell) for cell in self.cells if cell)

    @property
    def is_numeric(self) -> bool:
        return bool(self.cells) and all(_is_number(cell) for cell in self.cells if cell)


def columns_of(path: Path, *, head: bool = False) -> tuple[Column, ...]:
    """The columns of a table in JSON or with delimiters; nothing for what is none, cannot be read or is too long.

    `head`: of a table with delimiters that is too long, the columns of its first part.
    """
    try:
        return _read(path, path.stat().st_mtime_ns, head)
    except (OSError, ValueError, csv.Error, RecursionError):
        return ()


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, head: bool) -> tuple[Column, ...]:
    with path.open("rb") as file:
        raw = file.read(READ + 1)
    whole = len(raw) <= READ
    if not (whole or head):
        return ()
    text = (raw if whole else raw[: raw.rfind(b"\n") + 1]).decode("utf-8-sig")
    if text.lstrip()[:1] in ("[", "{"):
        rows = list(_objects(json.loads(text)))[:MOST_ROWS]
    else:
        rows = list(_lines(text))[:MOST_ROWS]
    names = list(dict.fromkeys(name for row in rows for name in row))[:MOST_COLUMNS]
    return tuple(Column(name, tuple(row.get(name, "") for row in rows)) for name in names)


def _objects(data: Any) -> Iterator[dict[str, str]]:
    """The objects of a document that hold values, wherever they stand."""
    if isinstance(data, list):
        for item in data:
            yield from _objects(item)
    elif isinstance(data, dict):
        row = {name: _cell(value) for name, value in data.items() if not isinstance(value, dict | list)}
        if row:
            yield row
        for value in data.values():
            yield from _objects(value)


def _lines(text: str) -> Iterator[dict[str, str]]:
    head = text.partition("\n")[0]
    delimiter = max(",;\t|", key=head.count)
    names = next(csv.reader([head], delimiter=delimiter), [])
    if len(names) > 1 and all(name.strip() for name in names):
        for row in csv.DictReader(io.StringIO(text), delimiter=delimiter):
            yield {name.strip(): _cell(value) for name, value in row.items() if name and isinstance(value, str)}


def _cell(value: Any) -> str:
    return (value.strip() if isinstance(value, str) else json.dumps(value))[:LONGEST_CELL]


def _as_number(text: str) -> float:
    return float(text.replace(",", ".") or "nan")


def _is_number(text: str) -> bool:
    try:
        _as_number(text)
    except ValueError:
        return False
    return True
