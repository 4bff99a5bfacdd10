"""Numbers with units, as people write them, and when two of them are the same quantity."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

from habilis.values.units import TABLE

TOLERANCE = 1e-6
"""Relative difference of two numbers that count as equal."""
_UNITS = {unit: (kind, factor) for kind, units in TABLE.items() for unit, factor in units.items()}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12, "万": 1e4, "亿": 1e8}
_SHORT_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
"""Only behind money, for elsewhere they are units."""

_SIGN = r"[-+−]?"
_SYMBOL = r"(?:US\$|[$€£¥₹]|(?:USD|EUR|GBP|JPY|CNY|RMB|INR)\b)"
_DIGITS = r"(?:\d{1,3}(?:[,.'’_  ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?|[.]\d+)(?![.,]?\d)"
_POWER = r"(?:[eE][-+]?\d{1,4}(?!\w)|\s*[x×*·]\s*1e[-+]?\d{1,4})"
_WORD = "|".join(re.escape(w) for w in sorted({*_UNITS, *_SCALES}, key=len, reverse=True))
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_FOUND = re.compile(
    rf"(?<![\w.,])(?P<sign>{_SIGN})\s?(?P<money>{_SYMBOL})?\s?(?P<sign2>{_SIGN})(?P<digits>{_DIGITS})"
    rf"(?:/(?P<under>\d+)(?![\d/.]))?(?P<power>{_POWER})?"
    rf"(?:(?<=[0-9)])\s?(?P<scale>{_SCALE}|[kKmMbBtT](?![\w/]))(?![a-zA-Z/]))?"
    rf"(?:\s?(?P<unit>{_WORD})(?![a-zA-Z0-9/]))?",
    re.IGNORECASE,
)
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_POWER_OF_TEN = re.compile(r"(?<![\w.,])10\s*(?:\^|\*\*)\s*\(?([-+−]?\d{1,4})\)?(?![\w.])")
_FRACTION = re.compile(r"[¼-¾⅐-⅞]")
_OTHER_WORD = re.compile(r"\s*([^\W\d_]{2,})\s*[.!]?\s*")


@dataclass(frozen=True)
class Quantity:
    """A number and what it counts.

    `number` is as written, scale words included; `kind` is the kind of its unit, "" where none was written, and
    `factor` leads to the base unit of that kind. `whole` holds the digits of a plain integer, which is compared digit
    by digit: a count or an id is right or wrong.
    """

    number: float
    kind: str = ""
    factor: float = 1.0
    whole: str = ""


def quantity(text: str) -> Quantity | None:
    """The quantity that `text` is, with at most one word of another kind behind it (`12 apples`); None otherwise."""
    plain = _plain(text).strip()
    found = _FOUND.match(plain)
    made = _made(found) if found else None
    if found is None or made is None:
        return None
    rest = plain[found.end() :]
    if not rest.strip(" .!"):
        return made
    word = _OTHER_WORD.fullmatch(rest)
    if word is None or made.kind:
        return None
    return Quantity(made.number, word[1].casefold().removesuffix("s"), 1.0, made.whole)


def quantities(text: str) -> list[Quantity]:
    """All quantities in a text, in order."""
    return [made for found in _FOUND.finditer(_plain(text)) if (made := _made(found)) is not None]


def same_quantity(one: Quantity, other: Quantity, tolerance: float | None = None) -> tuple[bool, str]:
    """Whether both are the same, and why (not). Symmetric.

    A unit that one side leaves out is no fault, one that contradicts is. Five percent may be written 5%, 5 and 0.05.
    Plain integers must be equal digit by digit unless a `tolerance` (relative) is given.
    """
    if one.kind and other.kind and one.kind != other.kind:
        return False, f"the units differ: {' and '.join(sorted((one.kind, other.kind)))}"
    alike = not (one.kind and other.kind) or one.factor == other.factor
    if alike and tolerance is None and one.whole and other.whole:
        same = one.whole == other.whole
    else:
        one_value, other_value = (q.number if alike else q.number * q.factor for q in (one, other))
        same = _near(one_value, other_value, tolerance)
    if same:
        return True, ""
    if {one.kind, other.kind} == {"percent", ""}:
        percent, bare = (one, other) if one.kind else (other, one)
        if _near(percent.number / 100, bare.number, tolerance):
            return True, "a percentage written as a fraction"
    return False, "the numbers differ"


def _near(one: float, other: float, tolerance: float | None) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE if tolerance is None else tolerance, abs_tol=1e-12)


def _plain(text: str) -> str:
    """`text` in NFKC, with powers and fractions written on the line: 10⁵ is 1e5, ½ is 1/2."""
    raised = _RAISED.sub(lambda found: "^" + found[0].translate(_SUPER), text)
    apart = _FRACTION.sub(lambda found: f" {found[0]}", raised)
    level = unicodedata.normalize("NFKC", apart).replace("⁄", "/")
    return _POWER_OF_TEN.sub(lambda found: "1e" + found[1].replace("−", "-"), level)


def _made(found: re.Match[str]) -> Quantity | None:
    read = _number(found["digits"])
    if read is None:
        return None
    number, whole = read
    under = float((found["under"] or "1")[:300])
    scale, kind, factor = _unit_of(found)
    if not under:
        return None
    number *= scale * (_power(found["power"]) if found["power"] else 1.0) / under
    if found["under"] or found["power"] or scale != 1.0:
        whole = ""
    if "-" in (found["sign"] + found["sign2"]).replace("−", "-"):
        number, whole = -number, f"-{whole}" if whole and whole != "0" else whole
    return Quantity(number, kind, factor, whole) if math.isfinite(number) else None


def _unit_of(found: re.Match[str]) -> tuple[float, str, float]:
    """Scale, kind of unit and its factor: `5 m` is metres, `$5 m` millions, `5k` thousands and `5 K` no scale."""
    money, unit = (_UNITS.get((found[name] or "").casefold(), ("", 1.0)) for name in ("money", "unit"))
    word = (found["scale"] or "").casefold()
    scale = _SCALES.get(word, 1.0)
    if word in _SHORT_SCALES:
        close = found.start("scale") == found.end("power" if found["power"] else "digits")
        if money[0] or (word == "k" and close):
            scale = _SHORT_SCALES[word]
        elif not unit[0]:
            unit = _UNITS.get(word, ("", 1.0))
    return scale, money[0] or unit[0], money[1] * unit[1]


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
