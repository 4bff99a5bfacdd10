"""Quotations of an answer: whether they stand in the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator

from habilis.agents.grounding.known import Known, folded
from habilis.values.plain import plain

_PAIRS = ('""', "“”", "„“", "„”", "«»", "»«", "‹›", "「」", "『』", "‘’", "《》", "””")
_QUOTED = re.compile(
    "|".join(rf"{re.escape(a)}([^{re.escape(a + b)}\n]{{3,2000}}){re.escape(b)}" for a, b in map(tuple, _PAIRS))
    + r"|(?<![^\W_])'(?=\S)([^'\n]{3,2000}?(?:(?<=[^\W_])'(?=[^\W_])[^'\n]{1,2000}?)*)'(?![^\W_])"
)
MORE_WORDS, MORE_CHARACTERS = 2, 12
"""What is longer than either is a quotation; shorter is a name or a word in quotation marks."""
_CUT = re.compile(r"\s*(?:\[?(?:\.\.\.|…)\]?)\s*")
_NOT_WORDS = re.compile(r"[^\w%$€£+#&@/=<>]+")


def quotations(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and content of what stands between quotation marks, where it is long enough to be one."""
    for found in _QUOTED.finditer(text):
        content = next(group for group in found.groups() if group is not None)
        has_spaces = " " in content.strip()
        if len(content.split()) > MORE_WORDS or (len(content) > MORE_CHARACTERS and (has_spaces or len(content) > 24)):
            yield found.start(), found.end(), content


def stands(quotation: str, known: Known) -> bool:
    """Whether each part of a quotation, its ellipses taken out, stands in the sources but for case and marks."""
    parts = [bare for part in _CUT.split(quotation) if (bare := words_of(folded(plain(part).text)))]
    return all(part in _words(known) for part in parts)


def words_of(text: str) -> str:
    """A folded text as its words with one space between them."""
    return f" {' '.join(_NOT_WORDS.sub(' ', text).split())} " if text.strip() else ""


def _words(known: Known) -> str:
    cached = known.__dict__.get("_as_words")
    if cached is None:
        cached = known.__dict__["_as_words"] = words_of(known.text)
    return str(cached)
