"""Queries of a table in whatever order the question says its parts.

What `queries` does not read by its form is taken apart here: groups, conditions, a rank, a measure are taken out of the
question wherever they stand, and every other word must be a cell of the table. Which cell, only the tool sees: it takes
the words as `says`, and refuses what stands in no column or in several. A verb that no cell holds says nothing more.
"""

from __future__ import annotations

import json
import re

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.asked import counted
from habilis.demo.families.conditions import nameless
from habilis.demo.families.lexicon import (
    ALIKE,
    COMES,
    FILLERS,
    MONEY,
    PEOPLE,
    REWRITTEN,
    SUPERLATIVES,
    VERBS,
    column_for,
    first_column_for,
)
from habilis.demo.families.measures import MEASURES, Measures
from habilis.demo.families.queries import Queries
from habilis.demo.questions.header import header_of
from habilis.demo.questions.language import QUOTED, number, stems, words
from habilis.demo.questions.operations import DemoOperation
from habilis.demo.questions.world import CannotAnswerError, DemoCall, FilledOperation, World, is_table, without_file

_PART = r"(?P<part>month|year|weekday|day of the week|day|date|hour|quarter)"
_EACH = rf"(?:per|by|for each|for every|for the different|in each|in every|at each|of each|each|for each kind of) (?:#(?P<g>\d+)#|{_PART})"
_COUNTED = r"how (?:many|much)(?: times| often)?|how often"
_ASKS = r"(?:(?:in|on|at|for|to) )?(?P<asks>which|what|who|whose|when|on what)"
_MOST = r"(?:the )?(?P<end>most|highest|largest|biggest|greatest|least|fewest|lowest|smallest|maximum|minimum|top|bottom)(?: often| frequently| common)?"
_LOW = re.compile("least|fewest|lowest|smallest|minimum|bottom", re.I)
_OCCURS = {
    "appear",
    "appears",
    "appeared",
    "occur",
    "occurs",
    "occurred",
    "happen",
    "happens",
    "happened",
    "used",
    "listed",
}
_NUMBER = r"(?P<n>[0-9]{1,3}|two|three|four|five|six|seven|eight|nine|ten)"
_SAID = "|".join(rf"(?P<{name}>{said})" for name, said in MEASURES.items() if name in ("mean", "sum", "median"))
_UNREAD = re.compile(
    r"\b(?:not|never|no|nor|neither|without|except|only|all|both|every|each|or|than|more|less|fewer|other|same|last|"
    r"first|next|if|why|how|before|after|until|since|between|twice|half|ago|will|would|should|could|might|under|over|"
    r"above|below|most|least|fewest|highest|lowest|best|worst|largest|biggest|smallest|longest|shortest|earliest|latest|"
    r"average|mean|total|sum|percent|percentage|share|many|much|often|today|yesterday|tomorrow|now|what|when|and|also|"
    r"columns?|rows?|lines?|words?|years?|months?|weeks?|weekdays?|days?|hours?|non|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|zero|versus|vs|compared|difference|again)\b|[.?!:;`()] |[`&]",
    re.I,
)


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


