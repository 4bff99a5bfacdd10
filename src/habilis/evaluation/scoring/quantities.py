"""Numbers with units, as people write them, and when two of them are the same quantity."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from habilis.evaluation.scoring.latex import on_the_line
from habilis.evaluation.scoring.measures import Measure, measure_at
from habilis.evaluation.scoring.wording import in_digits

TOLERANCE = 1e-6
"""Relative difference of two numbers that count as equal."""
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12, "万": 1e4, "亿": 1e8}
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
"""Only after money, for elsewhere they are units."""
_IN_PARTS = frozenset(("time", "length", "mass", "months"))
"""Kinds of which one quantity is written in two or three units: 2 h 30 min, 5 ft 11 in."""

_SIGN = r"[-+−]?"
_SYMBOL = r"(?:US\$|[$€£¥₹]|(?:USD|EUR|GBP|JPY|CNY|RMB|INR)\b)"
_DIGITS = r"(?:\d{1,3}(?:[,.'’_  ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|[.]\d+)(?![.,]?\d)"
_POWER = r"(?:[eE][-+]?\d{1,4}(?!\w)|\s*[x×*·]\s*1e[-+]?\d{1,4})"
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_FOUND = re.compile(
    rf"(?<![\w.,])(?P<sign>{_SIGN})\s?(?P<money>{_SYMBOL})?\s?(?P<sign2>{_SIGN})"
    rf"(?:(?P<ones>\d{{1,6}})\s(?=\d{{1,6}}/\d))?(?P<digits>{_DIGITS})"
    rf"(?:/(?P<under>\d+)(?![\d/.]))?(?P<power>{_POWER})?"
    rf"(?:(?<=[0-9)])\s?(?P<scale>{_SCALE}|[kKmMbBtT](?![\w/]))(?![a-zA-Z/]))?",
    re.IGNORECASE,
)
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_POWER_OF_TEN = re.compile(r"(?<![\w.,])10\s*(?:\^|\*\*)\s*\(?([-+−]?\d{1,4})\)?(?![\w.])")
_FRACTION = re.compile(r"[¼-¾⅐-⅞]")
_FEET = re.compile(r"(?<![\w.])(\d{1,2})\s?['’′]\s?(\d{1,2}(?:\.\d+)?)\s?(?:[\"”″]|'')")
_OTHER_WORD = re.compile(r"\s*(?!(?:plus|max|min|most|least|maximum|minimum)\b)([^\W\d_]{2,})\s*[.!]?\s*")
_DECADE = re.compile(r"[12]\d\d0['’]?s\b")
_AD = re.compile(r"\b(?:AD|CE)\s+(\d{1,4})\b")
_AND = re.compile(r"\s?(?:,|and|&)?\s?")


@dataclass(frozen=True)
class Quantity:
    """A number and what it counts.

    `number` is as written, scale words included; `units` are what its unit may be (a pound is money or a mass), none
    where none was written. `whole` holds the digits of a plain integer, which is compared digit by digit: a count or
    an id is right or wrong.
    """

    number: float
    units: tuple[Measure, ...] = ()
    whole: str = ""

    @property
    def kind(self) -> str:
        """The kind of the unit; "" where none was written."""
        return self.units[0].kind if self.units else ""


@dataclass(frozen=True)
class Placed:
    """A quantity at `start` to `end` of the plain text."""

    quantity: Quantity
    start: int
    end: int


def quantity(text: str) -> Quantity | None:
    """The quantity that `text` is, with at most one word of another kind after it (`12 apples`); None otherwise."""
    line = plain(text).strip()
    first = next(placed_in(line), None)
    if first is None or first.start or _DECADE.match(line):
        return None
    made, rest = first.quantity, line[first.end :]
    if not rest.strip(" .!"):
        return made
    word = _OTHER_WORD.fullmatch(rest)
    if word is None or made.units or not _begins_with_digits(text):
        return None
    return Quantity(made.number, (Measure(word[1].casefold().removesuffix("s")),), made.whole)


def _begins_with_digits(text: str) -> bool:
    """Whether the number is written in digits: `Seven Samurai` is a name."""
    return bool(re.match(r"\W*\d", on_the_line(text)))


def quantities(text: str) -> list[Quantity]:
    """All quantities in a text, in order."""
    return [placed.quantity for placed in placed_in(plain(text))]


def placed_in(line: str) -> Iterator[Placed]:
    """All quantities in a text that is `plain`, each with its place; what is written in several units is one."""
    before: Placed | None = None
    for found in _numbers(line):
        joined = _joined(before, found, line) if before else None
        if before and not joined:
            yield before
        before = joined or found
    if before:
        yield before


def _numbers(line: str) -> Iterator[Placed]:
    place = 0
    while found := _FOUND.search(line, place):
        made = _made(found, line)
        place = max(found.end(), found.start() + 1, made.end if made else 0)
        if made:
            yield made


def _joined(one: Placed, other: Placed, line: str) -> Placed | None:
    """Both as one quantity where the second goes on in a smaller unit; None where it is another quantity."""
    if not _AND.fullmatch(line, one.end, other.start):
        return None
    for unit in one.quantity.units:
        for smaller in other.quantity.units:
            if unit.kind == smaller.kind and unit.kind in _IN_PARTS and unit.factor > smaller.factor:
                total = _based(one.quantity.number, unit) + _based(other.quantity.number, smaller)
                # in the smaller unit, so that a third one may follow
                number = total / float(smaller.factor)
                return Placed(Quantity(number, (smaller,)), one.start, other.end)
    return None


def same_quantity(one: Quantity, other: Quantity, tolerance: float | None = None) -> tuple[bool, str]:
    """Whether both are the same, and why (not). Symmetric.

    A unit that one side leaves out is no fault, one that contradicts is. Five percent may be written 5%, 5 and 0.05.
    Plain integers must be equal digit by digit unless a `tolerance` (relative) is given.
    """
    pairs = [(mine, its) for mine in one.units for its in other.units if mine.kind == its.kind]
    if one.units and other.units and not pairs:
        return False, f"the units differ: {' and '.join(sorted((one.kind, other.kind)))}"
    if any(_same(one, other, *pair, tolerance) for pair in pairs) or (
        not pairs and _same_number(one, other, tolerance)
    ):
        return True, ""
    if {one.kind, other.kind} == {"percent", ""}:
        percent, bare = (one, other) if one.kind else (other, one)
        if _near(percent.number / 100, bare.number, tolerance):
            return True, "a percentage written as a fraction"
    return False, "the numbers differ"


def _same(one: Quantity, other: Quantity, mine: Measure, its: Measure, tolerance: float | None) -> bool:
    if mine == its:
        return _same_number(one, other, tolerance)
    return _near(_based(one.number, mine), _based(other.number, its), tolerance)


def _same_number(one: Quantity, other: Quantity, tolerance: float | None) -> bool:
    if tolerance is None and one.whole and other.whole:
        return one.whole == other.whole
    return _near(one.number, other.number, tolerance)


def _based(number: float, unit: Measure) -> float:
    return number * float(unit.factor) + float(unit.offset)


def _near(one: float, other: float, tolerance: float | None) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE if tolerance is None else tolerance, abs_tol=1e-12)


def plain(text: str) -> str:
    """`text` in NFKC, with LaTeX, powers, fractions and number words written on the line: 10⁵ is 1e5, ½ is 1/2."""
    raised = _RAISED.sub(lambda found: "^" + found[0].translate(_SUPER), on_the_line(text))
    apart = _FRACTION.sub(lambda found: f" {found[0]}", raised)
    level = unicodedata.normalize("NFKC", apart).replace("⁄", "/")
    level = _POWER_OF_TEN.sub(lambda found: "1e" + found[1].replace("−", "-"), level)
    return in_digits(_AD.sub(r"\1 AD", _FEET.sub(r"\1 ft \2 in", level)))


def _made(found: re.Match[str], line: str) -> Placed | None:
    read = _number(found["digits"])
    if read is None:
        return None
    number, whole = read
    under = float((found["under"] or "1")[:300])
    if not under:
        return None
    scale, units, end = _unit_of(found, line)
    number *= scale * (_power(found["power"]) if found["power"] else 1.0) / under
    number += float(found["ones"] or 0)
    if found["under"] or found["power"] or scale != 1.0:
        whole = ""
    if "-" in (found["sign"] + found["sign2"]).replace("−", "-"):
        number, whole = -number, f"-{whole}" if whole and whole != "0" else whole
    return Placed(Quantity(number, units, whole), found.start(), end) if math.isfinite(number) else None


def _unit_of(found: re.Match[str], line: str) -> tuple[float, tuple[Measure, ...], int]:
    """Scale, what the unit may be, where it ends: `5 m` is metres, `$5 m` millions, `5k` thousands, `5 K` no scale."""
    money = measure_at(found["money"], 0)[0] if found["money"] else ()
    word, end = (found["scale"] or "").casefold(), found.end()
    scale = _SCALES.get(word, 1.0)
    if word in _SHORT_SCALES:
        close = found.start("scale") == found.end("power" if found["power"] else "digits")
        if money or (word == "k" and close):
            scale = _SHORT_SCALES[word]
        else:
            end = found.start("scale")
    after = end + (line[end : end + 1] == " ")
    units, behind = measure_at(line, after)
    if not units or money:
        return scale, money, end if not (units and money) else behind
    return scale, units, behind


def _power(text: str) -> float:
    exponent = int(text.lower().rpartition("e")[2])
    return 10.0**exponent if exponent <= 308 else math.inf


def _number(digits: str) -> tuple[float, str] | None:
    """The value of written digits, and the digits of a plain integer. Groups of three are thousands: 1,234 · 1.234.567.

    One comma before any other number of digits is a decimal one (1,5); one point always is (1.234).
    """
    text = re.sub(r"['’_  ]", "", digits)
    last = max(text.rfind(","), text.rfind("."))
    mark = text[last] if last >= 0 else ""
    groups = bool(re.fullmatch(r"\d{1,3}(,\d{3})+", text)) or text.count(mark) > 1 if mark else False
    if groups:
        text = text.replace(mark, "")
    elif mark:
        text = re.sub(r"[.,]", "", text[:last]) + "." + text[last + 1 :]
    try:
        value = float(text)
    except ValueError:
        return None
    whole = (text.lstrip("0") or "0") if text.isdecimal() and text.isascii() else ""
    return value, whole
