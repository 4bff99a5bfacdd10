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
from habilis.inputs.afresh import afresh
from habilis.inputs.constants import NO_CONSTANTS, Constants
from habilis.inputs.domain import Domain, asked_for, fine
from habilis.inputs.edits import another_day, another_moment, another_sum, moved, varied
from habilis.inputs.file_variants import odd_variants, variant
from habilis.inputs.formats import as_date
from habilis.inputs.relations import Given

INSIDE, OUTSIDE = 18, 8
"""Inputs on which two versions are compared. Where a narrow domain has fewer, more at its borders take their place."""
MOST_POSSIBLE = 32
"""A domain of no more inputs than these is tried whole."""
NAMED = 12
"""Real calls with a number of the code in them that are looked at, at most."""
OF_A_CHOICE = 2
"""Words of one choice that are tried in a file."""
OF_EACH = 3
"""Of so many candidates one is tried."""
OF_WORDS = 0.7
"""How often an argument that was always a word which the code lists is another of them, and no edited text."""
_TRIES = 400
_TRIES_OF_EACH = 3
"""Candidates, on average, of which one is to be new and inside."""
_LIST = re.compile(r"\b\w+(?:, \w+)*,? or \w+\b")
TEXTS = ("", "a", "Zebra 12", "naïve café", "1,234.5", "-7", "x y z", "2024-02-29")
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
        values = listed_values(field, schema)
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
        values = None if name == "error" else listed_values(field, schema)
        if name != "error":
            number *= 3 if values is None else max(1, sum(value is not None for value in values))
    return min(3, number)


