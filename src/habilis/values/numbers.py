"""Numbers in a text with their units, each with every way to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Literal

from habilis.core.patterns import lazy_pattern
from habilis.values.plain import blanked
from habilis.values.spelled import HAN_BIG, han_numerals, romans, spelled
from habilis.values.units import NAMES, Unit, unit_of_key, units_of

EXACT = Context(prec=60, traps=[])
"""Arithmetic of values: exact for all that people write, and never an exception."""
MOST_DIGITS = 60
"""Digits of a number; what has more is no number but a mark."""

Form = Literal["digits", "word", "roman", "ordinal", "fraction", "duration", "decade"]
_SCALES = {
    **dict.fromkeys(("k", "tsd", "thousand", "tausend", "mille", "mil", "тыс", "тысяч", "тысячи", "千", "ألف"), 3),
    **dict.fromkeys(("mio", "mn", "mm", "million", "millions", "millionen", "millón", "millones"), 6),
    **dict.fromkeys(("млн", "миллион", "миллиона", "миллионов", "مليون"), 6),
    **dict.fromkeys(("bn", "billion", "billions", "mrd", "milliarde", "milliarden", "milliard", "milliards"), 9),
    **dict.fromkeys(("млрд", "миллиард", "миллиарда", "миллиардов", "مليار"), 9),
    **dict.fromkeys(("trillion", "trillions", "trn", "billionen"), 12),
    **dict.fromkeys(("lakh", "lakhs", "लाख"), 5) | dict.fromkeys(("crore", "crores", "करोड़"), 7),
    **{sign: len(str(worth)) - 1 for sign, worth in HAN_BIG.items()},
    "mil millones": 9,
    "m": 6,
    "b": 9,
    "t": 12,
}
_ONLY_MONEY = frozenset(("b", "t", "mm"))
"""Scales that are none where no currency stands by."""
_MONEY = r"US\$|A\$|C\$|R\$|[$€£¥₹₽]|(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF)\b"


def _either(names: Sequence[str]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in sorted(set(names), key=len, reverse=True))


_CASED = r"A-Za-z\u00c0-\u024f\u0370-\u052f"
_GAP = r"(?:\\[,;: ]|~)?\s?(?:\\(?:text|mathrm|rm)\{\s?)?"
_UNIT = rf"(?P<unit>\\?%|{_either([name for name in NAMES if name not in ('%', 'in')])}|in(?=\s*(?:[.,;)]|$)))"
_DIGITS = (
    r"(?P<indian>\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?(?!\d))"
    r"|(?P<grouped>\d{1,3}(?P<mark>[,.'’_ ]|\\,|\{,\})\d{3}(?:(?P=mark)\d{3})*(?:[.,]\d+)?(?![.,]?\d))"
    r"|(?P<simple>\d+(?:[.,]\d+)?|(?<![^\s(=:$€£+-])[.,]\d+)"
)
_NUMBER = lazy_pattern(
    rf"(?<![{_CASED}0-9_^])(?<!\d[.,])"
    rf"(?P<sign>(?<![\w)\]%.])[-+]\s?)?(?P<money>\\?(?:{_MONEY})\s?)?(?P<sign2>-)?"
    rf"(?:10\s?(?:\^|\*\*)\s?[{{(]?(?P<bare>[-+]?\d{{1,4}})[)}}]?"
    rf"|\\d?frac\{{(?P<above>\d{{1,12}})\}}\{{(?P<below>\d{{1,12}})\}}"
    rf"|(?:(?P<ones>\d{{1,6}})\s)?(?P<over>\d{{1,12}})\s?/\s?(?P<under>\d{{1,12}})(?![\d/.,]\d|\d|/)"
    rf"|(?:{_DIGITS})"
    r"(?:(?P<power>[eE][-+]?\d{1,4})(?![\w])"
    r"|\s?(?:[x×*·⋅]|\\times|\\cdot)\s?10\s?(?:\^|\*\*)?\s?[{(]?(?P<ten>[-+]?\d{1,4})[)}]?)?)"
    rf"(?P<th>(?:st|nd|rd|th|er|ère|re|e|ème|º|ª)(?![{_CASED}])|\.(?=\s[a-zäöü]))?",
)
_SCALE = lazy_pattern(rf"{_GAP}(?P<scale>{_either(list(_SCALES))})\.?(?![{_CASED}])", re.IGNORECASE)
_UNITS = lazy_pattern(rf"{_GAP}-?{_UNIT}(?![{_CASED}]|['’][{_CASED}])", re.IGNORECASE)
_MONEY_AFTER = lazy_pattern(rf"\s?(?P<money>{_MONEY})")
_KEY = lazy_pattern(r"(?:[A-Za-z0-9]_|\()([A-Za-z]{1,8})\)?[\"']?\s?[:=|]\s?$")
_ROW = 24
"""Characters between two numbers of one row."""
_DECADE = lazy_pattern(rf"([12]\d\d0)(?:['’]?s|er(?:n|-Jahren?)?)(?![{_CASED}])")
_ENDS = frozenset((",", ";", "\n", "]", "}", "\0", ""))
"""Signs right behind a number that no unit follows."""
_LETTER = lazy_pattern(f"[{_CASED}_]")
_TWO_PARTS = lazy_pattern(r"\s?(?:,|and|und|et|y|и|)\s?", re.IGNORECASE)
_LONG_SCALES = _either([scale for scale in _SCALES if len(scale) > 1 or scale > "z"])
_THOUSANDS_HINT = lazy_pattern(
    rf"(?:\b(?:in|en)(?:\s[$€£])?|\(|单位[:：]\s?)\s?(?P<scale>{_LONG_SCALES}|k)s?(?![{_CASED}])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class NumberReading:
    """One way to read a number: its value, scale words and powers included, and the worth of its last digit shown."""

    value: Decimal
    step: Decimal
    unit: Unit | None = None

    @property
    def kind(self) -> str:
        return self.unit.kind if self.unit else ""

    def based(self, value: Decimal) -> Decimal:
        """`value`, which is in this reading's unit, in the base unit of its kind."""
        if self.unit is None:
            return value
        return EXACT.add(EXACT.multiply(value, self.unit.factor), self.unit.offset)


