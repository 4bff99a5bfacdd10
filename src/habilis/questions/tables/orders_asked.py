"""Questions for a whole column: all its cells, or those of every row in an order ("names from oldest to youngest").

Each pattern matches the whole question, so that a condition is never passed over. Only the tool sees every cell: it
refuses what repeats, is blank, or has no order of its own.
"""

from __future__ import annotations

import re

from habilis.questions.language import stems, words
from habilis.questions.tables.lexicon import SUPERLATIVES
from habilis.questions.tables.ranks_asked import PRICES, SCORES, RanksAsked
from habilis.questions.world import DemoCall

_SORTING = ("sort", "order", "rank", "arrange")
_PLURAL = re.compile(r"[\w-]+(?<![sui])s", re.I)
_EVERY = re.compile(r"\b(?:list|all|every|each|different|distinct|unique)\b", re.I)
_TOLD = re.compile(
    r"(?:(?P<verb>sort|order|rank|arrange|list|name|print|show|display|give|get|write down)(?: out| me| us)* "
    r"|(?:what|which) (?=#))",
    re.I,
)
_ALL = r"(?:(?:the|all|every|each|list|full|complete|of|my|our|different|distinct|unique) )*"
_SHOWN = re.compile(
    rf"{_ALL}(?:names? of )?(?:#R# )?(?:#(?P<c>\d+)#(?: (?:of|for) {_ALL}#R#)?|#R#)(?: are(?: there)?)?", re.I
)
_THEN = re.compile(rf"(?:{_ALL}#R# )?(?P<order>.+?),? (?:and|then) (?:list|show|give|print|name) (?P<shown>.+)", re.I)
_BY = re.compile(
    r",? ?\b(?:in order of|according to|based on|by|of|on) (?:the |their |its )?(?P<many>number of )?#(?P<c>\d+)#", re.I
)
_OTHER = {"ascending": "descending", "descending": "ascending"}
_PLAIN_ENDS = {
    **dict.fromkeys(("highest", "largest", "biggest", "greatest", "most"), ("number", "descending")),
    **dict.fromkeys(("lowest", "smallest", "least", "fewest"), ("number", "ascending")),
    **dict.fromkeys(("latest", "newest", "most recent"), ("moment", "descending")),
    **dict.fromkeys(("earliest", "oldest"), ("moment", "ascending")),
    "a": ("text", "ascending"),
    "z": ("text", "descending"),
}
"""Words for one end of any column of a kind."""
_ENDS = "|".join(sorted({*SUPERLATIVES, *_PLAIN_ENDS}, key=len, reverse=True))
_IN_ORDER = re.compile(
    r"(?:,? ?\b(?:in(?: an?| the)? order|sorted|ordered|arranged|listed|(?P<ranked>ranked))\b)*"
    r"(?:,? ?\(?(?:in )?(?:an? |the )?(?:(?P<up>ascending|increasing)|(?P<down>descending|decreasing)"
    r"|(?P<reverse>reverse )?(?:(?P<letters>alphabetical)|(?P<time>chronological))(?:ly)?)(?: order)?\)?"
    rf"|,? ?(?:(?:with|starting with|beginning with|from|going from) )?(?:the )?(?P<first>{_ENDS})(?: #(?P<at>\d+)#)?"
    rf"(?: first|,? (?:down |up )?to (?:the )?(?P<last>{_ENDS})(?: #(?P<end>\d+)#)?))?",
    re.I,
)
_BEST_IS_ONE = {"rank", "place", "position", "priority", "level", "grade", "class"}
"""Columns of numbers where nobody knows whether the highest is 1."""


