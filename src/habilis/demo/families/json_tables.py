"""The tables of a JSON document, as the outline in a prompt shows them: their headers, and words for what they hold.

Lists of objects are tables, and so are objects of objects (`name` or `id` is then the key of each), of lists (`items`)
and of numbers (`value`), and plain lists. Groups that hold lists of objects are two: the groups, and all in them. The
tools' own code reads the outline, so that both see the same columns.
"""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from habilis.questions.header import TableHeader
from habilis.questions.language import root, stems, words
from habilis.questions.nouns import CLASSES, CONTAINERS, NO_NOUN
from habilis.questions.prompts import SeenFile
from habilis.questions.shown_tables import header_of
from habilis.questions.world import DemoCall, FilledOperation

_LEFT_OUT = re.compile(r"… \d+ in all")
HOLDING = {
    "team": "members players people", "group": "members people", "club": "members people", "class": "students pupils",
    "course": "students participants", "recipe": "ingredients", "playlist": "songs tracks", "album": "songs tracks",
    "menu": "dishes", "band": "members musicians", "committee": "members people", "department": "employees people",
    "trip": "stops places", "order": "products articles", "basket": "products articles", "workout": "exercises",
    "family": "members people children", "project": "tasks members", "shift": "people workers", "supplier": "products",
    "store": "products", "shop": "products", "author": "books titles", "category": "products", "tag": "",
}  # fmt: skip
"""What is in things of a kind, where these name the keys of an object of lists."""
_CELLS = {"score", "mark", "grade", "point", "result", "rating", "price", "cost", "fee", "temperature", "time"}
"""What a file of an object of objects is named by, where it holds more of them than rows."""
_THINGS = "items?|entries|entry|things?|elements?"
_CALENDAR = ("day", "month", "year", "date")
_COUNT = r"\d+|one|two|three|four|five|six|seven|eight|nine|ten"
_MOST = "most|fewest|least|(?:highest|lowest|largest|smallest) number of"
_SIZED = (
    rf"(?P<how>{_MOST}|(?:(?:more|fewer|less) than|at (?:least|most)) (?:{_COUNT})"
    r"|(?:average|mean|median)(?: number of)?)"
)
_EXACTLY = rf"(?P<have>have|has|had|with|contains?) (?:exactly |only |just )?(?P<n>{_COUNT})"
_HOLDERS = CLASSES | {"person", "room", "shelf", "box", "drawer", "bag", "list", "child", "bed", "table", "tray"}
"""Things that hold others, by which the keys of an object of lists may be called."""
_ENDS = "highest|lowest|largest|smallest|biggest|greatest|maximum|minimum|max|min"
_OF_NUMBERS = (
    (rf"^(average|mean|median|sum|total|{_ENDS})(?: of (?:(?:all|the|these) )*(?:value)?)?$", r"\1 value"),
    (r"^range(?: of (?:(?:all|the|these) )*(?:value)?)?$", "difference between the highest and lowest value"),
    (rf"\bbetween (?:the )?({_ENDS}) (?:value )?and (?:the )?({_ENDS}) value\b", r"between the \1 and the \2 value"),
    (r"\b(?:did|do|does|have) (?:I|we|you) (?:take|walk|do|make|have|get)\b ?", ""),
)
_COMPARED = "(?:over|above|under|below|at least|at most|more than|less than|between)"
_WEEK = r"(?:over|in|during|for|across|throughout|of) (?:the|a) (?:(?:whole|entire|full) )?week"
_REPEATS = r",? (?:counting|including|with) (?:all )?(?:the )?(?:repeats|repetitions|duplicates)"
_HOLD = "(?:contain|include|use|need)"
_HELD = (
    (r" (?:is|are|was|were) (?:used|needed|required|included)\b(?! by)", " is"),
    (r"\bis (\w+) (?:used|needed|required|included)$", r"is \1"),
    (rf"\b(?:do|does|did)(?: not|n['’]t) {_HOLD} ", "not "),
    (rf"\b{_HOLD}s? (?=\w+ or \w+$)", "with "),
    (rf"\b{_HOLD}s? both (\w+) and (\w+)$", r'with "\1" and "\2"'),
)
"""What is said of lists in cells, and how it is read."""
_OF_ALL = (
    r",? (?:when|if) (?:you|we|I) (?:count|take|add)(?: up)? all(?: of)?(?: the)? (?:{of})(?: together)?\b"
    r"|,? (?:counting|taking) all(?: of)?(?: the)? (?:{of})(?: together)?\b"
    r"|,? (?:(?:of|in|on|over|across|from|among|for|at|during) )?all(?: of)?(?: the)? (?:{of})"
    r"(?: (?:together|combined|taken together))?(?=[ ,]|$)(?! (?:with|that|which|who|whose|where)\b)"
    r"|,? (?:over|across|during|in|at|on) the (?:whole|entire|full) (?:{of})\b"
)
"""Words that say no more than that all groups are meant."""
_IN_ALL = re.compile(r"(?:which|who|what|list|name)\b(?!.*(?:est|most|least|average|mean|median|total|sum)\b)", re.I)
"""Begins a question for those that are in each group, maybe: "who is in all teams"."""
_OF_ONE_INSIDE = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|who(?:se)? (?:is|are|was|were) (?:all )?(?:in|on))\b", re.I
)
_OF_LISTS = (
    (r"\b(?:do|does|did|must|should) (?:I|we|you) (?:(?:have|need) to )?(?:do |make |have )?(?:the )?", "have "),
    (r"\b(?:the )?longest list(?: of items)?\b", "the most items"),
    (r"\b(?:the )?shortest list(?: of items)?\b", "the fewest items"),
    (rf" {_WEEK}\b", ""),
)


