"""What is kept of a large library so that it loads at once: it may save time, and never say what is not so any more."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.aliases import Alias
from habilis.contract.contract import read_contract
from habilis.contract.runnable import Description
from habilis.library import Library, Tool
from habilis.library.folder import KEPT_FROM
from habilis.library.reading import Reader
from habilis.library.remembered import FILE, Remembered

Source = Callable[..., str]
LATER_NS = 10_000_000_000
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string", "default": None}}}


@pytest.fixture
def large(tmp_path: Path, source_of: Source) -> Library:
    """A library of as many tools as make keeping pay; `tool_000` has an old name."""
    library = Library(tmp_path / "tools")
    source = source_of("tool_000")
    described = Description(name="tool_000", description="", input_schema=SCHEMA, output_schema={})
    alias = Alias(description="As it was.", input_schema=SCHEMA)
    library.add(source, described, read_contract(source), name="tool_000", aliases={"old_name": alias})
    manifest = json.loads((library.path / "tool_000.json").read_text())
    for number in range(1, KEPT_FROM + 2):
        name = f"tool_{number:03}"
        (library.path / f"{name}.py").write_text(source)
        (library.path / f"{name}.json").write_text(json.dumps({**manifest, "name": name, "aliases": {}}))
    return library


def kept(library: Library) -> Path:
    """The file of rows, made when all files have long been as they are; its descriptions tell where they are from."""
    reader = Reader(library.path)
    tools = [tool for tool in reader.entries() if isinstance(tool, Tool)]
    rows = [(tool.path.name, reader.stamp(tool.path.name) or (), tool) for tool in tools]
    Remembered(library.path).save(rows, time.time_ns() + LATER_NS)
    path = library.path / FILE
    path.write_text(path.read_text().replace('"description":"', '"description":"kept: '))
    return path


def described_by_rows(library: Library) -> set[str]:
    return {tool.name for tool in library.tools() if tool.description.startswith("kept: ")}


def test_what_was_read_once_is_not_read_by_the_next(large: Library) -> None:
    kept(large)
    assert described_by_rows(Library(large.path)) == set(large.names())


def test_a_row_holds_all_of_a_tool(large: Library) -> None:
    path = kept(large)
    path.write_text(path.read_text().replace("kept: ", ""))
    assert Library(large.path).tools() == large.tools()
    assert Library(large.path).cards() == large.cards()


@pytest.mark.parametrize("ending", ["py", "json"])
def test_a_file_that_changed_is_read_though_it_looks_the_same(large: Library, ending: str) -> None:
    """Same length, same time of change, same name: an editor, a copy, or somebody who means harm."""
    file = large.path / f"tool_007.{ending}"
    was = file.stat()
    kept(large)
    text = file.read_text()
    file.write_text(text.replace("the", "teh", 1) if ending == "py" else text)
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    library = Library(large.path)
    assert "tool_007" not in described_by_rows(library)
    assert len(described_by_rows(library)) == KEPT_FROM + 1


def test_tools_that_came_and_went_are_seen(large: Library, source_of: Source) -> None:
    kept(large)
    large.archive("tool_003", "not needed")
    source = source_of("fresh")
    large.add(source, Description(name="fresh", description="", input_schema=SCHEMA, output_schema={}),
              read_contract(source), name="fresh")  # fmt: skip
    assert set(Library(large.path).names()) == set(large.names()) >= {"fresh", "tool_000"}
    assert "tool_003" not in Library(large.path).names()


def test_what_changed_a_moment_ago_is_not_kept(large: Library) -> None:
    """Within one tick of the disk's clock it could change again, and look the same."""
    reader = Reader(large.path)
    tools = [tool for tool in reader.entries() if isinstance(tool, Tool)]
    rows = [(tool.path.name, reader.stamp(tool.path.name) or (), tool) for tool in tools]
    Remembered(large.path).save(rows, time.time_ns())
    assert json.loads((large.path / FILE).read_text())["tools"] == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "tools": []}', '{"format": 99, "tools": {}}']
)
def test_a_file_of_rows_that_is_none_costs_nothing_but_time(large: Library, text: str) -> None:
    kept(large).write_text(text)
    assert Library(large.path).names() == large.names()


@pytest.mark.parametrize("row", [None, 5, [], [[1, 2], {}], ["stamp", {"name": "tool_000"}]])
def test_rows_that_are_none_are_passed_over(large: Library, row: Any) -> None:
    path = kept(large)
    data = json.loads(path.read_text())
    stamp = data["tools"]["tool_001.py"][0]
    data["tools"]["tool_000.py"] = row
    data["tools"]["tool_001.py"] = [stamp, {"name": "tool_001", "digest": 5}]
    path.write_text(json.dumps(data))
    library = Library(large.path)
    assert library.names() == large.names()
    assert set(large.names()) - described_by_rows(library) == {"tool_000", "tool_001"}


def test_an_old_name_and_a_strange_one_cost_no_reading(large: Library) -> None:
    kept(large)
    library = Library(large.path)
    found = library.get("old_name")
    assert found is not None
    assert (found.name, found.alias is not None) == ("old_name", True)
    assert library.get("nobody_knows_it") is None
    assert described_by_rows(library) == set(large.names())


def test_old_names_follow_their_tools(large: Library) -> None:
    library = Library(large.path)
    assert library.get("old_name") is not None
    large.archive("tool_000", "not needed")
    assert library.get("old_name") is None
