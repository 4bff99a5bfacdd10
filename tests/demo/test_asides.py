"""What a question says besides what it asks is passed over where it narrows nothing; what narrows is never."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.demo.asides import to_the_point

from .test_own_files import seen
from .test_queries import answered_in

FILES = {
    "rowing_results.csv": """crew,name,age,course,seconds,raised_eur,day
Herons,Ada Poe,31,500 m,98.5,40,2024-05-04
Herons,Ben Roy,54,1000 m,215.2,15,2024-05-04
Otters,Cleo Sun,47,500 m,91.1,60,2024-05-05
Otters,Dev Lal,22,1000 m,201.9,85,2024-05-05
""",
    "barge_stays.csv": """ref,guest,barge,start,end,price_per_night,dropoff_time
B1,Ida Falk,Swan,2024-03-01,2024-03-04,50,10:15
B2,Jon Ek,Teal,2024-03-02,2024-03-04,70,11:00
B3,Kit Moe,Swan,2024-03-10,2024-03-15,60,09:45
""",
    "staff_hours.csv": """id,name,team,start_date,weekly_hours,hourly_rate
E1,Ann Lee,IT,2019-01-07,40,31
E2,Bob Orr,Sales,2012-02-01,20,25
E3,Cyd Ray,IT,2021-03-01,40,35
""",
}
ASKED = {
    "I'm writing a report for the club. What's the average age in rowing_results.csv?": "38.5",
    "For the newsletter: which crew raised the most money altogether in rowing_results.csv?": "Otters",
    "My neighbour asked about it. How much did the Herons raise in total? It should be in rowing_results.csv.": "55",
    "I only mean the Herons. What's the average age in rowing_results.csv?": None,
    "My team is called Herons. How much did they raise in rowing_results.csv?": None,
    "How many rowers from the Otters took part, going by rowing_results.csv? Whole number please.": "2",
    "What is the average age of the 500 m rowers in rowing_results.csv?": "39",
    "Who won the 1000 m in rowing_results.csv? Name only, any order is fine.": "Dev Lal",
    "How many seconds faster was Cleo Sun than Ada Poe in rowing_results.csv? One decimal is enough.": "7.4",
    "On what date did Cleo Sun compete in rowing_results.csv? Please write it like 31/12/2023.": "05/05/2024",
    "How many nights is Ida Falk staying according to barge_stays.csv?": "3",
    "How many nights is the Swan booked altogether according to barge_stays.csv?": "8",
    "Which barge brings in the most in barge_stays.csv, counting nights times price per night?": None,
    "What time is Jon Ek being dropped off? It's in barge_stays.csv.": "11:00",
    "How many people are there for IT in staff_hours.csv?": "2",
    "Who has worked for us the longest in staff_hours.csv?": "Bob Orr",
    "Who earns the most per hour in staff_hours.csv?": "Cyd Ray",
}
"""None: what is said besides may narrow the rows, or is not understood."""


@pytest.mark.parametrize(("question", "right"), ASKED.items())
def test_a_question_is_answered_without_its_asides(tmp_path: Path, question: str, right: str | None) -> None:
    name = next(one for one in FILES if one in question)
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    assert answered_in(tmp_path, question, seen(name, tmp_path)) == right


@pytest.mark.parametrize(
    "question",
    [
        "I only need the ones from Oslo. How many are there?",
        "I'm checking the orders from May. How many are there?",
        "My boss means the blue ones. How many are there?",
        "I think about Anna. How many did she buy?",
        "My favourite colour is blue. How many hats are there?",
        "I teach the beginners. How many pupils are there?",
        "I'm writing about the late ones. How long did they take?",
        "I'm checking the late orders. How many are there?",
        "For each team, how many are there?",
    ],
)
def test_what_may_narrow_a_question_stays(question: str) -> None:
    assert to_the_point(question) == question


def test_what_a_file_shows_is_never_an_aside() -> None:
    said = "I'm writing about the late orders. How many orders are there?"
    assert to_the_point(said, "order,state\n1,late\n2,sent") == said
    assert to_the_point(said, "order,state\n1,lost\n2,sent") == "How many orders are there?"
