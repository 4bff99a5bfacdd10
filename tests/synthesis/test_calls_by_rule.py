"""Calls made of a task: each value stands in the task, and where one is missing there is no call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from habilis.core.types import TaskFile
from habilis.synthesis.calls_by_rule import TaskGround, call_from

TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [n for n, f in fields.items() if "default" not in f]}


def ground(folder: Path, question: str, **texts: str) -> TaskGround:
    files = []
    for stem, text in texts.items():
        path = folder / f"{stem}.{'json' if text[:1] in '[{' else 'csv'}"
        path.write_text(text)
        files.append({"named": path.name, "path": str(path), "is_dir": False})
    return TaskGround.of(question, files)


def made(ground: TaskGround, **fields: Any) -> dict[str, Any] | None:
    return call_from(ground, schema(**fields), {file.path: file.named for file in ground.files})


CSV = "city,temp_c,Wind Speed\nLagos,31,4\nOslo,12,9\n"


@pytest.mark.parametrize(
    ("question", "fields", "expected"),
    [
        ("How many rows?", {"path": TEXT}, {"path": "t.csv"}),
        (
            "The mean temperature in t.csv?",
            {"csv_path": TEXT, "column": TEXT},
            {"csv_path": "t.csv", "column": "temp_c"},
        ),
        ("The largest wind speed?", {"file": TEXT, "column": TEXT}, {"file": "t.csv", "column": "Wind Speed"}),
        ("How warm is it in Lagos?", {"path": TEXT, "city": TEXT}, {"path": "t.csv", "city": "Lagos"}),
        ('How warm is "Oslo" of all?', {"path": TEXT, "city": TEXT}, {"path": "t.csv", "city": "Oslo"}),
        ("Rows of Paris?", {"path": TEXT, "city": TEXT}, None),
        ("Rows with more than 12.5?", {"path": TEXT, "limit": NUMBER}, {"path": "t.csv", "limit": 12.5}),
        ("The first 3 rows?", {"path": TEXT, "count": WHOLE}, {"path": "t.csv", "count": 3}),
        ("The first rows?", {"path": TEXT, "count": WHOLE}, None),
        ("The colour?", {"path": TEXT, "column": TEXT}, None),
        ("Rows?", {"path": TEXT, "sep": {"type": "string", "default": ","}}, {"path": "t.csv"}),
        ("Rows?", {"path": TEXT, "how": {"enum": ["all", "one"]}}, {"path": "t.csv", "how": "all"}),
        ("Rows?", {"path": {"anyOf": [TEXT, {"type": "null"}], "default": None}}, {"path": "t.csv"}),
        ("Rows?", {"paths": {"type": "array", "items": TEXT}}, {"paths": ["t.csv"]}),
        ("The sum of 1, 2 and 3?", {"numbers": {"type": "array", "items": NUMBER}}, {"numbers": [1, 2, 3]}),
        ("Rows?", {"path": TEXT, "options": {"type": "object"}}, None),
        ("Rows?", {"output_path": TEXT}, None),
        ("Rows?", {"folder": TEXT}, None),
    ],
)
def test_each_value_of_a_call_is_the_tasks(tmp_path: Path, question: str, fields: Any, expected: Any) -> None:
    assert made(ground(tmp_path, question, t=CSV), **fields) == expected


def test_each_file_goes_where_its_name_is_called(tmp_path: Path) -> None:
    two = ground(tmp_path, "Which orders have no customer?", orders=CSV, customers=CSV)
    found = made(two, customers_path=TEXT, orders_path=TEXT)
    assert found == {"customers_path": "customers.csv", "orders_path": "orders.csv"}
    assert made(two, a_path=TEXT, b_path=TEXT, c_path=TEXT) is None


def test_keys_of_json_are_columns(tmp_path: Path) -> None:
    one = ground(tmp_path, "What is the total price?", t='[{"name": "a", "unit_price": 3}]')
    assert made(one, path=TEXT, key=TEXT) == {"path": "t.json", "key": "unit_price"}


def test_a_reference_is_followed(tmp_path: Path) -> None:
    given = schema(path=TEXT, how={"$ref": "#/$defs/How"}) | {"$defs": {"How": {"enum": ["x", "y"]}}}
    one = ground(tmp_path, "Rows?", t=CSV)
    assert call_from(one, given, {}) == {"path": one.files[0].path, "how": "x"}


@pytest.mark.parametrize("text", ["t.csv", "/mnt/data/t.csv", "data\\t.csv", "~/t.csv", "./t.csv"])
def test_a_name_that_can_only_mean_one_file_means_it(tmp_path: Path, text: str) -> None:
    assert ground(tmp_path, "", t=CSV).file(text) is not None


@pytest.mark.parametrize("text", ["t", "http://a.org/t.csv", "other.csv", "", "/", ".."])
def test_other_names_mean_none(tmp_path: Path, text: str) -> None:
    assert ground(tmp_path, "", t=CSV).file(text) is None


def test_a_name_that_two_files_have_means_none(tmp_path: Path) -> None:
    files = tuple(TaskFile(named=f"{part}/t.csv", path=f"/{part}/t.csv") for part in "ab")
    assert TaskGround("", files).file("t.csv") is None
    assert TaskGround("", files).file("b/t.csv") == files[1]


_FIELD = some.recursive(
    some.none()
    | some.booleans()
    | some.text(max_size=5)
    | some.sampled_from(["string", "integer", "array", "#/$defs/a"]),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(
            some.sampled_from(["type", "enum", "anyOf", "items", "$ref", "default", "path", "const", "examples"]), inner
        )
    ),
    max_leaves=8,
)


@given(some.text(max_size=80), some.dictionaries(some.text(max_size=8), _FIELD, max_size=4), _FIELD)
def test_any_question_and_any_schema_give_a_call_or_none(question: str, fields: Any, definitions: Any) -> None:
    """A schema is what a model wrote; reading it must not end the task."""
    given = {"properties": fields, "required": list(fields), "$defs": definitions}
    found = call_from(TaskGround(question), given, {})
    assert found is None or found.keys() <= fields.keys()