@dataclass(frozen=True)
class Number:
    """A number as it stands at `start` to `end`. `pieces` are the numbers that it is where its spaces divide.

    `sure`: it is a number and nothing else.
    """

    start: int
    end: int
    readings: tuple[NumberReading, ...]
    form: Form = "digits"
    pieces: tuple[Decimal, ...] = ()
    sure: bool = True
    scale: int = 0
    """The power of ten of its scale word."""


def numbers(text: str) -> Iterator[Number]:
    """The numbers in `text`, which is plain (`values.plain`), in digits first, then in words, where no digits stand."""
    found = list(_in_digits(text))
    yield from found
    yield from _durations(found, text)
    rest = blanked(text, [(number.start, number.end) for number in found])
    for word in spelled(rest):
        value = Decimal(word.value)
        form: Form = "fraction" if word.over > 1 else "ordinal" if word.ordinal else "word"
        reading = NumberReading(EXACT.divide(value, Decimal(word.over)), Decimal(0))
        end, readings = (word.end, (reading,)) if word.ordinal else _with_unit(rest, word.end, [reading])
        yield Number(word.start, end, readings, form, sure=word.sure)
    for word in han_numerals(rest):
        end, readings = _with_unit(rest, word.end, [NumberReading(Decimal(word.value), Decimal(0))])
        yield Number(word.start, end, readings, "word", sure=word.sure)
    for word in romans(rest):
        yield Number(word.start, word.end, (NumberReading(Decimal(word.value), Decimal(0)),), "roman", sure=word.sure)


