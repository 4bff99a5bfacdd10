"""What a user would lose: the highest value for the lowest, because a tool sorted the wrong way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.core.types import CallOutcome, Invocation, TaskFile
from habilis.rules.evidence import Evidence
from habilis.rules.refusing import refusal

STAFF = (
    "name;joined;pay;city\nOlaf;2019-04-01;3100,50;Aarhus\nPia;2011-10-15;990,00;Vejle\n"
    "Rune;2023-01-09;4025,00;Aarhus\n"
)


def rule_of(question: str, answer: str, folder: Path, table: str = STAFF) -> str:
    file = folder / "staff.csv"
    file.write_text(table, encoding="utf-8")
    call = Invocation(
        call_id="c",
        tool="t",
        arguments={"path": str(file)},
        outcome=CallOutcome(output={"answer": answer, "row": table}, opened=(str(file),)),
        verdict="success",
        text=f"{answer} {table}",
        attempt=1,
    )
    found = refusal(Evidence(answer, question, [call], 1, files=[TaskFile(path=str(file), named=str(file))]))
    return found.rule if found else ""


@pytest.mark.parametrize(
    ("question", "wrong", "right"),
    [
        ("What is the highest pay in staff.csv?", "990", "4,025"),
        ("What is the lowest pay in staff.csv?", "It is 4025.00.", "It is 990.00."),
        ("Who in staff.csv has the lowest pay?", "Rune", "Pia"),
        ("Who has the highest pay in staff.csv?", "Pia, with 990.00", "Rune, with 4025.00"),
        ("Who joined earliest, by staff.csv?", "Rune", "Pia"),
        ("Which is the latest joined in staff.csv?", "2011-10-15", "2023-01-09"),
    ],
)
def test_one_end_of_a_column_is_not_taken_for_the_other(question: str, wrong: str, right: str, tmp_path: Path) -> None:
    assert rule_of(question, wrong, tmp_path) == "the other end"
    assert rule_of(question, right, tmp_path) == ""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the second highest pay in staff.csv, from the lowest?", "990"),
        ("What is the highest pay of Pia in staff.csv?", "990"),
        ("What is the highest pay in Vejle, by staff.csv?", "990"),
        ("What is the difference between the highest and the lowest pay in staff.csv?", "990"),
        ("Who has the highest pay, and who the lowest, by staff.csv?", "Rune and Pia"),
        ("What is the highest pay before 2015-01-01 in staff.csv?", "990"),
        ("What is the highest pay of those who joined in 2011, by staff.csv?", "990"),
        ("What is the highest pay in staff.csv in October?", "990"),
        ("Was ist laut staff.csv das höchste pay außer dem im Süden?", "990"),
        ("What is the highest pay in staff.csv for somebody in the south?", "990"),
        ("What is the highest pay in staff.csv, and what is not?", "990"),
    ],
)
def test_a_part_of_the_table_is_left_to_others(question: str, answer: str, tmp_path: Path) -> None:
    assert rule_of(question, answer, tmp_path) != "the other end"


@pytest.mark.parametrize(
    ("question", "wrong", "right"),
    [
        ("Who has the highest pay in staff.csv?", "Olaf", "Rune"),
        ("What is the lowest pay in staff.csv?", "3100.50", "990"),
        ("Who in staff.csv joined earliest?", "Olaf, on 2019-04-01", "Pia"),
        ("Which person is the oldest in staff.csv?", "It is Olaf.", "It is Pia."),
        ("Tell me who got the lowest pay by our staff.csv.", "Olaf", "Pia"),
        ("Wer hat laut staff.csv das größte pay?", "Olaf", "Rune"),
    ],
)
def test_where_a_question_sets_no_condition_no_row_but_the_one_at_the_end_is_right(
    question: str, wrong: str, right: str, tmp_path: Path
) -> None:
    assert rule_of(question, wrong, tmp_path) == "the other end"
    assert rule_of(question, right, tmp_path) == ""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which Dane in staff.csv has the highest pay?", "Olaf"),
        ("Who of the seniors in staff.csv is the oldest?", "Olaf"),
        ("Which city in staff.csv has the highest pay?", "Olaf's city, Aarhus"),
        ("Which city in staff.csv has the highest pay?", "Of pay from 990 on, the highest 1 is in Aarhus"),
        ("Who in staff.csv has the highest pay by hour?", "Olaf"),
        ("How many have the highest pay in staff.csv?", "Not only Olaf"),
    ],
)
def test_what_a_question_may_mean_by_another_word_is_left_to_others(question: str, answer: str, tmp_path: Path) -> None:
    assert rule_of(question, answer, tmp_path) != "the other end"


def test_a_second_column_that_may_hold_days_leaves_open_who_is_oldest(tmp_path: Path) -> None:
    table = "name,joined,born\nOlaf,2019-04-01,3 May 1961\nPia,2011-10-15,1 June 1980\nRune,2023-01-09,May 1991\n"
    assert rule_of("Who is the oldest in staff.csv?", "Olaf", tmp_path, table) == ""


@pytest.mark.parametrize(
    ("last", "question", "answer"),
    [
        ("Total;2020-01-01;8115,50;all\n", "Who has the highest pay in staff.csv?", "Rune, with 4025.00"),
        ("Sven;2020-01-01;99999;Vejle\n", "Who has the highest pay in staff.csv?", "Rune, with 4025.00"),
        ("Sven;2020-01-01;-1;Vejle\n", "What is the lowest pay in staff.csv?", "990.00"),
    ],
)
def test_a_row_that_sums_up_or_lacks_its_value_is_no_end(last: str, question: str, answer: str, tmp_path: Path) -> None:
    assert rule_of(question, answer, tmp_path, STAFF + last) == ""


def test_two_columns_of_days_tell_nothing(tmp_path: Path) -> None:
    table = "name,joined,left\nOlaf,2019-04-01,2020-01-01\nPia,2011-10-15,2024-01-01\nRune,2023-01-09,2023-02-01\n"
    assert rule_of("Who is the latest in staff.csv?", "Pia", tmp_path, table) == ""


def test_who_is_oldest_by_an_age_is_not_told_by_a_day(tmp_path: Path) -> None:
    table = "name,joined,age\nOlaf,2019-04-01,30\nPia,2011-10-15,25\nRune,2023-01-09,61\n"
    assert rule_of("Who is the oldest in staff.csv?", "Rune", tmp_path, table) == ""


LOG = "08:00 INFO start\n08:01 ERROR disk full\n08:02 WARNING slow\n"


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [
        ("How many ERROR lines are in staff.csv?", "0", "none of what is there"),
        ("How many ERROR lines are in staff.csv?", "There are 0 ERROR lines.", "none of what is there"),
        ("How often does 'slow' occur in staff.csv?", "0", "none of what is there"),
        ("How many ERROR lines are in staff.csv?", "1", ""),
        ("How many FATAL lines are in staff.csv?", "0", ""),
        ("How many ERROR lines are there after 08:01 in staff.csv?", "0", ""),
        ("How many ERROR lines name 'WARNING' in staff.csv?", "0", ""),
        ("How many ERROR lines mention the database in staff.csv?", "0", ""),
        ("What is the share of ERROR lines in staff.csv?", "0", ""),
    ],
)
def test_none_is_no_count_of_a_word_that_stands_in_the_file(
    question: str, answer: str, rule: str, tmp_path: Path
) -> None:
    assert rule_of(question, answer, tmp_path, LOG) == rule


def test_none_is_no_count_of_rows_with_a_cell_that_is_there(tmp_path: Path) -> None:
    assert rule_of("How many in staff.csv live in Aarhus?", "0", tmp_path) == "none of what is there"
    assert rule_of("How many in staff.csv live in Odense?", "0", tmp_path) == ""


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [
        ("How many rows does staff.csv have, without the header?", "2", "another count"),
        ("How many rows does staff.csv have, without the header?", "4", "another count"),
        ("How many rows does staff.csv have, not counting the header?", "3 rows", ""),
        ("How many records are in staff.csv?", "There are 2 records.", "another count"),
        ("How many rows are in staff.csv?", "4", ""),
        ("How many rows are in staff.csv?", "3", ""),
        ("How many rows of staff.csv are empty?", "0", ""),
        ("How many rows in staff.csv have a rank above 1?", "2", ""),
        ("How many entries are there for Pia in staff.csv?", "1", ""),
    ],
)
def test_a_count_of_all_rows_is_that_of_the_table(question: str, answer: str, rule: str, tmp_path: Path) -> None:
    """A small model's tool took one off for a header that its reader had taken off already."""
    assert rule_of(question, answer, tmp_path, "name,rank\nOlaf,3\nPia,1\nRune,2\n") == rule


