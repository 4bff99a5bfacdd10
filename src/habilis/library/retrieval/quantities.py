"""Quantities that a question asks for or gives without their names: "how fast" is a speed, "150 g" a mass.

A tool for a formula is called by its quantities; who asks has numbers, units and everyday words. A row of the table is
one quantity: its names, units that may follow a number, and how people ask for it (a pattern). The words are general
knowledge of school physics, chemistry and money.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from habilis.core.patterns import lazy_pattern
from habilis.library.retrieval.terms import stem, terms

_TABLE = (
    ("speed velocity pace", r"km/h kmh kph mph m/s knots?", r"how (?:fast|quick|quickly|slow|slowly)"),
    ("acceleration", r"m/s² m/s\^?2 m/s/s", r"how (?:fast|quickly) .*(?:speed|brak|slow)"),
    (
        "time duration period",
        r"s sec(?:ond)?s? min(?:ute)?s? h hours? days? weeks? months? years?",
        r"how (?:long|soon)|how much time",
    ),
    ("distance range", r"km kilomet(?:er|re)s? m met(?:er|re)s? mi(?:les?)?", r"how far|how long a way"),
    (
        "length side hypotenuse",
        r"cm mm m met(?:er|re)s? inch(?:es)? f(?:ee|oo)t ft yards? centimet(?:er|re)s?",
        r"how long(?= (?:is|are|must))",
    ),
    ("height altitude elevation", r"", r"how (?:high|tall)"),
    ("width diameter thickness", r"", r"how (?:wide|broad|thick)"),
    ("depth", r"", r"how deep"),
    (
        "perimeter circumference",
        r"",
        r"how (?:far|long) .*\b(?:a?round|fence|border)|(?:a?round|along) (?:the|its) (?:edge|outside|rim)",
    ),
    (
        "area surface",
        r"m² m\^?2 cm² km² sq(?:uare|\.)? acres? hectares? ha",
        r"how (?:big|large)(?! a number)|square met(?:er|re)s? (?:is|are|does)",
    ),
    (
        "volume capacity",
        r"l lit(?:er|re)s? ml cl gallons? pints? m³ cm³ m\^?3 cubic",
        r"how much (?:room|space|liquid|water)|(?:can|does|will) .*\b(?:hold|contain)|how (?:big|"
        r"large) .*\b(?:ball|box|tank|tube|can)",
    ),
    (
        "mass weight",
        r"k?g mg t (?:kilo)?gram(?:me)?s? kilos? pounds? lbs? ounces? oz ton(?:ne)?s?",
        r"how (?:heavy|light)|how much (?:does|do|did|would|will) .*\bweigh",
    ),
    ("density", r"kg/m³ g/cm³ kg/l g/ml", r"how (?:dense|compact)"),
    ("force", r"k?N newtons?", r"how hard|how strongly|(?:push|pull|lift)\w* .*\bhow"),
    ("pressure stress", r"k?Pa hPa pascals? bar psi atm mmHg", r"how (?:hard|much) .*\bpress"),
    ("energy work heat", r"k?J M?J (?:kilo)?joules? k?cal(?:ories)? kWh", r"how much (?:energy|work|heat)"),
    ("power", r"k?W M?W (?:kilo)?watts? hp horsepower", r"how powerful"),
    ("voltage", r"m?V k?V volts?", r""),
    ("current amperage", r"m?A amps? amperes?", r""),
    ("resistance", r"k?Ω ohms?", r""),
    ("charge", r"coulombs?", r""),
    ("frequency", r"k?Hz MHz GHz hertz", r"how often|how many times (?:per|a|each)"),
    ("temperature", r"°C °F °K? K celsius fahrenheit kelvin", r"how (?:hot|cold|warm|cool)"),
    ("slope gradient inclination", r"", r"how steep"),
    ("angle", r"° deg degrees? rad(?:ians?)?", r"how (?:slanted|tilted)"),
    ("moles amount substance", r"m?mol moles?", r""),
    ("concentration molarity", r"mol/l mM", r"how (?:strong|concentrated|salty|sweet)"),
    ("ph acidity", r"", r"how (?:sour|acidic|alkaline)"),
    ("illuminance brightness luminance", r"lux lx lumens? lm candela", r"how bright"),
    ("decibel loudness sound", r"dB decibels?", r"how loud"),
    ("momentum impulse", r"", r""),
    ("probability chance odds likelihood", r"", r"how (?:likely|probable)|what are the odds"),
    ("age", r"", r"how old"),
    ("interest compound balance", r"", r"how much (?:does|do|will|would) .*\b(?:grow|be worth|come to|become)"),
    ("payment installment annuity loan", r"", r"(?:pay|owe|rate).*\b(?:each|every|per|a) month"),
    ("price cost", r"\$ €", r"how (?:expensive|dear|costly)|how much (?:is|are|for)\b"),
    ("discount reduction saving", r"", r"how much .*\b(?:save|saved|cheaper)|\d ?(?:%|percent) off"),
    ("profit margin gain return", r"", r"how much .*\b(?:earn|gain|gained|profit)"),
    ("loss", r"", r"how much .*\b(?:lose|lost)"),
    ("inflation change increase growth", r"", r"how much (?:dearer|more expensive|higher|bigger)"),
    ("tax", r"", r"owe .*\b(?:state|government)"),
    ("tip gratuity", r"", r""),
    ("consumption usage", r"", r"how much (?:fuel|petrol|gas|electricity) .*\b(?:use|burn|need)"),
)
_ASKS = re.compile(r"\b(?:how|what|pay|owe|can|does|will|off|in [a-z]{5})", re.IGNORECASE)
_GIVES = re.compile(r"\d ?[^\W\d]|\d ?°|[$€] ?\d")
"""Without these nothing of the table is said."""
_INPUTS = re.compile(r"\b(?:from|given|by|with|using|based)\b|_from_|_given_|_by_", re.IGNORECASE)
"""Behind these words a tool says what it takes."""


class _Quantity(NamedTuple):
    """Stemmed names of a quantity, a number with one of its units, and how it is asked for."""

    names: frozenset[str]
    given: re.Pattern[str] | None
    asked: re.Pattern[str]


class Quantities(NamedTuple):
    """Names of the quantities that a question asks for, and of those that it gives."""

    asked: frozenset[str]
    given: frozenset[str]


@lru_cache(maxsize=1_000)
def quantities(question: str) -> Quantities:
    """The quantities of `question`, said in whatever words; those that it names are among them."""
    asked: set[str] = set()
    given: set[str] = set()
    asks, gives = _ASKS.search(question), _GIVES.search(question)
    for quantity in _known() if asks or gives else ():
        if asks and quantity.asked.search(question):
            asked |= quantity.names
        if gives and quantity.given and quantity.given.search(question):
            given |= quantity.names
    return Quantities(frozenset(asked), frozenset(given - asked))


@lru_cache(maxsize=20_000)
def yields(name: str, description: str) -> frozenset[str]:
    """The names of quantities that a tool gives back, as far as its name and first words tell."""
    said = {term for text in (name, description) for term in terms(_INPUTS.split(text, maxsplit=1)[0])}
    return frozenset(said & _names())


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset().union(*(quantity.names for quantity in _known()))


@lru_cache(maxsize=1)
def _known() -> tuple[_Quantity, ...]:
    return tuple(_quantity(*row) for row in _TABLE)


def _quantity(names: str, units: str, ways: str) -> _Quantity:
    some, words = units.split(), [*names.split(), *(unit for unit in units.split() if len(unit) > 4)]
    number = lazy_pattern(rf"\d ?(?:{'|'.join(some)})(?![\w/²³^])|(?:\$|€) ?\d" if "$" in units else _number(some))
    plain = rf"(?:how (?:many|much)|in|what(?: is| are)?(?: the)?) (?:{'|'.join(words)})\b"
    asked = lazy_pattern("|".join(filter(None, (rf"\b(?:{ways})\b" if ways else "", plain))), re.I)
    return _Quantity(frozenset(map(stem, names.split())), number if some else None, asked)


def _number(units: list[str]) -> str:
    return rf"\d ?(?:{'|'.join(units)})(?![\w/²³^])"
