"""Units of measure: an amount in one unit as the same amount in another."""

from __future__ import annotations

import re

from habilis.demo.operations import Example, Operation, Slot, worded
from habilis.demo.world import Call, CannotAnswerError, World

UNITS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "length": (
        ("1", "0", "m|meter|meters|metre|metres"),
        ("1000", "0", "km|kilometer|kilometers|kilometre|kilometres"),
        ("0.01", "0", "cm|centimeter|centimeters|centimetre|centimetres"),
        ("0.001", "0", "mm|millimeter|millimeters|millimetre|millimetres"),
        ("1609.344", "0", "mi|mile|miles"),
        ("0.9144", "0", "yd|yard|yards"),
        ("0.3048", "0", "ft|foot|feet"),
        ("0.0254", "0", "inch|inches"),
        ("1852", "0", "nmi|nautical mile|nautical miles"),
    ),
    "mass": (
        ("1", "0", "kg|kilogram|kilograms|kilogramme|kilogrammes|kilo|kilos"),
        ("0.001", "0", "g|gram|grams|gramme|grammes"),
        ("0.000001", "0", "mg|milligram|milligrams"),
        ("1000", "0", "tonne|tonnes|metric ton|metric tons"),
        ("0.45359237", "0", "lb|lbs|pound|pounds"),
        ("0.028349523125", "0", "oz|ounce|ounces"),
        ("6.35029318", "0", "stone|stones"),
    ),
    "time": (
        ("1", "0", "s|sec|second|seconds"),
        ("0.001", "0", "ms|millisecond|milliseconds"),
        ("60", "0", "min|minute|minutes"),
        ("3600", "0", "h|hr|hour|hours"),
        ("86400", "0", "d|day|days"),
        ("604800", "0", "wk|week|weeks"),
        ("1209600", "0", "fortnight|fortnights"),
    ),
    "volume": (
        ("1", "0", "l|liter|liters|litre|litres"),
        ("0.001", "0", "ml|milliliter|milliliters|millilitre|millilitres"),
        ("0.01", "0", "cl|centiliter|centiliters|centilitre|centilitres"),
        ("1000", "0", "m3|m³|cubic meter|cubic meters|cubic metre|cubic metres"),
        ("3.785411784", "0", "us gallon|us gallons"),
        ("4.54609", "0", "imperial gallon|imperial gallons"),
        ("0.473176473", "0", "us pint|us pints"),
        ("0.56826125", "0", "imperial pint|imperial pints"),
    ),
    "area": (
        ("1", "0", "m2|m²|square meter|square meters|square metre|square metres"),
        ("1000000", "0", "km2|km²|square kilometer|square kilometers|square kilometre|square kilometres"),
        ("10000", "0", "ha|hectare|hectares"),
        ("4046.8564224", "0", "acre|acres"),
        ("0.09290304", "0", "ft2|ft²|square foot|square feet"),
    ),
    "speed": (
        ("1", "0", "m/s|meters per second|metres per second"),
        ("5/18", "0", "km/h|kmh|kph|kilometers per hour|kilometres per hour"),
        ("0.44704", "0", "mph|miles per hour"),
        ("463/900", "0", "kn|knot|knots"),
    ),
    "temperature": (
        ("1", "0", "k|kelvin|kelvins"),
        ("1", "273.15", "°c|c|celsius|degrees celsius|degree celsius|degrees c"),
        ("5/9", "45967/180", "°f|f|fahrenheit|degrees fahrenheit|degree fahrenheit|degrees f"),
    ),
    "data": (
        ("1", "0", "b|byte|bytes"),
        ("0.125", "0", "bit|bits"),
        ("1000", "0", "kb|kilobyte|kilobytes"),
        ("1000000", "0", "mb|megabyte|megabytes"),
        ("1000000000", "0", "gb|gigabyte|gigabytes"),
        ("1000000000000", "0", "tb|terabyte|terabytes"),
        ("1024", "0", "kib|kibibyte|kibibytes"),
        ("1048576", "0", "mib|mebibyte|mebibytes"),
        ("1073741824", "0", "gib|gibibyte|gibibytes"),
    ),
    "energy": (
        ("1", "0", "j|joule|joules"),
        ("1000", "0", "kj|kilojoule|kilojoules"),
        ("3600000", "0", "kwh|kilowatt hour|kilowatt hours|kilowatt-hour|kilowatt-hours"),
        ("4.184", "0", "cal|calorie|calories"),
        ("4184", "0", "kcal|kilocalorie|kilocalories"),
    ),
    "pressure": (
        ("1", "0", "pa|pascal|pascals"),
        ("100", "0", "hpa|hectopascal|hectopascals"),
        ("1000", "0", "kpa|kilopascal|kilopascals"),
        ("100000", "0", "bar|bars"),
        ("6894.757293168", "0", "psi|pounds per square inch"),
    ),
}
"""Units by what they measure: factor and offset to the base unit (base = amount * factor + offset), spellings.

Exact values of the international definitions (SI Brochure, 9th edition; yard and pound agreement of 1959), psi but for
its last digits. Prefixes of bytes are decimal. What differs by country (a bare "gallon", "ton") is left out.
"""


