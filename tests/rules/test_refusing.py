"""An answer that nothing bears out is refused before any judge is asked, and a good one is left to the judge."""

from collections.abc import Sequence
from typing import Any

import pytest

from habilis.core.types import CallError, CallOutcome, Invocation, TaskFile
from habilis.rules.refusing import Evidence, invented_arguments, refusal

FILE = TaskFile(named="sales.csv", path="/data/sales.csv")


def called(
    result: Any = None,
    *,
    error: str = "",
    attempt: int = 1,
    opened: Sequence[str] = (),
    tool: str = "tool",
    **arguments: Any,
) -> Invocation:
    outcome = CallOutcome(
        output=result, error=CallError(kind="crashed", message=error) if error else None, opened=tuple(opened)
    )
    failed = bool(error) or (isinstance(result, dict) and bool(result.get("error")))
    return Invocation(
        call_id="c",
        tool=tool,
        arguments=arguments,
        outcome=outcome,
        verdict="failure" if failed else "success",
        text=error or str(result),
        attempt=attempt,
    )


def rule_of(answer: str, question: str = "What is it?", calls: Sequence[Invocation] = (), **more: Any) -> str:
    found = refusal(Evidence(answer=answer, question=question, calls=calls, attempt=1, **more))
    return found.rule if found else ""


GOOD = called({"total": 42})


def test_an_answer_after_calls_that_all_failed_rests_on_nothing() -> None:
    assert rule_of("It is 42.", calls=[called(error="KeyError: 'x'")]) == "no call succeeded"
    assert rule_of("It is 42.", calls=[called({"error": "no such column"})]) == "no call succeeded"


def test_a_call_of_an_earlier_attempt_does_not_bear_out_what_a_later_one_failed_to_find() -> None:
    evidence = Evidence("It is 42.", "What?", [GOOD, called(error="boom", attempt=2)], attempt=2)
    found = refusal(evidence)
    assert found is not None
    assert found.rule == "no call succeeded"


def test_one_success_among_failures_is_enough_to_go_on() -> None:
    assert rule_of("It is 42.", calls=[called(error="boom"), GOOD]) == ""


@pytest.mark.parametrize(
    "answer",
    [
        "The product is: FileNotFoundError: [Errno 2] No such file or directory: 'numbers.csv'",
        "Result: [Errno 13] something",
        "Traceback (most recent call last): …",
        "The answer is `KeyError: 'wind'`",
        "column 'wind' is not in the table; the columns are a, b",
    ],
)
def test_the_text_of_an_error_is_no_result(answer: str) -> None:
    failed = called(error="ValueError: column 'wind' is not in the table; the columns are a, b")
    assert rule_of(answer, calls=[failed, GOOD]) == "an error's text"


def test_the_values_that_an_error_met_are_no_text_of_it() -> None:
    failed = called(
        error="ValueError: could not convert\n  line 3, in run: f\n  where row = {'motto': 'Slow and steady wins'}"
    )
    good = called({"motto": "Slow and steady"})
    assert rule_of("'motto': 'Slow and steady'", "What is the motto?", [failed, good]) == ""


def test_an_error_that_the_question_is_about_may_be_given() -> None:
    log = called({"line": "KeyError: 'wind' in row 3"})
    assert rule_of("KeyError: 'wind'", "Which error does the log show?", [log]) == ""
    assert rule_of("It means KeyError: a key is not there", "What does KeyError: 'x' mean?") == ""


@pytest.mark.parametrize(
    "answer",
    [
        "I could not find the highest value.",
        "I'm sorry, but I cannot determine the average.",
        "The product cannot be computed with the tools given.",
        "The file temps.csv was not found.",
        "It was not possible to read the table.",
        "No file says when the ship came in, so it cannot be told.",
        "The tool failed, so the answer is 0.",
        "Ich konnte die Datei nicht lesen.",
        "Der Mittelwert konnte nicht berechnet werden.",
        "Je n'ai pas trouvé la valeur.",
        "No se pudo leer el archivo.",
        "无法确定答案。",
        "Не удалось найти файл.",
    ],
)
def test_a_refusal_dressed_as_an_answer_is_none(answer: str) -> None:
    assert rule_of(answer, calls=[GOOD]) == "something missing"


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("12 values are missing in the column price.", "How many values are missing?"),
        ("The column price has the most missing values.", "Which column has the most missing values?"),
        ("No, 7 is not in the list.", "Is 7 in the list?"),
        ("Nobody was hired in 2019.", "Who was hired in 2019?"),
        ("There is no error in the log.", "Is there an error in the log?"),
        ("The highest failure rate is 3 %.", "What is the highest failure rate?"),
        ("Nein, das ist nicht möglich ohne Visum.", "Darf man ohne Visum einreisen?"),
        ("3 requests were rejected.", "How many requests were rejected?"),
    ],
)
def test_what_is_said_of_the_matter_itself_is_an_answer(answer: str, question: str) -> None:
    assert rule_of(answer, question, [called({"text": "found", "numbers": [3, 7, 12, 2019]})]) == ""


def test_words_of_a_source_are_not_the_answers_own() -> None:
    page = called({"text": "The treasure could not be found until 1922."})
    assert rule_of("The treasure could not be found until 1922.", "What does the page say?", [page]) == ""


