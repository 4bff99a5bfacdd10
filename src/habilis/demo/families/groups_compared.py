"""Questions by yes or no for two kinds of rows: "was more sold in May than in June", "is the average of A higher than
that of B". Of both the same is measured; what several rows are to give must be said, a sum or an average."""

from __future__ import annotations

import re

from habilis.demo.families.arithmetic import FIRST_IS_MORE
from habilis.demo.families.differences import LESS, MORE, Differences
from habilis.demo.families.rows_compared import AUX
from habilis.questions.tables.rows_meant import FREE
from habilis.questions.world import DemoCall

_THAN = re.compile(rf"(?:{AUX} )?(?P<one>(?:(?! than ).)+) than (?P<other>(?:(?! than ).)+)", re.IGNORECASE)
_HOW = re.compile(rf"\b(?:more expensive|less expensive|{MORE}|{LESS})\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:not|never|no|only|all|every|each|always|ever|other|another|or|twice|times|much|half|last|next|why|how|what"
    r"|which|who|percent)\b|%|n't\b",
    re.IGNORECASE,
)
"""Words that change what is compared, or leave it open."""
_STATED = (
    ("mean", r"\b(?:on average|(?:the )?(?:average|mean))\b"),
    ("median", r"\b(?:the )?median\b"),
    ("sum", r"\b(?:in total|altogether|combined|overall|(?:the )?total)\b"),
)
_THAT = re.compile(
    r"^(?:the (?:one|ones|number)|that|those|it|they)\b|\b(?:did|does|do|is|are|was|were|has|have|had)$", re.IGNORECASE
)
"""What stands for what was measured before."""


class GroupsCompared(Differences):
    """Two kinds of rows held against each other."""

    def _group_is_more(self, text: str) -> DemoCall | None:
        """ "did A sell more tickets in total than B": Yes or No."""
        match = _THAN.fullmatch(text)
        found = [*_HOW.finditer(match["one"])] if match else []
        asks = re.match(rf"{AUX}\b", self._text, re.IGNORECASE)
        if match is None or asks is None or len(found) != 1 or _OPEN.search(text):
            return None
        how, what = found[0][0].lower(), match["one"][found[0].end() :]
        one = f"{match['one'][: found[0].start()]} {what}"
        measure, said = self._compared(one, how, what, text)
        if measure is None:
            return None
        sides = [self._rows(self._without_money(re.sub(said, " ", side, flags=re.IGNORECASE)))
                 for side in (one, _THAT.sub(" ", match["other"].strip()))]  # fmt: skip
        where = [[each for each in side or () if not FREE.fullmatch(each)] for side in sides]
        if None in sides or not all(where) or len(where[0]) != len(where[1]) or where[0] == where[1]:
            return None
        more = re.fullmatch(MORE, how) is not None
        first, second = (self._number(measure, side) for side in (where if more else where[::-1]))
        return DemoCall(FIRST_IS_MORE, {"first": first, "second": second})

    def _compared(self, one: str, how: str, what: str, text: str) -> tuple[str | None, str]:
        """What is measured of both kinds of rows, and a pattern of the words that say so."""
        stated = [(name, said) for name, said in _STATED if re.search(said, text, re.IGNORECASE)]
        rows = re.match(r" *(#(\w+)#)", what) if how in ("more", "fewer", "less") else None
        if rows and self._names_rows(rows[2]) and len(re.findall(r"#\w+#", one)) == 1:
            counted = {name for name, _ in stated} <= {"sum"}
            return (self._count(), rf"{rows[1]}|\baltogether\b") if counted else (None, "")
        column = self._compared_in(one, how)
        adds_up = column is not None and how in ("more", "less", "fewer") and self._adds_up(column)
        did = adds_up and re.match(r"(?:did|has|have|had)\b", self._text, re.IGNORECASE)  # of all that it did
        name, said = stated[0] if len(stated) == 1 else ("sum" if did else "value", "(?!)")
        if column is None or len(stated) > 1 or (name == "sum" and not self._adds_up(column)):
            return None, ""
        return f"{name} of {self._header.names[column]}", rf"{said}|#{column}#"
