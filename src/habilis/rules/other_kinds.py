"""Whether an answer is of the kind that the question asks for: a name, a date, a number."""

from __future__ import annotations

import re

from habilis.core.patterns import lazy_pattern
from habilis.rules.evidence import Evidence, plain, stands_in
from habilis.rules.leaves import Results
from habilis.rules.retelling import WHICH, numbers_of
from habilis.values.plain import plain as plain_form
from habilis.values.scanning import scan

_WHEN = lazy_pattern(
    r"\b(?:when|(?:on|in|at) (?:what|which) (?:date|day|month|time|weekday)|wann|quand|cuándo)\b", re.IGNORECASE
)
_TEXT = lazy_pattern(
    r"\bwhat (?:is|was) the (?:[^\W\d_]+ ){0,3}?(?:word|name|title|letter|sentence|surname)\b(?! (?:length|count))"
    r"|\b(?:wie (?:lautet|heißt)|comment s'appelle|cómo se llama|как называется)\b",
    re.IGNORECASE,
)
"""What asks for a text without asking which."""
_HOW = lazy_pattern(r"\bhow \w+|\bwie\s?viele?\b|\bcombien\b|\bcuánt", re.IGNORECASE)
_WORD = lazy_pattern(r"[^\W\d_]+")
_NUMBER = lazy_pattern(
    r"\b(?:numbers?|amount|how (?:many|much)|(?:tele)?phone|fax|nummer|anzahl|wie viele?|num[eé]ro|número|nombre de"
    r"|combien|cuánt[oa]s?|номер|число|сколько)\b|\w+nummer\b|電話番号|番号|电话|號碼|号码|多少",
    re.IGNORECASE,
)
_TIME = lazy_pattern(
    r"\b(?:dates?|days?|weeks?|months?|years?|times?|since|until|birthdays?|born|datum|tag|monat|jahr|geboren|jour|mois"
    r"|année|fecha|día|mes|año|дата|день|месяц|год)\b|日|月|年|いつ",
    re.IGNORECASE,
)

_ASKED_FOR = (
    r"\bwhat {} (?:has|have|had|is|are|was|were|does|do|did)\b",
    r"\bкак(?:ой|ая|ое|ие|ого|ую) {}\b",
    r"{}\s*(?:は|って)\s*(?:何|なん)(?:です|でしょう|か|ですか)?\W*$",
    r"{}\s*是\s*(?:什么|什麼|哪)",
    r"(?:哪(?:个|個|种|種|一个|一個)|什么|什麼)\s*{}",
    r"{}\s*(?:은|는|이|가)\s*(?:무엇|뭐|누구)",
    r"(?:어느|어떤)\s*{}",
)
"""What asks for a cell of the column whose name stands in the gap."""
_COST = lazy_pattern(
    r"\b(?:what|how much) (?:does|do|did|will|would)\b[^?.;]*\b(?<!the )(?<!of )(?:cost|weigh)\b"
    r"(?!\s+(?:him|her|them|us|you|me|the)\b)"
    r"|\bhow much (?:does|do|did|will|would)\b[^?.;]*\b(?:pay|earn|spend)\b"
    r"|\bwhat (?:is|are|was|were) the (?:price|cost|fee|fare|rent|salary|wage|weight)s? (?:of|for)\b(?!\W*$)"
    r"|\b(?:was|wie ?viel) (?:kostet|kosteten?|wiegt|wog)\b|\bwie teuer\b|\bcombien (?:coûte|a coûté|pèse)\w*"
    r"|\bcuánto (?:cuesta|costó|pesa|cost)\w*|\bсколько (?:стоит|стоил|весит)\w*|いくら|多少钱",
    re.IGNORECASE,
)
_NO_COST = lazy_pattern(
    r"\b(?:nothing|none|no|free|gratis|same|nichts|umsonst|kostenlos|kostenfrei|rien|gratuite?|nada|бесплатно|ничего)\b"
    r"|無料|免费|免費",
    re.IGNORECASE,
)
"""Answers to what something costs that hold no number."""


def number_for_name(evidence: Evidence) -> str | None:
    """A number alone, where the question asks which or who, and the results hold the name."""
    text = plain(evidence.answer)
    asks = any(form.search(evidence.question) for form in (WHICH, _WHEN, _TEXT))
    cells = _cells_asked_for(evidence)
    headed = cells or _name_columns(evidence)
    if (not asks and not headed) or _HOW.search(evidence.question):
        return None
    said = scan(plain_form(evidence.answer).text)
    if not numbers_of(evidence.answer) - numbers_of(evidence.question) or said.moments or said.marks:
        return None
    leaves = Results(evidence).leaves
    given = {plain(str(leaf.value)) for leaf in Results(evidence).all if leaf.path[0] == "arguments"}
    names = {plain(str(leaf.value)) for leaf in leaves if isinstance(leaf.value, str) and leaf.number is None}
    names -= given
    names = {name for name in names if 0 < len(name) <= 60 and not stands_in(name, evidence.asked)}
    if not asks:
        names = {name for name in names if name in headed}
    names |= cells
    if not names or any(name in text for name in names):
        return None
    words = [word for word in _WORD.findall(evidence.answer) if word[0].isupper() and not text.startswith(word.lower())]
    return None if words else "the answer gives a number where a name, a place or a date was asked for"


def _cells_asked_for(evidence: Evidence) -> set[str]:
    """Cells of a column of names of which the question asks what stands there: `what river has the most`."""
    named = [column for column in evidence.columns if not any(re.search(r"\d", cell) for cell in column.cells)]
    asked = [
        c for c in named if any(re.search(form.format(re.escape(plain(c.name))), evidence.asked) for form in _ASKED_FOR)
    ]
    return {plain(cell) for column in asked for cell in column.cells if cell}


def _name_columns(evidence: Evidence) -> set[str]:
    """Cells of the columns of names that the question asks after, where it names no column of numbers."""
    named = [c for c in evidence.columns if stands_in(plain(c.name), evidence.asked)]
    if any(column.is_numeric for column in named):
        return set()
    return {plain(cell) for column in named for cell in column.cells}


def date_for_number(evidence: Evidence) -> str | None:
    """Dates and no number, where the question asks for a number and for no date."""
    question = evidence.asked
    if not evidence.behind or not _NUMBER.search(question) or _TIME.search(question) or _WHEN.search(question):
        return None
    said, asked = scan(plain_form(evidence.answer).text), scan(plain_form(evidence.question).text)
    own = {day for moment in said.moments for day in moment.days if not moment.clock}
    if said.numbers or said.marks or not own - {day for moment in asked.moments for day in moment.days}:
        return None
    return "the answer gives a date where a number was asked for"


def text_for_number(evidence: Evidence) -> str | None:
    """No number, where the question asks what something costs or weighs."""
    if not evidence.behind or not _COST.search(evidence.asked) or _NO_COST.search(evidence.answer):
        return None
    said = scan(plain_form(evidence.answer).text)
    return None if said.numbers or said.marks else "the answer gives no number where a price or a weight was asked for"
