"""What a user would lose: a tool that is built twice, or, worse, one that is taken for another.

Pairs that were written before the rule: 120 first (`same`, `different`), 199 later and in freer words (`more_…`), 60 in
the freest (`later_same`, `more_different`), and 60 when the rules stood (`fresh_same`, `more_different`). In the last
eight of `more_different` one asks for a part of what the other asks for. Those marked `held` are no material to tune
with: look at their count alone. What is found of the later ones is less; there a model is asked.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from habilis.core.types import JsonSchema, ToolRequest
from habilis.synthesis.sameness import asked, relation, same_request

PAIRS = Path(__file__).parent / "requests"
LEAST_FOUND = {("same", False): 0.95, ("same", True): 0.85, ("more_same", False): 0.65, ("more_same", True): 0.45}
LEAST_FOUND |= {("later_same", False): 0.6, ("later_same", True): 0.25}
LEAST_FOUND |= {("fresh_same", False): 0.1, ("fresh_same", True): 0.1}
"""Of the half that the words were chosen with, and of the other, which is held."""
PARTED = 0.55
"""The least share of different ones that rules part, so that no model is asked."""


def pairs(name: str, *, held: bool) -> list[tuple[ToolRequest, ToolRequest]]:
    rows = [json.loads(line) for line in (PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 30
    return [(_request(row["one"]), _request(row["other"])) for row in rows if row["held"] is held]


def _request(said: dict[str, Any]) -> ToolRequest:
    """A request from its line, `name(field: type, …) -> field: type` with a description."""
    match = re.fullmatch(r"(\w+)\((.*)\) -> (.*)", said["call"])
    assert match, said
    name, takes, gives = match.groups()
    return ToolRequest(
        name=name, description=said["description"], input_schema=_schema(takes), output_schema=_schema(gives)
    )


def _schema(fields: str) -> JsonSchema:
    found = dict(field.split(": ") for field in fields.split(", "))
    return {"type": "object", "properties": {name: {"type": kind} for name, kind in found.items()}}


halves = pytest.mark.parametrize("held", [False, True], ids=["tuned", "held"])


@pytest.mark.parametrize(("name", "held"), LEAST_FOUND)
def test_a_tool_asked_for_twice_in_other_words_is_built_once(name: str, held: bool) -> None:
    rows = pairs(name, held=held)
    found = sum(same_request(one, other) for one, other in rows)
    assert len(rows) >= 15
    assert found >= LEAST_FOUND[name, held] * len(rows)


@halves
@pytest.mark.parametrize("name", ["different", "more_different"])
def test_what_differs_in_one_word_is_never_taken_for_the_same(name: str, held: bool) -> None:
    rows = pairs(name, held=held)
    assert len(rows) >= 30
    assert [f"{one.name} / {other.name}" for one, other in rows if same_request(one, other)] == []


@halves
def test_rules_part_most_of_what_differs_in_one_word_and_next_to_nothing_else(held: bool) -> None:
    def parted(name: str) -> float:
        rows = pairs(name, held=held)
        return sum(relation(asked(one), asked(other)) == "different" for one, other in rows) / len(rows)

    assert parted("different") >= PARTED
    assert max(parted("same"), parted("more_same")) <= 0.1


@halves
@pytest.mark.parametrize("name", ["same", "different", "more_same", "more_different", "later_same", "fresh_same"])
def test_the_order_of_two_requests_does_not_matter(name: str, held: bool) -> None:
    for one, other in pairs(name, held=held):
        assert same_request(one, other) is same_request(other, one)
