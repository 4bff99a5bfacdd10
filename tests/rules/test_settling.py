"""What a user would lose: a claim that rules accept without a judge, though another look would have refused it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.types import CallOutcome, Invocation, TaskFile, ToolCard
from habilis.rules.refusing import Evidence, refusal
from habilis.rules.rounding import keeps_to, rounded
from habilis.rules.settling import OwnTool, plain_telling, settled, words_in


def called(
    output: Any, tool: str = "t", attempt: int = 1, opened: tuple[str, ...] = (), **arguments: Any
) -> Invocation:
    outcome = CallOutcome(output=output, opened=opened)
    return Invocation(
        call_id="c",
        tool=tool,
        outcome=outcome,
        arguments=arguments,
        text=str(output),
        attempt=attempt,
        verdict="success",
    )


def why(
    question: str,
    answer: str,
    *calls: Invocation,
    does: str,
    files: tuple[str, ...] = (),
    written: bool = True,
    words: tuple[str, ...] = (),
) -> str:
    """Why rules accept `answer`; empty where they do not, or where a rule refuses it before."""
    named = [TaskFile(path=f"/data/{name}", named=f"/data/{name}") for name in files]
    evidence = Evidence(answer, question, calls, 1, files=named)
    if refusal(evidence):
        return ""
    card = ToolCard(name="t", description=does)
    return settled(evidence, lambda name: OwnTool(card, words) if written else None)


SUM = "What is the sum of 13, 25 and 39?"
ADDS = "Adds numbers."
TOTAL = called({"result": 77, "error": None}, numbers=[13, 25, 39])


def test_one_result_of_a_tool_written_for_the_question_is_settled() -> None:
    assert why(SUM, "The sum is 77.", TOTAL, does=ADDS)
    assert why(SUM, "77", TOTAL, TOTAL, does=ADDS)


@pytest.mark.parametrize(
    ("answer", "calls", "does", "written"),
    [
        ("The sum is 77.", [TOTAL], ADDS, False),
        ("The sum is 77.", [TOTAL], "Computes the average of numbers.", True),
        ("The sum is 77, or 80.", [TOTAL], ADDS, True),
        ("The sum is 39.", [TOTAL], ADDS, True),
        ("It was computed with care.", [TOTAL], ADDS, True),
        ("The sum is 38.", [called({"result": 38}, numbers=[13, 25])], ADDS, True),
        ("The sum is 86.", [called({"result": 86}, numbers=[13, 25, 48])], ADDS, True),
        ("The sum is 77.", [TOTAL, called({"result": 64}, numbers=[25, 39])], ADDS, True),
        ("The sum is 77.", [], ADDS, True),
        ("The sum is 77.", [TOTAL.model_copy(update={"attempt": 2})], ADDS, True),
        ("It is so.", [called({"result": True}, numbers=[13, 25, 39])], ADDS, True),
    ],
    ids=[
        "a library's tool",
        "another operation",
        "another value too",
        "a value of the question",
        "no value",
        "not all of the question",
        "an invented argument",
        "two results",
        "no call",
        "of another attempt",
        "a bare yes",
    ],
)
def test_what_is_less_or_more_than_that_is_not(answer: str, calls: list[Invocation], does: str, written: bool) -> None:
    assert why(SUM, answer, *calls, does=does, written=written) == ""


def rents(result: Any, opened: bool = True, **arguments: Any) -> Invocation:
    given = {"path": "/data/flats.csv", "column": "rent", "city": "Aarhus", **arguments}
    return called({"result": result}, opened=("/data/flats.csv",) if opened else (), **given)


HIGHEST = "What is the highest rent in Aarhus in flats.csv?"
FINDS = "Finds the highest value of a column for one city."


def test_a_file_that_the_call_opened_and_columns_that_the_question_names() -> None:
    assert why(HIGHEST, "The highest rent in Aarhus is 9,150.", rents(9150), does=FINDS, files=("flats.csv",))
    assert why(HIGHEST, "It is 9150.25.", rents(9150.2512), does=FINDS, files=("flats.csv",))


@pytest.mark.parametrize(
    "call",
    [rents(9150, opened=False), rents(9150, city="Odense"), rents(9150, column="deposit"), rents(9150, top=3)],
    ids=["not opened", "another city", "another column", "a number that nobody gave"],
)
def test_the_same_on_something_else_is_not_settled(call: Invocation) -> None:
    assert why(HIGHEST, "The highest rent in Aarhus is 9150.", call, does=FINDS, files=("flats.csv",)) == ""


@pytest.mark.parametrize("happens", ["did the first ERROR happen", "does ERROR occur first"])
def test_that_something_happened_says_nothing_of_what_is_asked(happens: str) -> None:
    call, does = called({"time": "08:00:09"}, text="INFO 08:00:01, ERROR 08:00:09"), "Finds the time of the first word."
    said = f"At what time {happens} in the text 'INFO 08:00:01, ERROR 08:00:09'?"
    assert why(said, "08:00:09", call, does=does)


def test_a_list_is_settled_when_all_of_it_is_told() -> None:
    names, question = called({"result": ["Ada", "Bea"]}, text="Ada Bea"), "Which names are in 'Ada Bea'?"
    assert why(question, "Ada and Bea", names, does="Lists the names in a text.")
    assert why(question, "Ada", names, does="Lists the names in a text.") == ""


CELSIUS = "Convert 72 degrees Fahrenheit to Celsius"
INTO_CELSIUS = called({"celsius": 22.22222222222222}, fahrenheit=72)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (", to one decimal.", "22.2"),
        (", rounded to 2 decimal places.", "It is 22.22 degrees Celsius."),
        (". Round the result to the nearest whole number.", "22"),
        (" with three decimals", "22.222"),
        (" (to two digits after the point)", "22.22"),
        (".", "22.22"),
    ],
)
def test_an_answer_that_is_rounded_as_the_question_wants_it_is_settled(said: str, answer: str) -> None:
    assert why(CELSIUS + said, answer, INTO_CELSIUS, does="Converts Fahrenheit to Celsius.")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (", to one decimal.", "22.22"),
        (", to one decimal.", "22.3"),
        (", to two decimals.", "about 22, or 22.222"),
        (", to the nearest cent.", "22.2222"),
        (", to one decimal, and to two decimals.", "22.2 and 22.22"),
        (", with one decimal comma.", "22.2"),
    ],
)
def test_an_answer_that_is_not_rounded_so_is_not(said: str, answer: str) -> None:
    assert not why(CELSIUS + said, answer, INTO_CELSIUS, does="Converts Fahrenheit to Celsius.")


def test_a_result_that_is_told_as_it_came_is_rounded_as_the_question_wants_it() -> None:
    card = ToolCard(name="t", description="Converts Fahrenheit to Celsius.")
    evidence = Evidence("", f"{CELSIUS}, to one decimal.", [INTO_CELSIUS], 1)
    told = plain_telling(evidence, lambda name: OwnTool(card, ()))
    assert told is not None
    assert told.answer == "22.2"
    assert rounded({"a": [0.125, 2, "x", None, True], "b": float("nan")}, 2)["a"] == [0.13, 2, "x", None, True]
    assert rounded(2.5, 0) == 3
    assert str(rounded(float("nan"), 0)) == "nan", "a result that is no number ended the task"


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_what_is_rounded_keeps_to_it(value: float, places: int) -> None:
    assert keeps_to(places, format(rounded(value, places), "f").rstrip("0"), [str(value)])


def test_dates_may_be_written_in_another_way() -> None:
    question = "How many days are there from 15 March 2026 to 2 November 2026?"
    call = called({"days": 232}, first="2026-03-15", last="2026-11-02")
    assert why(question, "There are 232 days.", call, does="Counts the days between two dates.")
    other = called({"days": 233}, first="2026-03-14", last="2026-11-02")
    assert why(question, "There are 233 days.", other, does="Counts the days between two dates.") == ""


ROW = called(
    {"maximum": 14.2, "row": {"station": "Bergen", "wind": 14.2, "rain": 3.1}}, opened=("/data/w.csv",), column="wind"
)
BOTH = called({"station": "Bergen", "maximum": 14.2}, opened=("/data/w.csv",), column="wind")
ENDS = called({"minimum": 1.5, "maximum": 14.2}, opened=("/data/w.csv",), column="wind")
WIND = "What is the highest wind in w.csv?"


@pytest.mark.parametrize(
    ("question", "answer", "call"),
    [
        (WIND, "The highest wind is 14.2.", ROW),
        (WIND, "14.2, at Bergen", ROW),
        ("Which station has the highest wind in w.csv?", "Bergen", BOTH),
        (WIND, "14.2", BOTH),
    ],
)
def test_a_record_or_a_name_beside_the_result_may_be_left_out(question: str, answer: str, call: Invocation) -> None:
    assert why(question, answer, call, does="Finds the highest value of a column.", files=("w.csv",))


@pytest.mark.parametrize(("answer", "call"), [("3.1", ROW), ("1.5", ENDS), ("14.2", ENDS), ("Oslo, 14.2", ROW)])
def test_one_number_of_two_or_one_of_the_record_alone_is_not_settled(answer: str, call: Invocation) -> None:
    assert not why(WIND, answer, call, does="Finds the highest value of a column.", files=("w.csv",))


LINES = called({"count": 6}, opened=("/data/s.log",), path="/data/s.log")


def test_a_word_of_the_question_that_the_call_knows_nothing_of_leaves_it_open() -> None:
    counts = "Count the lines of a file."
    assert why("How many lines does s.log have?", "6", LINES, does=counts, files=("s.log",))
    assert not why("How many ERROR lines are in s.log?", "6", LINES, does=counts, files=("s.log",))
    assert why(
        "How many ERROR lines are in s.log?",
        "6",
        LINES,
        does="Count the lines of a log that say ERROR.",
        files=("s.log",),
    )


ROWS = called({"rows": 7, "error": None}, opened=("/data/s.csv",), path="/data/s.csv")


def test_the_field_for_an_error_is_no_word_of_the_tool() -> None:
    lines = called({"count": 6, "error": None}, opened=("/data/s.log",), path="/data/s.log")
    assert not why(
        "How many ERROR lines are in s.log?", "6", lines, does="Count the lines of a file.", files=("s.log",)
    )


@pytest.mark.parametrize(
    "question",
    [
        "How many rows does s.csv have, without the header?",
        "How many rows of s.csv are there, not counting the first line?",
        "Count the rows of s.csv except the last row of the table.",
        "How many rows does s.csv have, außer the header?",
    ],
)
def test_what_a_question_leaves_out_must_be_known_to_the_tool_however_common_its_words(question: str) -> None:
    assert not why(question, "7", ROWS, does="Count the rows of a file.", files=("s.csv",))


def test_a_tool_that_says_what_it_leaves_out_settles_it() -> None:
    question, does = "How many rows does s.csv have, without the header?", "Count the rows of a table below its header."
    assert why(question, "7", ROWS, does=does, files=("s.csv",))


def test_a_column_that_the_question_names_must_be_known_to_the_call(tmp_path: Path) -> None:
    table = tmp_path / "s.csv"
    table.write_text("item,count,price\nnut,3,2.5\n", encoding="utf-8")
    call = called({"total": 2.5}, opened=(str(table),), path=str(table), column="price")
    evidence = Evidence(
        "2.5",
        "What is the total of count times price in s.csv?",
        [call],
        1,
        files=[TaskFile(path=str(table), named=str(table))],
    )
    card = ToolCard(name="t", description="Total times of a column.")
    assert not settled(evidence, lambda name: OwnTool(card))
    assert settled(evidence, lambda name: OwnTool(card, ("price", "count")))


def test_of_a_tools_code_the_words_that_its_work_looks_for_are_known_and_not_those_of_its_head() -> None:
    source = """__TOOL_META__ = {"name": "t", "effects": "reads"}
