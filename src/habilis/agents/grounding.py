"""Whether an answer stands on the findings that it was made of: a check by words, which doubts only the obvious."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]{3,}")
_DIGIT = re.compile(r"\d")


def stands_on(answer: str, texts: Iterable[str]) -> bool:
    """Whether anything of `answer` stands in `texts`: false only for several words, none of which is in any of them.

    Of a number or a single word nothing can be said: it may be rounded, converted, translated, a yes or a no.
    """
    words = set(_WORD.findall(answer.casefold()))
    if len(words) < 2 or _DIGIT.search(answer):
        return True
    whole = "\n".join(texts).casefold()
    return any(word in whole for word in words)
