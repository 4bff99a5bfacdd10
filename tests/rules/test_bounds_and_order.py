"""What a user would lose: a count over 30 that is one of 30, a second that is the first, 8 / 40 for 40 / 8."""

from __future__ import annotations

from typing import Any

import pytest

from habilis.rules.bounds import narrows_alike
from habilis.rules.evidence import plain
from habilis.rules.number_order import order_is_told

PRICES = "Count the rows of a table with a price"
DAYS = "Count the rows of a table on a date"


@pytest.mark.parametrize(
    ("question", "own", "alike"),
    [
        ("How many have a price over 30?", PRICES, False),
        ("How many have a price over 30?", f"{PRICES} above a value", True),
        ("How many have a price of more than 30?", f"{PRICES} below a value", False),
        ("How many have a price of more than 30?", "count_prices_over_threshold", True),
        ("How many have a price of at least 30?", f"{PRICES} above a value", False),
        ("How many have a price of 30 or more?", f"{PRICES} of at least a value", True),
        ("How many have a price of 30 or more?", PRICES, False),
        ("How many have a price up to $30?", f"{PRICES} of at most a value", True),
        ("How many have a price of no less than 30?", f"{PRICES} from a minimum on", True),
        ("What is the maximum of 3, 5 and 9?", "Find the largest number", True),
        ("How many have a price under 30?", f"{PRICES} < ", True),
        ("How many have a price under 30?", f"{PRICES} <= ", False),
        ("How many are before 2024-01-05?", DAYS, False),
        ("How many are before 2024-01-05?", "Count the rows of a table before a date", True),
        ("How many are until 2024-01-05?", DAYS, False),
        ("How many days are there from 2024-01-05 until 2024-02-05?", "Count the days between dates", True),
        ("How many working days are there from 2024-01-05 to 2024-02-05?", "Count the days between dates", False),
        ("How many days are there from 5 to 9 May, both days included?", "Count the days between dates", False),
        ("How many days from 5 to 9 May, both days included?", "Count days, the first and last day included", True),
        ("What is the second highest price?", "Find the highest price of a table", False),
        ("What is the second highest price?", "Find the n-th highest price of a table", True),
        ("How many seconds are 3 minutes?", "Convert minutes to seconds", True),
        ("How many different towns are there?", "Count the towns of a table", False),
        ("How many different towns are there?", "Count the distinct values of a column", True),
        ("What is the total price over all rows?", "Add up a column", True),
        ("Which line holds 'over 30'?", "Find the line that holds a text", True),
        ("Wie viele kosten mehr als 30?", "Zählt die Zeilen mit einem Preis", False),
        ("Wie viele sind größer als 30?", "Zählt, was größer als ein Wert ist", True),
        ("What is the price per kilo of 30 apples?", "Divide a price by a weight", True),
        ("What is the price per kilo of 30 apples?", "Give a price", False),
    ],
)
def test_a_tool_says_the_bounds_and_ranks_that_its_question_says(question: str, own: str, alike: bool) -> None:
    assert narrows_alike(plain(question), plain(own)) is alike


@pytest.mark.parametrize(
    ("question", "given", "told"),
    [
        ("What is 40 divided by 8?", {"a": 40, "b": 8}, True),
        ("What is 40 divided by 8?", {"a": 8, "b": 40}, False),
        ("What is 40 divided by 8?", {"a": 40.0, "b": "8"}, True),
        ("What is 8 to the power of 40?", {"base": 40, "power": 8}, False),
        ("What is 1,240 minus 8?", {"a": 1240, "b": 8}, True),
        ("Subtract 8 from 40.", {"a": 8, "b": 40}, False),
        ("What is 15 percent of 1,240?", {"percent": 15, "number": 1240}, True),
        ("What is 15 percent of 1,240?", {"number": 1240, "percentage": 15}, True),
        ("What is 15 % of 1,240?", {"number": 1240, "percent": 15}, True),
        ("What is 15 percent of 1,240?", {"a": 1240, "b": 15}, False),
        ("What percentage of 40 is 8?", {"a": 40, "b": 8}, False),
        ("How many times 8 is 40?", {"a": 8, "b": 40}, False),
        ("What is 40 times 8?", {"a": 8, "b": 40}, True),
        ("What is 40 divided by 8?", {"numbers": [40, 8]}, True),
        ("What is 40 divided by 8?", {"numbers": [8, 40]}, False),
        ("What is 8 divided by 8?", {"a": 8, "b": 8}, True),
        ("What is 40 divided by 8, to 2 decimals?", {"a": 40, "b": 8, "places": 2}, True),
    ],
)
def test_numbers_whose_places_matter_are_given_as_the_question_says_them(
    question: str, given: dict[str, Any], told: bool
) -> None:
    assert order_is_told(question, given) is told
