"""The offline model says what calls of its tools must give, and is right: a tool that gives something else is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.expectations import read_expectations
from habilis.demo import reply
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import all_operations
from habilis.questions.operations import DemoOperation, Fields

from .conftest import Player, as_messages

OPERATIONS = {operation.key: operation for operation in all_operations()}
UNSAID = {"sha512_of_file", "sha512_of_text", "crc32_of_file", "page_text"}


def _expected(player: Player, operation: DemoOperation, tool: Any) -> str:
    prompt = player.prompts.render(
        "expect",
        name=tool.name,
        description=tool.meta["description"],
        input_schema=json.dumps(tool.space["InputModel"].model_json_schema()),
        output_schema=json.dumps(tool.space["OutputModel"].model_json_schema()),
        known=[],
        reads=False,
    )
    return str(reply(as_messages(prompt)).content)


@pytest.mark.parametrize("key", sorted(OPERATIONS))
def test_both_versions_of_every_tool_give_what_was_worked_out_by_hand(
    key: str, player: Player, loaded: Callable[[str], Any], tmp_path: Path
) -> None:
    operation = OPERATIONS[key]
    wording = operation.wordings[-1]
    inputs = {slot.role: wording.fields.get(slot.role, slot.names[0]) for slot in operation.inputs}
    fields = Fields(inputs, wording.fields.get(operation.output.role, operation.output.names[0]))
    for robust in (False, True):
        description = operation.description.format(word=wording.word)
        tool = loaded(source_for(operation, wording.name, description, fields, robust=robust))
        said = read_expectations(_expected(player, operation, tool))
        assert bool(said) is (key not in UNSAID)
        for one in said:
            for name, text in one.call.files.items():
                (tmp_path / name).write_text(text, encoding="utf-8")
            assert one.call.arguments not in [example["arguments"] for example in tool.meta["examples"]]
            output = tool.call(one.call.arguments, tmp_path)
            assert one.met_by(output), (robust, one, output)


def test_it_says_nothing_of_a_tool_that_it_does_not_know(player: Player) -> None:
    schemas = {"input_schema": "{}", "output_schema": "{}"}
    prompt = player.prompts.render("expect", name="fly", description="Flies.", known=[], reads=False, **schemas)
    assert str(reply(as_messages(prompt)).content) == ""
