"""Opening hours in JSON documents: whether, when and how long something is open, in many wordings; and honest no."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .test_own_files import seen
from .test_queries import answered_in, tool

HOURS: dict[str, Any] = {
    "hours.json": {
        "pool": {
            "Monday": None,
            "Tuesday": {"open": "09:00", "close": "17:30"},
            "Wednesday": {"open": "09:00", "close": "17:30"},
            "Thursday": {"open": "10:00", "close": "20:00"},
            "Friday": {"open": "08:30", "close": "18:00"},
            "Saturday": {"open": "08:00", "close": "14:00"},
            "Sunday": None,
        },
        "tea_room": {
            "Monday": "closed",
            "Tuesday": "closed",
            "Wednesday": "14:00-18:00",
            "Thursday": "closed",
            "Friday": "13:00-18:30",
            "Saturday": "7:30 - 13:00",
            "Sunday": "10:00-12:30",
        },
        "phone": "555",
    },
    "library.json": {
        "name": "Quay Library",
        "address": "Pier 3",
        "hours": {"Mon-Fri": "9:00-18:00", "Sat": "10:00-14:00", "Sun": "closed"},
    },
    "bar.json": {"Fri": ["12:00-14:00", "17:00-23:00"], "Sat": {"from": "5 pm", "to": "11 pm"}},
    "kiosk.json": {"Sat-Mon": "9-12", "Tue": "9-12"},
    "night.json": {"Friday": "20:00-02:00", "Saturday": "20:00-04:00"},
}
RIGHT = [
    ("hours.json", "Is the pool open on Mondays?", "No"),
    ("hours.json", "Is the pool open on Tuesday?", "Yes"),
    ("hours.json", "Is the pool closed on Sundays?", "Yes"),
    ("hours.json", "Is the pool open on Tuesday at 18:00?", "No"),
    ("hours.json", "Is the tea room open at 5 pm on Friday?", "Yes"),
    ("hours.json", "Is the tea room open at the weekend?", "Yes"),
    ("hours.json", "Does the pool open on Sundays?", "No"),
    ("hours.json", "On how many days of the week does the tea room open?", "4"),
    ("hours.json", "How many days a week is the pool open?", "5"),
    ("hours.json", "On which days is the pool closed?", "Monday, Sunday"),
    ("hours.json", "Which days is the tea room open?", "Wednesday, Friday, Saturday, Sunday"),
    ("hours.json", "On which day does the pool stay open latest?", "Thursday"),
    ("hours.json", "On which day does the pool close earliest?", "Saturday"),
    ("hours.json", "On which day does the pool open earliest?", "Saturday"),
    ("hours.json", "Which day is the pool open the longest?", "Thursday"),
    ("hours.json", "How many hours a week is the tea room open in total?", "17.5"),
    ("hours.json", "How many hours is the pool open on Friday?", "9.5"),
    ("hours.json", "When does the pool open on Friday?", "08:30"),
    ("hours.json", "What time does the tea room close on Sunday?", "12:30"),
    ("hours.json", "Until when is the pool open on Saturday?", "14:00"),
    ("library.json", "Is the library open on Tuesdays?", "Yes"),
    ("library.json", "When does the library close on Wednesday?", "18:00"),
    ("library.json", "How many hours a week is the library open?", "49"),
    ("library.json", "Is it open on Saturday?", "Yes"),
    ("bar.json", "How many hours is the bar open on Friday?", "8"),
    ("bar.json", "Is the bar open at 15:00 on Friday?", "No"),
]
GIVEN_UP = [
    ("hours.json", "Is the pool open at weekends?"),
    ("hours.json", "When does the pool close on Monday?"),
    ("hours.json", "Is it open on Monday?"),
    ("hours.json", "Is the café open on Tuesday?"),
    ("hours.json", "How many hours is the pool open?"),
    ("hours.json", "Is the pool open today?"),
    ("hours.json", "Is the pool open on 1 May?"),
    ("hours.json", "When is the pool open?"),
    ("hours.json", "Is the pool open on Monday or Tuesday?"),
    ("hours.json", "Is the pool not open on Monday?"),
    ("library.json", "Is the museum open on Saturday?"),
    ("library.json", "Is the library open on Monday evening?"),
    ("bar.json", "When does the bar close on Friday?"),
    ("bar.json", "Is the bar open on Monday?"),
    ("bar.json", "On which days is the bar closed?"),
    ("kiosk.json", "On how many days is the kiosk open?"),
    ("night.json", "How many hours a week is it open?"),
]


@cache
def folder() -> Path:
    made = Path(mkdtemp())
    for name, document in HOURS.items():
        (made / name).write_text(json.dumps(document), encoding="utf-8")
    return made


@pytest.mark.parametrize(("name", "question", "right"), RIGHT)
def test_opening_hours_are_read_however_they_are_written(name: str, question: str, right: str) -> None:
    assert answered_in(folder(), question, seen(name, folder())) == right


@pytest.mark.parametrize(("name", "question"), GIVEN_UP)
def test_what_opening_hours_leave_open_gets_no_answer(name: str, question: str) -> None:
    assert answered_in(folder(), question, seen(name, folder())) is None


_TIMES = st.tuples(st.integers(0, 23), st.integers(0, 59))


@given(_TIMES, _TIMES)
def test_a_day_is_open_from_one_time_to_a_later_one(one: tuple[int, int], other: tuple[int, int]) -> None:
    space = tool("week_hours")[0].space
    start, end = (f"{hour}:{minute:02}" for hour, minute in (one, other))
    if one >= other:
        with pytest.raises(ValueError, match="does not say"):
            space["open_spans"](f"{start} - {end}")
    else:
        spans = space["open_spans"](f"{start} - {end}")
        assert spans == space["open_spans"]({"open": start, "close": end}) == [[start, end]]
        assert space["open_minutes"](spans) == 60 * (other[0] - one[0]) + other[1] - one[1]
