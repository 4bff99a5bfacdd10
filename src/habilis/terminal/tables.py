"""Tables for a terminal: as wide as it is, in any script; whole and without colour when somebody else reads."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from habilis.terminal.wording import plain

GAP = "  "
KEPT = 30
"""Columns that the last one keeps, which says what the rest is about: others are cut, or go, before it."""
FIRST, LEAST = 16, 12
"""Columns that the first one keeps beside it, unless a table says more; and that both keep, however narrow it is."""


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    *,
    spare: Sequence[str] = (),
    first: int = FIRST,
) -> list[str]:
    """The lines of a table, in `width` columns, or whole in as many as it takes (None).

    Where that is too little, the first column is cut (to `first`), and columns between it and the last one go: those of
    `spare`, then the others from right to left. Wide characters count as the two columns that they take.
    """
    cells = [[" ".join(plain(cell).split()) for cell in row] for row in (heads, *rows)]
    widths = [max(columns_of(row[i]) for row in cells) for i in range(len(heads))]
    shown = list(range(len(heads)))
    if width is not None:
        shown = _fitting(heads, widths, width - min(widths[0], first) - min(widths[-1], KEPT), spare)
        rest = width - _between(widths, shown)
        widths[0] = min(widths[0], max(LEAST, min(first, rest - LEAST), rest - min(KEPT, widths[-1])))
        widths[-1] = min(widths[-1], max(LEAST, rest - widths[0]))
    found = []
    for row in cells:
        parts = [fitted(row[i], widths[i]) for i in shown[:-1]]
        last_cell = row[-1] if width is None else cut(row[-1], widths[-1])
        found.append(GAP.join([*parts, last_cell]).rstrip())
    return found


def _fitting(heads: Sequence[str], widths: Sequence[int], width: int, spare: Sequence[str]) -> list[int]:
    """The columns that stay where `width` is left for those between the first and the last one."""
    between = [i for i in range(1, len(heads) - 1) if widths[i]]
    going = [*(i for name in spare for i in between if heads[i] == name), *reversed(between)]
    shown = [0, *between, len(heads) - 1]
    for i in dict.fromkeys(going):
        if _between(widths, shown) > width:
            shown.remove(i)
    return shown


def _between(widths: Sequence[int], shown: Sequence[int]) -> int:
    """Columns that stand between the first and the last of those `shown`, with all gaps."""
    return sum(widths[i] for i in shown[1:-1]) + len(GAP) * (len(shown) - 1)


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
