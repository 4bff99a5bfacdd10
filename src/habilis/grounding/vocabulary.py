"""Whether a word with a capital letter is an ordinary word that a sentence begins with, in any language.

A table of tokens is a list of the most common words by how often they are written: `traffic` stands before `Traffic`,
`berlin` behind `Berlin`. The one that counts tokens is at hand, and is loaded when a word is in no list of ours.
"""

from __future__ import annotations

from functools import lru_cache

from habilis.grounding.wording import ordinary
from habilis.models.tokens import load

_TABLE = "o200k_base"
_TELLING = 3
"""Letters of a first piece that say something about the whole word."""


@lru_cache(maxsize=10_000)
def is_word(word: str) -> bool:
    """Whether `word` is written small more often than with a capital. Where no table tells, it is taken for one."""
    low = word.lower()
    if low in ordinary() or low.removesuffix("s") in ordinary():
        return True
    table = load(_TABLE)
    if table is None:
        return True
    small = table.encode(f" {low}", disallowed_special=())
    capital = table.encode(f" {low.capitalize()}", disallowed_special=())
    if len(small) != len(capital):
        return len(small) < len(capital)
    piece = table.decode(small[:1]).strip()
    return small[0] < capital[0] and (len(small) == 1 or len(piece) > (_TELLING if low.isascii() else 1))
