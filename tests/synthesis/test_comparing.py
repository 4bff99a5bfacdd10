"""What a user would lose: what a tool did right, to a version that mends something else; or the mend itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.inputs.domain import Domain
from habilis.inputs.file_variants import labels, odd_variants
from habilis.inputs.relations import Given
from habilis.inputs.search import Input, Search, possible
from habilis.library import Tool
from habilis.synthesis.smith import EnhanceFailure

from ..toolshop import Shop, tool_source

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def numbers_tool(body: str) -> str:
    meta = "'dependencies': [], 'examples': [{'arguments': {'values': [1, 2, 3]}}]"
    return tool_source("middle", body=body, fields="    values: list[int]", result="float | None", meta=meta)


MEDIAN = "    v = sorted(input.values)\n    n = len(v)\n    return OutputModel(result={})"
WRONG_WHEN_EVEN = MEDIAN.format("v[n // 2]")
RIGHT = MEDIAN.format("v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2")
FAILS_WHEN_EMPTY = WRONG_WHEN_EVEN
LOSSY = "    n = len(input.values)\n    v = input.values\n" + RIGHT[RIGHT.index("    return") :]


async def _mended(shop: Shop, old: str, failing: list[int], *candidates: str) -> Tool | EnhanceFailure:
    tool = await shop.has(numbers_tool(old), "middle")
    for number, values in enumerate(([2, 4, 9], [1, 5, 7], [3, 8, 10])):
        await shop.called(tool, {"values": values}, "success", f"c{number}")
    failed = await shop.called(tool, {"values": failing}, "failure", "bad")
    shop.writer.replies = [numbers_tool(body) for body in candidates]
    shop.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "right now"}]}] * len(candidates)
    return await shop.smith.enhance(tool, [failed])


async def test_a_mend_may_differ_where_wrong_answers_are_set_apart_from_good_ones(shop: Shop) -> None:
    better = await _mended(shop, WRONG_WHEN_EVEN, [1, 2, 4, 9], RIGHT)
    assert isinstance(better, Tool), better
    assert better.source() == numbers_tool(RIGHT)


async def test_a_mend_of_calls_that_raised_may_not_change_what_was_answered(shop: Shop) -> None:
    changed = "    if not input.values:\n        return OutputModel(result=0.0)\n" + MEDIAN.format(
        "v[n // 2] if n < 4 else v[0]"
    )
    kept = "    if not input.values:\n        return OutputModel(result=0.0)\n" + FAILS_WHEN_EMPTY
    better = await _mended(shop, FAILS_WHEN_EMPTY, [], changed, kept)
    assert isinstance(better, Tool), better
    assert better.source() == numbers_tool(kept)
    assert "goes wrong where the version before was right" in shop.writer.asked[1]
    assert str(shop.private.path) not in shop.writer.asked[1]


async def test_a_mend_that_raises_where_the_version_before_answered_is_no_mend(shop: Shop) -> None:
    empty = "    if not input.values:\n        return OutputModel(result=0.0)\n"
    narrow = empty + "    assert len(input.values) < 4\n" + WRONG_WHEN_EVEN
    assert isinstance(await _mended(shop, FAILS_WHEN_EMPTY, [], *[narrow] * 3), EnhanceFailure)


async def test_a_mend_of_calls_that_raised_may_change_nothing_far_from_all_calls_either(shop: Shop) -> None:
    empty = "    if not input.values:\n        return OutputModel(result=0.0)\n"
    changed = empty + MEDIAN.format("0 if len(bin(v[-1])) > 7 else v[n // 2]")
    assert isinstance(await _mended(shop, FAILS_WHEN_EMPTY, [], *[changed] * 3), EnhanceFailure)
    assert "goes wrong where the version before was right" in shop.writer.asked[1]


# --- inputs


def _all(search: Search) -> list[Input]:
    found: list[Input] = []
    while batch := search.next(4):
        found += batch
    return found


def _drawn(*calls: dict[str, Any], schema: dict[str, Any] = TEXT, seed: str = "s") -> list[Any]:
    return _all(Search(Domain([Given(call) for call in calls]), schema, seed))


def test_the_same_versions_are_always_tried_on_the_same_inputs() -> None:
    calls = ({"text": "one two"}, {"text": "three"})
    assert _drawn(*calls) == _drawn(*calls)
    assert _drawn(*calls) != _drawn(*calls, seed="other")


def test_what_no_call_showed_lies_outside() -> None:
    domain = Domain([Given({"n": 3, "text": "one two"}), Given({"n": 5, "text": "three"})])
    assert domain.holds(Given({"n": 4, "text": "two one"}))
    for odd in ({"n": -4}, {"n": 0}, {"n": 4000}, {"text": ""}, {"text": "naïve"}, {"text": "a,b"}, {"text": "A"}):
        assert not domain.holds(Given({"n": 4, "text": "two one", **odd})), odd


@pytest.mark.parametrize(
    ("calls", "inside", "outside"),
    [
        ([{"a": [1, 2], "b": [3, 4]}], {"a": [2], "b": [4]}, {"a": [2, 1], "b": [4]}),
        ([{"low": n, "high": n + 3} for n in (1, 4, 6)], {"low": 2, "high": 3}, {"low": 5, "high": 2}),
        ([{"key": "b", "all": ["a", "b"]}], {"key": "a", "all": ["a"]}, {"key": "c", "all": ["a", "b"]}),
        ([{"day": "2024-01-31"}], {"day": "2023-02-28"}, {"day": "2023-02-30"}),
        ([{"code": "AB-12"}, {"code": "CD-34"}], {"code": "EF-56"}, {"code": "EF56"}),
        ([{"sum": "1 + 2"}], {"sum": "(3 - 1) / 2 ** 2"}, {"sum": "1 / 0"}),
        ([{"v": sorted(range(n))} for n in (3, 4, 5)], {"v": [1, 2]}, {"v": [2, 1]}),
    ],
    ids=["equally long", "in order", "one of the list", "dates", "identifiers", "expressions", "sorted"],
)
def test_relations_and_formats_that_all_calls_keep_are_kept(
    calls: list[dict[str, Any]], inside: dict[str, Any], outside: dict[str, Any]
) -> None:
    domain = Domain([Given(call) for call in calls])
    assert domain.holds(Given(inside))
    assert not domain.holds(Given(outside))


def test_expressions_bring_every_operator_of_arithmetic() -> None:
    schema = {"type": "object", "properties": {"sum": {"type": "string"}}, "required": ["sum"]}
    inside = [one.given.arguments["sum"] for one in _drawn({"sum": "1 + 2"}, schema=schema) if one.inside]
    assert all(any(operator in text for text in inside) for operator in ("+", "-", "*", "/", "**"))


def test_a_file_comes_in_every_form(tmp_path: Path) -> None:
    table = b"name,amount\nAda,10\nBob,25\n"
    found = {label.partition("*.csv ")[2] for odd, _ in odd_variants(table) for label in labels("a.csv", odd)}
    forms = {"in utf-8-sig", "in latin-1", "in utf-16", "parted by ';'", "with a blank cell", "with a missing cell"}
    assert forms | {"without rows", "empty", "beyond ASCII"} <= found
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    domain = Domain([Given({"path": "a.csv"}, {"a.csv": table})])
    inputs = _all(Search(domain, schema, "s"))
    assert {one.given.arguments["path"] for one in inputs} == {"a.csv"}
    assert sum(one.inside for one in inputs) >= 10


def test_where_every_field_has_few_values_all_inputs_are_known() -> None:
    schema = {
        "properties": {"on": {"type": "boolean"}, "kind": {"$ref": "#/$defs/K"}},
        "required": ["on", "kind"],
        "$defs": {"K": {"enum": ["a", "b"]}},
    }
    assert len(possible(schema) or ()) == 4
    assert possible(TEXT) is None
