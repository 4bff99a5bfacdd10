"""Calls that nobody has made yet, to compare two versions on: real calls crossed with each other and edited.

The choice is drawn from a seed, so that equal versions are always tried alike. Those inside the domain come first and
are most of it; then a few at its borders, which no argument excuses but which every caller may come to.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from habilis.contract.aliases import properties, required
from habilis.core.types import JsonSchema
from habilis.synthesis.domain import Domain, Given
from habilis.synthesis.file_variants import odd_variants, variant
from habilis.synthesis.formats import as_date

INSIDE, OUTSIDE = 24, 8
"""Inputs on which two versions are compared at most."""
MOST_POSSIBLE = 32
"""A domain of no more inputs than these is tried whole."""
_TRIES = 400
_LIST = re.compile(r"\b\w+(?:, \w+)*,? or \w+\b")
_TEXTS = ("", "a", "Zebra 12", "naïve café", "1,234.5", "-7", "x y z", "2024-02-29")
_WHOLE = (0, 1, -1, 2, 7, 10, 100, 12345)
_REAL = (0.0, 1.0, -1.5, 0.1, 3.25, 1000.5)


@dataclass(frozen=True)
class Input:
    """One call to be made. Only where it lies `inside` the domain does a difference speak against a version, or where
    one gives what it gives to `same`, a call that says the same in another form."""

    given: Given
    inside: bool
    same: Given | None = None


def possible(schema: JsonSchema) -> list[Input] | None:
    """Every input that there is, where each field has only so many values; None where they are more."""
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or not fields:
        return None
    choices = []
    for name, field in fields.items():
        values = _values(field, schema)
        if values is None:
            return None
        absent: list[Any] = [] if name in required(schema) else [_ABSENT]
        choices.append([*values, *absent])
    if len(list(itertools.islice(itertools.product(*choices), MOST_POSSIBLE + 1))) > MOST_POSSIBLE:
        return None
    rows = (dict(zip(fields, row, strict=True)) for row in itertools.product(*choices))
    return [Input(Given({name: v for name, v in row.items() if v is not _ABSENT}), True) for row in rows]


def results(schema: JsonSchema) -> int:
    """How many distinct results a tool can have at least, up to three."""
    fields = schema.get("properties")
    number = 1
    for name, field in fields.items() if isinstance(fields, Mapping) else ():
        values = None if name == "error" else _values(field, schema)
        if name != "error":
            number *= 3 if values is None else max(1, sum(value is not None for value in values))
    return min(3, number)


def drawn(domain: Domain, schema: JsonSchema, seed: str) -> list[Input]:
    """Inputs that differ from each other and from the domain's own calls; the same for a seed."""
    lot = random.Random(seed)
    seen = [_key(call) for call in domain.calls]
    inside: list[Input] = []
    outside: list[Input] = []
    edited = ((given, None) for given in _edited(domain, schema, lot))
    for given, same in itertools.chain(edited, _odd(domain, schema, lot)):
        key = _key(given)
        if key in seen:
            continue
        holds = domain.holds(given)
        kept, most = (inside, INSIDE) if holds else (outside, OUTSIDE)
        if len(kept) < most or same is not None:
            seen.append(key)
            kept.append(Input(given, holds, same))
    return [*inside, *outside]


def _key(given: Given) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    return repr(sorted(given.arguments.items())), tuple(sorted(given.files.items()))


# --- from real calls


def _edited(domain: Domain, schema: JsonSchema, lot: random.Random) -> Iterator[Given]:
    calls = domain.calls
    for number in range(_TRIES if calls else 0):
        base = calls[number % len(calls)]
        files = dict(base.files)
        if files and lot.random() < 0.7:
            name = lot.choice(sorted(files))
            files[name] = variant(files[name], lot)
        arguments = dict(base.arguments)
        names = sorted(name for name, value in arguments.items() if not _reaches(value, files))
        if names and (not base.files or files == dict(base.files) or lot.random() < 0.3):
            for name in lot.sample(names, lot.randint(1, len(names))):
                arguments[name] = _other(name, arguments[name], domain, schema, lot)
            _together(arguments, base, names, lot)
        yield Given(arguments, files)


