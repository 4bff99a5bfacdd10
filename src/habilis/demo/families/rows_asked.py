"""Questions for single rows of one table: whether there is one, which stands where, how long it took from a day to
another."""

from __future__ import annotations

import re

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.questions.language import number, root, words
from habilis.questions.tables.doers import doer_of
from habilis.questions.tables.lexicon import FILLERS, NUMBERED
from habilis.questions.tables.orders_asked import OrdersAsked
from habilis.questions.tables.parts_asked import CALCULATED
from habilis.questions.tables.rows_meant import FREE, UNREAD
from habilis.questions.world import DemoCall, FilledOperation

_ANY = r"(?:an?|any|some|anything|something|anyone|anybody|someone|somebody|one)"
_EXISTS = re.compile(
    rf"(?:(?:is|are|was|were) there (?:{_ANY} )?(?:of (?:the|our|my) )?"
    rf"|(?:did|does|do|has|have|had|is|are|was|were) (?:{_ANY} )(?:of (?:the|our|my|them) )?"
    r"|(?:did|has|have|does|do) (?=[A-Z].*\b(?:ever|any|anything)\b))",
    re.IGNORECASE,
)
"""How a question begins that is answered by yes or no: whether a row meets its conditions."""
_DID_THIS = re.compile(
    r"[Dd]id (?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)*) (?P<verb>[a-z]{3,}) (?:the )?(?=[A-Z][^,;]*$)"
    r"(?!.*\b(?:than|or|and|to|before|after|more|less)\b)"
)
_NTH = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_PLACE = rf"(?P<place>last|final|bottom|very last|top|very first|{'|'.join(_NTH)}|[1-9][0-9]?(?:st|nd|rd|th))"
_AT_PLACE = re.compile(
    rf",? ?(?:\b(?:that|which) )?(?:\b(?:is|are|stands|comes|listed|shown|given) )*\b(?:in|on|of|from|at) the {_PLACE} "
    r"(?:data |table )?(?:row|line)\b(?: (?:of|in) the (?:table|file|list|data))?",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf"(?:(?P<asks>what|which|who) (?:is|was) )?(?:the )?{_PLACE} (?P<noun>[\w-]+)"
    r"(?: (?:that is |which is )?(?:listed|named)| (?:in|on) the (?:list|file|table))+",
    re.IGNORECASE,
)
_ENDS = r"(?:first|earliest|oldest) and (?:the )?(?:last|latest|newest|most recent)"
_BETWEEN = re.compile(
    r"(?:(?:how many|number of) )?(?:days|#(?P<d>\d+)#) "
    r"(?:(?:are|is|lie|lies|were|was|passed?|went by|go by|there|in all) )*between "
    rf"(?:the )?(?:dates? of (?:the )?)?{_ENDS} (?:day |date )?(?:of (?:the |all )?)?(?:#R#|#(?P<c>\d+)#)(?P<rest>.*)",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    r"\bdays\b(?P<mid>.*?)\b(?:from|between)(?: being| the| when it was)? #(?P<a>\d+)# (?:to|until|till|and)"
    r"(?: being| the| when it was)? #(?P<b>\d+)#",
    re.IGNORECASE,
)
_MEASURES = (("mean", r"\b(?:on average|average|mean)\b"), ("median", r"\bmedian\b"),
             ("sum", r"\b(?:in total|total|altogether)\b"))  # fmt: skip
_HIGHEST = ("most", "longest", "highest", "biggest", "largest", "greatest")
_MOST = re.compile(
    rf"\b(?:by )?(?:the )?(?P<end>{'|'.join(_HIGHEST)}|fewest|least|shortest|lowest|smallest)\b", re.IGNORECASE
)
_DIFFERENCE = re.compile(
    r"\b(?:has |is |was |had )?(?:the )?(?:difference|gap|spread|range|swing) between "
    r"(?:the )?#(?P<a>\d+)# and (?:the )?#(?P<b>\d+)#",
    re.IGNORECASE,
)
_KEPT = {"in", "on", "at", "of", "from", "to", "by", "for", "with", "and", "or", "not"}
_TOOK = re.compile(
    r"\b(?:how many|number of|did|does|do|take|takes|took|taken|need|needs|needed|pass|passed|the|of|is|was)\b",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"(?P<before>.*?)\(?\b(?:the )?total #(?P<a>\d+)# divided by (?:the |its |their )?(?:total )?#(?P<b>\d+)#\)?"
    r"(?P<after>.*)",
    re.IGNORECASE,
)

