"""What a user would lose: a tool in their own script that no provider takes, or an argument under the wrong name."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from habilis.core.types import ToolSpec
from habilis.messages.naming import Naming, unique_names

TAKEN = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
NAMES = st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=6)


def spec(name: str, fields: list[str]) -> ToolSpec:
    properties = {field: {"type": "string"} for field in fields}
    return ToolSpec(
        name=name, description="", parameters={"type": "object", "properties": properties, "required": fields[:1]}
    )


@given(NAMES)
def test_names_fit_every_provider_and_none_is_twice(names: list[str]) -> None:
    made = unique_names(names)
    assert all(TAKEN.fullmatch(name) for name in made)
    assert len(set(made)) == len(names)
    assert all(new == old for new, old in zip(made, names, strict=True) if TAKEN.fullmatch(old))


@given(NAMES.filter(bool), NAMES)
def test_what_goes_out_comes_back_under_its_own_name(tools: list[str], fields: list[str]) -> None:
    naming = Naming.of([spec(name, fields) for name in tools])
    calls: list[Any] = [
        {"name": name, "args": dict.fromkeys(fields, "x"), "id": f"c{number}", "type": "tool_call"}
        for number, name in enumerate(tools)
    ]
    message = AIMessage("", tool_calls=calls)
    (sent,) = naming.outward([message])
    assert isinstance(sent, AIMessage)
    for call, one in zip(sent.tool_calls, naming.specs, strict=True):
        assert call["name"] == one.name
        assert set(call["args"]) == set(one.parameters["properties"])
        assert set(one.parameters["required"]) <= set(one.parameters["properties"])
        assert all(TAKEN.fullmatch(name) for name in (call["name"], *call["args"]))
    assert naming.inward(sent) == message


def test_no_name_is_given_away_that_another_tool_has() -> None:
    assert unique_names(["m", "m", "m_2"]) == ["m", "m_3", "m_2"]
    assert unique_names(["m_2", "m", "m"]) == ["m_2", "m", "m_3"]


def test_a_renamed_parameter_keeps_its_name_in_the_description() -> None:
    (sent,) = Naming.of([spec("zählen", ["größe", "path"])]).specs
    named = {schema.get("description", ""): name for name, schema in sent.parameters["properties"].items()}
    assert "größe" in named
    assert named[""] == "path"
