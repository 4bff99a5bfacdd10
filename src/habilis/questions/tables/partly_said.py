"""Columns that a question says by a part of their names only: "allowance" for the monthly travel allowance."""

from __future__ import annotations

import re
from dataclasses import dataclass

from habilis.questions.language import QUOTED, root, stems, words
from habilis.questions.nouns import PEOPLE
from habilis.questions.tables.doers import is_shown
from habilis.questions.tables.doings import VERBS, is_verb
from habilis.questions.tables.lexicon import FILLERS, FUNCTION_WORDS, NOT_ALONE
from habilis.questions.tables.sayings import Sayings

_MOMENT_NEXT = re.compile(r" (?:before|after|at|on|in|since|until|between|from|by) (?:the )?(?:\d|[A-Z][a-z]{2,8}\b)")
_VERB_ROOTS = {*map(root, VERBS)}
_CALCULATED = re.compile(r" (?:minus|plus|times|divided by|less) ", re.I)
_AMOUNT = re.compile(r"(?:(?:on|in) )?(?:how much|what (?:do|did|does|have|has))\b|.*\b(?:total|average|sum)\b", re.I)
_LONGEST = 6
"""Words of a question that may say a part of one column's name."""


@dataclass(frozen=True)
class _Part:
    """The tokens of a question from `start` to `end`, and the columns that have all these words in their names."""

    start: int
    end: int
    columns: frozenset[int]

    @property
    def is_open(self) -> bool:
        return len(self.columns) > 1

    def put(self, tokens: list[str], mark: str) -> None:
        tokens[self.start : self.end + 1] = [mark, *[""] * (self.end - self.start)]


