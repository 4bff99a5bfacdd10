"""Whether an answer gives the lowest value of a column where the highest was asked for, the first day for the last,
none where the file holds one, or another number of rows than a table has.

A tool that sorts the wrong way round, compares numbers as text or looks in the wrong place gives what fits every other
rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from habilis.contract.columns import MOST_ROWS, READ, Column
from habilis.core.locations import here
from habilis.core.patterns import lazy_pattern
from habilis.rules.evidence import Evidence, plain, stands_in
from habilis.rules.retelling import numbers_of
from habilis.values.plain import plain as plain_form
from habilis.values.scanning import scan

# Words are looked for in the folded question: ß is ss there.
_HIGH = lazy_pattern(r"\b(?:highest|largest|greatest|biggest|maximum|max|höchste\w*|grösste\w*)\b")
_LOW = lazy_pattern(r"\b(?:lowest|smallest|least|minimum|min|niedrigste\w*|kleinste\w*|geringste\w*)\b")
_LATE = lazy_pattern(r"\b(?:latest|newest|youngest|most recent|jüngste\w*|neueste\w*|späteste\w*)\b")
_EARLY = lazy_pattern(r"\b(?:earliest|oldest|älteste\w*|früheste\w*)\b")
_MORE_TO_IT = lazy_pattern(
    r"\b(?:second|third|fourth|fifth|\d+(?:st|nd|rd|th)|next|not|without|except|than|difference|range|spread|between"
    r"|after|before|since|until|each|every|per|where|whose|when|among|with|for|from|if|only|zweit\w*|dritt\w*|nicht|ohne|ausser|als|differenz|zwischen|nach|vor|je|pro)\b"
)
"""Words with which the question asks for more than one end of a whole column."""
_RANK = lazy_pattern(r"\b(?:rank|place|position|priority|grade|rang|platz|note)")
"""Names of columns of which the first is the highest."""
_AGE = lazy_pattern(r"\bage|year|alter\b|jahr|edad|âge|année")
"""Names of columns by which something may be old or new, beside one of days."""
_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d")
_HOW_MANY = lazy_pattern(r"\b(?:how (?:many|often)|number of|count|wie ?viele?|wie oft|anzahl)\b")
_ALL_ROWS = lazy_pattern(r"\W*how many (?:data )?(?:rows|records|entries)\b(?P<more>.*)", re.DOTALL)
_HEAD = lazy_pattern(r"without|not|excluding|ignoring|counting|counted|besides|headers?|head|headings?|data")
"""Words with which a question about all rows of a table leaves its head out."""
_AMOUNTS = lazy_pattern(
    r"\b(?:total|sum|altogether|overall|average|mean|much|add up|gesamt\w*|summe|durchschnitt\w*|mittelwert"
    r"|somme|moyenne|suma|promedio)\b"
)
_WORD_MEANT = lazy_pattern(r"\b([A-Z]{3,})\b|['\"‘“„«]([^'\"’”“»\n]{2,40})['\"’”“»]")
_LETTERS = lazy_pattern(r"\w+")
_PLAINLY_ASKED = lazy_pattern(
    r"how|many|often|number|of|count|what|is|are|was|were|the|an?|there|in|does|do|did|it|has|have|contains?|occurs?"
    r"|appears?|comes?|lives?|stands?|says?|words?|lines?|rows?|entry|entries|records?|times?|people|file|wie|vieles?|viele"
    r"|oft|anzahl|der|die|das|den|dem|des|ist|sind|gibt|es|steht|stehen|kommt|vor|hat|haben|wohnen|leben|zeilen?"
    r"|eintrag|einträge|mal|wort"
)
"""Words beside which a question sets no condition but the one word: whatever else it says may leave none."""
_WHO = lazy_pattern(
    r"who|whose|which|person|by|name|tell|give|show|find|me|my|our|we|got|table|list|wer|wessen|welche[rsnm]?|laut|nenne"
)
"""Words with which a question asks for one row of all."""
_SUMMED_UP = lazy_pattern(
    r"\b(?:totals?|sum|subtotal|overall|all|average|mean|gesamt\w*|summe|durchschnitt|mittel\w*)\b"
)
_MISSING = lazy_pattern(r"-?99+(?:\.0+)?|-1(?:\.0+)?")
FEWEST = 3
"""Rows of a table that has two ends worth telling apart."""


def other_end(evidence: Evidence) -> str | None:
    """The other end of a column than the question asks for, of the whole table."""
    asked, columns = evidence.asked, evidence.columns
    if _MORE_TO_IT.search(asked) or numbers_of(evidence.question) or scan(plain_form(evidence.question).text).moments:
        return None
    ways = [(way, kind) for way, kind in _ENDS if way.search(asked)]
    if len(ways) != 1:
        return None
    (way, (dated, high)) = ways[0]
    if dated and any(column.is_numeric and _AGE.search(plain(column.name)) for column in columns):
        return None
    of = [column for column in columns if _can_be_meant(column, asked, dated=dated)]
    if len(of) != 1 or len(of[0].cells) < FEWEST or _confined(of[0], columns, asked):
        return None
    values = _values(of[0], dated=dated)
    if None in values:
        return None
    found, other = (max(values), min(values)) if high else (min(values), max(values))  # type: ignore[type-var]
    naming = [column for column in columns if column.is_naming]
    if found == other or _tells(evidence.answer, found, values, of[0], [*naming, *_asked_for(columns, asked)]):
        return None
    all_rows = _is_of_all_rows(evidence, of[0], way) and _is_a_row(found, of[0], columns)
    wrong = set(values) - {found} if all_rows else {other}
    if not any(_tells(evidence.answer, value, values, of[0], naming) for value in wrong):
        return None
    word = way.search(asked)
    return f'the question asks for the {word[0] if word else ""} by "{of[0].name}", and the answer gives another row'


def _asked_for(columns: Sequence[Column], asked: str) -> list[Column]:
    """Columns that the question names, and whose cells several rows share: which of these is meant, the end tells."""
    return [one for one in columns if not one.is_numeric and stands_in(plain(one.name), asked)]


def _is_of_all_rows(evidence: Evidence, of: Column, way: re.Pattern[str]) -> bool:
    """Whether the question sets no condition, so that each row but one at the end is wrong. Rows that share a name it
    asks for may be meant together, and a second column that may hold days leaves open which of them is meant."""
    asked, columns = evidence.asked, evidence.columns
    named = [one for one in columns if not one.is_numeric and stands_in(plain(one.name), asked)]
    days = [one for one in columns if one != of and not one.is_numeric and _may_hold_days(one)]
    if _HOW_MANY.search(asked) or any(not one.is_naming and one != of for one in named) or (of.is_dated and days):
        return False
    known = _known_words(evidence)
    words = _LETTERS.findall(way.sub(" ", asked))
    return all(_PLAINLY_ASKED.fullmatch(word) or _WHO.fullmatch(word) or _singular(word) in known for word in words)


def _is_a_row(end: str | Decimal | None, of: Column, columns: Sequence[Column]) -> bool:
    """Whether the end is the value of a row like others: none that sums up the rest, and no sign for a value that is
    missing."""
    if any(_SUMMED_UP.search(plain(cell)) for one in columns if not one.is_numeric for cell in one.cells):
        return False
    return isinstance(end, str) or not _MISSING.fullmatch(str(end))


def _may_hold_days(column: Column) -> bool:
    """Whether it may hold days or years in words of some kind: `3 May 1961`."""
    return any(re.search(r"\d{4}|(?:^|\s)\d", cell) for cell in column.cells)


def _known_words(evidence: Evidence) -> set[str]:
    """Words that only say what the table is of: its name, and those of its columns."""
    stems = [file.path.rpartition("/")[2].partition(".")[0] for file in evidence.files]
    names = [*(column.name for column in evidence.columns), *stems]
    return {_singular(word) for name in names for word in _LETTERS.findall(plain(name))}


def none_of_what_is_there(evidence: Evidence) -> str | None:
    """Zero, where the question asks how often one word occurs that stands in a file of the question, or for the sum or
    mean of a column over rows in which each number is above zero, or each below: no row was found, and nothing said so.
    """
    asked = evidence.asked
    if numbers_of(evidence.answer) != {Decimal(0)}:
        return None
    if not _HOW_MANY.search(asked):
        return _none_of_amounts(evidence) if _AMOUNTS.search(asked) else None
    cells = {plain(cell) for column in evidence.columns if not column.is_numeric for cell in column.cells}
    words = {cell for cell in cells if len(cell) > 2 and stands_in(cell, asked)}
    words |= {plain(found[1] or found[2]) for found in _WORD_MEANT.finditer(evidence.question)}
    texts = [plain(_text(here(file.path))) for file in evidence.files if not file.is_dir]
    there = [word for word in words if any(stands_in(word, text) for text in texts)]
    if len(words) != 1 or not there:
        return None
    if not all(map(_PLAINLY_ASKED.fullmatch, _LETTERS.findall(asked.replace(there[0], " ")))):
        return None
    return f'the answer is none, and "{there[0]}" stands in the file'


def other_count(evidence: Evidence) -> str | None:
    """Another number than that of the rows of a table, where the question asks for all of them. Whether its head is
    counted is left open where the question leaves it open."""
    found = _ALL_ROWS.match(evidence.asked)
    counts = {len(column.cells) for column in evidence.columns}
    tables = [file for file in evidence.files if file.path.lower().endswith((".csv", ".tsv"))]
    if found is None or not len(tables) == len(evidence.files) == len(counts) == 1 or counts == {MOST_ROWS}:
        return None
    words = [word for word in _LETTERS.findall(found["more"]) if not _PLAINLY_ASKED.fullmatch(word)]
    headless = [word for word in words if _HEAD.fullmatch(word)]
    if len(headless) != len(words):
        return None
    (rows,) = counts
    told = numbers_of(evidence.answer)
    right = {Decimal(rows)} if headless else {Decimal(rows), Decimal(rows + 1)}
    return None if not told or told & right else "the table has another number of rows than the answer says"


def _none_of_amounts(evidence: Evidence) -> str | None:
    """The same of the sum or mean of one column over the rows that have the one cell that the question names."""
    asked, columns = evidence.asked, evidence.columns
    of = [one for one in columns if one.is_numeric and not one.is_numbering and stands_in(plain(one.name), asked)]
    texts = [one for one in columns if not one.is_numeric]
    named = {plain(cell) for one in texts for cell in one.cells if len(cell) > 2 and stands_in(plain(cell), asked)}
    if len(of) != 1 or len(named) != 1 or len({len(one.cells) for one in columns}) != 1:
        return None
    (cell,) = named
    known = _known_words(evidence)
    for word in _LETTERS.findall(asked.replace(cell, " ")):
        if not (_PLAINLY_ASKED.fullmatch(word) or _AMOUNTS.fullmatch(word) or _singular(word) in known):
            return None  # a condition that may leave none
    rows = {at for one in texts for at, found in enumerate(one.cells) if plain(found) == cell}
    amounts = [_number(of[0].cells[at]) for at in rows if of[0].cells[at]]
    if None in amounts or not amounts or min(amounts) <= 0 <= max(amounts):  # type: ignore[type-var, operator]
        return None
    return f'the answer is none, and "{of[0].name}" of "{cell}" in the file is not'


def _singular(word: str) -> str:
    return word.removesuffix("s")


def _text(path: Path) -> str:
    """The text of a file, nothing for what is none, cannot be read or is too long."""
    try:
        with path.open("rb") as file:
            raw = file.read(READ + 1)
        return raw.decode("utf-8-sig") if len(raw) <= READ else ""
    except (OSError, UnicodeDecodeError):
        return ""


_ENDS: Sequence[tuple[re.Pattern[str], tuple[bool, bool]]] = (
    (_HIGH, (False, True)),
    (_LOW, (False, False)),
    (_LATE, (True, True)),
    (_EARLY, (True, False)),
)
"""Words, whether they are said of days, and whether they mean the upper end."""


def _can_be_meant(column: Column, asked: str, *, dated: bool) -> bool:
    """Days need not be named: a table has one column of them or the rule says nothing."""
    if dated:
        return column.is_dated
    name = plain(column.name)
    return column.is_numeric and stands_in(name, asked) and not _RANK.search(name)


def _confined(of: Column, columns: Sequence[Column], asked: str) -> bool:
    """Whether the question names a cell, and so may speak of some rows alone."""
    return any(len(cell) > 1 and stands_in(plain(cell), asked) for one in columns if one != of for cell in one.cells)


def _values(column: Column, *, dated: bool) -> list[str | Decimal | None]:
    if dated:
        return [cell if _DAY.fullmatch(cell) else None for cell in column.cells]
    return [_number(cell) for cell in column.cells if cell]


def _number(cell: str) -> Decimal | None:
    try:
        return Decimal(cell.replace(",", "."))
    except InvalidOperation:
        return None


def _tells(
    answer: str,
    value: str | Decimal | None,
    values: Sequence[str | Decimal | None],
    of: Column,
    naming: Sequence[Column],
) -> bool:
    """Whether `answer` gives `value`, or names a row that has it, by a column of `naming`."""
    text = plain(answer)
    if isinstance(value, Decimal):
        if any(abs(number - value) <= abs(value) / 1000 for number in numbers_of(answer)):
            return True
    elif value is not None and value in text:
        return True
    if len(values) != len(of.cells):
        return False
    rows = [at for at, one in enumerate(values) if one == value]
    whole = [column for column in naming if len(column.cells) == len(of.cells)]
    return any(stands_in(plain(column.cells[at]), text) for column in whole for at in rows)
