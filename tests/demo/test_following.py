"""What a user would lose: a follow-up that is not understood, or worse, one that is taken for another question."""

from __future__ import annotations

import pytest

from habilis.demo.following import written_out
from habilis.questions.prompts import Seen

SALES = "- {name} (/home/ada/{name}), begins:\n    region,price,quantity\n    north,10,1\n    south,20,2\n"
MEAN = ("What is the average price in sales.csv?", "20")
SUM = ("What is 2+3*4?", "14")


def asked(question: str, *earlier: tuple[str, str], files: tuple[str, ...] = ()) -> str:
    listed = "".join(SALES.format(name=name) for name in files)
    return written_out(Seen("execute", parts={"question": question, "files": listed}, earlier=earlier))


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("and times two?", "What is 14 times two?"),
        ("Times 3", "What is 14 Times 3?"),
        ("now add 5", "What is 14 plus 5?"),
        ("divide that by 7", "What is 14 divided by 7?"),
        ("Subtract 4", "What is 14 minus 4?"),
        ("squared?", "What is 14 squared?"),
        ("What is half of that?", "What is half of 14?"),
        ("is it prime?", "is 14 prime?"),
        ("what is the square root of the result?", "what is the square root of 14?"),
    ],
)
def test_a_number_is_gone_on_with(question: str, meant: str) -> None:
    assert asked(question, SUM) == meant


def test_a_negative_number_is_gone_on_with_as_one() -> None:
    assert asked("squared?", ("What is 3 - 5?", "-2")) == "What is (-2) squared?"


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("And the maximum?", "What is the maximum price in sales.csv?"),
        ("what about the median?", "What is the median price in sales.csv?"),
        ("How about quantity?", "What is the average quantity in sales.csv?"),
        ("And for quantity", "What is the average quantity in sales.csv?"),
        ("and in b.csv?", "What is the average price in b.csv?"),
        ("the same for b.csv", "What is the average price in b.csv?"),
    ],
)
def test_a_part_of_the_question_before_is_replaced(question: str, meant: str) -> None:
    assert asked(question, MEAN, files=("sales.csv", "b.csv")) == meant


def test_the_only_file_can_be_called_it() -> None:
    assert asked("how many rows are in it?", ("What is in there?", "much"), files=("sales.csv",)).endswith(
        "in sales.csv?"
    )


def test_one_follow_up_can_lean_on_another() -> None:
    earlier = (MEAN, ("And the maximum?", "30"), ("and times two?", "60"), ("what about the minimum?", "10"))
    assert asked("and of quantity?", *earlier[:2], files=("sales.csv",)) == "What is the maximum quantity in sales.csv?"
    assert asked("minus 1", *earlier, files=("sales.csv",)) == "What is 10 minus 1?"


@pytest.mark.parametrize(
    ("question", "earlier", "why"),
    [
        (
            "and 2024-03-01?",
            ("How many days are between 2024-01-01 and 2024-02-01?", "31"),
            "it could be either day",
        ),
        ("And the colour?", MEAN, "there is no such column"),
        ("thanks", MEAN, "no question"),
        ("What is love?", MEAN, "a question of its own"),
        ("what is the capital of France?", SUM, "a question of its own"),
        ("and times two?", ("What is the weather?", "sunny"), "no number to go on with"),
        ("And the maximum?", ("Write a poem about sales.csv", "no"), "nothing that was understood"),
    ],
)
def test_what_could_mean_several_things_or_none_stays_as_it_is(
    question: str, earlier: tuple[str, str], why: str
) -> None:
    assert asked(question, earlier, files=("sales.csv",)) == question, why


def test_a_question_that_stands_for_itself_is_never_touched() -> None:
    assert asked("What is 5 + 5?", MEAN, files=("sales.csv",)) == "What is 5 + 5?"
    assert asked("And the maximum?") == "And the maximum?"