class Search:
    """Inputs that differ from each other and from the domain's own calls, the same for a seed and what was `learned`.

    First come those inside the domain, then those at its borders. An input on which the versions gave a result that no
    other input gave is edited further, as if it were a real call.
    """

    def __init__(
        self,
        domain: Domain,
        schema: JsonSchema,
        seed: str,
        known: Constants = NO_CONSTANTS,
        words: Sequence[Sequence[str]] = (),
        *,
        anew: float = 0.0,
    ) -> None:
        self._domain, self._schema, self._known, self._words = domain, schema, known, words
        self._anew = anew
        self._of: dict[str, tuple[list[Any], list[Any], Sequence[str]]] = {}
        self._lot = random.Random(seed)
        self._seen = {_key(call) for call in domain.calls}
        self._bases = list(domain.calls)
        self._results: set[str] = set()
        self._traits = {trait for call in domain.calls for trait in fine(call)}
        self._left = {True: INSIDE, False: OUTSIDE}
        self._aside: list[Given] = []
        self._tries = _TRIES if domain.calls else 0
        self._named = itertools.islice(_named(domain, known), NAMED)
        self._borders = _odd(domain, schema, self._lot)

    def next(self, number: int) -> list[Input]:
        """Up to `number` more inputs; none when there are no more."""
        found: list[Input] = []
        while len(found) < number and self._left[True]:
            if (given := self._new_inside()) is None:
                self._left = {True: 0, False: self._left[False] + self._left[True]}
                break
            self._left[True] -= 1
            found.append(Input(given, True))
        while len(found) < number and (one := self._new_border()) is not None:
            found.append(one)
        return found

    def many(self, number: int) -> list[Given]:
        """Up to `number` more inputs inside the domain, as they come."""
        self._tries = _TRIES_OF_EACH * number
        found: list[Given] = []
        while len(found) < number and (given := self._candidate()) is not None:
            self._seen.add(_key(given))
            found.append(given)
        return found

    def further(self, bases: Sequence[Given]) -> None:
        """Edit `bases` from now on."""
        self._bases += bases

    def learned(self, one: Input, result: str) -> None:
        """On `one` both versions gave `result`."""
        if result not in self._results:
            self._results.add(result)
            if one.inside:
                self._bases.append(one.given)

    def _new_inside(self) -> Given | None:
        """A border that the code names; then, of a few candidates, the one that shows most that no other did."""
        for named in self._named:
            if _key(named) not in self._seen and self._domain.holds(named):
                self._seen.add(_key(named))
                return named
        best: tuple[int, Given] | None = None
        for _ in range(OF_EACH):
            given = self._candidate()
            if given is None:
                break
            new = len(set(fine(given)) - self._traits)
            if best is None or new > best[0]:
                best = (new, given)
        if best is None:
            return None
        self._seen.add(_key(best[1]))
        self._traits.update(fine(best[1]))
        return best[1]

    def _candidate(self) -> Given | None:
        while self._tries:
            self._tries -= 1
            given = self._edited(self._bases[self._tries % len(self._bases)])
            if _key(given) not in self._seen:
                if self._domain.holds(given):
                    return given
                self._aside.append(given)
        return None

    def _new_border(self) -> Input | None:
        """The next at a border; what says the same in another form does not count as one of a few."""
        for given, same in itertools.chain(self._borders, self._spare()):
            if _key(given) not in self._seen and (same is not None or self._left[False]):
                self._seen.add(_key(given))
                self._left[False] -= same is None
                return Input(given, self._domain.holds(given), same)
        return None

    def _spare(self) -> Iterator[tuple[Given, None]]:
        """Edits that led out of the domain."""
        while self._aside:
            yield self._aside.pop(self._lot.randrange(len(self._aside))), None

    def _edited(self, base: Given) -> Given:
        lot, files = self._lot, dict(base.files)
        if files and lot.random() < 0.7:
            name = lot.choice(sorted(files))
            files[name] = variant(files[name], lot)
        arguments = dict(base.arguments)
        names = sorted(name for name, value in arguments.items() if not reaches(value, files))
        if names and (not base.files or files == dict(base.files) or lot.random() < 0.3):
            for name in lot.sample(names, lot.randint(1, len(names))):
                arguments[name] = self._other(name, arguments[name])
            _together(arguments, base, names, lot)
            _of_each_other(arguments, names, lot)
        return Given(arguments, files)

    def _other(self, name: str, value: Any) -> Any:
        """Another value for an argument: one that it had in another call, or an edited one."""
        domain, lot = self._domain, self._lot
        seen, values, words = self._known_of(name)
        if values:
            return lot.choice(values)
        if words and lot.random() < OF_WORDS:
            return lot.choice(words)
        if name in domain.sums:
            return another_sum(seen, lot)
        with contextlib.suppress(OverflowError):
            if name in domain.dates:
                return another_day(as_date(lot.choice(seen)) or datetime.date(2024, 1, 1), lot).isoformat()
            if name in domain.moments:
                return another_moment(lot.choice(seen), lot)
        if lot.random() < self._anew:
            return afresh(seen, lot)
        return lot.choice(seen) if lot.random() < 0.3 else varied(value, seen, self._known, lot)

    def _known_of(self, name: str) -> tuple[list[Any], list[Any], Sequence[str]]:
        """The values that an argument had, all that it can have where they are listed, and those that code names."""
        if name not in self._of:
            seen = [call.arguments[name] for call in self._domain.calls if name in call.arguments]
            field = (self._schema.get("properties") or {}).get(name)
            listed = listed_values(field, self._schema) or _listed(field, seen)
            self._of[name] = seen, listed, asked_for(self._words, seen)
        return self._of[name]


def _named(domain: Domain, known: Constants) -> Iterator[Given]:
    """A real call with a number that an argument is compared with, and its neighbours; with a letter before a text,
    where the code lists the letters that texts are written in; or with a word of its file in place of which the code
    takes another as well."""
    letters = sorted(text for text in known.texts if len(text) == 1)
    for call in domain.calls[:1]:
        for name, value in call.arguments.items():
            if isinstance(value, str) and value and set(value) <= set(letters):
                yield from (Given({**call.arguments, name: letter + value}, call.files) for letter in letters)
    for step in (0, -1, 1):
        for border in sorted(known.borders):
            for call in domain.calls[:1]:
                for name, value in call.arguments.items():
                    if isinstance(value, (int, float)) and not isinstance(value, bool):
                        yield Given({**call.arguments, name: type(value)(border + step)}, call.files)
    for call in domain.calls[:1]:
        for name, content in call.files.items():
            for other in _reworded(content, known.choices):
                yield Given(call.arguments, {**call.files, name: other})


def _reworded(content: bytes, choices: Sequence[Sequence[str]]) -> Iterator[bytes]:
    """A file with one word, wherever it stands in it, exchanged for others of the same choice."""
    for words in choices:
        ways = {word: re.compile(rb"(?<![A-Za-z_])%s(?!\w)" % re.escape(word.encode())) for word in words}
        there = [word for word in words if ways[word].search(content)]
        for other in [word for word in words if word not in there][:OF_A_CHOICE] if there else ():
            yield ways[there[0]].sub(other.encode(), content)