def _table(symbols_only: bool) -> str:
    """The table as a tool has it: what a unit measures, factor, offset, spellings, a line for each unit."""
    return "\n".join(
        f"{measure} {factor} {offset} {spellings.partition('|')[0] if symbols_only else spellings}"
        for measure, units in UNITS.items()
        for factor, offset, spellings in units
    )


AMOUNT = Slot("amount", "number", "how much there is", ("value", "amount", "quantity"))
SOURCE = Slot("source", "string", "unit that the amount is in", ("from_unit", "source_unit", "unit_from"))
TARGET = Slot("target", "string", "unit that is wanted", ("to_unit", "target_unit", "unit_to"))
RESULT = Slot("converted", "number", "the amount in the wanted unit", ("converted_value", "result", "converted_amount"))

CONVERT = Operation(
    key="convert_unit",
    description="{word} an amount from one unit of measure into another of the same kind (lengths, masses, times,"
    " volumes, areas, speeds, temperatures, data sizes, energies, pressures).",
    inputs=(AMOUNT, SOURCE, TARGET),
    output=RESULT,
    wordings=worded(
        (AMOUNT, SOURCE, TARGET, RESULT),
        ("convert", "convert_units", "Converts"),
        ("how many", "convert_measurement", "Converts"),
        ("express|write|give", "express_in_unit", "Expresses"),
        ("", "change_unit_of_measure", "Changes"),
        ("", "translate_measurement_unit", "Translates"),
    ),
    marks=("units? of measure|measurement", "convert|express|change|translate"),
    bars="rate|currency|file",
    example=Example({"amount": 2, "source": "km", "target": "m"}),
    finding="{amount} {source} is {value} {target}",
    naive="convert_unit_naive",
    robust="convert_unit_robust",
    fill={"symbols": _table(True), "spellings": _table(False)},
)

_MEASURES = {
    spelling: measure for measure, units in UNITS.items() for *_, names in units for spelling in names.split("|")
}
_UNIT = "|".join(re.escape(spelling) for spelling in sorted(_MEASURES, key=len, reverse=True))
_FROM, _TO = rf"(?P<source>{_UNIT})", rf"(?P<target>{_UNIT})"
_AMOUNT = r"(?P<amount>.+?)(?:(?<=[0-9])| )"
_INTO = r"(?:to|into|in|as)"
_FORMS = (
    rf"(?:convert|change|express|turn|translate) (?P<amount>.+?),? from {_FROM} {_INTO} {_TO}",
    rf"(?:convert|change|express|write|give|turn|translate) {_AMOUNT}{_FROM} {_INTO} {_TO}",
    rf"how (?:many|much) {_TO} (?:are|is|do|does|make|makes|equals?|correspond to|would be)(?: there)?(?: in)? "
    rf"{_AMOUNT}{_FROM}(?: have| has| make| makes| equal| equals| contain| contains| correspond to)?",
    rf"how (?:much|long|far|heavy|fast|hot|warm|cold|big|large|tall|high) (?:is|are) {_AMOUNT}{_FROM} {_INTO} {_TO}",
    rf"{_AMOUNT}{_FROM} (?:in|to|into|as|(?:expressed|measured|given|written|converted) (?:in|to|into)"
    rf"|is how many) {_TO}",
)


class Units:
    """Family of conversions between units of one kind; the amount may be what another tool finds."""

    operations = (CONVERT,)

    def read(self, phrase: str, world: World) -> Call | None:
        for pattern in _FORMS:
            match = re.fullmatch(pattern, phrase, re.IGNORECASE)
            amount = _amount(match["amount"], world) if match else None
            if match is None or amount is None:
                continue
            source, target = match["source"].lower(), match["target"].lower()
            if _MEASURES[source] != _MEASURES[target]:
                raise CannotAnswerError(f"{source} cannot be converted into {target}.")
            return Call(CONVERT, {"amount": amount, "source": source, "target": target})
        return None


def _amount(text: str, world: World) -> int | float | Call | None:
    text = text.strip()
    return 1 if text.lower() in ("a", "an") else world.amount(re.sub(r"^the ", "", text, flags=re.I))
