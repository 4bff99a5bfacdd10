"""Whether calls were made with what was asked: rules over the arguments of those that an answer rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from habilis.contract.columns import Column
from habilis.core.types import Invocation
from habilis.grounding import Known, founded_by, unfounded
from habilis.grounding.wording import grammar
from habilis.library.retrieval.terms import shared_beginning
from habilis.rules.evidence import Evidence, plain, stands_in
from habilis.rules.quoted import QUOTED, left_out, more_than_quoted, quotations
from habilis.values.moments import Moment
from habilis.values.plain import plain as plain_form
from habilis.values.scanning import scan

MAX_LEAVES = 1_000
"""Values of one list of arguments that are looked at."""
SHORT_TEXT, SMALL_NUMBER = 3, 10
"""A text of so many characters, a whole number up to that, may be an option's default: nobody need have given it."""
KIN = 4
"""Letters that a word of the question and one of a column's name share where they mean the same: temp, temperature."""
_CHOICE = re.compile(r"\d\W{0,3}(?:or|oder|ou|o|или)\s\W{0,2}\d", re.IGNORECASE)
"""Numbers to choose from, which need not be worked on."""
_MOST = r"\b(?:\w+est|most|least|total|sum|average|mean|median|maximum|minimum)"
_PART = re.compile(r"[^\W\d_]+")
_SPAN = re.compile(r"(?<![\d:.])(\d{1,3}):([0-5]\d)(?![\d:])")
"""A time of day or a length of time, hours and minutes or minutes and seconds."""


def from_nowhere(evidence: Evidence) -> str | None:
    invented = [c for c in evidence.behind if c.tool not in evidence.unseen and invented_arguments(c, evidence)]
    if not invented or len(invented) < len(evidence.behind):
        return None  # which call an answer rests on cannot be told: one good one is enough
    call = invented[-1]
    given = json.dumps(call.arguments, ensure_ascii=False)[:200]
    return f"the arguments of {call.tool} stand in no question, file or earlier result: {given}"


def invented_arguments(call: Invocation, evidence: Evidence) -> bool:
    """Whether the values that `call` worked on come from nowhere: most numbers of a list, or every single value."""
    before = [one.text for one in evidence.succeeded if one.ordinal < call.ordinal]
    known = Known([*before, *evidence.known, *evidence.begins], evidence.question, folders=evidence.folders)
    text = plain("\n".join([evidence.question, *evidence.known, *evidence.begins, *before]))
    leaves = list(_leaves(call.arguments))
    for numbers in _lists(call.arguments):
        if 2 * sum(bool(unfounded(_written(number), known)) for number in numbers) > len(numbers):
            return True
    telling = [leaf for leaf in leaves if _tells(leaf)]
    asked = _values_in(evidence.question)
    return bool(telling) and not any(_stands(leaf, known, text) or _neighbours(leaf, asked) for leaf in leaves)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value[:MAX_LEAVES]:
            yield from _leaves(item)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield value


