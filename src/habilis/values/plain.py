"""A text in plain form: one way to write digits, signs and spaces, with the way back to the text as it stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True))
_LEVEL = {
    "−": "-",
    "‐": "-",
    "‑": "-",
    "⁄": "/",
    "∕": "/",
    "٬": ",",
    "٫": ".",
    "٪": "%",
    "،": ",",
    "\u00a0": " ",
    "\u2007": " ",
    "\u2009": " ",
    "\u200a": " ",
    "\u202f": " ",
    "\u3000": " ",
    "\u200b": "",
    "\u200e": "",
    "\u200f": "",
    "\u00ad": "",
}
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0652]")


def folded(text: str) -> str:
    """`text` without case, accents and forms of one letter."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold())))


@dataclass(frozen=True)
class Plain:
    """`text` in plain form, and for each of its characters the place in `original` that it comes from."""

    text: str
    original: str
    places: tuple[int, ...] = ()

    def as_written(self, start: int, end: int) -> str:
        """What stands in the original where the plain text has `start` to `end`."""
        if not self.places:
            return self.original[start:end]
        last = self.places[end - 1] if end else 0
        return self.original[self.places[start] : last + 1] if end > start else ""


def plain(text: str) -> Plain:
    """`text` with ASCII digits of any script, one minus, one space, compatibility forms made plain.

    Raised digits become a power (10⁵ is 10^5), a fraction in one sign stands apart (2½ is 2 1/2).
    """
    if text.isascii():
        return Plain(text, text)
    pieces: list[str] = []
    places: list[int] = []
    raised = False
    for place, char in enumerate(text):
        if char in _RAISED:
            piece = _RAISED[char] if raised else "^" + _RAISED[char]
        else:
            piece = char if char < "\x80" else _plain(char)
        raised = char in _RAISED
        pieces.append(piece)
        places.extend([place] * len(piece))
    return Plain("".join(pieces), text, tuple(places))


@lru_cache(maxsize=20_000)
def _plain(char: str) -> str:
    if char in _LEVEL:
        return _LEVEL[char]
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.decimal(char))
    level = unicodedata.normalize("NFKC", char)
    if "⁄" in level:
        return " " + level.replace("⁄", "/")
    return _LEVEL.get(level, level)


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` with a sign that is neither letter nor space where `spans` are, so that nothing is read across them."""
    pieces, place = [], 0
    for start, end in sorted(spans):
        if start >= place:
            pieces += [text[place:start], "\0" * (end - start)]
            place = end
    return "".join([*pieces, text[place:]])
