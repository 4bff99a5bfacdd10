"""Questions for the difference between two measures of one table: of two kinds of rows, two ends, two single rows."""

from __future__ import annotations

import re

from habilis.core.patterns import lazy_pattern
from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.rows_compared import RowsCompared
from habilis.questions.language import stems, words
from habilis.questions.tables.clauses import ADJECTIVES
from habilis.questions.tables.lexicon import MONEY, SUPERLATIVES
from habilis.questions.tables.rows_meant import FREE
from habilis.questions.world import DemoCall, FilledOperation

MORE = "longer|higher|larger|bigger|greater|more|older|heavier|above|warmer|hotter|taller|faster|more expensive|dearer"
LESS = "shorter|lower|smaller|less|younger|lighter|fewer|below|colder|slower|cheaper"
_HIGH, _LOW = "highest|largest|biggest|maximum|longest|most", "lowest|smallest|minimum|shortest|least"
_OURS = "(?:(?:the|my|our|their|your) )?"
_ENDS = "|".join([_HIGH, _LOW, *sorted(SUPERLATIVES, key=len, reverse=True)])
_RANGE = lazy_pattern(
    r"(?:difference|gap|spread|range|how (?:many|much) (?:#?[a-z]\w*#? )?(?:lies?|is|are|was|were)) between "
    rf"{_OURS}(?:{_ENDS}) and {_OURS}(?:{_ENDS}) (?:#R# )?#(\d+)#(?P<rest>.*)",
    re.IGNORECASE,
)
_RANGE_OF = lazy_pattern(
    rf"(?:(?:difference|gap) in #(\d+)# between {_OURS}(?:{_ENDS}) and {_OURS}(?:{_ENDS})(?: #R#)?|"
    rf"how much (?:higher|more|larger|bigger|greater) (?:is|was) {_OURS}(?:{_HIGH}) #(\d+)# than"
    rf" {_OURS}(?:{_LOW})(?: #\2#)?)"
    r"(?P<rest>(?: (?:in|of|for|on|at|from|with) .*)?)",
    re.IGNORECASE,
)
"""The same in other words. The ends must be of what differs, or nothing lies between them."""
_STATED = r"\b(?:on average|the average|average|mean|total|median|is|are|was|were|that of|(?:number|amount) of)\b"


_TIMES = {"time", "duration", "s", "sec", "second", "seconds", "min", "mins", "minutes", "h", "hours"}