def carried(found: Sequence[Number]) -> Iterator[NumberReading]:
    """Numbers of a row in the scale that its first one names: `12.4 million, then 14.1 and 13.9`."""
    scale, end = 0, 0
    for number in sorted(found, key=lambda one: one.start):
        if number.scale:
            scale = number.scale
        elif number.start - end > _ROW:
            scale = 0
        elif scale and number.form == "digits":
            for one in number.readings:
                yield replace(one, value=one.value.scaleb(scale, EXACT), step=one.step.scaleb(scale, EXACT))
        end = number.end


def scales_named(text: str) -> set[Decimal]:
    """Scales in which a text says that its numbers are: `in thousands`, `(Mio.)`."""
    found = {Decimal(1).scaleb(_SCALES[hint["scale"].lower()]) for hint in _THOUSANDS_HINT.finditer(text)}
    return found | ({Decimal(1000)} if re.search(r"\bT(?:EUR|€|\$)|\b000s\b|\b000'?s", text) else set())


def _in_digits(text: str) -> Iterator[Number]:
    place = 0
    while found := _NUMBER.search(text, place):
        number = _number(found, text)
        place = max(number.end if number else found.end(), found.start() + 1)
        if number:
            yield number


def _number(found: re.Match[str], text: str) -> Number | None:
    digits = found["indian"] or found["grouped"] or found["simple"]
    if digits and len(digits) > MOST_DIGITS:
        return None
    if decade := _DECADE.match(text, found.start()):
        return Number(found.start(), decade.end(), (NumberReading(Decimal(decade[1]), Decimal(10)),), "decade")
    form: Form = "fraction" if not digits and not found["bare"] else "ordinal" if found["th"] else "digits"
    pairs = _values(found)
    power = int(found["power"][1:]) if found["power"] else int(found["ten"] or 0)
    if power:
        # before a power of ten the point is a decimal one
        pairs = [(value.scaleb(power, EXACT), step.scaleb(power, EXACT)) for value, step in pairs[-1:]]
    if "-" in (found["sign"] or "") + (found["sign2"] or ""):
        pairs = [(-value, step) for value, step in pairs]
    money = (found["money"] or "").strip().lstrip("\\")
    after = found.end()
    if (money == "$" and text[after : after + 1] == "$") or "\\" in found[0]:
        money, after = "", after + (text[after : after + 1] == "$")  # the dollar signs of a formula
    readings = [NumberReading(*pair) for pair in pairs]
    if form == "ordinal":
        return Number(found.start(), after, tuple(readings), form)
    end = after
    scale = 0
    if text[after : after + 1] not in _ENDS:
        before = readings[0].step if readings else Decimal(1)
        end, readings = _scaled(text, after, readings, money)
        scale = readings[0].step.adjusted() - before.adjusted() if readings and before else 0
    end, final = _with_unit(text, end, readings, money, key=text[max(0, found.start() - 16) : found.start()])
    if not final or _LETTER.match(text, end):  # no number, or the beginning of a mark such as 5f4dcc
        return None
    return Number(found.start(), end, final, form, _pieces(found), scale=scale)


def _pieces(found: re.Match[str]) -> tuple[Decimal, ...]:
    """The numbers that a list without spaces, a row of numbers with them, or 17/20 as a score is made of."""
    if found["indian"] or found["mark"] == ",":
        return tuple(Decimal(piece) for piece in (found["indian"] or found["grouped"]).split(",") if piece)
    if found["mark"] == " ":
        return tuple(_with_step(piece.replace(",", "."))[0] for piece in found["grouped"].split())
    if found["over"]:
        return Decimal(found["over"]), Decimal(found["under"])
    return ()


def _values(found: re.Match[str]) -> list[tuple[Decimal, Decimal]]:
    """Each value that the digits may be, with the worth of its last digit."""
    if found["bare"]:
        return [(Decimal(1).scaleb(int(found["bare"]), EXACT), Decimal(0))]
    if found["above"] or found["over"]:
        above, below = Decimal(found["above"] or found["over"]), Decimal(found["below"] or found["under"])
        if not below:
            return []
        return [(EXACT.add(Decimal(found["ones"] or 0), EXACT.divide(above, below)), Decimal(0))]
    if found["indian"]:
        return [_with_step(found["indian"].replace(",", ""))]
    if found["grouped"]:
        return _of_groups(found["grouped"], found["mark"])
    return [_with_step(found["simple"].replace(",", "."))]


