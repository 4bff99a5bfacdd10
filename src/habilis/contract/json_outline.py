"""A JSON document within the room of a prompt: its keys, of long lists and of objects of a kind the first few."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

_SIZES = ((3, 8, 60), (2, 3, 40), (1, 2, 40), (1, 2, 16))
"""How many entries of a list and of an object of a kind, and how many characters of a text: tried in turn until the
outline is short enough."""
MORE = "…"
"""Begins what stands for the entries left out, and ends a text that is cut off."""


def outline(document: Any, width: int) -> str | None:
    """`document` as JSON text of at most `width` characters; None where it cannot be that short.

    A list that is cut ends with "… 12 in all", an object of many values of a kind with "…": "12 in all".
    """
    for size in _SIZES:
        text = json.dumps(_shortened(document, *size), ensure_ascii=False)
        if len(text) <= width:
            return text
    return None


def _shortened(value: Any, entries: int, keys: int, letters: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= letters else value[: letters - 1] + MORE
    if isinstance(value, list):
        kept = [_shortened(one, entries, keys, letters) for one in value[:entries]]
        return kept if len(value) <= entries else [*kept, f"{MORE} {len(value)} in all"]
    if not isinstance(value, dict):
        return value
    shown = len(value) if len(value) <= keys or not _is_uniform(value) else keys
    found = {key: _shortened(one, entries, keys, letters) for key, one in islice(value.items(), shown)}
    return found if shown == len(value) else {**found, MORE: f"{len(value)} in all"}


def _is_uniform(value: dict[str, Any]) -> bool:
    """Whether the values of an object are rows: objects with keys in common, lists, or many plain values."""
    kinds = {type(one) for one in value.values()}
    if kinds == {dict}:
        return bool(set.intersection(*({*one} for one in value.values())))
    return kinds == {list} or (len(value) > 20 and not kinds & {dict, list})
