"""Whether the unit that an answer gives its number is named anywhere, and is the one that was asked for."""

from __future__ import annotations

import re

from habilis.rules.evidence import Evidence

_CURRENCIES = {
    "euro": r"€|\beuros?\b|\beur\b",
    "dollar": r"\$|\bdollars?\b|\busd\b",
    "pound sterling": r"£|\bsterling\b|\bgbp\b",
    "yen or yuan": r"¥|\byen\b|\byuan\b|\bjpy\b|\bcny\b",
    "franc": r"\bfrancs?\b|\bchf\b",
}
_FAHRENHEIT = re.compile(r"°\s?f\b|℉|\bfahrenheit\b|(?:\b|_)f\b")
_CELSIUS = re.compile(r"°\s?c\b|℃|\bcelsius\b|(?:\b|_)c\b")
_WORD = r"[^\W\d_]{2,}"
_DEGREES = r"(?:(?:degrees?|grad|degrés|grados|градус\w*)\s+)?"
_AMOUNT = rf"(?P<amount>\d[\d.,]*)\s+{_DEGREES}(?P<given>{_WORD})"
_CONVERTED = (
    re.compile(
        rf"\b(?:how many|wie\s?viele?|combien de|cuánt[oa]s|сколько)\s+{_DEGREES}(?P<wanted>{_WORD})\s+"
        rf"(?:(?:are|is|in|make|equal|sind|ist|entsprechen|font|sont|hay en|son|в)\s+)+{_AMOUNT}\W*$"
    ),
    re.compile(rf"\b{_AMOUNT}\s+(?:in|to|into|nach|en|в)\s+{_DEGREES}(?P<wanted>{_WORD})\W*$"),
)
"""What asks for an amount of one unit in another."""


def from_nowhere(evidence: Evidence) -> str | None:
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


def one_given(evidence: Evidence) -> str | None:
    """The unit of the question's own amount, where the question asks for that amount in another."""
    asked = next((found for form in _CONVERTED if (found := form.search(evidence.asked))), None)
    answer = evidence.answer.casefold()
    if asked is None or asked["wanted"] == asked["given"] or asked["wanted"] in answer:
        return None
    amounts = re.findall(rf"(\d[\d.,]*\d|\d)\s*°?\s*{_DEGREES}{re.escape(asked['given'])}", answer)
    if not any(amount.strip(".,") != asked["amount"].strip(".,") for amount in amounts):
        return None
    return f"the answer gives {asked['given']}, but the question asks for {asked['wanted']}"
