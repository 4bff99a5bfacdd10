"""What the sources of an answer hold, read once and as late as can be."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property

from habilis.grounding.listed import counts
from habilis.grounding.wording import language, says_decrease
from habilis.values.moments import WEEKDAYS, Clock, Day
from habilis.values.numbers import EXACT, Number, NumberReading, carried, scales_named
from habilis.values.plain import folded, plain
from habilis.values.scanning import Values, scan
from habilis.values.units import Unit, units_of

SEARCHED = 2_000_000
"""Characters of all sources that are searched for what stands in them letter by letter."""
READ = 100_000
"""Characters of them that are read for numbers and dates; beyond it only the digits as they stand count."""
_WORD = re.compile(r"[^\W_]+")
_NOT_ALNUM = re.compile(r"[\W_]+")


def squeezed(text: str) -> str:
    """Letters and digits of `text` alone, folded."""
    return _NOT_ALNUM.sub("", folded(text))


class Amounts:
    """Values in order, to find whether one lies within bounds."""

    def __init__(self, values: Iterable[Decimal]) -> None:
        self._values = sorted(value for value in set(values) if value.is_finite())

    def between(self, low: Decimal, high: Decimal) -> bool:
        """Whether a value lies from `low` to `high`, both included."""
        place = bisect_left(self._values, low)
        return place < len(self._values) and self._values[place] <= high


class Known:
    """The sources of an answer: findings first, then whatever else it may rest on, and the `question`."""

    def __init__(self, sources: Sequence[str], question: str = "", *, folders: Sequence[str] = ()) -> None:
        """`folders` are where the task's files lie: numbers in their names say nothing."""
        self.question = question
        self._findings = [source for source in sources if source]
        self.sources = [source for source in (*self._findings, question) if source]
        self._text = "\n\n".join(self.sources)[:SEARCHED]
        self._folders = sorted(folders, key=len, reverse=True)

    @cached_property
    def text(self) -> str:
        """All that is searched, in plain form and folded."""
        return folded(plain(self._text).text)

    @cached_property
    def lines(self) -> str:
        """`text` with every run of spaces as one, for longer passages."""
        return " ".join(self.text.split())

    @cached_property
    def letters(self) -> str:
        """Letters and digits of `text` alone."""
        return _NOT_ALNUM.sub("", self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that stand with a capital letter, folded."""
        return frozenset(folded(word) for word in _WORD.findall(self._text) if word[0].isupper())

    @cached_property
    def scripts(self) -> frozenset[str]:
        return scripts(self._text)

    @cached_property
    def own_scripts(self) -> frozenset[str]:
        """The scripts of the findings."""
        return scripts(self.sources[0]) if self.sources else frozenset()

    @cached_property
    def asked_units(self) -> set[Unit]:
        """Units that the question names, and so asks for or gives."""
        return _units_in(plain(self.question).text)

    @cached_property
    def language(self) -> str:
        """The language of the findings."""
        return language(self.sources[0]) if self.sources else ""

    @cached_property
    def _read(self) -> str:
        text = self._text[:READ]
        for folder in self._folders:
            text = text.replace(folder, "")
        return plain(text).text

    @cached_property
    def values(self) -> Values:
        return scan(self._read)

    @cached_property
    def was_cut(self) -> bool:
        """Whether there is more than was read for values."""
        return len(self._text) > READ

    @cached_property
    def says_decrease(self) -> bool:
        """Whether the sources, the question apart, say in words what a minus says."""
        return any(says_decrease(plain(source[:READ]).text) for source in self._findings)

    @cached_property
    def readings(self) -> list[NumberReading]:
        """Every reading of every number that stands there."""
        found = [reading for number in self.values.numbers for reading in number.readings]
        found += carried(self.values.numbers)
        found += [NumberReading(piece, Decimal(1)) for number in self.values.numbers for piece in number.pieces]
        found += [NumberReading(Decimal(year), Decimal(1)) for year in self.years]
        found += [NumberReading(Decimal(c.hour), Decimal(1)) for c in self.clocks if not c.minute]
        marks = " ".join(mark.text for mark in self.values.marks)
        found += [NumberReading(Decimal(digits), Decimal(1)) for digits in re.findall(r"\d{1,9}", plain(marks).text)]
        return found

    @cached_property
    def raw(self) -> Amounts:
        """The values as they are written, whatever their units."""
        return Amounts(reading.value for reading in self.readings)

    @cached_property
    def bare(self) -> Amounts:
        """The values without a unit."""
        return Amounts(reading.value for reading in self.readings if reading.unit is None)

    @cached_property
    def based(self) -> dict[str, Amounts]:
        """The values with a unit, in the base unit of each kind. What is written like a time may be a duration."""
        found: dict[str, list[Decimal]] = defaultdict(list)
        for reading in self.readings:
            if reading.unit is not None:
                found[reading.kind].append(reading.based(reading.value))
        for clock in self.clocks:
            seconds = clock.second or 0
            found["time"].append(Decimal(clock.hour * 3600 + clock.minute * 60 + seconds))
            if clock.second is None:
                found["time"].append(Decimal(clock.hour * 60 + clock.minute))
        return {kind: Amounts(values) for kind, values in found.items()}

    @cached_property
    def counts(self) -> frozenset[int]:
        """How many things are listed, for each list that stands in the sources."""
        return frozenset(count for source in self.sources for count in counts(source[:READ]))

    @cached_property
    def scales(self) -> set[Decimal]:
        return scales_named(self._read)

    def units(self, kind: str) -> set[Unit]:
        """Units of one kind that are named in the sources, in keys as well (`distance_m`)."""
        return {unit for unit in self._units if unit.kind == kind}

    @cached_property
    def _units(self) -> set[Unit]:
        return _units_in(self._read)

    @cached_property
    def days(self) -> frozenset[Day]:
        found = {day for moment in self.values.moments for day in moment.days}
        written = [number for number in self.values.numbers if number.form == "digits"]
        return frozenset(found | {day for number in written for day in _as_day(number)})

    @cached_property
    def clocks(self) -> frozenset[Clock]:
        return frozenset(moment.clock for moment in self.values.moments if moment.clock)

    @cached_property
    def years(self) -> frozenset[int]:
        return frozenset(day.year for moment in self.values.moments for day in moment.days if day.year)

    @cached_property
    def weekdays(self) -> frozenset[int]:
        """Weekdays that are named, or that a date in the sources falls on."""
        named = {day.weekday for day in self.days if day.weekday is not None}
        named |= {WEEKDAYS[word] for word in self.words if word in WEEKDAYS}
        return frozenset(named | {real.weekday() for day in self.days if (real := day.real())})


def scripts(text: str) -> frozenset[str]:
    """Names of the scripts that letters of `text` belong to, as Unicode begins their names."""
    letters = plain("".join(sorted(set(text)))).text
    names = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters if letter.isalpha()}
    return frozenset(names - {"MASCULINE", "FEMININE", "MICRO", "MODIFIER"})


def _units_in(text: str) -> set[Unit]:
    words = set(re.findall(r"[^\W\d_]+(?:\^?\d)?|[%‰°$€£¥₹]", text))
    return {unit for word in words for unit in units_of(word) if word != "in"}


def _as_day(number: Number) -> list[Day]:
    """The date that eight digits in a row may be: 20240301."""
    value = number.readings[0].value
    if not 10**7 <= value < 10**8 or value != EXACT.to_integral_value(value):
        return []
    digits = str(int(value))
    day = Day(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    return [day] if day.real() else []
