"""Cells that a person reads as numbers and Python does not: `129,90`, `$1,200.00`, `12 %`, or nothing at all.

A writer that sees three rows of a table does not know that the fourth has no number. Told before, it needs no second
attempt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from habilis.contract.columns import Column

MOST_NOTES, MOST_NAMES, LONGEST_NAME = 6, 6, 40
FEWEST, SHARE = 2, 0.6
"""Numbers that a column needs to be one of numbers, and the part of the filled cells that they make up."""
MOST_WORDS = 5
"""Different cells in a column of numbers that are none: with more it is a column of signs, such as tickets."""
_CELL = re.compile(
    r"(?P<minus>-?)(?P<before>[€$£¥]?)\s?(?P<core>-?\d(?:[\d.,' ]*\d)?(?:e[-+]?\d+)?)"
    r"(?P<after>\s?[%€$£¥]|\s[A-Za-zµ°/²³]{1,6})?",
    re.IGNORECASE,
)
_FORMS = {
    "plain": re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE),
    "either": re.compile(r"-?\d{1,3},\d{3}"),  # the other cells of the column tell
    "comma": re.compile(r"-?(?:\d{1,3}(?:[. ']\d{3})+|\d+),\d+"),
    "groups": re.compile(r"-?\d{1,3}(?:[, ']\d{3})+(?:\.\d+)?"),
}


@dataclass(frozen=True)
class _Number:
    cell: str
    form: str
    core: str
    dressed: bool


def odd_cells(columns: Sequence[Column]) -> str:
    """What is odd about the numbers in some columns, for the writer of a tool; empty where nothing is."""
    alike: dict[str, list[str]] = {}
    for column in columns:
        if said := _note(column):
            alike.setdefault(said, []).append(f"`{_line(column.name)[:LONGEST_NAME]}`")
    notes = [f"{_listed(names)} {'has' if len(names) == 1 else 'have'} {said}" for said, names in alike.items()]
    return "; ".join([*notes[:MOST_NOTES], *(["others are odd too"] if len(notes) > MOST_NOTES else [])])


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def _note(column: Column) -> str:
    filled = [cell for cell in column.cells if cell]
    numbers = [number for cell in filled if (number := _number(cell))]
    if len(numbers) < FEWEST or len(numbers) < SHARE * len(filled):
        return ""
    said = [*_commas(numbers), *_dress(numbers)]
    read = {number.cell for number in numbers}
    words = Counter(cell for cell in filled if cell not in read)
    if len(words) > MOST_WORDS:
        return ""
    none = [
        *(["blank"] if len(filled) < len(column.cells) else []),
        *(f'"{_line(word)}"' for word, _ in words.most_common(2)),
    ]
    said += [f"cells without a number ({', '.join(none)})"] if none else []
    return " and ".join(said)


def _line(text: str) -> str:
    return " ".join(text.split())


def _commas(numbers: Sequence[_Number]) -> Iterator[str]:
    """How numbers are written that have more than a point in them."""
    by_form = {form: [number.core for number in numbers if number.form == form] for form in _FORMS}
    if by_form["comma"]:
        core = by_form["comma"][0]
        yield f"a decimal comma ({core} is {re.sub(r'[^-0-9,]', '', core).replace(',', '.')})"
    elif grouped := [*by_form["groups"], *by_form["either"]]:
        yield f"thousands separators ({grouped[0]} is {re.sub(r'[^-0-9.]', '', grouped[0])})"


def _dress(numbers: Sequence[_Number]) -> Iterator[str]:
    """What stands beside numbers."""
    cells = [number.cell for number in numbers if number.dressed]
    if cells:
        yield f"a sign or unit beside the number ({cells[0]})"


def _number(cell: str) -> _Number | None:
    match = _CELL.fullmatch(cell)
    form = next((form for form, pattern in _FORMS.items() if match and pattern.fullmatch(match["core"])), None)
    if match is None or form is None:
        return None
    return _Number(cell, form, match["minus"] + match["core"], bool(match["before"] or match["after"]))
