"""Questions for one end: the groups or the rows where something is highest, lowest, first or last."""

from __future__ import annotations

import re

from habilis.demo.families.lexicon import MONEY, SUPERLATIVES, VERBS, column_for
from habilis.demo.families.parts_asked import NUMBERED, PART, SAID, PartsAsked
from habilis.demo.questions.language import number, words
from habilis.demo.questions.world import DemoCall

ASKS = r"(?:(?:in|on|at|for|to) )?(?P<asks>which|what|who|whose|when|on what)"
_MOST = (
    r"(?:the )?(?P<end>most|highest|largest|biggest|greatest|least|fewest|lowest|smallest|maximum"
    r"|minimum|top|bottom)(?: often| frequently| common)?"
)
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


class RanksAsked(PartsAsked):
    """Groups and rows of one table at one end of a measure or a column."""

    def _top(self, text: str) -> DemoCall | None:
        """The groups where a measure is highest or lowest."""
        asks = re.match(
            rf"{ASKS}(?: {NUMBERED})? ?(?:(?P<kind>(?!did|do|is|was)[a-z]+ )?#(?P<g>\d+)#|{PART})?", text, re.I
        )
        busy = re.fullmatch(
            rf"(?P<word>busiest|quietest) (?:#(?P<g>\d+)#|{PART})(?:,? by (?:how many|number of) #R#)?(?P<rest>.*)",
            text,
            re.I,
        )
        if busy and (group := self._grouped(busy)) and (where := self._rows(busy["rest"])) is not None:
            return self._groups(
                "count", group, where, f"{'highest' if busy['word'].lower() == 'busiest' else 'lowest'} 1"
            )
        named = re.fullmatch(
            rf"(?:(?P<end>top|bottom) )?{NUMBERED}? ?#(?P<g>\d+)# with {_MOST.replace('end', 'most')} (?P<rest>.+)",
            text,
            re.I,
        )
        if named:
            group, end, rest = self._grouped(named), named["most"], named["rest"]
        else:
            most = re.search(rf"\b{_MOST}\b", text, re.I)
            if asks is None or most is None or most.start() < asks.end():
                best = re.fullmatch(
                    r"(?:who|which #(?P<g>\d+)#)(?: has| had| have| got)(?: the)? (?P<end>best|worst|highest"
                    r"|lowest) (?:average|mean)(?P<rest>.*)",
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
        said = re.match(rf"(?:{SAID}) (?:of )?(?:the )?#(?P<c>\d+)#", tail, re.I)
        if said:
            which = next(name for name in ("mean", "sum", "median") if said[name])
            measure = f"{which} of {self._header.names[int(said['c'])]}"
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
            rf"(?:\b{NUMBERED} )?(?<![#\w])(?P<word>{said})(?![\w#])(?: {NUMBERED.replace('<n>', '<m>')})?", text, re.I
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
            match = re.search(rf"(?:\b{NUMBERED} )?\b{_MOST} #(?P<c>\d+)#", text, re.I)
            after = re.search(
                r"#(?P<c>\d+)# (?:was|is|were)? ?(?:the )?(?P<end>highest|lowest|largest|smallest|most"
                r"|least)\b(?P<n>(?!))?",
                text,
                re.I,
            )
            match = match or after or self._by_size(text)
            if match is None or not re.match(rf"{ASKS}\b", text, re.I):
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
        return re.search(rf"{NUMBERED}? ?\b{big}(?: single)?(?= #R#)", text, re.I) or re.search(
            rf"(?:the )?{big}(?P<n>(?!))?$", text, re.I
        )

    def _extreme_moment(self, text: str) -> DemoCall | None:
        """ "the latest anybody left on Monday": the date or time itself."""
        match = re.fullmatch(
            r"(?:what (?:is|was) )?(?:the )?(?P<end>latest|last|earliest|first)(?: time| date| day"
            r"| moment)?(?: that| when)?"
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
        asks = re.match(rf"{ASKS}\b ?", text, re.I)
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
        elif (shown and re.search(r"\b(?:day|date)s?$", shown[0], re.I)) or (asks and asks["asks"].lower() == "when"):
            column = self._moment_name()
        if asks and asks["asks"].lower() == "who" and not (shown and shown[1] and shown[1] != "R"):
            column = self._whose("who")
        rest = rest if shown is None else f"{rest[: shown.start()]} {rest[shown.end() :]}"
        where = self._rows(rest)
        return (
            self._made("cells", column=column, conditions=where, order=order) if column and where is not None else None
        )
