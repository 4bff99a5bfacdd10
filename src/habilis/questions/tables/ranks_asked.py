"""Questions for one end: the groups or the rows where something is highest, lowest, first or last."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from habilis.questions.language import number, root, stems, words
from habilis.questions.nouns import PEOPLE, UNIT
from habilis.questions.tables.doers import doer_of, is_role
from habilis.questions.tables.doings import VERBS
from habilis.questions.tables.lexicon import FILLERS, MONEY, NUMBERED, SUPERLATIVES, THINGS
from habilis.questions.tables.parts_asked import PART, SAID, PartsAsked
from habilis.questions.world import DemoCall

ASKS = (
    r"(?:(?:in|on|at|for|to|from|against|with|of|by) )?(?:who|(?P<which>which|what)|(?P<whose>whose)|(?P<when>when)"
    r"|(?P<where>where))\b ?"
)
_NO_KIND = r"(?!(?:did|do|does|is|are|was|were|has|have|had|can|will|percentage|takes?|took)\b)"
_SHOWN = re.compile(
    rf"(?P<of>(?:(?:the|of|our|my|all|names?|list|different|distinct|unique|single|is|are|was|were|{NUMBERED}) )*)"
    rf"(?P<kind>(?:{_NO_KIND}[\w'-]+ ){{0,3}}?)"
    rf"(?:#(?P<c>\w+)#|(?:{PART.replace('hour', 'hour|time')}s?|(?P<who>people|persons?|members?)"
    r"|(?P<thing>things?|ones?))(?![\w#]))",
    re.I,
)
_HIGH = "most|highest|largest|biggest|greatest|maximum|max|top"
_LOW = "least|fewest|lowest|smallest|minimum|min|bottom"
_LATE, _EARLY = "latest|last|newest|most recent(?:ly)?", "earliest|first"
_PLACES = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_ADJECTIVES = "|".join(sorted(SUPERLATIVES, key=len, reverse=True))
_RANK = re.compile(
    rf"(?:\b{NUMBERED} )?(?:\b(?:the|our|my|their) )*(?:\b(?P<place>{'|'.join(_PLACES)})[ -])?(?<![#\w])(?<!at )(?:"
    rf"(?P<adjective>{_ADJECTIVES})|(?P<late>{_LATE})|(?P<early>{_EARLY})|(?P<high>{_HIGH}|best)|(?P<low>{_LOW}|worst)"
    rf")(?![\w#])(?P<often> often| frequent(?:ly)?| common(?:ly)?| popular)?"
    rf"(?: {NUMBERED.replace('<n>', '<m>')}\b(?! (?:{UNIT})\b))?(?P<single> single)?",
    re.I,
)
_OF = re.compile(
    rf"(?P<way> ?(?:(?P<count>(?:how many|number of|numbers of))|(?:{SAID}))?)(?P<done>(?: [a-z]+ed)?) ?"
    rf"(?:of )?(?:the )?(?:value of |amount of )?(?:#(?P<c>\w+)#|(?P<money>{MONEY})\b"
    r"|(?:(?<=average)|(?<=mean)|(?<=total))(?= |$))",
    re.I,
)
_BY = re.compile(
    rf",? (?:by|in|counting|measured in|in terms of|sorted by) (?:the )?(?:(?P<agg>{SAID}) )?#(?P<c>\d+)#", re.I
)
SCORES = {"score", "rating", "point", "mark", "grade", "result", "yield", "profit", "revenue", "turnover", "attendance"}
PRICES = {"price", "cost"}
_NO_SUM = {"wage", "salary", "rating", "age", "temperature", "altitude", "height", "speed"}
_FULL_NAME = r"[A-Z][\w'-]+(?: [A-Z][\w.'-]+)+"
_REPEATED = {"per", "rate", "weekly", "monthly", "daily", "yearly", "annual"}
_OF_ONE = re.compile(
    r"(?:#R#.*|\b(?:had|gave|made|took|held|[a-z]+ed) the (?:[a-z]+[a-rt-z]|#\d+#)) "
    r"(?:that|which|with) ?(?:had|has|have)?$"
)
"""The row with most of something: "who booked the meeting with the most people"."""
_OCCURS = {"use", "uses", "used", "appear", "appears", "appeared", "occur", "occurs", "occurred", "happen", "happens",
           "happened", "listed", "shows", "show"}  # fmt: skip


@dataclass(frozen=True)
class _End:
    """Which end of something is asked for: its rank in the tool's words, how that end was called."""

    rank: str
    match: re.Match[str]
    head: str
    tail: str

    def was(self, *names: str) -> bool:
        return any(self.match[name] for name in names)

    @property
    def counts(self) -> bool:
        """Whether it may be the end of a count or a sum."""
        return re.fullmatch("most|least|fewest|top", self.match["high"] or self.match["low"] or "", re.I) is not None