class OrdersAsked(RanksAsked):
    """Whole columns of one table, in the order of its rows or in one that a question names."""

    def _listed(self, phrase: str, text: str) -> DemoCall | None:
        """ "list all names", "the titles from oldest to newest", "sort by age and list the names"."""
        told = _TOLD.match(text)
        verb, text = ((told["verb"] or "").lower(), text[told.end() :]) if told else ("", text)
        if verb in _SORTING and (then := _THEN.fullmatch(text)):
            text = f"{then['shown']} {then['order']}"
        shown = _SHOWN.match(text)
        column = (int(shown["c"]) if shown["c"] else self._header.label()) if shown else None
        if shown is None or column is None or self._header.kind(column) in ("flag", ""):
            return None
        own = column if shown["c"] else None
        once = self._header.kind(column) == "text" and column != self._header.label()
        which = "each" if once or re.search(r"\b(?:different|distinct|unique)\b", phrase, re.I) else "all"
        if shown.end() < len(text):
            order = self._order(text[shown.end() :], own, verb, which)
        else:
            order = which if verb not in _SORTING and own is not None and self._is_whole(phrase, own) else None
        return self._made("cells", column=self._header.names[column], conditions=[], order=order) if order else None

    def _is_whole(self, phrase: str, column: int) -> bool:
        """Whether every cell is asked for, not one and not a sum: by a word that says so, or in the plural."""
        head = re.split(r" (?:of|for|are)\b", phrase)[0].split()[-1]
        if re.search(r"\b(?:every|each)\b", phrase, re.I):
            return True
        open_sum = column in self._header.money or head.lower() in words(self._header.names[column])
        doubtful = self._header.kind(column) == "number" and open_sum and not _EVERY.search(phrase)
        return _PLURAL.fullmatch(head) is not None and not doubtful

    def _order(self, text: str, shown: int | None, verb: str, which: str) -> str | None:
        """The order that `text` names, as the tool takes it; None where it names none, or leaves it open."""
        said = [*_BY.finditer(text)]
        match = _IN_ORDER.fullmatch(_BY.sub("", text))
        if match is None or len(said) > 1:
            return None
        named = {int(one) for one in (*(by["c"] for by in said), match["at"], match["end"]) if one}
        if len(named) > 1 or (said and said[0]["many"] and self._header.kind(*named) != "number"):
            return None
        sorts = verb in _SORTING or re.search(r"\b(?:sorted|ordered|arranged)\b", text, re.I) is not None
        ranks = verb == "rank" or match["ranked"]  # from the highest, or from the first
        by = next(iter(named), None)
        found = self._told_way(match, by, shown)
        if found is None and by is not None and not (_says_way(match) or ranks or self._is_open(by, sorts)):
            found = by, "ascending"
        if found is None or not self._has_order(found[0], match):
            return None
        return f"{which if found[0] == shown else 'all'} {found[1]} by {self._header.names[found[0]]}"

    def _told_way(self, match: re.Match[str], by: int | None, shown: int | None) -> tuple[int, str] | None:
        """The column and the way of an order that says which way it goes."""
        if match["first"]:
            return self._from_end(match, by, shown)
        if match["time"] or match["letters"]:
            return self._by_kind(match, by, shown)
        column = shown if by is None else by
        way = "ascending" if match["up"] else "descending" if match["down"] else None
        return None if column is None or way is None else (column, way)

    def _is_open(self, by: int, sorts: bool) -> bool:
        """Whether "by …" alone may divide the rows, or begin with the best."""
        return not sorts and (self._header.kind(by) == "text" or bool(SCORES & {*stems(self._header.names[by])}))

    def _has_order(self, column: int, match: re.Match[str]) -> bool:
        """Whether a column has an order of its own: letters are one of names, or where they are said."""
        kind = self._header.kind(column)
        if kind == "text" and column != self._header.numbering():
            letters = match["letters"] or {match["first"], match["last"]} & {"a", "A", "z", "Z"}
            return self._is_lettered(column) and bool(letters or column == self._header.label())
        return kind in ("number", "moment", "text")

    def _is_lettered(self, column: int) -> bool:
        cells = "".join(row[column] for row in self._header.samples if column < len(row))
        return self._header.kind(column) == "text" and not re.search(r"\d", cells)

    def _by_kind(self, match: re.Match[str], by: int | None, shown: int | None) -> tuple[int, str] | None:
        """An order that says of what kind its column is: of letters, or of time."""
        column = by if by is not None else self._header.label() if shown is None else shown
        if match["time"] and by is None and (column is None or self._header.kind(column) != "moment"):
            column = self._header.only_day()
        if column is None or not (
            self._header.kind(column) == "moment" if match["time"] else self._is_lettered(column)
        ):
            return None
        return column, "descending" if match["reverse"] else "ascending"

    def _from_end(self, match: re.Match[str], by: int | None, shown: int | None) -> tuple[int, str] | None:
        """The column and the way of an order that begins, and maybe ends, with a word for one end."""
        found = self._ends(match["first"].lower(), by, shown)
        if match["last"]:
            found &= {(column, _OTHER[way]) for column, way in self._ends(match["last"].lower(), by, shown)}
        return found.pop() if len(found) == 1 else None

    def _ends(self, end: str, by: int | None, shown: int | None) -> set[tuple[int, str]]:
        """The columns that a word for one end may be about, and from there which way."""
        found = {
            (column, "descending" if way == "highest" else "ascending")
            for names, way in SUPERLATIVES.get(end, ())
            if (column := self._header.with_word(*stems(names))) is not None
            and not (by is None and {*stems(names)} & PRICES and [*{*self._header.money} - {column}])
        }
        kind, way = _PLAIN_ENDS.get(end, ("", ""))
        column = shown if by is None else by
        if by is None and kind == "moment" and (column is None or self._header.kind(column) != kind):
            column = None if self._header.labels_people else self._header.only_day()
        if column is not None and self._header.kind(column) == kind:
            placed = kind == "number" and _BEST_IS_ONE & {*stems(self._header.names[column])}
            found |= set() if placed else {(column, way)}
        return {one for one in found if by in (None, one[0])}


def _says_way(match: re.Match[str]) -> bool:
    return any(match[name] for name in ("first", "time", "letters", "up", "down"))
