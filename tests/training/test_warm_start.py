"""Starting from a library that there is, and working with one that stays as it is; with the real curator."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from habilis.core.errors import UserError
from habilis.rundir import read_jsonl

from .conftest import World

ORIGINAL = '''"""Mean of a column."""
import csv

from pydantic import BaseModel, Field

__TOOL_META__ = {"name": "calculate_average_of_column", "description": "Average of the numbers in one column of a \
delimited text file.", "dependencies": ["csv"]}


class InputModel(BaseModel):
    path: str = Field(description="the file")
    column: str = Field(description="the column")


class OutputModel(BaseModel):
    value: float | None = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    with open(input.path, newline="", encoding="utf-8") as lines:
        values = [float(row[input.column]) for row in csv.DictReader(lines)]
    return OutputModel(value=sum(values) / len(values))
'''
"""A tool as the original system wrote them: one file, no manifest."""


def image(folder: Path) -> dict[str, str]:
    """Everything in a folder, by digest."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def original(world: World) -> Path:
    folder = world.home / "original"
    folder.mkdir()
    (folder / "calculate_average_of_column.py").write_text(ORIGINAL, encoding="utf-8")
    (folder / "broken.py").write_text("def (", encoding="utf-8")
    return folder


async def test_a_run_starts_from_a_folder_of_the_original_format_and_never_writes_it(
    world: World, original: Path
) -> None:
    before = image(original)
    evolution = world.evolution(library=original, absorbing=None)
    training = await evolution.run(world.rows("mean", "arithmetic"), name="first", base=world.home)
    assert training.stopped == "done"
    assert world.answers() == world.expected("mean", "arithmetic")
    (row,) = training.steps
    assert (row.synthesised, row.reuse_rate, row.generation) == (1, 0.5, 2)
    assert sorted(path.stem for path in world.training().library.glob("*.py"))[0] == "calculate_average_of_column"
    assert image(original) == before
    assert [event.text for event in world.sink.of("notice") if "broken.py" in event.text]


async def test_a_frozen_run_makes_nothing_and_its_library_stays(world: World, original: Path) -> None:
    evolution = world.evolution("tools.synthesis=false", library=original, absorbing=None)
    training = await evolution.run(world.rows("mean", "gcd"), name="first", base=world.home)
    assert training.stopped == "done"
    assert world.answers() == {**world.expected("mean"), "gcd": ("gave_up", "")}
    (row,) = training.steps
    assert (row.synthesised, row.library_size, row.generation) == (0, 1, 1)
    assert not [event for _, event in world.heard if event.kind == "tool_build_started"]
    assert "No new tool can be built in this run" in world.server.requests[0].prompt
    assert [path.name for path in (world.runs / "first" / "generations").iterdir() if path.is_dir()] == ["0001"]


@pytest.mark.slow
@pytest.mark.promise
async def test_a_library_of_another_run_goes_on_in_a_new_one(world: World) -> None:
    await world.evolution(absorbing=None).run(world.rows("mean", "arithmetic"), name="first", base=world.home)
    library = world.training().library
    before = image(library.resolve())
    evolution = world.evolution(library=library, absorbing=None)
    training = await evolution.run(world.rows("mean2", "gcd"), name="second", base=world.home)
    (row,) = training.steps
    assert (row.synthesised, row.library_size) == (1, 3)
    assert image(library.resolve()) == before
    assert library.readlink().name == "0001"


@pytest.mark.slow
@pytest.mark.promise
async def test_a_step_is_absorbed_once_however_often_it_is_broken_off(world: World) -> None:
    evolution = world.evolution(absorbing=None)
    blocked = world.runs / "first" / "metrics.jsonl"

    def block(task: str, event: object) -> None:
        if getattr(event, "kind", "") == "task_ended" and not blocked.exists():
            blocked.mkdir()

    evolution._watch = block
    with pytest.raises(IsADirectoryError):
        await evolution.run(world.rows("mean", "arithmetic"), name="first", base=world.home)
    blocked.rmdir()
    asked = world.server.finished
    generations = sorted(p.name for p in (world.runs / "first" / "generations").glob("0*"))
    training = await world.evolution(absorbing=None).resume(world.runs / "first")
    assert (training.stopped, [row.generation for row in training.steps]) == ("done", [1])
    assert sorted(p.name for p in (world.runs / "first" / "generations").glob("0*")) == generations == ["0001"]
    assert world.server.finished == asked
    points = [row["point"] for row in read_jsonl(world.training().journal)]
    assert points == ["tasks", "collected", "clustered", "merged", "verified", "undone", "published"]


async def test_a_library_that_is_not_there_is_refused(world: World) -> None:
    with pytest.raises(UserError, match="there is no library"):
        await world.evolution(library=world.home / "nowhere").run(world.rows("mean"), name="first", base=world.home)
    assert not (world.runs / "first").exists()
