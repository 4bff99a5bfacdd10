"""What a user would lose: a name where one was asked for, an amount where one was."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.core.types import TaskFile

from .refusals import called, rule_of


@pytest.mark.parametrize(
    ("table", "asked_for_a_name", "asked_for_a_number"),
    [
        ("料理,値段\n寿司,1800\n鍋,4200\n", "d.csvで値段が一番高い料理は何ですか。", "d.csvで一番高い値段は何ですか。"),
        ("菜,价格\n面,1800\n鱼,4200\n", "d.csv里价格最高的菜是什么？", "d.csv里最高的价格是什么？"),
        (
            "요리,가격\n국수,1800\n생선,4200\n",
            "d.csv에서 가격이 가장 높은 요리는 무엇입니까?",
            "가장 높은 가격은 무엇입니까?",
        ),
        ("река,длина\nИня,1800\nОбь,4200\n", "Какая река в d.csv имеет наибольшую длина?", "Какая длина наибольшая?"),
        ("river,length\nInya,1800\nOb,4200\n", "By d.csv, what river has the most length?", "What length is the most?"),
    ],
)
def test_a_number_is_no_cell_of_the_column_of_names_that_is_asked_for(
    table: str, asked_for_a_name: str, asked_for_a_number: str, tmp_path: Path
) -> None:
    (tmp_path / "d.csv").write_text(table, encoding="utf-8")
    file = TaskFile(named="d.csv", path=str(tmp_path / "d.csv"))
    column, name = table.splitlines()[0].split(",")[1], table.splitlines()[-1].split(",")[0]
    row = called({"label": name, "maximum": 4200}, path="d.csv", column=column)
    last = called({"result": "4200"}, path="d.csv", column=column)
    assert rule_of("答: 4200", asked_for_a_name, row, file) == "a number for a name"
    assert rule_of("4200", asked_for_a_name, last, file) == "a number for a name"
    assert rule_of(f"{name}: 4200", asked_for_a_name, row, file) == ""
    assert rule_of("4200", asked_for_a_number, last, file) == ""


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [
        ("What did the piano cost, according to the letter?", "Old Becker tuned the piano.", "no number"),
        ("What is the price of the piano?", "The letter says: Old Becker tuned the piano.", "no number"),
        ("How much did Clara pay for the piano?", "Old Becker tuned it.", "no number"),
        ("Was kostete das Klavier?", "Old Becker hat es gestimmt.", "no number"),
        ("What did the piano cost?", "It cost 480 florins.", ""),
        ("What did the piano cost?", "Twelve florins.", ""),
        ("What did the piano cost?", "Nothing, it was a gift.", ""),
        ("What did the war cost the king?", "Old Becker.", ""),
        ("What did the letter tell of the cost?", "Old Becker tuned the piano.", ""),
        ("Who told what the piano did cost?", "Old Becker.", ""),
        ("What are the fees for?", "For tuning.", ""),
    ],
)
def test_what_something_costs_is_a_number(question: str, answer: str, rule: str) -> None:
    said = "Old Becker tuned the piano. It cost 480 florins, and the carrier asked for Twelve florins."
    assert rule_of(answer, question, called({"text": said})) == rule


@pytest.mark.parametrize(
    ("question", "answer", "rule"),
    [
        ("What is the longest word in line 3 of poem.txt?", "The answer is 10.", "a number for a name"),
        ("What is the longest word in line 3 of poem.txt?", "It is silverware, with 10 letters.", ""),
        ("What is the name of the first ship?", "10", "a number for a name"),
        ("Wie heißt das längste Wort?", "10", "a number for a name"),
        ("How long is the longest word?", "10", ""),
        ("What is the word count of line 3?", "10", ""),
        ("What is the length of the longest word?", "10", ""),
    ],
)
def test_a_number_is_no_word_that_is_asked_for(question: str, answer: str, rule: str) -> None:
    assert rule_of(answer, question, called({"word": "silverware", "length": 10})) == rule