ORDERS = (
    "order;customer;amount;date\n1001;Ines;129,90;2026-02-03\n1002;Tomas;0,00;2026-02-11\n1003;Ines;48,35;2026-03-01\n"
)


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [
        ("What is the total amount of the orders of Ines in staff.csv?", "0", "none of what is there"),
        ("What is the average amount of Ines in staff.csv?", "The average is 0.0.", "none of what is there"),
        ("What is the total amount of the orders of Ines in staff.csv?", "178.25", ""),
        ("What is the total amount of the orders of Tomas in staff.csv?", "0", ""),
        ("What is the total amount of the orders of Wei in staff.csv?", "0", ""),
        ("What is the total amount of the orders of Ines in April in staff.csv?", "0", ""),
        ("What is the total amount of the orders of Ines paid by card in staff.csv?", "0", ""),
        ("What is the total amount of the orders of Ines above 500 in staff.csv?", "0", ""),
        ("How much is the highest amount of Ines minus that of Ines in staff.csv?", "0", ""),
    ],
)
def test_none_is_no_sum_of_numbers_above_zero(question: str, answer: str, rule: str, tmp_path: Path) -> None:
    """A small model's tool looked for the column "Ines", found no row, and gave the sum of none."""
    assert rule_of(question, answer, tmp_path, ORDERS) == rule


def test_the_highest_rank_is_the_first(tmp_path: Path) -> None:
    table = "name,rank\nOlaf,3\nPia,1\nRune,2\n"
    assert rule_of("Who has the highest rank in staff.csv?", "Pia", tmp_path, table) == ""
