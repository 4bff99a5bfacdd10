"""Single values of a JSON document by plain words: "who is the treasurer", "the fee for students", and what is left of
one after the sum of a table.

Each word must be of the path to the value, of the file's name, or say only what is asked for. What two values may be
called is neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.json_tables import document_of, file_words, noun_of
from habilis.questions.declared import operations_of, read_family
from habilis.questions.language import root, stems, words
from habilis.questions.nouns import ADDS_NOTHING, MONEY_NAMES, PEOPLE, UNITS
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import CannotAnswerError, DemoCall, FilledOperation, World, without_file

_FREE = set(
    """the a an of for in on at is are was were does do did be will has have we i it its our my your there to with s
    called named take takes took place held situated located happen happens listed given recorded set currently
    current according as use uses used using run runs listen listens""".split()  # noqa: SIM905
)
"""Words that say no more than which value is asked for."""
_ASKS = re.compile(
    r"(?:(?P<time>(?:at )?(?:what|which) time)|(?P<who>who(?:['’]s)?)|(?P<year>(?:in )?(?:what|which) year)"
    r"|(?P<when>since when|when|(?:on )?(?:what|which) date)|(?P<where>where)"
    r"|how (?P<many>many)|how (?P<much>much)|how (?P<how>old|tall|high|heavy|big|large|long|far|wide|deep)"
    r"|(?:(?:on|in|at|by) )?(?:what|which))\b ?",
    re.I,
)
_KINDS = ("time", "who", "year", "when", "where", "many", "much")
_SIZES = {
    how: [root(word) for word in said.split()]
    for how, said in {
        "old": "age", "tall": "height", "high": "height", "heavy": "weight", "big": "size area", "large": "size area",
        "long": "length duration", "far": "distance", "wide": "width", "deep": "depth",
    }.items()
}  # fmt: skip
"""What is asked for with "how old", as roots."""
_PHRASES = (
    (r"\b(?:e-?mail|mail) address(?:es)?\b", "email"),
    (r"\b(?:tele)?phone numbers?\b|\btelephone\b", "phone"),
    (r"\b(?:post(?:al)?|zip) code\b", "postcode"),
    (r"['’]s\b", " "),
)
_GROUPS = tuple(
    {*map(root, said.split())}
    for said in (
        "start begin open", "end finish close stop", "price cost fee charge pay rate", "phone telephone mobile tel",
        "email mail", "found establish", "postcode zip plz", "location venue place", "website url web homepage",
    )
)  # fmt: skip
"""Words of which a question may say another than the document, as roots."""
_GENERIC = {"name", "phone", "email", "date", "start", "end", "id", "address", "city", "day", "time", "number", "price",
            "cost", "place", "type", "value", "total", "amount", "open", "close", "title", "note"}  # fmt: skip
"""Keys that stand in many objects: the one that they are of must be named."""
_NOTHING = {*map(root, ("info", "information", "details", "detail", "data", "person", "main"))}
"""Words of keys that need not be said."""
_PLACES = {"place", "location", "address", "city", "venue", "room", "town", "hall", "street", "site"}
_NAMED = {"name", *(PEOPLE - {"paid"})}
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d(?: ?[ap]m)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:1[5-9]|20)\d\d|(?:\d{1,2} )?[A-Z][a-z]{2,8}(?: \d{1,2},?)? \d{4}|\d{1,2}[./]\d{1,2}[./]\d{4}",
    re.I,
)
_ORDINALS = {
    "first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "seventh": 6, "eighth": 7, "ninth": 8,
    "tenth": 9, "last": -1, "second to last": -2, "second last": -2, "next to last": -2,
}  # fmt: skip
_MORE = "more expensive|dearer|more|higher|larger|bigger|greater|longer"
_LESS = "less|lower|smaller|shorter|cheaper|fewer"
_APART = (
    re.compile(r"(?:difference|gap)(?: in [\w ]+?)? between (?P<one>.+?) and (?P<other>.+)", re.I),
    re.compile(rf"(?:by )?how (?:much|many) (?P<how>{_MORE}|{_LESS}) (?P<one>.+?) than (?P<other>.+)", re.I),
    re.compile(rf"(?:by )?how much (?P<one>(?!{_MORE}|{_LESS}).+?) (?P<how>{_MORE}|{_LESS}) than (?P<other>.+)", re.I),
)
_BE = "(?:is|are|was|were|will be|would be|remains?|stays?)"
_GONE = (
    "(?:(?:we |I |you )?(?:subtract(?:ing)?|deduct(?:ing)?|pay(?:ing)?(?: for)?|tak(?:e|ing) (?:away|off|out)|"
    "cover(?:ing)?|spend(?:ing)?(?: on)?) )?"
)
_PAID = "(?: (?:is|are|has been|have been|were) (?:paid|subtracted|deducted|taken (?:off|away|out)|covered|spent))?"
_AFTER = rf",? (?:after|when|if|once) {_GONE}(?P<other>.+?){_PAID}"
_REMAINS = "(?:left|remaining|remains?|over|unspent|available)(?: over)?"
_MUCH = "(?:how much|what)(?: money)?"
_LEFT = (
    re.compile(rf"{_MUCH} (?:(?:of|from|in) )?(?P<one>.+?) (?:{_BE} )?(?:still )?{_REMAINS}{_AFTER}", re.I),
    re.compile(rf"(?:{_MUCH} (?:{_BE} )?)?(?:still )?{_REMAINS} (?:of|from|in) (?P<one>.+?){_AFTER}", re.I),
    re.compile(r"(?P<one>.+?) (?:minus|less) (?P<other>.+)", re.I),
    re.compile(r"(?:difference|gap) between (?P<one>.+?) and (?P<other>.+)", re.I),
    re.compile(r"(?:by )?how much (?:(?:higher|larger|bigger|more) )?(?:is |does )?(?P<one>.+?) (?:(?:higher|larger"
               r"|bigger|more) than|exceeds?|above) (?P<other>.+)", re.I),
)  # fmt: skip
_BETWEEN = re.compile(r"(?:difference|gap) between (?P<one>.+?) and (?P<other>.+)", re.I)
_SHARE = re.compile(
    r"(?:what )?(?:percentage|percent|share|proportion) of (?P<one>.+?) "
    r"(?:(?:do|does|did|is|are|was|were|would|has|have) (?:been )?)(?P<other>.+?)"
    r"(?: (?:make up|add up to|amount to|take up|use(?: up)?|come to|cost|account for))?",
    re.I,
)


@dataclass(frozen=True)
class _Leaf:
    """A plain value of a document: the keys that lead to it."""

    keys: tuple[str, ...]
    value: Any

    def of(self, count: int) -> set[str]:
        """The roots of the words of its last keys."""
        return {word for key in self.keys[-count:] for word in _roots(key)}

    @property
    def number(self) -> bool:
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


class JsonValues:
    """Family of questions for single values of one JSON document, told by words of the keys that lead to them."""

    operations: tuple[DemoOperation, ...] = ()

    def __init__(self) -> None:
        self._value = next(one for one in operations_of(read_family("documents")) if one.key == "json_value")

    def read(self, phrase: str, world: World) -> DemoCall | None:
        try:
            taken = world.take_file(phrase, (".json",))
        except CannotAnswerError:
            return None
        document = document_of(taken[1]) if taken else None
        text = re.sub(r"[?.! ]+$", "", without_file(phrase))
        if taken and isinstance(document, list) and all(isinstance(one, str | int | float) for one in document):
            return self._at_place(text, taken[1])
        if taken is None or not isinstance(document, dict):
            return None
        reading = _Reading(tuple(_leaves(document)), taken[1], self._value)
        world = replace(world, files=(taken[1],))
        call = reading.apart(text) or reading.left(text, world)
        return call or (None if _is_one_of_several(text, world.question) else reading.single(text, world.question))

    def _at_place(self, text: str, file: SeenFile) -> DemoCall | None:
        """ "the third item": what stands at a place of a plain list."""
        noun = next(iter(stems(noun_of(PurePosixPath(file.named).stem))), "item")
        match = re.fullmatch(
            rf"(?:(?:what|which) (?:is|was|comes) )?(?:the )?(?P<place>{'|'.join(_ORDINALS)}|(?P<n>\d+)(?:st|nd|rd|th))"
            rf" (?:item|entry|element|value|number|{noun}s?)(?: (?:in|on|of) the (?:list|file))?",
            text, re.I,
        )  # fmt: skip
        if match is None or match["n"] == "0":
            return None
        place = int(match["n"]) - 1 if match["n"] else _ORDINALS[match["place"].lower()]
        return DemoCall(self._value, {"path": file.named, "keys": f"{place}"})


class _Reading:
    """Questions about one document."""

    def __init__(self, leaves: tuple[_Leaf, ...], file: SeenFile, value: DemoOperation) -> None:
        self._leaves, self._file, self._value = leaves, file, value
        self._known = {word for leaf in leaves for word in leaf.of(len(leaf.keys))}
        title = next((leaf.value for leaf in leaves[:1] if len(leaf.keys) == 1 and isinstance(leaf.value, str)), "")
        self._own = {root(word) for word in (*file_words(file), *words(title))}

    def single(self, text: str, question: str) -> DemoCall | None:
        """The one value that a question is for."""
        asks = _ASKS.match(text)
        said = self._said(text[asks.end() :] if asks else text)
        if re.search(r"\b(?:is|are)\b.* open\b", text, re.I):
            return None  # from when, or until when
        if asks is None and " " in text and not re.search(r"\b(?:what|which|give|tell|find|show)\b", question, re.I):
            return None
        if asks and asks["how"]:
            return self._call([one for size in _SIZES[asks["how"].lower()] for one in self._meant([*said, size])])
        if re.search(r"\b(?:called|named)$|^name(?: of |$)", text, re.I):
            return self._named(said, question)
        kind = next((name for name in _KINDS if asks and asks[name]), "")
        if kind == "many" and self._own & {*map(root, MONEY_NAMES)}:
            return None  # a price is no number of pieces
        if kind in ("many", "much") and re.search(r"\buse[sd]?\b", text, re.I):
            return None  # what there is need not be used
        return self._call([leaf for leaf in self._meant(said, kind) if _is(leaf, kind)])

    def _named(self, said: list[str], question: str) -> DemoCall | None:
        """What something is called: its name, or the text that stands under it."""
        said = [word for word in said if word != root("name")]
        found = self._meant([*said, root("name")]) or self._meant(said)
        if not said and re.search(r"\bname of\b", question, re.I):
            found = [leaf for leaf in self._leaves[:1] if self._own & leaf.of(1)]  # of what the file is about
        return self._call([leaf for leaf in found if _is(leaf, "who") or root("name") in leaf.of(1)])

    def apart(self, text: str) -> DemoCall | None:
        """How much one number is more than another whose path differs in one key."""
        match = next((found for form in _APART if (found := form.fullmatch(text))), None)
        if match is None:
            return None
        sides = [{*self._said(match[name])} for name in ("one", "other")]
        numbers = [leaf for leaf in self._leaves if leaf.number]
        pairs = [(a, b) for a in numbers for b in numbers if self._differ(a, b, *sides)]
        if len(pairs) != 1:
            return None
        how = match.groupdict().get("how")
        order = "abs({0} - {1})" if how is None else "{0} - {1}" if re.fullmatch(_MORE, how, re.I) else "{1} - {0}"
        calls = tuple(call for leaf in pairs[0] if (call := self._call([leaf])))
        return DemoCall(EXPRESSION, {"expression": FilledOperation(order, calls)}) if len(calls) == 2 else None

    def _differ(self, one: _Leaf, other: _Leaf, said: set[str], beside: set[str]) -> bool:
        """Whether two paths differ in one key, that each side names, and all other keys are named by either."""
        if len(one.keys) != len(other.keys):
            return False
        apart = [(a, b) for a, b in zip(one.keys, other.keys, strict=True) if a != b]
        if len(apart) != 1 or not self._covers(one, said) or not self._covers(other, beside):
            return False
        same = [key for key in one.keys if key in other.keys]
        sides = self._names(said, apart[0][0]) and self._names(beside, apart[0][1])
        return sides and all(self._names(said | beside, key) for key in same)

    def _covers(self, leaf: _Leaf, said: set[str]) -> bool:
        return all(self._is_in(word, leaf.of(len(leaf.keys))) or self._is_in(word, self._own) for word in said)

    def left(self, text: str, world: World) -> DemoCall | None:
        """What is left of a value after the sum of a table, or which share of it that is."""
        ways = [(form, "{0} - {1}") for form in _LEFT]
        for form, order in (*ways, (_BETWEEN, "abs({0} - {1})"), (_SHARE, "{1} * 100 / {0}")):
            match = form.fullmatch(text)
            one = self._number(match["one"]) if match else None
            other = (self._number(match["other"]) or _sum(match["other"], world)) if match and one else None
            if one and other:
                return DemoCall(EXPRESSION, {"expression": FilledOperation(order, (one, other))})
        return None

    def _number(self, text: str) -> DemoCall | None:
        return self._call([leaf for leaf in self._meant(self._said(text)) if leaf.number])

    # what words mean

    def _said(self, text: str) -> list[str]:
        """The roots of the words that must be of a path."""
        for pattern, plain in _PHRASES:
            text = re.sub(pattern, plain, text, flags=re.I)
        return [root(word) for word in words(text) if word not in _FREE]

    def _is_in(self, word: str, among: set[str]) -> bool:
        """Whether a word, or another for it that the document does not have, is among those of a path."""
        if word in among or any(_doer(word) == _doer(one) for one in among):
            return True
        return word not in self._known and any(word in group and group & among for group in _GROUPS)

    def _names(self, said: set[str], key: str) -> bool:
        """Whether words name a key: with all words of it but those that say nothing more."""
        needed = _roots(key) - self._own - _NOTHING or _roots(key)
        return all(any(self._is_in(word, {one}) for word in said) for one in needed)

    def _meant(self, said: list[str], kind: str = "") -> list[_Leaf]:
        """The values whose path has all these words, its last key among them or implied by the kind of question."""
        found = [leaf for leaf in self._leaves if self._fits(leaf, {*said}, kind)]
        whole = [leaf for leaf in found if all(self._names({*said}, key) for key in leaf.keys)]
        return whole if len(found) > 1 and len(whole) == 1 else found

    def _fits(self, leaf: _Leaf, said: set[str], kind: str) -> bool:
        last = stems(leaf.keys[-1])
        if not said or not self._covers(leaf, said):
            return False
        parents = leaf.keys[:-1]
        if any(said & _roots(key) and not self._names(said, key) for key in parents):
            return False  # "the bridge" is no Iron Bridge
        named = not parents or self._names(said, parents[-1]) or _roots(parents[-1]) <= self._own
        implied = named and _implies(kind, last)
        needed = {root(one) for one in last if one not in ADDS_NOTHING and not _is_unit(one)} or leaf.of(1)
        sure = all(any(self._is_in(word, {one}) for word in said) for one in needed)
        generic = (len(last) == 1 and bool({*last} & _GENERIC)) or bool(said & self._own)
        return (implied or sure) and (named or not generic)

    def _call(self, leaves: list[_Leaf]) -> DemoCall | None:
        if len(leaves) != 1 or any(re.search(r"[.\[\]]", key) for key in leaves[0].keys):
            return None
        return DemoCall(self._value, {"path": self._file.named, "keys": ".".join(leaves[0].keys)})


def _is_one_of_several(text: str, question: str) -> bool:
    """Whether a phrase is a part of a question that ends in a number to which another belongs: "for 2023 and 2024"."""
    number = re.search(r"\d+$", text)
    more = rf"\b{number[0]}\b,? (?:and|or|to|plus|minus|-) \d" if number else "(?!)"
    return re.search(more, question) is not None


def _leaves(value: Any, keys: tuple[str, ...] = ()) -> Iterator[_Leaf]:
    for key, one in value.items():
        if isinstance(one, dict):
            yield from _leaves(one, (*keys, key))
        elif isinstance(one, str | int | float):
            yield _Leaf((*keys, key), one)


def _roots(key: str) -> set[str]:
    return {root(word) for word in words(key)}


def _doer(word: str) -> str:
    """What a doer does: manag of manager."""
    return re.sub(r"(?<=...)(?:er|or)$", "", word)


def _implies(kind: str, last: list[str]) -> bool:
    """Whether the question word says that a value under this key is asked for."""
    implied = {"who": (["name"],), "when": (["date"], ["when"]), "time": (["time"],)}
    return last in implied.get(kind, ()) or (kind == "where" and bool({*last} & _PLACES))


def _is(leaf: _Leaf, kind: str) -> bool:
    """Whether a value is of the kind that a question word asks for."""
    value, last = leaf.value, {*stems(leaf.keys[-1])}
    if kind == "who":
        return isinstance(value, str) and not re.search(r"\d|@", value) and (value[:1].isupper() or bool(last & _NAMED))
    if kind in ("when", "time"):
        moment = _MOMENT.fullmatch(str(value)) is not None
        return moment and (kind == "when" or ":" in str(value))
    if kind == "year":
        return re.fullmatch(r"(?:1[5-9]|20)\d\d", str(value)) is not None
    if kind == "where":
        return isinstance(value, str) and bool(last & _PLACES)
    if kind == "much":
        return leaf.number
    named = {stem for key in leaf.keys for stem in stems(key)}
    return kind != "many" or (isinstance(value, int) and leaf.number and not named & MONEY_NAMES)


def _is_unit(word: str) -> bool:
    return any(word in said.split() for said in UNITS.values())


def _sum(text: str, world: World) -> DemoCall | None:
    """The sum over rows that a phrase says, maybe without saying "total"."""
    text = re.sub(r"^(?:the |all |of )+", "", text.strip(), flags=re.I)
    plain = re.sub(r"^(\w+?)s? costs?$", r"cost of all \1s", text, flags=re.I)
    for said in dict.fromkeys((text, f"total {plain}", f"total cost of all {text}", f"total amount of all {text}")):
        try:
            call = world.call(said)
        except CannotAnswerError:
            continue
        summed = call and str(call.values.get("measure", "")).startswith("sum of ")
        if call and (summed or call.operation.key == "json_sum"):
            return call
    return None
