"""Old names: calls of a replaced tool reach the one that does its work now, and come back as they always did."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.contract.aliases import MOST_WAYS, Alias, alias_between, kinds, signature, ways_between


def schema(fields: str, *optional: str) -> dict[str, Any]:
    """`a: integer, b: string` as the JSON schema of an object; all required but `optional`."""
    pairs = [field.split(":") for field in fields.split(",") if field]
    properties = {name.strip(): {"type": kind.strip(), "title": name} for name, kind in pairs}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


OUT = schema("value: number, error: string")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("path: string, n: integer", "path: string, n: integer", {}),
        ("path: string, n: integer", "file: string, n: integer", {"path": "file"}),
        ("path: string, n: integer", "limit: integer, file: string", {"path": "file", "n": "limit"}),
        ("path: string, column: string", "file: string, column: string", {"path": "file"}),
        ("path: string, column: string", "file: string, field: string", None),  # two ways
        ("path: string", "file: string, field: string", None),
        ("path: string, n: integer", "path: string", None),  # nothing for n
        ("path: string", "path: string, n: integer", None),  # nothing gives n
        ("n: integer", "n: string", None),
        ("", "", {}),
    ],
)
def test_without_a_model_there_is_one_way_or_none(old: str, new: str, found: dict[str, str] | None) -> None:
    alias = alias_between((schema(old), OUT), (schema(new), OUT))
    assert (alias.arguments if alias else None) == found


def test_where_fields_can_go_together_in_several_ways_the_likeliest_comes_first() -> None:
    old, new = schema("file_path: string, column: string"), schema("header: string, csv_path: string")
    ways = ways_between((old, OUT), (new, OUT))
    assert [way.arguments for way in ways] == [
        {"file_path": "csv_path", "column": "header"},
        {"file_path": "header", "column": "csv_path"},
    ]
    told = schema("a: string, b: string"), schema("c: string, d: string")
    told[0]["properties"]["a"]["description"] = told[1]["properties"]["d"]["description"] = "what is looked for"
    assert ways_between((told[0], OUT), (told[1], OUT))[0].arguments == {"a": "d", "b": "c"}


def test_nobody_tries_more_ways_than_are_worth_it() -> None:
    one, other = (schema(", ".join(f"{letter}{n}: string" for n in range(5))) for letter in "ab")
    assert len(ways_between((one, OUT), (other, OUT))) == MOST_WAYS
    one, other = (schema(", ".join(f"{letter}{n}: string" for n in range(9))) for letter in "ab")
    assert ways_between((one, OUT), (other, OUT)) == ()


def test_an_argument_that_the_new_tool_can_do_without_is_no_obstacle() -> None:
    alias = alias_between((schema("path: string"), OUT), (schema("path: string, n: integer", "n"), OUT))
    assert alias is not None
    assert alias.given({"path": "a"}) == {"path": "a"}


def test_fields_come_back_under_their_old_names_and_nothing_else_does() -> None:
    alias = alias_between((schema(""), OUT), (schema(""), schema("mean: number, rows: integer, error: string")))
    assert alias is not None
    assert alias.fields == {"mean": "value"}
    assert alias.seen({"mean": 2.5, "rows": 3, "error": None}) == {"value": 2.5, "error": None}


def test_an_error_is_seen_even_by_those_who_knew_none() -> None:
    alias = Alias(input_schema=schema(""), output_schema=schema("value: number"))
    assert alias.seen({"value": None, "error": "no such file"}) == {"value": None, "error": "no such file"}
    assert alias.seen({"value": 1, "error": None}) == {"value": 1}
    assert alias.seen("odd") == "odd"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"arguments": {"text": "content"}}, "InputModel has no content"),
        ({"constants": {"nosuch": 1}}, "InputModel has no nosuch"),
        ({}, "nothing gives the argument part"),
        ({"constants": {"part": "e"}, "fields": {"nosuch": "n"}}, "OutputModel has nothing for n"),
        ({"constants": {"part": "e", "text": "x"}}, "two values lead to one argument"),
        ({"constants": {"part": "e"}, "fields": {"found": "n"}}, ""),
    ],
)
def test_an_alias_that_leads_nowhere_says_why(changes: dict[str, Any], problem: str) -> None:
    alias = Alias(input_schema=schema("text: string"), output_schema=schema("n: integer"), **changes)
    assert alias.problem(schema("text: string, part: string"), schema("found: integer")) == problem


names = st.lists(st.sampled_from("abcdef"), min_size=3, max_size=3, unique=True)


@given(old=names, middle=names, new=names, values=st.lists(st.integers(), min_size=3, max_size=3))
def test_two_aliases_in_a_row_do_what_both_did(
    old: list[str], middle: list[str], new: list[str], values: list[int]
) -> None:
    def leading(source: list[str], target: list[str]) -> Alias:
        fields = schema(", ".join(f"{name}: integer" for name in source))
        pairs = [(one, other) for one, other in zip(source, target, strict=True) if one != other]
        return Alias(
            arguments=dict(pairs),
            fields={other: one for one, other in pairs},
            input_schema=fields,
            output_schema=fields,
        )

    first, second = leading(old, middle), leading(middle, new)
    both = first.then(second)
    given_ = dict(zip(old, values, strict=True))
    assert both.given(given_) == second.given(first.given(given_))
    output = dict(zip(new, values, strict=True))
    assert both.seen(output) == first.seen(second.seen(output))


def test_types_are_told_apart_and_nothing_else_is() -> None:
    one = {
        "properties": {
            "a": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "A"},
            "b": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            "c": {"enum": ["x", "y"]},
            "d": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        "$defs": {"Row": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Row"}}}},
    }
    assert kinds(one) == {
        "a": "integer",
        "b": "[{n: integer, next: Row}]",
        "c": '["x", "y"]',
        "d": "{…: number}",
    }
    assert signature({"properties": {"a": {"type": "string"}}}) == "a: string"
    assert signature({}) == "none"
