"""Words that people use for what tools call otherwise: a small thesaurus of everyday subjects.

One line, one subject. Kept short on purpose: a wrong neighbour costs as much as a right one gains. Measured in
`benchmarks/retrieval.py`.
"""

from __future__ import annotations

from functools import lru_cache

from habilis.library.retrieval.terms import stem

_SUBJECTS = """
buy purchase order shop
film movie cinema
picture image photo
car vehicle automobile
flight airline plane airport
hotel accommodation lodging stay
weather forecast temperature climate
email mail message
delete remove erase cancel
create make generate build add
update modify edit change
schedule calendar appointment meeting event
stock share equity market
currency exchange forex
translate translation language
distance route direction navigation
price cost fee expense
money finance financial budget
job career employment vacancy
house home property estate
doctor physician medical health
medicine drug medication
food meal recipe dish cook
restaurant dining eat
music song track
singer artist musician band
book novel author
news headline article
law legal attorney court lawsuit
travel trip tour vacation
sport game match team
calculate compute calculation
convert conversion
average mean
sum total add
search find lookup query
list enumerate
document file pdf
summarize summary abstract
website webpage url link page
gift present
student school education course class
learn tutorial study lesson
code program script programming
user account profile
password credential login authenticate
phone telephone mobile smartphone
company business corporation firm
customer client
discount coupon deal promotion sale
video clip youtube
chart plot graph diagram visualize
astrology horoscope zodiac
fitness exercise workout
pet dog cat animal
plant garden gardening
holiday festival
poem poetry verse
random lottery dice
time clock hour
date day
location place address
nearby near closest local
bank banking transfer payment pay
tax taxation
insurance policy
loan mortgage credit
history historical
population demographic census
area surface
triangle geometry
equation solve
derivative differentiate calculus
probability statistic statistical
reserve reservation book booking
ticket admission
review rating opinion
compare comparison
recommend recommendation suggest suggestion
remind reminder alarm
light lamp
temperature thermostat
sentiment emotion mood feeling
research paper academic scholar
podcast audio
kid child children
fashion clothes clothing outfit
crypto cryptocurrency bitcoin
"""

_UNITS = """
km kilometer kilometre mile meter metre m cm centimeter centimetre mm foot feet inch yard
kg kilogram gram g pound lb ounce oz stone ton tonne
second minute hour day week ms
liter litre l ml gallon pint cup
byte kb mb gb tb kib mib gib kilobyte megabyte gigabyte terabyte
celsius fahrenheit kelvin
eur euro usd dollar gbp pound jpy yen chf inr
"""
"""One line, units of one kind: who names two of them asks for a conversion."""
_OF_UNITS = "convert conversion unit measurement amount rate"


def conversion(asked: frozenset[str]) -> frozenset[str]:
    """The terms of a conversion, where `asked` (stemmed) names two units of one kind: "how many miles are 42 km"."""
    return _of_units() if any(len(asked & kind) > 1 for kind in _kinds_of_units()) else frozenset()


@lru_cache(maxsize=1)
def _of_units() -> frozenset[str]:
    return frozenset(map(stem, _OF_UNITS.split()))


@lru_cache(maxsize=1)
def _kinds_of_units() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem, line.split())) for line in _UNITS.strip().splitlines())


@lru_cache(maxsize=1)
def neighbours() -> dict[str, frozenset[str]]:
    """For each stemmed word of the thesaurus the others of its subjects."""
    found: dict[str, set[str]] = {}
    for line in _SUBJECTS.strip().splitlines():
        words = {stem(word) for word in line.split()}
        for word in words:
            found.setdefault(word, set()).update(words - {word})
    return {word: frozenset(others) for word, others in found.items()}
