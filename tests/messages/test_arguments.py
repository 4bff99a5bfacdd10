"""What a user would lose: a call that runs with arguments nobody sent, or one that is refused for a stray comma."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.messages.arguments import ArgumentsUnreadable, read_arguments, strict_arguments

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=6), json_values, max_size=5)


@pytest.mark.parametrize(
    ("raw", "args"),
    [
        ("", {}),
        ("  \n", {}),
        (None, {}),
        ("null", {}),
        ({"a": 1}, {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a": 1}}', {"a": 1}),
        ('{"a": "x"', {"a": "x"}),
        ('{"a": {"b": [true', {"a": {"b": [True]}}),
        ("{'a': True, 'b': None, 'c': \"it's\"}", {"a": True, "b": None, "c": "it's"}),
        ('{"a": "a comma, then }"}', {"a": "a comma, then }"}),
    ],
)
def test_what_can_only_mean_one_thing_is_read(raw: Any, args: dict[str, Any]) -> None:
    assert read_arguments(raw) == args


@pytest.mark.parametrize(
    "raw",
    [
        "[1, 2]",
        "3",
        '"text"',
        "true",
        '{"a": 1',  # the number may have gone on
        '{"a": "x',  # so may the string
        '{"a"',
        '{"a": 1} {"a": 2}',
        '{"a": 1, "a": 2}',
        "{'a': 1, 'a': 2}",
        "{1: 2}",
        '{"a": NaN}',
        '{"a": 1 "b": 2}',
        "a=1",
        "{a: 1}",
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        ["not", "text"],
    ],
)
def test_what_could_mean_two_things_never_runs(raw: Any) -> None:
    with pytest.raises(ArgumentsUnreadable):
        read_arguments(raw)


def test_the_place_of_the_mistake_is_named() -> None:
    with pytest.raises(ArgumentsUnreadable, match=r"line 2 column 3 \(character 11\), near"):
        read_arguments('{"a": 1,\n  b: 2}')


def test_a_reply_cut_at_its_token_limit_is_never_completed() -> None:
    with pytest.raises(ArgumentsUnreadable):
        read_arguments('{"path": "a.csv"', cut=True)


@given(objects)
def test_every_json_object_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(value)) == value
    assert read_arguments(json.dumps(value, indent=1, ensure_ascii=False)) == value
    assert strict_arguments(json.dumps(value)) == value


@given(st.text() | st.text(alphabet="{}[]\",:\\' \n1truefalsnab"))
def test_no_text_at_all_breaks_the_reader(text: str) -> None:
    try:
        assert isinstance(read_arguments(text), dict)
    except ArgumentsUnreadable:
        assert not isinstance(strict_arguments(text), dict)


@given(objects, st.data())
def test_a_cut_text_never_yields_a_value_that_was_not_sent(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text)))
    try:
        read = read_arguments(text[:end])
    except ArgumentsUnreadable:
        return
    assert is_part(read, value)


def is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and is_part(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(is_part(a, b) for a, b in zip(part, whole, strict=False))
    return bool(part == whole)


def test_a_number_that_no_json_can_hold_is_told() -> None:
    with pytest.raises(ArgumentsUnreadable, match="1e999"):
        read_arguments('{"a": 1e999}')
