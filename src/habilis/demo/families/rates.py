"""Rates that the question gives: exchange rates and prices per unit, and what an amount comes to at them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from habilis.core.patterns import lazy_pattern
from habilis.questions.declared import operations_of, read_family
from habilis.questions.language import NUMBER, core, number
from habilis.questions.world import DemoCall, World

_MONEY = {
    "$": "dollar", "usd": "dollar", "us dollar": "dollar", "buck": "dollar", "€": "euro", "eur": "euro", "£": "pound",
    "gbp": "pound", "pound sterling": "pound", "¥": "yen", "jpy": "yen", "yen": "yen", "chf": "franc",
    "swiss franc": "franc", "dollar": "dollar", "euro": "euro", "pound": "pound", "franc": "franc", "cent": "cent",
}  # fmt: skip
_NO_RATE = r"\b(?:degree|celsiu|fahrenheit|kelvin|percent)"
"""What is no multiple of what it is compared with."""
_N = rf"(?:{NUMBER}|one|a|an)"
_W = r"[^\W\d_]+(?:-[^\W\d_]+)?"
_UNIT = rf"{_W}(?: {_W})?"
_Q = rf"(?:[$€£¥] ?{NUMBER}|{_N} {_UNIT}|{_N}(?:[$€£¥])|{NUMBER})"
_SOLD = rf"(?:(?:the |a |an )?(?P<thing>{_UNIT}) (?:costs?|is|are|sells? (?:for|at)|is sold (?:for|at)|at|for) )?"
_COMES_TO = (
    r"(?:=|is|are|equals?|is equal to|is worth|are worth|buys?|costs?|gets(?: you)?|gives(?: you)?|trades at|makes?)"
)
_RATES = (
    lazy_pattern(
        rf"{_SOLD}(?P<value>{_Q})(?: (?:per|for (?:one|an?|each|every)|an?|each|every)|/| /) ?(?P<unit>{_W})", re.I
    ),
    lazy_pattern(
        rf"(?:the |each |every )?(?!{_N} )(?P<unit>{_UNIT}) (?:costs?|sells? (?:for|at)) (?P<value>{_Q})"
        r"(?: each| apiece)?",
        re.I,
    ),
    lazy_pattern(rf"(?P<base>{_Q}) {_COMES_TO} (?P<value>{_Q})", re.I),
)


@dataclass(frozen=True)
class _Quantity:
    """So much of something; `unit` is '' where none is written."""

    amount: int | float
    unit: str


@dataclass(frozen=True)
class _Rate:
    """`base` comes to `value`; `thing` is what is sold at it, '' where the question names none."""

    base: _Quantity
    value: _Quantity
    thing: str = ""


class Rates:
    """Family of amounts at a rate that stands in the same question."""

    operations = operations_of(read_family("rates"))

    def read(self, phrase: str, world: World) -> DemoCall | None:
        for rate_text, ask in _divided(phrase):
            rate = _rate(rate_text)
            amount = _asked(ask, rate) if rate else None
            if rate is None or amount is None:
                continue
            base, value = rate.base, rate.value
            if base.unit == value.unit or re.search(_NO_RATE, f"{base.unit} {value.unit}"):
                continue
            if amount.unit == value.unit and base.unit != value.unit:
                base, value = value, base
            if amount.unit == base.unit and base.amount:
                return DemoCall(
                    self.operations[0], {"amount": amount.amount, "per": base.amount, "gives": value.amount}
                )
        return None


def _divided(phrase: str) -> list[tuple[str, str]]:
    """The ways to divide a question into a rate and what is asked, either of which may come first."""
    found = []
    for space in re.finditer(r"[,.;:?]+ (?:then |and )?| (?=(?:if|when|given|at|with|assuming|for) )", phrase):
        first, second = phrase[: space.start()], phrase[space.end() :]
        found += [(first, second), (second, first)]
    lead = r"^(?:if|when|given(?: that)?|assuming(?: that)?|suppose(?: that)?|at|with|knowing that|for)(?: an?| the)? "
    return [(re.sub(lead, "", rate.strip(), flags=re.I), core(ask)) for rate, ask in found]


def _rate(text: str) -> _Rate | None:
    text = re.sub(
        r"^(?:an? |the )?(?:current )?(?:exchange |conversion )?(?:rate|price)(?: is| of| being)* ",
        "",
        text,
        flags=re.I,
    )
    for form in _RATES:
        said = match.groupdict() if (match := form.fullmatch(text)) else {}
        value = _quantity(said.get("value", ""))
        base = _quantity(said["base"]) if "base" in said else _Quantity(1, _plain(said.get("unit", "")))
        if base and value:
            return _Rate(base, value, _plain(said.get("thing") or ""))
    return None


def _quantity(text: str) -> _Quantity | None:
    """ "12.50 euros", "$3", "a kilo", "40"."""
    match = re.fullmatch(rf"(?P<sign>[$€£¥])? ?(?P<n>{_N})(?: ?(?P<unit>{_UNIT}|[$€£¥]))?", text.strip(), re.I)
    if not match or (match["sign"] and match["unit"]):
        return None
    amount = 1 if match["n"].lower() in ("a", "an", "one") else number(match["n"])
    return None if amount is None else _Quantity(amount, _plain(match["sign"] or match["unit"] or ""))


def _plain(unit: str) -> str:
    """A unit without plural and by one name for each currency."""
    unit = " ".join(unit.lower().split())
    known = _MONEY.get(unit)
    single = unit[:-1] if len(unit) > 2 and unit.endswith("s") and not unit.endswith("ss") else unit
    return known or _MONEY.get(single, single)


_OF = r"(?: of (?P<thing>[^\W\d_]+))?"
_ASKS = (
    rf"how (?:many|much) (?P<target>{_UNIT}) (?:are|is|do|does|would|will|can|for|equals?)(?: there in| I| you"
    rf"| we| one)?"
    rf"(?: get| buy| receive| have| afford)?(?: for| with| from| in)? (?P<amount>.+?)(?: worth| buy| make| cost"
    rf"| get(?: you| me)?)?",
    rf"(?:convert|change|exchange|turn) (?P<amount>.+?) (?:to|into|in|for) (?P<target>{_UNIT})",
    rf"how much (?:is|are|would|does|do|will) (?P<amount>.+?){_OF}(?: be)?(?: worth| cost| come to)?(?: in "
    rf"(?P<target>{_UNIT}))?",
    rf"(?:what )?(?:do|does|would|will) (?P<amount>.+?){_OF} (?:cost|come to)(?: in (?P<target>{_UNIT}))?",
    rf"(?:total )?(?:cost|price|value) (?:of|for) (?P<amount>.+?){_OF}(?: in (?P<target>{_UNIT}))?",
    rf"(?P<amount>.+?) (?:in|to|into) (?P<target>{_UNIT})",
)  # fmt: skip


def _asked(text: str, rate: _Rate) -> _Quantity | None:
    """The amount that is asked about, in one of the rate's two units; None when it fits the rate in no way."""
    units = {rate.base.unit, rate.value.unit}
    for pattern in _ASKS:
        match = re.fullmatch(pattern, text, re.I)
        amount = _quantity(match["amount"]) if match else None
        if not match or not amount:
            continue
        said = match.groupdict()
        thing, target = _plain(said.get("thing") or ""), _plain(said.get("target") or "")
        unit = amount.unit or ("" if "" in units or target not in units else next(iter(units - {target}), ""))
        if (
            (thing and rate.thing and thing != rate.thing)
            or unit not in units
            or (target and target not in units - {unit})
        ):
            continue
        return _Quantity(amount.amount, unit)
    return None
