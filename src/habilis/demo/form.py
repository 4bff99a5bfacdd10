"""The form of an answer: what the question asks for (decimals, scale, only the value) and values written so."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from habilis.questions.language import number

_COUNT = r"([0-9]{1,2}|no|one|two|three|four|five|six)"
_ROUNDING = (
    r"(?:,? ?(?:and )?(?:rounded|round(?: it| the (?:result|answer))?|correct|accurate|given|to be rounded)(?: off)?)?"
)
_ENDINGS: tuple[tuple[str, str], ...] = (
    (
        rf"{_ROUNDING},? (?:to|with|using) {_COUNT} (?:decimals?|decimal places?|digits? after the (?:decimal )?point)",
        "n",
    ),
    (rf"{_ROUNDING},? to the nearest (?:whole number|integer|unit|whole)", "0"),
    (rf"{_ROUNDING},? to (?:a|the) whole number", "0"),
    (r",? as (?:a whole number|an integer)", "0"),
    (rf"{_ROUNDING},? to the nearest tenth", "1"),
    (rf"{_ROUNDING},? to the nearest (?:hundredth|cent)", "2"),
    (r",? in (thousands|millions|billions)", "scale"),
    (
        r"[.?!,;:]? ?(?:please )?(?:give|answer|reply|respond|return|write|output)?(?: me)?(?: with)? ?(?:only|just) "
        r"(?:with )?(?:the )?(?:final )?(?:number|value|answer|result|figure|date|word|name)(?: only)?",
        "only",
    ),
    (
        r"[.?!,;:]? ?\(?(?:please )?(?:give|answer|reply|respond|say)?(?: me)?(?: with)? ?(?:only |just |simply )?"
        r"(?:a )?[\"']?yes[\"']? or [\"']?no[\"']?\)?",
        "only",
    ),
)
_SCALES = {"thousands": 1_000, "millions": 1_000_000, "billions": 1_000_000_000}


@dataclass(frozen=True)
class Form:
    """How the value is to be written. `decimals` None: as many as make sense. `scale` divides the value."""

    decimals: int | None = None
    scale: int = 1


def peel(question: str) -> tuple[str, Form]:
    """`question` without what it says about the form of its answer, and that form."""
    form = Form()
    text = question
    peeled = True
    while peeled:
        peeled = False
        for pattern, kind in _ENDINGS:
            match = re.search(rf"(?:{pattern})[.?!]*$", text, re.IGNORECASE)
            if match and match.start() > 0:
                form = _with(form, kind, match)
                text = text[: match.start()].rstrip(" ,.;:")
                peeled = True
    return text, form


def _with(form: Form, kind: str, match: re.Match[str]) -> Form:
    if kind == "n":
        count = 0 if match[1].lower() == "no" else number(match[1])
        return replace(form, decimals=int(count or 0))
    if kind == "scale":
        return replace(form, scale=_SCALES[match[1].lower()])
    return form if kind == "only" else replace(form, decimals=int(kind))


def written(value: Any, form: Form = Form()) -> str:
    """`value` as an answer: never 12.340000000001, yes or no for truth, a list with commas."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, int | float):
        return _number(value, form)
    if isinstance(value, list | tuple):
        return ", ".join(written(item, form) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {written(item, form)}" for key, item in value.items()) or "none"
    return "none" if value is None else str(value)


def _number(value: int | float, form: Form) -> str:
    if form.scale != 1:
        value = value / form.scale
    if form.decimals is not None:
        return f"{round(value, form.decimals):.{form.decimals}f}"
    if isinstance(value, int):
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if value == int(value) and abs(value) < 1e16:
        return str(int(value))
    text = f"{value:.6f}" if abs(value) >= 1 else f"{value:.6g}"
    return text if "e" in text else text.rstrip("0").rstrip(".")
