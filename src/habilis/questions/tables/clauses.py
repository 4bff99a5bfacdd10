"""Conditions on the rows of a table as questions word them: "in Oslo", "not shipped", "with a price over 100".

Every word is accounted for, or nothing is understood. What a prompt does not show is left to the tool: in which column
"Oslo" stands, which column holds dates. The tool refuses where that is not exactly one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from habilis.questions.header import TableHeader
from habilis.questions.language import DATE, NUMBER, QUOTED, date, number
from habilis.questions.nouns import UNIT, UNITS
from habilis.questions.tables.lexicon import FILL, FILLERS, FUNCTION_WORDS, MONTHS

_C = r"#(?P<c>\d+)#"
_N = (
    rf"(?P<sign>[€$£] ?)?(?P<n>{NUMBER}|no|zero|one|two|three|four|five|six|seven|eight|nine|ten)"
    rf"(?: ?(?P<unit>{UNIT})(?![^\W_]))?(?![\w.:/-]*\d)"
)
_TIME = r"(?:[0-9]{1,2}:[0-9]{2}(?: ?[ap]\.?m\.?)?|[0-9]{1,2} ?[ap]\.?m\.?|noon|midnight)"
_YEAR = r"(?:1[5-9]|20)[0-9]{2}"
_NTH = r"(?:the )?[0-9]{1,2}(?:st|nd|rd|th)?"
_OF_YEAR = rf"(?:{_NTH}(?: of)? (?:{MONTHS})|(?:{MONTHS}) {_NTH}(?!\d))"
"""A day of which the year is left out."""
_WHEN = rf"(?:{DATE}|{_TIME}|{_OF_YEAR}|(?:{MONTHS})(?:,? {_YEAR})?|q[1-4] {_YEAR}|{_YEAR})(?![\w:]|[-/.]\d)"
_STOPS = [*FUNCTION_WORDS.split(), *FILLERS, *(word for word in FILL.split("|") if word.isalpha())]
_WORD = rf"(?!(?:{'|'.join(_STOPS)})\b)[^\s#\"`,;:?()<>=]+"
_VALUE = rf"(?P<v>{QUOTED}|{_WORD}(?: (?:{_WORD}|(?<=\w )(?:of|and the|the)(?= [A-Z])))*)"
_IS = r"(?:is|are|was|were|equals?|equal to|=|==|of|being)"
_LEAD = rf"(?P<lead>(?-i:(?:{FILL}) )*)(?P<not>not (?-i:(?:{FILL}) )*)?"
_OR_MORE = r"(?:(?P<more>more|higher|above|over|longer)|less|fewer|lower|shorter)"
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
    "dear": ("price cost fare fee", 1), "cheap": ("price cost fare fee", -1),
    "heavy": ("weight", 1), "light": ("weight", -1), "tall": ("height", 1),
    "fast": ("speed", 1), "hot": ("temperature temp", 1), "warm": ("temperature temp", 1),
    "cold": ("temperature temp", -1), "long": ("length duration", 1),
    "short": ("length duration", -1),
}  # fmt: skip
"""Words for more or less of something, with how columns of it are called."""
_MONEY = ("eur", "usd", "gbp")
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_DAYS = (
    r"weekends?|(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?"
    r"(?: (?:or|and) (?:on )?(?P<other>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?)?"
)


class Clauses:
    """Takes the conditions that are known by more than a value out of a phrase whose columns are marked."""

    def __init__(self, header: TableHeader) -> None:
        self._header = header
        self.dated_by = "*"
        """The column of what a row is, where several have dates and the question tells of no other."""
        self.years_are_of: str | None = None
        """The column of the day on which was done what the question says was done; '' where no column has that day, and
        one of years is of something else. None where the question says no such thing."""

    def taken_from(self, text: str) -> tuple[str, list[str]]:
        """The conditions with numbers, dates and times that stand anywhere in `text`, and what is left with a bar for
        each of them."""
        found: list[str] = []
        for pattern, read in _ATOMS:
            position = 0
            while match := pattern.search(text, position):
                position = match.end()
                if (atoms := read(self, match)) is not None:
                    found += atoms
                    text = f"{text[: match.start()]} | {text[match.end() :]}"
                    position = match.start() + 3
        return text, found

    # one kind of condition each; None where it is not of that kind after all

    def _compared(self, match: re.Match[str]) -> list[str] | None:
        how = next(how for how in _MORE if match[how])
        return self._number(match, how)

    def _or_more(self, match: re.Match[str]) -> list[str] | None:
        return self._number(match, "at_least" if match["more"] else "at_most")

    def _number(self, match: re.Match[str], how: str) -> list[str] | None:
        said = match.groupdict()
        unit = (said.get("sign") or said.get("unit") or "").strip()
        named = said.get("c") or said.get("after")
        column = int(named) if named else self._header.of_unit(unit) if unit else None
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
        if column is None and not said["not"]:
            return self._taken(how, unit, value)
        if said["not"] or value is None or column is None or self._header.kind(column) not in ("number", ""):
            return None
        factor = self._header.factor(column, unit)
        return None if factor is None else [self._says(column, how, f"{value * factor:.12g}")]

    def _taken(self, how: str, unit: str, value: float | None) -> list[str] | None:
        """ "in under 40 minutes", of the one column that says how long it took."""
        column = self._header.duration()
        if column is None or value is None or unit.lower() not in UNITS["min"].split() or value != int(value):
            return None
        return [_said(f"time of {self._header.names[column]}", how, f"{int(value) // 60:02}:{int(value) % 60:02}:00")]

    def _adjective(self, match: re.Match[str]) -> list[str] | None:
        word = match["adjective"].lower().replace("heavi", "heavy")
        names, way = ADJECTIVES[next(one for one in ADJECTIVES if word.startswith((one, f"more {one}")))]
        unit = (match["sign"] or match["unit"] or "").strip()
        column = self._header.with_word(*names.split())
        column = self._header.of_unit(unit) if column is None and unit else column
        value = number(match["n"])
        factor = None if column is None else self._header.factor(column, unit)
        if match["not"] or column is None or value is None or factor is None:
            return None
        return [self._says(column, "greater" if way > 0 else "less", f"{value * factor:.12g}")]

    def _equals_number(self, match: re.Match[str]) -> list[str] | None:
        if match["n"].lower() == "no":
            return None
        found = self._number(match, "equals")
        return found if not match["negated"] or not found else [found[0].replace(" equals ", " not_equals ", 1)]

    def _equals_money(self, match: re.Match[str]) -> list[str] | None:
        """A price that is paid: only with its currency, for one column of money."""
        money = (match["sign"] or match["unit"] or "").strip().lower()
        return self._equals_number(match) if money and any(money in UNITS[one].split() for one in _MONEY) else None

    def _or_later(self, match: re.Match[str]) -> list[str] | None:
        moment = self._moment(match["when"], match["c"])
        if moment is None or match["not"]:
            return None
        return [_said(moment[0], "at_most" if match["way"] in ("earlier", "before") else "at_least", moment[1])]

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

    def _either_when(self, match: re.Match[str]) -> list[str] | None:
        """Two months, days or years of which a row is in either."""
        found = [self._moment(match[name], match["c"]) for name in ("one", "other")]
        if match["not"] or None in found or len({one[0] for one in found if one}) > 1:
            return None
        return [" or ".join(_said(one[0], "equals", one[1]) for one in found if one)]

    def _when(self, match: re.Match[str]) -> list[str] | None:
        moment = self._moment(match["when"], match["c"])
        if moment is None or match["not"]:
            return None
        said = match["then"].lower()
        how = next((how for words, how in _THEN.items() if re.fullmatch(words, said)), "equals")
        return [_said(moment[0], how, moment[1])]

    def _weekdays(self, match: re.Match[str]) -> list[str] | None:
        column = int(match["c"]) if match["c"] and not self._header.is_clock(int(match["c"])) else None
        named = self._header.holding(_WEEKDAY)
        named = named if column is None or named == column else None
        name = f"weekday of {self.dated_by if column is None else self._header.names[column]}"
        name = name if named is None else self._header.names[named]
        said = [match[name] for name in ("day", "other") if match[name]]
        days = [day.title() for day in said] or ["Saturday", "Sunday"]
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
        if match["not"] or one == other or self._header.kind(one) != self._header.kind(other):
            return None
        return [self._says(one, f"{how}_column", self._header.names[other])]

    def _lacks(self, match: re.Match[str]) -> list[str] | None:
        column = int(match["c"])
        empty = re.search(r"(?:missing|blank|empty|unknown)$", match[0].strip(), re.IGNORECASE)
        how = "lacks" if self._header.kind(column) != "flag" else "blank" if empty else "no"
        return None if match["not"] else [self._says(column, how, "")]

    def _has(self, match: re.Match[str]) -> list[str] | None:
        column = int(match["c"])
        return None if match["not"] or self._header.kind(column) != "text" else [self._says(column, "filled", "")]

    def _contains(self, match: re.Match[str]) -> list[str] | None:
        value = _bare(match["v"])
        if self._header.kind(int(match["c"])) == "flag":
            return None  # "which vegetarian recipes contain butter"
        return [self._says(int(match["c"]), "contains", value)] if value and not match["not"] else None

    def _moment(self, text: str, column: str | None) -> tuple[str, str] | None:
        """The column, or a part of its dates, that `text` is compared with, and how it stands there."""
        name = self._header.names[int(column)] if column else self.dated_by
        if re.fullmatch(_YEAR, text):
            years = int(column) if column else self._header.with_word("year")
            if column is None and years is not None and self.years_are_of == "":
                return None  # a record of 1968 was bought in another year
            if years is not None and self._header.kind(years) == "number" and (column or not self.years_are_of):
                return self._header.names[years], text
        found = _part(text)
        months = self._header.holding(rf"{_YEAR}-\d\d|(?i:{MONTHS})") if column is None else None
        if found and found[0] == "month" and months is not None:
            return self._header.names[months], found[1]
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
    if re.fullmatch(_OF_YEAR, text) and (day := date(f"{text} 2000")):
        return "day", day[5:]
    day = date(text)
    return ("day", day) if day else None


_FORMS: tuple[tuple[str, str, Callable[[Clauses, re.Match[str]], list[str] | None]], ...] = (
    ("price over 100", rf"{_C} (?:{_IS} )?(?:{_COMPARED}) {_N}", Clauses._compared),
    ("over 5 kg", rf"(?:{_COMPARED}) {_N}(?: (?:of |in |for )?{_C})?", Clauses._compared),
    ("a price of 100 or more", rf"{_C} (?:{_IS} )?{_N} or {_OR_MORE}", Clauses._or_more),
    (
        "100 or more in price",
        rf"(?:of |for )?{_N}(?: {_C})? or {_OR_MORE}(?: (?:(?:in|for|of) )?#(?P<after>\d+)#)?",
        Clauses._or_more,
    ),
    (
        "older than 30",
        rf"(?P<adjective>(?:more )?(?:{'|'.join([*ADJECTIVES, 'heavi'])})(?:er|r|ier)?) than {_N}",
        Clauses._adjective,
    ),
    (
        "price between 10 and 20",
        rf"(?:{_C} )?(?:{_IS} )?(?:between|from) (?P<low>{NUMBER}) (?:and|to) (?P<high>{NUMBER})"
        rf"(?: (?P<unit>{UNIT}))?(?: #(?P<after>\d+)#)?",
        Clauses._between,
    ),
    (
        "from March to May",
        rf"(?:{_C} )?(?:{_IS} )?(?:between|from) (?P<low>{_WHEN}) (?:and|to|until) (?P<high>{_WHEN})",
        Clauses._from_to,
    ),
    (
        "in March or May",
        rf"(?:{_C} )?(?:{_IS} )?(?:in |on |during |of |for |from )?(?P<one>{_WHEN}) (?:and|or) (?:in |on )?"
        rf"(?P<other>{_WHEN})(?: combined| together)?",
        Clauses._either_when,
    ),
    (
        "in 2021 or later",
        rf"(?:{_C} )?(?:{_IS} )?(?:in|from|on|since|of|during) (?P<when>{_WHEN})"
        r"(?:,? or (?P<way>later|after(?:wards)?|earlier|before)|(?P<on>,? onwards?| and (?:later|after(?:wards)?)))",
        Clauses._or_later,
    ),
    (
        "shipped before 1 May 2024",
        rf"(?:{_C} )?(?:{_IS} )?(?P<then>{'|'.join(_THEN)}|in|on|at|during|of|for) "
        rf"(?:the (?:year|month of) )?(?P<when>{_WHEN})",
        Clauses._when,
    ),
    ("May 2024", rf"(?P<c>(?!))?(?P<then>)(?P<when>{_WHEN})", Clauses._when),
    ("on a Monday", rf"(?:#(?P<c>\d+)# )?(?:on )?(?:a )?(?P<days>{_DAYS})", Clauses._weekdays),
    (
        "longer than an hour",
        rf"(?:{_C} )?(?:in |within )?(?P<how>under|less than|below|over|more than|above|longer than) "
        rf"(?P<n>half an|an?|one|two|three|four|five|{NUMBER}) hours?",
        Clauses._hours,
    ),
    ("in the 1990s", r"(?:in |from |during |of )?the (?P<decade>(?:1[5-9]|20)[0-9]0)['’]?s", Clauses._decade),
    (
        "returned after their due date",
        rf"{_C} (?:(?:is|are|was|were) )?(?P<how>after|later than|before|earlier than|above|below|under|over|more than|"
        r"less than|greater than|higher than|lower than|fewer than) (?:(?:their|its|his|her|the) )?#(?P<other>\d+)#",
        Clauses._against,
    ),
    ("without a phone number", rf"(?:no|without|without any|missing|lack|lacks|lacking) {_C}", Clauses._lacks),
    ("that have a tenant", rf"(?:(?:that|which|who) )?(?:has|have|had) (?:an?|any|some) {_C}", Clauses._has),
    ("price is missing", rf"{_C} (?:{_IS} )?(?:missing|blank|empty|unknown)", Clauses._lacks),
    ("pay 60 euros", rf"(?:pay|pays|paid|paying|costs?|costing) (?P<negated>not )?{_N}", Clauses._equals_money),
    ("doors equal to 2", rf"{_C} (?:{_IS} )?(?P<negated>not )?{_N}", Clauses._equals_number),
    (
        "with 2 doors",
        rf"(?:with|having|have|has|had|for|is|are|was|were|lasts?|lasted|takes?|took|costs?|got|get|gets) "
        rf"(?P<negated>not )?{_N} #(?P<after>\d+)#",
        Clauses._equals_number,
    ),
    ("title contains fog", rf"{_C} (?:contains?|containing|includes?|including) {_VALUE}", Clauses._contains),
)
"""Forms of a condition, surest first: an example, what it looks like, what reads it."""

_ATOMS = tuple(
    (re.compile(rf"(?<![\w#|.]){_LEAD}{pattern}(?= |,|$)", re.IGNORECASE), read) for _, pattern, read in _FORMS
)
