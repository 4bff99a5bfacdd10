"""Ways to write a whole number: Roman numerals and number bases."""

from __future__ import annotations

import re

from habilis.demo.families.asked import AskedPatterns, Match, Values
from habilis.questions.language import whole
from habilis.questions.operations import DemoOperation
from habilis.questions.world import CannotAnswerError, World

_BASES = {"binary": 2, "ternary": 3, "octal": 8, "decimal": 10, "hexadecimal": 16, "hex": 16}
_PREFIXES = {"0b": 2, "0o": 8, "0x": 16}


class Numerals(AskedPatterns):
    """Family of Roman numerals and number bases."""

    def values(self, operation: DemoOperation, match: Match, world: World) -> Values | None:
        if operation.key == "convert_base":
            return _in_base(match["digits"].lower(), match.groupdict().get("source"), _base(match["target"]))
        if operation.key == "from_roman":
            meant = match["numeral"].isupper() or re.search(r"\b(?:roman|arabic)", match[0], re.I)
            return {"numeral": match["numeral"]} if meant else None
        number = whole(match["number"])
        if number is not None and not 1 <= number <= 3999:
            raise CannotAnswerError(f"{number} has no Roman numeral; they go from 1 to 3999.")
        return None if number is None else {"number": number}


def _in_base(digits: str, said: str | None, target: int) -> Values | None:
    prefixed = _PREFIXES.get(digits.lstrip("-")[:2])
    source = _base(said) if said else prefixed or 10
    if prefixed == source:
        digits = digits.replace(digits.lstrip("-")[:2], "", 1)
    if not (2 <= source <= 36 and 2 <= target <= 36 and digits.strip("-")):
        return None
    if not said and source == target == 10:
        return None  # "1011 in decimal" leaves open what it is in
    if any(int(digit, 36) >= source for digit in digits.lstrip("-")):
        if not said:
            return None
        raise CannotAnswerError(f"{digits} is not a number in base {source}.")
    return {"digits": digits, "source": source, "target": target}


def _base(name: str) -> int:
    return _BASES.get(name.lower()) or int(re.sub(r"[^0-9]", "", name))
