"""Planted tools, of which some pairs do the same job and some only look alike."""

from __future__ import annotations

from habilis.judging.trials import Case, Question


def _tool(name: str, description: str, parameters: str, result: str) -> dict[str, str]:
    return {"name": name, "description": description, "parameters": parameters, "result": f"result: {result}"}


TOOLS = (
    _tool("number_of_words", "Counts the words of a text.", "text: string", "integer"),
    _tool("list_words", "Lists the words of a text in order.", "text: string", "array"),
    _tool("largest_number", "Finds the largest of some numbers.", "numbers: array", "number"),
    _tool("days_from_to", "Counts the days from one date to another.", "first: string, second: string", "integer"),
    _tool("backwards", "Turns a text around, last letter first.", "text: string", "string"),
    _tool("product_of_list", "Multiplies some numbers.", "numbers: array", "number"),
    _tool("kelvin_from_celsius", "Converts degrees Celsius to kelvins.", "celsius: number", "number"),
    _tool("words_in_text", "Tells how many words a text has.", "content: string", "integer"),
    _tool("in_capitals", "Writes a text in capital letters.", "text: string", "string"),
    _tool("smallest_number", "Finds the smallest of some numbers.", "numbers: array", "number"),
    _tool("add_days", "Gives the date that is some days after another.", "date: string, days: integer", "string"),
    _tool("top_value", "Gives the greatest of the values.", "values: array", "number"),
    _tool("sum_of_list", "Adds some numbers.", "numbers: array", "number"),
    _tool("reversed_text", "Reverses the order of the characters of a string.", "string: string", "string"),
    _tool("fahrenheit_from_celsius", "Converts degrees Celsius to Fahrenheit.", "celsius: number", "number"),
    _tool("in_small_letters", "Writes a text in small letters.", "text: string", "string"),
    _tool("celsius_to_kelvin", "Gives the absolute temperature of a value in degrees C.", "degrees: number", "number"),
)
_SAME = (
    ("number_of_words", "words_in_text"),
    ("largest_number", "top_value"),
    ("backwards", "reversed_text"),
    ("kelvin_from_celsius", "celsius_to_kelvin"),
)
_OTHER = (
    ("largest_number", "smallest_number"),
    ("number_of_words", "list_words"),
    ("days_from_to", "add_days"),
    ("sum_of_list", "product_of_list"),
    ("in_capitals", "in_small_letters"),
    ("kelvin_from_celsius", "fahrenheit_from_celsius"),
)
TWINS = (
    Question(
        {"tools": TOOLS},
        (*(Case(True, {"pair": pair}) for pair in _SAME), *(Case(False, {"pair": pair}) for pair in _OTHER)),
    ),
)
"""One question about all of them. A case is a pair; to accept it is to put both into one cluster."""
