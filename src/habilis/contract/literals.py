"""Literal Python values as JSON knows them: what a manifest can hold, and why something cannot stand in it."""

from __future__ import annotations

import math
from typing import Any

MAX_INTEGER_BITS = 3_400


class NotLiteral(ValueError):
    """A value is nothing that JSON holds. The text says which, as an ending to what holds it."""


def storable_fault(value: Any) -> str:
    """What in `value` cannot be written as JSON and read back, with what to write instead; empty if all can.

    Lone surrogates are no text in UTF-8, `1e999` is no number in JSON (RFC 8259), and Python itself prints no integer
    of more than a few thousand digits.
    """
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return f"holds half of a surrogate pair in {value[:40]!a}; write the character itself"
    if isinstance(value, float) and not math.isfinite(value):
        return f"holds {value}, which JSON cannot; use a finite number"
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        return "holds an integer of more than a thousand digits; use a smaller one"
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = list(value)
    return next((fault for item in inner if (fault := storable_fault(item))), "")


def json_plain(value: Any) -> Any:
    """Literal Python as JSON: tuples and sets as lists. Raises `NotLiteral` for what JSON does not know."""
    if isinstance(value, dict):
        return {str(key): json_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((json_plain(item) for item in value), key=repr)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise NotLiteral(f"must be JSON values; {value!r} is {type(value).__name__}")
