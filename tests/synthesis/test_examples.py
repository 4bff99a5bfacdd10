"""Examples as models give them, alone and in a module: nothing but the example changes."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from habilis.contract.contract import read_contract
from habilis.contract.examples import Example, read_example, said_example, with_example

EXAMPLE = Example(arguments={"path": "é.csv", "n": 2, "all": True, "to": None}, files={"é.csv": "a,b\n1,'2\"\n"})
DUMP = json.dumps(EXAMPLE.model_dump(), ensure_ascii=False)


@pytest.mark.parametrize(
    "reply",
    [
        DUMP,
        f"Here you are:\n```json\n{DUMP}\n```\nIt names é.csv.",
        f"[{DUMP}]",
        repr(EXAMPLE.model_dump()),
        f"```python\n{EXAMPLE.model_dump()!r}\n```",
        json.dumps(EXAMPLE.model_dump(), indent=2),
        f"{DUMP}\n\nor else\n\n{DUMP}",
        f"{{x}} is what it takes:\n{DUMP}",
    ],
)
def test_an_example_is_read_as_small_models_write_it(reply: str) -> None:
    assert said_example(reply) == EXAMPLE


def test_the_bare_arguments_are_an_example() -> None:
    assert said_example('{"path": "a.csv"}') == Example(arguments={"path": "a.csv"})


@pytest.mark.parametrize("reply", ["", "none", "{}", "[]", "{" * 50_000, "{'a': b'x'}", '{"arguments": {"a": 1e999}}'])
def test_what_is_no_example_is_none(reply: str) -> None:
    assert said_example(reply) is None


@given(some.text(alphabet="{}[]\"':, a1\n\\`", max_size=60))
def test_any_reply_gives_an_example_or_none(reply: str) -> None:
    assert said_example(reply) is None or said_example(reply)


HEAD = "# é ist\nNAME = 'ü'\n"
REST = "\n\nclass InputModel: ...\nclass OutputModel: ...\ndef run(input): ...\n"


@pytest.mark.parametrize(
    "meta",
    [
        "__TOOL_META__ = {'name': 'é', 'description': 'ö', 'examples': [{'arguments': 3}], 'effects': 'pure'}",
        "__TOOL_META__ = {'name': 'é', 'description': 'ö', 'effects': 'pure'}",
        "__TOOL_META__: dict = {\n  'name': 'é',\n  'description': 'ö', 'examples': [\n  1],\n 'effects': 'pure',\n}",
        "__TOOL_META__ = {'examples': 1, 'name': 'é', 'description': 'ö', 'examples': 2, 'effects': 'pure'}",
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_another_example_takes_the_place_of_the_first_and_nothing_else_changes(meta: str, ends: str) -> None:
    source = (HEAD + meta + REST).replace("\n", ends)
    changed = with_example(source, EXAMPLE)
    contract = read_contract(changed)
    assert contract.examples == (EXAMPLE,)
    assert (contract.name, contract.description, contract.effects) == ("é", "ö", "pure")
    assert changed.startswith(HEAD.replace("\n", ends))
    assert changed.endswith(REST.replace("\n", ends))


@pytest.mark.parametrize("source", ["x = 1", "def (", "__TOOL_META__ = dict(name='a')"])
def test_where_there_is_no_place_for_it_nothing_changes(source: str) -> None:
    assert with_example(source, EXAMPLE) == source


_TEXT = some.text(some.characters(codec="utf-8"), max_size=12)
_VALUES: Any = some.recursive(
    some.none() | some.booleans() | some.integers(-9, 9) | _TEXT,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)


@given(some.dictionaries(_TEXT, _VALUES, max_size=3), some.dictionaries(some.just("a.csv"), _TEXT, max_size=1), _TEXT)
def test_any_example_can_stand_in_a_module(arguments: Any, files: Any, said: str) -> None:
    source = f"__TOOL_META__ = {{'description': {said!r}, 'examples': []}}\n"
    changed = with_example(source, Example(arguments=arguments, files=files))
    (node,) = ast.parse(changed).body
    assert isinstance(node, ast.Assign)
    assert ast.literal_eval(node.value) == {
        "description": said,
        "examples": [{"arguments": arguments, "files": files}],
    }


_NAMES = some.dictionaries(some.text(alphabet="./\\~ab: C\n\0é", max_size=12), some.just("x"), min_size=1, max_size=3)


@given(_NAMES, some.text(alphabet="./\\~ab: C", max_size=12))
def test_no_file_of_an_example_lies_outside_the_workspace(files: Any, argument: str) -> None:
    """A trial writes these files with the user's rights, before any sandbox holds it."""
    read = read_example({"arguments": {"path": argument}, "files": files})
    if isinstance(read, Example):
        assert len(read.files) == len(files)
        for name in read.files:
            assert Path("/workspace", name).is_relative_to("/workspace")
            assert not {"..", "", "."} & set(name.split("/"))
            assert "\0" not in name
