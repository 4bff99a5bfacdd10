"""Whether two requests ask for the same tool, by what is asked: the description, what goes in, what comes out.

A wrong join is worse than a missed one. So no share of common words decides: whatever one request says must be said,
in some words, by the other. Then the order must agree where it tells something: what is converted into what, what is
done first (the square of a sum is no sum of squares). Two requests that say opposite things, or lead opposite ways, are
different; what is neither is left open.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import Literal

from habilis.core.types import JsonSchema, ToolRequest
from habilis.library.retrieval.terms import readable
from habilis.synthesis.fields import fields_match, paired, typed
from habilis.synthesis.implications import implied_by, says_nothing
from habilis.synthesis.opposites import opposed, rivals
from habilis.synthesis.vocabulary import spoken
from habilis.synthesis.wording import worded_alike

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
_PLAIN_RESULTS = frozenset(("sum", "count"))


Relation = Literal["same", "different", "open"]


@dataclass(frozen=True)
class RequestWords:
    """A request as it is compared.

    `words` are to be met by the other request, `said` is all that it says, `meant` the same without results that are
    only called a total or a count. `ways` lead from one word to another (`a` to `b`), `hints` do so less plainly (`b of
    a`). `order` are the words as they come. What it `makes` is given, or is said to come from something.
    """

    request: ToolRequest
    words: frozenset[str]
    said: frozenset[str]
    meant: frozenset[str]
    ways: frozenset[tuple[str, str]]
    hints: frozenset[tuple[str, str]]
    order: tuple[str, ...]
    takes: frozenset[str]
    gives: frozenset[str]
    makes: frozenset[str]


def same_request(one: ToolRequest, other: ToolRequest) -> bool:
    """Whether two requests, named differently perhaps, ask for the same tool. Sure rather than clever:

    - the same fields go in and come out, but for names;
    - what one says in name and description the other says too, fields counted in and synonyms as one word;
    - what is made into what, and what is done first, is the same.
    """
    return relation(asked(one), asked(other)) == "same"


def relation(one: RequestWords, other: RequestWords) -> Relation:
    """Whether two requests ask for the same or for something else, as far as rules tell."""
    if one.request == other.request or worded_alike(one.request, other.request):
        return "same"
    if _differ(one, other):
        return "different"
    return "same" if _say_the_same(one, other) else "open"


def likeness(one: RequestWords, other: RequestWords) -> float:
    """How much two requests have in common, from 0 to 1: the words of what they do, and the types of their fields."""
    first, second = (
        frozenset(filter(_tells, spoken(said.request.description))) | said.takes | said.gives for said in (one, other)
    )
    words = len(first & second) / max(1, len(first | second))
    fields = fields_match(one.request.input_schema, other.request.input_schema)
    return (2 * words + fields) / 3


def _differ(one: RequestWords, other: RequestWords) -> bool:
    """Whether two requests surely ask for something else: results of other types, opposite words, the other order."""
    shared = one.words & other.words
    return (
        not _results_meet(one.request.output_schema, other.request.output_schema)
        or opposed((one.words, one.meant), (other.words, other.meant))
        or _swapped(one, other)
        or any(_turned(_start(one, pair), _start(other, pair)) for pair in rivals(shared))
        or not _steps_agree(one.order, other.order)
        or _led_back(one.ways | one.hints, other.ways | other.hints)
        or not _places_agree(one.order, other.order)
        or not _amounts_agree(one.order, other.order)
        or any(_reversed(one.request, other.request, pair) for pair in combinations(shared & _DEEDS, 2))
    )


def _say_the_same(one: RequestWords, other: RequestWords) -> bool:
    first, second = one.request, other.request
    return (
        bool(one.words and other.words)
        and one.words <= other.said
        and other.words <= one.said
        and _fields_agree(first.input_schema, second.input_schema, one, other)
        and _fields_agree(first.output_schema, second.output_schema, one, other)
        and _ways_agree(one, other)
        and _ways_agree(other, one)
        and not _parts_differ(one, other)
        and _deeds_agree(first, second, one.words & other.words & _DEEDS)
    )


def _results_meet(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether the results of one can be among those of the other, by their types."""
    ours, theirs = (Counter(typed(schema).values()) for schema in (one, other))
    return "any" in {*ours, *theirs} or ours <= theirs or theirs <= ours


def asked(request: ToolRequest) -> RequestWords:
    name, description = spoken(request.name), spoken(request.description)
    ways = {(kind, pair) for text in (name, description) for kind, pair in _directed(text)}
    codes = {code for kind, pair in ways for code in _coded(kind, pair)}
    words = frozenset(filter(_tells, (*name, *description))) | codes
    takes, gives = (
        frozenset(word for field in typed(schema) for word in spoken(field) if _tells(word))
        for schema in (request.input_schema, request.output_schema)
    )
    said = words | takes | gives
    meant = words | takes | (gives - _PLAIN_RESULTS)
    return RequestWords(
        request=request,
        words=words,
        said=said | implied_by(said),
        meant=meant | implied_by(meant),
        ways=frozenset(pair for kind, pair in ways if kind in _FORWARD and all(pair)),
        hints=frozenset(pair for kind, pair in ways if kind in _BACKWARD and all(pair)),
        order=description + name,
        takes=takes,
        gives=gives,
        makes=gives | frozenset(word for text in (name, description) for word in _made(text)),
    )


def _tells(word: str) -> bool:
    return any(map(str.isalnum, word)) and not says_nothing(word) and not (len(word) == 1 and "a" <= word <= "z")


