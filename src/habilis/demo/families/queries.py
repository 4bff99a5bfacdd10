"""Queries of a table: conditions, a measure, groups and a rank in one question, in whatever order it says them.

A question is brought into one form (`columns_meant`): its columns and rows are marked, one wording stands for many.
Then groups, conditions, a rank, a measure are taken out of it wherever they stand, and every other word must be a cell
of the table. Which cell, only the tool sees: it takes the words as `says`, and refuses what stands in no column or in
several. A verb that no cell holds says nothing more. A few tools carry any such query, so that a later question with
other conditions finds the tool of an earlier one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from habilis.demo.families.arithmetic import EXPRESSION
from habilis.demo.families.conditions import nameless
from habilis.demo.families.groups_compared import GroupsCompared
from habilis.demo.families.json_tables import JsonTable, firm, is_count_of_keys, meant_of, tables_of, within
from habilis.demo.families.wanted import is_listing, is_no_amount, is_of_things, is_open, named_by, part_of, spent
from habilis.questions.declared import operations_of, read_family
from habilis.questions.header import TableHeader
from habilis.questions.language import number, stems
from habilis.questions.prompts import SeenFile
from habilis.questions.shown_tables import header_of, in_note, is_among_words
from habilis.questions.tables.doings import VERBS
from habilis.questions.tables.lexicon import FILLERS, MONEY, NUMBERED, THINGS
from habilis.questions.tables.parts_asked import EACH
from habilis.questions.tables.ranks_asked import ASKS
from habilis.questions.tables.rows_meant import FREE
from habilis.questions.world import CannotAnswerError, DemoCall, FilledOperation, World, is_table, without_file

_NO_CELL = re.compile(
    r"(?:is|are|was|were|does|did|has|have) (?!you\b)|what (?:have|has|had) |(?:in|inside|on) (?:the|my|our) \w+est\b|"
    r"add up |(?:(?:the|my|our|what is the) )*(?:total|sum|average|mean|median|combined) ",
    re.IGNORECASE,
)
"""Questions that no cell of a column answers: by yes or no, by what somebody has done, by what is in a thing, by what
several come to."""
_ALONE = re.compile(
    r"\bon (?:your|my|his|her|its|our|their) own\b|\b(?:my|your|him|her|our|them)sel(?:f|ves)\b", re.IGNORECASE
)
"""Words that say much and look like none: a verb, or one of those that are passed over."""


class Queries:
    """Family of questions about one table with conditions, groups or a rank. The prompt must show its header."""

    def __init__(self) -> None:
        file = read_family("queries")
        self.endings: tuple[str, ...] = tuple(file["family"]["endings"])
        self.operations = operations_of(file)

    def read(self, phrase: str, world: World) -> DemoCall | None:
        try:
            taken = world.take_file(phrase, self.endings)
        except CannotAnswerError:
            return None  # what else is wrong with it is for the other families
        if taken is None or not (is_table(taken[1]) or in_note(taken[1])):
            return None
        if taken[1].nameless:
            raise nameless(taken[1])
        if taken[1].named.lower().endswith(".json"):
            return self._of_document(without_file(phrase), taken[1], world)
        header = header_of(taken[1])
        if header is None or (is_among_words(taken[1]) and not _names_column(phrase, header)):
            return None
        return self._of_table(without_file(phrase), taken[1], header, world)

    def _of_document(self, phrase: str, file: SeenFile, world: World) -> DemoCall | None:
        """The call about the one table of a document that is meant."""
        tables = tables_of(file)
        if len(tables) > 1 and re.fullmatch(r"(?:the )?\w+", phrase.strip()):
            return None  # "the highest": of which of them
        table = meant_of(tables, phrase, self._marks)
        found = {one.path: self._about(one, phrase, file, world) for one in ([table] if table else tables)}
        calls = [(one, call) for one in tables if (call := found.get(one.path))]
        if len(calls) != 1:
            return None
        table, call = calls[0]
        if (table.shape and re.search(r"\b(?:people|persons?)\b", phrase, re.I)) or is_count_of_keys(call, table):
            raise CannotAnswerError(f"it does not understand what of {file.named} is asked for")
        call = firm(call)
        return call if len(tables) == 1 else within(call, table.path)

    def _about(self, table: JsonTable, phrase: str, file: SeenFile, world: World) -> DemoCall | None:
        return self._of_table(table.worded(phrase), file, table.header, world)

    def _marks(self, table: JsonTable, phrase: str) -> int:
        """How many columns of a table a question names."""
        query = _Query(self.operations, SeenFile(table.path), table.header)
        return query.marks(table.worded(phrase))

    def _of_table(self, phrase: str, file: SeenFile, header: TableHeader, world: World) -> DemoCall | None:
        hours = header.with_word("open", "opens") is not None and header.with_word("close", "closes") is not None
        if hours and re.search(r"\b(?:is|are|was) (?:\w+ ){0,3}open\b(?!ed)", phrase, re.I):
            raise CannotAnswerError(f"whether {file.named} says from when or until when is open")
        call = _Query(self.operations, file, header).call(phrase, world.is_part)
        call = named_by(call, world.wanted, header) if call and world.wanted else call
        call = spent(call, phrase, header) if call else call
        if call is not None and (
            is_listing(call, world.question)
            or is_no_amount(call, world.question)
            or is_of_things(call, world.question, header)
            or is_open(call, phrase, header)
        ):
            raise CannotAnswerError(f"it does not understand what of {file.named} is asked for")
        return call


def _names_column(phrase: str, header: TableHeader) -> bool:
    """Whether a question about a note, which holds more than its table, has a word of a column."""
    own = {stem for name in header.names for stem in stems(name)}
    return bool(own & {*stems(phrase)})


class _Query(GroupsCompared):
    """One question about one table, taken apart."""

    def marks(self, phrase: str) -> int:
        """How many columns the words of a question name; one, where it is open which."""
        try:
            return len({*re.findall(r"#\d+#", self._prepared(phrase))})
        except CannotAnswerError:
            return 1

    def call(self, phrase: str, is_part: bool) -> DemoCall | None:
        if _ALONE.search(phrase):
            return None
        if single := self._placed(phrase) or self._exists(phrase) or self._is_so(phrase):
            return single
        text = self._prepared(phrase)
        if not is_part and (listed := self._listed(phrase, text)):
            return listed  # behind another question, the names are those of its rows
        for way in (
            self._days_between,
            self._lasting_days,
            self._two_rows,
            self._ratio,
            self._most_calculated,
            self._is_more,
            self._group_is_more,
            self._which_more,
            self._differs,
            self._who_more,
            self._range,
            self._apart,
            self._share,
            self._groups_with,
            self._of_each,
            self._ranked,
            self._got,
            self._sums,
            self._has_flag,
            self._cells,
            self._of_one_kind,
        ):
            if call := way(text):
                call = self._as_written(self._of_two(self._in_time(call, phrase)))
                if call.operation.key == "query_cells" and _NO_CELL.match(phrase.strip()):
                    raise CannotAnswerError(f"it does not understand what of {self._file.named} is asked for")
                return call
        if self._left and "#" in text:
            left = self._plain(min(self._left, key=len))
            raise CannotAnswerError(f'it does not understand "{left}" in a question about {self._file.named}')
        return None

    def _in_time(self, call: DemoCall, phrase: str) -> DemoCall:
        """The call for the time of day or for the date alone, where cells have both and one is asked for."""
        name, asked = (
            call.values.get("column"),
            re.match(r"(?:(?:at|on) )?(?:what|which) (time|date|day)\b", phrase, re.I),
        )
        if asked is None or call.operation.key != "query_cells" or name not in self._header.names:
            return call
        named = part_of(self._header, self._header.names.index(str(name)), asked[1].lower())
        return replace(call, values={**call.values, "column": named})

    def _as_written(self, call: DemoCall) -> DemoCall:
        """The call for the dates as they stand in the file, where one of them is asked for and no cell has a time."""
        group = str(call.values.get("group", ""))
        name = group.removeprefix("day of ")
        if call.operation.key != "query_top_groups" or name == group or name not in self._header.names:
            return call
        column = self._header.names.index(name)
        timed = any(":" in row[column] for row in self._header.samples if column < len(row))
        return call if timed else replace(call, values={**call.values, "group": name})

    # kinds of questions

    def _share(self, text: str) -> DemoCall | None:
        """ "what percentage of the rows …": those that meet the conditions in 100 of all."""
        money = self._money()
        if money is not None:
            said = r"^((?:what )?(?:percentage|percent|share|proportion)(?: of)? (?:(?:all|the|my|our|total) )*)"
            text = re.sub(rf"{said}(?:{MONEY})\b", rf"\1#{money}#", text, flags=re.I)
        match = re.fullmatch(
            r"(?:what )?(?:percentage|percent|share|proportion|fraction)(?: of)?(?: all| the| my| our| total)*"
            r"(?P<kind>(?: (?!of\b)[\w'.-]+){0,2}?)"
            r"(?P<base> #\w+#|(?= [^#]+ (?:is|are|was|were|has|have|had|pay|live|work|own) ))"
            r"(?:(?P<within>| .+?) (?:is|are|was|were|has|have|that|which|came|comes|goes|went|took|takes|had|did|pay"
            r"|live|work|own))?(?P<rest> .+?)(?:,? (?:in|as a) percent(?:age)?)?",
            text, re.I,
        )  # fmt: skip
        if match is None:
            return None
        base = match["base"].strip()
        column = int(base[1:-1]) if base not in ("#R#", "") else None
        own = column is None or column == self._header.label() or {*stems(self._header.names[column])} <= THINGS
        if not own and column is not None and self._header.kind(column) != "number":
            return None
        measure = "count" if own or column is None else f"sum of {self._header.names[column]}"
        where, within = self._rows(match["rest"]), self._rows(f"{match['kind']} | {match['within'] or ''}")
        named = [one for one in within or () if not FREE.fullmatch(one)]
        if not where or all(map(FREE.fullmatch, where)) or within is None or not (base or named):
            return None
        calls = (self._number(measure, [*within, *where]), self._number(measure, within))
        return DemoCall(EXPRESSION, {"expression": FilledOperation("{0} * 100 / {1}", calls)})

    def _of_each(self, text: str) -> DemoCall | None:
        """A measure for each group."""
        found = [*re.finditer(EACH, text, re.I)]
        if len(found) != 1:
            return None
        if found[0]["g"] and re.search(r"(?:ed|ught|ken|ven|wn) by ", text[: found[0].start() + 3]):
            return None  # "booked by guests": who did it
        group = self._grouped(found[0], text)
        if found[0]["g"] and self._header.kind(int(found[0]["g"])) in ("flag", "number"):
            return None  # "made by members"
        rest = re.sub(
            r"(?:,? (?:highest|largest|biggest|lowest|smallest) first|,? sorted)$", "", text[found[0].end() :]
        )
        head = text[: found[0].start()].strip(" ,")
        if re.fullmatch(r"(?:[^#]*\b)?how many (?!days|times|people|nights|hours|minutes)[^#]*", head, re.I):
            return None  # what is counted is no word of the table
        said = f"how many {head} {rest}" if re.fullmatch(r"#\w+#", head) else f"{head} {rest}"
        said = f"total {said}" if re.fullmatch(rf"(?:our |my |the )*(?:{MONEY})", head, re.I) else said
        measured = self._measured(said)
        rows = found[0]["g"] and (self._names_rows(found[0]["g"]) or self._is_of_doing(int(found[0]["g"])))
        if measured and measured[0].startswith(("mean", "median")) and rows:
            return self._number(*measured)  # the mean of all rows: "frames per hive"
        if measured and measured[0].startswith(("mean", "median")) and group and self._is_daily(group):
            return self._number(f"{measured[0]} per {group}", measured[1])  # one number, of as many days
        if measured is None and group and re.search(r"\b(?:each|every)\b", found[0][0], re.I):
            return self._best_of_each(f"{head} {rest}".strip(" ,"), group)
        days = [name for i, name in enumerate(self._header.names) if self._header.kind(i) == "moment"]
        if measured and group in days and any(f"{group} " in one.partition('"')[0] for one in measured[1]):
            return None  # "how many in 2020 by the day of purchase": by which that is known
        return self._groups(measured[0], group, measured[1]) if group and measured else None

    def _is_of_doing(self, column: int) -> bool:
        """Whether a question says by its noun what the day of a row is of: "per visit" with the column "Visit date"."""
        nouns = {*stems(self._header.names[column])} - {"date", "day", "time", "on", "last", "next", "first"}
        said = re.search(r"\b(?:per|each|every) (\w+)", self._text, re.I)
        return self._header.kind(column) == "moment" and said is not None and {*stems(said[1])} <= nouns

    def _best_of_each(self, text: str, group: str) -> DemoCall | None:
        """ "which flat is the cheapest" for each district."""
        call = self._ranked(
            re.sub(r"^(?:what|which|who) (?:is|was|are|were) (?=(?:the |my |our )?\w+)", "which ", text)
        )
        rank = re.fullmatch(r"(highest|lowest) 1(?: row)? by (.+)", str(call.values.get("order", ""))) if call else None
        if call is None or rank is None or call.operation.key != "query_cells" or call.values["column"] == group:
            return None
        kept = {name: call.values[name] for name in ("column", "conditions")}
        return self._made("best_of_groups", **kept, group=group, order=f"{rank[1]} 1 row by {rank[2]}")

    def _is_daily(self, group: str) -> bool:
        names = self._header.names
        return group.startswith("day of ") or (group in names and self._is_day(names.index(group)))

    def _groups_with(self, text: str) -> DemoCall | None:
        """ "which customer placed more than one order": the groups of so many rows, or how many there are."""
        match = re.fullmatch(
            r"(?P<which>which|how many|who)(?: #(?P<g>\d+)#)?(?P<done>(?: #\d+#| [a-z]+){1,3}?) "
            r"(?P<how>more than|at least|fewer than|less than) "
            rf"{NUMBERED.replace('|two', '|one|two')} #(?P<what>R|\d+)#(?P<rest>.*)",
            text,
            re.I,
        )
        column = int(match["g"]) if match and match["g"] else self._who()
        done = [one for one in match["done"].split() if one.lower() not in FILLERS | VERBS] if match else []
        marks = [self._header.kind(int(one)) for one in re.findall(r"#(\d+)#", " ".join(done))]
        where = self._rows(match["rest"]) if match and marks == ["moment"] * len(done) else None
        if match is None or column is None or where is None or self._header.kind(column) != "text":
            return None
        how = {"more than": "greater", "at least": "at_least"}.get(match["how"].lower(), "less")
        name, what = self._header.names[column], match["what"]
        if what != "R" and (self._header.kind(int(what)) != "text" or int(what) == column):
            return None
        counted = self._count() if what == "R" else f"distinct of {self._header.names[int(what)]}"
        groups = self._groups(counted, name, where, f"{how} {number(match['n'])}")
        return replace(groups, view="length") if match["which"].lower() == "how many" else groups

    def _got(self, text: str) -> DemoCall | None:
        """ "what did A get in B": what a column holds in one row."""
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

    def _of_one_kind(self, text: str) -> DemoCall | None:
        """ "desserts": the names of the rows of that kind; "different kinds": the cells of a column."""
        column = re.fullmatch(r"different #(\d+)#", text)
        if column and self._header.kind(int(column[1])) == "text":
            name = self._header.names[int(column[1])]
            return self._made("cells", column=name, conditions=[f'{name} filled ""'], order="")
        rows = "|".join(f"{one}" for one in ("R", self._header.label()))
        kind = re.fullmatch(
            rf"(?:(?:all|the|my|our) )*(?P<kind>[a-z][\w-]*(?: [\w-]+)*) #(?:{rows})#(?P<rest>.*)", text
        )
        bare = re.fullmatch(r"(?:all )?[a-z]+(?: [a-z]+)?s", text)
        where = self._rows(f"{kind['kind']} | {kind['rest']}" if kind else text) if kind or bare else None
        named = where and self._label() and not self._header.labels_people
        return self._made("cells", column=self._label(), conditions=where, order="") if named else None

    def _cells(self, text: str) -> DemoCall | None:
        """What a column holds in the rows that meet conditions."""
        column, rest = self._target(text)
        column = self._held(column)
        said = re.search(r"#(?:R|\d+)# (?:who|that|which) #(\d+)# (?:before|after|in|on|since|between|until|at) ", text)
        if column is None and said and self._header.kind(int(said[1])) == "moment" and self._label():
            column, rest = self._label(), text  # "the members who joined before 2014": by name
        elif column is None and not re.match(ASKS, text, re.I):
            mentions = [one for one in re.findall(r"#(\d+)#", text) if int(one) != self._header.label()]
            if len(mentions) != 1 or self._header.kind(int(mentions[0])) in ("flag", ""):
                return None
            column, rest = self._header.names[int(mentions[0])], text.replace(f"#{mentions[0]}#", " ")
        where = self._rows(rest)
        if not column or not where:
            return None
        if column in self._header.names and self._header.kind(self._header.names.index(column)) == "number":
            single = any(" of " in one and ' equals "' in one for one in where)  # on one day, say
            if not re.match(ASKS, text, re.I) and not re.search(r"#\d+#(?: of .+|)$", text) and not single:
                return None  # "price for the shipped orders" leaves open of how many
            return self._number(f"value of {column}", where)
        return self._made("cells", column=column, conditions=where, order="")
