"""Results: the model is shown what fits, the whole stays on disk, and no result can do harm on the way."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.config import Settings
from habilis.context.results import Shortener, as_text, cut_json, cut_text, keep_whole, shown
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable
from habilis.core.types import CallError, CallOutcome
from habilis.messages.truncation import estimated
from habilis.prompts import Prompts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=20), inner, max_size=30),
    max_leaves=200,
)
TABLE = {"title": "prices", "rows": [{"name": f"item {n}", "note": "x" * 200, "price": n} for n in range(500)]}


def shortener(models: Any, folder: Path, *, limit: int = 200) -> Shortener:
    return Shortener(models, Prompts(), folder, limit)


async def shorten(models: Any, folder: Path, output: Any, **options: Any) -> str:
    short = shortener(models, folder, **options)
    return await short.shorten(output, tool="read_table", call_id="c1_1", question="Which price?")


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("as it is\n", "as it is\n"),
        ({"name": "größe", "n": 1.5}, '{"name": "größe", "n": 1.5}'),
        (["计算", None, True], '["计算", null, true]'),
        (7, "7"),
        (None, "null"),
        ("a\ud800b", "a?b"),
    ],
)
def test_results_become_text_by_kind(output: Any, text: str) -> None:
    assert as_text(output) == text


async def test_what_fits_is_shown_as_it_is(tmp_path: Path, said_models: Any) -> None:
    assert await shorten(said_models([""]), tmp_path, {"a": 1}) == '{"a": 1}'
    assert os.listdir(tmp_path) == []  # noqa: PTH208


async def test_the_whole_of_a_long_result_is_kept_and_named(tmp_path: Path, said_models: Any) -> None:
    text = await shorten(said_models([""]), tmp_path, TABLE)
    assert json.loads((tmp_path / "results" / "c1_1.json").read_text()) == TABLE
    body, line = text.split("\n")
    assert "rows holds 500 items" in line
    assert "results/c1_1.json" in line
    shown_part = json.loads(body)
    assert shown_part["title"] == "prices"
    assert shown_part["rows"][0]["price"] == 0
    assert shown_part["rows"][0]["note"].endswith("…")
    assert 1 <= len(shown_part["rows"]) < 500


async def test_a_long_text_keeps_its_beginning_and_its_end(tmp_path: Path, said_models: Any) -> None:
    text = await shorten(said_models([""]), tmp_path, "begin " + "word " * 5000 + "end")
    assert text.startswith("begin ")
    assert text.endswith("end")
    assert "results/c1_1.txt" in text
    assert (tmp_path / "results" / "c1_1.txt").read_text().startswith("begin word")


async def test_the_summarise_role_is_asked_before_anything_is_cut(tmp_path: Path, said_models: Any) -> None:
    models = said_models(["item 7 costs 7"])
    text = await shorten(models, tmp_path, TABLE)
    assert text.startswith("item 7 costs 7\n[Extract of a longer result")
    assert "results/c1_1.json" in text
    assert models.asked[0][0] == "summarise"
    assert "Which price?" in models.asked[0][1]


@pytest.mark.parametrize("reply", ["", "  ", "w" * 5000, ModelUnreachable("gone"), ModelReplyUnusable("nothing")])
async def test_where_the_extract_fails_the_result_is_cut(tmp_path: Path, said_models: Any, reply: Any) -> None:
    text = await shorten(said_models([reply]), tmp_path, TABLE)
    assert "[Cut: " in text
    assert json.loads(text.split("\n")[0])["title"] == "prices"


async def test_what_the_summarise_role_cannot_read_is_not_sent(tmp_path: Path, said_models: Any) -> None:
    models = said_models(limits={"summarise": 1000})
    assert "[Cut: " in await shorten(models, tmp_path, TABLE)
    assert models.asked == []


async def test_a_used_up_budget_is_not_hidden(tmp_path: Path, said_models: Any) -> None:
    with pytest.raises(BudgetReached):
        await shorten(said_models([BudgetReached("tokens")]), tmp_path, TABLE)


@given(JSON, st.integers(40, 400))
def test_a_cut_is_within_the_limit_and_its_json_is_whole(value: Any, limit: int) -> None:
    text = cut_json(value, lambda text: estimated(text) <= limit, "the whole is in results/c1.json")
    assert estimated(text) <= limit
    json.loads(text.split("\n")[0])


@given(st.text(), st.integers(1, 60))
def test_a_cut_text_is_within_the_limit_and_never_emptied(text: str, limit: int) -> None:
    cut = cut_text(text, limit)
    assert estimated(cut) <= limit or not cut
    if text and estimated(text[:1]) <= limit:
        assert cut


@pytest.mark.parametrize(
    "value",
    [
        {f"key {n}": {"deep": [1, 2, 3]} for n in range(5000)},
        {"x" * 5000: 1},
        [[[[["a" * 100] * 20] * 20] * 20]],
        10**4000,
        ["\ud800" * 5000],
        {"a": float("nan"), "b": "c" * 5000},
    ],
)
async def test_odd_results_are_shown_within_the_limit(tmp_path: Path, said_models: Any, value: Any) -> None:
    text = await shorten(said_models([""]), tmp_path, value)
    assert (len(text) + 2) // 3 <= 200
    json.loads(text.split("\n")[0])


def test_a_result_nested_without_end_is_shown() -> None:
    value: Any = []
    for _ in range(3000):
        value = [value]
    assert len(as_text(value)) < 1000
    assert as_text([10**5000]).startswith('["0x'), "more digits than Python prints"


def test_a_link_that_a_tool_left_is_never_followed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (workspace / "results").symlink_to(outside)
    assert keep_whole(workspace, "c1", {"a": 1}, '{"a": 1}') == ("results/c1.json", False)
    assert list(outside.iterdir()) == []
    (workspace / "results").unlink()
    (workspace / "results").mkdir()
    (outside / "victim").write_text("safe")
    (workspace / "results" / "c1.json").symlink_to(outside / "victim")
    assert keep_whole(workspace, "c1", {"a": 1}, '{"a": 1}')[1]
    assert (outside / "victim").read_text() == "safe"
    os.mkfifo(workspace / "results" / "c2.json")
    assert keep_whole(workspace, "c2", {}, "{}")[1]


def test_a_crafted_call_id_stays_in_the_folder(tmp_path: Path) -> None:
    name, kept = keep_whole(tmp_path, "../../evil", {}, "{}")
    assert kept
    assert Path(name).parent == Path("results")
    assert (tmp_path / name).read_text() == "{}"
    assert keep_whole(tmp_path, "..//evil", {}, "{}")[0] != name, "two calls never share a file"


async def test_a_result_that_cannot_be_kept_is_still_shown(tmp_path: Path, said_models: Any) -> None:
    (tmp_path / "results").write_text("in the way")
    assert "could not be kept" in await shorten(said_models([""]), tmp_path, TABLE)


async def test_the_model_sees_errors_and_files(tmp_path: Path, said_models: Any) -> None:
    shop: Any = SimpleNamespace(
        models=said_models([""]),
        prompts=Prompts(),
        workspace=tmp_path,
        settings=Settings(),
        task=SimpleNamespace(question="q"),
    )
    call: Any = SimpleNamespace(id="c1", name="plot")
    failed = CallOutcome(error=CallError(kind="timeout", message="it ran for 120 s; use a smaller range"))
    assert await shown(call, failed, shop) == "Error (timeout): it ran for 120 s; use a smaller range"
    made = CallOutcome(output={"ok": True}, made=("chart.png", "a.xyz123"))
    assert await shown(call, made, shop) == '{"ok": true}\n[Files made: chart.png (image/png), a.xyz123]'


def test_what_json_does_not_know_is_no_bare_word_in_it() -> None:
    told = as_text({"a": float("nan"), "b": [float("-inf"), 1]})
    assert json.loads(told, parse_constant=lambda word: pytest.fail(word)) == {"a": "NaN", "b": ["-Infinity", 1]}