def _lists(value: Any) -> Iterator[list[int | float]]:
    """Lists of at least two numbers in `value`: data that someone must have given."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _lists(item)
    elif isinstance(value, list):
        numbers = [item for item in value[:MAX_LEAVES] if isinstance(item, (int, float)) and not isinstance(item, bool)]
        if len(numbers) > 1 and len(numbers) == len(value[:MAX_LEAVES]):
            yield numbers
        else:
            for item in value[:MAX_LEAVES]:
                yield from _lists(item)


def _tells(leaf: str | int | float) -> bool:
    """Whether a value is one that an option would hardly have: small numbers and short words are defaults."""
    return len(leaf) > SHORT_TEXT if isinstance(leaf, str) else abs(leaf) > SMALL_NUMBER or leaf != int(leaf)


def _stands(leaf: str | int | float, known: Known, text: str) -> bool:
    if not isinstance(leaf, str):
        return not unfounded(_written(leaf), known)
    words = [plain(word) for word in re.findall(r"[^\W\d_]{3,}|[^\W\d_a-zA-Z]", leaf)]
    if plain(leaf) in text or any(word in text for word in words):
        return True
    numbers = [value for value in founded_by(leaf, known) if value.kind in ("number", "date")]
    return bool(numbers) and all(value.rule for value in numbers)


def _written(number: int | float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


_ARTICLES = "the|an?|der|die|das|le|la|les|el|los|las|il|lo|de|het"


@dataclass(frozen=True)
class _Aim:
    """What the calls behind an answer were aimed at, and what the question names."""

    evidence: Evidence

    @cached_property
    def calls(self) -> list[Invocation]:
        return [call for call in self.evidence.behind if call.tool not in self.evidence.unseen]

    @cached_property
    def used(self) -> str:
        """All that the calls were given and gave, and what their tools are called."""
        texts = [f"{json.dumps(call.arguments, ensure_ascii=False)} {call.text}" for call in self.evidence.behind]
        names = [call.tool.replace("_", " ") for call in self.evidence.behind]
        whole = plain("\n".join([*texts, *names]).replace("\\n", " "))
        for file in self.evidence.files:
            whole = whole.replace(plain(file.path), " ").replace(plain(Path(file.named).name), " ")
        return whole

    @cached_property
    def strange(self) -> list[tuple[Invocation, str, str]]:
        """Texts of the files that calls were given as arguments, and that the question does not name."""
        files = {name for file in self.evidence.files for name in (file.named, file.path, Path(file.named).name)}
        shown = plain("\n".join(self.evidence.begins))
        found = []
        for call in self.calls:
            for name, leaf in call.arguments.items():
                if not isinstance(leaf, str) or leaf in files:
                    continue
                headed = self.headed(leaf)
                if headed and list(call.arguments.values()).count(leaf) > 1:
                    found.append((call, name, leaf))
                    continue
                if any(self._is_meant(column) for column in headed) or (not headed and self._is_said(leaf)):
                    continue
                there = f"{shown}\n{plain(call.text)}" if call.outcome.opened else shown
                if self.headed(leaf) or self.holding(leaf) or stands_in(plain(leaf), there):
                    found.append((call, name, leaf))
        return found

    def headed(self, text: str) -> list[Column]:
        """The columns that are called `text`."""
        return [column for column in self.evidence.columns if plain(column.name) == plain(text)]

    def holding(self, text: str) -> list[Column]:
        """The columns of which `text` is a cell."""
        return [c for c in self.evidence.columns if any(plain(cell) == plain(text) for cell in c.cells)]

    def _is_said(self, text: str) -> bool:
        """Whether the question says `text`, or a word like one of its words."""
        if stands_in(plain(text), self.evidence.asked) and plain(text) not in grammar():
            return True
        words = _PART.findall(self.evidence.asked)
        return any(are_kin(part, word) for part in _PART.findall(plain(text)) if len(part) >= KIN for word in words)

    def _is_meant(self, column: Column) -> bool:
        """Whether the question names `column` or a cell of it. What only numbers the rows is nothing to work on."""
        named = self._is_named(column.name) and not (column.is_numbering and column.is_numeric)
        return named or self._holds_what_is_asked(column)

    def _holds_what_is_asked(self, column: Column) -> bool:
        """Whether the question names a cell of `column`, inflected or not, and so means it."""
        cells = set() if column.is_numeric else {plain(cell) for cell in column.cells if len(cell) > 1}
        words = [word for word in _PART.findall(self.evidence.asked) if not word.isascii()]
        return any(stands_in(cell, self.evidence.asked) or any(are_kin(cell, word) for word in words) for cell in cells)

    @cached_property
    def _columns_left(self) -> list[Column]:
        """Columns that the question names and that no call was given. Numbers of rows are not meant as such: "the
        latest order" asks for a date."""
        return [
            column
            for column in self.evidence.columns
            if self._is_named(column.name) and not column.is_numbering and not self._is_worked_on(column.name)
        ]

    def left_for(self, strange: Sequence[Column]) -> list[str]:
        """Columns that were meant in place of `strange` ones. Names of rows take no place of a column of numbers:
        "how many rivers are longer" asks for no river."""
        counted = all(column.is_numeric for column in strange)
        return [column.name for column in self._columns_left if not (counted and column.is_naming)]

    def _is_named(self, name: str) -> bool:
        """Whether the question says the name of a column, or the one word of it that no other column has."""
        whole = plain(name)
        forms = [whole, f"{whole}s", " ".join(_PART.findall(whole))]
        if not whole.isascii() and len(whole) >= KIN - 1:  # inflected: городе, залах
            forms += [word for word in _PART.findall(self.evidence.asked) if word[:-2] in (whole, whole[:-1])]
            forms += [word for word in _PART.findall(self.evidence.asked) if word[:-1] in (whole, whole[:-1])]
        parts = [part for part in _PART.findall(whole.replace("_", " ")) if len(part) >= KIN]
        others = [plain(column.name) for column in self.evidence.columns if column.name != name]
        forms += [part for part in parts if not any(part in other for other in others)]
        return any(len(form) > 1 and stands_in(form, self.evidence.asked) for form in forms)

    def _is_worked_on(self, name: str) -> bool:
        """Whether a call was given a column. Where the question asks for the most, the least or the sum of it, a
        result that holds it as well is not enough."""
        word = next((part for part in _PART.findall(plain(name)) if stands_in(part, self.evidence.asked)), plain(name))
        if not re.search(rf"{_MOST}\s+(?:of\s+)?{re.escape(word)}(?![^\W_])", self.evidence.asked):
            return self._is_used(name)
        given = plain(" ".join(f"{call.tool.replace('_', ' ')} {call.arguments}" for call in self.evidence.behind))
        return stands_in(plain(name), given) or stands_in(word, given)

    def _is_used(self, text: str) -> bool:
        """Whether a text stands in what the calls were given or gave, maybe without its article."""
        bare = re.sub(rf"^(?:{_ARTICLES}) (?=\w{{3}})", "", plain(text))
        return stands_in(plain(text), self.used) or stands_in(bare, self.used)

    @cached_property
    def cells_left(self) -> list[tuple[str, Column]]:
        """Cells that the question names and that no call was given, nor gave."""
        found = {}
        for column in self.evidence.columns:
            for cell in dict.fromkeys(column.cells):
                if len(cell) > 1 and not column.is_numeric and stands_in(plain(cell), self.evidence.asked):
                    found[cell] = column
        return [(cell, column) for cell, column in found.items() if not self._is_used(cell)]

    def is_name(self, cell: str) -> bool:
        """Whether the question writes `cell` as a name is written: with a capital or a digit, or in its own script."""
        return cell in self.evidence.question and any(c.isupper() or c.isdigit() or ord(c) > 0x2E80 for c in cell)

    @cached_property
    def quoted_left(self) -> list[str]:
        """What the question quotes and no call was given, nor gave."""
        return [text for text in quotations(self.evidence.question) if not self._is_used(text)]