_SEVERAL = re.compile(rf" ?\b{NUMBERED}(?= #|,? ?$| (?:people|persons|members)\b)", re.IGNORECASE)


class RowsAsked(OrdersAsked):
    """Rows of one table that are there or not, stand at a place, or last from a day to another."""

    def _exists(self, phrase: str) -> DemoCall | None:
        """ "is there a dessert under 5 euros", "has anybody from Oslo paid": Yes or No."""
        begins = _EXISTS.match(phrase) or self._did_this(phrase)
        if begins is None or re.search(r"\b(?:more|less|fewer) than (?:one|two|three)\b|\bor\b", phrase):
            return None
        rest = re.sub(r"\bever ", "", phrase[begins.start("who") if "who" in begins.groupdict() else begins.end() :])
        rest = f"did {rest}" if "who" in begins.groupdict() else rest
        found = self._measured(self._prepared(f"how many rows {rest}"))
        if found is None or not found[0].startswith("count") or not found[1]:
            return None
        return self._made("any", conditions=found[1])

    def _did_this(self, phrase: str) -> re.Match[str] | None:
        """ "did Ada borrow Winter Bees", where a column has those who did it, and none says whether or when."""
        did = _DID_THIS.match(phrase)
        told = (i for i in range(len(self._header.names)) if self._header.kind(i) in ("flag", "moment"))
        said = {root(word) for i in told for word in words(self._header.names[i])}
        if did is None or root(did["verb"]) in said or doer_of(self._header, did["verb"]) is None:
            return None
        return did

    def _placed(self, phrase: str) -> DemoCall | None:
        """ "who is in the last row", "what is the 8th film listed": a cell of the row at that place."""
        if listed := _LISTED.fullmatch(phrase):
            place, text = listed["place"], f"{listed['asks'] or 'which'} {listed['noun']}"
        elif at := _AT_PLACE.search(phrase):
            place, text = at["place"], f"{phrase[: at.start()]} {phrase[at.end() :]}".strip()
        else:
            return None
        text = self._prepared(re.sub(r"\b(?:is|are|stands|comes|named|listed|written)$", "", text.strip()))
        column, rest = self._target(re.sub(r"^what is (?:the )?(?=#)", "what ", text, flags=re.IGNORECASE))
        where = self._rows(rest)
        free = where is not None and all(FREE.fullmatch(one) for one in where)
        if column not in self._header.names or not free:
            return None
        return self._made("cells", column=column, conditions=[], order=f"row {_number_of(place)}")

    def _days_between(self, text: str) -> DemoCall | None:
        """ "how many days are between the first and the last order"."""
        match = _BETWEEN.fullmatch(text)
        if match is None:
            return None
        dated = self._clauses.dated_by
        day = int(match["c"]) if match["c"] else self._header.only_day()
        day = self._header.names.index(dated) if day is None and dated in self._header.names else day
        where = self._rows(match["rest"])
        if match["d"] and self._header.kind(int(match["d"])) != "moment":
            return None
        if day is None or where is None or self._header.kind(day) != "moment" or self._header.is_clock(day):
            return None
        return self._number(f"days of {self._header.names[day]}", where)

    def _lasting_days(self, text: str) -> DemoCall | None:
        """ "how many days did A take on average from shipped to arrived"."""
        match = _FROM_TO.search(text)
        columns = [int(match[name]) for name in ("a", "b")] if match else []
        if match is None or any(self._header.kind(i) != "moment" or self._header.is_clock(i) for i in columns):
            return None
        expression = f"days from {self._header.names[columns[0]]} to {self._header.names[columns[1]]}"
        text = f"{text[: match.start()]} {match['mid']} {text[match.end() :]}"
        if end := _MOST.search(text):
            column, rest = self._target(f"{text[: end.start()]} {text[end.end() :]}".strip())
            where = self._rows(_TOOK.sub(" ", rest))
            way = "highest" if end["end"].lower() in _HIGHEST else "lowest"
            if column not in self._header.names or where is None:
                return None
            many = _how_many(text, end)
            rank = f"{way} {many if many > 1 else '1 row'} by {expression}"
            return self._made("cells", column=column, conditions=where, order=rank)
        measure = next((name for name, said in _MEASURES if re.search(said, text, re.IGNORECASE)), "value")
        rest = re.sub("|".join(said for _, said in _MEASURES), " ", text, flags=re.IGNORECASE)
        where = self._rows(_TOOK.sub(" ", rest))
        return (
            self._number(f"{measure} of {expression}", where) if where or (where == [] and measure != "value") else None
        )

    def _two_rows(self, text: str) -> DemoCall | None:
        """ "the difference in age between Ada and Bo": of what one column holds in two rows."""
        match = re.fullmatch(
            r"(?:difference|gap) in #(\d+)# between (?P<one>[A-Z][^#|,]*) and (?P<other>[A-Z][^#|,]*)", text
        )
        column = int(match[1]) if match else None
        if match is None or column is None or self._header.kind(column) != "number" or self._header.label() is None:
            return None
        rows = [self._rows(match[name]) for name in ("one", "other")]
        calls = tuple(self._number(f"value of {self._header.names[column]}", where) for where in rows if where)
        return (
            DemoCall(EXPRESSION, {"expression": FilledOperation("abs({0} - {1})", calls)}) if len(calls) == 2 else None
        )

    def _most_calculated(self, text: str) -> DemoCall | None:
        """ "which flat used the most water (apr minus jan)": the groups where a calculation is highest or lowest."""
        text = _DIFFERENCE.sub(self._difference, text)
        match, end = CALCULATED.search(text), _MOST.search(text)
        if match is None or end is None or match["one"] == match["other"]:
            return None
        target, head = self._target(text[: min(end.start(), match.start())].strip(" ,("))
        said = CALCULATED.sub(" ", f"{head} {text[min(end.start(), match.start()) :]}")
        said = re.sub(rf"#(?:{match['one']}|{match['other']})#", " ", _MOST.sub(" ", said))
        said = re.sub(r"(?<![#\w\"])[a-z]+(?![#\w\"])", self._unless_cell, said)
        where = self._rows(said)
        if where is None or target not in self._header.names:
            return None
        way = "highest" if end["end"].lower() in _HIGHEST else "lowest"
        return self._groups(f"sum of {self._values(match)}", target, where, f"{way} {_how_many(text, end)}")

    def _difference(self, match: re.Match[str]) -> str:
        """ "the difference between high and low", where the names say which is larger."""
        one, other = (words(self._header.names[int(match[name])]) for name in ("a", "b"))
        ends = ({"max", "maximum", "high", "highest"}, {"min", "minimum", "low", "lowest"})
        if ends[0] & {*one} and ends[1] & {*other}:
            return f"#{match['a']}# minus #{match['b']}#"
        return f"#{match['b']}# minus #{match['a']}#" if ends[1] & {*one} and ends[0] & {*other} else match[0]

    def _unless_cell(self, match: re.Match[str]) -> str:
        """A word that describes a calculation, and says nothing more unless it is a cell."""
        word = match[0]
        return word if word in FILLERS or UNREAD.search(word) or word in _KEPT else f"({word})"

    def _ratio(self, text: str) -> DemoCall | None:
        """ "total signups divided by total visits", behind whatever that is called, of the rows that are meant."""
        match = _RATIO.fullmatch(text)
        if match is None:
            return None
        names = [self._header.names[int(match[one])] for one in ("a", "b")]
        percent = re.search(r"\b(?:percent|percentage|share)\b|%", match["before"])
        named = "|".join(match[one] for one in ("a", "b"))
        said = rf"\b(?:what|percent(?:age)?|share)\b|#(?:{named})#|\bled to\b"
        said = re.sub(said, " ", f"{match['before']} | {match['after']}", flags=re.IGNORECASE)
        where = self._rows(said)
        if where is None or any(self._header.kind(int(match[one])) != "number" for one in ("a", "b")):
            return None
        calls = tuple(self._number(f"sum of {name}", where) for name in names)
        return DemoCall(
            EXPRESSION, {"expression": FilledOperation("{0} * 100 / {1}" if percent else "{0} / {1}", calls)}
        )


def _how_many(text: str, end: re.Match[str]) -> int:
    """How many are asked for at one end: three of "the three jobs with the highest total" and "the highest three"."""
    said = _SEVERAL.search(text[: end.start()]) or _SEVERAL.match(text[end.end() :])
    found = number(said["n"]) if said else 1
    return found if isinstance(found, int) else 1


def _number_of(place: str) -> str:
    """A place as the tool takes it: a number, or last."""
    place = place.lower().removeprefix("very ")
    if place in ("last", "final", "bottom"):
        return "last"
    if place in ("first", "top"):
        return "1"
    return f"{_NTH.index(place) + 1}" if place in _NTH else re.sub(r"\D", "", place)
