"""A tool that needs a file is no candidate where there is none: what it is then given, a model makes up."""

from __future__ import annotations

from typing import Any

import pytest

from habilis.contract.needs import Supply
from habilis.core.types import Task, TaskFile


def schema(*names: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", **more} for name in names},
        "required": list(names),
    }


def supply(question: str, files: tuple[TaskFile, ...] = (), *, made: bool = False, seen: bool = False) -> Supply:
    return Supply.of(Task(id="t", question=question, files=files), question, made=made, seen=seen)


NOTES = (TaskFile(named="notes.txt", path="/nowhere/notes.txt"),)


@pytest.mark.parametrize("name", ["path", "csv_path", "filePath", "file_name", "input_file", "folder", "image_path"])
def test_a_path_is_wanting_where_no_file_is(name: str) -> None:
    assert supply("What is 48317 times 9274?").lacks(schema(name)) == "file"


@pytest.mark.parametrize(
    ("question", "files", "made"),
    [
        ("What is the average?", NOTES, False),
        ("What is in notes.txt?", (), False),
        ("What is in /tmp/notes?", (), False),
        ("How many lines has the file?", (), False),
        ("What is the average?", (), True),
    ],
)
def test_where_one_may_be_it_is_not(question: str, files: tuple[TaskFile, ...], made: bool) -> None:
    assert supply(question, files, made=made).lacks(schema("path")) is None


def test_paths_that_a_tool_makes_or_that_are_no_files_are_not_wanted() -> None:
    none = supply("What is 48317 times 9274?")
    for name in ("output_path", "target_folder", "text", "profile", "x", "file_text"):
        assert none.lacks(schema(name)) is None
    assert none.lacks(schema("path", description="dotted path to a key of a JSON document")) is None
    assert none.lacks({**schema("path"), "required": []}) is None
    assert none.lacks({"type": "object"}) is None


def test_an_address_is_wanting_where_nobody_speaks_of_any() -> None:
    wanted = schema("url")
    assert supply("What is 48317 times 9274?").lacks(wanted) == "address"
    assert supply("What is the title of example.org?").lacks(wanted) is None
    assert supply("What does the page of the town say?").lacks(wanted) is None
    assert supply("今天的新闻是什么？").lacks(wanted) is None
    assert supply("Which addresses are broken?", NOTES).lacks(wanted) is None


def test_an_image_is_wanting_where_all_files_are_texts() -> None:
    assert supply("What is the average?", NOTES).lacks(schema("image_path")) == "image"
    assert supply("What is on cat.png?", NOTES).lacks(schema("image_path")) is None
    assert supply("What is the average?", NOTES, made=True, seen=True).lacks(schema("image_path")) is None
