"""Questions about logs with values, and with entries that begin and end something: right answers, and an honest no."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .test_notes import tool
from .test_own_files import seen
from .test_queries import answered_in

FILES: Mapping[str, str] = {
    "kiln.log": """[2025-02-03 08:00] INFO  temp=20.5 load=40
[2025-02-03 09:00] INFO  temp=310.0 load=85
[2025-02-03 09:20] WARN  door seal loose
[2025-02-03 10:00] INFO  temp=612.5 load=90
[2025-02-04 08:00] INFO  temp=180.0 load=10
[2025-02-04 09:00] NOTE  glaze batch 7 inside
[2025-02-04 09:30] INFO  temp=95.5 load=5
[2025-02-04 09:45] WARN  vent stuck
""",
    "ferry.log": """2025-06-01 07:00 DEPART Northpier, crew 4, fuel 90 l
2025-06-01 07:40 SPEED off the point, speed 8.5 kn
2025-06-01 08:10 PUMP on
2025-06-01 08:25 PUMP off
2025-06-01 09:00 ARRIVE Eastbay, log 12.5 nm
2025-06-02 07:10 DEPART Eastbay, crew 3, fuel 80 l
2025-06-02 08:00 PUMP on
2025-06-02 08:05 PUMP off
2025-06-02 08:15 SPEED at the buoy, speed 9.25 kn
2025-06-02 09:30 ARRIVE Northpier, log 14.0 nm
""",
    "games.log": """2025-05-09 10:00 START sack race
2025-05-09 10:12 END   sack race
2025-05-09 10:30 START egg run
2025-05-09 10:35 END   egg run
2025-05-09 10:40 INFO  gate opened
2025-05-09 11:00 START rope pull
2025-05-09 11:05 WARN  rope frayed
2025-05-09 11:40 END   rope pull
2025-05-09 12:10 INFO  gate closed
""",
    "shop_log.txt": """2025-01-07 09:00 OPEN  shop opened
2025-01-07 09:40 SALE  lamp 12.50
2025-01-07 13:00 CLOSE shop closed
2025-01-08 10:00 OPEN  shop opened
2025-01-08 10:15 WARN  till jammed
2025-01-08 10:50 SALE  vase 30.00
2025-01-08 12:30 CLOSE shop closed
2025-01-08 12:40 WARN  alarm slow
""",
    "choir.log": """2025-03-04 19:00 START warm-up
2025-03-04 19:20 PIECE Old Mill
2025-03-04 20:50 END present=17
2025-03-11 19:05 START warm-up
2025-03-11 19:30 PIECE Old Mill
2025-03-11 20:10 PIECE Bright Water
2025-03-11 21:00 END present=22
""",
    "web.log": """2025-04-01 08:00:00 INFO server up
