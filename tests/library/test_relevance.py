"""A plan is shown no tool that has nothing to do with its question: a weak model uses whatever it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from habilis.core.types import ToolCard
from habilis.library import LayeredLibrary, Library
from habilis.library.retrieval.relevance import Inquiry, fitting, other_operation, same_but_values, shares_nothing

AVERAGE = ToolCard(
    name="average_of_column", description="Average of a numeric column in a CSV file.", parameters=("path", "column")
)
HIGHEST = ToolCard(
    name="maximum_of_column", description="Find the highest value in a column of a CSV file.", parameters=("path",)
)
DIGEST = ToolCard(name="md5_of_file", description="Compute the MD5 checksum of a file.", parameters=("path",))
SPAN = ToolCard(name="months_between", description="Number of months between two dates.", parameters=("first", "last"))
CONVERT = ToolCard(name="convert_units", description="Converts an amount from one unit of measurement into another.")
HAN = ToolCard(name="计算平均值", description="计算CSV文件中某一列的平均值。")
KANA = ToolCard(name="tool_7", description="CSVファイルの列の最高値を求める。")
CARDS = [AVERAGE, HIGHEST, DIGEST, SPAN, CONVERT, HAN, KANA]


def shown(question: str, *cards: ToolCard) -> list[str]:
    return [card.name for card in fitting(question, cards or CARDS)]


@pytest.mark.parametrize(
    "question",
    [
        "What is the highest value of the price column in sales.csv?",
        "What is the highest price in sales.csv?",
        "What is 48317 times 9274?",
        "What is the SHA-256 of the text 'hello'?",
        "SHA-256 of notes.txt",
        "How many days are there from 2024-02-10 to 2025-03-01?",
        "What is the total value of the inventory in inventory.csv?",
        "How many rows of sales.csv are from March?",
        "Which item in inventory.csv has to be reordered first?",
        "What is the capital of France?",
        "Wie hoch ist der höchste Preis in der Datei sales.csv?",
        "Was ist die Hauptstadt von Frankreich?",
        "sales.csv中价格列的最高值是多少？",
        "sales.csvの最高価格は？",
        "48317乘以9274是多少？",
    ],
)
def test_an_average_is_not_shown_where_something_else_is_asked_for(question: str) -> None:
    assert shown(question, AVERAGE) == []


def test_the_ending_of_a_file_is_no_word_that_a_question_shares_with_a_tool() -> None:
    assert Inquiry("Which item in inventory.csv has to be reordered first?").of(AVERAGE).share == 0
    assert Inquiry("Which CSV has to be reordered first?").of(AVERAGE).share > 0, "where it is said, it counts"


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("What is the average price in sales.csv?", AVERAGE),
        ("mean price of sales.csv", AVERAGE),
        ("Wie hoch ist der durchschnittliche Preis in sales.csv?", AVERAGE),
        ("sales.csv中价格列的平均值是多少？", AVERAGE),
        ("sales.csv の価格の平均はいくらですか？", AVERAGE),
        ("What is the average price in sales.csv?", HAN),
        ("sales.csv中价格列的平均值是多少？", HAN),
        ("sales.csvの価格列の最高値は？", KANA),
        ("What are the average and the highest price in sales.csv?", AVERAGE),
        ("What are the average and the highest price in sales.csv?", HIGHEST),
        ("Which region has the largest price in sales.csv?", HIGHEST),
        ("How many months lie between 2024-01-01 and 2025-03-01?", SPAN),
        ("What is the checksum of notes.txt?", DIGEST),
        ("How many miles are 42 km?", CONVERT),
    ],
)
def test_a_tool_that_does_what_is_asked_for_is_shown_also_alone(question: str, card: ToolCard) -> None:
    assert shown(question, card) == [card.name]


def test_days_are_no_months_and_one_digest_is_no_other() -> None:
    assert shown("How many days lie between 2024-01-01 and 2025-03-01?", SPAN) == []
    assert shown("What is the SHA-256 checksum of the file notes.txt?", DIGEST) == []


def test_a_question_that_says_nothing_by_itself_leaves_all() -> None:
    assert len(shown("What is it?", AVERAGE, CONVERT)) == 2
    assert len(shown("Which is it: 1, 2 or 42?", AVERAGE, CONVERT)) == 2
    assert shown("What is 3 ^ 4?", AVERAGE, CONVERT) == []


def test_a_question_that_a_tool_answered_before_finds_it_again() -> None:
    question = "Which harbour did the Calypso leave last?"
    plain = ToolCard(name="lookup", description="Search a log for an entry.")
    assert shown(question, plain) == []
    known = plain.model_copy(update={"answered": ("Which harbour did the Nautilus leave last?",)})
    assert shown(question, known) == ["lookup"]


def test_the_highest_price_to_pay_is_no_operation() -> None:
    ride = ToolCard(name="find_ride", description="Find a ride in town by its kind, with the highest price to be paid.")
    assert shown("Find a ride in town for the average price", ride) == ["find_ride"]


def test_what_is_like_in_meaning_is_shown_without_a_common_word() -> None:
    film = ToolCard(name="reserve_seats", description="Seats for a show.")
    question = "Get us into the movies tonight"
    assert fitting(question, [film]) == []
    assert fitting(question, [film], {"reserve_seats": 0.6}) == [film]
    assert fitting("the highest price in sales.csv", [AVERAGE], {AVERAGE.name: 0.9}) == []


QUESTIONS = [
    "What is the average price in sales.csv?",
    "sales.csvの価格列の最高値は？",
    "How many miles are 42 km?",
    "计算平均值",
]
WORDS = st.lists(
    st.sampled_from(["plot", "merge", "weather", "翻译", "メール", "parse", "рейс", "invoice"]), min_size=2, max_size=5
)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(QUESTIONS), st.lists(WORDS, max_size=40, unique_by=tuple))
def test_tools_that_have_nothing_to_do_with_it_hide_none(question: str, others: list[list[str]]) -> None:
    alone = shown(question)
    unrelated = [ToolCard(name=f"other_{n}", description=" ".join(words)) for n, words in enumerate(others)]
    assert set(alone) <= set(shown(question, *unrelated, *CARDS))


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_held_against_any_other(question: str, text: str) -> None:
    told = Inquiry(question).of(ToolCard(name="x", description=text, answered=(text,)))
    assert 0 <= told.share <= 1


async def test_a_library_shows_at_most_k_and_none_where_none_fits(
    tmp_path: Path, source_of: Any, put_tool: Any
) -> None:
    library = LayeredLibrary(Library(tmp_path / "private"))
    await put_tool(library.private, source_of("count_rows_of_table"), "count_rows_of_table")
    assert [card.name for card in library.fitting("How many rows does the table have?", 3)] == ["count_rows_of_table"]
    assert library.fitting("What is 48317 times 9274?", 3) == []
    also = [ToolCard(name=f"count_table_rows_{n}", description="Count the rows of a table.") for n in range(30)]
    assert len(library.fitting("How many rows does the table have?", 5, also=also)) == 5


def test_the_word_of_a_plan_gives_a_misfit_away() -> None:
    question = "What is the highest price in sales.csv?"
    assert other_operation(AVERAGE, "finds the highest price") == "highest, not average"
    assert other_operation(AVERAGE, "reads the price column") == ""
    assert other_operation(AVERAGE, "the mean price") == ""
    assert not shares_nothing(question, "reads the prices")
    assert shares_nothing(question, "answers letters to the editor")
    assert not shares_nothing("Wie hoch ist der höchste Preis in der Datei?", "it finds what is in the table")
    assert not shares_nothing("What is 48317 times 9274?", "multiplies 48317 and 9274")


def test_nothing_that_is_measured_depends_on_the_size_of_numbers() -> None:
    shares = {Inquiry(f"What is the average price of {n} rows in sales.csv?").of(AVERAGE).share for n in (1, 10**6)}
    assert len(shares) == 1
    assert np.isfinite(shares.pop())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What is 6 times 7?", "What is 12 times 13.5?", True),
        ("What is the total of count in stock.csv?", "What is the total of count in /data/other.csv?", True),
        ("Reverse the text 'abc'.", 'Reverse the text "xyz".', True),
        (
            "How many days are there from 2026-03-15 to 2026-11-02?",
            "How many days are there from 2020-01-01 to 2020-02-01?",
            True,
        ),
        ("What is the total of count in stock.csv?", "What is the total of price in stock.csv?", False),
        ("What is the SHA-256 digest of 'a'?", "What is the SHA-512 digest of 'a'?", False),
        ("How many orders were paid?", "How many orders were not paid?", False),
        ("Subtract a from b.", "Subtract b from a.", False),
    ],
)
def test_questions_of_the_same_words_differ_in_values_alone(one: str, other: str, same: bool) -> None:
    assert same_but_values(one, other) is same
