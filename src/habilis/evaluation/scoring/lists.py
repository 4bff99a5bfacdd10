"""Lists in an answer: read from JSON or from text, compared item by item, in order or without."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from habilis.evaluation.scoring.quantities import quantity, same_quantity
from habilis.evaluation.scoring.texts import bare_answer, normalised

MAX_ITEMS = 1000
"""Items that are compared; more are no answer."""
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_AND = re.compile(r",? (?:and|und|et|y|&) |,")


class _Item:
    """One item of a list, read once: what it is as a quantity and as text."""

    def __init__(self, value: Any) -> None:
        text = as_text(value)
        bare = bare_answer(text)
        self._quantity = quantity(text)
        self._text = normalised(text)
        self._bare = self._text if bare == text else normalised(bare)

    def equals(self, given: _Item, tolerance: float | None) -> bool:
        """As quantities where both are, else as normalised text."""
        if self._quantity is not None and given._quantity is not None:
            return same_quantity(self._quantity, given._quantity, tolerance)[0]
        return self._text in (given._text, given._bare)


def as_text(value: Any) -> str:
    """A JSON value as an answer would write it: text as it stands, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def readings(value: Any) -> Iterator[list[Any]]:
    """Each list that `value` may mean; a list is itself, a text is divided by every kind of mark that it holds."""
    if isinstance(value, list | tuple):
        yield list(value)
        return
    text = bare_answer(as_text(value)).strip()
    parsed = _json_list(text)
    if parsed is not None:
        yield parsed
        return
    lines = _divided(_BULLET.sub("", text), r"\n")
    if len(lines) > 1:
        yield lines
    text = re.sub(r"^[\[{(](.*)[\]})]$", r"\1", " ".join(text.split()).removesuffix("."))
    for mark in (r";|；", r",\s|，|、|,(?!\d{3})", r",|，|、"):
        items = _divided(text, mark)
        if len(items) > 1:
            yield items
    if _AND.search(text):
        yield [item for item in _AND.split(text) if item.strip()]
    yield [text]


def _json_list(text: str) -> list[Any] | None:
    if not text.startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _divided(text: str, mark: str) -> list[str]:
    return [part for part in (piece.strip(" \t\r\n\"'") for piece in re.split(mark, text)) if part]


def compare_ordered(expected: Sequence[Any], given: Sequence[Any], tolerance: float | None = None) -> float:
    """The share of places that hold the same item, 0 to 1; 1 means that both lists are equal."""
    longer = max(len(expected), len(given))
    if not longer:
        return 1.0
    if longer > MAX_ITEMS:
        return 0.0
    pairs = zip(map(_Item, expected), map(_Item, given), strict=False)
    return sum(wanted.equals(got, tolerance) for wanted, got in pairs) / longer


def compare_sets(expected: Sequence[Any], given: Sequence[Any], tolerance: float | None = None) -> float:
    """F1 of the items found, 0 to 1: the harmonic mean of precision and recall. An item said twice counts once."""
    if not expected or not given:
        return float(not expected and not given)
    if max(len(expected), len(given)) > MAX_ITEMS:
        return 0.0
    wanted, got = (_distinct(list(map(_Item, items)), tolerance) for items in (expected, given))
    left = list(got)
    for item in wanted:
        found = next((place for place, other in enumerate(left) if item.equals(other, tolerance)), None)
        if found is not None:
            del left[found]
    return 2 * (len(got) - len(left)) / (len(wanted) + len(got))


def _distinct(items: Sequence[_Item], tolerance: float | None) -> list[_Item]:
    kept: list[_Item] = []
    for item in items:
        if not any(item.equals(other, tolerance) for other in kept):
            kept.append(item)
    return kept
