"""Whether two numbers were given in the order that a question means: 40 divided by 8 is not 8 divided by 40."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ORDERED = re.compile(
    r"\bdivided?\b|\bminus\b|\bsubtract\w*|\bpower\b|\bremainder\b|\bmodulo\b|\bpercent\w*|(?<=\d) ?%|\bless than\b"
    r"|\bratio\b|\bhow many times\b|\blogarithm\w*|\broot\b"
    r"|\bgeteilt\b|\bhoch\b|\bprozent\b|\bdivisé\b|\bpour cent\b|\bdividido\b",
    re.IGNORECASE,
)
"""Operations whose result depends on which number stands where."""
_REVERSED = re.compile(
    r"\b(?:what|which) percent\w*\b|\bwhat (?:share|part|fraction)\b|\bsubtract\w*\b.*\bfrom\b|\bless than\b"
    r"|\bhow many times\b|\bhow often does\b|\blogarithm\w*|\broot\b",
    re.IGNORECASE,
)
"""Questions that say first what stands second."""
_NUMBER = re.compile(r"\d[\d.,]*")
_PAIR = 2


def order_is_told(question: str, arguments: Mapping[str, Any]) -> bool:
    """Whether two numbers whose places matter were given in the order in which the question says them, or by names that
    stand beside them there ("15 percent": `percent`)."""
    given = _numbers_in(arguments)
    if len(given) != _PAIR or not _ORDERED.search(question):
        return True
    numbers = [found[0].strip(".,").replace(",", "") for found in _NUMBER.finditer(question)]
    places = [numbers.index(value) if value in numbers else -1 for _, value in given]
    if -1 in places or places[0] == places[1]:
        return True
    if any(_stands_beside(name, value, question) for name, value in given):
        return True
    return places[0] < places[1] and not _REVERSED.search(question)


def _numbers_in(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers of a call, each with the name under which it was given; a list's items have that of the list."""
    pairs = [
        (name, item) for name, value in arguments.items() for item in (value if isinstance(value, list) else [value])
    ]
    return [(name, str(value).removesuffix(".0")) for name, value in pairs if _is_number(value)]


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return bool(re.fullmatch(r"-?\d+(?:\.\d+)?", value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _stands_beside(name: str, value: str, question: str) -> bool:
    """Whether a word of an argument's name follows its number in the question."""
    after = re.search(rf"(?<![\d.,]){re.escape(value)}\s*(%|[^\W\d_]+)", question.replace(",", ""), re.IGNORECASE)
    if after is None:
        return False
    word = "percent" if after[1] == "%" else after[1].casefold()
    return any(part and (part.startswith(word) or word.startswith(part)) for part in name.casefold().split("_"))