def test_an_answer_about_a_file_that_no_call_opened_rests_on_nothing() -> None:
    summed = called({"sum": 15}, numbers=[1, 2, 3, 4, 5])
    assert rule_of("15", "What is the total in sales.csv?", [summed], files=[FILE]) == "no file opened"
    read = called({"sum": 15}, opened=["/data/sales.csv"])
    assert rule_of("15", "What is the total in sales.csv?", [read], files=[FILE]) == ""


def test_a_folder_is_read_by_any_file_in_it() -> None:
    folder = TaskFile(named="logs", path="/data/logs", is_dir=True)
    assert rule_of("3", calls=[called({"n": 3}, opened=["/data/logs/a.txt"])], files=[folder]) == ""
    assert rule_of("3", calls=[called({"n": 3}, opened=["/data/logs2/a.txt"])], files=[folder]) == "no file opened"


def test_a_tool_whose_reading_nobody_sees_is_believed_by_its_arguments() -> None:
    looked = called("a cat", tool="image_text_query", image_path="sales.csv", query="what?")
    other = called("a cat", tool="image_text_query", image_path="other.png", query="what?")
    unseen = frozenset({"image_text_query"})
    assert rule_of("a cat", calls=[looked], files=[FILE], unseen=unseen) == ""
    assert rule_of("a cat", calls=[other], files=[FILE], unseen=unseen) == "no file opened"


def test_what_an_answer_says_must_come_of_its_calls_or_of_what_it_was_told() -> None:
    mean = called({"mean": 4.2513, "rows": 12}, opened=["/data/sales.csv"], path="sales.csv")
    told = {"question": "What is the mean of price in sales.csv?", "calls": [mean], "known": ["sales.csv"]}
    assert rule_of("The mean price in sales.csv is 4.25, over 12 rows.", **told) == ""
    assert rule_of("The mean price in sales.csv is 5.24.", **told) == "values from nowhere"
    assert rule_of("The mean price in stock.csv is 4.25.", **told) == "values from nowhere"


def test_an_answer_may_say_what_was_called() -> None:
    converted = called({"digits": "111111111"}, tool="convert", value="777", from_base=8)
    said = '777 in base 8 is 111111111 (from `convert` with {"value": "777", "from_base": 8}).'
    assert rule_of(said, "What is 777 octal in binary?", [converted]) == ""


def test_the_text_of_an_error_founds_no_value() -> None:
    failed = called(error="timeout after 120 seconds")
    assert rule_of("The product is 120.", "What is 3 times 5?", [called({"n": 1}), failed]) == "values from nowhere"


def test_a_number_without_a_call_comes_from_nowhere_and_a_name_is_for_the_judge() -> None:
    assert rule_of("Paris", "What is the capital of France?") == ""
    assert rule_of("It is 42.", "How much is it?") == "values from nowhere"
    assert rule_of("42", "Which is larger, 42 or 17?") == ""


def test_the_numbers_of_an_example_are_no_data_of_the_question() -> None:
    example = called({"sum": 15}, numbers=[1, 2, 3, 4, 5])
    assert rule_of("15", "What is the total of the inventory?", [example]) == "arguments from nowhere"
    given = called({"sum": 15}, numbers=[4, 5, 6])
    assert rule_of("15", "What is the sum of 4, 5 and 6?", [given]) == ""


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("What is 48317 times 9274?", {"a": 48317, "b": 9274}),
        ("What is 48317 times 9274?", {"expression": "48317 * 9274"}),
        ("What is 15 percent of 1,240?", {"rate": 0.15, "amount": 1240}),
        ("What is the SHA-256 digest of the text 'gullwing'?", {"text": "gullwing", "algorithm": "sha256"}),
        ("How many days from 15 March 2026 to 2026-11-02?", {"first": "2026-03-15", "last": "2026-11-02"}),
        ("Sort 3, 1 and 2.", {"numbers": [3, 1, 2], "reverse": False}),
        ("Is 7 prime?", {"n": 7}),
        ("Wie oft kommt 'ei' in 'Freizeit' vor?", {"text": "Freizeit", "part": "ei"}),
        ("把72华氏度换算成摄氏度", {"fahrenheit": 72}),
        ("What time is it?", {}),
    ],
)
def test_arguments_that_the_question_gives_are_its_own(question: str, arguments: dict[str, Any]) -> None:
    assert not invented_arguments(called({"result": 1}, **arguments), Evidence("", question, (), 1))


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("What is the SHA-256 digest of the text 'gullwing'?", {"text": "hello world"}),
        ("What is 48317 times 9274?", {"a": 1234, "b": 5678}),
        ("How many days from 15 March 2026 to 2 November 2026?", {"first": "2024-01-01", "last": "2024-12-31"}),
        ("What is the total in stock.csv?", {"numbers": [10, 20, 30]}),
    ],
)
def test_arguments_that_nobody_gave_are_invented(question: str, arguments: dict[str, Any]) -> None:
    assert invented_arguments(called({"result": 1}, **arguments), Evidence("", question, (), 1))


def test_what_an_earlier_call_gave_may_be_handed_on() -> None:
    first = called({"values": [10.5, 20.25, 30.75]}).model_copy(update={"ordinal": 1})
    second = called({"sum": 61.5}, numbers=[10.5, 20.25, 30.75]).model_copy(update={"ordinal": 2})
    assert rule_of("61.5", "What is the total?", [first, second]) == ""
