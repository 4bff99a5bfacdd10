"""Number words and signs in words, written in digits: `three dozen` is 36, `minus seven` is -7, `third` is 3rd."""

from __future__ import annotations

import re

from habilis.values.spelled import Spelled, spelled

_MINUS = re.compile(r"\b(?:minus|negative)\s+(?=[\d.$€£¥₹∞])", re.IGNORECASE)
_INFINITY = re.compile(r"\binfinity\b", re.IGNORECASE)
_HALF_MORE = re.compile(r"\b(\d{1,6}) and (?:a|one) half\b", re.IGNORECASE)


def in_digits(text: str) -> str:
    """`text` with its number words in digits. A word that is mostly another one (`second`, `one`) is read as a number
    only where it is all that the text says.
    """
    alone = re.fullmatch(r"\W*(?:(?:minus|negative)\s+)?(.*?)\W*", text, re.DOTALL | re.IGNORECASE)
    pieces, place = [], 0
    for word in _apart(text):
        if word.sure or (alone and (word.start, word.end) == alone.span(1)):
            pieces += [text[place : word.start], _written(word)]
            place = word.end
    line = _INFINITY.sub("∞", "".join([*pieces, text[place:]]))
    return _MINUS.sub("-", _HALF_MORE.sub(r"\1.5", line))


def _apart(text: str) -> list[Spelled]:
    """The number words of `text` in order, the longest where two share a place."""
    kept: list[Spelled] = []
    for word in sorted(spelled(text), key=lambda one: (one.start, -one.end)):
        if not kept or word.start >= kept[-1].end:
            kept.append(word)
    return kept


def _written(word: Spelled) -> str:
    if word.ordinal:
        tens = word.value % 100
        return f"{word.value}{'th' if 10 < tens < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(tens % 10, 'th')}"
    return f"{word.value}/{word.over}" if word.over > 1 else str(word.value)
