"""Where the values of a call's result stand, and whether two of them belong to one record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from habilis.core.types import Invocation
from habilis.rules.evidence import Evidence, plain

MOST_LEAVES, LONGEST_NAME = 3_000, 60
Step = str | int


@dataclass(frozen=True)
class Leaf:
    """A value at the end of a call's arguments or result, or a key (`value` None) that names what stands below it."""

    call: int
    path: tuple[Step, ...]
    value: Any

    @property
    def key(self) -> str:
        """The name of the field that the value stands in."""
        return next((str(step) for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def name(self) -> str:
        """The text that the value is, or the key, in plain form; empty for numbers and long texts."""
        text = self.path[-1] if self.value is None else self.value
        if not isinstance(text, str) or not 1 < len(text) <= LONGEST_NAME or self.number is not None:
            return ""
        return plain(text) if any(letter.isalpha() for letter in text) else ""

    @property
    def number(self) -> Decimal | None:
        """The number that the value is, also where it is written as text."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float | str):
            return None
        try:
            number = Decimal(str(self.value).strip())
        except InvalidOperation:
            return None
        return number if number.is_finite() else None


@dataclass(frozen=True)
class Results:
    """What the calls behind an answer gave, value by value, each with the arguments that it was given for."""

    evidence: Evidence

    @cached_property
    def calls(self) -> list[Invocation]:
        return self.evidence.behind

    @cached_property
    def leaves(self) -> list[Leaf]:
        """Values and keys of the results alone."""
        return [leaf for leaf in self.all if leaf.path[0] == "result"]

    @cached_property
    def all(self) -> list[Leaf]:
        """Those of the arguments as well."""
        found: list[Leaf] = []
        for number, call in enumerate(self.calls):
            found += _leaves(call.arguments, number, ("arguments",))
            found += _leaves(call.outcome.output, number, ("result",))
        return found[:MOST_LEAVES]

    def together(self, name: Leaf, number: Leaf) -> bool:
        """Whether two values may belong to one record: told only where it is plain that they do not."""
        if name.call != number.call:
            return self.calls[name.call].tool != self.calls[number.call].tool
        at = next(
            (n for n, (a, b) in enumerate(zip(name.path, number.path, strict=False)) if a != b),
            min(len(name.path), len(number.path)),
        )
        left, right = name.path[at:], number.path[at:]
        if not left or not right:
            return True
        if isinstance(left[0], int):  # items of one list: rows, unless the list itself is a row of values
            return len(left) == 1 and len(right) == 1
        if name.value is None and len(left) == 1:  # the name is a key; the number stands below another one
            return not self._is_name(name.call, number.path[: at + 1])
        if _is_item(left) and _is_item(right):  # columns side by side
            return left[1] == right[1]
        return True

    def _is_name(self, call: int, path: tuple[Step, ...]) -> bool:
        """Whether the key at the end of `path` is of the same sort as one that names: no field of a fixed shape."""
        key = str(path[-1])
        return key[:1].isupper() or not key.isidentifier() or not key.isascii()


def _is_item(path: Sequence[Step]) -> bool:
    return len(path) == 2 and isinstance(path[0], str) and isinstance(path[1], int)


def _leaves(value: Any, call: int, path: tuple[Step, ...]) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for key, item in value.items():
            if item is not None:
                yield Leaf(call, (*path, str(key)), None)
                yield from _leaves(item, call, (*path, str(key)))
    elif isinstance(value, list):
        for place, item in enumerate(value[:MOST_LEAVES]):
            yield from _leaves(item, call, (*path, place))
    elif value is not None:
        yield Leaf(call, path, value)
