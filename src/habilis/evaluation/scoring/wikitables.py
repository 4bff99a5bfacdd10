"""The rule of WikiTableQuestions (Pasupat and Liang, 2015; version 1.0.2 of its evaluator), in our own words.

An answer is a set of values: texts, numbers, and dates as `year-month-day`, whose unknown fields are `xx`. It is right
when it has as many values as the true one, and each true value matches one of them: the same text once both are
normalised, the same number to 1e-6, or the same date in all of its fields. A date of which only the year is known is a
number. The true values may come with a canonical form beside their text, which says what number or date they are.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CLOSE = 1e-6
MOST_LETTERS = 1_000
"""Letters of a value that are normalised; no cell of a table has more."""
_QUOTES = str.maketrans({**dict.fromkeys("‘’´`", "'"), **dict.fromkeys("“”", '"'), **dict.fromkeys("‐‑‒–—−", "-")})
_CITATIONS = re.compile(r"(?:(?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$")
_DETAILS = re.compile(r"(?<!^)(?: \([^)]*\))*$")
_QUOTED = re.compile(r'"([^"]*)"')
_UNKNOWN = -1

Date = tuple[int, int, int]


@dataclass(frozen=True)
class TableValue:
    """One value: its text, normalised, and what it is as a number or as a date (-1: a field that is not known)."""

    text: str
    number: float | None = None
    date: Date | None = None

    @property
    def identity(self) -> object:
        """What makes two values of one side the same."""
        return self.number if self.number is not None else self.date or self.text

    def matches(self, other: TableValue) -> bool:
        """Whether both mean the same."""
        if self.text == other.text:
            return True
        if self.number is not None and other.number is not None:
            return abs(self.number - other.number) < CLOSE
        return self.date is not None and self.date == other.date


def same_values(expected: Sequence[str], canonical: Sequence[str], given: Sequence[str]) -> bool:
    """Whether `given` is right. `canonical` has a form for each of `expected`, or is empty."""
    wanted = _distinct(map(value_of, expected, canonical or expected))
    got = _distinct(map(value_of, given))
    return len(wanted) == len(got) and all(any(one.matches(other) for other in got) for one in wanted)


def _distinct(values: Iterable[TableValue]) -> list[TableValue]:
    return list({value.identity: value for value in values}.values())


def value_of(text: str, canonical: str = "") -> TableValue:
    """The value that `text` is, told by its canonical form where it has one."""
    form = canonical or text
    number, date = _number(form), _date(form)
    if number is None and date is not None and date[1:] == (_UNKNOWN, _UNKNOWN):
        number = float(date[0])
    if number is not None:
        return TableValue(normalised(text), number=round(number) if abs(number - round(number)) < CLOSE else number)
    return TableValue(normalised(text), date=date)


def _number(text: str) -> float | None:
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(text: str) -> Date | None:
    fields = text.strip().lower().split("-")
    if len(fields) != 3:
        return None
    year = _field(fields[0], ("xx", "xxxx"))
    month, day = (_field(field, ("xx",)) for field in fields[1:])
    if year is None or month is None or day is None or year == month == day == _UNKNOWN:
        return None
    return (year, month, day) if _within(month, 12) and _within(day, 31) else None


def _field(text: str, unknown: Sequence[str]) -> int | None:
    if text in unknown:
        return _UNKNOWN
    return int(text) if re.fullmatch(r"\d{1,9}", text) else None


def _within(field: int, most: int) -> bool:
    return field == _UNKNOWN or 1 <= field <= most


def normalised(text: str) -> str:
    """`text` without marks on letters, citations, details in brackets and quotation marks around it, in lower case."""
    if len(text) > MOST_LETTERS:
        return text
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char) != "Mn")
    bare = bare.translate(_QUOTES)
    before = None
    while bare != before:  # what one rule takes away may lay another's mark bare
        before = bare
        bare = _CITATIONS.sub("", bare.strip())
        bare = _DETAILS.sub("", bare.strip())
        quoted = _QUOTED.fullmatch(bare.strip())
        bare = quoted[1] if quoted else bare.strip()
    return " ".join(bare.removesuffix(".").lower().split())
