"""Whether an answer stands on the findings that it was made of: a check by words, which doubts only the obvious."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]{3,}")
_DIGIT = re.compile(r"\d")


def stands_on(answer: str, texts: Iterable[str]) -> bool:
    """Whether anything of `answer` stands in `texts`.

    False only for a number where the texts hold none at all, and for several words, none of which is in any of them.
    Else nothing can be said: a number may be rounded or converted, a single word translated, a yes or a no.
    """
    whole = "\n".join(texts).casefold()
    if _DIGIT.search(answer):
        return _DIGIT.search(whole) is not None
    words = set(_WORD.findall(answer.casefold()))
    return len(words) < 2 or any(word in whole for word in words)
