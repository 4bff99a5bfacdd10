"""Tables in delimited files: rows, columns, statistics of a column, of rows that meet a condition, by group."""

from __future__ import annotations

import re
from typing import ClassVar

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.demo.families.conditions import ROWS, THINGS, known_column
from habilis.questions.language import stems
from habilis.questions.operations import DemoOperation
from habilis.questions.shown_tables import header_of, in_note
from habilis.questions.world import MARK, CannotAnswerError, DemoCall, World, is_table

_STATISTIC = (
    "average|mean|typical|arithmetic mean|sum|total|combined|overall|sum total|grand total|median|middle|minimum|min"
    "|lowest|smallest|least|cheapest|maximum|max|highest|largest|biggest|greatest|most expensive|standard deviation"
    "|sample standard deviation|std|stdev|add up|sum up"
)
_OF_NUMBERS = {"column_minimum", "column_maximum", "column_average", "column_sum", "column_median"}
_OF_TABLES = re.compile(
    rf"(?:{_STATISTIC})\b|.*\b(?:columns?|header|distinct|unique|different|{ROWS}|{THINGS})\b", re.I
)


class Tables(AskedPatterns):
    """Family of questions about one table. A column must be in the header, where the prompt shows the header."""

    words: ClassVar = {"ROWS": ROWS, "THINGS": THINGS}

    def read(self, phrase: str, world: World) -> DemoCall | None:
        if not world.files and MARK not in phrase and not re.search(r"\b(?:rows?|columns?)\b", phrase, re.I):
            return None  # no table anywhere: "the largest prime" is another's question
        try:
            taken = world.take_file(phrase, self.endings)
        except CannotAnswerError:
            if _OF_TABLES.match(phrase):
                raise
            return None
        own = taken is not None and is_table(taken[1]) and in_note(taken[1]) is None
        return self.asked(phrase, world, taken[1]) if taken and own else None

    def plain(self, phrase: str) -> str:
        return re.sub(r"^(?:add|sum) up\b|^sum(?= (?:the|all)\b)", "sum of", super().plain(phrase), flags=re.I)

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said, file = match.groupdict(), world.files[0]
        found: Values = {role: known_column(said[role], file) for role in ("column", "group") if role in said}
        header, column = header_of(file), found.get("column")
        named = header is not None and any("name" in stems(name) for name in header.names)
        if operation.key == "columns" and (named or world.is_part) and not re.search(r"column|header", match[0], re.I):
            return None  # "the names" are cells of a column here, or those of what was asked for before
        known = header and column in header.names and operation.key in _OF_NUMBERS
        if header and known and header.kind(header.names.index(str(column))) == "text":
            return None  # "the most expensive task"
        group = str(found.get("group"))
        grouped = header and operation.key == "group_mean" and group in header.names
        if header and grouped and header.kind(header.names.index(group)) == "moment":
            return None  # "per visit" is each row, where days have that name
        if "highest" in said:
            found["extreme"] = "highest" if said["highest"] else "lowest"
        return None if None in found.values() else found
