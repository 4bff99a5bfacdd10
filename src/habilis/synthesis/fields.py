"""Which fields of two tools go together, whatever they are called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from habilis.core.types import JsonSchema
from habilis.synthesis.vocabulary import spoken
from habilis.synthesis.wording import paired_by_description

_NUMBERED = (
    frozenset(("a", "x", "first", "one", "1")),
    frozenset(("b", "y", "second", "two", "2")),
    frozenset(("c", "z", "third", "three", "3")),
)
_FIELD_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def fields_match(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether two objects have the same fields but for names: each field of one has its own in the other.

    Of the same type, they go together by name, by the words of their names, by a word that no other pair shares, by
    their initial, by their places (`a` and `b`, `first` and `second`), or by being alone of their type, in this order.
    """
    return paired(one, other) is not None


def accepts(tool: JsonSchema, asked: JsonSchema) -> bool:
    """Whether a tool takes the fields that were asked for, but for names, and needs no others."""
    wanted, required = typed(asked), tool.get("required") or ()
    found = tool.get("properties")
    fields = found if isinstance(found, dict) else {}
    used = {name: said for name, said in fields.items() if name in wanted or name in required}
    return any(_takes({"properties": taken}, asked) for taken in (used, fields))


def _takes(tool: JsonSchema, asked: JsonSchema) -> bool:
    """Whether the fields go together, and none that is asked for as a number takes integers alone."""
    taken, wanted = typed(tool, exact=True), typed(asked, exact=True)
    pairs = paired(tool, asked)
    return pairs is not None and all(
        taken[name] == wanted[known] or "integer" not in taken[name] for name, known in pairs
    )


def paired(one: JsonSchema, other: JsonSchema) -> list[tuple[str, str]] | None:
    """Each field of `one` with its own in `other`; None when they do not all go together."""
    first, second = typed(one), typed(other)
    if Counter(first.values()) != Counter(second.values()):
        return None
    if first and (told := paired_by_description(one, other)) is not None:
        return list(told.items())
    pairs = []
    for goes_with in (_same_name, _same_words, _share_a_word, _initial, _same_number):
        for name in list(first):
            near = [known for known, kind in second.items() if kind == first[name] and goes_with(name, known)]
            back = [
                known for known, kind in first.items() if near and kind == first[name] and goes_with(known, near[0])
            ]
            if len(near) == len(back) == 1:
                del first[name], second[near[0]]
                pairs.append((name, near[0]))
    if any(count > 1 for count in Counter(first.values()).values()):
        return None
    by_kind = {kind: name for name, kind in second.items()}
    return pairs + [(name, by_kind[kind]) for name, kind in first.items()]


def _same_name(one: str, other: str) -> bool:
    return one == other


def _same_words(one: str, other: str) -> bool:
    return _field_words(one) == _field_words(other) != set()


def _share_a_word(one: str, other: str) -> bool:
    return bool(_field_words(one) & _field_words(other))


def _initial(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) == 1 < len(long) and long.lower().startswith(short.lower())


def _same_number(one: str, other: str) -> bool:
    return _number(one) == _number(other) != 0


def _number(name: str) -> int:
    """The place of a field that says no more than its place: 1 for `a`, `x`, `first`, `value_1`; 0 for others."""
    said = _FIELD_WORD.findall(name)[-1:]
    return next((place for place, names in enumerate(_NUMBERED, 1) if said and said[0].lower() in names), 0)


def _field_words(name: str) -> set[str]:
    """The words of a field's name, `name` left out: `from_unit` and `unitFrom` are one."""
    words = {word.lower() for word in _FIELD_WORD.findall(name)} - {"name"}
    return {same for word in words for same in spoken(word)}


def typed(schema: JsonSchema, *, exact: bool = False) -> dict[str, str]:
    """The type of each field of an object's schema; `error`, which every result may have, left out.

    Unless `exact`, an integer is a number.
    """
    found = schema.get("properties")
    fields = found if isinstance(found, dict) else {}
    kinds = {name: _kind(said) for name, said in fields.items() if name != "error"}
    return kinds if exact else {name: kind.replace("integer", "number") for name, kind in kinds.items()}


def _kind(said: Any) -> str:
    """A type in one word: `string`, `array of number`; null, which only says optional, is left out."""
    if not isinstance(said, Mapping):
        return "any"
    options = said.get("anyOf")
    if isinstance(options, list):
        kinds = {_kind(option) for option in options} - {"null"}
        kinds -= {"integer"} if "number" in kinds else set()  # an integer is a number
        return " or ".join(sorted(kinds)) or "any"
    kind = str(said.get("type", "any"))
    return f"array of {_kind(said.get('items'))}" if kind == "array" else kind
