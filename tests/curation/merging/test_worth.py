"""A step of the curator reads worth from the record: what nobody ever calls goes out of use, what was called stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from habilis.library import Library

from ...toolshop import put
from .conftest import Stage, adding, endings, module

WORD = module("say_word", "    return OutputModel(word=input.text)", "text: str", "word: str | None")


async def stepped(stage: Stage, offered: int, **counters: Any) -> Any:
    """A step of a task whose plan was shown `add_numbers`, which plans had been shown `offered` times before."""
    tool = await put(Library(stage.library), adding(), "add_numbers", stage.host)
    manifest = tool.manifest.model_copy(
        update={"counters": {"offered": offered, **counters}, "pinned": bool(counters.pop("pinned", False))}
    )
    (stage.library / "add_numbers.json").write_text(manifest.model_dump_json(), encoding="utf-8")
    task = await stage.task("t1", {"say_word": WORD}, {"say_word": [{"text": "x"}]})
    row = json.dumps({"kind": "planned", "offered": ["add_numbers"]})
    (Path(task.folder) / "events.jsonl").write_text(f"{row}\n", encoding="utf-8")
    return await stage.curator(models=False).step(1, [task])


async def test_a_tool_that_forty_plans_were_shown_and_nobody_called_is_retired_with_the_reason(stage: Stage) -> None:
    report = await stepped(stage, 39)
    assert endings(report)["add_numbers"] == "retired"
    assert next(f.reason for f in report.fates if f.tool.startswith("add_")) == (
        "40 plans were shown it, and nobody ever called it"
    )
    ((tool, _),) = Library(stage.library).retired()
    assert tool.name == "add_numbers"


@pytest.mark.parametrize(("offered", "more"), [(38, {}), (90, {"tasks": 1}), (90, {"pinned": True})])
async def test_one_that_was_offered_less_or_helped_once_or_is_pinned_stays(
    stage: Stage, offered: int, more: dict[str, Any]
) -> None:
    report = await stepped(stage, offered, **more)
    assert endings(report)["add_numbers"] == "kept"
    assert stage.manifest("add_numbers").counters["offered"] == offered + 1


async def test_a_new_version_stays_whose_older_one_was_called(stage: Stage) -> None:
    first = await stage.task("t0", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    await stage.curator(models=False).step(1, [first])
    manifest = stage.manifest("add_numbers").model_copy(update={"counters": {"offered": 90}})
    (stage.library / "add_numbers.json").write_text(manifest.model_dump_json(), encoding="utf-8")
    task = await stage.task("t1", {"say_word": WORD}, {"say_word": [{"text": "x"}]})
    row = json.dumps({"kind": "planned", "offered": ["add_numbers"]})
    (Path(task.folder) / "events.jsonl").write_text(f"{row}\n", encoding="utf-8")
    report = await stage.curator(models=False).step(2, [task])
    assert endings(report)["add_numbers"] == "kept"
