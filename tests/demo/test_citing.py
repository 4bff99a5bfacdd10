"""Questions for the user's documents: what is looked up, and when a sentence counts as an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.demo.citing import answer, call_for, subject

TOOLS: list[dict[str, Any]] = [{"function": {"name": "search_documents_2", "description": "", "parameters": {}}}]
LEAVE = {"source": "handbook.md, Leave, line 5", "text": "Lunch is at noon. Everybody has thirty days of leave a year."}
NOTICE = {"source": "handbook.md, Notice, line 9", "text": "Three months, in writing."}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What does the handbook say about the notice period?", "notice period"),
        ("Please tell me what our documents say about the canteen.", "canteen"),
        ("According to the handbook, how many days of leave are there?", "how many days of leave are there"),
        ("How many days of leave are there according to the manual?", "How many days of leave are there"),
        ("When does the canteen open?", "When does the canteen open"),
    ],
)
def test_what_is_looked_up_is_what_the_question_is_about(question: str, wanted: str) -> None:
    assert subject(question) == wanted
    assert call_for(question, TOOLS) == ("search_documents_2", {"query": subject(question)})


def test_without_the_tool_or_a_subject_nothing_is_looked_up() -> None:
    assert call_for("When does the canteen open?", [{"function": {"name": "other"}}]) is None
    assert call_for("What is the of and?", TOOLS) is None


def test_the_sentence_that_says_it_is_the_answer_with_its_source() -> None:
    found = answer("How many days of leave are there?", "t", {"query": "q"}, {"passages": [NOTICE, LEAVE]})
    assert found == (
        'In handbook.md, Leave, line 5 stands: "Everybody has thirty days of leave a year." (from `t` with '
        '{"query": "q"}).\nConclusion: Everybody has thirty days of leave a year. [handbook.md, Leave, line 5]'
    )


@pytest.mark.parametrize("question", ["How many days of sick pay do drivers get?", "Who founded the company?"])
def test_a_sentence_that_shares_few_words_is_no_answer(question: str) -> None:
    assert answer(question, "t", {}, {"passages": [LEAVE, NOTICE]}) is None
    assert answer(question, "t", {}, {"passages": []}) is None
    assert answer(question, "t", {}, {}) is None


@given(st.text(max_size=200))
def test_no_text_breaks_it(question: str) -> None:
    found = call_for(question, TOOLS)
    if found:
        answer(question, *found, {"passages": [LEAVE, {"text": question, "source": "s"}]})
