"""What a user would lose: two tools made one on the word of a model that would call any two the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from habilis.testing import ScriptedModel

from .conftest import Stage, adding, clusters, module


async def test_no_tool_is_joined_on_the_word_of_one_that_joins_all(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))

    def joins_all(messages: Any, tools: Any, form: Any) -> str:
        return clusters(re.findall(r"^- name: (\w+)$", str(messages[-1].content), re.MULTILINE))

    tools = {
        "sum_of_pair": adding("sum_of_pair", description="Adds the two numbers of a pair."),
        "checkout_figure": module(
            "checkout_figure",
            "    return OutputModel(total=sum([input.a, input.b]))",
            description="What the two amounts come to at the till.",
        ),
    }
    tasks = [await stage.task(name, {name: source}, {name: [{"a": 1, "b": 2}]}) for name, source in tools.items()]
    curator = stage.curator(joins_all)
    stage.models.append(ScriptedModel(script=joins_all, trusted_judge=False))
    report = await curator.step(1, tasks)
    assert len(stage.asked) == 1
    assert stage.names() == sorted(tools)
    assert any("stays apart: scripted tells nothing" in line for line in report.evidence)
    trusting = Stage(tmp_path / "trusting")
    tasks = [await trusting.task(name, {name: source}, {name: [{"a": 1, "b": 2}]}) for name, source in tools.items()]
    await trusting.curator(joins_all).step(1, tasks)
    assert len(trusting.names()) == 1  # what its word would have done
