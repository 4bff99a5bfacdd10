"""What a user would lose: a tool run with wrong arguments, or a model left guessing what was wrong with its call."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from habilis.core.types import ToolSpec
from habilis.messages.calls import UNREADABLE, UNREADABLE_AT, Call, check_calls, near_names, with_unique_ids

READ = ToolSpec(
    name="read_rows",
    description="",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 5},
            "kind": {"enum": ["csv", "json"]},
            "where": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "columns": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path", "kind"],
    },
)
NOW = ToolSpec(name="tell_rate", description="", parameters={"type": "object", "properties": {}})
FREE = ToolSpec(name="anything", description="", parameters={})
SPECS = [READ, NOW, FREE]


def reply(*calls: tuple[str, Any], finish: str = "tool_calls") -> AIMessage:
    good: list[Any] = []
    bad: list[Any] = []
    places: list[int] = []
    for index, (name, args) in enumerate(calls):
        row = {"name": name, "args": args, "id": f"c{index}"}
        if isinstance(args, dict):
            good.append({**row, "type": "tool_call"})
        else:
            bad.append({**row, "error": None, "type": "invalid_tool_call"})
            places.append(index)
    return AIMessage(
        "",
        tool_calls=good,
        invalid_tool_calls=bad,
        response_metadata={"finish_reason": finish},
        additional_kwargs={UNREADABLE_AT: places},
    )


def problem(name: str, args: Any, specs: list[ToolSpec] = SPECS) -> str:
    checked = check_calls(reply((name, args)), specs)
    assert not checked.calls
    return checked.problems[0].text


def test_optional_arguments_left_out_stay_out() -> None:
    checked = check_calls(reply(("read_rows", {"path": "a", "kind": "csv"})), SPECS)
    assert checked.calls == (Call("c0", "read_rows", {"path": "a", "kind": "csv"}),)


@pytest.mark.parametrize("args", [{}, "", "  ", "null"])
def test_a_tool_without_arguments_runs(args: Any) -> None:
    assert check_calls(reply(("tell_rate", args)), SPECS).calls == (Call("c0", "tell_rate", {}),)


def test_a_tool_without_a_schema_takes_what_it_is_given() -> None:
    assert check_calls(reply(("anything", {"x": [1]})), SPECS).calls[0].args == {"x": [1]}


def test_unknown_and_missing_names_are_told_together() -> None:
    text = problem("read_rows", {"pth": "a", "size": 3, "kind": "csv"})
    assert "unknown parameters: pth (did you mean path?), size" in text
    assert "missing required parameters: path" in text
    assert "expected: columns, kind, limit, path, where" in text


def test_types_enums_and_nulls_are_told_together() -> None:
    text = problem("read_rows", {"path": None, "kind": "xml", "limit": "5", "where": 3, "columns": ["a", 1]})
    assert "path must be string, not null; leave it out" in text
    assert 'kind must be one of "csv", "json", not a string ("xml")' in text
    assert 'limit must be integer, not a string ("5")' in text
    assert "where must be string or null, not a number (3)" in text
    assert "columns[1] must be string, not a number (1)" in text


def test_an_unknown_tool_gets_the_near_names() -> None:
    assert "did you mean read_rows?" in problem("readRows", {})
    assert "the tools are: anything, read_rows, tell_rate" in problem("zzz", {})
    assert "there are no tools now" in problem("read_rows", {}, [])


def test_broken_arguments_are_told_with_their_place_and_never_run_empty() -> None:
    text = problem("tell_rate", '{"a": 1 "b"}')
    assert "character 8" in text


def test_arguments_that_are_no_object_are_refused() -> None:
    assert "must be a JSON object, not an array" in problem("tell_rate", "[1]")


def test_all_problems_of_a_reply_come_back_at_once_in_its_order() -> None:
    checked = check_calls(reply(("nope", {}), ("read_rows", '{"a":'), ("tell_rate", {}), ("read_rows", {})), SPECS)
    assert [p.call_id for p in checked.problems] == ["c0", "c1", "c3"]
    assert [c.id for c in checked.calls] == ["c2"]
    assert [c["id"] for c in checked.message.tool_calls] == ["c0", "c1", "c2", "c3"]


def test_what_was_repaired_stands_in_the_history_and_runs_in_its_place() -> None:
    checked = check_calls(reply(("anything", '{"a": 1,}'), ("tell_rate", {})), SPECS)
    assert [c.name for c in checked.calls] == ["anything", "tell_rate"]
    assert checked.message.tool_calls[0]["args"] == {"a": 1}
    assert not checked.message.invalid_tool_calls


def test_unreadable_arguments_stay_in_the_history_as_valid_json() -> None:
    message = check_calls(reply(("anything", '{"a": ')), SPECS).message
    assert message.tool_calls[0]["args"] == {UNREADABLE: '{"a": '}


def test_a_call_cut_at_the_token_limit_is_not_completed() -> None:
    assert check_calls(reply(("anything", '{"a": "x"')), SPECS).calls
    (problem,) = check_calls(reply(("anything", '{"a": "x"'), finish="length"), SPECS).problems
    assert problem.text == (
        "Tool call 'anything' was cut off at the token limit. Send the call again, with shorter arguments."
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"type": "object", "properties": {"a": {"$ref": "http://example.org/x"}}},
        {"$ref": "#/no"},
    ],
)
def test_a_broken_schema_blocks_nothing_and_fetches_nothing(schema: dict[str, Any]) -> None:
    assert check_calls(reply(("odd", {"a": 1})), [ToolSpec(name="odd", description="", parameters=schema)]).calls


MIXED = ToolSpec(
    name="draw",
    description="",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "ratio": {"type": ["number", "null"]},
            "on": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "options": {"type": "object"},
            "points": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
            "mode": {"enum": ["fast", "slow"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "count": {"type": "integer"},
        },
        "required": ["path"],
    },
)


@pytest.mark.parametrize(
    ("sent", "runs"),
    [
        ({"limit": "5"}, {"limit": 5}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"on": "True"}, {"on": True}),
        ({"tags": '["x", "y"]'}, {"tags": ["x", "y"]}),
        ({"tags": ["x", 5]}, {"tags": ["x", "5"]}),
        ({"options": '{"k": "1"}'}, {"options": {"k": "1"}}),
        ({"points": {"x": "1.5"}}, {"points": [{"x": 1.5}]}),
        ({"mode": "Fast"}, {"mode": "fast"}),
        ({"count": None, "tags": None}, {}),
        ({"limit": None}, {"limit": None}),
        ({"Count": 2, "either": "7"}, {"count": 2, "either": "7"}),
        ({"path": 12345678901234567890}, {"path": "12345678901234567890"}),
    ],
)
def test_arguments_that_plainly_are_meant_so_are_taken_so(sent: dict[str, Any], runs: dict[str, Any]) -> None:
    """Each was told to the model before, which cost another of its calls."""
    checked = check_calls(reply(("draw", {"path": "a", **sent})), [MIXED])
    assert [call.args for call in checked.calls] == [{"path": "a", **runs}], checked.problems
    assert checked.message.tool_calls[0]["args"] == {"path": "a", **runs}, "what runs is what is told on"


def test_arguments_within_one_more_object_are_taken_out_of_it() -> None:
    for name in ("arguments", "input"):
        assert check_calls(reply(("draw", {name: {"path": "a", "count": "2"}})), [MIXED]).calls[0].args["count"] == 2


@pytest.mark.parametrize(
    "sent",
    [
        {"limit": "five"},
        {"limit": "5 rows"},
        {"limit": "007"},
        {"limit": 2.5},
        {"ratio": "1,5"},
        {"ratio": "NaN"},
        {"on": 1},
        {"on": "yes"},
        {"tags": "x, y"},
        {"tags": "[x]"},
        {"path": 1.50},
        {"path": None},
        {"path": ["a"]},
        {"mode": "medium"},
        {"extra": 1},
    ],
)
def test_arguments_that_would_have_to_be_guessed_are_told(sent: dict[str, Any]) -> None:
    assert "was not run" in problem("draw", {"path": "a", **sent}, [MIXED])


def test_long_lists_of_problems_stay_readable() -> None:
    text = problem("read_rows", {"path": "a", "kind": "csv", "columns": [n + 0.5 for n in range(500)]})
    assert "and 488 more" in text
    assert len(text) < 2000


def test_near_names_ignore_case_and_punctuation() -> None:
    assert near_names("functions.read_rows", ["read_rows", "write_rows"]) == ["read_rows"]
    assert near_names("Read-Rows", ["read_rows", "write_rows"])[0] == "read_rows"


# --- ids


def call(call_id: str | None) -> Any:
    return {"name": "t", "args": {}, "id": call_id, "type": "tool_call"}


def test_missing_and_doubled_ids_become_unique_and_are_the_same_every_time() -> None:
    message = AIMessage("", tool_calls=[call("a"), call("a"), call(None), call("b"), call("p_1")])
    once = with_unique_ids(message, "p", {"b"})
    assert [c["id"] for c in once.tool_calls] == ["a", "p_2", "p_3", "p_4", "p_1"]
    assert with_unique_ids(message, "p", {"b"}) == once


def test_good_ids_are_left_alone() -> None:
    message = AIMessage("", tool_calls=[call("a"), call("b")])
    assert with_unique_ids(message, "p", {"c"}) is message


raw_calls = st.lists(
    st.tuples(
        st.sampled_from(["read_rows", "tell_rate", "anything", "nope", ""]),
        st.dictionaries(st.sampled_from(["path", "kind", "limit", "x"]), st.sampled_from(["csv", 1, None, [1], {}]))
        | st.sampled_from(["", "{", '{"x": 1,}', "[1]", '{"path": "p", "kind": "csv"', "null"]),
    ),
    max_size=5,
)


@given(raw_calls)
def test_every_call_is_either_fit_to_run_or_explained(calls: list[tuple[str, Any]]) -> None:
    checked = check_calls(reply(*calls), SPECS)
    ids = [c.id for c in checked.calls] + [p.call_id for p in checked.problems]
    assert sorted(ids) == [f"c{i}" for i in range(len(calls))]
    assert [c["id"] for c in checked.message.tool_calls] == [f"c{i}" for i in range(len(calls))]
    by_name = {spec.name: spec.parameters for spec in SPECS}
    for good in checked.calls:
        jsonschema.validate(good.args, by_name[good.name])
    assert all(p.text for p in checked.problems)


@given(raw_calls)
def test_checking_what_was_checked_finds_the_same(calls: list[tuple[str, Any]]) -> None:
    once = check_calls(reply(*calls), SPECS)
    again = check_calls(once.message, SPECS)
    assert (again.calls, again.problems, again.message) == (once.calls, once.problems, once.message)


@given(
    st.lists(st.sampled_from([None, "", "a", "b", "p_1", "p_2"]), max_size=6), st.sets(st.sampled_from(["a", "p_1"]))
)
def test_ids_are_always_unique(ids: list[str | None], taken: set[str]) -> None:
    made = [c["id"] for c in with_unique_ids(AIMessage("", tool_calls=[call(i) for i in ids]), "p", taken).tool_calls]
    assert len(set(made)) == len(ids)
    assert not set(made) & taken
    assert all(made)


LOOK = ToolSpec(name="look_up", description="", parameters={"type": "object", "properties": {"q": {"type": "string"}}})


def test_a_text_is_the_one_parameter_of_a_tool_that_takes_one_text() -> None:
    assert check_calls(reply(("look_up", '"Paris"')), [LOOK]).calls[0].args == {"q": "Paris"}
    assert "must be a JSON object" in problem("read_rows", '"Paris"')