def other_target(evidence: Evidence) -> str | None:
    """Calls with another column, row or word of the files than the question names, or with another number."""
    aim = _Aim(evidence)
    return _other_text(aim) or _more_than_quoted(aim) or _other_number(aim)


def _other_text(aim: _Aim) -> str | None:
    for call, name, leaf in aim.strange:
        left: list[str] = [*aim.quoted_left]
        if aim.headed(leaf):
            left += aim.left_for(aim.headed(leaf))
        else:
            held = [column.name for column in aim.holding(leaf)]
            left += [cell for cell, column in aim.cells_left if column.name in held]
        left += [cell for cell, _ in aim.cells_left if aim.is_name(cell)]
        if left:
            return _told(call, name, leaf, left[0])
        if not aim.evidence.columns and not _has_common_word(aim):
            return f'{call.tool} was called with {name}="{leaf[:60]}", and neither that nor its result is asked for'
    if not aim.calls or len(aim.calls) < len(aim.evidence.behind):
        return None
    names = [cell for cell, _ in aim.cells_left if aim.is_name(cell)]
    if text := next(iter(names), "") or left_out(aim.evidence, aim.used):
        return f'the question says "{text[:60]}", but no call was given that, nor gave it'
    return None


def _more_than_quoted(aim: _Aim) -> str | None:
    """What the question quotes, with words beside it that nobody gave."""
    found = more_than_quoted(aim.evidence, aim.calls)
    return _told(*found) if found else None


