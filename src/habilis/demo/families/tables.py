"""Tables in delimited files: rows, columns, statistics of a column, rows that meet a condition."""

from __future__ import annotations

import re

from habilis.demo.families.conditions import ROWS, THINGS, condition, known_column
from habilis.demo.families.table_tools import (
    COLUMNS,
    COUNT,
    COUNT_DISTINCT,
    COUNT_WHERE,
    DISTINCT,
    ENDINGS,
    STATISTIC_WORDS,
    STATISTICS,
)
from habilis.demo.reading import SeenFile
from habilis.demo.world import MARK, Call, CannotAnswerError, World, is_table


class Tables:
    """Family of questions about one table. A column must be in the header, where the prompt shows the header."""

    operations = (*STATISTICS.values(), COUNT, COUNT_WHERE, COUNT_DISTINCT, DISTINCT, COLUMNS)

    def read(self, phrase: str, world: World) -> Call | None:
        if not _speaks_of_tables(phrase):
            return None
        if not world.files and MARK not in phrase and not re.search(r"\b(?:rows?|columns?)\b", phrase, re.I):
            return None  # no table anywhere: "the largest prime" is another's question
        taken = world.take_file(phrase, ENDINGS)
        if taken is None or not is_table(taken[1]):
            return None
        text, file = taken
        text = re.sub(
            r"^(?:the )?(?:total )?number of |^count (?:of |up )?(?:the |all )?(?!of)", "how many ", text, flags=re.I
        )
        text = re.sub(r"^how many (?:the|of the|of)? ?", "how many ", text, flags=re.I)
        text = re.sub(r"^(?:the )?row count$|^how many rows? count$", "how many rows", text, flags=re.I)
        return _count(text, file) or _columns(text, file) or _distinct(text, file) or _column(text, file)


def _speaks_of_tables(phrase: str) -> bool:
    names = "|".join(words for words, *_ in STATISTIC_WORDS.values())
    return bool(
        re.match(rf"(?:{names})\b|add up|sum up", phrase, re.I)
        or re.search(
            rf"\b(?:rows?|records?|entries|columns?|header|distinct|unique|different|{THINGS})\b", phrase, re.I
        )
    )


def _count(text: str, file: SeenFile) -> Call | None:
    match = re.fullmatch(rf"how many {THINGS}(?: (?:are|is) there| are| exist)?(?P<rest>(?: .+)?)", text, re.I)
    if not match:
        return None
    rest = match["rest"].strip()
    if not rest:
        plain = re.match(rf"how many {ROWS}\b", text, re.I)
        return Call(COUNT, {"path": file.named}) if plain else None
    rest = re.sub(r"^(?:have|has|had|are|is)\b(?: an?| the)?", "where", rest, flags=re.I)
    found = condition(rest, file)
    return Call(COUNT_WHERE, {"path": file.named, **found}) if found else None


def _columns(text: str, file: SeenFile) -> Call | None:
    plain = (
        r"how many columns(?: are there| are)?|(?:column )?(?:names|headers?)(?: of)?(?: the| all)?"
        r"(?: columns)?|columns|column names"
    )
    asked = r"(?:which|what) columns(?: are there)?|all (?:the )?columns"
    if not re.fullmatch(f"{plain}|{asked}", text, re.I):
        return None
    return Call(COLUMNS, {"path": file.named}, "length" if re.match("how many", text, re.I) else "value")


def _distinct(text: str, file: SeenFile) -> Call | None:
    which = r"(?:distinct|unique|different)"
    match = re.fullmatch(
        rf"(?:how many |which |what |all (?:the )?|list (?:of )?(?:the )?)?{which} (?:values (?:are there )?"
        rf"(?:of|for|does|has|in)?(?: the)?(?: column)? ?)?"
        rf"(?P<column>.+?)(?: values)?(?: are)?(?: have| has)?(?: column)?(?: are there| exist| occur)?",
        text,
        re.I,
    )
    column = known_column(match["column"], file) if match else None
    operation = COUNT_DISTINCT if re.match("how many", text, re.I) else DISTINCT
    return Call(operation, {"path": file.named, "column": column}) if column else None


def _column(text: str, file: SeenFile) -> Call | None:
    """A statistic of a column, with or without a condition on the rows."""
    text = re.sub(r"^(?:add|sum) up\b|^sum(?= (?:the|all)\b)", "sum of", text, flags=re.I)
    for key, (names, *_) in STATISTIC_WORDS.items():
        match = re.fullmatch(
            rf"(?:overall |the )?(?:{names})(?: value)? (?:of |in |for )?(?:all )?(?:the |its )?(?P<rest>.+)",
            text,
            re.I,
        )
        if match:
            return _with_condition(key, match["rest"], file)
    return None


def _with_condition(key: str, rest: str, file: SeenFile) -> Call | None:
    """`rest` as a column, or as a column and a condition divided at one of its spaces."""
    problem: CannotAnswerError | None = None
    for space in re.finditer(" ", rest):
        try:
            found = condition(rest[space.end() :], file)
            column = known_column(rest[: space.start()], file) if found else None
        except CannotAnswerError as error:
            problem = problem or error
            continue
        if found and column:
            return Call(STATISTICS[key, True], {"path": file.named, "column": column, **found})
    try:
        column = known_column(rest, file)
    except CannotAnswerError as error:
        raise problem or error from None
    if column:
        return Call(STATISTICS[key, False], {"path": file.named, "column": column})
    if problem:
        raise problem
    return None