2025-04-01 09:00:00 ERROR server down
2025-04-01 09:12:30 INFO server up
2025-04-01 10:00:00 LOAN item=4 card=8
""",
}
RIGHT = [
    ("kiln.log", "What was the highest temp reading in kiln.log?", "612.5"),
    ("kiln.log", "What is the lowest temperature recorded in kiln.log?", "20.5"),
    ("kiln.log", "What is the maximum load on 2025-02-04 in kiln.log?", "10"),
    ("kiln.log", "What is the average load in kiln.log?", "46"),
    ("kiln.log", "What is the mean of all load values on 2025-02-04?", "7.5"),
    ("kiln.log", "What was the last temp reading in kiln.log?", "95.5"),
    ("kiln.log", "What was the first temp value on 2025-02-04?", "180"),
    ("kiln.log", "By how much did the load fall from the first to the last INFO reading in kiln.log?", "35"),
    ("kiln.log", "By how much did the temp rise from the first to the last reading?", "75"),
    ("kiln.log", "At what time was the highest temp recorded in kiln.log (hh:mm)?", "10:00"),
    ("kiln.log", "When was the highest temp recorded in kiln.log? Give date and time as in the file.",
     "2025-02-03 10:00"),
    ("kiln.log", "On which date was the lowest load in kiln.log?", "2025-02-04"),
    ("kiln.log", "When does kiln.log first show a temp of 300 or higher? Just the time.", "09:00"),
    ("kiln.log", "When did the load first drop below 20?", "2025-02-04 08:00"),
    ("kiln.log", "When was the first WARN in kiln.log? Just the time.", "09:20"),
    ("kiln.log", "What time was the last WARN line on 2025-02-03?", "09:20"),
    ("kiln.log", "How many INFO lines are there in kiln.log?", "5"),
    ("ferry.log", "Add up the nm figures on the ARRIVE lines of ferry.log - what is the total? One decimal.", "26.5"),
    ("ferry.log", "What is the highest speed noted in ferry.log, in kn?", "9.25"),
    ("ferry.log", "What is the average speed?", "8.875"),
    ("ferry.log", "On 2025-06-02, how many minutes was the pump on according to ferry.log?", "5"),
    ("ferry.log", "For how many minutes was the pump on in total?", "20"),
    ("ferry.log", "How many DEPART lines are in ferry.log?", "2"),
    ("ferry.log", "How many minutes passed from DEPART to ARRIVE on 2025-06-01?", "120"),
    ("games.log", "How many minutes did the egg run take from START to END in games.log?", "5"),
    ("games.log", "How many minutes did the rope pull last?", "40"),
    ("games.log", "Going by the START and END times in games.log, which event was the shortest?", "egg run"),
    ("games.log", "Which event took the longest in games.log?", "rope pull"),
    ("games.log", "Work out from games.log how many minutes the gate stood open over the whole day.", "90"),
    ("shop_log.txt", "How much did I take in from all sales in shop_log.txt?", "42.5"),
    ("shop_log.txt", "What do the SALE lines add up to?", "42.5"),
    ("shop_log.txt", "On which date was the shop open the longest, from OPEN to CLOSE, in shop_log.txt?", "2025-01-07"),
    ("shop_log.txt", "When was the first WARN in shop_log.txt? Just the time.", "10:15"),
    ("choir.log", "In choir.log, on which date were the most singers present?", "2025-03-11"),
    ("choir.log", "How often was Old Mill sung (PIECE lines) in choir.log?", "2"),
    ("choir.log", "How many minutes passed from START to END on 2025-03-04 in choir.log?", "110"),
    ("web.log", "How many seconds are there between server down and item 4?", "3600"),
]  # fmt: skip
GIVEN_UP = [
    ("kiln.log", "What was the highest humidity in kiln.log?"),
    ("kiln.log", "What was the highest temp on 2025-02-09?"),
    ("kiln.log", "What is the highest temp at night?"),
    ("kiln.log", "When did the load first rise above 30?"),  # it was there from the start
    ("kiln.log", "By how much did the temp fall from the first to the last reading?"),
    ("kiln.log", "How many minutes did the firing take from START to END?"),
    ("kiln.log", "What is the total temp in kiln.log?"),
    ("ferry.log", "What is the total crew in ferry.log?"),
    ("ferry.log", "How many minutes was the pump on over the whole day?"),  # of two days
    ("ferry.log", "How many minutes was the heater on?"),
    ("ferry.log", "Which leg was the longest from DEPART to ARRIVE?"),  # no entry names both ends
    ("ferry.log", "How many minutes passed from DEPART to ARRIVE?"),  # on two days
    ("games.log", "How many minutes did the sack race and the egg run take?"),
    ("games.log", "How many minutes did the relay take from START to END?"),
    ("games.log", "Which event was the most popular?"),
    ("shop_log.txt", "How much did I take in from all repairs?"),
    ("shop_log.txt", "When was the first ERROR in shop_log.txt?"),
    ("choir.log", "How often was Night Song sung (PIECE lines) in choir.log?"),
    ("choir.log", "On which date were the most altos absent?"),
    ("web.log", "How many minutes was the server down after noon?"),
]
TRACE = tool("trace_figure")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("traces")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(("name", "question", "right"), RIGHT)
def test_a_question_about_a_trace_gets_its_right_answer(folder: Path, name: str, question: str, right: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_a_trace_leaves_open_gets_no_answer(folder: Path, name: str, question: str) -> None:
    assert answered_in(folder, question, seen(name, folder)) is None


@given(st.lists(st.floats(-99, 999).map(lambda value: round(value, 2)), min_size=2, max_size=6))
def test_each_value_of_a_trace_is_found_under_its_name(values: list[float]) -> None:
    rows = [f"2025-01-0{day} 10:00 INFO size={value} left={day}" for day, value in enumerate(values, 1)]
    found = read_values("\n".join(rows))
    assert found == values


@given(st.text(st.sampled_from("2025-01 :[]ABab=.7\n"), max_size=60))
def test_any_text_is_read_as_a_trace_or_refused(text: str) -> None:
    """Nothing but a refusal may come out: anything else would end the task with a fault of the tool."""
    read_values(text)


def read_values(text: str) -> list[float] | None:
    """What a tool makes of the values called size; None where it refuses."""
    TRACE["lines_of_log"] = lambda path: [line.rstrip() for line in text.split("\n") if line.strip()]
    try:
        return [value for _, value in TRACE["values_named"]("a.log", "size", "", "")]  # type: ignore[operator]
    except ValueError:
        return None
