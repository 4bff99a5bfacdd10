"""Queries of a table in whatever order the question says its parts.

What `queries` does not read by its form is taken apart here: groups, conditions, a rank, a measure are taken out of the
question wherever they stand, and every other word must be a cell of the table. Which cell, only the tool sees: it takes
the words as `says`, and refuses what stands in no column or in several. A verb that no cell holds says nothing more.
"""

from __future__ import annotations

import json
import re

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.conditions import nameless
from habilis.demo.families.parts_asked import PART
from habilis.demo.families.queries import Queries
from habilis.demo.families.ranks_asked import ASKS, RanksAsked
from habilis.demo.questions.header import header_of
from habilis.demo.questions.operations import DemoOperation
from habilis.demo.questions.world import CannotAnswerError, DemoCall, FilledOperation, World, is_table, without_file

_EACH = (
    rf"(?:per|by|for each|for every|for the different|in each|in every|at each|of each|each|for each"
    rf" kind of) (?:#(?P<g>\d+)#|{PART})"
)
_COUNTED = r"how (?:many|much)(?: times| often)?|how often"


class Wordings:
    """Family of questions about one table whose parts stand in any order; its tools are those of `Queries`."""

    operations: tuple[DemoOperation, ...] = ()

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    def read(self, phrase: str, world: World) -> DemoCall | None:
        try:
            taken = world.take_file(phrase, self._queries.endings)
        except CannotAnswerError:
            return None
        header = header_of(taken[1]) if taken and is_table(taken[1]) else None
        if taken is None or header is None:
            return None
        if taken[1].nameless:
            raise nameless(taken[1])
        return _Wording(self._queries.operations, taken[1], header).call(without_file(phrase))


