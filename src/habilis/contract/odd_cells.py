"""Cells that a person reads as numbers and Python does not: `129,90`, `$1,200.00`, `12 %`, or nothing at all.

A writer that sees three rows of a table does not know that the fourth has no number. Told before, it needs no second
attempt. A small model copies its example rather than heeding a note, so the example reads such cells too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from habilis.contract.columns import Column
from habilis.core.patterns import lazy_pattern

MOST_NOTES, MOST_NAMES, LONGEST_NAME = 6, 6, 40
FEWEST, SHARE = 2, 0.6
"""Numbers that a column needs to be one of numbers, and the part of the filled cells that they make up."""
MOST_WORDS = 5
"""Different cells in a column of numbers that are none: with more it is a column of signs, such as tickets."""
SHORT = 16
"""Characters of a cell that may stand in an example, among our own words: enough for "not available", no more."""
SIGNS = "€$£¥%"
_CELL = lazy_pattern(
    r"(?P<minus>-?)(?P<before>[€$£¥]?)\s?(?P<core>-?\d(?:[\d.,' ]*\d)?(?:e[-+]?\d+)?)"
    r"(?P<after>\s?[%€$£¥]|\s[A-Za-zµ°/²³]{1,6})?",
    re.IGNORECASE,
)
_FORMS = {
    "plain": lazy_pattern(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE),
    "either": lazy_pattern(r"-?\d{1,3},\d{3}"),  # the other cells of the column tell
    "comma": lazy_pattern(r"-?(?:\d{1,3}(?:[. ']\d{3})+|\d+),\d+"),
    "groups": lazy_pattern(r"-?\d{1,3}(?:[, ']\d{3})+(?:\.\d+)?"),
}


@dataclass(frozen=True)
class _Number:
    cell: str
    form: str
    core: str
    dressed: bool


@dataclass(frozen=True)
class _Odd:
    """What is odd about the numbers of one column."""

    comma: str = ""
    grouped: str = ""
    dressed: str = ""
    pointed: bool = False
    blank: bool = False
    words: tuple[str, ...] = ()

    def said(self) -> str:
        none = [*(["blank"] if self.blank else []), *(f'"{_line(word)}"' for word in self.words)]
        parts = [
            f"a decimal comma ({self.comma} is {_pointed(self.comma)})" if self.comma else "",
            f"thousands separators ({self.grouped} is {re.sub(r'[^-0-9.]', '', self.grouped)})" if self.grouped else "",
            f"a sign or unit beside the number ({self.dressed})" if self.dressed else "",
            f"cells without a number ({', '.join(none)})" if none else "",
        ]
        return " and ".join(part for part in parts if part)


def odd_cells(columns: Sequence[Column]) -> dict[str, str]:
    """What is odd about the numbers in some columns, for the writer of a tool; empty where nothing is.

    `note` says it, `read` is what Python puts behind a cell to make it a number's text, `skip` a tuple of the cells
    that are none.
    """
    read = [(column, one) for column in columns if (one := _odd(column))]
    odd = [(column, one) for column, one in read if one.said()]
    if not odd:
        return {}
    words = dict.fromkeys(word for _, one in odd for word in one.words if len(word) <= SHORT)
    skip = ", ".join(json.dumps(word, ensure_ascii=False) for word in ["", *list(words)[:MOST_WORDS]])
    return {"note": _note(odd), "read": _reading([one for _, one in read]), "skip": f"({skip})" if words else ""}


def _note(odd: Sequence[tuple[Column, _Odd]]) -> str:
    alike: dict[str, list[str]] = {}
    for column, one in odd:
        alike.setdefault(one.said(), []).append(f"`{_line(column.name)[:LONGEST_NAME]}`")
    notes = [f"{_listed(names)} {'has' if len(names) == 1 else 'have'} {said}" for said, names in alike.items()]
    return "; ".join([*notes[:MOST_NOTES], *(["others are odd too"] if len(notes) > MOST_NOTES else [])])


def _reading(read: Sequence[_Odd]) -> str:
    """One way to read the numbers of all columns; empty where one would misread another's."""
    commas = "".join(one.comma for one in read)
    grouped = "".join(one.grouped for one in read)
    gone = [sign for sign in ". '" if sign in commas] if commas else [sign for sign in ", '" if sign in grouped]
    if (commas and grouped) or ("." in gone and any(one.pointed for one in read)):
        return ""
    gone += [sign for sign in SIGNS if any(sign in one.dressed for one in read)]
    steps = [f'.replace("{sign}", "")' for sign in gone] + ['.replace(",", ".")'] * bool(commas)
    unit = any(letter.isalpha() for one in read for letter in one.dressed)
    return "".join(steps) + ".split()[0]" * unit


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def _odd(column: Column) -> _Odd | None:
    filled = [cell for cell in column.cells if cell]
    numbers = [number for cell in filled if (number := _number(cell))]
    if len(numbers) < FEWEST or len(numbers) < SHARE * len(filled):
        return None
    read = {number.cell for number in numbers}
    words = Counter(cell for cell in filled if cell not in read)
    if len(words) > MOST_WORDS:
        return None
    cores = {form: [number.core for number in numbers if number.form == form] for form in _FORMS}
    grouped = [*cores["groups"], *cores["either"]] if not cores["comma"] else []
    return _Odd(
        comma=max(cores["comma"], key=len, default=""),
        grouped=max(grouped, key=len, default=""),
        dressed=next((number.cell for number in numbers if number.dressed), ""),
        pointed=any("." in core for core in [*cores["plain"], *cores["groups"]]),
        blank=len(filled) < len(column.cells),
        words=tuple(word for word, _ in words.most_common(2)),
    )


def _pointed(number: str) -> str:
    return re.sub(r"[^-0-9,]", "", number).replace(",", ".")


def _line(text: str) -> str:
    return " ".join(text.split())


def _number(cell: str) -> _Number | None:
    match = _CELL.fullmatch(cell)
    form = next((form for form, pattern in _FORMS.items() if match and pattern.fullmatch(match["core"])), None)
    if match is None or form is None:
        return None
    return _Number(cell, form, match["minus"] + match["core"], bool(match["before"] or match["after"]))
