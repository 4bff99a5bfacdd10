"""Texts that mean the same though they are written differently."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from habilis.evaluation.scoring.dates import when
from habilis.evaluation.scoring.latex import on_the_line
from habilis.evaluation.scoring.wording import in_digits

_ARTICLES = frozenset(("a", "an", "the"))
_LEAD = re.compile(r"\b(?:(?:the|my)\s+)?(?:final\s+|exact\s+)?answer\s*(?:is\b\s*:?|[:=])\s*", re.IGNORECASE)
_MEANINGFUL = frozenset("#%&@")
"""Punctuation that tells words apart (`C#`, `5%`), beside a sign or a point in a number."""
_JOINING = frozenset("'’`")
_OPERATOR = re.compile(r"\s*([+*/=^<>√])\s*")
_CHOICE = re.compile(r"^\s*(?:option|choice|letter|answer)\s+(?=\(?[A-Za-z]\)?[.)]?\s*$)", re.IGNORECASE)
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})[-‐‑](?=[^\W\d_]{2})")
_NAMED = re.compile(r"^\s*[^\W\d_]\s*=(?!=)")
"""What an equation is about: `x = 5`."""
_WORDS_FOR = {"true": "yes", "false": "no"}
_GRADE = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}-$")


def normalised(text: str) -> str:
    """`text` without what does not change its meaning: case, articles, punctuation, spaces, forms of Unicode (NFKC).

    Idempotent. A text of nothing but punctuation stays as it is, so that it equals nothing else.
    """
    before = ""
    while text != before:  # what one rule takes away may bring two others together
        before, text = text, _step(text)
    return text


def _step(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("−", "-")
    bare = "".join(_kept(folded, place) for place in range(len(folded)))
    return _OPERATOR.sub(r"\1", " ".join(_without_articles(bare.split()))) or " ".join(folded.split())


def _without_articles(words: Sequence[str]) -> list[str]:
    """`words` without articles before a word; before a single letter they are letters themselves (`A B`)."""
    kept: list[str] = []
    for word in reversed(words):
        if not (word in _ARTICLES and kept and len(kept[-1]) > 1):
            kept.append(word)
    return kept[::-1]


def _kept(text: str, place: int) -> str:
    """The character at `place`, or what it becomes: nothing inside a word, a space between words."""
    char = text[place]
    kind = unicodedata.category(char)
    if kind == "Cf" or char in _JOINING:
        return ""
    if not kind.startswith("P") and kind not in ("Cc", "Zs", "Zl", "Zp"):
        return char
    before = text[place - 1] if place else ""
    after = text[place + 1] if place + 1 < len(text) else ""
    number = after.isdigit() and ((char == "." and before.isdigit()) or (char == "-" and not before.isalnum()))
    return char if char in _MEANINGFUL or number or _is_sign(text, place) else " "


def _is_sign(text: str, place: int) -> bool:
    """Whether the `-` at `place` tells: a grade, a blood group, an ion (`A-`), less than nothing (`-∞`)."""
    if text[place] != "-":
        return False
    after = text[place + 1 : place + 2]
    return text.startswith(("∞", "inf"), place + 1) or (
        not after.isalnum() and _GRADE.search(text[max(0, place - 3) : place + 1]) is not None
    )


def bare_answer(text: str) -> str:
    """`text` without the words that an answer is often led in by (`The answer is …`)."""
    lead = _LEAD.match(text.lstrip())
    rest = _CHOICE.sub("", text.lstrip()[lead.end() :] if lead else text)
    return rest if rest.strip() else text


def led_in(text: str) -> bool:
    """Whether an answer is led in anywhere, after whatever was said before it."""
    return _LEAD.search(text) is not None


def same_text(expected: str, given: str) -> bool:
    """Whether both say the same: normalised, as a date or time, or with LaTeX and number words on the line.

    `given` may be led in by words such as `The answer is`, and need not repeat the `x =` of an equation.
    """
    bare = bare_answer(given)
    if normalised(expected) in (normalised(given), normalised(bare) if bare != given else None):
        return True
    date = when(expected)
    if date is not None:
        said = when(bare) or when(given, within=True)
        return said is not None and date.same(said)
    wanted = {_line(expected), _line(_NAMED.sub("", on_the_line(expected)))}
    return not wanted.isdisjoint((_line(given), _line(bare)))


def _line(text: str) -> str:
    line = normalised(in_digits(on_the_line(_HYPHEN.sub("", text))))
    return _WORDS_FOR.get(line, line)
