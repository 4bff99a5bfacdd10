"""JSON schemas that strangers wrote: bounded before they are used, and checked against in a bounded number of steps.

A schema is a program. References make it exponential in its length, patterns in the length of a text; so whoever sends
one could keep the process that checks by it busy for good. Here each keyword that is evaluated costs a step, and a
check that has used up its steps ends with `TooMuch`. No wall clock is asked, so the same check always ends alike.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from habilis.core.types import JsonSchema
from habilis.schemas.patterns import compiled
from habilis.schemas.references import reference_fault

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_CHARS = 128_000
MAX_DEPTH = 64
MAX_NODES = 5_000
MAX_STEPS = 60_000
"""About a second of work at most."""
MAX_VALUE_DEPTH = 200
MAX_ERRORS = 1_000
_CHARS_A_STEP, _SAID_A_STEP = 256, 32
"""Characters that a pattern of weight 1 passes in a step, and that are written into an error."""
_LOADING = threading.Lock()
_WALKS = frozenset(
    {"items", "additionalItems", "contains", "unevaluatedItems", "uniqueItems"}
    | {"additionalProperties", "propertyNames", "patternProperties", "unevaluatedProperties"}
)
"""Keywords that look at every item of a value, even where a sub-schema says nothing."""


class SchemaFault(ValueError):
    """A schema that nothing can be checked by. The text says why."""


class TooMuch(Exception):
    """A check that would take more steps than it may: whether the value fits is unknown."""


def fault_of(schema: Any) -> str | None:
    """Why `schema` is not to be used, as words to follow "the schema"; None for one that is within bounds."""
    nodes = chars = 0
    pending: list[tuple[Any, int]] = [(schema, 1)]
    while pending:
        node, depth = pending.pop()
        nodes += 1
        chars += len(node) if isinstance(node, str) else 0
        if depth > MAX_DEPTH:
            return f"is nested more than {MAX_DEPTH} levels deep; make it flatter"
        if isinstance(node, Mapping):
            chars += sum(len(key) for key in node)
            pending += [(value, depth + 1) for value in node.values()]
        elif isinstance(node, (list, tuple)):
            pending += [(value, depth + 1) for value in node]
        if nodes + len(pending) > MAX_NODES:
            return f"holds more than {MAX_NODES:,} values; use fewer or simpler fields"
        if chars > MAX_CHARS:
            return f"holds more than {MAX_CHARS:,} characters; use shorter descriptions and fewer choices"
    return reference_fault(schema)


class Meter:
    """The steps that are left of one check. It takes the place of a format checker, which validators hand down."""

    def __init__(self, steps: int, value: Any, *, names_by_pattern: bool) -> None:
        self._left, self.names_by_pattern = steps, names_by_pattern
        self._size = self._measured(value, 4 * steps)

    def spend(self, steps: int) -> None:
        """Raises `TooMuch` when there are not that many left."""
        self._left -= steps
        if self._left < 0:
            raise TooMuch

    def tell(self, value: Any) -> None:
        """Pay for an error, whose text has the whole value in it."""
        size = len(value) if isinstance(value, str) else self._size if isinstance(value, (list, dict)) else 0
        self.spend(1 + size // _SAID_A_STEP)

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern is found in `text`; None when that is not to be found out here."""
        found = compiled(pattern)
        if found is None:
            return None
        self.spend(1 + found.weight * len(text) // _CHARS_A_STEP)
        return found.found_in(text)

    @staticmethod
    def _measured(value: Any, most: int) -> int:
        """How many values and characters `value` holds. Raises `TooMuch` for one of too many values or levels."""
        nodes = chars = 0
        pending: list[tuple[Any, int]] = [(value, 1)]
        while pending:
            node, depth = pending.pop()
            nodes += 1
            if isinstance(node, str):
                chars += len(node)
            elif isinstance(node, dict):
                chars += sum(map(len, node))
                pending += [(item, depth + 1) for item in node.values()]
            elif isinstance(node, list):
                pending += [(item, depth + 1) for item in node]
            if depth > MAX_VALUE_DEPTH or nodes + len(pending) > most:
                raise TooMuch
        return nodes + chars


def load() -> None:
    """Import the library. It imports itself in a circle, so that of two threads that begin with it at the same time one
    would find it half made: whoever needs it comes by here."""
    with _LOADING:
        import jsonschema.validators  # noqa: F401


class Checker:
    """A schema to check values by, in bounded steps. Formats are not checked."""

    def __init__(self, schema: Any) -> None:
        """Raises `SchemaFault` for what is no schema of its draft, or out of bounds."""
        load()
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import Draft202012Validator, validator_for

        if (fault := fault_of(schema)) is not None:
            raise SchemaFault(fault)
        kind: Any = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema, format_checker=None)
        except SchemaError as error:
            place = ".".join(str(part) for part in error.absolute_path) or "the top"
            raise SchemaFault(f"is not a valid JSON schema: at {place}: {error.message[:200]}") from None
        self._schema, self._kind = schema, _bounded_kind(kind)
        self._names_by_pattern = "patternProperties" in json.dumps(schema)

    def errors(self, value: Any, *, steps: int = MAX_STEPS) -> list[ValidationError]:
        """What is wrong with `value`, the first `MAX_ERRORS` of it. Raises `TooMuch`."""
        return list(itertools.islice(self._errors(value, steps), MAX_ERRORS))

    def fits(self, value: Any, *, steps: int = MAX_STEPS) -> bool:
        """Whether `value` fits; what is too much to check does not."""
        try:
            return next(self._errors(value, steps), None) is None
        except TooMuch:
            return False

    def _errors(self, value: Any, steps: int) -> Iterator[ValidationError]:
        from referencing import Registry
        from referencing.exceptions import Unresolvable

        try:
            meter = Meter(steps, value, names_by_pattern=self._names_by_pattern)
            # an empty registry fetches nothing
            yield from self._kind(self._schema, format_checker=meter, registry=Registry()).iter_errors(value)
        except (RecursionError, OverflowError, Unresolvable):
            raise TooMuch from None


