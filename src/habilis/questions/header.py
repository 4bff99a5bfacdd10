"""The columns of a table in a question: a phrase with `#2#` where it says the third column, `#R#` where it says rows.

A column is known by its words (`unit_price`, `unitPrice`, "unit prices"), without the unit or the last word that adds
nothing (`salary_eur`, `started_at`), or by a word of it that no other column has. What may be two columns is neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from habilis.questions.column_words import by_one_word, in_full, in_short
from habilis.questions.in_units import InUnits, only
from habilis.questions.language import QUOTED, number, root, stems, words
from habilis.questions.nouns import (
    CLASSES,
    GENERIC,
    IN_ORDER,
    KINDS,
    MASSES,
    MEMBERS,
    MONEY_NAMES,
    NAMING,
    NEVER,
    NO_NUMBER,
    PEOPLE,
    ROSTERS,
    SHORT,
    unit_of,
)
from habilis.questions.row_nouns import called
from habilis.questions.world import CannotAnswerError

COLUMN = r"#(?:\d+)#"
ROWS = "#R#"
_FLAGS = {"yes", "no", "true", "false", "y", "n", "ja", "nein", "oui", "non", "si", "sí"}
_TICKS = {"✓", "✔", "☑", "x", "×"}
"""What stands where something is so, and nothing where it is not."""
_RACES = {"race", "run", "marathon", "swim", "triathlon", "ride", "lap"}
_DOING = re.compile(r"\b(?:did|do|does) (?:(?!the\b|each\b|a\b)[\w'-]+ ){1,3}$", re.I)
_DATE = re.compile(
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\.?,? +)?(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
    r"|\d{1,2}:\d\d|[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}|\d{1,2}\.?[ -][A-Z][a-z]{2,8}\.?[ -](?:\d{4}|\d\d)$"
    r"|\d{1,2}([/.])\d{1,2}\1\d\d$)"
)


@dataclass(frozen=True)
class TableHeader(InUnits):
    """The columns of one table, with the cells below them that the prompt shows."""

    names: tuple[str, ...]
    samples: tuple[tuple[str, ...], ...]
    rows_are: str
    """The last word of the file's name, or of the key of a list of objects, as a stem."""
    file_is: str = ""
    """The last word of the file's name where a list has a key of its own."""
    of_file: tuple[str, ...] = ()
    """The nouns of the file's name, where it says what the rows of a table are."""

    def kind(self, column: int) -> str:
        """number, flag, moment or text, as far as the shown cells say; '' where none is shown."""
        return self._kinds[column]

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(map(self._kind, range(len(self.names))))

    def _kind(self, column: int) -> str:
        cells = [cell.strip() for cell in self.shown(column) if cell.strip()]
        if not cells:
            return ""
        if all(cell.lower() in _FLAGS for cell in cells) or all(cell.lower() in _TICKS for cell in cells):
            return "flag"
        if all(_DATE.match(cell) for cell in cells):
            return "moment"
        if unit_of(cells):
            return "number"
        bare = [re.sub(r"[€$£%\s]", "", cell) for cell in cells]
        numeric = all(number(cell) is not None or re.fullmatch(r"[-+]?[\d.]*\d,\d+", cell) for cell in bare)
        numeric = numeric and not NO_NUMBER & {*words(self.names[column])} and not self._numbers_rows(column)
        return "number" if numeric else "text"

    def _numbers_rows(self, column: int) -> bool:
        """Whether the shown cells of the first column are 1, 2, 3."""
        cells = [row[0] for row in self.samples if row]
        whole = [int(cell) for cell in cells if re.fullmatch(r"\d{1,9}", cell)]
        follow = len(cells) == len(whole) > 1 and whole == [*range(whole[0], whole[0] + len(whole))]
        return column == 0 and follow and not IN_ORDER & {*stems(self.names[0])}

    def is_rows(self, column: int) -> bool:
        """Whether a column says in each row what that row is: `product` in products.csv."""
        return stems(self.names[column]) == [self.rows_are] or (column == 0 and self._numbers_rows(0))

    @cached_property
    def _alike(self) -> set[str]:
        """Words for the rows, as stems."""
        own = {self.rows_are, self.file_is, *([self.numbered] if self.numbered else [])}
        own |= {"book"} if {"title", "author"} <= {*self.names} else set()
        return {one for kind in (*KINDS, *own) if own & {*kind.split()} for one in kind.split()} - {""}

    @cached_property
    def _called(self) -> set[str]:
        """All words for the rows, as stems."""
        label = self.label()
        naming = None if label is None else self.names[label]
        return self._alike | (called(self.of_file, self.names, naming) if self.of_file else set())

    @cached_property
    def numbered(self) -> str:
        """What the numbers in the first column number: parts of "PartNo"; '' where it numbers nothing."""
        *noun, last = words(self.names[0])
        cells = [row[0] for row in self.samples if row]
        if self._numbers_rows(0) and not noun:
            return stems(last)[0]
        named = last == "code" and noun in [words(name) for name in self.names]
        plain = len(noun) == 1 and (named or last in ("id", "no", "nr", "number")) and len({*cells}) == len(cells)
        return stems(noun[0])[0] if plain else ""

    @property
    def is_people(self) -> bool:
        return any("person" in kind.split() and self.rows_are in kind.split() for kind in KINDS)

    @cached_property
    def money(self) -> list[int]:
        """The columns that hold sums of money, not prices of one piece."""
        found = [
            i
            for i, name in enumerate(self.names)
            if (MONEY_NAMES & {*stems(name)} or {"eur", "usd", "gbp"} & {*words(name)[-1:]} or self._is_priced(i))
            and self.kind(i) == "number"
        ]
        each = {"unit", "each", "per"}
        priced = [i for i in found if each & {*words(self.names[i])} or re.search("/ ?[a-z]+$", self.names[i], re.I)]
        return [i for i in found if i not in priced]

    def _is_priced(self, column: int) -> bool:
        return all(re.search("[€$£]", cell) for cell in self.shown(column) if cell)

    @property
    def are_sums(self) -> bool:
        """Whether a row is a sum of money."""
        more = ("donation", "budget", "bill", "cost", "fine", "loan", "refund", "ledger")
        return self.rows_are in (*KINDS[0].split(), *more)

    @property
    def labels_people(self) -> bool:
        """Whether the column that names the rows names people."""
        label = self.label()
        return label is not None and (self.is_people or bool({*stems(self.names[label])} & PEOPLE))

    def with_word(self, *wanted: str) -> int | None:
        """The one column whose name has one of these words."""
        return only([i for i, own in enumerate(self._words) if not own.isdisjoint(wanted)])

    @cached_property
    def _words(self) -> list[set[str]]:
        """The words of each name, with what abbreviations among them stand for."""
        return [{one for word in stems(name) for one in (word, SHORT.get(word, word))} for name in self.names]

    def only_day(self) -> int | None:
        """The one column whose shown cells are dates."""
        return only([i for i in range(len(self.names)) if self.kind(i) == "moment" and not self.is_clock(i)])

    def is_clock(self, column: int) -> bool:
        """Whether the shown cells of a column are times without a date."""
        return all(re.fullmatch(r"\d{1,2}:\d\d.*|", cell) for cell in self.shown(column))

    def label(self) -> int | None:
        """The one column that names the rows."""
        return self._label

    @cached_property
    def _label(self) -> int | None:
        own = self._own({"name", "title", "label", "full"})
        if own is not None and self.kind(own) not in ("number", "moment", "flag"):
            return own
        if self.numbering() is not None:
            naming = [i for i, name in enumerate(self.names) if stems(name) in ([self.numbered], *NAMING)]
            cells = self.shown(naming[0]) if len(naming) == 1 else []
            return naming[0] if len(naming) == 1 and len({*cells}) == len(cells) else None
        named = [{*stems(name)} for name in self.names]
        named_so = [i for i, name in enumerate(named) if "name" in name and name <= {"name", "full"} | PEOPLE]
        return only(named_so) if named_so else self._first_names()

    def _first_names(self) -> int | None:
        """The first column where it holds a text of its own in each shown row: addresses, say."""
        cells = [row[0].strip() for row in self.samples if row]
        called = {*stems(self.names[0])}
        roster = (self.rows_are in ROSTERS and called & MEMBERS) or called == {"address"}
        own = self.kind(0) == "text" and len({*cells}) == len(cells) > (0 if self.file_is else 1 if roster else 2)
        return 0 if own and (roster or not called & (PEOPLE | CLASSES)) else None

    def key(self) -> int | None:
        """The one column that tells the rows apart: their number, else their name."""
        numbering = self.numbering()
        return self.label() if numbering is None else numbering

    def numbering(self) -> int | None:
        """The one column that numbers the rows."""
        return self._numbering

    @cached_property
    def _numbering(self) -> int | None:
        if self.numbered or self._numbers_rows(0):
            return 0
        plain = [i for i, name in enumerate(self.names) if stems(name) in (["id"], ["no"], ["nr"], ["number"])]
        own = plain[0] if len(plain) == 1 else self._own({"id", "no", "nr", "number"})
        own = None if own is not None and self.kind(own) in ("moment", "flag") else own
        counts = own is not None and self.kind(own) == "number" and words(self.names[own]) != stems(self.names[own])
        return None if counts else own  # "visits" of a page say how many

    def _own(self, more: set[str]) -> int | None:
        first = 1 if self.numbered and "name" in more else 0
        own = (more | self._alike) - {"stock"}  # which says how many of them there are
        return only([i for i, name in enumerate(self.names) if i >= first and {*stems(name)} <= own])

    def holding(self, pattern: str) -> int | None:
        """The one column of which each shown cell has a form, such as that of a weekday."""
        cells = map(self.shown, range(len(self.names)))
        return only([i for i, of in enumerate(cells) if of and all(re.fullmatch(pattern, one.strip()) for one in of)])

    def duration(self) -> int | None:
        """The one column of times that something took, as h:mm:ss."""
        timed = {"time", "finish", "finishing", "net", "chip"} if _RACES & {*self.of_file, self.rows_are} else set()
        lasting = [
            i for i, own in enumerate(map(words, self.names)) if {"duration", "elapsed"} & {*own} or {*own} <= timed
        ]
        cells = self.shown(lasting[0]) if len(lasting) == 1 else []
        return lasting[0] if cells and all(re.fullmatch(r"\d{1,2}:\d\d:\d\d", cell) for cell in cells) else None

    @cached_property
    def _said(self) -> dict[tuple[str, ...], list[int]]:
        """How a question may say each column, surest first: another column gives way to one that is said in full."""
        found: dict[tuple[str, ...], list[int]] = {}
        for ways in (in_full, in_short, by_one_word):
            sure = set(found)
            for column, name in enumerate(self.names):
                for way in ways(name):
                    if {*way} <= {"how", "many", "much"}:
                        continue  # a column of that name is meant by what it counts
                    timed = ways is in_short and self.kind(column) == "number" and "time" in words(name)
                    if timed and "time" not in way:
                        continue  # "pickings" are no "Picking time (min)"
                    if way and way not in sure:
                        found.setdefault(way, []).append(column)
        return {way: list(dict.fromkeys(columns)) for way, columns in found.items()}

    @cached_property
    def _in_full(self) -> set[tuple[str, ...]]:
        return {way for name in self.names for way in in_full(name)}

    def marked(self, phrase: str) -> str:
        """`phrase` with its columns and rows marked. Raises `CannotAnswerError` for what may be two columns."""
        said: list[str] = []
        for part in re.split(rf"({QUOTED})", phrase):
            said.append(self._quoted(part) if re.fullmatch(QUOTED, part) else self._marked(part))
        text = re.sub(
            rf"(?:the )?(?:columns?|fields?) ({COLUMN})|({COLUMN}) (?:columns?|fields?)", r"\1\2", "".join(said)
        )
        moments = "|".join(str(i) for i in range(len(self.names)) if self.kind(i) == "moment")
        return re.sub(rf"(#(?:{moments})#) (?:dates?|times?)\b", r"\1", text, flags=re.I) if moments else text

    def _quoted(self, part: str) -> str:
        return f"#{self.names.index(part[1:-1])}#" if part[1:-1] in self.names else part

    def _marked(self, text: str) -> str:
        found: list[str] = []
        tokens = re.split(r"([^\W_]+(?:_[^\W_]+)*)", text)
        position = 0
        while position < len(tokens):
            if self._is_done_at(tokens, position) or (position > 1 and tokens[position - 1] == "-"):  # an "e-bike"
                found.append(tokens[position])
                position += 1
                continue
            taken, column = self._column_at(tokens, position)
            if taken == 1 and self._is_rows_at(tokens, position) and (*stems(tokens[position]),) not in self._in_full:
                column = ROWS
            found.append(column or tokens[position])
            position += taken
        return "".join(found)

    def _column_at(self, tokens: list[str], start: int) -> tuple[int, str | None]:
        if start % 2 == 0:
            return 1, None
        for end in range(min(start + 9, len(tokens) - 1), start, -2):
            between = "".join(tokens[start + 1 : end : 2])
            way = tuple(stems(" ".join(tokens[start:end:2])))
            if (
                between.strip(" ")
                or way not in self._said
                or (end == start + 1 and tokens[start].lower() in NEVER | {"first", "last"})
            ):
                continue
            columns = self._said[way]
            kinds = {self.kind(column): column for column in columns}
            asked = re.match(r"(?:which|list|names?|who)\b", tokens[1] if len(tokens) > 1 else "", re.I)
            if (
                len(columns) == len(kinds) == 2
                and {*kinds} == {"text", "number"}
                and (asked or way == (*words(tokens[start]),))
            ):
                return end - start, f"#{kinds['text']}#"  # a guest is named, guests may be counted
            if len(columns) > 1 and end == start + 1 and re.search("ed$|paid|sold", tokens[start], re.I):
                return 1, None  # what was done
            if len(columns) > 1:
                names = ", ".join(self.names[column] for column in columns)
                raise CannotAnswerError(f'"{" ".join(tokens[start:end:2])}" may be {names}; name one.')
            return end - start, f"#{columns[0]}#"
        return 1, None

    def _is_done_at(self, tokens: list[str], position: int) -> bool:
        """Whether a word for rows is what was done: "how many lamps did we order"."""
        word = tokens[position].lower()
        counts = [name for i, name in enumerate(self.names) if self.kind(i) == "number" and words(name) == [f"{word}s"]]
        texts = [name for i, name in enumerate(self.names) if self.kind(i) == "text" and words(name) == [word]]
        own = position % 2 and (word in self._alike or bool(counts or texts))
        return bool(own and _DOING.search("".join(tokens[:position])))

    def is_cell(self, text: str) -> bool:
        """Whether a text is a whole cell of those that are shown, letter by letter."""
        return any(text == cell.strip() for row in self.samples for cell in row)

    def _is_doer(self, stem: str) -> bool:
        """Whether a word says who did what a row is: runners of a run."""
        done = self.rows_are.removesuffix("ing") or self.rows_are
        return done != "" and stem in (f"{done}er", f"{done}{done[-1]}er")

    def stands_for_row(self, word: str) -> bool:
        """Whether a word says one row, not several."""
        return stems(word) == [word.lower()] and (word.lower() in self._called or self._is_doer(word.lower()))

    def _is_rows_at(self, tokens: list[str], position: int) -> bool:
        word = tokens[position]
        named = word[:1].isupper() and any(map(str.isalnum, tokens[:position])) and self.rows_are not in stems(word)
        if named or (position > 1 and self.is_cell(word)):
            return False  # orders for Sales
        if position % 2 == 0 or word.lower() in NEVER or (word.lower() in MASSES and self.money):
            return False
        stem = next(iter(stems(word)), "")
        whole = len(stem) > 4 and self.rows_are.endswith(stem)  # a houseplant is a plant
        before = tokens[position - 2].lower() if position > 1 else ""
        noun = word.endswith("s") or before in (
            "longest",
            "shortest",
            "last",
            "first",
            "each",
            "per",
            "the",
            "every",
            "a",
        )
        doing = root(self.rows_are) if self.rows_are.endswith("ing") else ""
        if noun and doing and root(stem) in (doing, doing[:-1] if doing[-1] == doing[-2:-1] else doing):
            return True  # a run of running.csv
        if word.lower() in ("things", "items") and self.label() is None:
            return False
        return stem in self._called or whole or self._is_doer(stem) or re.fullmatch(GENERIC, word, re.I) is not None