def run(input):
    return sum(float(row["price"]) for row in rows(input.path, "no such file"))
"""
    assert words_in(source) == ("price",)
    assert words_in("def (") == ()


PEOPLE = "name,town,born_in,cats\nAda,Bern,Basel,2\nIda,Basel,Chur,0\nOtto,Bern,Bern,1\nUlla,Chur,Olten,3\n"


@pytest.mark.parametrize(
    ("question", "column", "cell", "answer", "settles"),
    [
        ("How many people in people.csv are from Olten?", "born_in", "Olten", "1", True),
        ("How many people in people.csv are from Bern?", "town", "Bern", "2", False),
        ("How many people in people.csv are from Olten?", "cats", "Olten", "0", False),
        ("How many people in people.csv are from Olten?", "name", "Olten", "0", False),
        ("How many people in people.csv are from Olten?", "born_in", "Chur", "1", False),
        ("How many people in people.csv are not from Olten?", "born_in", "Olten", "1", False),
    ],
    ids=["the one column", "two columns", "of numbers", "of other cells", "another cell", "left out"],
)
def test_a_column_is_given_by_the_cell_that_it_alone_holds(
    question: str, column: str, cell: str, answer: str, settles: bool, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text(PEOPLE, encoding="utf-8")
    call = called({"count": int(answer)}, opened=(str(table),), path=str(table), column=column, equals=cell)
    evidence = Evidence(answer, question, [call], 1, files=[TaskFile(path=str(table), named=str(table))])
    card = ToolCard(name="count_people", description="Count the people in rows from a file whose column has a value.")
    assert bool(settled(evidence, lambda name: OwnTool(card))) is settles


@pytest.mark.parametrize(
    ("question", "does", "settles"),
    [
        ("How many lines of s.log do not say 'late'?", "Count the lines of a file that say a word.", False),
        ("How many lines of s.log don't say 'late'?", "Count the lines of a file that say a word.", False),
        ("How many lines of s.log are without 'late'?", "Count the lines of a file that say a word.", False),
        ("How many lines of s.log are there that have no 'late'?", "Count the lines with a word.", False),
        ("How many lines of s.log do not say 'late'?", "Count the lines of a file that do not say a word.", True),
        ("How many lines of s.log only say 'late'?", "Count the lines of a file that only say a word.", True),
    ],
)
def test_what_is_left_out_must_be_known_to_the_tool_and_not_to_its_call_alone(
    question: str, does: str, settles: bool
) -> None:
    call = called({"count": 3}, opened=("/data/s.log",), path="/data/s.log", word="late")
    signs = ("yes", "no")  # of a column that its code reads: they leave nothing out
    assert bool(why(question, "3", call, does=does, files=("s.log",), words=signs)) is settles


def test_numbers_in_the_path_of_a_file_are_given_to_nobody() -> None:
    poem = "/data/3/1/poem.txt"
    question, does = "What is the longest word in line 3 of poem.txt?", "Give the longest word in a line of a text."
    right = called({"word": "lantern"}, opened=(poem,), path=poem, line=3)
    wrong = called({"word": "herons"}, opened=(poem,), path=poem, line=1)
    assert why(question, "lantern", right, does=does, files=("3/1/poem.txt",))
    assert not why(question, "herons", wrong, does=does, files=("3/1/poem.txt",))
