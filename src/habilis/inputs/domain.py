"""What a tool is for, as its calls show it: whether an input that nobody has sent yet is one that it must answer alike.

An input lies inside the domain when it has no trait that no real call had (a sign, a character, a number out of range,
a blank cell), and keeps each relation that all of them kept: lists of equal length, numbers in order, an argument that
stands in a file. What lies outside may teach which of two versions answers more; it never speaks against either.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from habilis.inputs.file_variants import always, labels
from habilis.inputs.formats import as_date, as_moment, is_sum, mask, value_of
from habilis.inputs.landmarks import NO_LANDMARKS, Landmarks
from habilis.inputs.relations import Given, kept_by, names_of

_KIN = {"lower": ("upper", "digit"), "upper": ("lower", "digit"), "zero": ("positive",), "positive": ("fraction",)}
"""Traits that go with others, in a wide domain."""
_TWICE = re.compile(r"([^\w.])\1")


class Domain:
    """What `calls` show: the real calls of all versions that are compared, and their writers' examples.

    `wrong` are calls that the old version answered wrongly, and `good` those that it answered rightly. `borders` are
    numbers that it compares its arguments with, and `asks` is what else it looks for: whatever was sent so far, it is
    made for them. `wide`: it goes as far as anyone may come who asks for the same: to numbers ten times as large, texts
    three times as long, digits and letters of either case where there were some letters.
    """

    def __init__(
        self,
        calls: Sequence[Given],
        *,
        good: Sequence[Given] = (),
        wrong: Sequence[Given] = (),
        borders: Collection[float] = (),
        asks: Landmarks = NO_LANDMARKS,
        wide: bool = False,
    ) -> None:
        self.calls = calls
        self._borders, self._asks = borders, asks
        texts = {name: [c.arguments[name] for c in calls if name in c.arguments] for name in names_of(calls)}
        self.sums = {name for name, seen in texts.items() if all(is_sum(value) for value in seen)}
        self._words = {name: found for name, seen in texts.items() if (found := asked_for(asks.words, seen))}
        self.dates = {name for name, seen in texts.items() if all(as_date(value) for value in seen)}
        self.moments = {name for name, seen in texts.items() if all(as_moment(value) for value in seen)}
        days = self.dates | self.moments
        self._masks = {name: form for name, seen in texts.items() if name not in days and (form := _formats(seen))}
        self._formed = {*self.sums, *days, *self._masks}
        self._traits = {trait for call in calls for trait in self._coarse(call)}
        self._traits |= {other for trait in self._traits for other in (_kin(trait) if wide else ())}
        self._ranges = _ranges(calls, wide=wide)
        self.relations = kept_by(calls)
        known = {trait for call in good for trait in fine(call)}
        self._apart = [set(fine(call)) - known for call in wrong]

    def widened(self) -> Domain:
        """The wide one of the same calls."""
        return Domain(self.calls, borders=self._borders, asks=self._asks, wide=True)

    def holds(self, given: Given) -> bool:
        """Whether `given` lies inside."""
        if not self.calls:
            return False
        return (
            all(trait in self._traits or always(trait) for trait in self._coarse(given))
            and self._named_alike(given)
            and all(low <= number <= high for low, number, high in self._measured(given))
            and all(relation(given) for relation in self.relations)
            and all(value_of(given.arguments[name]) for name in self.sums & given.arguments.keys())
        )

    @property
    def excuses(self) -> bool:
        """Whether the old version is known to have answered wrongly."""
        return bool(self._apart)

    def explained(self, given: Given) -> bool:
        """Whether a version that mends the wrong answers may differ on `given`: it shares with one of them what no good
        call shows. Wrong answers that nothing sets apart from good ones explain every difference."""
        if not self._apart:
            return False
        traits = set(fine(given))
        return any(not apart or apart & traits for apart in self._apart)

    def _coarse(self, given: Given) -> Iterator[str]:
        for name, value in given.arguments.items():
            if name in self._masks:
                yield f"{name}: {mask(value)}"
            elif name in self.dates:
                yield f"{name}: {'a date' if as_date(value) else 'no date'}"
            elif name in self.moments:
                yield f"{name}: {'a moment' if as_moment(value) else 'no moment'}"
            elif name in self.sums:
                yield f"{name}: {'a sum' if is_sum(value) else 'no sum'}"
            elif not _names_file(value, given.files) and not self._is_border(name, value):
                yield from _traits(self._unmarked(value), name)
        for name, content in given.files.items():
            yield from labels(name, content)

    def _unmarked(self, value: Any) -> Any:
        """`value` without the items and signs that the code looks for, unless it is made of nothing else."""
        if isinstance(value, str) and self._asks.signs:
            return "".join(sign for sign in value if sign not in self._asks.signs) or value
        if isinstance(value, list):
            return [self._unmarked(item) for item in value if not _is_one_of(item, self._asks.items)] or value
        return value

    def _is_border(self, name: str, value: Any) -> bool:
        named = _is_one_of(value, self._borders) or (self._asks.empty and value in ("", []))
        return named or value in self._words.get(name, ())

    def _named_alike(self, given: Given) -> bool:
        seen = [call.arguments.keys() for call in self.calls]
        known = set().union(*seen)
        return given.arguments.keys() <= known and all(
            name in given.arguments or any(name not in names for names in seen) for name in known
        )

    def _measured(self, given: Given) -> Iterator[tuple[float, float, float]]:
        plain = {name: value for name, value in given.arguments.items() if name not in self._formed}
        plain = {name: value for name, value in plain.items() if not self._is_border(name, value)}
        for path, number in _numbers(Given(plain, given.files)):
            low, high = self._ranges.get(path, (number, number))
            if not (path.endswith("[]") and _is_one_of(number, self._asks.items)):
                yield low, number, high


def asked_for(lists: Collection[Sequence[str]], seen: Sequence[Any]) -> Sequence[str]:
    """The most words of the code's that a text may be, where every real call took one of those."""
    return max((words for words in lists if all(value in words for value in seen)), key=len, default=())


