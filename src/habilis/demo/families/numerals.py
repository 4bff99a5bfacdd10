"""Ways to write a whole number: Roman numerals and number bases."""

from __future__ import annotations

import re

from habilis.demo.language import whole
from habilis.demo.operations import Example, Operation, Slot, worded
from habilis.demo.world import Call, CannotAnswerError, World

NUMBER = Slot("number", "integer", "the whole number, from 1 to 3999", ("number", "value", "n"))
NUMERAL = Slot("numeral", "string", "the Roman numeral", ("numeral", "roman_numeral", "roman"))
DIGITS = Slot("digits", "string", "the number in its first base", ("digits", "number", "value"))
SOURCE = Slot(
    "source", "integer", "base that the number is written in, 2 to 36", ("from_base", "source_base", "base_in")
)
TARGET = Slot("target", "integer", "base that is wanted, 2 to 36", ("to_base", "target_base", "base_out"))
ROMAN = Slot("roman", "string", "the Roman numeral", ("roman_numeral", "numeral", "result"))
ARABIC = Slot("arabic", "integer", "the number", ("number", "value", "result"))
REWRITTEN = Slot("rewritten", "string", "the number in the wanted base", ("converted", "result", "digits_out"))

TO_ROMAN = Operation(
    key="to_roman",
    description="{word} a whole number as a Roman numeral.",
    inputs=(NUMBER,),
    output=ROMAN,
    wordings=worded(
        (NUMBER, ROMAN),
        ("convert", "convert_number_to_roman", "Writes"),
        ("", "write_roman_numeral", "Writes"),
        ("", "encode_roman_numeral", "Writes"),
    ),
    marks=("number as a roman numeral",),
    example=Example({"number": 14}),
    finding="{number} is {value} in Roman numerals",
    naive="to_roman",
    robust="to_roman",
)
FROM_ROMAN = Operation(
    key="from_roman",
    description="{word} a Roman numeral as the whole number that it stands for.",
    inputs=(NUMERAL,),
    output=ARABIC,
    wordings=worded(
        (NUMERAL, ARABIC),
        ("convert", "convert_roman_numeral", "Reads"),
        ("", "read_roman_numeral", "Reads"),
        ("", "parse_roman_numeral", "Reads"),
    ),
    marks=("roman numeral as the whole number",),
    example=Example({"numeral": "XIV"}),
    finding="the Roman numeral {numeral} stands for {value}",
    naive="from_roman_naive",
    robust="from_roman_robust",
)
BASE = Operation(
    key="convert_base",
    description="{word} a whole number from one number base in another.",
    inputs=(DIGITS, SOURCE, TARGET),
    output=REWRITTEN,
    wordings=worded(
        (DIGITS, SOURCE, TARGET, REWRITTEN),
        ("convert", "convert_number_base", "Writes"),
        ("write|express", "write_number_in_base", "Writes"),
        ("", "change_number_base", "Writes"),
        ("", "rewrite_in_base", "Writes"),
    ),
    marks=("number base",),
    example=Example({"digits": "101", "source": 2, "target": 10}),
    finding="{digits} in base {source} is {value} in base {target}",
    naive="convert_base_naive",
    robust="convert_base_robust",
)