def _key(given: Given) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    return repr(sorted(given.arguments.items())), tuple(sorted(given.files.items()))


# --- from real calls


def _listed(field: Any, seen: Sequence[Any]) -> list[str]:
    """The words that a text may be, where the field's description lists them and every real call took one of those."""
    words = listed_words(field)
    return words if all(value in words for value in seen) else []


def listed_words(field: Any) -> list[str]:
    """The words that the description of a field lists; none where it lists nothing."""
    said = field.get("description") if isinstance(field, Mapping) else None
    found = _LIST.search(said) if isinstance(said, str) else None
    words = re.split(r", or |, | or ", found.group()) if found else []
    return words if len(words) > 1 else []


def _together(arguments: dict[str, Any], base: Given, names: Sequence[str], lot: random.Random) -> None:
    """Lists that were equally long are now and then changed in the same places, so that they stay so."""
    lists = [name for name in names if isinstance(base.arguments[name], list)]
    if len(lists) < 2 or len({len(base.arguments[name]) for name in lists}) > 1 or lot.random() < 0.3:
        return
    length = len(base.arguments[lists[0]])
    places = [lot.randrange(length) for _ in range(lot.randint(1, length + 1))] if length else []
    for name in lists:
        arguments[name] = [base.arguments[name][place] for place in places]


def _of_each_other(arguments: dict[str, Any], names: Sequence[str], lot: random.Random) -> None:
    """Now and then one argument is another, a part of it, or the same with its letters or items moved."""
    if len(names) < 2 or lot.random() > 0.3:
        return
    one, other = lot.sample(names, 2)
    first, second = arguments[one], arguments[other]
    if type(first) is type(second):
        arguments[one] = lot.choice((second, moved(second, lot), moved(second, lot)))
    elif isinstance(second, list) and second and type(first) is type(second[0]):
        arguments[one] = lot.choice(second)


def reaches(value: Any, files: Mapping[str, bytes]) -> bool:
    """Whether `value` names one of the files."""
    if isinstance(value, str):
        return any(name == value or name.startswith(value.rstrip("/") + "/") for name in files)
    return isinstance(value, list) and any(reaches(item, files) for item in value)


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
        arguments = by_type(schema, lot)
        if arguments is not None:
            yield Given(arguments), None


def by_type(schema: JsonSchema, lot: random.Random) -> dict[str, Any] | None:
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
    if values := listed_values(field, schema):
        return lot.choice(values)
    choices = [c for c in field.get("anyOf") or () if isinstance(c, Mapping) and c.get("type") != "null"]
    if choices:
        return _value(lot.choice(choices), schema, lot)
    kind = field.get("type")
    if kind == "array":
        items = [_value(field.get("items") or {}, schema, lot) for _ in range(lot.randint(1, 4))]
        return None if None in items else items
    if kind == "object" and isinstance(field.get("additionalProperties"), Mapping):
        keys = lot.sample(TEXTS, lot.randint(1, 3))
        items = [_value(field["additionalProperties"], schema, lot) for _ in keys]
        return None if None in items else dict(zip(keys, items, strict=True))
    plain: dict[str, Sequence[Any]] = {"string": TEXTS, "integer": _WHOLE, "number": _REAL}
    return lot.choice(plain[kind]) if kind in plain else None


_ABSENT = object()


def listed_values(field: Any, schema: JsonSchema) -> list[Any] | None:
    """All values that a field can have, where its schema lists them."""
    if not isinstance(field, Mapping):
        return None
    reference = field.get("$ref")
    if isinstance(reference, str):
        return listed_values((schema.get("$defs") or {}).get(reference.rsplit("/", 1)[-1]), {})
    if "enum" in field:
        return list(field["enum"])
    if "const" in field:
        return [field["const"]]
    if isinstance(field.get("anyOf"), list):
        parts = [listed_values(part, schema) for part in field["anyOf"]]
        return None if None in parts else [value for part in parts if part is not None for value in part]
    listed: dict[str, list[Any]] = {"boolean": [False, True], "null": [None]}
    return listed.get(str(field.get("type")))
