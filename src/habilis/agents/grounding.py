"""Whether an answer stands on the findings that it was made of: a check by words, which doubts only the obvious."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

_WORD = re.compile(r"[^\W\d_]{3,}")
_DIGIT = re.compile(r"\d")


def doubt(answer: str, texts: Sequence[str]) -> Literal["", "number", "words"]:
    """What of `answer` can hardly come of `texts`, the findings before all else; nothing where nothing can be said.

    A number, where the texts hold none in digits; several words, none of which is in any text, though the findings are
    written in their script. A number may be rounded or converted, a single word translated, a yes or a no.
    """
    whole = "\n".join(texts).casefold()
    if _DIGIT.search(answer):
        return "" if _DIGIT.search(whole) else "number"
    words = set(_WORD.findall(answer.casefold()))
    if len(words) < 2 or any(word in whole for word in words) or not _scripts(answer) & _scripts(texts[0]):
        return ""
    return "words"


def _scripts(text: str) -> set[str]:
    """Names of the scripts that letters of `text` belong to, as Unicode begins their names."""
    return {unicodedata.name(letter, "").partition(" ")[0] for letter in set(text) if letter.isalpha()}
