"""Columns and conditions on rows, as questions word them: "where region is north", "for rows with quantity over 10"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from habilis.demo.questions.language import NUMBER, number
from habilis.demo.questions.prompts import SeenFile
from habilis.demo.questions.world import MARK, CannotAnswerError, columns, named_like

_COMPARISONS: tuple[tuple[str, str], ...] = (
    (r"(?:is |are |was )?(?:not|isn't|other than|!=|<>)(?: equal to)?", "not_equals"),
    (r"(?:is |are |was )?(?:at least|no less than|not less than|>=|≥)", "at_least"),
    (r"(?:is |are |was )?(?:at most|no more than|not more than|up to|<=|≤)", "at_most"),
    (
        r"(?:is |are |was )?(?:over|above|greater than|more than|larger than|higher than|bigger"
        r" than|exceeds?|exceeding|>)",
        "greater",
    ),
    (r"(?:is |are |was )?(?:under|below|less than|smaller than|lower than|fewer than|<)", "less"),
    (r"(?:contains?|containing|includes?|including)", "contains"),
    (r"(?:is|are|was|equals?|equal to|is equal to|==?|of|being|set to)", "equals"),
)
_SAID = {
    "equals": "equal to", "not_equals": "not equal to", "greater": "over", "at_least": "of at least",
    "less": "below", "at_most": "of at most", "contains": "containing",
}  # fmt: skip
ROWS = r"(?:data )?(?:rows?|records?|entries|entry|observations?)"
THINGS = rf"(?:{ROWS}|lines?|items?|orders?|sales|transactions?|products?|those|ones|cases)"
_LEADS = (
    rf"(?:for|of|in|over|among|across)(?: only)?(?: all)?(?: the| those)? {THINGS} "
    rf"(?:with|where|whose|in which|for which|that have|having|when)(?: the| an?)?",
    r"(?:where|with|whose|when|if|having|for which|in which|for|filtered by|given that)(?: the| an?)?",
    r"(?:that|which) (?:have|has|had)(?: the| an?)?",
)
_IN_ORDER = ("greater", "at_least", "less", "at_most")
_ISO_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_QUOTED_VALUE = r"\"[^\"]+\"|'[^']+'"
_PLAIN_VALUE = r"[^\s\"'][^\"']*?"
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


def condition(text: str, file: SeenFile) -> dict[str, Any] | None:
    """`where region is north`, `in the north region` and their like as values by role; None for anything else."""
    for lead in _LEADS:
        match = re.match(rf"{lead} ", text, re.I)
        if match and (found := _comparison(text[match.end() :], file)):
            return found
    match = re.fullmatch(
        rf"(?:in|for|from|of|with) (?:the )?(?P<a>{_QUOTED_VALUE}|\S+) (?P<b>{_QUOTED_VALUE}|\S+)", text, re.I
    )
    header = columns(file)
    if match and header:
        for column, value in ((match["a"], match["b"]), (match["b"], match["a"])):
            known = named_like(column, header)
            if known and not re.fullmatch("columns?|fields?|values?", value, re.I):
                return _as_condition(known, "equals", value.strip("\"'"))
    return None


def _comparison(text: str, file: SeenFile) -> dict[str, Any] | None:
    text = re.sub(r"^([^\"'<>=!≤≥]+?) ?([<>=!≤≥]+) ?", r"\1 \2 ", text)
    for pattern, how in _COMPARISONS:
        match = re.fullmatch(
            rf"(?P<column>.+?)(?: of)? (?:{pattern}) ?(?P<value>{_QUOTED_VALUE}|{_PLAIN_VALUE})", text, re.I
        )
        if not match:
            continue
        value = match["value"]
        quoted = value[0] in "\"'"
        if not quoted and (_WORDY.search(value) or len(value.split()) > 4):
            continue
        if not quoted and how in _IN_ORDER and number(value) is None and not re.fullmatch(_ISO_DATE, value):
            continue
        column = known_column(match["column"], file)
        if column:
            return _as_condition(column, how, value[1:-1] if quoted else value)
    return None


def _as_condition(column: str, how: str, value: str) -> dict[str, Any]:
    plain = value.replace(",", "") if re.fullmatch(NUMBER, value) else value
    return {"where": column, "how": how, "wanted": plain}


def said(values: Mapping[str, Any]) -> str:
    """A condition in words, for a finding; '' when there is none."""
    if "how" not in values:
        return ""
    return f" for rows with {values['where']} {_SAID.get(str(values['how']), values['how'])} {values['wanted']}"
