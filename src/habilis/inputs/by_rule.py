"""Inputs by rule at the places where versions part most: what the code looks for, ties between arguments, repeats.

They come after those that are drawn, and lie inside the domain but for what the old version's own code looks for.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations, zip_longest
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from habilis.core.types import JsonSchema
from habilis.inputs.domain import Domain
from habilis.inputs.landmarks import Landmarks
from habilis.inputs.relations import Given
from habilis.inputs.search import OUTSIDE, TEXTS, by_type, reaches

Rule = Callable[[Given, Landmarks], Iterator[Given]]
MOST = 8
"""Inputs of one comparison that are made by rule."""
_TRIED = 96
_BASES = 3
_PACKED = 4
"""Numbers that are put into one list, no more than what a list may be longer by."""
_LONGEST = 200
"""A text or a list is made no longer than this for a length that the code names."""
_MORE_TEXTS = ("abab", "AbaB", "one two two", "Level", "b", "0110", "aa Bb aa", "112233", "[a] (b)", "Ab1 cD2")
_KINDS = (ascii_lowercase, ascii_uppercase, digits)


def telling(domain: Domain, known: Landmarks, seen: Callable[[Given], bool]) -> Iterator[Given]:
    """Up to eight inputs that were not `seen`, from each rule in turn."""
    bases = sorted(domain.calls, key=lambda call: -len(repr(call.arguments)))[:_BASES]
    rules = [
        _of_each(rule, bases, known)
        for rule in (_empty, _ties, _of_items, _of_units, _of_signs, _of_words, _of_lengths)
    ]
    made: list[Given] = []
    candidates = (one for row in zip_longest(*rules) for one in row if one is not None)
    for given in islice(candidates, _TRIED):
        if len(made) < MOST and given not in made and not seen(given) and domain.holds(given):
            made.append(given)
            yield given


def _of_each(rule: Rule, bases: Sequence[Given], known: Landmarks) -> Iterator[Given]:
    for row in zip_longest(*(rule(base, known) for base in bases)):
        yield from (one for one in row if one is not None)


def _plain(base: Given) -> list[tuple[str, Any]]:
    """The arguments of a call that name none of its files."""
    return [
        (name, base.arguments[name]) for name in sorted(base.arguments) if not reaches(base.arguments[name], base.files)
    ]


def _changed(base: Given, name: str, value: Any) -> Given:
    return Given({**base.arguments, name: value}, base.files)


def _empty(base: Given, known: Landmarks) -> Iterator[Given]:
    """Nothing, where the code asks whether anything was given."""
    for name, value in _plain(base):
        if known.empty and value and isinstance(value, (str, list)):
            yield _changed(base, name, type(value)())


def _ties(base: Given, known: Landmarks) -> Iterator[Given]:
    """One argument that comes to as much as another: its parts turned round, its length, or the sum of all others."""
    for (one, first), (_, second) in permutations(_plain(base), 2):
        if type(first) is type(second) and not isinstance(first, bool):
            rest = [value for name, value in _plain(base) if name != one]
            yield _changed(base, one, _as_much(second, rest))
        elif type(first) is int and isinstance(second, (str, list)):
            yield from (_changed(base, one, len(second) + step) for step in (0, 1, -1))


def _as_much(value: Any, others: Sequence[Any]) -> Any:
    if isinstance(value, str):
        return value[::-1]
    if isinstance(value, list):
        return [item[::-1] if isinstance(item, str) else item for item in value[::-1]]
    plain = len(others) > 1 and all(type(other) in (int, float) for other in others)
    return sum(others) if plain else value


def _of_items(base: Given, known: Landmarks) -> Iterator[Given]:
    """A list with numbers that its items are compared with: a few at its end, then one there, then one at both ends."""
    for name, value in _plain(base):
        if isinstance(value, list) and value and all(type(item) in (int, float) for item in value):
            whole = all(isinstance(item, int) for item in value)
            near = [border + step for step in (0, 1, -1) for border in sorted(known.items)]
            fitting = [number for number in near if not whole or float(number).is_integer()]
            for start in range(0, len(fitting), _PACKED):
                yield _changed(base, name, [*value, *fitting[start : start + _PACKED]])
            yield from (_changed(base, name, [*value, number]) for number in fitting)
            yield from (_changed(base, name, [number, *value]) for number in fitting)
            yield from (_changed(base, name, [number, *value[1:], number]) for number in fitting)


def _of_units(base: Given, known: Landmarks) -> Iterator[Given]:
    """A whole number that is the next lower multiple of what the code divides by, at least that, and one less."""
    for unit in sorted(known.units):
        for name, value in _plain(base):
            for step in (0, -1):
                if type(value) is int and value:
                    yield _changed(base, name, (value // unit or 1) * unit + step)
                elif isinstance(value, list) and value and type(value[0]) is int:
                    yield _changed(base, name, [*value, (value[0] // unit or 1) * unit + step])


def _of_signs(base: Given, known: Landmarks) -> Iterator[Given]:
    """A text with a sign that the code looks for: at either end, and within, once and several times."""
    for name, value in _plain(base):
        if isinstance(value, str) and value:
            if known.signs and not any(map(str.isalnum, value)):
                yield from (_changed(base, name, text) for text in _spelled(sorted({*known.signs, *value})))
            half = (len(value) + 1) // 2
            for number in (0, 2, 1, 3):
                for sign in sorted(known.signs, key=lambda sign: (sign in value and sign != " ", sign)):
                    if number:
                        yield _changed(base, name, value[:half] + sign * number + value[half:])
                    else:
                        yield _changed(base, name, value + sign)
                        yield _changed(base, name, sign + value)


def _spelled(signs: Sequence[str]) -> Iterator[str]:
    """Texts of signs alone."""
    for one, other in permutations(signs, 2):
        yield one * 2 + other * 2
        yield (one + other) * 2
        yield one + other * 2 + one


def _of_words(base: Given, known: Landmarks) -> Iterator[Given]:
    """Another word of a list that the code has, where an argument, or a part of one, stands in that list; first such as
    another list, the other version's perhaps, has not."""
    lists = Counter(word for words in known.words for word in set(words))
    for words in known.words:
        apart = [word for word in words if lists[word] < max(lists[one] for one in words)][:_BASES]
        some = (*apart, *words[:: max(1, len(words) // _BASES)])
        if any(value in words for value in base.arguments.values() if isinstance(value, str)):
            for name, value in _plain(base):
                if isinstance(value, str):
                    yield from (_changed(base, name, word) for word in some)
        else:
            for name, value in _plain(base):
                yield from (_changed(base, name, other) for other in _partly(value, words, some))


def _partly(value: Any, words: Sequence[str], others: Sequence[str]) -> Iterator[Any]:
    """`value` with one of `others` in place of one of `words` that stands in it."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            if item in words:
                yield from ([*value[:place], other, *value[place + 1 :]] for other in others if other != item)
    elif isinstance(value, str):
        for word in filter(None, words):
            if there := re.search(rf"(?<!\w){re.escape(word)}(?!\w)", value):
                before, after = value[: there.start()], value[there.end() :]
                yield from (before + other + after for other in others if other != word)


def _of_lengths(base: Given, known: Landmarks) -> Iterator[Given]:
    """A text or a list that is longer by as much as any may be, or as long as the code says, and one beside."""
    for name, value in _plain(base):
        if isinstance(value, (str, list)) and value:
            named = [length + step for step in (0, 1, -1) for length in sorted(known.lengths)]
            for length in (len(value) + 3, *named):
                if 0 < length <= _LONGEST and length != len(value):
                    yield _changed(base, name, _as_long(value, length))


def _as_long(value: Any, length: int) -> Any:
    """The beginning of a list or a text, or one that goes on: a text with the letters and digits that come next."""
    if isinstance(value, list) or length <= len(value):
        return (value * (length // len(value) + 1))[:length]
    kind = next((kind for kind in _KINDS if value[-1] in kind), value)
    start = kind.index(value[-1]) + 1
    return value + "".join(kind[(start + n) % len(kind)] for n in range(length - len(value)))


def spread(schema: JsonSchema, seed: str) -> Iterator[Given]:
    """A few inputs by type alone where real calls show next to nothing: longer ones, with parts that come twice."""
    lot = random.Random(seed)
    for number in range(OUTSIDE):
        arguments = by_type(schema, lot)
        if arguments is None:
            return
        given = Given({name: _repeating(value, number, lot) for name, value in arguments.items()})
        yield given
        yield from (_changed(given, one, other.swapcase()) for one, other in _texts(given)[:1])


def _texts(given: Given) -> list[tuple[str, str]]:
    """Names of texts, each with another text of the same call."""
    texts = [(name, value) for name, value in given.arguments.items() if isinstance(value, str)]
    return [(one, other) for (one, _), (_, other) in permutations(texts, 2)]


def _repeating(value: Any, number: int, lot: random.Random) -> Any:
    if isinstance(value, str) and value in TEXTS:
        return _MORE_TEXTS[(number + lot.randrange(2)) % len(_MORE_TEXTS)]
    return value + lot.choices(value, k=1 + number % 3) if isinstance(value, list) and value else value