def _directed(text: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The words that show a way, each with what it leads from and to; empty where nothing telling stands."""
    for at, word in enumerate(text):
        if word in _FORWARD | _BACKWARD and not (word == "to" and _ONTO & set(text[:at])):
            before = next(filter(_tells, takewhile(_goes_on, reversed(text[:at]))), "")
            after = next(filter(_tells, takewhile(_goes_on, text[at + 1 :])), "")
            if not {before, after} & _DEEDS:  # their order is looked at elsewhere
                yield word, (before, after) if word in _FORWARD else (after, before)


def _made(text: tuple[str, ...]) -> Iterator[str]:
    """What is said to come from something: the words before the first `from`, of that clause."""
    if "from" in text:
        yield from filter(_tells, takewhile(_goes_on, reversed(text[: text.index("from")])))


def _goes_on(word: str) -> bool:
    return word not in _THEN


def _coded(kind: str, pair: tuple[str, str]) -> Iterator[str]:
    """`to base64` says encode, `from base64` decode."""
    if kind in ("to", "into", "as") and pair[1] in _CODES:
        yield "encod"
    if kind == "from" and pair[0] in _CODES:
        yield "decod"


def _ways_agree(first: RequestWords, second: RequestWords) -> bool:
    """Whether what `first` leads one way plainly (`a to b`), and `second` does not, comes in that order at least, or
    goes in and comes out of it so."""
    into, out = second.takes - second.gives, second.gives - second.takes
    shown = second.ways | second.hints | {(one, other) for one, other in first.ways if one in into and other in out}
    return not any(
        {one, other} <= second.words and second.order.index(one) > second.order.index(other)
        for one, other in first.ways - shown
        if one != other
    )


def _parts_differ(one: RequestWords, other: RequestWords) -> bool:
    """Whether their names are for different parts of one thing, and each says the part of the other too: the keys of
    settings, by their section, are no sections of settings that have a key."""
    ours, theirs = _parts(one), _parts(other)
    return any(
        ours[thing].isdisjoint(theirs[thing]) and ours[thing] <= other.words and theirs[thing] <= one.words
        for thing in ours.keys() & theirs.keys()
    )


def _parts(said: RequestWords) -> dict[str, set[str]]:
    """Of what a request's name says that it is what: the section of settings."""
    found: dict[str, set[str]] = {}
    for kind, (thing, part) in _directed(spoken(said.request.name)):
        if kind in _BACKWARD and thing and part:
            found.setdefault(thing, set()).add(part)
    return found


def _led_back(ours: frozenset[tuple[str, str]], theirs: frozenset[tuple[str, str]]) -> bool:
    """Whether something is led only one way by one, and only the other way by the other."""
    back = {(end, start) for start, end in theirs}
    return bool((ours & back) - theirs - {(end, start) for start, end in ours})


def _swapped(first: RequestWords, second: RequestWords) -> bool:
    """Whether something goes into one that comes out of the other."""
    in_one, in_other = first.takes - first.makes, second.takes - second.makes
    return bool((in_one & (second.makes - second.takes) | in_other & (first.makes - first.takes)) - _COMMON_NAMES)


def _places_agree(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether the first and the second, `a` and `b`, come in one order: `a` less `b` is not `b` less `a`."""
    one, other = (list(dict.fromkeys(filter(_is_place, _without_articles(text)))) for text in (first, second))
    return [place for place in one if place in other] == [place for place in other if place in one]


def _without_articles(text: tuple[str, ...]) -> tuple[str, ...]:
    """`a` names a number only beside `b`; of what is sorted, keys and values are places too."""
    kept = text if "b" in text else tuple(word for word in text if word != "a")
    return tuple({"key": "first", "valu": "second"}.get(word, word) for word in kept) if "sort" in text else kept


def _is_place(word: str) -> bool:
    return word in _PLACES or (len(word) == 1 and word.isalpha())


def _steps_agree(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether nothing that either does before a `then` is done after it by the other."""
    if "then" not in first or "then" not in second:
        return True
    (sooner, later), (its_sooner, its_later) = (
        (set(text[: text.index("then")]), set(text[text.index("then") :])) for text in (first, second)
    )
    turned = (sooner - later) & (its_later - its_sooner) | (its_sooner - its_later) & (later - sooner)
    return not any(map(_tells, turned))


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


def _reversed(one: ToolRequest, other: ToolRequest, pair: tuple[str, str]) -> bool:
    """Whether one does last what the other does first."""
    return _turned(_last(one, pair), _last(other, pair))


def _turned(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


def _start(asked: RequestWords, pair: tuple[str, str]) -> str | None:
    """Which of two opposites is made into the other: the first that is named, or the second after a `from`."""
    for text in (spoken(asked.request.description), spoken(asked.request.name)):
        if set(pair) <= set(text):
            one, other = sorted(pair, key=text.index)
            between = set(text[text.index(one) : text.index(other)])
            if between & {"from", "into", "to"}:
                return other if "from" in between else one
    return None


def _last(request: ToolRequest, deeds: tuple[str, str]) -> str | None:
    """Which of two deeds is done last: the first that is named (a sum of squares), or the second after a `then`."""
    for text in (spoken(request.description), spoken(request.name)):
        if set(deeds) <= set(text):
            one, other = sorted(deeds, key=text.index)
            return other if _THEN & set(text[text.index(one) : text.index(other)]) else one
    return None


def _fields_agree(one: JsonSchema, other: JsonSchema, first: RequestWords, second: RequestWords) -> bool:
    """Whether the fields of both go together, and none that goes with another says something else than it."""
    pairs = paired(one, other)
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
