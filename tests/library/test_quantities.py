"""A formula is found by who asks with numbers, units and everyday words; signature and record decide between others."""

from __future__ import annotations

import pytest

from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever
from habilis.library.retrieval.quantities import quantities, yields
from habilis.library.retrieval.relevance import Inquiry, fitting
from habilis.library.retrieval.signature import missing, wanted
from habilis.library.retrieval.weights import WEIGHTS
from habilis.library.tool import card_of
from habilis.library.worth import worth

from .. import formulas


@pytest.mark.parametrize("pairs", [formulas.SEEN, formulas.SET_ASIDE], ids=["seen", "set aside"])
def test_a_formula_is_among_the_first_five_of_two_hundred_tools_and_is_shown(
    pairs: list[tuple[str, ToolCard]],
) -> None:
    index = BM25Retriever(formulas.TOOLS)
    assert len(index) >= 200
    found = [(card, index.search(question, 60), question) for question, card in pairs]
    near = sum(card in cards[:5] for card, cards, _ in found)
    shown = sum(card in fitting(question, cards) for card, cards, question in found)
    assert near >= 22
    assert shown >= 22


@pytest.mark.parametrize(
    ("question", "asked", "given"),
    [
        ("How fast is it?", "speed", None),
        ("How many moles are in 36 g of water?", "mole", "mass"),
        ("How dense is 20 ml with 50 g?", "densiti", "volum"),
        ("What is 20 °C in kelvin?", "temperatur", None),
        ("Sort the list", None, None),
    ],
)
def test_quantities_are_read_from_everyday_words_and_units(question: str, asked: str | None, given: str | None) -> None:
    told = quantities(question)
    assert (asked in told.asked) if asked else not told.asked
    assert (given in told.given) if given else not told.given


def test_what_a_tool_takes_is_not_what_it_gives() -> None:
    assert "speed" in yields("speed", "Speed from distance and time.")
    assert "speed" not in yields("travel_time", "Time from distance and speed.")


def test_a_quantity_in_other_words_puts_no_tool_of_another_above_the_floor() -> None:
    density = ToolCard(name="density", description="Density from mass and volume.")
    assert fitting("How dense is a stone of 150 g that displaces 60 ml?", [density]) == [density]
    assert fitting("How loud is a voice at night?", [density]) == []


def test_a_tool_that_needs_what_the_question_does_not_give_comes_after_one_that_does_not() -> None:
    of_file = ToolCard(name="sum_numbers_b", description="Sum numbers.", parameters=("path",))
    of_list = ToolCard(name="sum_numbers_c", description="Sum numbers.", parameters=("numbers",))
    index = BM25Retriever([of_file, of_list])
    assert index.search("Sum the numbers 1, 2, 3", 2) == [of_list, of_file]
    assert index.search("Sum the numbers of a.csv", 2) == [of_file, of_list]


def test_the_types_of_a_schema_tell_what_must_be_given() -> None:
    schema = {
        "properties": {"n": {"type": "integer"}, "path": {"type": "string"}, "limit": {"type": "number"}},
        "required": ["n"],
    }
    card = card_of("x", "y", schema)
    assert card.types == ("integer", "", "")
    assert wanted(card) == {"number"}
    assert "number" in missing("Which is the best?")
    assert "number" not in missing("Which of 3 is the best?")


def test_worth_decides_between_equals_alone() -> None:
    plain = ToolCard(name="x_sort", description="Sort the rows of a table.")
    proven = ToolCard(name="y_sort", description="Sort the rows of a table.", worth=0.9)
    better = ToolCard(name="z_sort_columns", description="Sort the columns of a table.", worth=0.0)
    index = BM25Retriever([plain, proven, better])
    assert index.search("sort rows", 1) == [proven]
    assert index.search("sort the columns", 1) == [better]


def test_worth_lifts_no_tool_above_the_floor() -> None:
    card = ToolCard(name="lookup", description="Search a log for an entry.")
    question = "What is the capital of France?"
    assert Inquiry(question).of(card) == Inquiry(question).of(card.model_copy(update={"worth": 1.0}))
    assert WEIGHTS.worth < WEIGHTS.named / 10


def test_worth_grows_with_good_calls_and_falls_with_bad_ones_and_with_offers_that_nobody_took() -> None:
    proven = worth({"calls": 8, "success": 8, "tasks": 5})
    assert 1 >= proven > worth({"calls": 1, "success": 1}) > worth({}) > worth({"offered": 30}) > 0
    assert worth({"calls": 8, "success": 2, "failure": 6}) < worth({})


def test_a_past_question_is_known_by_what_was_asked_not_of_what() -> None:
    asked = "Which harbour did 'Calypso' leave in 1997?"
    index = BM25Retriever([ToolCard(name="t", description="Look up.", answered=(asked,))])
    assert index.search("harbour", 1)
    assert index.search("Calypso 1997", 1) == []


def test_of_a_past_question_the_place_that_it_was_about_does_not_count() -> None:
    asked = "Which trains leave the harbour of Bad Salzuflen today?"
    other = ToolCard(name="u", description="Opening hours in Salzuflen.")
    index = BM25Retriever([ToolCard(name="t", description="Look up.", answered=(asked,)), other])
    assert index.search("harbour", 1)[0].name == "t"
    assert [card.name for card in index.search("Salzuflen", 2)] == ["u"]
    german = ToolCard(name="t", description="Look up.", answered=("Wie viele Züge fahren am Hafen ab und nach wo?",))
    assert BM25Retriever([german]).search("Hafen", 1), "German nouns begin large"
