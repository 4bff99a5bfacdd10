"""What a tool's writer says that calls of it must give: read from a reply, and held against what they gave."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from habilis.contract.examples import Example, read_example
from habilis.contract.literals import NotLiteral, json_plain
from habilis.contract.records import equal
from habilis.core.parsing import expression_tree
from habilis.core.types import Frozen

MAX_CALLS = 6
_STARTS = 64
_SAID = ("expected", "output", "result")
_SURE_DIGITS = 3
"""Digits from which on a number worked out by hand may be a rounded one."""


class Expectation(Frozen):
    """A call and what it must give: `expected`, or else the same as the call with the arguments `same_as`."""

    call: Example
    expected: Any = None
    same_as: dict[str, Any] | None = None

    def met_by(self, output: Any) -> bool:
        """Whether `output` is what was expected, fields without a value left out; a bare value stands for the only
        field. A decimal fraction of three digits or more may be rounded."""
        given = _told(output) if isinstance(output, Mapping) else {}
        said = _told(self.expected) if isinstance(self.expected, Mapping) else None
        if said is not None and said.keys() == given.keys():
            return bool(given) and _alike(said, given)
        return len(given) == 1 and _alike(self.expected, next(iter(given.values())))


def read_expectations(reply: str) -> tuple[Expectation, ...]:
    """The calls in a model's reply: one JSON object per line, or in lists, with or without words around. What is cut
    off, has no result or cannot be read is left out."""
    found: list[Expectation] = []
    for entry in _entries(reply):
        one = _read(entry)
        if one is not None and one.call not in [known.call for known in found]:
            found.append(one)
    return tuple(found)


def read_calls(reply: str) -> tuple[Example, ...]:
    """The calls alone in such a reply, whatever they are said to give."""
    found: list[Example] = []
    for entry in _entries(reply):
        call = read_example(dict(entry))
        if isinstance(call, Example) and call not in found:
            found.append(call)
    return tuple(found)


def values_in(value: Any) -> list[Any]:
    """What stands in `value` (JSON) without the names of its fields, in its order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return [inner for item in value for inner in values_in(item)] if isinstance(value, list) else [value]


def _read(entry: Mapping[str, Any]) -> Expectation | None:
    call = read_example(dict(entry))
    if not isinstance(call, Example):
        return None
    said = next((entry[name] for name in _SAID if entry.get(name) is not None), None)
    other = entry.get("same_as")
    if said is None and isinstance(other, dict):
        same = read_example({"arguments": other, "files": entry.get("files")})
        same_as = same.arguments if isinstance(same, Example) else None
        return Expectation(call=call, same_as=same_as) if same_as not in (None, call.arguments) else None
    if said is None or (isinstance(said, Mapping) and not _told(said)):
        return None
    try:
        return Expectation(call=call, expected=json_plain(said))
    except NotLiteral:
        return None


def _entries(reply: str) -> Iterator[dict[str, Any]]:
    """The outermost objects in `reply` that have arguments, be it in lists of others."""
    at, starts = reply.find("{"), 0
    while at >= 0 and starts < _STARTS:
        starts += 1
        value, end = _decoded(reply, at)
        if isinstance(value, dict):
            yield from _with_arguments(value)
        at = reply.find("{", end)


def _decoded(reply: str, at: int) -> tuple[Any, int]:
    """The object that begins at `at`, as JSON or on this line as Python, and where to look on."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(reply, at)
    except (ValueError, RecursionError):
        pass
    line = reply[at:].partition("\n")[0].rstrip().rstrip(",")
    try:
        return ast.literal_eval(expression_tree(line)), at + len(line)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None, at + 1


def _with_arguments(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(value.get("arguments"), dict):
        yield value
        return
    for inner in value.values():
        yield from (one for one in inner if isinstance(one, dict)) if isinstance(inner, list) else ()


def _told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that hold a result."""
    return {name: value for name, value in fields.items() if name != "error" and value is not None}


def _alike(said: Any, given: Any) -> bool:
    return equal(said, _as_rounded(said, given))


def _as_rounded(said: Any, given: Any) -> Any:
    """`given` with its numbers rounded as those of `said` are."""
    if isinstance(said, float) and isinstance(given, float):
        text = repr(said)
        fraction = text.partition(".")[2]
        sure = fraction.isdigit() and fraction != "0" and len(text.replace(".", "").lstrip("-0")) >= _SURE_DIGITS
        return round(given, len(fraction)) if sure else given
    if isinstance(said, Mapping) and isinstance(given, Mapping):
        return {name: _as_rounded(said.get(name), value) for name, value in given.items()}
    if isinstance(said, list) and isinstance(given, list) and len(said) == len(given):
        return [_as_rounded(one, other) for one, other in zip(said, given, strict=True)]
    return given
