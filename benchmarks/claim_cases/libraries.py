"""The libraries that the questions are asked with: none, one tool that has nothing to do with most, thirty such, and
thirty that do another operation on the same data."""

from __future__ import annotations

from pathlib import Path

_MODULE = '''"""{description}"""
import csv
import hashlib
import json
import math
import re
from datetime import date

from pydantic import BaseModel

__TOOL_META__ = {{"name": "{name}", "description": "{description}", "dependencies": [], "effects": "{effects}"}}


class InputModel(BaseModel):
    {inputs}


class OutputModel(BaseModel):
    result: {kind} | None = None
    error: str | None = None


def rows(path: str) -> list[dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def run(input: InputModel) -> OutputModel:
    return OutputModel(result={result})
'''
_COLUMN = "path: str\n    column: str"
_VALUES = "[float(row[input.column]) for row in rows(input.path)]"

_RATIOS = {
    "miles_to_kilometres": ("miles", "kilometres", "1.609344"),
    "pounds_to_kilograms": ("pounds", "kilograms", "0.45359237"),
    "gallons_to_litres": ("US gallons", "litres", "3.785411784"),
    "inches_to_centimetres": ("inches", "centimetres", "2.54"),
    "acres_to_hectares": ("acres", "hectares", "0.40468564"),
    "knots_to_metres_per_second": ("knots", "metres per second", "0.514444"),
    "bar_to_pascal": ("bar", "pascal", "100000"),
    "calories_to_joules": ("calories", "joules", "4.184"),
    "horsepower_to_watts": ("horsepower", "watts", "745.699872"),
    "light_years_to_parsecs": ("light-years", "parsecs", "0.306601"),
    "ounces_to_grams": ("ounces", "grams", "28.349523125"),
    "feet_to_metres": ("feet", "metres", "0.3048"),
    "carats_to_grams": ("carats", "grams", "0.2"),
    "degrees_to_radians": ("degrees of an angle", "radians", "math.pi / 180"),
    "bytes_to_kibibytes": ("bytes", "kibibytes", "1 / 1024"),
}
_FORMULAS = {
    "area_of_circle": ("Compute the area of a circle from its radius.", "radius: float", "math.pi * input.radius**2"),
    "volume_of_sphere": ("Compute the volume of a sphere.", "radius: float", "4 / 3 * math.pi * input.radius**3"),
    "hypotenuse": (
        "Compute the hypotenuse of a right triangle.",
        "a: float\n    b: float",
        "math.hypot(input.a, input.b)",
    ),
    "body_mass_index": ("Compute a body mass index.", "kg: float\n    m: float", "input.kg / input.m**2"),
    "compound_interest": (
        "Compute a capital with compound interest.",
        "capital: float\n    rate: float\n    years: int",
        "input.capital * (1 + input.rate) ** input.years",
    ),
    "ohms_law_current": (
        "Compute a current from voltage and resistance.",
        "v: float\n    r: float",
        "input.v / input.r",
    ),
    "kinetic_energy": ("Compute a kinetic energy.", "mass: float\n    speed: float", "input.mass * input.speed**2 / 2"),
    "is_leap_year": ("Tell whether a year is a leap year.", "year: int", "input.year % 4 == 0"),
    "caesar_shift": ("Shift each letter of a text along the alphabet.", "text: str\n    by: int", "input.text"),
    "is_palindrome": ("Tell whether a text is a palindrome.", "text: str", "input.text == input.text[::-1]"),
    "count_vowels": ("Count the vowels of a text.", "text: str", "sum(c in 'aeiou' for c in input.text)"),
    "title_case": ("Write a text with capital letters at the start of words.", "text: str", "input.text.title()"),
    "hex_to_decimal": ("Convert a hexadecimal number to decimal.", "number: str", "int(input.number, 16)"),
    "greatest_common_divisor": (
        "Compute a greatest common divisor.",
        "a: int\n    b: int",
        "math.gcd(input.a, input.b)",
    ),
}
_ALIKE = {
    "average_of_column": ("Average one column of a CSV file.", _COLUMN, f"sum({_VALUES}) / len({_VALUES})"),
    "lowest_of_column": ("Find the lowest value in a column of a CSV file.", _COLUMN, f"min({_VALUES})"),
    "range_of_two_columns": (
        "Subtract the sums of two columns of a CSV file.",
        "path: str\n    first: str\n    second: str",
        "sum(float(r[input.first]) - float(r[input.second]) for r in rows(input.path))",
    ),
    "count_columns": ("Count the columns of a CSV file.", "path: str", "len(rows(input.path)[0])"),
    "count_distinct_values": (
        "Count the different values in a column of a CSV file.",
        _COLUMN,
        "len({row[input.column] for row in rows(input.path)})",
    ),
    "first_value_of_column": (
        "Give the first value in a column of a CSV file.",
        _COLUMN,
        "rows(input.path)[0][input.column]",
    ),
    "last_value_of_column": (
        "Give the last value in a column of a CSV file.",
        _COLUMN,
        "rows(input.path)[-1][input.column]",
    ),
    "longest_value_of_column": (
        "Give the longest text in a column of a CSV file.",
        _COLUMN,
        "max((row[input.column] for row in rows(input.path)), key=len)",
    ),
    "count_lines": ("Count the lines of a text file.", "path: str", "len(open(input.path).readlines())"),
    "count_characters": ("Count the characters of a text file.", "path: str", "len(open(input.path).read())"),
    "longest_word": (
        "Find the longest word of a text file.",
        "path: str",
        "max(open(input.path).read().split(), key=len)",
    ),
    "first_line": ("Give the first line of a text file.", "path: str", "open(input.path).readline().strip()"),
    "last_line": ("Give the last line of a text file.", "path: str", "open(input.path).readlines()[-1].strip()"),
    "count_warnings": ("Count the WARN lines of a log file.", "path: str", "open(input.path).read().count('WARN')"),
    "count_info": ("Count the INFO lines of a log file.", "path: str", "open(input.path).read().count('INFO')"),
    "last_timestamp": ("Give the last time in a log file.", "path: str", "open(input.path).readlines()[-1].split()[0]"),
    "count_json_items": ("Count the items of a JSON list.", "path: str", "len(json.load(open(input.path)))"),
    "keys_of_json": ("List the keys in a JSON file.", "path: str", "', '.join(json.load(open(input.path))[0])"),
    "add_numbers": ("Add two numbers.", "a: float\n    b: float", "input.a + input.b"),
    "subtract_numbers": ("Subtract one number from another.", "a: float\n    b: float", "input.a - input.b"),
    "quotient": (
        "Divide one whole number by another, without the remainder.",
        "a: int\n    b: int",
        "input.a // input.b",
    ),
    "sum_of_squares": ("Sum the squares from 1 to n.", "n: int", "sum(i * i for i in range(1, input.n + 1))"),
    "mean_of_numbers": (
        "Average a list of numbers.",
        "numbers: list[float]",
        "sum(input.numbers) / len(input.numbers)",
    ),
    "smallest_prime_factor": (
        "Find the smallest prime factor of a number.",
        "n: int",
        "next(d for d in range(2, input.n + 1) if input.n % d == 0)",
    ),
    "celsius_to_fahrenheit": ("Convert degrees Celsius to Fahrenheit.", "celsius: float", "input.celsius * 9 / 5 + 32"),
    "months_between": (
        "Count the months between two dates.",
        "first: str\n    last: str",
        "(date.fromisoformat(input.last).year - date.fromisoformat(input.first).year) * 12",
    ),
    "day_of_year": (
        "Give the number of a date's day in its year.",
        "day: str",
        "date.fromisoformat(input.day).timetuple().tm_yday",
    ),
    "md5_digest": ("Compute the MD5 digest of a text.", "text: str", "hashlib.md5(input.text.encode()).hexdigest()"),
    "upper_case": ("Write a text in capital letters.", "text: str", "input.text.upper()"),
    "count_words_in_text": ("Count the words of a text.", "text: str", "len(input.text.split())"),
}
LIBRARIES = ("empty", "one unrelated", "30 unrelated", "30 look-alikes")


def make(kind: str, folder: Path) -> None:
    """Write the library called `kind` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    tools: dict[str, tuple[str, str, str]] = {}
    if kind == "one unrelated":
        tools = {"average_of_column": _ALIKE["average_of_column"]}
    elif kind == "30 unrelated":
        ratios = {
            name: (f"Convert {source} to {target}.", "value: float", f"input.value * {ratio}")
            for name, (source, target, ratio) in _RATIOS.items()
        }
        tools = {**ratios, **_FORMULAS, "average_of_column": _ALIKE["average_of_column"]}
    elif kind == "30 look-alikes":
        tools = _ALIKE
    for name, (description, inputs, result) in tools.items():
        reads = "input.path" in result
        source = _MODULE.format(
            name=name,
            description=description,
            inputs=inputs,
            result=result,
            kind="object",
            effects="reads" if reads else "pure",
        )
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
