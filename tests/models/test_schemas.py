"""What a user would lose: a program that hangs because of a schema or a pattern that somebody else wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field

from habilis.core.errors import UserError
from habilis.core.types import ToolSpec
from habilis.messages.calls import check_calls, misfits
from habilis.models.answers import answer_type, checked_schema
from habilis.models.forms import FormProblem, read_form
from habilis.schemas.checking import MAX_STEPS, Checker, SchemaFault, TooMuch, fault_of
from habilis.schemas.nearly import nearly
from habilis.schemas.patterns import MAX_WEIGHT, compiled, weight_of

EXPONENTIAL = "^(a+)+$"
LONG = "a" * 5_000 + "!"
HERE = "https://json-schema.org/draft/2020-12/schema"


def doubling(levels: int) -> dict[str, Any]:
    """A schema of some hundred characters that asks 2 ** `levels` times for a text."""
    steps = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{levels}": {"type": "string"}}}


def called(args: dict[str, Any], schema: dict[str, Any]) -> Any:
    message = AIMessage("", tool_calls=[{"name": "odd", "args": args, "id": "c0", "type": "tool_call"}])
    return check_calls(message, [ToolSpec(name="odd", description="", parameters=schema)])


def of_one(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


# --- hostile schemas


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": EXPONENTIAL},
        {"properties": {"x": {"pattern": EXPONENTIAL, "$schema": HERE}}, "$schema": HERE},
        {"patternProperties": {EXPONENTIAL: {"type": "null"}}},
        {"patternProperties": {EXPONENTIAL: {}}, "additionalProperties": False},
        {"patternProperties": {EXPONENTIAL: {}}, "unevaluatedProperties": False},
        {"allOf": [{"patternProperties": {EXPONENTIAL: {}}}], "unevaluatedProperties": False},
        {"propertyNames": {"pattern": EXPONENTIAL}},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "additionalProperties": {"pattern": EXPONENTIAL}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"x": {"pattern": EXPONENTIAL}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"x": {"pattern": EXPONENTIAL}}},
    ],
)
def test_a_pattern_that_is_exponential_in_python_holds_nothing_up(schema: dict[str, Any]) -> None:
    assert called({"a": LONG}, of_one(schema))
    assert called({"a": {"x": LONG, LONG: LONG}}, of_one(schema))
    assert misfits(LONG, {"pattern": EXPONENTIAL})[0].startswith("it: 'aaa")


def test_many_references_end_the_check_and_not_the_program() -> None:
    with pytest.raises(TooMuch):
        Checker(doubling(30)).errors(1)
    assert called({"a": 1}, {**of_one({"$ref": "#/$defs/d0"}), "$defs": doubling(30)["$defs"]}).calls
    assert "too large" in misfits(1, doubling(30))[0], "an output that cannot be checked does not fit"
    assert not Checker(doubling(200)).fits(1), "by its depth"
    assert Checker(doubling(30)).fits("a"), "the same schema checks what is no trouble"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"$dynamicRef": "#"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"},
        {"properties": {"a": {"$ref": "#/$defs/none"}}},
        {"properties": {"a": {"$ref": "https://example.org/other"}}},
        {"properties": {"a": {"$ref": 7}}},
        {"anyOf": [{"enum": [1, 2]} for n in range(3_000)]},
        {"description": "x" * 200_000},
    ],
)
def test_a_schema_out_of_bounds_is_told_in_one_sentence_and_checks_nothing(schema: dict[str, Any]) -> None:
    fault = fault_of(schema)
    assert fault
    assert "\n" not in fault
    with pytest.raises(SchemaFault):
        Checker(schema)
    assert called({"a": 1}, schema).calls, "the tool's own check, in the sandbox, decides"


def test_a_schema_that_is_nested_without_end_is_out_of_bounds() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"items": deep}
    assert "levels deep" in str(fault_of(deep))


def test_a_schema_that_recurses_by_way_of_its_data_is_sound() -> None:
    class Tree(BaseModel):
        name: str = Field(pattern=r"^\w+$")
        below: list[Tree] = []
        beside: dict[str, Tree] = {}
        other: Tree | None = None

    Tree.model_rebuild()
    schema = Tree.model_json_schema()
    assert fault_of(schema) is None
    checker = Checker(schema)
    assert checker.fits({"name": "a", "below": [{"name": "b", "other": {"name": "c"}}]})
    assert not checker.fits({"name": "a", "below": [{"name": "b", "other": {"name": "?"}}]})


def test_a_property_may_bear_the_name_of_a_keyword() -> None:
    schema = {"properties": {"$ref": {"type": "string"}, "allOf": {"type": "array"}, "pattern": {"type": "string"}}}
    assert fault_of(schema) is None
    assert Checker(schema).fits({"$ref": "x", "allOf": [1], "pattern": "("})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, lambda: [{"n": n} for n in range(70_000)]),
        ({"items": {}}, [0] * 70_000),
        ({"contains": {"const": 1}}, [0] * 70_000),
        ({"items": {"enum": list(range(2_000))}}, [-1] * 1_000),
        ({"allOf": [{"maxItems": 0}] * 2_000}, [0] * 40_000),
        ({"items": {"pattern": "(.*a){500}x"}}, ["a" * 1_000] * 1_000),
        ({"dependentSchemas": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubling(60)["$defs"]}, {"a": 1}),
    ],
)
def test_what_takes_too_many_steps_is_given_up(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(TooMuch):
        Checker(schema).errors(value() if callable(value) else value)


def test_a_value_that_is_nested_without_end_is_given_up() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(TooMuch):
        Checker({"type": "array"}).errors(deep)
    assert "too deeply" in called({"a": deep}, of_one({"type": "array"})).problems[0].text
    text = '{"a": ' + "[" * 100_000
    assert called({"unreadable_arguments": text}, {}).problems


def test_a_number_too_large_for_a_float_is_no_crash() -> None:
    assert not Checker({"multipleOf": 0.5}).fits(10**400)


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "weight"),
    [
        ("abc", 3),
        ("a{1000}{1000}", 1_000_000),
        ("((a{10}){10}b){10}", 1_010),
        ("[a-f]{8}-[a-f]{4}", 13),
        ("", 1),
        (")(", 1),
    ],
)
def test_the_weight_of_a_pattern_counts_its_repetitions(pattern: str, weight: int) -> None:
    assert weight_of(pattern) == weight


@pytest.mark.parametrize("pattern", ["(?=a)a", r"(a)\1", "(", "a{1000}{1000}", r"\w{999}", "a" * 1_001, "(" * 900])
def test_what_the_engine_does_not_know_or_would_be_too_large_is_not_run(pattern: str) -> None:
    assert compiled(pattern) is None
    assert called({"a": "b"}, of_one({"type": "string", "pattern": pattern})).calls
    assert called({"a": {"b": 1}}, of_one({"patternProperties": {pattern: {}}, "additionalProperties": False})).calls
    with pytest.raises(UserError, match="cannot be checked"):
        checked_schema({"type": "string", "pattern": pattern})


def test_ordinary_patterns_are_light() -> None:
    email = r"^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}$"
    assert weight_of(email) < MAX_WEIGHT
    assert Checker({"pattern": email}).fits("a.b@example.org")
    assert not Checker({"pattern": email}).fits("a.b at example.org")
    assert misfits("x7", {"pattern": r"^\d+$"}) == ["it: 'x7' does not match '^\\\\d+$'"]


def test_a_lone_surrogate_is_a_character_like_any_other() -> None:
    assert Checker({"pattern": "^a.$"}).fits("a\ud800")


# --- schemas of the user's own, for answers


def test_an_answer_schema_that_doubles_itself_is_sent_within_bounds() -> None:
    schema = {**doubling(200), "type": "object"}
    sent = answer_type(checked_schema(schema)).model_json_schema()
    assert len(str(sent)) < 2_000_000
    with pytest.raises(FormProblem, match="too large"):
        read_form(answer_type(schema), {"final_answer": {"a": 1}})


def test_a_pattern_of_an_answer_schema_is_held_in_linear_time() -> None:
    kind = answer_type(checked_schema({"type": "string", "pattern": EXPONENTIAL}))
    assert read_form(kind, {"final_answer": "aaa"}).model_dump()["final_answer"] == "aaa"
    with pytest.raises(FormProblem, match="does not match"):
        read_form(kind, {"final_answer": "a" * 100 + "!"})


# --- ordinary schemas: as the library has it

texts = st.text("ab1é", max_size=4)
plain = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([0.5, 1.0, -2.5, 1e300]) | texts
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)
leaf_schemas = st.one_of(
    st.builds(lambda kind: {"type": kind}, st.sampled_from(["string", "integer", "number", "array", "object", "null"])),
    st.builds(lambda options: {"enum": options}, st.lists(plain, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, values),
    st.builds(lambda low, high: {"minimum": low, "exclusiveMaximum": high}, st.integers(-9, 9), st.integers(-9, 9)),
    st.builds(lambda n: {"multipleOf": n}, st.sampled_from([1, 2, 0.5])),
    st.builds(lambda n: {"minLength": n, "maxLength": n + 1}, st.integers(0, 3)),
    st.builds(lambda n: {"minItems": n, "maxItems": n + 1, "minProperties": n}, st.integers(0, 3)),
    st.sampled_from(
        [{"uniqueItems": True}, {"pattern": "^a"}, {"pattern": "b|1$"}, {"format": "email"}, True, False, {}]
    ),
)


def _larger(inner: Any) -> Any:
    named = st.dictionaries(texts, inner, max_size=3)
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda a, b: {"properties": a, "additionalProperties": b}, named, inner),
        st.builds(lambda a, b: {"patternProperties": {"^a": a, "1": b}, "additionalProperties": False}, inner, inner),
        st.builds(lambda a, b: {"properties": a, "unevaluatedProperties": b}, named, inner),
        st.builds(lambda a: {"properties": a, "required": list(a)[:2]}, named),
        st.builds(lambda a: {"propertyNames": a}, inner),
        st.builds(lambda a: {"items": a}, inner),
        st.builds(lambda a, b: {"prefixItems": a, "items": b}, several, inner),
        st.builds(lambda a, b: {"prefixItems": a, "unevaluatedItems": b}, several, inner),
        st.builds(lambda a: {"contains": a, "maxContains": 2}, inner),
        st.builds(lambda a: {"anyOf": a}, several),
        st.builds(lambda a: {"oneOf": a}, several),
        st.builds(lambda a: {"allOf": a}, several),
        st.builds(lambda a: {"not": a}, inner),
        st.builds(lambda a, b, c: {"if": a, "then": b, "else": c}, inner, inner, inner),
        st.builds(lambda a: {"dependentSchemas": a}, named),
    )


schemas = st.recursive(leaf_schemas, _larger, max_leaves=8)


@given(schemas, values)
def test_what_nearly_fits_is_looked_for_by_any_schema(schema: Any, value: Any) -> None:
    """Schemas are of anybody's making: none makes it fail, and what it makes is looked at no second time."""
    if isinstance(schema, dict):
        once = nearly(schema, value)
        assert nearly(schema, once) == once


