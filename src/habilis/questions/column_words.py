"""How a question may say a column: in full, in short, by one word of its name."""

from __future__ import annotations

import re

from habilis.questions.language import stems, words
from habilis.questions.nouns import ADDS_NOTHING, SAME, UNITS

_NOT_ONE = {"seen", "from", "with", "over", "into"}
"""Last words of columns that are none of what they hold."""


def words_for(unit: str) -> list[str]:
    """The words that may be said for a unit."""
    return [one for said in UNITS.values() if unit.lower() in said.split() for one in said.split() if one.isalpha()]


def in_full(name: str) -> list[tuple[str, ...]]:
    own, rate = tuple(stems(name)), tuple(stems(name.replace("/", " per ")))
    if not own:
        return []
    ways = [own, (*own[:-1], f"{own[-1]}ly"), *([rate] if rate != own else [])]
    last = words(name)[-1]
    units = {stem for one in words_for(last) for stem in stems(one)}
    if rate[-2:-1] != ("per",):  # "overtime hours" of "Overtime (h)", "hours" of "Hrs"
        return [*ways, *((*own[:-1], one) for one in units)] if last in ("h", "hrs") else ways  # no heart rate
    ways += [(*rate[:-1], one) for one in units]  # "price per litre" of "Price per L"
    bare = rate[:-3] if len(rate) > 3 and words_for(rate[-3]) else ()
    return [*ways, *((*bare, "per", one) for one in units if bare)]  # "yield per hectare" of "Yield t/ha"


def in_short(name: str) -> list[tuple[str, ...]]:
    """Without a unit or a word that adds nothing at its end, and with a word for a usual abbreviation."""
    name = re.sub(r"(?<=\w) ?[(\[][^)\]]*[)\]]$", "", name)
    own = words(name)
    while len(own) > 1 and (own[-1] in ADDS_NOTHING or any(own[-1] in said.split() for said in UNITS.values())):
        own = own[:-1]
    whole = words(name)
    while len(whole) > 1 and any(whole[-1] in said.split() for said in UNITS.values()):
        whole = whole[:-1]
    short = tuple(stems(" ".join(own)))
    return [tuple(stems(" ".join(whole))), short, tuple(SAME.get(word, word) for word in short)]


def by_one_word(name: str) -> list[tuple[str, ...]]:
    """By its last word that says what it is."""
    short = in_short(re.sub(r"(?<=\w{3}) per \w+$", "", name))[1]
    if re.search(r"\bper \w+$", name):
        return [short] if len(short) == 1 and len(short[0]) > 3 else []  # "price per ball"
    return [short[-1:]] if len(short) > 1 and len(short[-1]) > 3 and short[-1] not in _NOT_ONE else []
