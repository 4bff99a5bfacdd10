"""The parts of a question that stand in any order: a measure, groups, and conditions in all that is left."""

from __future__ import annotations

import re

from habilis.questions.language import stems, words
from habilis.questions.nouns import CLASSES, PEOPLE
from habilis.questions.tables.doings import is_verb
from habilis.questions.tables.lexicon import MONEY, THINGS, WORTH
from habilis.questions.tables.measures import MEASURES
from habilis.questions.tables.rows_meant import FREE, RowsMeant
from habilis.questions.world import DemoCall

PART = r"(?P<part>month|year|weekday|day of the week|day|date|hour|quarter)"
SAID = "|".join(rf"(?P<{name}>{said})" for name, said in MEASURES.items() if name in ("mean", "sum", "median"))
EACH = (
    r"(?<![\w#])(?:per|by|for each|for every|for the different|[io]n each|[io]n every|at each|of each|each|every"
    r"|from each|"
    rf"across|for each kind of) (?:the )?(?:#(?P<g>\d+)#|{PART})(?= |,|$)(?! (?-i:[A-Z0-9]))"
)
_SIGNS = {"times": "*", "multiplied by": "*", "x": "*", "*": "*", "×": "*", "minus": "-", "less": "-", "-": "-",
          "plus": "+", "+": "+", "divided by": "/", "/": "/"}  # fmt: skip
_CALCULATION = (
    rf"#(?P<one>\d+)# (?P<sign>{'|'.join(map(re.escape, _SIGNS))}) "
    r"(?:(?:what|that|was|is|has|been|already|the|number of) )*#(?P<other>\d+)#"
    rf"(?:,? (?P<then>{'|'.join(map(re.escape, _SIGNS))}) (?:the )?#(?P<third>\d+)#)?"
)
_EXPLAINED = r"[(,:-]* ?(?:(?:i\.?e\.?|that is|meaning|in other words|so)[,:]? )?(?:the )?"
_WHAT_IT_COMES_TO = re.compile(
    r"^(?:what|how much) (?:would|will|do|does|did|should)\b(?: (?:i|we|they|you))?"
    r"(?: (?:make|earn|get|pay|charge|spend)(?: on| for)?)?(?: an?| one)?\b|\b(?:cost(?:s|ed)? )?(?:me|us)\b"
    r"|\b(?:an?|per|each) (?:month|year|week|day)\b",
    re.IGNORECASE,
)
"""What a question for what one row comes to says besides."""
_OVER_ALL = (
    r"(?:,? (?:altogether|all |summed|added|and add|it|up|over|for|of|across|in|each|every|the|#R#|rows?"
    r"|one)+(?=[ ,)]|$))*"
)
"""What says that a calculation is made in each row, and the results added up."""
CALCULATED = re.compile(rf"{_EXPLAINED}{_CALCULATION}{_OVER_ALL} ?\)?", re.I)
_LOW = r"lowest|smallest|minimum|min|least|fewest|shortest|cheapest"
_END = rf"(?P<end>highest|largest|biggest|maximum|max|longest|{_LOW})"
_COUNTED = r"(?P<often>how often|how many times)|how many(?: of)?(?P<distinct> different| distinct| unique)?"
_KINDS = ("type", "kind", "category", "sort", "species", "genre")
"""Columns whose cells say what a row is: a wedding among jobs."""
_MEASURED = set(
    """age year fee price cost amount paid salary income wage score mark grade point rating rank percent rate weight
    height length distance km mile hour minute day week month temperature time duration total revenue value balance
    debit credit budget allowance eur usd gbp page size speed area population calorie fine rent tax bill
    tally""".split()  # noqa: SIM905
)
"""What numbers of a row say that is no count of it."""
_COUNTED_PEOPLE = PEOPLE | {"people", "attendee", "adult", "child", "kid"}


def _without_again(text: str, calculated: re.Match[str]) -> str:
    """What stands around a calculation without its columns, where they say only what it is about: "the stock on shelf A
    (stock times price)". Where one is compared, it is a condition."""
    own = "|".join(one for one in (calculated["one"], calculated["other"], calculated["third"]) if one)
    around = r"(?: (?:worth|altogether|together|we|I)\b|,|$| (?:on|in|for|at|from) (?!\d))"
    before = "".join(rf"(?<!\b{word} )" for word in ("than", "most", "least", "with", "where", "whose"))
    return re.sub(rf"{before}(?:\bat )?#(?:{own})#(?= *{around})", " ", text, flags=re.I)


