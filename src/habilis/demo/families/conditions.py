"""The columns of a table, as questions word them."""

from __future__ import annotations

import re

from habilis.questions.prompts import SeenFile
from habilis.questions.world import MARK, CannotAnswerError, columns, named_like

ROWS = r"(?:data )?(?:rows?|records?|entries|entry|observations?)"
THINGS = rf"(?:{ROWS}|lines?|items?|orders?|sales|transactions?|products?|those|ones|cases)"
_QUOTED_VALUE = r"\"[^\"]+\"|'[^']+'"
_WORDY = re.compile(
    r"\b(?:and|or|but|times|plus|minus|divided|multiplied|rounded|grouped|per|except|of|in|than|for|where|with|is|are|by|over|above|under|below|least|most|more|less)\b",
    re.I,
)


def known_column(text: str, file: SeenFile) -> str | None:
    """The column that `text` names. Raises `CannotAnswerError` when the header is known and has no such column."""
    text = text.strip()
    text = re.sub(
        r"^(?:values? (?:in|of) )?(?:the )?(?:column|field)(?: named| called)? |^values? (?:in|of) (?:the )?",
        "",
        text,
        flags=re.I,
    )
    text = re.sub(r" (?:column|field)(?:'s)?(?: values?)?$| values?$", "", text, flags=re.I).strip()
    text = re.sub(r" (?:sold|recorded|listed|paid|ordered|given)$", "", text, flags=re.I)
    quoted = re.fullmatch(_QUOTED_VALUE + r"|`[^`]+`", text)
    name = text[1:-1] if quoted else text
    known = columns(file)
    if known:
        found = named_like(name, known)
        if found:
            return found
        if not quoted and (_WORDY.search(name) or len(name.split()) > 4):
            return None
        if file.nameless:
            raise nameless(file)
        raise CannotAnswerError(f'{file.named} has no column "{name}"; its columns are {", ".join(known)}.')
    if not name or (not quoted and (_WORDY.search(name) or len(name.split()) > 3 or not re.search(r"[^\W\d_]", name))):
        return None
    return name if re.fullmatch(r"[\w %$€£/().&-]+", name) and MARK not in name else None


def nameless(file: SeenFile) -> CannotAnswerError:
    """What is said of a table whose first line looks like data."""
    return CannotAnswerError(
        f"{file.named} seems to have no line with the names of its columns, for its first line looks like data; "
        "put a line with names above it"
    )
