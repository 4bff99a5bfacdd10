"""Conditions on the rows of a table as questions word them: "in Oslo", "not shipped", "with a price over 100".

Every word is accounted for, or nothing is understood. What a prompt does not show is left to the tool: in which column
"Oslo" stands, which column holds dates. The tool refuses where that is not exactly one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from habilis.demo.families.lexicon import FILL, FILLERS, FUNCTION_WORDS, MONTHS, THINGS, is_state, is_verb
from habilis.demo.questions.header import TableHeader
from habilis.demo.questions.language import DATE, NUMBER, QUOTED, date, number, stems
from habilis.demo.questions.nouns import UNITS

_C = r"#(?P<c>\d+)#"
_UNIT = "|".join(sorted({re.escape(one) for said in UNITS.values() for one in said.split()}, key=len, reverse=True))
_N = (
    rf"(?P<sign>[€$£] ?)?(?P<n>{NUMBER}|no|zero|one|two|three|four|five|six|seven|eight|nine|ten)"
    rf"(?: ?(?P<unit>{_UNIT})(?![^\W_]))?(?![\w.:/-]*\d)"
)
_TIME = r"(?:[0-9]{1,2}:[0-9]{2}(?: ?[ap]\.?m\.?)?|[0-9]{1,2} ?[ap]\.?m\.?|noon|midnight)"
_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_WHEN = rf"(?:{DATE}|{_TIME}|(?:{MONTHS})(?:,? {_YEAR})?|q[1-4] {_YEAR}|{_YEAR})(?![\w:]|[-/.]\d)"
_STOPS = [*FUNCTION_WORDS.split(), *FILLERS, *(word for word in FILL.split("|") if word.isalpha())]
_WORD = rf"(?!(?:{'|'.join(_STOPS)})\b)[^\s#\"`,;:?()<>=]+"
_VALUE = rf"(?P<v>{QUOTED}|{_WORD}(?: (?:{_WORD}|(?<=\w )(?:of|and the|the)(?= [A-Z])))*)"
_IS = r"(?:is|are|was|were|equals?|equal to|=|==|of|being)"
_LEAD = rf"(?P<lead>(?:(?:{FILL}) )*)(?P<not>not (?:(?:{FILL}) )*)?"
_MORE = {
    "at_least": "at least|no less than|not less than|>=|≥|a minimum of",
    "at_most": "at most|no more than|not more than|up to|<=|≤|a maximum of",
    "greater": "over|above|(?:greater|more|larger|higher|bigger|longer) than|exceeds?|exceeding|>",
    "less": "under|below|(?:less|smaller|lower|fewer|shorter) than|<",
}
_COMPARED = "|".join(f"(?P<{how}>{said})" for how, said in _MORE.items())
_THEN = {
    "before|prior to|earlier than": "less",
    "after|later than": "greater",
    "since": "at_least",
    "until|till": "at_most",
}
ADJECTIVES = {
    "old": ("age", 1), "young": ("age", -1), "expensive": ("price cost fare fee", 1),
    "cheap": ("price cost fare fee", -1), "heavy": ("weight", 1), "light": ("weight", -1), "tall": ("height", 1),
    "fast": ("speed", 1), "hot": ("temperature temp", 1), "warm": ("temperature temp", 1),
    "cold": ("temperature temp", -1), "long": ("length duration", 1),
    "short": ("length duration", -1),
}  # fmt: skip
"""Words for more or less of something, with how columns of it are called."""
_COMES = {"from": "from origin source departure start", "to": "to destination arrival target end"}
_NEGATED = re.compile(r" (?:not_equals|no) \"")
_DAYS = r"weekends?|saturdays? (?:or|and) sundays?|(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?"
_LEADS_ON = rf"(?:{FILL}|from|to|not|over|under|above|below|more|less|at|before|after)\b|#"


class Clauses:
    """Reads the conditions of a phrase whose columns are marked."""

    def __init__(self, header: TableHeader) -> None:
        self._header = header
        self.dated_by = "*"
        """The column of what a row is, where several have dates and the question tells of no other."""

    def read(self, text: str) -> list[str] | None:
        """All conditions of `text`, each as the tool takes it; None where a word of it is not understood."""
        text = re.sub(r"\b(is|are|was|were|do|does|did|has|have|had)n['’]?t\b", r"\1 not", text.strip(" ,"))
        found = self._all(f"{text} ") if text else []
        mixed = [one for one in found or () if len({part.split(' equals "')[0] for part in one.split('" or ')}) > 1]
        return None if found is None or (mixed and len(found) > 1) else found

    def taken_from(self, text: str) -> tuple[str, list[str]]:
        """The conditions with numbers, dates and times that stand anywhere in `text`, and what is left with a bar for
        each of them."""
        found: list[str] = []
        for pattern, read in _SURE:
            position = 0
            while match := pattern.search(text, position):
                position = match.end()
                if (atoms := read(self, match)) is not None:
                    found += atoms
                    text = f"{text[: match.start()]} | {text[match.end() :]}"
                    position = match.start() + 3
        return text, found

    def _all(self, text: str) -> list[str] | None:
        for atoms, lead, end in self._first(text):
            rest = text[end:].strip(" ,")
            if not rest:
                return atoms
            if rest.startswith("by ") and re.search(r"^\* | (?:yes|no) ", atoms[-1]):
                continue  # "approved by Kim": who did it may be another than whom the table names
            joined = re.match(r"(?:(and|or|but|as well as|combined) )?(.*)", rest)
            assert joined
            further = self._all(f"{joined[2]} ") if joined[2] else None
            if further is None:
                continue
            negated = _NEGATED.search(atoms[-1]) is not None
            if negated and joined[1] and (joined[1] == "or" or not re.match(_LEADS_ON, joined[2], re.IGNORECASE)):
                continue  # "not in Oslo or Bergen" is one negation of two values
            if joined[1] == "or" or (joined[1] == "and" and self._is_choice(atoms, further, lead, joined[2])):
                if len(atoms) > 1 or _NEGATED.search(further[0]):
                    continue
                return [f"{atoms[0]} or {further[0]}", *further[1:]]
            return [*atoms, *further]
        return None

    def _is_choice(self, atoms: list[str], further: list[str], lead: str, text: str) -> bool:
        """Whether "and" stands between two values of one column: "in May and June" is in one or the other."""
        one, other = (found[0].split(' equals "')[0] for found in (atoms, further))
        placed = " of " in one or re.search(r"\b(?:in|from|for|by|at|of|on|during) (?:the )?$", lead)
        bare = one != "*" or not re.match(_LEADS_ON, text, re.IGNORECASE)
        return one == other != further[0] and placed is not None and bare

    def _first(self, text: str) -> Iterator[tuple[list[str], str, int]]:
        for pattern, read in _ATOMS:
            for ending in (r"(?= (?:combined |together |overall )*(?:and|or|but) | $|,)", r"(?=[ ,])"):
                match = re.match(_LEAD + pattern + ending, text, re.IGNORECASE)
                if match and (atoms := read(self, match)) is not None:
                    way = match.groupdict().get("way")
                    yield atoms, f"{match['lead']}from " if way else match["lead"], match.end()
                    break

    # one kind of condition each; None where it is not of that kind after all

    def _compared(self, match: re.Match[str]) -> list[str] | None:
        how = next(how for how in _MORE if match[how])
        return self._number(match, how)

    def _or_more(self, match: re.Match[str]) -> list[str] | None:
        return self._number(match, "at_least" if match["more"] else "at_most")

    def _number(self, match: re.Match[str], how: str) -> list[str] | None:
        said = match.groupdict()
        unit = (said.get("sign") or said.get("unit") or "").strip()
        column = int(said["c"]) if said.get("c") else self._header.of_unit(unit) if unit else None
        if column is None and any(unit.lower() in UNITS[money].split() for money in ("eur", "usd", "gbp")):
            column = self._header.with_word("price", "amount", "cost", "fee", "fare", "salary", "revenue")
            column = None if len(self._header.money) > 1 else column
        value = number(match["n"])
        if (
            column is None
            and not unit
            and self._header.is_people
            and re.search(r"\b(?:over|under|above|below) \S+$", match[0])
        ):
            column = self._header.with_word("age")  # "employees under 35"
        elif column is None and not unit and self._header.are_sums:
            column = self._header.with_word("amount", "total")  # "payments over 1,000"
        if said["not"] or value is None or column is None or self._header.kind(column) not in ("number", ""):
            return None
        return None if unit and not self._header.takes_unit(column, unit) else [self._says(column, how, f"{value}")]

    def _adjective(self, match: re.Match[str]) -> list[str] | None:
        word = match["adjective"].lower()
        names, way = ADJECTIVES[next(one for one in ADJECTIVES if word.startswith((one, f"more {one}")))]
        unit = (match["sign"] or match["unit"] or "").strip()
        column = self._header.with_word(*names.split())
        column = self._header.of_unit(unit) if column is None and unit else column
        value = number(match["n"])
        if match["not"] or column is None or value is None or (unit and not self._header.takes_unit(column, unit)):
            return None
        return [self._says(column, "greater" if way > 0 else "less", f"{value}")]

    def _equals_number(self, match: re.Match[str]) -> list[str] | None:
        if match["n"].lower() == "no":
            return None
        found = self._number(match, "equals")
        return found if not match["negated"] or not found else [found[0].replace(" equals ", " not_equals ", 1)]

    def _between(self, match: re.Match[str]) -> list[str] | None:
        low, high = (number(match[name]) for name in ("low", "high"))
        column = match["c"] or match["after"]
        unit = match["unit"]
        if match["not"] or low is None or high is None or column is None:
            return None
        if self._header.kind(int(column)) != "number" or (unit and not self._header.takes_unit(int(column), unit)):
            return None
        return [self._says(int(column), "at_least", f"{low}"), self._says(int(column), "at_most", f"{high}")]

    def _from_to(self, match: re.Match[str]) -> list[str] | None:
        low, high = self._moment(match["low"], match["c"]), self._moment(match["high"], match["c"])
        if match["not"] or low is None or high is None or low[0] != high[0]:
            return None
        return [_said(low[0], "at_least", low[1]), _said(high[0], "at_most", high[1])]

    def _when(self, match: re.Match[str]) -> list[str] | None:
        moment = self._moment(match["when"], match["c"])
        if moment is None or match["not"]:
            return None
        said = match["then"].lower()
        how = next((how for words, how in _THEN.items() if re.fullmatch(words, said)), "equals")
        return [_said(moment[0], how, moment[1])]

    def _weekdays(self, match: re.Match[str]) -> list[str] | None:
        column = int(match["c"]) if match["c"] and not self._header.is_clock(int(match["c"])) else None
        name = f"weekday of {self.dated_by if column is None else self._header.names[column]}"
        weekend = re.match(r"weekend|saturdays? (?:or|and) sunday", match["days"], re.IGNORECASE)
        days = ["Saturday", "Sunday"] if weekend else [match["day"].title()]
        how = "not_equals" if match["not"] else "equals"
        return None if match["not"] and len(days) > 1 else [" or ".join(_said(name, how, day) for day in days)]

    def _hours(self, match: re.Match[str]) -> list[str] | None:
        """ "in under an hour": of a column of minutes, or of times that were taken."""
        how = "less" if re.match("under|less|below|fewer", match["how"], re.IGNORECASE) else "greater"
        said = match["n"].lower()
        hours = 1 if said in ("a", "an") else 0.5 if said.startswith("half") else number(said)
        columns = (int(match["c"]) if match["c"] else None, self._header.of_unit("min"), self._header.duration())
        column = next((one for one in columns if one is not None), None)
        if match["not"] or column is None or hours is None:
            return None
        minutes = round(60 * hours)
        if self._header.kind(column) == "moment" and self._header.is_clock(column):
            return [_said(f"time of {self._header.names[column]}", how, f"{minutes // 60:02}:{minutes % 60:02}:00")]
        in_minutes = self._header.kind(column) == "number" and column == self._header.of_unit("min")
        return [self._says(column, how, f"{minutes}")] if in_minutes else None

    def _decade(self, match: re.Match[str]) -> list[str] | None:
        years = self._header.with_word("year")
        if match["not"]:
            return None
        name = "year of *" if years is None else self._header.names[years]
        first = int(match["decade"])
        return [_said(name, "at_least", f"{first}"), _said(name, "at_most", f"{first + 9}")]

    def _against(self, match: re.Match[str]) -> list[str] | None:
        """One column against another: "returned after their due date"."""
        said = match["how"].lower()
        how = "greater" if re.match("after|later|above|more|over|greater|higher|exceed", said) else "less"
        one, other = int(match["c"]), int(match["other"])
        if match["not"] or self._header.kind(one) != self._header.kind(other):
            return None
        return [self._says(one, f"{how}_column", self._header.names[other])]

    def _lacks(self, match: re.Match[str]) -> list[str] | None:
        column = int(match["c"])
        empty = re.search(r"(?:missing|blank|empty|unknown)$", match[0].strip(), re.IGNORECASE)
        how = "lacks" if self._header.kind(column) != "flag" else "blank" if empty else "no"
        return None if match["not"] else [self._says(column, how, "")]

    def _flag(self, match: re.Match[str]) -> list[str] | None:
        column = int(match["c"])
        return (
            [self._says(column, "no" if match["not"] else "yes", "")] if self._header.kind(column) == "flag" else None
        )

    def _value(self, match: re.Match[str]) -> list[str] | None:
        """A value beside its column."""
        said = match.groupdict()
        negated = bool(said["not"]) is not bool(said.get("negated"))
        value = _bare(match["v"])
        kind, before = self._header.kind(int(match["c"])), match.start("v") < match.start("c")
        if before and (
            int(match["c"]) == self._header.label() or {*stems(self._header.names[int(match["c"])])} <= THINGS
        ):
            return None  # "Leo's tasks", "kitchen items": of another column
        if value and number(value) is None and kind in ("number", "moment"):
            return None
        if value and kind == "flag" and value.lower() not in ("yes", "no", "true", "false", "y", "n"):
            return None
        return [self._says(int(match["c"]), "not_equals" if negated else "equals", value)] if value else None

    def _contains(self, match: re.Match[str]) -> list[str] | None:
        value = _bare(match["v"])
        return [self._says(int(match["c"]), "contains", value)] if value and not match["not"] else None

    def _either(self, match: re.Match[str]) -> list[str] | None:
        """Two values before their column."""
        values = [_bare(match[name]) for name in ("one", "v")]
        return (
            None
            if match["not"] or None in values
            else [" or ".join(self._says(int(match["c"]), "equals", f"{one}") for one in values)]
        )

    def _anywhere(self, match: re.Match[str]) -> list[str] | None:
        """A value whose column the question does not name."""
        value = _bare(match["v"])
        if value is None or number(value) is not None or re.match(r"\d", value):
            return None
        name, way = "*", (match.groupdict().get("way") or "").lower()
        if way:
            columns = [self._header.with_word(*_COMES[one].split()) for one in ("from", "to")]
            column = columns[way == "to"]
            if column is None and (way == "to" or columns[1] is not None):
                return None
            name = "*" if column is None else self._header.names[column]
        if (
            name == "*"
            and (" " in value or is_verb(value))
            and not is_state(value, match["lead"])
            and not (match["not"] or match["other"])
            and not re.fullmatch(QUOTED, match["v"])
        ):
            return [_said(name, "says", " ".join(f"({one})" if is_verb(one) else one for one in value.split()))]
        return [_said(name, "not_equals" if match["not"] or match["other"] else "equals", value)]

    def _moment(self, text: str, column: str | None) -> tuple[str, str] | None:
        """The column, or a part of its dates, that `text` is compared with, and how it stands there."""
        name = self._header.names[int(column)] if column else self.dated_by
        if re.fullmatch(_YEAR, text):
            years = int(column) if column else self._header.with_word("year")
            if years is not None and self._header.kind(years) == "number":
                return self._header.names[years], text
        found = _part(text)
        if found and ((column and found[0] != "time" and self._header.is_clock(int(column))) or found[0] == "time"):
            name = name if column and found[0] == "time" else "*"
        return (f"{found[0]} of {name}", found[1]) if found and self._dated(column) else None

    def _dated(self, column: str | None) -> bool:
        return column is None or self._header.kind(int(column)) in ("moment", "")

    def _says(self, column: int, how: str, value: str) -> str:
        return _said(self._header.names[column], how, value)


def _said(name: str, how: str, value: str) -> str:
    return f"{name} {how} {json.dumps(value, ensure_ascii=False)}"


def _bare(text: str) -> str | None:
    text = text[1:-1] if re.fullmatch(QUOTED, text) else text.strip(" .'").removesuffix("'s")
    return None if text.lower().startswith("non-") else text or None


def _part(text: str) -> tuple[str, str] | None:
    """What part of a moment a text says, and how that part stands in a tool's comparison."""
    text = text.strip().lower()
    if re.fullmatch(_YEAR, text):
        return "year", text
    if found := re.fullmatch(rf"({MONTHS})(?:,? ({_YEAR}))?", text):
        month = MONTHS.split("|").index(found[1]) + 1
        return "month", f"{found[2]}-{month:02}" if found[2] else found[1].title()
    if found := re.fullmatch(r"q([1-4]) (\d+)", text):
        return "quarter", f"{found[2]}-Q{found[1]}"
    if found := re.fullmatch(
        r"(\d{1,2})(?::(\d\d))? ?([ap])?(?:\.?m\.?)?", text.replace("noon", "12:00").replace("midnight", "0:00")
    ):
        hour = int(found[1]) % 12 + 12 * (found[3] == "p") if found[3] else int(found[1])
        return ("time", f"{hour:02}:{found[2] or '00'}:00") if hour < 24 else None
    day = date(text)
    return ("day", day) if day else None