@lru_cache(maxsize=256)
def checker_of(schema: str) -> Checker | None:
    """The checker of a schema, given as JSON; None where the schema is of no use."""
    try:
        return Checker(json.loads(schema))
    except (SchemaFault, ValueError, RecursionError):
        return None


def unchecked_patterns(schema: JsonSchema) -> list[str]:
    """Patterns of `schema` that no text is checked against here: unknown to the engine, or too large."""
    found: list[str] = []
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, Mapping):
            pending += node.values()
            named = node.get("patternProperties")
            found += [node["pattern"]] if isinstance(node.get("pattern"), str) else []
            found += list(named) if isinstance(named, Mapping) else []
        elif isinstance(node, list):
            pending += node
    return [pattern for pattern in found if compiled(pattern) is None]


# --- keywords that are done otherwise than the library does them


@lru_cache(maxsize=8)
def _bounded_kind(kind: Any) -> Any:
    """A validator class of the library that counts its steps, and runs no pattern by Python's `re`."""
    from attrs import fields
    from jsonschema import validators

    ours = {key: check for key, check in _OURS.items() if key in kind.VALIDATORS}
    library: Any = validators
    made = library.extend(kind, {key: _metered(key, check) for key, check in {**kind.VALIDATORS, **ours}.items()})
    given = [(field.name, field.alias or field.name) for field in fields(made) if field.init]

    def evolve(self: Any, **changes: Any) -> Any:
        # the library's own takes its plain class wherever a part of a schema names a `$schema`
        self.format_checker.spend(2)
        return made(**{**{alias: getattr(self, name) for name, alias in given}, **changes})

    made.evolve = evolve
    return made


def _metered(key: str, check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    walks = key in _WALKS

    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        meter = validator.format_checker
        looked_at = len(instance) if walks and isinstance(instance, (list, dict)) else 0
        meter.spend(1 + looked_at + _weight(key, value))
        if key == "unevaluatedProperties" and meter.names_by_pattern:
            return  # the library would run the patterns of names by `re`
        for error in check(validator, value, instance, schema) or ():
            meter.tell(instance)
            yield error

    return counted


def _weight(key: str, value: Any) -> int:
    """What the keyword's own value costs to be looked through."""
    if key in ("$ref", "$dynamicRef"):
        return 5
    if key in ("enum", "const"):
        return len(json.dumps(value)) // 32 if isinstance(value, (list, dict)) else 0
    return len(value) // 4 if isinstance(value, (list, dict)) else 0


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and validator.format_checker.matches(pattern, instance) is False:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, named: Any, instance: Any, schema: Any) -> Iterator[Any]:
    for pattern, inner in named.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if validator.format_checker.matches(pattern, key):
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _additional_properties(validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    matches = validator.format_checker.matches
    extras = [k for k in instance if k not in named and all(matches(pattern, k) is False for pattern in patterns)]
    if isinstance(inner, dict):
        for key in extras:
            yield from validator.descend(instance[key], inner, path=key)
    elif not inner and extras:
        listed = ", ".join(map(repr, sorted(extras)))
        verb = "was" if len(extras) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({listed} {verb} unexpected)")


def _unique_items(validator: Any, asked: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if asked and isinstance(instance, list) and len({_spelt(item) for item in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _spelt(value: Any) -> str:
    """A value as text that is equal for equal values of JSON, where 1 is 1.0 and not true."""
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unchecked(validator: Any, value: Any, instance: Any, schema: Any) -> tuple[()]:
    return ()


_OURS: Mapping[str, Callable[..., Any]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
    "format": _unchecked,
}
