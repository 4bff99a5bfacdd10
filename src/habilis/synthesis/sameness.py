"""Whether two requests ask for the same tool, by what is asked: the description, what goes in, what comes out.

A wrong join is worse than a missed one. So no share of common words decides: whatever one request says must be said,
in some words, by the other. Then the order must agree where it tells something: what is converted into what, what is
done first (the square of a sum is no sum of squares).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from habilis.core.types import JsonSchema, ToolRequest
from habilis.library.retrieval.terms import readable
from habilis.synthesis.vocabulary import implied_by, says_nothing, spoken
from habilis.synthesis.wording import paired_by_description, worded_alike

# words as `spoken` gives them: synonyms as one, stemmed
_FORWARD = frozenset(("to", "into", "as", "per", "minus", "subtract", "over", "vs", "than"))
_BACKWARD = frozenset({"from", "of", "for"})
_PLACES = frozenset(("first", "second", "third", "last", "left", "right"))
_ALL, _ANY = frozenset(("all", "each", "everi")), frozenset(("ani", "singl", "some"))
_THEN = frozenset(("and", "then", "afterwards", ",", ";", "."))
_ONTO = frozenset(("add", "append", "appli", "attach"))
_CODES = frozenset(("base64", "hexadecimal", "mors", "punycod"))
_DEEDS = frozenset(
    [
        "abs",
        "ceil",
        "count",
        "cube",
        "decod",
        "difference",
        "encod",
        "exp",
        "flatten",
        "floor",
        "length",
        "log",
        "lower",
        "max",
        "mean",
        "median",
        "min",
        "product",
        "reciproc",
        "reverse",
        "round",
        "shuffle",
        "sort",
        "sqrt",
        "square",
        "stdev",
        "sum",
        "unique",
        "upper",
        "variance",
    ]
)
"""Operations of which two, one done after the other, give something else in the other order."""
_PATHS = frozenset(("path", "file", "filename", "filepath", "csv", "pdf", "folder", "directory", "dir"))
_NUMBERED = (
    frozenset(("a", "x", "first", "one", "1")),
    frozenset(("b", "y", "second", "two", "2")),
    frozenset(("c", "z", "third", "three", "3")),
)
_FIELD_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_SIDES = frozenset(("base", "breadth", "height", "length", "side", "width"))
_COMMON_NAMES = frozenset(
    [
        "amount",
        "count",
        "date",
        "final",
        "flatten",
        "name",
        "nest",
        "order",
        "plain",
        "sort",
        "titl",
        "unique",
        "valu",
        "word",
    ]
)
"""Names of fields that say no more than the type does."""


@dataclass(frozen=True)
class _Asked:
    """A request as it is compared.

    `words` are to be met by the other request, `said` is all that it says. `ways` lead from one word to another (`a`
    to `b`), `hints` do so less plainly (`b of a`). `order` are the words as they come.
    """

    words: frozenset[str]
    said: frozenset[str]
    ways: frozenset[tuple[str, str]]
    hints: frozenset[tuple[str, str]]
    order: tuple[str, ...]
    takes: frozenset[str]
    gives: frozenset[str]


def same_request(one: ToolRequest, other: ToolRequest) -> bool:
    """Whether two requests, named differently perhaps, ask for the same tool. Sure rather than clever:

    - the same fields go in and come out, but for names;
    - what one says in name and description the other says too, fields counted in and synonyms as one word;
    - what is made into what, and what is done first, is the same.
    """
    if one == other or worded_alike(one, other):
        return True
    first, second = _asked(one), _asked(other)
    return (
        bool(first.words and second.words)
        and first.words <= second.said
        and second.words <= first.said
        and _fields_agree(one.input_schema, other.input_schema, first, second)
        and _fields_agree(one.output_schema, other.output_schema, first, second)
        and not _swapped(first, second)
        and _ways_agree(first, second)
        and _ways_agree(second, first)
        and _places_agree(first.order, second.order)
        and _amounts_agree(first.order, second.order)
        and _deeds_agree(one, other, first.words & second.words & _DEEDS)
    )


def _asked(request: ToolRequest) -> _Asked:
    name, description = spoken(request.name), spoken(request.description)
    ways = {(kind, pair) for text in (name, description) for kind, pair in _directed(text)}
    codes = {code for kind, pair in ways for code in _coded(kind, pair)}
    words = frozenset(filter(_tells, (*name, *description))) | codes
    takes, gives = (
        frozenset(word for field in _typed(schema) for word in spoken(field) if _tells(word))
        for schema in (request.input_schema, request.output_schema)
    )
    said = words | takes | gives
    return _Asked(
        words=words,
        said=said | implied_by(said),
        ways=frozenset(pair for kind, pair in ways if kind in _FORWARD and all(pair)),
        hints=frozenset(pair for kind, pair in ways if kind in _BACKWARD and all(pair)),
        order=description + name,
        takes=takes,
        gives=gives,
    )


def _tells(word: str) -> bool:
    return any(map(str.isalnum, word)) and not says_nothing(word) and not (len(word) == 1 and "a" <= word <= "z")


def _directed(text: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The words that show a way, each with what it leads from and to; empty where nothing telling stands."""
    for at, word in enumerate(text):
        if word in _FORWARD | _BACKWARD and not (word == "to" and _ONTO & set(text[:at])):
            before = next(filter(_tells, reversed(text[:at])), "")
            after = next(filter(_tells, text[at + 1 :]), "")
            if not {before, after} & _DEEDS:  # their order is looked at elsewhere
                yield word, (before, after) if word in _FORWARD else (after, before)