_ROMAN = r"(?P<roman>[MDCLXVI]+)"
_NUMERAL = r"(?:roman (?:numerals?|numbers?|notation|form)|romans?)"
_TO_FORMS = (
    rf"(?:convert |write |express |turn |translate )?(?:the )?(?:number |year )?(?P<n>\S+)(?: written| expressed)?"
    rf" (?:in|to|as|into)(?: an?| the)? {_NUMERAL}",
    rf"{_NUMERAL} (?:for|of) (?:the )?(?:number |year )?(?P<n>\S+)",
    rf"how (?:is|do you write|would you write|to write) (?:the )?(?:number |year )?(?P<n>\S+)(?: written)? in"
    rf" {_NUMERAL}",
)
_ARABIC = (
    r"(?:an? |the )?(?:(?:arabic|decimal|ordinary|normal|whole) )?(?:numbers?|numerals?|integer|digits|decimal|value)"
)
_FROM_FORMS = (
    rf"(?:convert |read |translate |turn )?(?:the )?(?:{_NUMERAL} )?{_ROMAN}(?: is)?(?: written| expressed)? (?:in"
    rf"|to|as|into) {_ARABIC}",
    rf"(?:decode|read) the {_NUMERAL} {_ROMAN}",
    rf"(?:(?:what|which) )?(?:number|value|integer|decimal value|numeric value) (?:of|for|is|behind)? ?"
    rf"(?:the )?{_NUMERAL} {_ROMAN}",
    rf"(?:what|which) (?:number|value) (?:does|is) (?:the )?(?:{_NUMERAL} )?{_ROMAN}(?: stand for| represent| mean"
    rf"| denote)?",
    rf"what does (?:the )?{_NUMERAL} {_ROMAN} (?:stand for|represent|mean|denote)",
    rf"{_NUMERAL} {_ROMAN}",
)
_BASES = {"binary": 2, "ternary": 3, "octal": 8, "decimal": 10, "hexadecimal": 16, "hex": 16}
_PREFIXES = {"0b": 2, "0o": 8, "0x": 16}
_NAMED = r"(?:binary|ternary|octal|decimal|hexadecimal|hex|base[ -]?[0-9]{1,2})"
_X = r"(?P<x>-?[0-9a-z]+)"
_SOURCE, _TARGET = rf"(?P<source>{_NAMED})", rf"(?P<target>{_NAMED})"
_SYSTEM = r"(?: (?:number|notation|system|form|digits|representation))?"
_BASE_FORMS = (
    rf"(?:convert|write|express|change|turn|translate) (?:the )?(?:{_SOURCE} )?(?:number |value )?{_X} (?:in)?"
    rf"(?:to|in|as) (?:an? )?{_TARGET}{_SYSTEM}",
    rf"(?:convert|change|translate) (?:the )?(?:number )?{_X} from {_SOURCE} (?:in)?to {_TARGET}{_SYSTEM}",
    rf"(?:the )?(?:{_SOURCE} )?(?:number |value )?{_X}(?: written| expressed)? (?:in|to|as|into) "
    rf"(?:an? )?{_TARGET}{_SYSTEM}",
    rf"(?:the )?(?:number )?{_X} (?:in |of |\()?{_SOURCE}\)?,?(?: is)?(?: written| expressed)? (?:in|to|as|into)"
    rf" {_TARGET}{_SYSTEM}",
    rf"{_TARGET} (?:representation|form|value|notation|equivalent|number) (?:of|for) (?:the )?(?:{_SOURCE} )?"
    rf"(?:number |value )?{_X}",
    rf"how (?:is|do you write|would you write) (?:the )?(?:{_SOURCE} )?(?:number )?{_X}(?: written)? in"
    rf" {_TARGET}{_SYSTEM}",
)


class Numerals:
    """Family of Roman numerals and number bases."""

    operations = (TO_ROMAN, FROM_ROMAN, BASE)

    def read(self, phrase: str, world: World) -> Call | None:
        return _roman(phrase) or _base(phrase)


def _roman(phrase: str) -> Call | None:
    for form in _TO_FORMS:
        match = re.fullmatch(form, phrase, re.I)
        number = whole(match["n"]) if match else None
        if number is not None:
            if not 1 <= number <= 3999:
                raise CannotAnswerError(f"{number} has no Roman numeral; they go from 1 to 3999.")
            return Call(TO_ROMAN, {"number": number})
    for form in _FROM_FORMS:
        match = re.fullmatch(form, phrase, re.I)
        if match and (match["roman"].isupper() or re.search(r"\b(?:roman|arabic)", phrase, re.I)):
            return Call(FROM_ROMAN, {"numeral": match["roman"]})
    return None


def _base(phrase: str) -> Call | None:
    for form in _BASE_FORMS:
        match = re.fullmatch(form, phrase, re.I)
        if not match:
            continue
        digits = match["x"].lower()
        said = match.groupdict().get("source")
        source = _number_of(said) if said else _PREFIXES.get(digits.lstrip("-")[:2], 10)
        if _PREFIXES.get(digits.lstrip("-")[:2]) == source:
            digits = digits.replace(digits.lstrip("-")[:2], "", 1)
        target = _number_of(match["target"])
        if not (2 <= source <= 36 and 2 <= target <= 36 and digits.strip("-")):
            continue
        if not said and source == target == 10:
            continue  # "1011 in decimal" leaves open what it is in
        if any(int(digit, 36) >= source for digit in digits.lstrip("-")):
            if not said:
                continue
            raise CannotAnswerError(f"{digits} is no number in base {source}.")
        return Call(BASE, {"digits": digits, "source": source, "target": target})
    return None


def _number_of(base: str) -> int:
    return _BASES.get(base.lower()) or int(re.sub(r"[^0-9]", "", base))