@dataclass(frozen=True)
class JsonTable:
    """A table of a document: its path, its header, its columns of lists. `is_all`: the document is this table."""

    path: str
    header: TableHeader
    lists: tuple[str, ...]
    is_all: bool
    shape: str = ""
    """items, item or value, where that is the only column beside keys or numbers."""
    noun: str = ""
    """What the file's name says that something in it is."""
    groups: str = ""
    """Of a table of what is in groups, such as members of teams: what a group is called, and what all are of."""

    def worded(self, phrase: str) -> str:
        """`phrase` with the names of columns for the words that mean them here."""
        if self.shape:
            phrase = self._own_words(phrase)
        if self.groups and "group" in self.header.names:
            phrase = re.sub(rf"\b(?:{self.groups})\b(?! \w+ (?:the )?(?:whole|entire))", "group", phrase, flags=re.I)
        if self.groups and not _IN_ALL.match(phrase):
            phrase = re.sub(_OF_ALL.format(of=self.groups), " ", phrase, flags=re.I).strip()
        if self.lists and not {"use", "need"} & {root(word) for name in self.header.names for word in words(name)}:
            for pattern, plain in _HELD:
                phrase = re.sub(pattern, plain, phrase, flags=re.I)
        for name in self.lists:
            for pattern, plain in self._of_entries(name):
                phrase = re.sub(pattern, plain, phrase, flags=re.I)
        return phrase

    def _of_entries(self, name: str) -> tuple[tuple[str, str], ...]:
        """What is said of how many entries the lists of a column have; of numbers only where that is said in full."""
        said = "items?" if name == "items" else rf"{re.escape(name)}s?|{re.escape(' '.join(stems(name)))}"
        if self.header.kind(self.header.names.index(name)) == "number":
            many = rf"\b(highest|lowest|average|mean|median|total) number of (?:{said})\b"
            return (rf"^how many (?:{said})\b", f"total {name} tally"), (many, rf"\1 {name} tally")
        return (
            (rf" (?:in|on) (?:its|their|the) list(?: of (?:{said}))?\b", ""),
            (rf"^how many (?:{said})\b(.*){_REPEATS}(.*)$", rf"total {name} tally\1\2"),
            (rf"\b{_EXACTLY} (?:{said})\b", rf"\g<have> {name} tally \g<n>"),
            (rf"\b{_SIZED} (?:different )?(?:{said})\b", rf"\g<how> {name} tally"),
        )

    def _own_words(self, phrase: str) -> str:
        """Words for the entries of lists, or for what the numbers say, where it is known which of both they mean."""
        nouns, key = "|".join(self._nouns()), self.header.names[0]
        own = words(self.path.rpartition(".")[2])
        if self.shape == "value" and len(own) > 1 and stems(own[-1]) == [self.noun]:
            phrase = re.sub(rf"\b{'[ _-]'.join(own)}\b", own[-1], phrase, flags=re.I)  # "shared costs"
        if key == "number":  # a plain list
            phrase = re.sub(rf"\bhow many (?:{nouns})(?= (?:are|were|is) {_COMPARED}\b)", "how many entries with value",
                            phrase, flags=re.I)  # fmt: skip
            phrase = re.sub(rf"\bhow many (?:{nouns})", "how many entries", phrase, flags=re.I)
            phrase = re.sub(rf" (?:in|on|of|from) (?:the|my|our) {self.noun}\b", "", phrase, flags=re.I)
        counted = self.shape == "value" and key == "name" and re.search(rf"\bhow many (?:{nouns})\b", phrase, re.I)
        of_keys = r"(?:has|have|had)\b" if self.shape == "items" else rf"(?!(?:is|are|was|were) the (?:{_ENDS})$)"
        if not nouns or counted or re.search(rf"\b(?:which|what|who) (?:{nouns}) {of_keys}", phrase, re.I):
            return phrase
        said = self._of_numbers(phrase, nouns) if self.shape == "value" else self._of_items(phrase, nouns)
        return self._holding(said)

    def _of_items(self, phrase: str, nouns: str) -> str:
        """`phrase` with the word for the entries of lists."""
        said = re.sub(rf"\b(?:{nouns})\b", "items", phrase, flags=re.I)
        if self.shape == "items":
            for pattern, plain in _OF_LISTS:
                said = re.sub(pattern, plain, said, flags=re.I)
            often = rf"^((?:which|how many) items .*(?:more|fewer|less) than (?:{_COUNT})) {self.header.names[0]}s?$"
            said = re.sub(often, r"\1 rows", said, flags=re.I)
        return said

    def _of_numbers(self, phrase: str, nouns: str) -> str:
        """`phrase` with the word for the numbers, also where it may be left out."""
        said = re.sub(rf"\b(?:number of )?(?:{nouns})\b", "value", phrase, flags=re.I)
        for pattern, plain in _OF_NUMBERS if self.is_all else ():
            said = re.sub(pattern, plain, said, flags=re.I)
        key = self.header.names[0]
        end = rf"^(?:which|what) value (?:is|was|are|were) the ({_ENDS})$"
        return re.sub(end, rf"which {key} has the \1 value", said, flags=re.I)

    def _holding(self, said: str) -> str:
        """`said` with the column of keys for what holds the entries or numbers."""
        key = self.header.names[0]
        said = re.sub(rf"\b(average|mean)\b(.*) (?:per|each|a) {key}\b", r"\1\2", said, flags=re.I)
        said = re.sub(r"\bweek ?day\b", "day", said, flags=re.I) if key == "day" else said
        most = rf"(?:has|have|had) the (?:\w+ )?(?:most|fewest|least|{_ENDS}) {self.shape}\b"
        holder = re.match(rf"(?:which|what) (\w+) (?={most})", said, re.I)
        known = holder and (self.shape == "value" or {*stems(holder[1])} & _HOLDERS)
        return f"which {key} {said[holder.end() :]}" if holder and known and key == "name" else said

    def _nouns(self) -> list[str]:
        things = [_THINGS] if self.shape in ("items", "item") else ["values?", "numbers?"] if self.is_all else []
        if self.noun and (self.header.names[0] in _CALENDAR or self.noun not in HOLDING):
            return [*things, rf"{self.noun}s?", rf"{self.noun}es", rf"{self.noun.removesuffix('y')}ies"]
        return [*things, *(rf"{one}|{stems(one)[0]}" for one in HOLDING.get(self.noun, "").split())]


