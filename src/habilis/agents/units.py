"""Whether a currency or a scale of temperature that an answer gives its number is named anywhere."""

from __future__ import annotations

import re

from habilis.agents.evidence import Evidence

_CURRENCIES = {
    "euro": r"€|\beuros?\b|\beur\b",
    "dollar": r"\$|\bdollars?\b|\busd\b",
    "pound sterling": r"£|\bsterling\b|\bgbp\b",
    "yen or yuan": r"¥|\byen\b|\byuan\b|\bjpy\b|\bcny\b",
    "franc": r"\bfrancs?\b|\bchf\b",
}
_FAHRENHEIT = re.compile(r"°\s?f\b|℉|\bfahrenheit\b|(?:\b|_)f\b")
_CELSIUS = re.compile(r"°\s?c\b|℃|\bcelsius\b|(?:\b|_)c\b")


def unit_from_nowhere(evidence: Evidence) -> str | None:
    """A currency that neither question nor file nor result names; Fahrenheit for Celsius, or Celsius for Fahrenheit."""
    answer = evidence.answer.casefold()
    columns = [column.name for column in evidence.columns]
    named = "\n".join([evidence.results, *evidence.called, *columns]).casefold()
    for name, pattern in _CURRENCIES.items():
        if re.search(pattern, answer) and not re.search(pattern, named):
            return f"the answer gives a currency ({name}) that neither the question nor a result names"
    if re.search(r"°\s?f\b|℉|\bfahrenheit\b", answer) and not _FAHRENHEIT.search(named):
        return "the answer gives degrees Fahrenheit, which neither the question nor a result names"
    celsius = re.search(r"°\s?c\b|℃|\bcelsius\b", answer)
    if celsius and _FAHRENHEIT.search(named) and not _CELSIUS.search(named):
        return "the answer gives degrees Celsius where the results are in Fahrenheit"
    return None
