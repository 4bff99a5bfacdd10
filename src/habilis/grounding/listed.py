"""How many things a text lists: rows, bullets, items of JSON, words in a series."""

from __future__ import annotations

import json
import re
from typing import Any

from habilis.core.patterns import lazy_pattern

MOST_NODES = 20_000
"""Lists and objects of one text that are counted."""
_FLAT = lazy_pattern(r"\[([^\[\]{}]{1,20000})\]")
_BULLET = lazy_pattern(r"\s*(?:[-*•–]|\d{1,4}[.)]|\|)\s")
_RULER = lazy_pattern(r"[\s|:+=-]+")
_SEGMENT = lazy_pattern(r"[.;:\n!?。；：（）()\[\]]+(?:\s|$)?")
_SERIES = lazy_pattern(r",\s(?:and|und|et|y|or|oder|ou|и)\s|\s(?:and|und|et|y|or|oder|ou|и|و)\s|,\s|、|，|和|،\s")
_LEAD = 4
"""Words of an item in a series."""


def counts(text: str) -> set[int]:
    """How many items each list in `text` has."""
    return _of_json(text) | _of_blocks(text) | _of_series(text)


def _of_json(text: str) -> set[int]:
    found = {match[1].count(",") + 1 for match in _FLAT.finditer(text)}
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return found
    # The fields of one result are no list of things.
    todo: list[Any] = list(whole.values()) if isinstance(whole, dict) and "error" in whole else [whole]
    seen = 0
    while todo and (seen := seen + 1) < MOST_NODES:
        node = todo.pop()
        if isinstance(node, list | dict):
            found.add(len(node))
            todo.extend(node.values() if isinstance(node, dict) else node)
    return found


def _of_blocks(text: str) -> set[int]:
    """Rows of each block of lines, with and without a head; bullets of the whole text."""
    found: set[int] = set()
    bullets = sum(bool(_BULLET.match(line)) for line in text.splitlines())
    if bullets:
        found.add(bullets)
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line.strip()]
        rows = [line for line in lines if not _RULER.fullmatch(line)]
        if len(rows) > 1:
            found |= {len(rows), len(rows) - 1}
            found.add(sum(bool(_BULLET.match(line)) for line in rows))
    return found - {0}


def _of_series(text: str) -> set[int]:
    """Items of series such as `red, green and blue`; three at least, each of a few words."""
    found: set[int] = set()
    for segment in _SEGMENT.split(text):
        items = [item for item in _SERIES.split(segment) if item.strip()]
        if len(items) > 2 and all(len(item.split()) <= _LEAD and len(item) <= 60 for item in items):
            found.add(len(items))
    return found