def tables_of(file: SeenFile) -> tuple[JsonTable, ...]:
    """The tables of a JSON document; of one that a prompt cuts off, the one that it begins with."""
    document = document_of(file)
    if document is None:
        header = header_of(file)
        return () if header is None else (JsonTable("", header, (), True),)
    found: Mapping[str, list[dict[str, Any]]] = _code()["tables_in"](document)
    tables = [_table(path, rows, file, isinstance(document, dict)) for path, rows in found.items()]
    return tuple(replace(one, groups=_groups_of(one, tables, file)) for one in tables)


def _groups_of(table: JsonTable, tables: list[JsonTable], file: SeenFile) -> str:
    """What the groups are called whose members are the rows of a table; empty where they are of none."""
    path = table.path.rpartition(".")[0]
    outer = next((one for one in tables if one.path == path and one is not table), None)
    if outer is None or table is tables[0]:
        return ""
    nouns = {outer.header.rows_are, *stems(path.rpartition(".")[2]), noun_of(PurePosixPath(file.named).stem)}
    return "|".join(rf"{re.escape(one)}(?:s|es)?" for one in sorted(filter(None, nouns)))


def meant_of(tables: tuple[JsonTable, ...], phrase: str, marks: Callable[[JsonTable, str], int]) -> JsonTable | None:
    """The table that a question is about: the only one, the one that it names, or whose columns it names most."""
    if len(tables) < 2:
        return next(iter(tables), None)
    said = {*stems(phrase)}
    last = {one.path: {*stems(one.path.rpartition(".")[2])} for one in tables}
    named = [one for one in tables if one.header.rows_are in said or (one.path and last[one.path] <= said)]
    inner = [one for one in tables if len(named) == 1 and one.groups and one.path.rpartition(".")[0] == named[0].path]
    scores: list[tuple[int, int]] = [(marks(one, phrase), 1) for one in named or tables]
    scores += [(marks(one, phrase) - 1, 0) for one in inner]  # of a team may be asked what only its members have
    among: list[JsonTable] = [*(named or tables), *inner]
    best = [one for one, score in zip(among, scores, strict=True) if score == max(scores)]
    whole = [one for one in among if re.search(_OF_ALL.format(of=one.groups or "(?!)"), phrase, re.I)]
    if len(whole) == 1 and whole[0].header.rows_are in said and not _IN_ALL.match(phrase):
        return whole[0]
    if inner and scores[-1][0] == max(scores)[0] and _OF_ONE_INSIDE.match(phrase):
        return inner[-1]
    if len(best) == 2 and best[1].groups and best[1].path.rpartition(".")[0] == best[0].path:
        return best[0] if "tally" in best[0].worded(phrase) else best[1]
    return best[0] if len(best) == 1 and (named or max(scores)[0]) else None