def _of_groups(digits: str, mark: str) -> list[tuple[Decimal, Decimal]]:
    pieces = digits.split(mark)
    last = re.split(r"[.,]", pieces[-1])
    whole = "".join(pieces[:-1]) + last[0]
    readings = [_with_step(".".join([whole, *last[1:]]))]
    if len(pieces) == 2 and mark in ",." and len(last) == 1:
        decimal = _with_step(".".join(pieces))
        return [decimal] if pieces[0].startswith("0") else [*readings, decimal]
    return readings


def _with_step(text: str) -> tuple[Decimal, Decimal]:
    decimals = len(text.partition(".")[2])
    return Decimal(text if not text.startswith(".") else f"0{text}"), Decimal(1).scaleb(-decimals)


def _scaled(text: str, end: int, readings: list[NumberReading], money: str) -> tuple[int, list[NumberReading]]:
    """The readings with the scale word that follows; one letter is a unit, unless money is meant or it stands close."""
    found = _SCALE.match(text, end)
    if found is None:
        return end, readings
    word = re.sub(r"\s", " ", found["scale"].lower())
    close = found.start("scale") == end
    after_money = money or _MONEY_AFTER.match(text, found.end())
    if len(word) == 1 and word.isascii() and not after_money and not (close and found["scale"] in "kKM"):
        return end, readings
    if word in _ONLY_MONEY and not after_money:
        return end, readings
    power = _SCALES[word]
    scaled = [
        replace(one, value=one.value.scaleb(power, EXACT), step=one.step.scaleb(power, EXACT)) for one in readings
    ]
    kelvin = [replace(one, unit=unit) for one in readings for unit in units_of("K") if found["scale"] == "K"]
    return found.end(), [*scaled, *kelvin]


def _with_unit(
    text: str, end: int, readings: Sequence[NumberReading], money: str = "", key: str = ""
) -> tuple[int, tuple[NumberReading, ...]]:
    """Where the number with its unit ends, and its readings in each unit that this may be."""
    found = _UNITS.match(text, end) if text[end : end + 1] not in _ENDS else None
    if money:
        units: tuple[Unit, ...] = units_of(money)
    elif found:
        units, end = units_of(re.sub(r"\s", " ", found["unit"].lstrip("\\"))), found.end()
    elif named := _KEY.search(key):
        units = unit_of_key(named[1])
        if len(named[1]) == 1 and units:
            return end, (*readings, *(replace(one, unit=unit) for one in readings for unit in units))
    else:
        units = ()
    if not units or any(one.unit for one in readings):
        return end, tuple(readings)
    return end, tuple(replace(one, unit=unit) for one in readings for unit in units)


def _durations(found: Sequence[Number], text: str) -> Iterator[Number]:
    """Quantities in two or three parts (2 h 5 min, 5 ft 7 in) as one."""
    for place, first in enumerate(found):
        parts = [first]
        for following in found[place + 1 : place + 4]:
            if not _goes_on(parts[-1], following, text):
                break
            parts.append(following)
        if len(parts) > 1:
            yield _as_one(parts)


def _goes_on(before: Number, after: Number, text: str) -> bool:
    one, two = before.readings[0].unit, after.readings[0].unit
    if not one or not two or one.kind != two.kind or one.factor <= two.factor or one.offset:
        return False
    return before.readings[0].kind in ("time", "length", "mass", "months") and bool(
        _TWO_PARTS.fullmatch(text, before.end, after.start)
    )


def _as_one(parts: Sequence[Number]) -> Number:
    total, last = Decimal(0), parts[-1].readings[0]
    for part in parts:
        total = EXACT.add(total, part.readings[0].based(part.readings[0].value))
    step = EXACT.multiply(last.step, last.unit.factor if last.unit else Decimal(1))
    return Number(parts[0].start, parts[-1].end, (NumberReading(total, step, Unit(last.kind)),), "duration")
