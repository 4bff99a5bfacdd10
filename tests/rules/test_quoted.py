"""What a user would lose: an answer about the text that was quoted, and not about another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.core.types import TaskFile

from .refusals import called, rule_of


@pytest.mark.parametrize(
    "question",
    [
        "How often does the word 'wind' occur in the text?",
        "How many times does 'wind' occur?",
        "Count the lines that hold the phrase „wind“.",
        "Wie oft kommt das Wort 'wind' vor?",
        "「wind」という単語は何回出てきますか。",
    ],
)
def test_a_text_to_work_on_is_given_to_a_call_or_comes_of_one(question: str) -> None:
    assert rule_of("4", question, called({"result": 4}, tool="count_lines")) == "another target"
    assert rule_of("4", question, called({"result": 4}, tool="count_wind")) == ""
    assert rule_of("4", question, called({"count": 4}, word="Wind")) == ""
    assert rule_of("4", question, called({"count": 4}, pattern="^(wind)s?$")) == ""
    assert rule_of("4", question, called({"wind": 4, "rain": 2})) == ""


@pytest.mark.parametrize(
    "question",
    [
        "How many lines are there? Answer with the word 'none' if there is none.",
        "How many lines are there? Write the text 'lines:' before the number.",
        "How many lines are there, in what people call a 'short' poem?",
        "How many lines are there? If none, 'none'.",
    ],
)
def test_a_quotation_that_tells_how_to_answer_need_not_be_worked_on(question: str) -> None:
    assert rule_of("4", question, called({"result": 4}, tool="count_lines")) == ""


def test_a_column_may_be_quoted_by_a_part_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "stations.csv").write_text("station,height_m\nAlma,612\nDune,613\n", encoding="utf-8")
    file = TaskFile(named="stations.csv", path=str(tmp_path / "stations.csv"))
    by_height = called({"mean": 612.5}, path="stations.csv", column="height_m")
    assert rule_of("612.5", "What is the mean of 'height' in stations.csv?", by_height, file) == ""


def test_a_longer_text_may_be_looked_for_by_a_part_of_it() -> None:
    question = "Who wrote the sentence 'the rain had stopped before they came'?"
    assert rule_of("Alma", question, called({"author": "Alma"}, query="rain stopped")) == ""
    assert rule_of("Alma", question, called({"author": "Alma"}, tool="first_author")) == "another target"
