"""The quasi exact match of GAIA, after the rules of its leaderboard (Mialon et al., 2023, and the scorer there).

What is compared follows from the kind of the true answer. A number: the prediction without $, % and thousands commas
must be the same number. A list (a comma or a semicolon in it): as many items, each compared as a number or, punctuation
kept, as text. Anything else: both texts without spaces, punctuation and case.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def quasi_exact_match(expected: str, given: str) -> bool:
    """Whether `given` is right by the rules of GAIA."""
    if _float(expected) is None and re.search(r"[,;]", expected):
        wanted, got = re.split(r"[,;]", expected), re.split(r"[,;]", given)
        return len(wanted) == len(got) and all(_same_item(w, g, {}) for w, g in zip(wanted, got, strict=True))
    return _same_item(expected, given, _NO_PUNCTUATION)


def _same_item(expected: str, given: str, left_out: Mapping[int, int | None]) -> bool:
    number = _float(expected)
    if number is not None:
        return _float(_bare(given)) == number
    return _letters(expected).translate(left_out) == _letters(given).translate(left_out)


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None  # "nan" and "inf" are words here


def _bare(text: str) -> str:
    return re.sub(r"[$%,]", "", text)


def _letters(text: str) -> str:
    return re.sub(r"\s", "", text).lower()