@settings(max_examples=60)
@given(schemas, values)
def test_ordinary_schemas_are_checked_as_the_library_checks_them(schema: Any, value: Any) -> None:
    text = json.dumps(schema)
    assume(not ("unevaluatedProperties" in text and "patternProperties" in text))  # left to the model: see `_metered`
    library = jsonschema.Draft202012Validator(schema)
    ours = Checker(schema)
    assert ours.fits(value) == library.is_valid(value)
    told = [(list(error.absolute_path), error.validator) for error in ours.errors(value)]
    assert sorted(map(str, told)) == sorted(
        str((list(error.absolute_path), error.validator)) for error in library.iter_errors(value)
    )


@settings(max_examples=40)
@given(st.integers(1, 400), schemas, values)
def test_no_check_takes_more_steps_than_it_may(steps: int, schema: Any, value: Any) -> None:
    checker = Checker(schema)
    try:
        found = checker.errors(value, steps=steps)
    except TooMuch:
        return
    assert [str(error) for error in found] == [str(error) for error in checker.errors(value, steps=MAX_STEPS)]


def test_a_schema_file_with_a_bomb_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    from habilis.models.answers import read_schema

    path = tmp_path / "form.json"
    path.write_text('{"allOf":[' * 50_000, encoding="utf-8")
    with pytest.raises(UserError, match="is not JSON"):
        read_schema(str(path))
    path.write_text('{"type": "array", "items": ' * 200 + "{}" + "}" * 200, encoding="utf-8")
    with pytest.raises(UserError, match="levels deep"):
        read_schema(str(path))