class _Wording(RanksAsked):
    """One question about one table, taken apart."""

    def call(self, phrase: str) -> DemoCall | None:
        text = self._prepared(phrase)
        for way in (
            self._compared,
            self._apart,
            self._share,
            self._of_each,
            self._counts,
            self._top,
            self._extreme_moment,
            self._ends,
            self._got,
            self._sums,
            self._cells,
        ):
            if call := way(text):
                return call
        return None

    # kinds of questions

    def _compared(self, text: str) -> DemoCall | None:
        """ "who paid more, A or B", "how much more did A sell than B"."""
        more = re.fullmatch(
            r"how (?:much|many) more (?P<what>#\d+# )?did (?P<one>\w+) (?P<verb>\w+)(?P<mid>.*?) than "
            r"(?P<other>\w+)(?P<rest>.*)",
            text,
            re.I,
        )
        if more:
            column = int(re.findall(r"\d+", more["what"])[0]) if more["what"] else self._money()
            where = [self._rows(f"{more[name]} {more['mid']} {more['rest']}") for name in ("one", "other")]
            if column is None or None in where:
                return None
            sums = tuple(self._number(f"sum of {self._header.names[column]}", one) for one in where if one is not None)
            return DemoCall(EXPRESSION, {"expression": FilledOperation("{0} - {1}", sums)})
        which = re.fullmatch(
            r"(?:who|which #(?P<g>\d+)#) (?P<verb>\w+) (?P<more>more|less|fewer)(?P<rest>.*?),? (?P<one>\w+)"
            r" or (?P<other>\w+)",
            text,
            re.I,
        )
        if which is None:
            return None
        column = int(which["g"]) if which["g"] else self._who()
        money = re.fullmatch(r"(?:paid|spent|pay|sold|earned|made)", which["verb"], re.I)
        value = self._column_in(which["rest"]) if "#" in which["rest"] else self._money() if money else None
        rest = self._rows(re.sub(r"#\d+#", "", which["rest"]))
        if column is None or value is None or rest is None:
            return None
        name = self._header.names[column]
        either = " or ".join(f"{name} equals {json.dumps(which[one])}" for one in ("one", "other"))
        way = "highest" if which["more"].lower() == "more" else "lowest"
        return self._groups(f"sum of {self._header.names[value]}", name, [either, *rest], f"{way} 1")

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
        found = [self._measured(one) for one in said]
        if None in found or any(len(one[1]) != 1 for one in found if one):
            return None
        calls = tuple(self._number(*one) for one in found if one)
        return DemoCall(EXPRESSION, {"expression": FilledOperation("abs({0} - {1})", calls)})

    def _share(self, text: str) -> DemoCall | None:
        """ "what percentage of the rows …": those that meet the conditions in 100 of all."""
        match = re.fullmatch(
            r"(?:what )?(?:percentage|percent|share|proportion)(?: of)?(?: all| the| my| our)*(?P<base> #\w+#)"
            r"(?: (?:is|are|was|were|has|have|that|which|came|comes|goes|went|took|takes|had|did))?(?P<rest>"
            r" .+?)(?:,? (?:in|as a) percent(?:age)?)?",
            text, re.I,
        )  # fmt: skip
        if match is None:
            return None
        base = match["base"].strip()
        column = int(base[1:-1]) if base != "#R#" else None
        numeric = column is not None and self._header.kind(column) == "number"
        if column is not None and not numeric:
            return None
        measure = "count" if column is None else f"sum of {self._header.names[column]}"
        where = self._rows(match["rest"])
        if not where:
            return None
        calls = (self._number(measure, where), self._number(measure, []))
        return DemoCall(EXPRESSION, {"expression": FilledOperation("{0} * 100 / {1}", calls)})

    def _of_each(self, text: str) -> DemoCall | None:
        """A measure for each group."""
        found = [*re.finditer(rf"{_EACH}(?= |,|$)", text, re.I)]
        if len(found) != 1:
            return None
        group = self._grouped(found[0])
        if found[0]["g"] and self._header.kind(int(found[0]["g"])) == "flag":
            return None  # "made by members"
        rest = re.sub(
            r"(?:,? (?:highest|largest|biggest|lowest|smallest) first|,? sorted)$", "", text[found[0].end() :]
        )
        if re.fullmatch(r"(?:[^#]*\b)?how many (?!days|times|people|nights)[^#]*", text[: found[0].start()], re.I):
            return None  # what is counted is no word of the table
        measured = self._measured(f"{text[: found[0].start()]} {rest}")
        return self._groups(measured[0], group, measured[1]) if group and measured else None

    def _counts(self, text: str) -> DemoCall | None:
        if not re.match(rf"(?:{_COUNTED})\b", text, re.I):
            return None
        found = self._measured(text)
        return self._number(*found) if found else None

    def _got(self, text: str) -> DemoCall | None:
        """ "what did A get in B", "B of A": what a column holds in one row."""
        match = re.fullmatch(r"what (?:did|does) (?P<rest>.+?) (?:get|score|have|achieve)(?P<more> .+)", text, re.I)
        column = self._only_number()
        if match and column is not None:
            where = self._rows(f"{match['rest']} {match['more']}")
            return self._number(f"value of {self._header.names[column]}", where) if where else None
        return None

    def _sums(self, text: str) -> DemoCall | None:
        """One number: "average score of Cleo", "how much was spent in May"."""
        found = self._measured(text)
        return self._number(*found) if found else None

    def _cells(self, text: str) -> DemoCall | None:
        """What a column holds in the rows that meet conditions."""
        asks = re.match(rf"{ASKS}\b ?", text, re.I)
        rest = text[asks.end() :] if asks else text
        asked = asks["asks"].lower() if asks else ""
        shown = re.match(
            r"(?:(?:different|distinct|unique|all|the|of|my|our|names of) )*(?:#(?P<c>\w+)#|(?P<day>days"
            r"|dates|day|date|people|person))",
            rest,
            re.I,
        )
        if asked in ("who", "when"):
            column = self._whose("who") if asked == "who" else self._moment_name()
        elif shown is None:
            return None
        elif shown["day"]:
            column = self._moment_name() if shown["day"].lower().startswith("da") else self._whose("who")
        else:
            column = self._label() if shown["c"] == "R" else self._header.names[int(shown["c"])]
        if shown and (shown["c"] or "").isdigit() and self._header.kind(int(shown["c"])) == "flag":
            rows = re.search("#R#", rest)  # "which vegetarian recipes": a condition
            column, shown = (self._label(), None) if rows else (None, None)
        rest = rest[shown.end() :] if shown and asked not in ("who", "when") else rest
        where = self._rows(rest)
        if not column or not where:
            return None
        if column in self._header.names and self._header.kind(self._header.names.index(column)) == "number":
            return self._number(f"value of {column}", where)
        return self._made("cells", column=column, conditions=where, order="")