def firm(call: DemoCall) -> DemoCall:
    """`call`, where all that is said of a cell is what was done: these words must then be a cell themselves."""
    told = call.values.get("conditions") or ()
    free = call.operation.key == "query_cells" and not call.values["order"]
    if not (free and told and all(re.fullmatch(r'\* says "(?:\(\w+\)[, ]*)+"', one) for one in told)):
        return call
    return replace(call, values={**call.values, "conditions": [re.sub(r"[()]", "", one) for one in told]})


def is_count_of_keys(call: DemoCall, table: JsonTable) -> bool:
    """Whether a key that has a number is counted, which nobody asks for: "how many plums"."""
    counts = table.shape == "value" and str(call.values.get("measure", "")).startswith("count")
    return counts and any(" says " in one for one in call.values["conditions"])


def within(call: DemoCall, path: str) -> DemoCall:
    """`call`, and those that it starts from, about the table at a path of a document."""
    values = dict(call.values)
    if "conditions" in values:
        values["conditions"] = [*values["conditions"], f"rows under {json.dumps(path, ensure_ascii=False)}"]
    for role, value in values.items():
        if isinstance(value, FilledOperation):
            values[role] = FilledOperation(value.text, tuple(within(one, path) for one in value.calls))
    return replace(call, values=values)


def document_of(file: SeenFile) -> Any:
    """What a prompt shows of a JSON document, without its marks for what is left out; None where that is cut off."""
    if not file.named.lower().endswith(".json"):
        return None
    try:
        return _bare(json.loads(file.begins))
    except (ValueError, RecursionError):
        return None


def file_words(file: SeenFile) -> set[str]:
    """The words of a file's name, as stems."""
    return {*stems(PurePosixPath(file.named).stem)}


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(one) for key, one in value.items() if key != "…"}
    if isinstance(value, list):
        return [_bare(one) for one in value if not (isinstance(one, str) and _LEFT_OUT.fullmatch(one))]
    return value


def _table(path: str, rows: list[dict[str, Any]], file: SeenFile, is_keyed: bool) -> JsonTable:
    columns, lists = _code()["columns_in"](rows)
    samples = tuple(tuple([_sample(row.get(key)) for key in columns] + [_size(row.get(key)) for key in lists])
                    for row in rows)  # fmt: skip
    names = (*columns, *(f"{key} tally" for key in lists))
    file_is, own = noun_of(PurePosixPath(file.named).stem), noun_of(path.rpartition(".")[2])
    shape = columns[-1] if len(columns) == 2 and columns[-1] in ("items", "value", "item") else ""
    rows_are = own or file_is
    if shape:  # the file is named by what is in the lists, or by the keys
        rows_are = columns[0] if columns[0] in _CALENDAR else file_is if file_is in HOLDING and shape == "items" else ""
    elif not own and is_keyed and file_is in _CELLS:
        rows_are = file_is = ""
    if path == "entries" and own:
        rows_are = next(iter(stems(HOLDING.get(file_is, ""))), "entry")
    header = TableHeader(names, samples, rows_are, rows_are if shape else file_is)
    return JsonTable(path, header, tuple(lists), not path, shape, own or file_is)


def _sample(value: Any) -> str:
    """A cell as the tools have it; of a list the first entry."""
    value = value[0] if isinstance(value, list) and value else value
    return str(_code()["written"](value))


def _size(value: Any) -> str:
    return str(len(value)) if isinstance(value, list) else "0"


def noun_of(name: str) -> str:
    """What the last word of a name says that rows are, as a stem."""
    kept = [word for word in words(name) if word.isalpha() and word not in NO_NOUN and not word.endswith("ed")]
    kept = [word for word in kept if word not in CONTAINERS] or kept
    return next(iter(stems(kept[-1])), "") if kept else ""


@lru_cache(maxsize=1)
def _code() -> dict[str, Any]:
    """The functions with which the tools read the tables of a document."""
    text = resources.files("habilis.demo").joinpath("sources", "shared_documents.py.txt").read_text(encoding="utf-8")
    space: dict[str, Any] = {"calendar": calendar, "json": json, "re": re}
    exec(compile(text, "shared_documents", "exec"), space)
    return space