class RanksAsked(PartsAsked):
    """Groups and rows of one table at one end of a measure or a column."""

    def _ranked(self, text: str) -> DemoCall | None:
        end = self._end(text)
        if end is None:
            return None
        target, head = self._target(end.head, end.tail)
        role = re.match(r"(.*) as (?:the |a |our )?#(\d+)#(.*)", end.tail)
        if role and re.match("who", end.head, re.I) and self._header.kind(int(role[2])) == "text":
            target, end = self._header.names[int(role[2])], replace(end, tail=f"{role[1]} {role[3]}")
        if target is None and not re.match(ASKS, end.head, re.I):
            target, head, end = self._target_behind(end)
        for way in (self._top_groups, self._row_at_end):
            if call := way(end, target, head):
                return call
        return None

    def _end(self, text: str) -> _End | None:
        found = [*_RANK.finditer(re.sub(r",? (?:highest|largest|biggest|lowest|smallest|\w+est) first$", "", text))]
        if len(found) != 1:
            return None
        match = found[0]
        low = bool(match["low"] or match["early"])
        kind = re.fullmatch(r" ([a-z]{2,})", match.string[match.end() :])
        if match["early"] and kind and kind[1] not in FILLERS | {"name"} and not self._is_verb(kind[1]):
            return None  # first aid
        place, count = _PLACES.get((match["place"] or "").lower()), number(match["n"] or match["m"] or "1")
        said = f"{place}{['nd', 'rd', 'th', 'th'][place - 2]}" if place else f"{count}"
        head, tail = match.string[: match.start()].strip(), match.string[match.end() :]
        many = re.search(rf"\b{NUMBERED} (?=#|people\b|persons\b|members\b)", head, re.I)
        if many and not place:  # "which two products sold the most"
            said, head = f"{number(many['n'])}", head.replace(f"{many['n']} ", "", 1)
        return _End(f"{'lowest' if low else 'highest'} {said}", match, head, tail)

    def _target(self, text: str, beside: str = "") -> tuple[str | None, str]:
        """What a question asks for, by its first words, and the rest of them."""
        asks = re.match(ASKS, text, re.I)
        rest = text[asks.end() :] if asks else text
        if asks and asks["when"]:
            return self._when(rest, beside)
        if asks and asks["where"]:
            return self._where_name(), rest
        shown = _SHOWN.match(rest)
        if asks and asks["whose"] and re.match(r"#\d+# (?:is|are|was|were)\b", rest):
            return self._whose("who"), rest  # "whose balance is over 20"
        if asks and not asks["which"] and not asks["whose"]:
            return self._doing(rest)
        if shown is None:
            return (self._label() if asks else None), rest
        if asks is None and (shown["kind"] or shown["part"]) and not shown["of"]:
            return None, text
        after = rest[shown.end() :]
        if shown["part"]:
            return self._grouped(shown, f"{after} {beside}"), f"{shown['kind']}{after}"
        if shown["who"]:
            return self._whose("who"), f"{shown['kind']}{after}"
        if shown["thing"]:
            things = [name for name in self._header.names if {*stems(name)} <= THINGS]
            return (things[0] if len(things) == 1 else self._label()), f"{shown['kind']}{after}"
        if shown["c"] == "R":
            return self._row_name(), f"{shown['kind']}{after}"
        done = self._header.kind(int(shown["c"])) == "moment" and re.search(r"\b(?:is|are|was|were) ", shown["of"])
        if asks and done:
            return self._label(), rest  # "what was bought in May"
        if self._header.kind(int(shown["c"])) == "flag":
            return (self._label() if asks or "#R#" in after else None), rest  # "which vegetarian recipes"
        return self._header.names[int(shown["c"])], f"{shown['kind']}{after}"

    def _doing(self, rest: str) -> tuple[str | None, str]:
        """Who is asked for, and the rest: those who do what is said, as a teacher teaches."""
        verb = re.match(r"(?:(?:has|have|had|is|are|was|were) )*(?:#(?P<c>\d+)#|(?P<verb>[a-z]+))", rest)
        if verb and verb["c"]:
            name = self._header.names[int(verb["c"])]
            if words(name)[-1] == "by" or ({*stems(name)} & PEOPLE and self._header.kind(int(verb["c"])) == "text"):
                return name, rest[verb.end() :]
            if re.match(r"who\b", self._text, re.I):
                people = all(re.fullmatch(_FULL_NAME, row[int(verb["c"])]) for row in self._header.samples)
                if people and self._header.kind(int(verb["c"])) == "text":
                    return name, rest[verb.end() :]  # "who covered for A" of a column "Cover"
            column = doer_of(self._header, words(name)[0])
            return (self._whose("who") if column is None else self._header.names[column]), rest
        column = doer_of(self._header, verb["verb"]) if verb and verb["verb"] else None
        if column is not None and verb:
            return self._header.names[column], rest[verb.end() :]
        if verb and verb["verb"] and is_role(verb["verb"]):
            return None, rest
        return self._whose("who"), rest

    def _when(self, rest: str, beside: str) -> tuple[str | None, str]:
        """The date or time that is asked for: of what is said to happen, or the only one."""
        said = [int(one) for one in re.findall(r"#(\d+)#", rest) if self._header.kind(int(one)) == "moment"]
        if len(said) == 1 and not beside:
            return self._header.names[said[0]], rest.replace(f"#{said[0]}#", " ")
        for verb in re.findall(r"\b[a-z]{3,}\b", rest):  # "when did she pay": paid on
            named = [i for i, name in enumerate(self._header.names) if root(verb) in map(root, words(name))]
            named = [one for one in named if self._header.kind(one) == "moment"]
            if len(named) == 1:
                return self._header.names[named[0]], re.sub(rf"\b{verb}\b", " ", rest)
        return self._moment_name(), rest

    def _row_name(self) -> str | None:
        key = self._header.key() if self._label() is None else self._header.label()
        if self._label() is None and self._header.is_people:
            return None  # people are told by name, not by number
        return None if key is None else self._header.names[key]

    def _held(self, target: str | None) -> str | None:
        """The column that holds what is asked for: a day or a time has one of its own."""
        part, _, column = (target or "").partition(" of ")
        return column if part in ("day", "time") and column in self._header.names else target

    def _target_behind(self, end: _End) -> tuple[str | None, str, _End]:
        """What is asked for behind the end: "the 3 cheapest items", "top 5 cities by …"."""
        shown = re.match(rf" (?P<kind>(?:[\w'-]+ ){{0,2}}?)(?:#(?P<c>\w+)#|{PART}s?(?![\w#]))", end.tail)
        column = int(shown["c"]) if shown and (shown["c"] or "").isdigit() else None
        kind = "text" if column is None else self._header.kind(column)
        if shown is None or kind in ("number", "flag") or (kind == "moment" and not end.was("adjective")):
            return (self._row_name() if end.was("adjective") else None), end.head, end
        name = (
            self._grouped(shown, "")
            if shown["part"]
            else self._row_name()
            if column is None
            else self._header.names[column]
        )
        return name, end.head, replace(end, tail=f" {shown['kind']}{end.tail[shown.end() :]}")

    # groups

    def _top_groups(self, end: _End, target: str | None, head: str) -> DemoCall | None:
        """The groups where a count, a sum or another measure is highest or lowest."""
        one = _OF_ONE.search(end.head)
        if target is None or one or not end.was("high", "low"):
            return None
        head = re.sub(r"\b(?:is|are|was|were) used$", "", head) if end.match["often"] else head
        by = _BY.search(end.tail)
        tail = (
            end.tail if by is None else f" {by['agg'] or ''} #{by['c']}#{end.tail[: by.start()]}{end.tail[by.end() :]}"
        )
        of = _OF.match(tail)
        measure = self._measure_at_end(end, target, head, of)
        if long := re.match(r" (?:time|(?P<unit>hours|minutes))\b", tail) if end.counts else None:
            found = self._long(long["unit"] or "hours", f"{head} {tail[long.end() :]}")
            return self._groups(found[0], target, found[1], end.rank) if found else None
        if measure is None:
            return None
        rest = self._without_money(f"{head} {of['done'] + ' | ' + tail[of.end() :] if of else tail}")
        for name in (measure.partition(" of ")[2], target):
            if name in self._header.names:
                rest = rest.replace(f"#{self._header.names.index(name)}#", " ")
        where = self._rows(rest)
        return None if where is None else self._groups(measure, target, where, end.rank)

    def _measure_at_end(self, end: _End, target: str, head: str, of: re.Match[str] | None) -> str | None:
        said = next((name for name in ("mean", "sum", "median") if of[name]), "") if of else ""
        column = int(of["c"]) if of and (of["c"] or "").isdigit() else None
        if of and of["money"]:
            column = self._money(f"{head} {of['money']}")
        elif of and not of["c"]:
            column = self._money() if said == "sum" else self._only_number()
        numeric = column is not None and self._header.kind(column) == "number"
        if said:
            summable = column is not None and numeric and (said != "sum" or self._adds_up(column))
            return f"{said} of {self._header.names[column]}" if summable and column is not None else None
        if of and (of["c"] == "R" or (column is not None and column == self._header.key())):
            return self._count() if of["count"] or end.counts else None
        if column is not None and self._header.kind(column) == "text" and (of["count"] if of else False or end.counts):
            return self._kinds_of(column) if self._header.names[column] != target else None
        if of and (of["count"] or not end.counts or not numeric or column is None):
            return None
        if column is not None:
            alone = target == self._label() or not self._adds_up(column)
            return None if alone else f"sum of {self._header.names[column]}"
        return self._count_at_end(end, head)

    def _count_at_end(self, end: _End, head: str) -> str | None:
        """Rows, or money, where nothing is said but who did most of it."""
        if not end.counts:
            return None
        if re.search(rf"\b(?:{MONEY})\b", f"{end.head} {head}", re.I) and not end.match["often"]:
            money = self._money(f"{end.head} {head}")
            return None if money is None else f"sum of {self._header.names[money]}"
        if self._pieces() and not end.match["often"]:
            return None  # rows, or what they count
        done = [one for one in re.findall(r"\w+", head.lower()) if one in VERBS]
        moment = any(self._header.kind(int(one)) == "moment" for one in re.findall(r"#(\d+)#", head))
        often = end.match["often"] or (done and set(done) <= _OCCURS) or moment
        own = [one for one in re.findall(r"[a-z]+ed\b", head) if self._is_verb(one) and one not in VERBS]
        return "count" if often or own else None

    # rows

    def _row_at_end(self, end: _End, target: str | None, head: str) -> DemoCall | None:
        """What a column holds in the row where another is highest or lowest; or that end itself."""
        if end.match["often"]:
            return None  # most common is no end of a column
        text = f"{head} @{end.tail}"
        by = _BY.search(text)
        column, way, tail = self._ordered_by(end, by, end.tail)
        if column is None or self._header.kind(column) not in ("number", "moment"):
            return None
        judged = {end.match["high"], end.match["low"]} & {"best", "worst"}
        if judged and {"grade", "mark"} & {self._header.rows_are, *stems(self._header.names[column])}:
            cells = [row[column] for row in self._header.samples if column < len(row)]
            if all(float(cell) <= 6 for cell in cells if re.fullmatch(r"\d+(?:\.\d+)?", cell)):
                return None  # in some countries the lowest is best
        graded = re.search(r"\b(?:grade|mark|score|result)s?\b", self._text, re.I) and self._of_hundred(column)
        judged = judged if self._header.rows_are not in SCORES and not graded else set()
        if judged and not SCORES & {*stems(self._header.names[column])}:
            return None
        name = self._header.names[column]
        rank = f"{way} {end.rank.split()[1]}"
        text = text.replace(by[0], " ") if by and int(by["c"]) == column else f"{head} {tail}"
        text = re.sub(rf"#{column}#", " ", text.replace("@", " "))
        if target in self._header.names:
            text = re.sub(rf"#{self._header.names.index(target)}#", " ", text)
        where = self._rows(self._without_money(text) if end.was("high", "low") else text)
        if where is None:
            return None
        alone = not end.was("adjective") or (by is not None and self._label() is None)
        if target is None and self._header.kind(column) == "number" and alone:
            measure = "maximum" if way == "highest" else "minimum"
            if rank[-1].isalpha() and not end.head:
                return self._made("cells", column=name, conditions=where, order=f"{rank} by {name}")
            whose = re.fullmatch(r"(?:[A-Z][\w.'-]* ?)*", end.head)  # "Ben's longest run in km"
            return self._number(f"{measure} of {name}", where) if rank.endswith(" 1") and whose else None
        named = f"#{column}#" in f"{end.head}{end.tail}" or re.match(r" (?:time|date|day)\b", end.tail)
        if target is None and re.match(r"(?:who|whose|where)\b", end.head, re.I):
            return None
        target = self._held(target) or (name if named and self._header.kind(column) == "moment" else None)
        one = re.search(r"\b(?:at|with)$", end.head) is not None or _OF_ONE.search(end.head) is not None
        alone = one or end.was("late", "early", "single") or (end.was("adjective") and target in (self._label(), name))
        alone = alone or bool(_NO_SUM & {*stems(name)}) or self._is_one_row(end)
        order = f"{rank}{' row' if alone else ''} by {name}"
        return self._made("cells", column=target, conditions=where, order=order) if target else None

    def _of_hundred(self, column: int) -> bool:
        """Whether numbers are too large for grades of which the lowest is best."""
        cells = [row[column] for row in self._header.samples if column < len(row) and row[column].strip()]
        return bool(cells) and all(float(one) > 20 for one in cells if re.fullmatch(r"\d+(?:\.\d+)?", one))

    def _is_one_row(self, end: _End) -> bool:
        """Whether one row is at an end, as in "the most expensive visit", and not what several come to."""
        said = re.search(rf"{re.escape(end.match[0].strip())} (?:single )?([a-z]+)", self._text, re.I)
        row = re.match(r" (?:[a-z]+ )?#R#", end.tail) and end.rank.endswith(" 1")
        return bool(row and said and not end.counts and self._header.stands_for_row(said[1]))

    def _ordered_by(self, end: _End, by: re.Match[str] | None, tail: str) -> tuple[int | None, str, str]:
        """The column that a rank goes by, its end, and what is left behind it."""
        way = end.rank.split()[0]
        if by and self._header.kind(int(by["c"])) == "number" and not by["agg"]:
            adjective = (end.match["adjective"] or "").lower()
            return int(by["c"]), self._way_of(adjective, int(by["c"])) if adjective else way, tail
        if end.was("adjective"):
            named = re.match(r" (?:#R# )?#(\d+)#", tail)
            if (
                named
                and self._header.kind(int(named[1])) == "moment"
                and end.match["adjective"] in ("oldest", "newest")
            ):
                return int(named[1]), {"oldest": "lowest"}.get(end.match["adjective"], "highest"), tail[named.end() :]
            if named and self._header.kind(int(named[1])) == "number":
                return int(named[1]), self._way_of(end.match["adjective"].lower(), int(named[1])), tail[named.end() :]
            return (*self._meant(end), tail)
        named = re.match(r"(?: (?:value|number|time|date|day|of|the|recorded))*(?: [a-z]+ed)?? #(\d+)#", tail)
        if end.was("late", "early"):
            if named and self._header.kind(int(named[1])) == "moment":
                return int(named[1]), way, tail[named.end() :]
            moments = {int(one) for one in re.findall(r"#(\d+)#", f"{end.head} {tail}")}
            told = [one for one in moments if self._header.kind(one) == "moment"]
            days = [i for i in range(len(self._header.names)) if self._header.kind(i) == "moment"]
            done = {root(word) for word in words(f"{end.head} {tail}") if self._is_verb(word)}
            told = told or [i for i in days if done & {*map(root, words(self._header.names[i]))}]
            tail = re.sub(r"^ (?:time|date|day|moment)\b(?: that| when)?", " ", tail)
            return (told[0] if len(told) == 1 else self._header.only_day()), way, tail
        if named:
            return int(named[1]), way, tail[named.end() :]
        before = re.search(r"#(\d+)#(?: was| is| were| are)?(?: the)?$", end.head)
        if before and self._header.kind(int(before[1])) == "number":
            return int(before[1]), way, tail
        large = re.fullmatch("biggest|largest|smallest", end.match["high"] or end.match["low"] or "", re.I)
        sized = self._header.with_word("size", "area") if large else None
        if sized is not None and not re.search(r"#\d", tail):
            return sized, way, tail
        single = re.match(r" (?:#R#|payments?|sales?)", tail, re.I)
        return (None if end.counts else self._money() if single else None if tail else self._only_number()), way, tail

    def _way_of(self, adjective: str, column: int) -> str:
        """Which end of a column of numbers an adjective before its name means: "oldest vintage" is the lowest."""
        own = {*stems(self._header.names[column])}
        told = next((way for names, way in SUPERLATIVES[adjective] if own & {*stems(names)}), None)
        timed = bool(
            {"min", "minute", "second", "sec", "time", "hour", "duration", "s", "h"}
            & {*own, *words(self._header.names[column])}
        )
        if adjective in ("fastest", "quickest", "slowest"):
            return "lowest" if timed is (adjective != "slowest") else "highest"
        low = adjective in ("shortest", "youngest", "cheapest", "lightest", "quickest", "least expensive", "coldest")
        return told or ("lowest" if low else "highest")

    def _meant(self, end: _End) -> tuple[int | None, str]:
        """The column that an adjective is about, and which end of it."""
        adjective = end.match["adjective"].lower()
        lasting = adjective in ("longest", "shortest") and re.search(r"\b(?:took|takes?|taken)\b", self._text)
        for names, way in SUPERLATIVES[adjective]:
            names = "minutes duration" if lasting else names
            column = self._header.with_word(*stems(names))
            others = [one for one in self._header.money if one != column]
            if column is not None and _REPEATED & {*words(self._header.names[column])}:
                return None, ""  # nights of "rate per night", hours a week
            if column is not None and {*stems(names)} & PRICES and others:
                return None, ""  # of one piece, or of all
            if column is not None:
                return column, way
        in_time = {"oldest": "lowest", "newest": "highest"}.get(adjective)
        return (self._header.only_day(), in_time) if in_time else (None, "")
