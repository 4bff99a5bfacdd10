"""To how many decimals a question wants its answer, and whether an answer keeps to that."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, NamedTuple

from habilis.core.patterns import lazy_pattern

_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_PLACES = {"whole number": 0, "integer": 0, "tenth": 1, "hundredth": 2, "cent": 2, "thousandth": 3}
_SAID = (
    r"[,;(]?\s{0,3}(?:\band\s+)?\b(?:please\s+)?(?:(?:round|give|write|state|report)(?:ed|ing|n)?\s+(?:off\s+)?"
    r"(?:(?:it|(?:the|your)\s+(?:answer|result|value))\s+)?)?(?:to|with)\s+"
)
_TO_WHAT = (
    r"(?:the\s+nearest\s+(?P<place>whole\s+number|integer|tenth|hundredth|cent|thousandth)"
    r"|(?P<count>\d|one|two|three|four|five|six)\s+(?:decimals?(?:\s+(?:places?|digits?))?"
    r"|digits?\s+after\s+the\s+(?:decimal\s+)?point))\b\)?"
)
_ASKED = lazy_pattern(_SAID + _TO_WHAT, re.IGNORECASE)
_NUMBER = lazy_pattern(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


class Rounding(NamedTuple):
    """How many decimals a question asks for, and the question without the words that say so."""

    places: int
    question: str


def rounding(question: str) -> Rounding | None:
    """What `question` says of rounding; None where it says nothing, or says it twice."""
    found = list(_ASKED.finditer(question))
    if len(found) != 1:
        return None
    (said,) = found
    place, count = said["place"], said["count"]
    places = _PLACES[" ".join(place.lower().split())] if place else int(_COUNTS.get(count.lower(), count))
    return Rounding(places, question[: said.start()] + question[said.end() :])


def rounded(value: Any, places: int) -> Any:
    """A result with each of its numbers rounded, half up as at school."""
    if isinstance(value, dict):
        return {key: rounded(one, places) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one, places) for one in value]
    if not isinstance(value, float):
        return value
    number = _quantized(value, places, ROUND_HALF_UP)
    return value if number is None else float(number) if places else int(number)


def keeps_to(places: int, answer: str, values: list[str]) -> bool:
    """Whether `answer` gives the numbers among `values`, rounded to `places` decimals, and no number with more."""
    told = [Decimal(number.replace(",", "")) for number in _NUMBER.findall(answer)]
    if not told or any(-int(number.as_tuple().exponent) > places for number in told):
        return False
    ways = {_quantized(value, places, way) for value in values for way in (ROUND_HALF_UP, ROUND_HALF_EVEN)}
    return any(number in ways for number in told)


def _quantized(value: str | float, places: int, way: str) -> Decimal | None:
    """`value`, rounded; None for what is not a number of ordinary size."""
    try:
        number = Decimal(str(value))
        return number.quantize(Decimal(1).scaleb(-places), way) if number.is_finite() else None
    except InvalidOperation:
        return None
