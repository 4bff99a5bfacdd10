"""What the arguments of a call have to do with each other, where every real call shows it: lists of equal length,
numbers in order, an argument that stands in a file, tables whose rows are equally long, brackets that match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any

from habilis.inputs.formats import as_date, as_moment, brackets_match

ENOUGH_FOR_ORDER = 3
"""Calls that must agree before an order among their numbers, or within their lists, is no chance."""


@dataclass(frozen=True)
class Given:
    """What one call is given: arguments, and the contents of files by the names that the arguments use."""

    arguments: dict[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)


Relation = Callable[[Given], bool]


def kept_by(calls: Sequence[Given]) -> list[Relation]:
    """The relations that all of `calls` keep, where some of them could have broken it."""
    found: list[Relation] = []
    names = names_of(calls)
    many = len(calls) >= ENOUGH_FOR_ORDER
    for one, other in combinations(names, 2):
        candidates = [_equally_long(one, other)] + ([_texts_equally_long(one, other)] if len(calls) > 1 else [])
        found += [relation for relation in candidates if _kept(relation, calls, one, other)]
    for one, other in permutations(names, 2):
        candidates = [_stands_in(one, other)] + ([_not_above(one, other), _within(one, other)] if many else [])
        found += [relation for relation in candidates if _kept(relation, calls, one, other)]
    for name in names:
        candidates = [_in_a_file(name), _even_rows(name), _square(name), _matching(name)]
        candidates += [_one_length(name, calls)] if many else []
        candidates += [_in_order(name), _no_doubles(name)] if many and _could_break_order(name, calls) else []
        found += [relation for relation in candidates if _kept(relation, calls, name)]
    return found


def _could_break_order(name: str, calls: Sequence[Given]) -> bool:
    """Whether two lists or more could be out of order, or have something twice: those of one item never are."""
    lists = [value for call in calls if isinstance(value := call.arguments.get(name), list) and len(value) > 1]
    return any(other != lists[0] for other in lists)


def _kept(relation: Relation, calls: Sequence[Given], *names: str) -> bool:
    asked = [call for call in calls if all(name in call.arguments for name in names)]
    return bool(asked) and all(relation(call) for call in asked)


def _equally_long(one: str, other: str) -> Relation:
    def holds(given: Given) -> bool:
        first, second = given.arguments.get(one), given.arguments.get(other)
        return isinstance(first, list) and isinstance(second, list) and len(first) == len(second)

    return holds


def _texts_equally_long(one: str, other: str) -> Relation:
    def holds(given: Given) -> bool:
        first, second = given.arguments.get(one), given.arguments.get(other)
        return isinstance(first, str) and isinstance(second, str) and len(first) == len(second) > 1

    return holds


def _rows(value: Any) -> list[list[Any]]:
    """The rows of a table, where `value` is one."""
    return value if isinstance(value, list) and value and all(isinstance(row, list) for row in value) else []


def _even_rows(name: str) -> Relation:
    def holds(given: Given) -> bool:
        rows = _rows(given.arguments.get(name))
        return bool(rows) and len({len(row) for row in rows}) == 1

    return holds


def _square(name: str) -> Relation:
    def holds(given: Given) -> bool:
        rows = _rows(given.arguments.get(name))
        return len(rows) > 1 and all(len(row) == len(rows) for row in rows)

    return holds


def _matching(name: str) -> Relation:
    """Brackets that open and close, in a text that has some."""

    def holds(given: Given) -> bool:
        value = given.arguments.get(name)
        return isinstance(value, str) and any(mark in value for mark in "([{<") and brackets_match(value)

    return holds


def _one_length(name: str, calls: Sequence[Given]) -> Relation:
    """As long as every list was: a point, a pair, a date's parts. Nobody makes a list to hold one thing each time."""
    lengths = {len(value) for call in calls if isinstance(value := call.arguments.get(name), list)}

    def holds(given: Given) -> bool:
        value = given.arguments.get(name)
        return isinstance(value, list) and {len(value)} == lengths != {1}

    return holds


def _stands_in(one: str, other: str) -> Relation:
    def holds(given: Given) -> bool:
        part, whole = given.arguments.get(one), given.arguments.get(other)
        if isinstance(whole, list):
            return not isinstance(part, list) and part in whole
        return isinstance(part, str) and isinstance(whole, str) and bool(part) and part in whole

    return holds


def _not_above(one: str, other: str) -> Relation:
    def holds(given: Given) -> bool:
        first, second = given.arguments.get(one), given.arguments.get(other)
        if not isinstance(first, (int, float, str)) or type(first) is not type(second):
            return False
        if isinstance(first, str) and not any(all(map(form, (first, second))) for form in (as_date, as_moment)):
            return False
        return bool(first <= second)  # type: ignore[operator]

    return holds


def _within(one: str, other: str) -> Relation:
    """A number no larger than a list, or a text, is long."""

    def holds(given: Given) -> bool:
        number, value = given.arguments.get(one), given.arguments.get(other)
        return isinstance(number, int) and isinstance(value, (list, str)) and number <= len(value)

    return holds


def _in_a_file(name: str) -> Relation:
    def holds(given: Given) -> bool:
        value = given.arguments.get(name)
        if not isinstance(value, str) or not value or value in given.files:
            return False
        return any(value.encode("utf-8", "replace") in content for content in given.files.values())

    return holds


def _in_order(name: str) -> Relation:
    def holds(given: Given) -> bool:
        value = given.arguments.get(name)
        try:
            return isinstance(value, list) and value == sorted(value)
        except TypeError:
            return False

    return holds


def _no_doubles(name: str) -> Relation:
    def holds(given: Given) -> bool:
        value = given.arguments.get(name)
        return isinstance(value, list) and len({repr(item) for item in value}) == len(value)

    return holds


def names_of(calls: Sequence[Given]) -> list[str]:
    """All arguments that `calls` have."""
    return sorted({name for call in calls for name in call.arguments})
