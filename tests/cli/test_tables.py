"""Tables: what a user looks for in one is the question or the description, in any script, at any width."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from habilis.terminal.tables import table

RUNS = ("RUN", "STATE", "AGE", "SIZE", "COST", "QUESTION")
ROWS = [
    (
        "20260102-120000-what-is-the-average-price",
        "answered",
        "just now",
        "1.7 KB",
        "$0.12",
        "What is the average? " * 5,
    ),
    ("20260102-120001-平均价格是多少", "gave_up", "12 min", "999 KB", "?", "平均价格是多少" * 9),
]
SPARE = ("SIZE", "AGE", "COST")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_the_question_keeps_thirty_columns(width: int) -> None:
    head, *rows = table(RUNS, ROWS, width, spare=SPARE)
    at = cell_len(head[: head.index("QUESTION")])
    for row in (head, *rows):
        assert cell_len(row) <= width
    assert width - at >= 30
    assert all(cell_len(row) > at + 27 for row in rows)
    assert all(row.endswith("…") for row in rows)


def test_what_is_least_missed_goes_first_and_the_name_still_names() -> None:
    assert table(RUNS, ROWS, 60, spare=SPARE)[0].split() == ["RUN", "STATE", "QUESTION"]
    assert table(RUNS, ROWS, 80, spare=SPARE)[0].split() == ["RUN", "STATE", "AGE", "COST", "QUESTION"]
    assert table(RUNS, ROWS, 140, spare=SPARE)[0].split() == list(RUNS)
    assert table(RUNS, ROWS, 60, spare=SPARE)[1].startswith("20260102-120000")


@pytest.mark.parametrize("width", [10, 24, 40])
def test_no_terminal_is_too_narrow(width: int) -> None:
    for row in table(RUNS, ROWS, width):
        assert cell_len(row) <= max(width, 26)


def test_short_tables_are_not_cut_and_nobody_elses_are() -> None:
    short = [("a", "pure", "b")]
    assert table(("NAME", "", "WHAT"), short, 80) == ["NAME        WHAT", "a     pure  b"]
    whole = table(RUNS, ROWS)
    assert ROWS[0][-1].strip() in whole[1]
    assert ROWS[1][-1] in whole[2]
    assert "1.7 KB" in whole[1]
