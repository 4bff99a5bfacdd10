"""All values of a text in one pass: what is one mark (a name of a file, an identifier), a date, a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from habilis.core.patterns import lazy_pattern
from habilis.values.moments import Moment, moments
from habilis.values.numbers import Number, numbers
from habilis.values.plain import blanked

_ENDINGS = (
    "csv|tsv|json|jsonl|txt|pdf|py|log|xlsx?|html?|md|png|jpe?g|gif|zip|gz|xml|ya?ml|docx?|sql|db|bin|parquet|toml"
)
_WHOLE = lazy_pattern(
    r"https?://[^\s<>\"')\]]+|www\.[^\s<>\"')\]]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"
    rf"|(?<![\w./~-])[\w./~-]{{1,200}}\.(?:{_ENDINGS})\b"
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22,27}\b"
    r"|(?<![\w.,])(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])[0-9a-fA-F]{12,}\b"
    r"|(?<![\w+/.,])(?!\d+[eE][-+]?\d+\b)[A-Za-z0-9+/]{16,}+={0,2}(?<=[=A-Za-z0-9])(?![\w/])",
)
_MARK = lazy_pattern(
    r"(?<![\w.])[vV]?\d+(?:\.\d+){2,40}(?:[-+][\w.]+)?(?!\w)"
    r"|\+\d[\d ()/-]{6,24}\d|(?<![\w-])\d{2,5}(?:-\d{1,7}){2,9}(?:-[\dX])?\b"
    r"|\b0[xX][0-9a-fA-F]+\b"
    r"|\b[A-Za-z]{1,2}[-/]\d[\w-]*|\b[A-Za-z]+_?\d[\w-]*|\b[A-Z]{2,}[-_]\d[\w-]*"
    r"|(?<![\w.,])\d+(?![eE]\d+\b)[A-Za-z]{1,}\d\w*"
)
SHORT = 4_000
"""Characters of a text whose values are remembered."""
_GROUPS = lazy_pattern(r"\d{1,3}(?:\.\d{3}){2,}")


@dataclass(frozen=True)
class Mark:
    """An identifier, a version, an address, a name of a file: right letter by letter, whatever digits are in it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Values:
    """What `scan` read in a text; each value at its place in the plain text, no two at one place but durations."""

    marks: tuple[Mark, ...]
    moments: tuple[Moment, ...]
    numbers: tuple[Number, ...]


def scan(text: str) -> Values:
    """The values of `text`, which is plain (`values.plain`)."""
    return _short_scanned(text) if len(text) <= SHORT else _scanned(text)


@lru_cache(maxsize=1_000)
def _short_scanned(text: str) -> Values:
    """A question or an answer is read by one rule after the other."""
    return _scanned(text)


def _scanned(text: str) -> Values:
    marks = [_mark(found) for found in _WHOLE.finditer(text) if _is_whole(found[0])]
    rest = blanked(text, _spans(marks))
    when = _apart(moments(rest))
    rest = blanked(rest, _spans([moment for moment in when if moment.sure]))
    short = [_mark(found) for found in _MARK.finditer(rest) if not _GROUPS.fullmatch(found[0])]
    rest = blanked(rest, _spans(short))
    return Values((*marks, *short), tuple(when), tuple(numbers(rest)))


def _is_whole(text: str) -> bool:
    """Whether a long token is a code rather than a long word or number."""
    if "." in text or "@" in text or "-" in text:
        return True
    return any(char.isdigit() for char in text) and any(char.isalpha() for char in text)


def _mark(found: re.Match[str]) -> Mark:
    text = found[0].rstrip(".,;:!?")
    return Mark(found.start(), found.start() + len(text), text)


def _apart(found: Iterable[Moment]) -> list[Moment]:
    """The moments that share no place with an earlier one: a date goes before a time in it."""
    kept: list[Moment] = []
    taken: set[int] = set()
    for moment in found:
        if not taken.intersection(range(moment.start, moment.end)):
            kept.append(moment)
            taken.update(range(moment.start, moment.end))
    return kept


def _spans(values: Sequence[Mark | Moment]) -> list[tuple[int, int]]:
    return [(value.start, value.end) for value in values]