class PartsAsked(RowsMeant):
    """A measure, groups and conditions, taken out of a question about one table."""

    def _measured(self, text: str) -> tuple[str, list[str]] | None:
        """The measure that a question asks for, with the conditions in the rest of it."""
        text = re.sub(r"^(?:what (?:is|was|are|were) )?(?:(?:the|all|our|my|your) )*", "", text.strip(" ,"), flags=re.I)
        text = re.sub(r"^what (?:did|do|does) (?=.+ (?:pay|spend|earn|cost)\b)", "how much did ", text, flags=re.I)
        if calculated := self._calculated(text):
            return calculated
        if many := re.search(rf"\b(?:{_COUNTED}) ?(?:(?:the|my|our) )*", text, re.I):
            before, rest = text[: many.start()], text[many.end() :]
            if not many["often"]:
                return self._many(before, rest, many)
            found = self._with("count", f"{before} {rest}")
            free = found and [FREE.fullmatch(one) for one in found[1]]
            return None if free and all(free) else found  # all rows, unless what is done is a cell
        said = re.search(rf"(?:\b(?:overall|the) )*\b(?:{SAID}|(?P<much>how much))\b", text, re.I)
        if said:
            measure = next((name for name in ("mean", "sum", "median") if said[name]), "sum")
            found = self._statistic_of(measure, f"{text[: said.start()]} {text[said.end() :]}")
            return None if said["much"] and found and self._is_no_price(found[0].partition(" of ")[2]) else found
        end = re.match(rf"{_END}\b(?P<rest> .+)", text, re.I)
        if end:
            return self._statistic_of("minimum" if re.match(_LOW, end["end"], re.I) else "maximum", end["rest"])
        return None

    def _calculated(self, text: str) -> tuple[str, list[str]] | None:
        """A calculation with two columns in each row, which may stand as what the words before it mean."""
        match = CALCULATED.search(re.sub(r"\b(?:if|when) (?:you|we|I) multiply (#\d+#) by\b", r"\1 times", text))
        if match is None or match["one"] == match["other"]:
            return None
        text = match.string
        rest = re.sub("[()]", " ", f"{text[: match.start()]} {text[match.end() :]}")
        rest = _without_again(rest, match)
        rest = _WHAT_IT_COMES_TO.sub(" ", rest.strip())
        said = r"^what\b|\b(?:an?|one|each) (?-i:(?=[A-Z]))|\ball (?:the|my|our)\b|(?<=left) over(?: from)?\b| per *$"
        rest = re.sub(said, " ", rest.strip(), flags=re.I)
        rest = re.sub(r"\b(?:how (?:much|many)|in total|total|sum|overall|of|value)\b", " ", rest, flags=re.I)
        ends = re.match(rf"{_END}\b", rest.strip(), re.I)
        end = "minimum" if ends and re.match(_LOW, ends[0], re.I) else "maximum" if ends else "sum"
        rest = rest.strip()[ends.end() :] if ends else rest
        measure = "mean" if re.search(r"\b(?:average|mean)\b", rest, re.I) else end
        rest = self._without_money(re.sub(r"\b(?:average|mean)\b", " ", rest, flags=re.I))
        rest = re.sub(rf"(?<![\w#])(?:{WORTH})(?![\w#])", r"(\g<0>)", rest, flags=re.I)  # unless one is a cell
        return self._with(f"{measure} of {self._values(match)}", rest)

    def _values(self, match: re.Match[str]) -> str:
        """What `CALCULATED` found, as a tool takes it: "due - paid"."""
        names = [self._header.names[int(match[one])] for one in ("one", "other")]
        third = f" {_SIGNS[match['then'].lower()]} {self._header.names[int(match['third'])]}" if match["then"] else ""
        return f"{names[0]} {_SIGNS[match['sign'].lower()]} {names[1]}{third}"

    def _many(self, before: str, rest: str, many: re.Match[str]) -> tuple[str, list[str]] | None:
        """What "how many" counts: rows, days, people, the values of a column, or the sum of one."""
        noun = re.search(r"#(?P<c>\w+)#|(?<![\w#])(?P<other>days|nights|people|hours|minutes)(?![\w#])", rest, re.I)
        distinct = bool(many["distinct"])
        if noun is None:
            return None if distinct else self._many_unnamed(f"{before} {rest}")
        kind, after = f"{before} {rest[: noun.start()]}", rest[noun.end() :]
        own = self._column_in(rest) if noun["other"] and not distinct else None
        if own is not None and {*stems(noun["other"])} & {*stems(self._header.names[own])}:
            return self._many_of(own, kind, after.replace(f"#{own}#", " ", 1))  # "how many days was A absent"
        if noun["other"]:
            return None if distinct else self._many_others(noun["other"].lower(), kind, after)
        if noun["c"] != "R" and self._is_day(int(noun["c"])):
            return self._with(f"distinct of day of {self._header.names[int(noun['c'])]}", f"{kind} {after}")
        if noun["c"] == "R":
            key = self._label() if distinct else None
            if distinct and key is None:
                return None
            return self._with(f"distinct of {key}" if distinct else self._count(), f"{kind} {after}")
        column = int(noun["c"])
        if (
            distinct
            and self._header.kind(column) == "number"
            and {*stems(self._header.names[column])} & _COUNTED_PEOPLE
        ):
            who = self._who()  # how many people came, and who they were, are two columns
            return None if who is None else self._with(f"distinct of {self._header.names[who]}", f"{kind} {after}")
        if distinct:
            return self._with(f"distinct of {self._header.names[column]}", f"{kind} {after}")
        return self._many_of(column, kind, after)

    def _is_day(self, column: int) -> bool:
        own = stems(self._header.names[column])
        named = {*own} <= {"day", "date", "night"} or (own[-1] in ("night", "evening") and not is_verb(own[0]))
        return named and self._header.kind(column) == "moment"

    def _many_unnamed(self, rest: str) -> tuple[str, list[str]] | None:
        """ "how many training cones": the rows, or how many each of them is, where the words must be a cell."""
        if self._header.rows_are == "log" and re.match(r" *(?:error|warning|info|debug|critical)", rest, re.I):
            return self._with("count", rest)
        if {*stems(rest)} & THINGS or {*words(rest)} & self._of_file:
            return None
        found = self._pieces()
        held = found[0] if len(found) == 1 else None
        if held is not None:
            where = self._rows(rest)
            return (f"sum of {self._header.names[held]}", where) if where else None
        dated = any(self._header.kind(i) == "moment" for i in range(len(self._header.names)))
        told = self._header.key() is not None or not dated or self._header.with_word(*_KINDS) is not None
        people = self._header.is_people or self._header.labels_people  # "how many altos": each row is one of them
        alone = not found and not re.search(r"[#|]|\bper\b", rest) and (told or people)
        return self._with(self._count(), rest) if alone and (people or not self._may_count()) else None

    def _may_count(self) -> bool:
        """Whether a column may say how many of something each row is: one of numbers that measure nothing."""
        names, own = self._header.names, {self._header.key(), self._header.numbering()}
        numbers = [i for i in range(len(names)) if self._header.kind(i) == "number" and i not in own]
        return any(not (_MEASURED & {*stems(names[i])} or names[i].endswith(")")) for i in numbers)

    def _many_others(self, noun: str, kind: str, after: str) -> tuple[str, list[str]] | None:
        if noun in ("hours", "minutes"):
            return self._long(noun, f"{kind} {after}")
        if noun == "nights" and self._header.rows_are not in ("booking", "stay", "reservation", "trip"):
            return None
        if noun != "people":
            return None if self._header.only_day() is None else self._with("distinct of day of *", f"{kind} {after}")
        present = re.match(r" (?:(?:have|had|has) )?#(?P<c>\d+)#", after)
        if present and self._header.kind(int(present["c"])) == "number":  # "how many people attended"
            name = self._header.names[int(present["c"])]
            return self._with(f"sum of {name}", f"{kind} {after[present.end() :]}")
        who, names = self._who(), self._header.names
        if any(
            self._header.kind(i) == "number" and (PEOPLE - {"paid"}) & {*stems(names[i])} for i in range(len(names))
        ):
            return None  # those who are named, or how many came
        return None if who is None else self._with(f"distinct of {self._header.names[who]}", f"{kind} {after}")

    def _long(self, unit: str, rest: str) -> tuple[str, list[str]] | None:
        """How long rows take, from the time at which they start to the one at which they end."""
        lasting = self._header.duration()
        if lasting is not None:
            return self._with(f"sum of {unit} of {self._header.names[lasting]}", rest)
        ends = [self._header.with_word(*names.split()) for names in ("start begin from", "end finish to until")]
        pause = self._header.with_word("break", "pause", "interruption")
        if None in ends or pause is not None or not all(self._header.is_clock(one) for one in ends if one is not None):
            return None
        start, end = (self._header.names[one] for one in ends if one is not None)
        return self._with(f"sum of {unit} from {start} to {end}", rest)

    def _many_of(self, column: int, kind: str, after: str) -> tuple[str, list[str]] | None:
        name, rest = self._header.names[column], f"{kind} {after}"
        if self._header.kind(column) in ("flag", "moment"):
            again, pieces = self._rows(f"{kind} #{column}# {after}"), self._pieces() if self._rows(kind) else []
            done = re.search(r"\bdid (?:I|we|[A-Z])", self._text)
            if done and kind.strip() and not pieces and self._rows(kind) and self._may_count():
                return None  # rows, or what is counted in them
            if not again or not any(name in one.partition('"')[0] for one in again) or len(pieces) > 1:
                return None
            return f"sum of {self._header.names[pieces[0]]}" if pieces else "count", again
        if self._header.kind(column) == "number":
            again = self._rows(f"{kind} #{column}# {after}")
            if again and any(one.startswith(f"{name} ") for one in again):
                return "count", again
            where = self._rows(rest)
            if where is None or any(one.startswith(f"{name} ") for one in where):
                return None
            if re.match(r" (?:do|does) (?!I\b|we\b)[\w' -]+ have$", after):
                return f"value of {name}", where  # what one row says; rows that differ may not be added up
            measure = self._how_many(column, True)
            return (measure, where) if measure.startswith("sum") and self._adds_up(column) else None
        classed = ({*stems(name)} & CLASSES or {*words(name)} <= self._of_file) and re.search(r"\b[a-z]+ *$", kind)
        if kind.strip() and (column in self._partly or classed):  # "how many M shirts", "how many main courses"
            if re.search(r"\b(?:do|does) \w+ (?:have|own)\b", after):
                return None
            return self._with(self._count(), f"{kind} #{column}# {after}")
        if (
            self._header.label() == column
            and self._pieces()
            and re.search(r"\b(?:in stock|on hand|left)\b", self._text)
        ):
            return None  # kinds of them or pieces
        where = self._rows(rest)
        counted = self._how_many(column, True) if self._header.is_rows(column) else self._kinds_of(column)
        return None if where is None else ("count" if self._header.label() == column else counted, where)

    def _statistic_of(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        rest = re.sub(r"\b(?:number|value|amount) (?:of )?(?=(?:the )?#\d)", "", rest, flags=re.I)
        column = self._column_in(rest)
        said = re.search(rf"\b(?:{MONEY}|payments?|sales?)\b", rest, re.I) is not None
        if column is None and measure == "sum" and (said or re.match(r" *(?:for|of|in|$)|.*#R#", rest)):
            column = self._money(rest)
        if column is None and measure in ("maximum", "minimum") and (said or "#R#" in rest):
            column, rest = self._money(rest), re.sub(r"\b(?:payments?|sales?)\b", "", rest, flags=re.I)
        if column is None and measure == "mean" and re.search(r"\b(?:paid|spent)\b", rest, re.I):
            column = self._money(rest)
        if column is None and measure == "mean" and not re.search(r"#\d+#", rest):
            column = self._only_number()
        if column is None or self._header.kind(column) not in ("number", ""):
            return None
        if measure == "sum" and not self._adds_up(column):
            return None
        rest = re.sub(rf"#{column}#", "", rest, count=1)
        measure = "value" if measure == "sum" and self._asks_price(self._text, column) else measure
        return self._with(f"{measure} of {self._header.names[column]}", self._without_money(rest))

    def _with(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        where = self._rows(rest)
        return None if where is None else (measure, where)

    def _grouped(self, match: re.Match[str], beside: str | None = None) -> str | None:
        if group := match.groupdict().get("g"):
            return self._header.names[int(group)]
        part = {"date": "day", "day of the week": "weekday"}.get(match["part"].lower(), match["part"].lower())
        marks = re.findall(r"#(\d+)#", match.string[match.end() :] if beside is None else beside)
        said = [int(one) for one in marks if self._header.kind(int(one)) == "moment"]
        if part == "time":
            clocks = [i for i in range(len(self._header.names)) if self._header.kind(i) == "moment"]
            clocks = [i for i in clocks if any(":" in row[i] for row in self._header.samples if i < len(row))]
            clocks = [i for i in clocks if i in said] if said else clocks
            return f"time of {self._header.names[clocks[0]]}" if len(clocks) == 1 else None
        moment = said[0] if len(said) == 1 else self._header.only_day()
        named = self._header.with_word(part)
        if not said and moment is None and named is not None and self._header.kind(named) == "text":
            return self._header.names[named]  # delivery day
        return f"{part} of {self._header.names[moment]}" if moment is not None else None

    def _groups(self, measure: str, group: str, where: list[str], rank: str = "") -> DemoCall:
        values = {"measure": measure, "group": group, "conditions": where}
        return self._made("top_groups", **values, rank=rank) if rank else self._made("groups", **values)
