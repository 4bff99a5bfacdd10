"""What a user would lose: a made-up value in an answer, or a good answer that is doubted. 120 pairs, half held aside.

The pairs were written before the check. Those marked `held` are no material to tune with: look at their count alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from habilis.grounding import Known, unfounded

PAIRS = Path(__file__).parent / "pairs"
MOST_WRONG = 3
"""Of sixty, both ways; of the thirty of one half, two."""


def pairs(name: str, *, held: bool | None = None) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if held is None or row["held"] is held]


def wrong(rows: list[dict[str, Any]]) -> list[str]:
    return [
        row["answer"]
        for row in rows
        if bool(unfounded(row["answer"], Known(row["findings"], row["question"]))) is row["founded"]
    ]


@pytest.mark.parametrize("name", ["founded", "unfounded"])
def test_at_most_three_of_sixty_are_judged_wrongly(name: str) -> None:
    assert len(pairs(name)) == 60
    assert len(wrong(pairs(name))) <= MOST_WRONG


@pytest.mark.parametrize("held", [False, True], ids=["tuned", "held"])
@pytest.mark.parametrize("name", ["founded", "unfounded"])
def test_neither_half_is_worse_than_the_other(name: str, held: bool) -> None:
    rows = pairs(name, held=held)
    assert len(rows) == 30
    assert len(wrong(rows)) <= MOST_WRONG - 1