def _other(name: str, value: Any, domain: Domain, schema: JsonSchema, lot: random.Random) -> Any:
    """Another value for an argument: one that it had in another call, or an edited one."""
    seen = [call.arguments[name] for call in domain.calls if name in call.arguments]
    field = (schema.get("properties") or {}).get(name)
    if values := _values(field, schema) or _listed(field, seen):
        return lot.choice(values)
    if name in domain.sums:
        return _sum(seen, lot)
    if name in domain.dates:
        day = as_date(lot.choice(seen)) or datetime.date(2024, 1, 1)
        try:
            return (day + datetime.timedelta(days=lot.choice((1, -1, 7, 30, 31, -31, 366)))).isoformat()
        except OverflowError:
            return value
    return lot.choice(seen) if lot.random() < 0.3 else _varied(value, seen, lot)


def _listed(field: Any, seen: Sequence[Any]) -> list[str]:
    """The words that a text may be, where the field's description lists them and every real call took one of those."""
    said = field.get("description") if isinstance(field, Mapping) else None
    found = _LIST.search(said) if isinstance(said, str) else None
    words = re.split(r", or |, | or ", found.group()) if found else []
    return words if len(words) > 1 and all(value in words for value in seen) else []


def _together(arguments: dict[str, Any], base: Given, names: Sequence[str], lot: random.Random) -> None:
    """Lists that were equally long are now and then changed in the same places, so that they stay so."""
    lists = [name for name in names if isinstance(base.arguments[name], list)]
    if len(lists) < 2 or len({len(base.arguments[name]) for name in lists}) > 1 or lot.random() < 0.3:
        return
    length = len(base.arguments[lists[0]])
    places = [lot.randrange(length) for _ in range(lot.randint(1, length + 1))] if length else []
    for name in lists:
        arguments[name] = [base.arguments[name][place] for place in places]


