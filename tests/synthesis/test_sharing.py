"""Sharing of builds: what one task builds serves its neighbours, and no one is given a tool for something else."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.errors import ModelUnreachable
from habilis.core.types import ToolRequest
from habilis.library import Tool
from habilis.synthesis.fields import accepts
from habilis.synthesis.sameness import same_request
from habilis.synthesis.sharing import BuildFolder
from habilis.synthesis.smith import BuildFailure

ROOT = Path(__file__).resolve().parents[2]
STRINGS = {"path": "string", "column": "string"}


def asked(name: str, description: str, inputs: dict[str, str] | None = None, result: str = "number") -> ToolRequest:
    fields = {field: {"type": kind} for field, kind in (inputs or STRINGS).items()}
    return ToolRequest(
        name=name,
        description=description,
        input_schema={"type": "object", "properties": fields, "required": list(fields)},
        output_schema={"type": "object", "properties": {"result": {"type": result}}},
    )


MEAN = asked("average_column", "Average of a numeric column of a CSV file.")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (MEAN, MEAN, True),
        (MEAN, asked("mean_of_column", "Compute the mean of a numeric column in a CSV file."), True),
        (MEAN, asked("get_column_average", "The average value of a numeric table column."), True),
        (MEAN, asked("sum_column", "Sum of a numeric column of a CSV file."), False),
        (MEAN, asked("average_column", "Average of a numeric column of a CSV file.", result="string"), False),
        (MEAN, asked("average_column", "Average of a numeric column.", {"path": "string"}), False),
        (MEAN, asked("average_column", "Colours a picture in shades of grey.", STRINGS), False),
        (
            asked("celsius_to_fahrenheit", "Convert a temperature from Celsius to Fahrenheit.", {"x": "number"}),
            asked("fahrenheit_to_celsius", "Convert a temperature from Fahrenheit to Celsius.", {"x": "number"}),
            False,
        ),
        (
            asked("celsius_to_fahrenheit", "Convert a temperature from Celsius to Fahrenheit.", {"x": "number"}),
            asked("celsius_to_fahrenheit", "Convert Celsius temperature to Fahrenheit.", {"degrees": "number"}),
            True,
        ),
        (
            asked("largest_value", "Largest value of a numeric column of a table.", STRINGS),
            asked("smallest_value", "Smallest value of a numeric column of a table.", STRINGS),
            False,
        ),
        (
            asked("join_words", "Join two texts.", {"a": "string", "b": "string"}),
            asked("join_words", "Join two texts.", {"left": "string", "right": "string"}),
            False,  # which is which cannot be known
        ),
        (asked("计算行数", "行数", {"p": "string"}), asked("计算列数", "列数", {"p": "string"}), False),
        (asked("!!!", "?", {"p": "string"}), asked("!?!", "?", {"p": "string"}), False),
    ],
)
def test_only_requests_for_the_same_thing_meet(one: ToolRequest, other: ToolRequest, same: bool) -> None:
    assert same_request(one, other) is same
    assert same_request(other, one) is same


def test_a_tool_is_taken_whose_fields_are_those_asked_for_but_for_names() -> None:
    wanted = asked("x", "", {"quantity": "number", "unit_from": "string", "unitTo": "string"}).input_schema
    number = {"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]}
    fields = {"value": number, "from_unit": {"type": "string"}, "to_unit": {"type": "string"}}
    optional = {"digits": {"type": "integer"}}
    assert accepts({"properties": {**fields, **optional}, "required": list(fields)}, wanted)
    assert not accepts({"properties": {**fields, **optional}, "required": [*fields, "digits"]}, wanted)
    assert not accepts({"properties": {**fields, "value": {"type": "string"}}, "required": list(fields)}, wanted)
    swapped = {"value": number, "first": {"type": "string"}, "second": {"type": "string"}}
    assert not accepts({"properties": swapped, "required": list(swapped)}, wanted)


names = st.text(max_size=30)


@given(names, names, st.text(max_size=60), st.text(max_size=60))
def test_the_rule_knows_no_order_and_every_request_meets_itself(a: str, b: str, x: str, y: str) -> None:
    one, other = asked(a, x), asked(b, y)
    assert same_request(one, other) is same_request(other, one)
    assert same_request(one, one)


# --- the folder


def tool_at(folder: Path, name: str = "average_column", text: str = "source") -> Any:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return Tool.model_construct(name=name, path=path)


class Waits:
    """A sleep that tells that somebody waits, and gives way to the others."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.begun.set()
        await asyncio.sleep(0)


async def test_who_asks_for_the_same_waits_and_is_offered_what_was_built(tmp_path: Path) -> None:
    waits = Waits()
    first, second = BuildFolder(tmp_path / "b", "one"), BuildFolder(tmp_path / "b", "two", sleep=waits)

    async def wait() -> Any:
        async with second.turn(asked("mean_of_column", "Mean of a numeric column of a CSV file.")) as turn:
            return turn.offers

    async with first.turn(MEAN) as turn:
        assert turn.offers == ()
        waiting = asyncio.create_task(wait())
        await waits.begun.wait()
        turn.built(tool_at(tmp_path))
    (offer,) = await waiting
    assert (offer.task, offer.tool, offer.source) == ("one", "average_column", "source")


async def test_who_asks_for_something_else_does_not_wait(tmp_path: Path) -> None:
    async with (
        BuildFolder(tmp_path, "one").turn(MEAN),
        BuildFolder(tmp_path, "two").turn(asked("count_rows", "Count the rows of a table.")) as turn,
    ):
        assert turn.offers == ()


