"""Files with one number on each line: which number, or what made of all, a question asks for."""

from __future__ import annotations

import re

from habilis.demo.families.asked import Match, Values
from habilis.demo.families.notes import Notes, own_stems, place_of, shows_numbers
from habilis.questions.language import number, stems
from habilis.questions.operations import DemoOperation
from habilis.questions.prompts import SeenFile
from habilis.questions.world import World

_MADE = ("sum", "mean", "deviation", "median", "range", "mode", "distinct", "even", "odd")
_TESTS = ("at_least", "at_most", "less", "greater", "equals", "between")
_RANKS = {"highest": "highest", "lowest": "lowest", "maximum": "highest", "minimum": "lowest"}
_UNITS = frozenset(
    """step point page calorie visitor guest customer kilometre kilometer km mile metre meter hour minute second
    mm litre liter gram kilo kg kwh euro dollar pound view click download goal lap pushup rep mark cent cost expense
    spending rainfall distance income""".split()  # noqa: SIM905
)
"""What numbers count, so that many of them are their sum."""
_EVENTS = frozenset(
    """walk run ride trip swim session game match order invoice payment donation reading measurement temperature
    price weight score result time bill receipt length height age speed""".split()  # noqa: SIM905
)
"""What has a number each, so that many of them are as many as there are lines."""
_SEVERAL = frozenset(["walk", "run", "ride", "trip", "swim", "session", "game", "match", "order", "invoice", "payment"])


class NumberLines(Notes):
    """Family of questions about the numbers of a text file."""

    def fits(self, file: SeenFile) -> bool:
        return super().fits(file) and shows_numbers(file)

    def worded(self, text: str, file: SeenFile) -> str:
        if own_stems(file) & _SEVERAL and re.search(r"\b(?:days?|weeks?|months?|daily)\b", text, re.IGNORECASE):
            return ""  # of which a day may have several
        return re.sub(r"^total number of (?=units\b)", "total ", super().worded(text, file), flags=re.IGNORECASE)

    def noun_for(self, word: str, told: str, file: SeenFile) -> str:
        """`number` for what a line is, `unit` for what its number counts, `item` for what may be either."""
        stem, own = stems(word), own_stems(file)
        if told and stem == stems(told):
            return "number"
        if {*stem} <= _UNITS and (told or own):
            return "unit"
        short = len(stem) == 1 and any(len(one) > 3 and stem[0].startswith(one) for one in own)  # temps.txt
        if {*stem} <= own or short:
            return "number" if {*stem} <= _EVENTS else "item"
        return ""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        said = {key: text for key, text in match.groupdict().items() if text is not None}
        names = {key.rstrip("0123456789") for key in said}
        numbers = [number(said[key]) for key in said if re.fullmatch(r"n\d*", key)]
        if operation.key == "figure_name":
            return _name(names, said)
        measure = _measure(names, numbers, said)
        if measure is None or None in numbers:
            return None
        if operation.key == "figure_line":
            measure = f"equal {numbers[0]}" if numbers else measure
            return {"measure": measure, "shown": "value" if "value" in names else "line"}
        return {"measure": measure, "part": _part(said)}


def _measure(names: set[str], numbers: list[int | float | None], said: dict[str, str]) -> str | None:
    if test := next((one for one in _TESTS if one in names), None):
        wanted = " ".join(str(one) for one in numbers)
        return f"{'share ' if 'share' in names else ''}{test} {wanted}"
    if "negative" in names:
        return "less 0"
    if place := said.get("place"):
        nth = place_of(place)
        rank = next((one for one in ("highest", "lowest") if one in names), None)
        return nth if rank is None else f"{rank} {nth.removeprefix('nth ')}th" if nth.startswith("nth ") else None
    found = next((one for one in (*_MADE, "maximum", "minimum") if one in names), None)
    return found or ("count" if "count" in names else "" if numbers else None)


def _part(said: dict[str, str]) -> str:
    if "part" not in said:
        return "all"
    return f"{said['part'].lower()} {number(said['size'])}"


def _name(names: set[str], said: dict[str, str]) -> Values | None:
    rank = next((_RANKS[one] for one in _RANKS if one in names), None)
    nth = place_of(said["place"]).removeprefix("nth ") if "place" in said else ""
    return {"rank": f"{rank} {nth}th" if nth else f"{rank} 1"} if rank else None
