"""Words that make another value of the number beside them: `less than 42`, `not 42`, `42 at most`, `minus 42`."""

from __future__ import annotations

import re

_FILLING = r"(?:\s+(?:a|an|the|of|it|is|was|be|by|about|exactly|total|number|year))*"
_BEFORE = re.compile(
    r"(?:[<>≤≥≠±]=?"
    r"|\b(?:less|fewer|more|greater|larger|smaller|higher|lower|bigger|later|earlier|other|rather)\s+than"
    r"|\b(?:under|over|above|below|beyond|exceeds|exceeding|before|after|until|since|past|nearly|almost)"
    r"|\b(?:at\s+(?:the\s+)?(?:least|most)|up\s+to|no\s+(?:more|less|fewer)\s+than|plus\s+or\s+minus|minimum|maximum)"
    r"|\b(?:half|quarter|third|double|twice|triple)"
    r"|\b(?:anything|anywhere|everything|nothing|all)\s+but|\bexcept(?:\s+for)?)"
    rf"{_FILLING}\s*[$€£¥₹]?\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*\+(?![\d\s])|\s*(?:\S+\s+)?(?:or\s+(?:more|less|fewer|over|under|above|below|later|earlier)\b|at\s+(?:the\s+)?(?:most|least)\b"
    r"|and\s+(?:above|below|over|under|more)\b"
    r"|(?:is|was|are|would\s+be|seems)\s+(?:\S+\s+)?(?:wrong|incorrect|false|impossible|not|too\s+(?:many|few|high|low)))",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|never|cannot|neither|nor|\w+n['’]t)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:,!?\n](?!\d)|\b(?:but|yet|however|instead)\b", re.IGNORECASE)


def qualifier(text: str, start: int, end: int) -> str:
    """What makes something else of the value at `start` to `end`, as it is written; "" where nothing does."""
    before = text[:start]
    if found := _BEFORE.search(before):
        return found[0].strip()
    if found := _AFTER.match(text, end):
        return found[0].strip()
    clause = _CLAUSE.split(before)[-1]
    negated = _NEGATED.search(clause)
    return negated[0] if negated else ""