def _varied(value: Any, seen: Sequence[Any], lot: random.Random) -> Any:
    """Another value of the kind of `value`."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return lot.choice([value + 1, value - 1, value + lot.randint(2, 5), value * 2, value // 2, value - 3])
    if isinstance(value, float):
        return round(lot.choice([value + 0.5, value * 2, value / 2, value + lot.random(), value + 1]), 4)
    if isinstance(value, str):
        return _text(value, [text for text in seen if isinstance(text, str)], lot)
    if isinstance(value, list):
        return _list(value, [other for other in seen if isinstance(other, list)], lot)
    if isinstance(value, Mapping) and value:
        key = lot.choice(sorted(value))
        return {**value, key: _varied(value[key], [value[key]], lot)}
    return value


def _text(value: str, seen: Sequence[str], lot: random.Random) -> str:
    words = value.split(" ")
    place = lot.randrange(len(value)) if value else 0
    ways = [
        value[:place] + value[place + 1 :],
        value[:place] + value[place : place + 1] * 2 + value[place + 1 :],
        value[:place] + lot.choice("".join(seen) or "a") + value[place + 1 :],
        value.replace(" ", "  ", 1),
        value[::-1],
        value.swapcase(),
        value.lower(),
        f"{value} {lot.choice(seen)}",
        " ".join(lot.sample(words, len(words))),
        " ".join([*words, lot.choice(words)]),
        re.sub(r"\d", lambda _: str(lot.randrange(10)), value),
    ]
    return lot.choice([way for way in ways if way != value] or [value])


def _list(value: list[Any], seen: Sequence[list[Any]], lot: random.Random) -> list[Any]:
    items = [item for other in seen for item in other]
    if not items:
        return value
    place = lot.randrange(len(value)) if value else 0
    edited = [_varied(value[place], items, lot)] if value else [lot.choice(items)]
    ways = [
        value[::-1],
        lot.sample(value, len(value)),
        value[:place] + value[place + 1 :],
        [*value, lot.choice(items)],
        value[:place] + edited + value[place + 1 :],
        value[:place] + edited + value[place + 1 :],
        [_varied(item, items, lot) for item in value],
        [lot.choice(items) for _ in range(lot.randint(1, len(value) + 1))],
    ]
    with contextlib.suppress(TypeError):
        ways.append(sorted(value))
    return lot.choice([way for way in ways if way != value] or [value])


def _sum(seen: Sequence[str], lot: random.Random) -> str:
    """An expression of the numbers that were seen, with any of the operators of arithmetic."""
    numbers = sorted({number for text in seen for number in re.findall(r"\d+(?:\.\d+)?", text)}) or ["2", "3"]
    spaced = " " if any(" " in text for text in seen) else ""

    def one(deep: int) -> str:
        if not deep or lot.random() < 0.3:
            return str(lot.choice([*numbers, lot.randint(1, 9)]))
        operator = lot.choice("+-*/+-*/^")
        if operator == "^":
            return f"{lot.randint(2, 9)}{spaced}**{spaced}{lot.randint(2, 3)}"
        text = f"{one(deep - 1)}{spaced}{operator}{spaced}{one(deep - 1)}"
        return f"({text})" if deep < 2 and lot.random() < 0.5 else text

    return one(2)


def _reaches(value: Any, files: Mapping[str, bytes]) -> bool:
    """Whether `value` names one of the files."""
    if isinstance(value, str):
        return any(name == value or name.startswith(value.rstrip("/") + "/") for name in files)
    return isinstance(value, list) and any(_reaches(item, files) for item in value)


# --- at the borders


def _odd(domain: Domain, schema: JsonSchema, lot: random.Random) -> Iterator[tuple[Given, Given | None]]:
    """Files in other forms, each beside the call that says the same, then plain values by type alone."""
    for call in domain.calls[:2]:
        for name, content in call.files.items():
            for odd, same in odd_variants(content):
                plain = None if same is None else Given(call.arguments, {**call.files, name: same})
                yield Given(call.arguments, {**call.files, name: odd}), plain
    if any(call.files for call in domain.calls):
        return
    for _ in range(2 * OUTSIDE):
        arguments = _by_type(schema, lot)
        if arguments is not None:
            yield Given(arguments), None


def _by_type(schema: JsonSchema, lot: random.Random) -> dict[str, Any] | None:
    """Arguments by type alone: all that are required, others by lot."""
    fields, must = schema.get("properties") or {}, required(schema)
    arguments = {}
    for name in properties(schema):
        if name in must or lot.random() < 0.5:
            value = _value(fields[name], schema, lot)
            if value is None:
                return None
            arguments[name] = value
    return arguments


def _value(field: Any, schema: JsonSchema, lot: random.Random) -> Any:
    """A value for a field by its JSON schema; None where its type is none of the plain ones."""
    if not isinstance(field, Mapping):
        return None
    if values := _values(field, schema):
        return lot.choice(values)
    choices = [c for c in field.get("anyOf") or () if isinstance(c, Mapping) and c.get("type") != "null"]
    if choices:
        return _value(lot.choice(choices), schema, lot)
    kind = field.get("type")
    if kind == "array":
        items = [_value(field.get("items") or {}, schema, lot) for _ in range(lot.randint(1, 4))]
        return None if None in items else items
    plain: dict[str, Sequence[Any]] = {"string": _TEXTS, "integer": _WHOLE, "number": _REAL}
    return lot.choice(plain[kind]) if kind in plain else None


_ABSENT = object()


def _values(field: Any, schema: JsonSchema) -> list[Any] | None:
    """All values that a field can have, where its schema lists them."""
    if not isinstance(field, Mapping):
        return None
    reference = field.get("$ref")
    if isinstance(reference, str):
        return _values((schema.get("$defs") or {}).get(reference.rsplit("/", 1)[-1]), {})
    if "enum" in field:
        return list(field["enum"])
    if "const" in field:
        return [field["const"]]
    if isinstance(field.get("anyOf"), list):
        parts = [_values(part, schema) for part in field["anyOf"]]
        return None if None in parts else [value for part in parts if part is not None for value in part]
    listed: dict[str, list[Any]] = {"boolean": [False, True], "null": [None]}
    return listed.get(str(field.get("type")))
