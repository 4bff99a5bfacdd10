"""Numbers and dates of an answer: by which rule they follow from what is known."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from habilis.grounding.known import Amounts, Known, squeezed
from habilis.grounding.listed import counts
from habilis.grounding.wording import HEDGE, says_decrease
from habilis.values.moments import Day, Moment
from habilis.values.numbers import EXACT, Number, NumberReading, scales_named
from habilis.values.scanning import Mark

_HALF = Decimal("0.5")
_LABEL = re.compile(r"(?:^|\n)[\s>*#|-]*$")
_STEP = re.compile(r"(?:step|schritt|étape|paso|item|#|no\.?|nr\.?)\s?$", re.IGNORECASE)
_VERSION = re.compile(r"^v(?=\d)")
_CENTURY = re.compile(r"\s?(?:centur|jahrhundert|jh\.|siècle|siglo|век|世纪|世紀)", re.IGNORECASE)
_NEAR = 30
"""Characters between a weekday and the date that it is said of."""
_LEAST_DIGITS = Decimal("0.01")
"""The coarsest decimal that a fraction may stand for: 0.67 is two thirds, 0.7 is not."""


@dataclass(frozen=True)
class Figures:
    """The numbers and dates of one answer, `text` in plain form, against what is `known`."""

    text: str
    known: Known
    moments: tuple[Moment, ...] = ()

    @cached_property
    def _own_counts(self) -> set[int]:
        return counts(self.text)

    @cached_property
    def _own_scales(self) -> set[Decimal]:
        return scales_named(self.text)

    @cached_property
    def _says_decrease(self) -> bool:
        signs = ("降", "减", "負", "负", "低", "マイナス", "零下")
        return says_decrease(self.text) or any(sign in self.text for sign in signs)

    def is_label(self, number: Number) -> bool:
        """Whether a number counts lines or steps or names a source, and says nothing: `1.`, `Step 2`, `[3]`."""
        before, after = self.text[max(0, number.start - 12) : number.start], self.text[number.end : number.end + 2]
        if self.text[number.start : number.end].endswith("."):
            after = "."
        if _LABEL.search(before) and after[:1] in (".", ")") and after[1:] in ("", " ", "*", "\n"):
            return self.text.strip() != self.text[number.start : number.end].strip()
        cited = before.endswith("[") and after.startswith("]") and number.start > 1 and len(number.readings) == 1
        return (cited and number.readings[0].value < 100) or bool(_STEP.search(before))

    def number(self, number: Number) -> str:
        """The rule by which `number` is known; "" where none holds."""
        if number.form == "decade":
            decade = int(number.readings[0].value)
            return "decade" if any(decade <= year < decade + 10 for year in self._years()) else ""
        for reading in number.readings:
            if rule := self._reading(reading, number):
                return self._named(rule, number)
        if number.form == "ordinal" and _CENTURY.match(self.text, number.end):
            century = int(number.readings[0].value)
            return "century" if any((year - 1) // 100 + 1 == century for year in self._years()) else ""
        if number.form == "digits" and number.pieces and " " in self.text[number.start : number.end]:
            return "as it stands" if all(self.known.raw.between(p, p) for p in number.pieces) else ""
        if number.form == "fraction" and self._both_parts(number):
            return "as it stands"
        digits = re.escape(self.text[number.start : number.end].lower())
        if self.known.was_cut and re.search(rf"(?<![\w.,]){digits}(?![\w]|[.,]\d)", self.known.text):
            return "as it stands"
        return ""

    def _years(self) -> set[int]:
        written = {year for year in range(1000, 2100) if self.known.raw.between(Decimal(year), Decimal(year))}
        return written | self.known.years

    def _named(self, rule: str, number: Number) -> str:
        """How a value that stands there stands: other words for it are a rule as well."""
        if rule != "as it stands":
            return rule
        written = self.text[number.start : number.end].lower()
        if written in self.known.text:
            return rule
        return {"digits": "separators", "word": "number words", "ordinal": "number words"}.get(number.form, number.form)

    def _both_parts(self, number: Number) -> bool:
        """Whether 17/20 are two numbers that are known, rather than a fraction."""
        parts = re.findall(r"\d+", self.text[number.start : number.end])
        return len(parts) == 2 and all(self.known.raw.between(Decimal(part), Decimal(part)) for part in parts)

    def _reading(self, reading: NumberReading, number: Number) -> str:
        slack = self._slack(reading, number)
        rule = self._within(reading, slack)
        if not rule and reading.value < 0 and self.known.says_decrease:
            rule = self._within(replace(reading, value=-reading.value), slack) and "sign in words"
        if not rule and reading.value > 0 and self._says_decrease:
            rule = self._within(replace(reading, value=-reading.value), slack) and "sign in words"
        if not rule and number.form == "fraction":
            rule = self._as_fraction(reading)
        return rule or self._counted(reading, number)

    def _slack(self, reading: NumberReading, number: Number) -> Decimal:
        """How far a known value may lie from the one said, which is rounded at the digits that it shows."""
        before = self.text[max(0, number.start - 24) : number.start]
        if not HEDGE.search(before):
            return EXACT.multiply(reading.step, _HALF)
        place = max(reading.step, _last_place(reading.value))
        several = len(EXACT.normalize(reading.value).as_tuple().digits) > 1
        return place if several else EXACT.multiply(place, _HALF)

    def _within(self, reading: NumberReading, slack: Decimal) -> str:
        """The rule by which a known value lies within `slack` of `reading`."""
        same = self.known.based.get(reading.kind) if reading.kind else self.known.raw
        if same and (rule := _rounded(same, reading, slack)):
            written = self.known.raw.between(reading.value, reading.value)
            return "unit" if rule == "as it stands" and not written else rule
        if not reading.kind:
            percents = self.known.based.get("percent")
            if percents and _rounded(percents, reading, slack):
                return "percent"
            return self._as_asked(reading, slack) or self._scaled(reading, slack) or self._in_own_scale(reading, slack)
        bare = replace(reading, unit=None)
        if (rule := _rounded(self.known.bare, bare, slack)) and not self._is_in_another_unit(reading):
            return rule
        if reading.kind == "percent" and _rounded(self.known.bare, reading, slack):
            return "percent"
        return self._other_unit(reading, slack) or self._scaled(bare, slack)

    def _is_in_another_unit(self, reading: NumberReading) -> bool:
        """Whether the sources name units of that kind, and the one that is said is none of them: `length_km = 1233`
        is not 1233 m."""
        named = self.known.units(reading.kind)
        return bool(named) and reading.unit not in named

    def _as_asked(self, reading: NumberReading, slack: Decimal) -> str:
        """A number alone, in a unit that the question asks for, where a quantity of that kind is known."""
        for unit in self.known.asked_units:
            same = self.known.based.get(unit.kind)
            if same and _rounded(same, replace(reading, unit=unit), slack):
                return "unit"
        return ""

    def _other_unit(self, reading: NumberReading, slack: Decimal) -> str:
        """Known numbers without a unit, where the sources name another unit of that kind: `distance_m = 42000`."""
        for unit in self.known.units(reading.kind) - {reading.unit}:
            low, high = (
                EXACT.divide(EXACT.subtract(reading.based(value), unit.offset), unit.factor)
                for value in (EXACT.subtract(reading.value, slack), EXACT.add(reading.value, slack))
            )
            if self.known.bare.between(*_loosened(low, high)):
                return "unit"
        return ""

    def _scaled(self, reading: NumberReading, slack: Decimal) -> str:
        """Known numbers of a table that says in which scale it is: `in thousands`."""
        for scale in self.known.scales:
            scaled = NumberReading(EXACT.divide(reading.value, scale), reading.step)
            if _rounded(self.known.bare, scaled, EXACT.divide(slack, scale)):
                return "scale"
        return ""

    def _in_own_scale(self, reading: NumberReading, slack: Decimal) -> str:
        """A number of a table whose head, in the answer, says in which scale it is."""
        for scale in self._own_scales:
            scaled = NumberReading(EXACT.multiply(reading.value, scale), reading.step)
            if _rounded(self.known.raw, scaled, EXACT.multiply(slack, scale)):
                return "scale"
        return ""

    def _as_fraction(self, reading: NumberReading) -> str:
        """A known decimal that is the fraction, rounded: 0.67 for two thirds; also as a percentage."""
        for known in self.known.readings:
            if known.kind not in ("", "percent") or not Decimal(0) < known.step:
                continue
            step = known.step if not known.unit else EXACT.multiply(known.step, known.unit.factor)
            value = known.based(known.value)
            if step <= _LEAST_DIGITS and abs(EXACT.subtract(value, reading.value)) <= EXACT.multiply(step, _HALF):
                return "fraction"
        return ""

    def _counted(self, reading: NumberReading, number: Number) -> str:
        value = reading.value
        if reading.kind or number.form == "fraction" or not 0 <= value < 10**6 or value != int(value):
            return ""
        if int(value) in self.known.counts or (value > 1 and int(value) in self._own_counts):
            return "count"
        if number.form == "ordinal":
            ranked = any(count >= value for count in self.known.counts)
            dated = any(int(value) in (day.day, day.quarter) for day in self.known.days)
            return "count" if ranked and value < 100 else "date" if dated else ""
        return ""

    def moment(self, moment: Moment) -> str:
        """The rule by which a date or a time is known; "" where none holds."""
        if moment.clock:
            return self._clock(moment)
        rules = [self._day(day, moment) for day in moment.days]
        return next((rule for rule in rules if rule), "")

    def _clock(self, moment: Moment) -> str:
        clock = moment.clock
        assert clock is not None
        if any(known[:2] == clock[:2] and clock.second in (None, known.second) for known in self.known.clocks):
            return "time"
        seconds = clock.hour * 3600 + clock.minute * 60 + (clock.second or 0)
        times = self.known.based.get("time")
        if times and any(times.between(Decimal(s) - 30, Decimal(s) + 30) for s in (seconds,)):
            return "unit"
        if times and clock.second is None and times.between(*[Decimal(clock.hour * 60 + clock.minute)] * 2):
            return "unit"
        if not clock.minute and self.known.raw.between(Decimal(clock.hour), Decimal(clock.hour)):
            return "time"
        return "time" if self.known.bare.between(*[Decimal(f"{clock.hour}.{clock.minute:02}")] * 2) else ""

    def _day(self, day: Day, moment: Moment) -> str:
        if day.weekday is not None:
            return self._weekday(day.weekday, moment)
        known = self.known.days
        if day.quarter:
            within = [k for k in known if k.quarter == day.quarter or (k.month and (k.month + 2) // 3 == day.quarter)]
            return "quarter" if any(day.year in (None, k.year) for k in within) else ""
        said = [(place, part) for place, part in enumerate(day) if part is not None]
        if any(all(k[place] == part for place, part in said) for k in known):
            return "date"
        if day.year and day.year in self.known.years | self._numbers_as_years(day.year):
            rest = [(place, part) for place, part in said if place]
            if any(all(k[place] == part for place, part in rest) and not k.year for k in known) or not rest:
                return "date"
        if (day.month, day.year, day.quarter, day.weekday) == (day.month, None, None, None) and day.day is None:
            return "date" if any(k.month == day.month for k in known) else ""
        return ""

    def _numbers_as_years(self, year: int) -> set[int]:
        return {year} if self.known.raw.between(Decimal(year), Decimal(year)) else set()

    def _weekday(self, weekday: int, moment: Moment) -> str:
        """A weekday beside a date must be that date's; any other is named in the sources, or falls on a date there."""
        near = [
            real
            for other in self.moments
            if 0 <= max(other.start - moment.end, moment.start - other.end) <= _NEAR
            for day in other.days
            if (real := day.real())
        ]
        if near:
            return "weekday" if any(real.weekday() == weekday for real in near) else ""
        return "weekday" if weekday in self.known.weekdays else ""

    def mark(self, mark: Mark) -> str:
        """Whether an identifier stands in the sources, whatever stands between its letters and digits."""
        bare = _VERSION.sub("", squeezed(mark.text))
        if bare and re.search(rf"(?<![^\W_]){re.escape(mark.text.lower())}(?![^\W_])", self.known.text):
            return "as it stands"
        if len(bare) > 5:
            return "separators" if bare in self.known.letters else ""
        return (
            "separators"
            if bare in {_VERSION.sub("", squeezed(known.text)) for known in self.known.values.marks}
            else ""
        )


def _last_place(value: Decimal) -> Decimal:
    """The worth of the last digit of a whole number that is not zero: 1200 is 100."""
    if value != EXACT.to_integral_value(value):
        return Decimal(0)
    exponent = EXACT.normalize(value).as_tuple().exponent
    return Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(0)


def _rounded(amounts: Amounts, reading: NumberReading, slack: Decimal) -> str:
    """Whether one of `amounts`, in the base unit of the reading, is its value, or is it when rounded."""
    exact = reading.based(reading.value)
    if amounts.between(*_loosened(exact, exact)):
        return "as it stands"
    low = reading.based(EXACT.subtract(reading.value, slack))
    high = reading.based(EXACT.add(reading.value, slack))
    return "rounding" if amounts.between(*_loosened(low, high)) else ""


def _loosened(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds with room for what factors of units lose in the last of many digits."""
    room = EXACT.multiply(max(abs(low), abs(high)), Decimal("1E-24"))
    return EXACT.subtract(low, room), EXACT.add(high, room)