def _has_common_word(aim: _Aim) -> bool:
    words = {word for word in _PART.findall(aim.evidence.asked) if len(word) >= KIN - 1 and word not in grammar()}
    used = _PART.findall(aim.used)
    return not words or any(are_kin(word, other) or other == f"{word}s" for word in words for other in used)


def _other_number(aim: _Aim) -> str | None:
    """A number or date that nobody gave as an argument, where the question gives one that no call was given."""
    evidence = aim.evidence
    left = _numbers_left(aim)
    if not left or _CHOICE.search(evidence.question):
        return None
    for call in aim.calls:
        before = [one.text for one in evidence.succeeded if one.ordinal < call.ordinal]
        known = Known([*before, *evidence.known], evidence.question)
        for name, leaf in call.arguments.items():
            if isinstance(leaf, bool) or not isinstance(leaf, str | int | float) or not _tells(leaf):
                continue
            written = leaf if isinstance(leaf, str) else _written(leaf)
            if not _is_value(written) or not unfounded(written, known):
                continue
            if not _neighbours(leaf, _values_in(evidence.question)) and not _is_span(written, evidence.question):
                return _told(call, name, written, left[0])
    return None


def _numbers_left(aim: _Aim) -> list[str]:
    """Numbers and dates of the question, small ones aside, that no call was given, nor gave."""
    used = Known([aim.used])
    bare = QUOTED.sub(" ", aim.evidence.asked)
    found = [value for value in founded_by(bare, used) if value.kind in ("number", "date") and not value.rule]
    return [value.text for value in found if re.search(r"\d{2}", value.text)]


def _values_in(text: str) -> list[Decimal | date]:
    values = scan(plain_form(text).text)
    numbers: list[Decimal | date] = [reading.value for number in values.numbers for reading in number.readings]
    return [*numbers, *(real for moment in values.moments if (real := _real(moment)))]


def _real(moment: Moment) -> date | None:
    return next((real for day in moment.days if (real := day.real())), None)


def _is_value(text: str) -> bool:
    """Whether a text is one number or date and nothing else."""
    values = scan(plain_form(text).text)
    return len(values.numbers) + len(values.moments) == 1 and not _PART.search(text)


def _neighbours(leaf: str | int | float, asked: Sequence[Decimal | date]) -> bool:
    written = leaf if isinstance(leaf, str) else _written(leaf)
    return _is_value(written) and any(_next_to(written, other) for other in asked)


def _is_span(written: str, question: str) -> bool:
    """Whether a number is a time of the question in one unit: 9:30 as 9.5 or as 570."""
    spans = [60 * int(span[1]) + int(span[2]) for span in _SPAN.finditer(question)]
    numbers = [value for value in _values_in(written) if isinstance(value, Decimal)]
    return any(abs(number) in (span, Decimal(span) / 60) for span in spans for number in numbers)


def _next_to(written: str, other: Decimal | date) -> bool:
    """Whether a value is the neighbour of another: `after 1990` is asked for as from 1991 on."""
    for value in _values_in(written):
        if isinstance(value, date) and isinstance(other, date) and abs((value - other).days) <= 1:
            return True
        if isinstance(value, date) and isinstance(other, Decimal) and abs(value.year - other) <= 1:
            return True
        if isinstance(value, Decimal) and isinstance(other, Decimal) and abs(value - other) <= 1:
            return True
    return False


def _told(call: Invocation, name: str, given: str, asked: str) -> str:
    return f'{call.tool} was called with {name}="{given[:60]}", but the question says "{asked[:60]}"'


def are_kin(one: str, other: str) -> bool:
    """Whether two words begin alike, for the most part: an ending or an abbreviation apart."""
    shared = shared_beginning(one, other)
    return one == other or (shared >= KIN and 4 * shared >= 3 * min(len(one), len(other)))


__all__ = ["are_kin", "from_nowhere", "invented_arguments", "other_target"]