class _Wording(Measures):
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

    def _prepared(self, phrase: str) -> str:
        """`phrase` with columns and rows marked, also by other words than their own, and one wording for many."""
        text = phrase
        for pattern, said in REWRITTEN:
            text = re.sub(pattern, said, text, flags=re.I)
        stem = re.escape(self._file.named.rsplit("/")[-1].rpartition(".")[0])
        text = re.sub(rf" (?:in|on|of|from) (?:the|this|my|our) {stem}$", "", text, flags=re.I)
        for end, names in (("lowest", "min minimum"), ("highest", "max maximum")):
            if column_for(self._header, names) is not None:
                word = names.split()[1]
                text = re.sub(
                    rf"(?<!no )(?<!average )(?<!mean )\b(?:{end}|{word}) (?:{word} )?temperature\b",
                    f"{end} {word} temperature",
                    text,
                    flags=re.I,
                )
        text = self._alike(self._verbs(self._header.marked(self._from_where(text))))
        text = re.sub(
            r"(#\d+#) (?:numbers?|address(?:es)?|values?|recorded|given|listed)(?=[ ,]|$)", r"\1", text, flags=re.I
        )
        text = re.sub(
            r"(#\d+#) (?:is |was |were |are )?(negative|positive)\b",
            lambda match: f"{match[1]} {'below' if match[2] == 'negative' else 'above'} 0",
            text,
        )
        text = re.sub(r" (?:each|apiece)$|^(?:all|any) (?:of )?(?:the )?", "", text, flags=re.I)
        total = self._header.names.index("total") if "total" in self._header.names else None
        if total is not None:
            text = re.sub(r"(?<=#R# )totals?\b", f"#{total}#", text, flags=re.I)
            text = re.sub(rf"#R# (?=#{total}#)", "", text)
        text = re.sub(r"^(average|mean|median)(.*?) (?:per|in an?|of an?) #R#", r"\1\2", text, flags=re.I)
        text = re.sub(r"^how (#\d+#) (?:is|was|are) (.+)$", r"\1 of \2", text, flags=re.I)
        for asked, names in (
            ("where (?:does|do|did)(?P<who> .+) (?:live|stay)", "city town place address location"),
            ("how long (?:does|do|did)(?P<who> .+) (?:take|last|need)", "minutes duration"),
        ):
            column = column_for(self._header, names)
            if column is not None:
                text = re.sub(rf"^{asked}$", rf"#{column}# of\g<who>", text, flags=re.I)
        text = re.sub(r"^(?:on|in|at|for|to|from) (?=how many )", "", text, flags=re.I)
        text = re.sub(r"\bnot (?:yet |been |have |has )*#(\d+)#(?: yet)?", self._negated, text, flags=re.I)
        text = counted(re.sub(r"^(?:sum|add)(?: up)? (?:of )?(?:all )?(?:the )?", "total ", text, flags=re.I))
        return re.sub(r"\s+", " ", text).strip(" ,.")

    def _from_where(self, text: str) -> str:
        """ "started at Museum" with the column that says from where."""
        for said, names in COMES:
            column = self._header.with_word(*names.split())
            if column is not None:
                text = re.sub(rf"\b(?:{said}) (?:the )?(?=[A-Z])", f"#{column}#= ", text)
        return text

    def _negated(self, match: re.Match[str]) -> str:
        return f"without #{match[1]}#" if self._header.kind(int(match[1])) in ("moment", "") else match[0]

    def _alike(self, text: str) -> str:
        """Words that mean one column without being in its name, marked."""
        for said, names in ALIKE:
            column = first_column_for(self._header, names)
            if column is not None:
                text = re.sub(rf"(?<![#\w])(?:{said})(?![\w#])", f"#{column}#", text, flags=re.I)
        who = self._who()
        return (
            text
            if who is None
            else re.sub(r"(?<![#\w])(?:persons?|people|everybody|everyone)(?![\w#])", f"#{who}#", text, flags=re.I)
        )

    # kinds of questions

    def _compared(self, text: str) -> DemoCall | None:
        """ "who paid more, A or B", "how much more did A sell than B"."""
        more = re.fullmatch(
            r"how (?:much|many) more (?P<what>#\d+# )?did (?P<one>\w+) (?P<verb>\w+)(?P<mid>.*?) than (?P<other>\w+)(?P<rest>.*)",
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
            r"(?:who|which #(?P<g>\d+)#) (?P<verb>\w+) (?P<more>more|less|fewer)(?P<rest>.*?),? (?P<one>\w+) or (?P<other>\w+)",
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
            r"(?:what is (?:the )?)?difference (?:in (?P<what>.+?) )?between (?:the )?(?P<measure>.*?)\b(?:(?:of|in|for|by|on|at) )?(?:the )?(?P<one>[^\s#]+)"
            r"(?P<mid>(?: #\w+#)?) and (?:(?:of|in|for|by|on|at|that of|that in) )?(?:the )?(?P<other>[^\s#]+)(?P<rest>.*)", text, re.I,
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
            r"(?: (?:is|are|was|were|has|have|that|which|came|comes|goes|went|took|takes|had|did))?(?P<rest> .+?)(?:,? (?:in|as a) percent(?:age)?)?",
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
        measured = self._measured(f"{text[: found[0].start()]} {rest}")
        return self._groups(measured[0], group, measured[1]) if group and measured else None

    def _counts(self, text: str) -> DemoCall | None:
        if not re.match(rf"(?:{_COUNTED})\b", text, re.I):
            return None
        found = self._measured(text)
        return self._number(*found) if found else None

    def _top(self, text: str) -> DemoCall | None:
        """The groups where a measure is highest or lowest."""
        asks = re.match(
            rf"{_ASKS}(?: {_NUMBER})? ?(?:(?P<kind>(?!did|do|is|was)[a-z]+ )?#(?P<g>\d+)#|{_PART})?", text, re.I
        )
        busy = re.fullmatch(
            rf"(?P<word>busiest|quietest) (?:#(?P<g>\d+)#|{_PART})(?:,? by (?:how many|number of) #R#)?(?P<rest>.*)",
            text,
            re.I,
        )
        if busy and (group := self._grouped(busy)) and (where := self._rows(busy["rest"])) is not None:
            return self._groups(
                "count", group, where, f"{'highest' if busy['word'].lower() == 'busiest' else 'lowest'} 1"
            )
        named = re.fullmatch(
            rf"(?:(?P<end>top|bottom) )?{_NUMBER}? ?#(?P<g>\d+)# with {_MOST.replace('end', 'most')} (?P<rest>.+)",
            text,
            re.I,
        )
        if named:
            group, end, rest = self._grouped(named), named["most"], named["rest"]
        else:
            most = re.search(rf"\b{_MOST}\b", text, re.I)
            if asks is None or most is None or most.start() < asks.end():
                best = re.fullmatch(
                    r"(?:who|which #(?P<g>\d+)#)(?: has| had| have| got)(?: the)? (?P<end>best|worst|highest|lowest) (?:average|mean)(?P<rest>.*)",
                    text,
                    re.I,
                )
                return self._best(best) if best else None
            group = self._grouped(asks) if asks["g"] or asks["part"] else self._whose(asks["asks"])
            end, rest = (
                most[0].removeprefix("the "),
                f"{asks['kind'] or ''} {text[asks.end() : most.start()]} @ {text[most.end() :]}",
            )
            if re.match(r" *(?:average|mean|median)\b", text[most.end() :], re.I) is None:
                asked = asks
                return self._most(group, end, rest, asked["n"])
            rest = rest.replace("@", "", 1)
        return self._most(group, end, rest, named["n"] if named else asks["n"] if asks else None) if group else None

    def _has_moment(self, text: str) -> bool:
        return any(self._header.kind(int(one)) == "moment" for one in re.findall(r"#(\d+)#", text))

    def _best(self, match: re.Match[str]) -> DemoCall | None:
        group = self._header.names[int(match["g"])] if match["g"] else self._whose("who")
        column = self._column_in(match["rest"])
        column = self._only_number() if column is None else column
        where = self._rows(re.sub(r"#\d+#", "", match["rest"]))
        if group is None or column is None or where is None:
            return None
        way = "lowest" if match["end"].lower() in ("worst", "lowest") else "highest"
        return self._groups(f"mean of {self._header.names[column]}", group, where, f"{way} 1")

    def _most(self, group: str | None, end: str, rest: str, count: str | None) -> DemoCall | None:
        """Groups by what follows "most": rows, a sum, nothing (rows), a measure."""
        mid, _, tail = rest.partition("@") if "@" in rest else ("", "", rest)
        tail = tail.strip()
        way = "lowest" if _LOW.match(end) else "highest"
        if group is None:
            return None
        target = re.match(r"(?:(?:how many|number of) )?(?:#(?P<c>\w+)#|(?P<money>" + MONEY + r")\b)", tail, re.I)
        said = re.match(rf"(?:{_SAID}) (?:of )?(?:the )?#(?P<c>\d+)#", tail, re.I)
        if said:
            measure = f"{next(name for name in ('mean', 'sum', 'median') if said[name])} of {self._header.names[int(said['c'])]}"
            tail = tail[said.end() :]
        elif target is None or target["c"] == "R" or target["c"] == f"{self._header.label()}":
            measure, tail = self._count() if target else "count", tail[target.end() :] if target else tail
            if not re.match(r"(?:most|least|fewest|top)\b", end, re.I):
                return None
            often = re.search(r"\b(?:often|frequently|common)$", end, re.I)
            done = [one for one in re.findall(r"\w+", mid.lower()) if one in VERBS]
            if target is None and re.search(rf"\b(?:{MONEY})\b", mid, re.I):
                column = self._money(mid)
                if column is None:
                    return None
                measure = f"sum of {self._header.names[column]}"
            elif target is None and not (often or (done and set(done) <= _OCCURS) or self._has_moment(mid)):
                return None
        else:
            column = int(target["c"]) if target["c"] else self._money()
            if (
                column is None
                or self._header.kind(column) != "number"
                or not re.fullmatch("most|least|fewest", end, re.I)
            ):
                return None
            if (
                re.search(r"\b(?:per|unit|rate|average|avg)\b", self._header.names[column].replace("_", " "), re.I)
                and len(words(self._header.names[column])) > 1
            ):
                return None
            measure, tail = f"sum of {self._header.names[column]}", tail[target.end() :]
        where = self._rows(f"{self._without_money(mid)} {self._without_money(tail)}")
        return None if where is None else self._groups(measure, group, where, f"{way} {number(count) if count else 1}")

    def _ends(self, text: str) -> DemoCall | None:
        """The rows at one end of a column: "who is the youngest", "on which day was the wind highest"."""
        said = "|".join(sorted(SUPERLATIVES, key=len, reverse=True))
        match = re.search(
            rf"(?:\b{_NUMBER} )?(?<![#\w])(?P<word>{said})(?![\w#])(?: {_NUMBER.replace('<n>', '<m>')})?", text, re.I
        )
        if match:
            meant = SUPERLATIVES[match["word"].lower()]
            column, way = next(
                ((found, way) for names, way in meant if (found := column_for(self._header, names)) is not None),
                (None, ""),
            )
            text = f"{text[: match.start()]} {text[match.end() :]}"
            text = re.sub(rf",? {match['word']} first$", "", text, flags=re.I)
        else:
            match = re.search(rf"(?:\b{_NUMBER} )?\b{_MOST} #(?P<c>\d+)#", text, re.I)
            after = re.search(
                r"#(?P<c>\d+)# (?:was|is|were)? ?(?:the )?(?P<end>highest|lowest|largest|smallest|most|least)\b(?P<n>(?!))?",
                text,
                re.I,
            )
            match = match or after or self._by_size(text)
            if match is None or not re.match(rf"{_ASKS}\b", text, re.I):
                return None
            column = int(match["c"]) if match.groupdict().get("c") else self._money()
            way = "lowest" if _LOW.match(match["end"]) else "highest"
            text = f"{text[: match.start()]} {text[match.end() :]}"
        by = re.search(r",? (?:in|by|measured in) (?:the )?#(\d+)#", text)
        if by and self._header.kind(int(by[1])) == "number":
            column, text = int(by[1]), text.replace(by[0], " ", 1)
            way = way or ("lowest" if match["word"].lower() == "shortest" else "highest")
        if column is None or self._header.kind(column) not in ("number", "moment"):
            return None
        count = match["n"] or match.groupdict().get("m")
        return self._at_end(
            text, column, by is not None, f"{way} {number(count) if count else 1} row by {self._header.names[column]}"
        )

    def _by_size(self, text: str) -> re.Match[str] | None:
        """ "the biggest single sale", "which expense was the largest", where rows have an amount."""
        big = r"(?P<end>biggest|largest|highest|smallest|lowest)"
        return re.search(rf"{_NUMBER}? ?\b{big}(?: single)?(?= #R#)", text, re.I) or re.search(
            rf"(?:the )?{big}(?P<n>(?!))?$", text, re.I
        )

    def _extreme_moment(self, text: str) -> DemoCall | None:
        """ "the latest anybody left on Monday": the date or time itself."""
        match = re.fullmatch(
            r"(?:what (?:is|was) )?(?:the )?(?P<end>latest|last|earliest|first)(?: time| date| day| moment)?(?: that| when)?"
            r"(?P<mid> .*?)?#(?P<c>\d+)#(?P<rest>.*)", text, re.I,
        )  # fmt: skip
        when = re.fullmatch(r"when (?:did|was|were) (?P<mid>.+?) (?P<end>first|last)\b(?P<rest>.*)", text, re.I)
        if when and (moment := self._moment_name()) and (where := self._rows(f"{when['mid']} {when['rest']}")):
            order = f"{'lowest' if when['end'].lower() == 'first' else 'highest'} 1 row by {moment}"
            return self._made("cells", column=moment, conditions=where, order=order)
        if match is None or self._header.kind(int(match["c"])) != "moment":
            return None
        where = self._rows(f"{match['mid'] or ''} {match['rest']}")
        column = self._header.names[int(match["c"])]
        way = "highest" if match["end"].lower() in ("latest", "last") else "lowest"
        return (
            None
            if where is None
            else self._made("cells", column=column, conditions=where, order=f"{way} 1 row by {column}")
        )

    def _at_end(self, text: str, by: int, named: bool, order: str) -> DemoCall | None:
        text = re.sub(rf"#{by}#", "", text)
        asks = re.match(rf"{_ASKS}\b ?", text, re.I)
        rest = text[asks.end() :] if asks else text
        shown = re.match(
            r"(?: |the\b|our\b|my\b|of\b|is\b|was\b|are\b)*(?:#(\d+)#|(?:day|date|one|person|people)s?(?![\w#]))",
            rest,
            re.I,
        )
        shown = shown or re.search("#(R)#", rest)
        column = self._label() if shown is None or shown[0].split()[-1] in ("#R#", "one") else None
        if column is None and shown and shown[0] == "#R#" and named:
            column = self._header.names[by]
        if shown and shown[1] and shown[1] != "R":
            column = self._header.names[int(shown[1])]
        elif shown and re.search(r"\b(?:day|date)s?$", shown[0], re.I) or (asks and asks["asks"].lower() == "when"):
            column = self._moment_name()
        if asks and asks["asks"].lower() == "who" and not (shown and shown[1] and shown[1] != "R"):
            column = self._whose("who")
        rest = rest if shown is None else f"{rest[: shown.start()]} {rest[shown.end() :]}"
        where = self._rows(rest)
        return (
            self._made("cells", column=column, conditions=where, order=order) if column and where is not None else None
        )

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
        asks = re.match(rf"{_ASKS}\b ?", text, re.I)
        rest = text[asks.end() :] if asks else text
        asked = asks["asks"].lower() if asks else ""
        shown = re.match(
            r"(?:(?:different|distinct|unique|all|the|of|my|our|names of) )*(?:#(?P<c>\w+)#|(?P<day>days|dates|day|date|people|person))",
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

    # parts of a question

    def _measured(self, text: str) -> tuple[str, list[str]] | None:
        """The measure that a question asks for, with the conditions in the rest of it."""
        text = re.sub(r"^(?:what (?:is|was|are|were) )?(?:(?:the|our|my|your) )?", "", text.strip(" ,"), flags=re.I)
        text = re.sub(r"^what (?:did|do|does) (?=.+ (?:pay|spend|earn|cost)\b)", "how much did ", text, flags=re.I)
        often = re.match(r"how (?:often|many times)\b", text, re.I)
        if often:
            return self._with("count", text[often.end() :])
        if many := re.match(
            r"how many (?:of )?(?:the |my |our )?(?:(?P<distinct>different|distinct|unique) )?", text, re.I
        ):
            return self._many(text[many.end() :], bool(many["distinct"]))
        said = re.match(rf"(?:overall |the )*(?:{_SAID}|(?P<much>how much))\b", text, re.I)
        if said:
            rest = text[said.end() :]
            measure = next((name for name in ("mean", "sum", "median") if said[name]), "sum")
            return self._statistic_of(measure, rest)
        end = re.match(
            r"(?P<end>highest|largest|biggest|maximum|latest|last|lowest|smallest|minimum|earliest|least)\b(?P<rest> .+)",
            text,
            re.I,
        )
        if end:
            low = re.match("lowest|smallest|minimum|earliest|least", end["end"], re.I)
            return self._statistic_of("minimum" if low else "maximum", end["rest"])
        return None

    def _many(self, rest: str, distinct: bool) -> tuple[str, list[str]] | None:
        """What "how many" counts: rows, days, people, the values of a column, or the sum of one."""
        noun = re.search(r"#(?P<c>\w+)#|(?<![\w#])(?P<other>days|nights|people)(?![\w#])", rest, re.I)
        if noun is None:
            level = self._header.rows_are == "log" and re.match(r"(?:error|warning|info|debug|critical)", rest, re.I)
            held = self._header.with_word("quantity", "qty", "unit", "stock", "count", "amount", "number")
            alone = self._header.key() is not None and held is None and not re.search(r"[#|]|\bper\b", rest)
            return self._with("count" if level else self._count(), rest) if level or alone else None
        before, after = rest[: noun.start()], rest[noun.end() :]
        if noun["other"]:
            day = noun["other"].lower() != "people"
            who = None if day else self._who()
            if day and self._header.only_day() is None:
                return None
            return (
                self._with("distinct of day of *", f"{before} {after}")
                if day
                else None
                if who is None
                else self._with(f"distinct of {self._header.names[who]}", f"{before} {after}")
            )
        if noun["c"] == "R" and not distinct:
            return self._with(self._count(), f"{before} {after}")
        if noun["c"] == "R":
            return None
        column, name = int(noun["c"]), self._header.names[int(noun["c"])]
        where = self._rows(f"{before} {after}")
        if self._header.kind(column) == "number" and not distinct:
            again = self._rows(f"{before} #{column}# {after}")
            if again and any(one.startswith(f"{name} ") for one in again):
                return "count", again
            if where is None or any(one.startswith(f"{name} ") for one in where):
                return None
            return (self._how_many(column, True), where) if self._how_many(column, True).startswith("sum") else None
        if self._header.kind(column) == "moment" and not distinct:
            again = self._rows(f"{before} #{column}# {after}")
            return ("count", again) if again and any(name in one.partition('"')[0] for one in again) else None
        if where is None or self._header.kind(column) == "flag" or self._header.kind(column) == "moment":
            return None
        return ("count" if self._header.label() == column and not distinct else f"distinct of {name}"), where

    def _statistic_of(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        product = re.search(r"#(\d+)# (?:times|multiplied by|x) #(\d+)#", rest)
        column = self._column_in(rest)
        if product:
            one, other = (self._header.names[int(product[i])] for i in (1, 2))
            rest = re.sub(rf"#(?:{product[1]}|{product[2]})#|[()]|\bvalue\b", " ", rest.replace(product[0], ""))
            return None if "#R#" in rest else self._with(f"{measure} of {one} * {other}", rest)
        if column is None and measure == "sum" and re.search(rf"\b(?:{MONEY})\b", rest, re.I):
            column = self._money(rest)
        if column is None and measure == "sum" and re.match(r" (?:for|of|in) (?!.*#\d)", rest):
            column = self._money(rest)
        if (
            column is None
            and measure in ("maximum", "minimum")
            and re.search(r"#R#|\b(?:payments?|sales?)\b", rest, re.I)
        ):
            column, rest = self._money(rest), re.sub(r"\b(?:payments?|sales?)\b", "", rest, flags=re.I)
        if column is None and measure == "mean" and not re.search(r"#\d+#", rest):
            column = self._only_number()
        if column is None or self._header.kind(column) not in ("number", "moment", ""):
            return None
        name = self._header.names[column]
        if (
            measure == "sum"
            and {"unit", "rate", "average", "avg", "balance"} & set(words(name))
            and len(words(name)) > 1
        ):
            return None
        if self._header.kind(column) == "moment":
            return None
        rest = re.sub(rf"#{column}#", "", rest, count=1)
        return self._with(f"{measure} of {name}", self._without_money(rest))

    def _with(self, measure: str, rest: str) -> tuple[str, list[str]] | None:
        where = self._rows(rest)
        return None if where is None else (measure, where)

    def _rows(self, text: str) -> list[str] | None:
        """The conditions of what is left of a question; None where a word of it is not understood."""
        text, found = self._clauses.taken_from(f"{text} ".replace(" #R#", " ").replace("#R# ", " "))
        for domain in re.finditer(r"(?<!\S)@?([\w-]+\.[a-z]{2,}) #(\d+)#", text):
            if {"email", "mail"} & set(words(self._header.names[int(domain[2])])):
                found.append(f"{self._header.names[int(domain[2])]} contains {json.dumps('@' + domain[1])}")
                text = text.replace(domain[0], "|")
        text = self._beside(text, found)
        runs: list[str] = []
        for run in re.split(r"[|,;]", text):
            kept = [one for one in re.findall(rf"{QUOTED}|[^\s]+", run) if one.lower().strip(".'") not in FILLERS]
            runs += [" ".join(f"({one})" if _is_verb(one) else one for one in kept)] if kept else []
        said = " ".join(runs)
        bare = re.sub(r"\((\w+)\)", r"\1", re.sub(r"\"[^\"]*\"", "", said))
        if re.search(r"[#\"]|(?<![\w.-])[\d.,]+(?![\w-])", said) or _UNREAD.search(bare):
            return None
        if self._directed and re.search(r"\b(?:from|to)\b", bare):
            return None
        said = re.sub(r"\b(?:from|to)\b ?", "", said).strip()
        return [*found, *([f"* says {json.dumps(said, ensure_ascii=False)}"] if said else [])]

    def _beside(self, text: str, found: list[str]) -> str:
        """`text` without its columns: each says yes, that something was done, or of which column a word beside it is."""
        names = self._header.names

        def told(match: re.Match[str]) -> str:
            column, before, after = int(match["c"]), match["before"] or "", match["after"] or ""
            kind, negated = self._header.kind(column), before.strip().lower() == "not"
            if match["is"]:
                found.append(f"{names[column]} equals {json.dumps(after.strip())}")
                return f"{before} | "
            if kind in ("flag", "moment") and after.strip().lower() == "by":
                return match[0]  # who did it may be another than whom the table names
            if kind == "flag":
                found.append(f'{names[column]} {"no" if negated else "yes"} ""')
                return f"{'' if negated else before} | {after}"
            if negated:
                return match[0]
            if kind == "moment":
                found.append(f'{names[column]} filled ""')
                return f"{before} | {after}"
            if column == self._header.label():
                return f"{before} {after}"
            word = before.strip()
            if kind == "text" and word and word.lower() not in FILLERS | VERBS and not _UNREAD.search(word):
                found.append(f"{names[column]} equals {json.dumps(word)}")
                return f" | {after}"
            return match[0]

        return re.sub(r"(?P<before>(?<![#\w])[\w'-]+ )?#(?P<c>\d+)#(?P<is>=)?(?P<after> [\w'-]+(?![#\w]))?", told, text)

    @property
    def _directed(self) -> bool:
        """Whether columns say from where and to where."""
        return any({"from", "to", "origin", "destination"} & set(words(name)) for name in self._header.names)

    def _without_money(self, text: str) -> str:
        return re.sub(rf"(?<![\w#])(?:{MONEY})(?![\w#])", " ", text, flags=re.I)

    def _grouped(self, match: re.Match[str]) -> str | None:
        if match["g"]:
            return self._header.names[int(match["g"])]
        part = {"date": "day", "day of the week": "weekday"}.get(match["part"].lower(), match["part"].lower())
        said = re.search(r"#(\d+)#", match.string[match.end() :])
        moment = int(said[1]) if said and self._header.kind(int(said[1])) == "moment" else self._header.only_day()
        return f"{part} of {self._header.names[moment]}" if moment is not None else None

    def _groups(self, measure: str, group: str, where: list[str], rank: str = "") -> DemoCall:
        values = {"measure": measure, "group": group, "conditions": where}
        return self._made("top_groups", **values, rank=rank) if rank else self._made("groups", **values)

    def _column_in(self, text: str) -> int | None:
        """The first column of `text` that holds numbers; None where it names none."""
        found = [int(one) for one in re.findall(r"#(\d+)#", text)]
        return next((one for one in found if self._header.kind(one) in ("number", "")), None)

    def _money(self, text: str = "") -> int | None:
        ways = ["total", "amount", "revenue"]
        if re.search(r"\b(?:spent|spend|spending|paid|pay|payments?|costs?|expenses)\b", text, re.I):
            ways += ["cost", "debit", "paid"]
        elif re.search(r"\b(?:came in|received|earned|earn|income|deposited)\b", text, re.I):
            ways = ["income", "credit", *ways[:1]]
        return next(
            (
                one
                for names in ways
                if (one := column_for(self._header, names)) is not None and self._header.kind(one) == "number"
            ),
            None,
        )

    def _only_number(self) -> int | None:
        found = [one for one in range(len(self._header.names)) if self._header.kind(one) == "number"]
        return found[0] if len(found) == 1 else None

    def _moment_name(self) -> str | None:
        moment = self._header.only_day()
        return None if moment is None else self._header.names[moment]

    def _who(self) -> int | None:
        label = self._header.label()
        if label is not None and (self._header.is_people or set(stems(self._header.names[label])) & PEOPLE):
            return label
        return self._header.with_word(*PEOPLE)

    def _whose(self, asks: str) -> str | None:
        column = self._who() if asks.lower() == "who" else self._header.label()
        return None if column is None else self._header.names[column]


def _is_verb(word: str) -> bool:
    return bool({word.lower(), *stems(word)} & VERBS)
