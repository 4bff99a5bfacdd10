"""What a question gives as arguments, and what a tool must be given: a second key beside what both say.

Kinds are read by rules: of a question from how its values are written, of a tool from the types of its parameters where
they are known, else from their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from habilis.core.types import ToolCard
from habilis.library.retrieval.terms import stem, terms

_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTHS = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_NUMBERS = "one two three four five six seven eight nine ten twelve twenty hundred thousand million dozen half double"
_GIVEN = {
    "path": r"(?<![\w/])[\w~.-]*/[\w./-]+|\b[\w-]+\.[a-z][a-z0-9]{1,4}\b",
    "address": r"https?://|\bwww\.|\b[\w-]+\.(?:com|org|net|io)\b",
    "date": r"\b\d{4}-\d\d?-\d\d?\b|\b\d\d?[/.]\d\d?[/.]\d\d"
    rf"|\b{_MONTHS}\.? \d|\d(?:st|nd|rd|th)? (?:of )?{_MONTHS}\b"
    rf"|\b(?:today|tomorrow|yesterday|tonight|next (?:week|month)|{_DAYS})\b",
    "time": r"\b\d\d?:\d\d\b|\b\d\d? ?[ap]\.?m\b|o'clock",
    "number": rf"\d|\b(?:{'|'.join(_NUMBERS.split())})\b",
    "list": r"\[[^\]]*,|\d, ?-?\d+(?:\.\d+)?(?:,| and)",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _GIVEN.items()}
_NAMES = {
    "path": "path file filename filepath folder directory document attachment csv pdf",
    "address": "url link website uri href domain webpage",
    "date": "date day deadline datetime birthdate departure arrival checkin checkout",
    "time": "time hour datetime timestamp",
    "number": "number amount quantity count",
    "list": "list array numbers values items data scores",
}
_TYPES = {"integer": "number", "number": "number", "array": "list"}


@lru_cache(maxsize=1_000)
def missing(question: str) -> frozenset[str]:
    """The kinds of arguments that `question` does not give."""
    text = question.lower()
    return frozenset(kind for kind, pattern in _PATTERNS.items() if not pattern.search(text))


def wanted(card: ToolCard) -> frozenset[str]:
    """The kinds of arguments that a tool takes, or must have where its card knows the types of those."""
    return _wanted(card.parameters, card.types)


@lru_cache(maxsize=50_000)
def _wanted(parameters: tuple[str, ...], types: tuple[str, ...]) -> frozenset[str]:
    if not types:
        return frozenset().union(*map(_named, parameters))
    needed = (pair for pair in zip(parameters, types, strict=False) if pair[1])
    return frozenset().union(*(_typed(name, kind) for name, kind in needed))


def _typed(name: str, kind: str) -> Iterable[str]:
    return {_TYPES[kind]} if kind in _TYPES else _named(name) - {"number", "list"}


@lru_cache(maxsize=50_000)
def _named(parameter: str) -> frozenset[str]:
    """The kinds of argument that the name of a parameter speaks of."""
    said = set(terms(parameter))
    return frozenset(kind for kind, names in _stemmed() if said & names)


@lru_cache(maxsize=1)
def _stemmed() -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple((kind, frozenset(map(stem, names.split()))) for kind, names in _NAMES.items())
