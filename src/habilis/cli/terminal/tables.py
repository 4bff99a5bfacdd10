"""Tables for a terminal: as wide as it is, in any script; whole and without colour when somebody else reads."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from habilis.cli.terminal.wording import plain

GAP = "  "
LEAST = 12
"""Columns that the last one keeps, however narrow the terminal is."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """The lines of a table. In `width` columns (None: as many as it takes) the last column is cut, then the first.

    Wide characters count as the two columns that they take.
    """
    cells = [[" ".join(plain(cell).split()) for cell in row] for row in (heads, *rows)]
    columns = [max(columns_of(row[i]) for row in cells) for i in range(len(heads))]
    if width is not None:
        rest = sum(columns[1:-1]) + len(GAP) * (len(columns) - 1)
        last = max(LEAST, min(columns[-1], width - rest - columns[0]))
        columns[0] = max(LEAST, min(columns[0], width - rest - last))
        columns[-1] = max(LEAST, min(columns[-1], width - rest - columns[0]))
    found = []
    for row in cells:
        parts = [fitted(cell, columns[i]) for i, cell in enumerate(row[:-1])]
        last_cell = row[-1] if width is None else cut(row[-1], columns[-1])
        found.append(GAP.join([*parts, last_cell]).rstrip())
    return found


def columns_of(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns, with a mark where it was cut."""
    if columns_of(text) <= width:
        return text
    mark = "…" if (sys.stdout.encoding or "").lower().startswith("utf") else "~"
    taken, used = [], 0
    for character in text:
        used += columns_of(character)
        if used > width - 1:
            break
        taken.append(character)
    return "".join(taken) + mark


def fitted(text: str, width: int) -> str:
    """`text` in exactly `width` columns."""
    short = cut(text, width)
    return short + " " * (width - columns_of(short))


def terminal_width() -> int | None:
    """Columns of the terminal that standard output is; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