class PartlySaid(Sayings):
    """Columns that are said in part, and the words that may say one."""

    _partly: frozenset[int] = frozenset()
    """Those that the question says in part only."""

    def _in_part(self, text: str) -> str:
        """`text` with the columns marked whose name it says in part. What several may be called is the one of them that
        another word of the question tells; that word, or what all of them are named by besides, says nothing more."""
        tokens = re.split(rf"({QUOTED}|#\w+#=?|[^\W_]+(?:['’-][^\W_]+)*)", text)
        sure = {int(one) for one in re.findall(r"#(\d+)#", text)}
        parts = self._parts(tokens)
        told = _told(parts, sure)
        self._partly = frozenset(told.values()) - sure
        shared = {told[part.start] for part in parts if part.is_open and part.start in told}
        for part in parts:
            if part.is_open and part.columns <= sure | _alone(parts) and part.start not in told:
                part.put(tokens, "")  # what columns that are all said in full have in common
            elif part.start in told:
                column = told[part.start]
                if self._is_action(tokens, part, column) and column not in shared and not _CALCULATED.search(text):
                    continue
                others = sure | {told[one] for one in told if one != part.start}
                again = column in others and self._header.of_unit(tokens[part.start]) is not None
                again = again or (not part.is_open and column in shared)
                part.put(tokens, "" if again else f"#{column}#")
        return _once("".join(tokens), shared & sure)

    def _parts(self, tokens: list[str]) -> list[_Part]:
        """Runs of words that are all in the name of a column, each as long as can be."""
        parts, start = [], 1
        while start < len(tokens):
            end, columns = self._said_from(tokens, start)
            if len(columns) > 1 and self._is_dated(tokens, end) and not _AMOUNT.match(self._text):
                moments = {one for one in columns if self._header.kind(one) == "moment"}
                columns = moments if len(moments) == 1 else columns  # "bought in 2021" of a date, a shop and a price
            if columns:
                parts.append(_Part(start, end, frozenset(columns)))
            start = max(end, start) + 2
        return parts

    def _is_action(self, tokens: list[str], part: _Part, column: int) -> bool:
        """Whether a part of a name is a verb that says what was done, and no column."""
        if not self._is_verb(tokens[part.start]) or part.start != part.end:
            return False
        if self._header.kind(column) != "moment":
            return True
        beside = tokens[part.start + 2 : part.start + 3] == [f"#{column}#"]
        return not beside and not self._is_dated(tokens, part.start)

    def _said_from(self, tokens: list[str], start: int) -> tuple[int, set[int]]:
        """The end of the longest run of words from `start` that are all in the name of a column, and such columns."""
        best: tuple[int, set[int]] = (start, set())
        for end in range(start, min(start + 2 * _LONGEST, len(tokens)), 2):
            between = "".join(tokens[start + 1 : end + 1 : 2] if end > start else [])
            word = tokens[end]
            if between.strip(" ") or not re.match(r"[^\W\d_]", word):
                break
            said = tokens[start : end + 1 : 2]
            if not any(self._may_stand_alone(tokens, at) for at in range(start, end + 1, 2)):
                continue
            found = self._named_by(" ".join(said))
            if not found:
                break
            best = (end, found)
        return best

    def _may_stand_alone(self, tokens: list[str], at: int) -> bool:
        """Whether one word may say a column: none that has another use, a verb only before a date or a time or where
        it tells which of several columns, or what is calculated."""
        word = tokens[at].lower()
        if self._header.of_unit(word) is not None and word != "days":
            return not re.search(r"\d ?$", "".join(tokens[:at]))
        if self._is_dated(tokens, at) and is_verb(word):
            return True
        if stems(word) == ["time"]:
            return False
        if word in NOT_ALONE | FILLERS | {*FUNCTION_WORDS.split()} or len(word) < 3 or self._is_own_verb(word):
            return False
        exact = any(set(stems(word)) & set(stems(name)) for name in self._header.names)
        return exact or not self._is_verb(word) or self._is_dated(tokens, at)

    def _is_dated(self, tokens: list[str], at: int) -> bool:
        return _MOMENT_NEXT.match("".join(tokens[at + 1 :])) is not None

    def _is_verb(self, word: str) -> bool:
        """Whether a word says no more than what the table is about, unless it is a cell."""
        does = {re.sub("(?:er|or)$", "", stems(name)[-1]) for name in self._header.names if {*stems(name)} & PEOPLE}
        going = word.endswith("ing") and root(word) in _VERB_ROOTS
        return is_verb(word) or going or root(word) in does or self._is_own_verb(word)

    def _may_be_dropped(self, word: str) -> bool:
        if self._is_own_verb(word):
            return True
        return self._is_verb(word) and is_shown(self._header, word) and not self._is_flagged(word)

    def _is_flagged(self, word: str) -> bool:
        """Whether a column says of each row if what a verb says was done: then it is a condition."""
        flags = [i for i in range(len(self._header.names)) if self._header.kind(i) == "flag"]
        return any(root(word) in roots(self._header.names[i]) and f"#{i}#" not in self._text for i in flags)

    def _is_own_verb(self, word: str) -> bool:
        """Whether a word that is not marked is what was done for there to be a row: "invoiced" of invoices."""
        day = self._header.only_day()
        done = [one for one in words(self._header.names[day]) if one.endswith("ed")] if day is not None else []
        file = [one for one in words(self._file.named.rsplit("/")[-1]) if one.endswith(("er", "ing")) and len(one) > 5]
        file = [re.sub("er$|ing$", "", one) for one in file]  # printed of printer.log
        stem = next(iter(words(self._file.named.rsplit("/")[-1])), "")
        if len(root(word)) > 4 and stem.startswith(root(word)) and stem != root(word) and is_verb_form(word):
            return True  # printed of printserver.log
        return word != "" and root(word) in {root(one) for one in (self._header.rows_are, *file, *done) if one}

    def _named_by(self, said: str) -> set[int]:
        """The columns whose names have all these words, or else other forms of them."""
        unit = self._header.of_unit(said)
        if unit is not None and said.lower() != "days":
            return {unit}
        for form in (stems, roots):
            if found := {i for i, name in enumerate(self._header.names) if {*form(said)} <= {*form(name)}}:
                return found
        return set()


def is_verb_form(word: str) -> bool:
    return re.search(r"(?:ed|ing)$", word, re.I) is not None


def _alone(parts: list[_Part]) -> set[int]:
    return {next(iter(part.columns)) for part in parts if not part.is_open}


def _told(parts: list[_Part], sure: set[int]) -> dict[int, int]:
    """By the start of a part the one column that it means."""
    told: dict[int, int] = {}
    for part in parts:
        meant = part.columns & (sure | _alone(parts)) if part.is_open else part.columns
        if len(meant) == 1:
            told[part.start] = next(iter(meant))
    return told


def _once(text: str, columns: set[int]) -> str:
    """`text` without the last mark of columns that it says twice: "holiday days … taken"."""
    for column in columns:
        marks = [*re.finditer(rf"#{column}#", text)]
        text = text if len(marks) < 2 else f"{text[: marks[-1].start()]}{text[marks[-1].end() :]}"
    return text


def roots(text: str) -> list[str]:
    return [root(word) for word in words(text)]