_ATOMS = (
    (rf"{_C} (?:{_IS} )?(?:{_COMPARED}) {_N}", Clauses._compared),
    (rf"(?:{_COMPARED}) {_N}(?: (?:of |in |for )?{_C})?", Clauses._compared),
    (rf"{_C} (?:{_IS} )?{_N} or (?:(?P<more>more|higher|above|over)|less|fewer|lower)", Clauses._or_more),
    (rf"(?:of |for )?{_N} or (?:(?P<more>more|higher|above|over)|less|fewer|lower)(?: {_C})?", Clauses._or_more),
    (
        r"(?P<adjective>(?:more )?(?:ADJ)(?:er|r|ier)?) than ".replace("ADJ", "|".join([*ADJECTIVES, "heavi"])) + _N,
        Clauses._adjective,
    ),
    (
        rf"(?:{_C} )?(?:{_IS} )?(?:between|from) (?P<low>{NUMBER}) (?:and|to) (?P<high>{NUMBER})"
        rf"(?: (?P<unit>{_UNIT}))?(?: #(?P<after>\d+)#)?",
        Clauses._between,
    ),
    (rf"(?:{_C} )?(?:{_IS} )?(?:between|from) (?P<low>{_WHEN}) (?:and|to|until) (?P<high>{_WHEN})", Clauses._from_to),
    (
        rf"(?:{_C} )?(?:{_IS} )?(?P<then>{'|'.join(_THEN)}|in|on|at|during|of|for) "
        rf"(?:the (?:year|month of) )?(?P<when>{_WHEN})",
        Clauses._when,
    ),
    (rf"(?P<c>(?!))?(?P<then>)(?P<when>{_WHEN})", Clauses._when),
    (rf"(?:#(?P<c>\d+)# )?(?:on )?(?:a )?(?P<days>{_DAYS})", Clauses._weekdays),
    (
        rf"(?:{_C} )?(?:in |within )?(?P<how>under|less than|below|over|more than|above|longer than) "
        rf"(?P<n>half an|an?|one|two|three|four|five|{NUMBER}) hours?",
        Clauses._hours,
    ),
    (r"(?:in |from |during |of )?the (?P<decade>(?:1[5-9]|20)[0-9]0)['’]?s", Clauses._decade),
    (
        rf"{_C} (?:(?:is|are|was|were) )?(?P<how>after|later than|before|earlier than|above|below|under|over|more than|"
        r"less than|greater than|higher than|lower than|fewer than) (?:(?:their|its|his|her|the) )?#(?P<other>\d+)#",
        Clauses._against,
    ),
    (rf"(?:no|without|without any|missing|lack|lacks|lacking) {_C}", Clauses._lacks),
    (rf"{_C} (?:{_IS} )?(?:missing|blank|empty|unknown)", Clauses._lacks),
    (rf"{_C} (?:{_IS} )?(?P<negated>not )?{_N}", Clauses._equals_number),
    (rf"{_C} (?:contains?|containing|includes?|including) {_VALUE}", Clauses._contains),
    (rf"{_C} (?:{_IS} )?(?P<negated>not |other than |!= ?)?{_VALUE}", Clauses._value),
    (rf"{_VALUE} {_C}", Clauses._value),
    (rf"(?P<one>{_WORD}) (?:and|or) {_VALUE} {_C}", Clauses._either),
    (_C, Clauses._flag),
    (rf"(?:(?P<way>from|to) )?(?P<other>except |other than |excluding )?(?:the )?{_VALUE}", Clauses._anywhere),
)
"""Forms of a condition, surest first, with what reads them."""

_SURE = tuple(
    (re.compile(rf"(?<![\w#|.]){_LEAD}{pattern}(?= |,|$)", re.IGNORECASE), read)
    for pattern, read in _ATOMS
    if read not in (Clauses._value, Clauses._anywhere, Clauses._either, Clauses._contains, Clauses._flag)
)
"""Those that are known by more than a value, wherever they stand."""
