"""What a user would lose: an answer that was there, but wrapped in prose, fences or its own name."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from habilis.models.forms import FormProblem, json_in, read_form, schema_of, strict_schema


class Part(BaseModel):
    name: str = Field(max_length=10)
    size: int = 0


class Plan(BaseModel):
    title: str
    parts: list[Part] = Field(default_factory=list, max_length=2)
    note: str | None = Field(default=None, max_length=5)


class Free(BaseModel):
    anything: dict[str, Any] = Field(default_factory=dict)


class Tree(BaseModel):
    name: str
    children: list[Tree] = Field(default_factory=list)


@pytest.mark.parametrize(
    "text",
    [
        '{"title": "t"}',
        '```json\n{"title": "t"}\n```',
        'Sure! Here it is:\n\n```\n{"title": "t",}\n```\nAnything else?',
        'The plan {as asked} is {"title": "t"} as you can see.',
        '{"Plan": {"title": "t"}}',
        '{"name": "Plan", "arguments": {"title": "t"}}',
        '"{\\"title\\": \\"t\\"}"',
        '{"title": "t", "parts": [],}',
        '{"aside": 1} and {"title": "t"}',
    ],
)
def test_an_answer_is_found_wherever_it_stands(text: str) -> None:
    assert read_form(Plan, text) == Plan(title="t")


@pytest.mark.parametrize(("text", "said"), [("", "empty"), ("no", "no JSON object"), ('{"parts": []}', "title")])
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(FormProblem, match=said):
        read_form(Plan, text)


class Verdict(BaseModel):
    reason: str
    status: Literal["accepted", "not_accepted"]
    parts: list[Part] = Field(default_factory=list)
    note: str | None = "as before"
    count: int = 3


FITS = {"reason": "r", "status": "accepted"}


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ({**FITS, "status": "Accepted"}, {}),
        ({**FITS, "status": " accepted\n"}, {}),
        ({**FITS, "status": "Not accepted"}, {"status": "not_accepted"}),
        ({"Reason": "r", "STATUS": "accepted"}, {}),
        ({**FITS, "parts": None, "count": None}, {}),
        ({**FITS, "Parts": {"Name": "a"}, "note": None}, {"parts": [Part(name="a")], "note": None}),
        ({**FITS, "reason": 12345678901234567890}, {"reason": "12345678901234567890"}),
        ("{'reason': 'r', 'status': 'accepted', 'count': 3}", {}),
        ("So: {'reason': 'r', 'status': 'accepted', 'parts': [{'name': 'a'}]}.", {"parts": [Part(name="a")]}),
    ],
)
def test_what_plainly_is_meant_is_not_asked_for_again(reply: Any, wanted: dict[str, Any]) -> None:
    """Each costs a weak model another call, and a user the time for it."""
    assert read_form(Verdict, reply) == Verdict(**{**FITS, **wanted})


@pytest.mark.parametrize(
    "reply",
    [
        {**FITS, "status": "maybe"},
        {**FITS, "status": "unaccepted"},
        {**FITS, "reason": None},
        {**FITS, "reason": 1.5},  # who knows how many digits it had
        {**FITS, "reason": True},
        {**FITS, "parts": ["a"]},
        {"status": "accepted", "reason why": "r"},
    ],
)
def test_what_has_to_be_guessed_is_asked_for_again(reply: Any) -> None:
    with pytest.raises(FormProblem):
        read_form(Verdict, reply)


def test_what_is_said_under_a_name_in_another_case_is_not_lost() -> None:
    assert read_form(Verdict, {**FITS, "note": None, "Count": 9}) == Verdict(**FITS, note=None, count=9)
    assert read_form(Verdict, {**FITS, "count": 1, "Count": 9}).count == 1


def test_long_values_are_cut_at_every_depth_where_the_type_sets_a_bound() -> None:
    parts = [{"name": "x" * 50, "size": 1}] * 5
    plan = read_form(Plan, {"title": "y" * 9_000, "parts": parts, "note": "z" * 50})
    assert (len(plan.title), len(plan.parts), len(plan.parts[0].name), plan.note) == (9_000, 2, 10, "zzzzz")


def test_the_schema_stands_alone_with_every_string_and_list_bounded() -> None:
    def unbounded(node: Any) -> list[Any]:
        if isinstance(node, list):
            return [bad for item in node for bad in unbounded(item)]
        if not isinstance(node, dict):
            return []
        here = [node] if node.get("type") == "string" and not {"maxLength", "enum", "const"} & set(node) else []
        here += [node] if node.get("type") == "array" and "maxItems" not in node else []
        return here + [bad for value in node.values() for bad in unbounded(value)]

    for output in (Plan, Free, Tree):
        assert unbounded(schema_of(output)) == []
        assert "$ref" not in str(schema_of(output))


def test_strict_only_where_the_schema_can_say_so() -> None:
    strict = strict_schema(schema_of(Plan))
    assert strict is not None
    assert strict["required"] == ["title", "parts", "note"]
    assert strict["properties"]["parts"]["items"]["additionalProperties"] is False
    assert "maxLength" not in str(strict)
    assert strict_schema(schema_of(Free)) is None
    assert strict_schema(schema_of(Tree)) is None


@pytest.mark.parametrize(
    "odd",
    [
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "properties": {}, "additionalProperties": False, "minProperties": 1},
        {"type": "object", "properties": {}, "additionalProperties": False, "patternProperties": {"^a": {}}},
        {"type": "array", "items": {"allOf": [{"type": "string"}]}},
        {"type": "string", "not": {"const": "x"}},
    ],
)
def test_what_strict_mode_refuses_is_not_sent_as_strict(odd: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"value": odd}, "required": ["value"], "additionalProperties": False}
    assert strict_schema(schema) is None


@given(st.text() | st.text(alphabet='{}[]",: `\njson1'))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(isinstance(value, dict) for value in json_in(text))


@given(
    st.text(alphabet=st.characters(exclude_characters='{}`"')),
    st.text(alphabet=st.characters(exclude_characters='{}`"')),
)
def test_prose_around_an_answer_never_hides_it(before: str, after: str) -> None:
    assert read_form(Plan, f'{before}{{"title": "t"}}{after}') == Plan(title="t")


def test_docstrings_of_our_classes_are_not_sent_and_paid_for() -> None:
    class Pair(BaseModel):
        """Why the fields stand in this order."""

        word: str = Field(description="one word")

    class Pairs(BaseModel):
        """For whoever reads this code."""

        pairs: list[Pair]

    sent = json.dumps(schema_of(Pairs))
    assert "one word" in sent
    assert "reads this code" not in sent
    assert "this order" not in sent