@pytest.mark.parametrize("error", [None, ModelUnreachable("401"), asyncio.CancelledError()])
async def test_a_builder_that_fails_lets_the_next_one_build(tmp_path: Path, error: BaseException | None) -> None:
    waits = Waits()
    order: list[str] = []

    async def build(task: str) -> None:
        async with BuildFolder(tmp_path, task, sleep=waits).turn(MEAN) as turn:
            order.append(task)
            assert turn.offers == ()

    async def fail() -> None:
        async with BuildFolder(tmp_path, "one").turn(MEAN):
            waiting.append(asyncio.create_task(build("two")))
            await waits.begun.wait()
            order.append("one fails")
            raise error or ZeroDivisionError

    waiting: list[asyncio.Task[None]] = []
    with pytest.raises(type(error) if error else ZeroDivisionError):
        await fail()
    await waiting[0]
    assert order == ["one fails", "two"]


DIES = """
import asyncio, os, sys
from pathlib import Path
from habilis.core.types import ToolRequest
from habilis.synthesis.sharing import BuildFolder

async def main():
    async with BuildFolder(Path(sys.argv[1]), "other").turn(ToolRequest.model_validate_json(sys.argv[2])):
        print("building", flush=True)
        sys.stdin.readline()
        os.kill(os.getpid(), 9)

asyncio.run(main())
"""


async def test_a_builder_in_another_process_that_is_killed_frees_the_others(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DIES, str(tmp_path), MEAN.model_dump_json()]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT / "src")}
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == "building\n"
    waits = Waits()

    async def build() -> int:
        async with BuildFolder(tmp_path, "one", sleep=waits).turn(MEAN) as turn:
            return len(turn.offers)

    waiting = asyncio.create_task(build())
    await waits.begun.wait()
    assert not waiting.done()
    child.communicate("die\n")
    assert await waiting == 0


async def test_a_folder_that_cannot_be_written_costs_the_sharing_alone(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("a file is in the way", encoding="utf-8")
    async with BuildFolder(tmp_path / "b", "one").turn(MEAN) as turn:
        assert turn.offers == ()
        turn.built(tool_at(tmp_path))


async def test_torn_entries_and_tools_that_were_set_aside_are_no_offers(tmp_path: Path) -> None:
    async with BuildFolder(tmp_path, "one").turn(MEAN) as turn:
        turn.built(tool_at(tmp_path))
    (tmp_path / "average_column.py").unlink()
    (tmp_path / "torn.json").write_text('{"id": "x", "ta', encoding="utf-8")
    async with BuildFolder(tmp_path, "two").turn(MEAN) as turn:
        assert turn.offers == ()


# --- the smith

Source = Callable[..., str]


def rows(name: str = "count_rows", description: str = "Count the rows of a table.", field: str = "path") -> ToolRequest:
    return asked(name, description, {field: "string"}, "integer")


async def build(shop: Any, wanted: ToolRequest) -> Any:
    return await shop.smith.build(wanted, question="How many rows?", files=[])


@pytest.fixture
def two(shop: Any, other_shop: Any, tmp_path: Path) -> tuple[Any, Any]:
    shop.share(tmp_path / "builds", "task0")
    other_shop.share(tmp_path / "builds", "task1")
    return shop, other_shop


async def test_tasks_that_ask_for_the_same_tool_pay_for_one(two: tuple[Any, Any], source_of: Source) -> None:
    first, second = two
    first.writer.replies = [source_of()]
    request = rows("number_of_rows", "The number of rows in a table.", "table_path")
    made, taken = await asyncio.gather(build(first, rows()), build(second, request))
    assert second.writer.asked == []
    assert (taken.name, taken.source()) == ("number_of_rows", made.source())
    origin = taken.origin
    assert (origin.how, origin.shared_by, origin.parents) == ("adopted", "task0", (f"count_rows@{made.version}",))
    assert [call for call, _ in second.host.ran] == ["number_of_rows"], "its example ran here as well"
    assert second.kinds() == ["tool_adopted"]
    assert await build(second, request) == taken, "and is there after a resume"


async def test_an_offer_that_does_not_pass_here_is_built_anew(two: tuple[Any, Any], source_of: Source) -> None:
    first, second = two
    first.writer.replies, second.writer.replies = [source_of()], [source_of(meta="'dependencies': []")]
    await build(first, rows())
    (first.private.path / "count_rows.py").write_text(source_of(body="    raise KeyError('x')"), encoding="utf-8")
    made = await build(second, rows())
    assert made.origin.how == "built"
    assert "was not taken over" in second.events[0].text
    assert "KeyError: 'x'" in second.events[0].text


async def test_an_offer_with_other_fields_is_built_anew(two: tuple[Any, Any], source_of: Source) -> None:
    first, second = two
    first.writer.replies = [source_of(fields="    path: str\n    skip: int", meta="'dependencies': []")]
    second.writer.replies = [source_of()]
    await build(first, rows())
    assert (await build(second, rows())).origin.how == "built"


async def test_a_build_that_failed_is_tried_by_the_next_task(two: tuple[Any, Any], source_of: Source) -> None:
    first, second = two
    first.writer.replies, second.writer.replies = ["no code"] * 3, [source_of()]
    assert isinstance(await build(first, rows()), BuildFailure)
    assert isinstance(await build(second, rows()), Tool)


async def test_a_single_task_shares_nothing(shop: Any, source_of: Source, tmp_path: Path) -> None:
    shop.writer.replies = [source_of()]
    assert json.loads((await build(shop, rows())).manifest.model_dump_json())["origin"]["shared_by"] == ""