class Differences(RowsCompared):
    """How much more one thing is than another."""

    def _differs(self, text: str) -> DemoCall | None:
        """ "how much more did A sell than B", "by how many km is the average in A longer than in B"."""
        begins = re.match(
            rf"(?:by )?how (?:much|many)(?P<what>(?! (?:{MORE}|{LESS})\b) \w+| #\d+#)?"
            rf"(?: (?P<how>{MORE}|{LESS})\b)?",
            text,
            re.I,
        )
        ends = re.fullmatch(
            rf"(?P<one>.+?)(?: (?P<how>{MORE}|{LESS}))? than (?P<other>.+)", text[begins.end() :], re.I
        ) if begins else None  # fmt: skip
        if begins is None or ends is None or bool(begins["how"]) is bool(ends["how"]):
            return None
        if re.fullmatch(r"(?!\d{4}$)[€$£]? ?\d[\d.,]*(?: ?[€$£%a-z#].*)?", ends["other"]):
            return None  # more than so much is a condition, unless it is a year
        how, what = (begins["how"] or ends["how"]).lower(), begins["what"] or ""
        stated = re.search(r"\b(average|mean|total|median)\b", ends["one"], re.I)
        quick = re.fullmatch("faster|slower", how) is not None
        single = quick or (re.match(r" (?:is|are|was|were)\b", ends["one"]) and not stated)
        measure = {"total": "sum", "median": "median"}.get(stated[1].lower(), "mean") if stated else "sum"
        column = self._compared_in(f"{what} {ends[0]}", how)
        measure = "value" if quick or single else measure  # which fails where several rows are meant
        column = self._money() if column is None and stated and measure == "sum" else column
        if column is None or (measure == "sum" and not self._adds_up(column)):
            return None
        said = [re.sub(rf"{_STATED}|#{column}#|\bit\b", " ", ends[name], flags=re.I) for name in ("one", "other")]
        if shared := re.match(r"(.+?)( (?:in|over|on|at|for) .+)", said[1]) if single else None:
            said = [f"{said[0]} {shared[2]}", said[1]]
        where = [self._rows(self._without_money(one)) for one in said]
        where = [one and [each for each in one if not FREE.fullmatch(each)] for one in where]
        if any(not one for one in where) or len({len(one) for one in where if one}) > 1:
            return None
        calls = tuple(self._number(f"{measure} of {self._header.names[column]}", one) for one in where if one)
        more = bool(re.fullmatch(MORE, how)) is not (quick and self._is_time(column))
        order = "{0} - {1}" if more else "{1} - {0}"
        return DemoCall(EXPRESSION, {"expression": FilledOperation(order, calls)})

    def _is_time(self, column: int) -> bool:
        """Whether a column says how long something took."""
        return bool(_TIMES & {*words(self._header.names[column])})

    def _range(self, text: str) -> DemoCall | None:
        """ "the difference between the highest and the lowest salary": what one column spans."""
        if not re.match(r"(?:difference|gap|spread|range|how)\b", text, re.I):
            return None
        match = _RANGE.fullmatch(text) or _RANGE_OF.fullmatch(text)
        column = int(next(filter(None, match.groups()))) if match else None
        if match is None or column is None or not self._are_ends_of(match[0], column):
            return None
        where = self._rows(match["rest"]) if match else None
        if column is None or where is None or self._header.kind(column) != "number":
            return None
        return self._number(f"range of {self._header.names[column]}", where)

    def _are_ends_of(self, text: str, column: int) -> bool:
        """Whether words such as "oldest" in a text are all about one column: "between the tallest and the shortest" is
        no difference in age."""
        said = [one.lower() for one in re.findall(rf"\b(?:{_ENDS})\b", text, re.I)]
        plain = {**dict.fromkeys(_HIGH.split("|"), "highest"), **dict.fromkeys(_LOW.split("|"), "lowest")}
        told = [SUPERLATIVES[one] for one in said if one not in plain]
        ways = {plain.get(one) or SUPERLATIVES[one][0][1] for one in said}
        named = {*stems(self._header.names[column])}
        own = all(any(named & {*stems(names)} for names, _ in ends) for ends in told)
        return own and len(ways) == 2

    def _apart(self, text: str) -> DemoCall | None:
        """ "the difference between the average in A and in B"."""
        match = re.fullmatch(
            r"(?:what is (?:the )?)?difference (?:in (?P<what>.+?) )?between (?:the )?(?P<measure>.*?)\b(?:"
            r"(?:of|in|for|by|on|at) )?(?:the )?(?P<one>[^\s#]+)"
            r"(?P<mid>(?: #\w+#)?) and (?:(?:of|in|for|by|on|at|that of|that in) )?(?:the )?"
            r"(?P<other>[^\s#]+)(?P<rest>.*)", text, re.I,
        )  # fmt: skip
        if match is None:
            return None
        said = [
            f"{match['what'] or ''} {match['measure']} {match[name]} {match['mid'] or match['rest']}"
            for name in ("one", "other")
        ]
        return self._between("abs({0} - {1})", said)

    def _compared_in(self, text: str, how: str) -> int | None:
        """The column of numbers that is compared: the one that is named, else the one that the comparison means."""
        named = {int(one) for one in re.findall(r"#(\d+)#", text) if self._header.kind(int(one)) == "number"}
        if named:
            return named.pop() if len(named) == 1 else None
        plain = how.removeprefix("more ")
        means = next((names for word, (names, _) in ADJECTIVES.items() if plain.startswith(word[:4])), None)
        paid = how in ("more", "less") and re.search(rf"\b(?:{MONEY})\b", text, re.I)
        return self._header.with_word(*means.split()) if means else self._money(text) if paid else None

    def _between(self, expression: str, said: list[str]) -> DemoCall | None:
        found = [self._measured(one) for one in said]
        if None in found or any(len(one[1]) != 1 for one in found if one):
            return None
        calls = tuple(self._number(*one) for one in found if one)
        return DemoCall(EXPRESSION, {"expression": FilledOperation(expression, calls)})