def _is_one_of(value: Any, numbers: Collection[float]) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value in numbers


def _formats(seen: Sequence[Any]) -> str | None:
    """The one mask of all texts in `seen`, where it is a format: digits among separators, or beside letters."""
    masks = {mask(value) for value in seen}
    found = masks.pop() if len(masks) == 1 else None
    return found if found and "9" in found and len(set(found)) > 1 and " " not in found else None


def _traits(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        yield f"{path}: {type(value).__name__}"
    elif isinstance(value, (int, float)):
        yield f"{path}: {'negative' if value < 0 else 'positive' if value else 'zero'}"
        if not float(value).is_integer():
            yield f"{path}: fraction"
    elif isinstance(value, str):
        yield from (f"{path}: {kind}" for kind in dict.fromkeys(map(_character, value)))
        if not value.strip():
            yield f"{path}: blank"
        elif value != value.strip():
            yield f"{path}: blank at an end"
    elif isinstance(value, list):
        if not value:
            yield f"{path}: no items"
        for item in value:
            yield from _traits(item, f"{path}[]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _traits(item, f"{path}.{key}")


def _character(character: str) -> str:
    if character.isalpha():
        case = "upper" if character.isupper() else "lower"
        return case if character.isascii() else f"{case} beyond ASCII"
    return "digit" if character.isdigit() and character.isascii() else repr(character)


def _numbers(given: Given) -> Iterator[tuple[str, float]]:
    """What can be measured: numbers, and lengths of texts and lists."""

    def of(value: Any, path: str) -> Iterator[tuple[str, float]]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path, value
        elif isinstance(value, (str, list)):
            yield f"{path} length", len(value)
            for item in value if isinstance(value, list) else ():
                yield from of(item, f"{path}[]")
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield from of(item, f"{path}.{key}")

    for name, value in given.arguments.items():
        if not _names_file(value, given.files):
            yield from of(value, name)


def _kin(trait: str) -> Iterator[str]:
    """Traits that go with one: whoever is asked for small letters may be asked for large ones."""
    path, _, kind = trait.rpartition(": ")
    yield from (f"{path}: {other}" for other in _KIN.get(kind, ()))


def _ranges(calls: Sequence[Given], *, wide: bool) -> dict[str, tuple[float, float]]:
    """How far each number may go: what was seen, and a little further; `wide`, much further."""
    seen: dict[str, list[float]] = {}
    for call in calls:
        for path, number in _numbers(call):
            seen.setdefault(path, []).append(number)
    found = {}
    for path, numbers in seen.items():
        low, high = min(numbers), max(numbers)
        size = max(-low, high)
        if path.endswith(" length"):
            further = 2 * high + 6 if wide else high + 4
            found[path] = (max(1, low - further) if low else low, high + further)
        else:
            further = max(100.0, 10 * size) if wide else max(3.0, (high - low) / 2, size / 2)
            found[path] = (low - further, high + further)
    return found


# --- what tells wrong answers from good ones


def fine(given: Given) -> Iterator[str]:
    """Everything in which a call that is answered wrongly may differ from one that is not."""
    for name, value in given.arguments.items():
        if not _names_file(value, given.files):
            yield from _traits(value, name)
            yield from _finer(value, name)
    for name, content in given.files.items():
        yield from labels(name, content)
    for one, other in combinations(sorted(given.arguments), 2):
        first, second = given.arguments[one], given.arguments[other]
        if type(first) is type(second) and isinstance(first, (int, float, str)):
            yield f"{one} {'<' if first < second else '=' if first == second else '>'} {other}"


def _finer(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, bool) or value is None:
        yield f"{path} is {value}"
    elif isinstance(value, (int, float)):
        yield f"{path}: {'even' if value % 2 == 0 else 'odd'}"
        yield f"{path}: {int(abs(value)).bit_length()} bits"
    elif isinstance(value, str):
        yield f"{path}: {len(value).bit_length()} bits long"
        yield f"{path}: {'some' if len(set(value.split())) < len(value.split()) else 'no'} words twice"
        yield from (f"{path} has {word}" for word in set(value.split()))
        yield from (f"{path}: {sign!r} twice in a row" for sign in set(_TWICE.findall(value)))
    elif isinstance(value, list):
        yield f"{path}: {'even' if len(value) % 2 == 0 else 'odd'} length"
        yield f"{path}: {len(value).bit_length()} bits long"
        yield f"{path}: {'some' if len({repr(item) for item in value}) < len(value) else 'no'} items twice"
        with contextlib.suppress(TypeError):
            yield f"{path}: {'in' if value == sorted(value) else 'out of'} order"


def _names_file(value: Any, files: Mapping[str, bytes]) -> bool:
    if isinstance(value, str):
        return any(name == value or name.startswith(value.rstrip("/") + "/") for name in files)
    if isinstance(value, list):
        return bool(value) and any(_names_file(item, files) for item in value)
    return False