def _coded(kind: str, pair: tuple[str, str]) -> Iterator[str]:
    """`to base64` says encode, `from base64` decode."""
    if kind in ("to", "into", "as") and pair[1] in _CODES:
        yield "encod"
    if kind == "from" and pair[0] in _CODES:
        yield "decod"


def _ways_agree(first: _Asked, second: _Asked) -> bool:
    """Whether nothing that `first` leads one way is led the other way in `second`.

    Where `first` says so plainly (`a to b`), and `second` says nothing, its words have to come in the same order.
    """
    shown = second.ways | second.hints
    for one, other in first.ways | first.hints:
        if (one, other) in shown or one == other:
            continue
        if (other, one) in shown:
            return False
        plain = (one, other) in first.ways and {one, other} <= second.words
        if plain and second.order.index(one) > second.order.index(other):
            return False
    return True


def _swapped(first: _Asked, second: _Asked) -> bool:
    """Whether something goes into one that comes out of the other."""
    in_one, in_other = first.takes - first.gives, second.takes - second.gives
    return bool((in_one & (second.gives - second.takes) | in_other & (first.gives - first.takes)) - _COMMON_NAMES)


def _places_agree(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether the first and the second, `a` and `b`, come in one order: `a` less `b` is not `b` less `a`."""
    one, other = (list(dict.fromkeys(filter(_is_place, text))) for text in (first, second))
    return [place for place in one if place in other] == [place for place in other if place in one]


def _is_place(word: str) -> bool:
    return word in _PLACES or (len(word) == 1 and word.isalpha())


def _amounts_agree(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether not one speaks of all and the other of any."""
    (all_one, any_one), (all_other, any_other) = (
        (not _ALL.isdisjoint(text), not _ANY.isdisjoint(text)) for text in (first, second)
    )
    return not (all_one and any_other and not all_other) and not (all_other and any_one and not all_one)


def _deeds_agree(one: ToolRequest, other: ToolRequest, deeds: Iterable[str]) -> bool:
    """Whether, of each two of `deeds`, the same is done to what the other gives."""
    return all(
        (last := _last(one, pair)) is not None and last == _last(other, pair) for pair in combinations(sorted(deeds), 2)
    )


def _last(request: ToolRequest, deeds: tuple[str, str]) -> str | None:
    """Which of two deeds is done last: the first that is named (a sum of squares), or the second after a `then`."""
    for text in (spoken(request.description), spoken(request.name)):
        if set(deeds) <= set(text):
            one, other = sorted(deeds, key=text.index)
            return other if _THEN & set(text[text.index(one) : text.index(other)]) else one
    return None


def _fields_agree(one: JsonSchema, other: JsonSchema, first: _Asked, second: _Asked) -> bool:
    """Whether the fields of both go together, and none that goes with another says something else than it."""
    pairs = _paired(one, other)
    if pairs is None:
        return False
    for name, known in pairs:
        ours, theirs = (frozenset(filter(_tells, spoken(field))) - _COMMON_NAMES for field in (name, known))
        if ours and theirs and not (_alike(ours, theirs) or ours <= second.words or theirs <= first.words):
            return False
        if _is_path(name, one) is not _is_path(known, other):
            return False
    return True


def _alike(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether two fields' names share a word, in what they imply too: kilometres are a distance."""
    both_sides = not _SIDES.isdisjoint(ours) and not _SIDES.isdisjoint(theirs)
    return both_sides or not (ours | implied_by(ours)).isdisjoint(theirs | implied_by(theirs))


def _is_path(name: str, schema: JsonSchema) -> bool:
    said = schema["properties"][name]
    told = said.get("description", "") if isinstance(said, Mapping) else ""
    return bool(_PATHS & set(re.findall(r"[a-z]+", f"{readable(name)} {str(told).lower()}".replace("_", " "))))


# --- fields that go together


def fields_match(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether two objects have the same fields but for names: each field of one has its own in the other.

    Of the same type, they go together by name, by the words of their names, by a word that no other pair shares, by
    their initial, by their places (`a` and `b`, `first` and `second`), or by being alone of their type, in this order.
    """
    return _paired(one, other) is not None


def accepts(tool: JsonSchema, asked: JsonSchema) -> bool:
    """Whether a tool takes the fields that were asked for, but for names, and needs no others."""
    wanted, required = _typed(asked), tool.get("required") or ()
    found = tool.get("properties")
    fields = found if isinstance(found, dict) else {}
    used = {name: said for name, said in fields.items() if name in wanted or name in required}
    return any(_takes({"properties": taken}, asked) for taken in (used, fields))


def _takes(tool: JsonSchema, asked: JsonSchema) -> bool:
    """Whether the fields go together, and none that is asked for as a number takes integers alone."""
    taken, wanted = _typed(tool, exact=True), _typed(asked, exact=True)
    pairs = _paired(tool, asked)
    return pairs is not None and all(
        taken[name] == wanted[known] or "integer" not in taken[name] for name, known in pairs
    )


def _paired(one: JsonSchema, other: JsonSchema) -> list[tuple[str, str]] | None:
    """Each field of `one` with its own in `other`; None when they do not all go together."""
    first, second = _typed(one), _typed(other)
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


def _typed(schema: JsonSchema, *, exact: bool = False) -> dict[str, str]:
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
