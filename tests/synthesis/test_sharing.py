"""Sharing of builds: what one task builds serves its neighbours, and no one is given a tool for something else."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from habilis.core.errors import Interrupted
from habilis.core.types import CallError, ToolRequest
from habilis.library import Tool
from habilis.library.tool import Manifest
from habilis.synthesis.fields import accepts
from habilis.synthesis.sameness import same_request
from habilis.synthesis.sharing import OPEN, OVER, BuildFolder, end_builds, open_builds
from habilis.synthesis.smith import BuildFailure
from habilis.testing import RecordingSink

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


READ = ("all", "and", "any", "b", "column", "count", "from", "into", "last", "mean", "sum", "then", "to")
told = st.lists(st.sampled_from(READ), max_size=7).map(" ".join)


@settings(max_examples=500)
@given(told, told)
@example("then count sum", "sum then count")
@example("sum then count", "then count sum")
def test_the_rule_knows_no_order_in_the_words_that_it_reads(x: str, y: str) -> None:
    one, other = asked("", x), asked("", y)
    assert same_request(one, other) is same_request(other, one)


# --- the folder


def tool_at(folder: Path, name: str = "average_column", text: str = "source") -> Any:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Tool.model_construct(name=name, path=path, manifest=Manifest.model_construct(name=name, digest=digest))


class Waits:
    """A sleep that tells that somebody waits, and gives way to the others."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.begun.set()
        await asyncio.sleep(0)


class Asking:
    """Task `two`, behind task `one`, as it asks what there is for the mean of a column."""

    def __init__(self, folder: Path) -> None:
        self.waits, self.heard = Waits(), RecordingSink()
        builds = BuildFolder(folder, "two", ("one",), sleep=self.waits)
        self.task = asyncio.ensure_future(builds.offers(MEAN_TOO, self.heard.emit))

    async def goes_on_waiting(self) -> bool:
        await self.waits.begun.wait()
        await asyncio.sleep(0)
        return not self.task.done()


MEAN_TOO = asked("mean_of_column", "Mean of a numeric column of a CSV file.")
COUNT = asked("count_rows", "Count the rows of a table.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    return tmp_path / "b"


async def test_who_comes_later_waits_for_the_plan_and_then_for_the_tool(folder: Path) -> None:
    first, second = BuildFolder(folder, "one"), Asking(folder)
    assert await second.goes_on_waiting(), "until the one before has planned"
    first.announce((COUNT, MEAN))
    second.waits.begun.clear()
    assert await second.goes_on_waiting(), "and until it has built"
    first.settle(MEAN, tool_at(folder))
    (offer,) = await second.task
    assert (offer.task, offer.tool, offer.source) == ("one", "average_column", "source")
    assert [event.builder for event in second.heard.events] == ["one"]


async def test_the_first_of_the_order_waits_for_nobody_though_others_have_built(folder: Path) -> None:
    later = BuildFolder(folder, "two", ("one",))
    later.announce((MEAN,))
    later.settle(MEAN, tool_at(folder))
    assert await BuildFolder(folder, "one").offers(MEAN_TOO) == ()


async def test_who_wants_something_else_waits_for_the_plan_alone(folder: Path) -> None:
    BuildFolder(folder, "one").announce((COUNT,))
    assert await Asking(folder).task == ()


async def test_an_offer_is_the_source_as_it_was_built_whatever_became_of_it(folder: Path, tmp_path: Path) -> None:
    first, tool = BuildFolder(folder, "one"), tool_at(tmp_path)
    first.announce((MEAN,))
    first.settle(MEAN, tool)
    tool.path.write_text("mended since", encoding="utf-8")
    assert [offer.source for offer in await Asking(folder).task] == ["source"]
    tool.path.unlink()
    assert [offer.source for offer in await Asking(folder).task] == ["source"]


async def test_what_a_later_plan_has_built_is_offered_to_nobody(folder: Path, tmp_path: Path) -> None:
    first = BuildFolder(folder, "one")
    first.announce(())
    first.settle(MEAN, tool_at(tmp_path))
    assert await Asking(folder).task == ()


@pytest.mark.parametrize("said", [None, (), (MEAN,)], ids=["nothing", "no build", "a build"])
async def test_nobody_waits_for_a_task_that_works_no_more(folder: Path, said: Any) -> None:
    if said is not None:
        BuildFolder(folder, "one").announce(said)
    end_builds(folder, "one", OVER)
    assert await Asking(folder).task == ()


async def test_who_waits_for_a_task_that_was_stopped_stops_too(folder: Path) -> None:
    second = Asking(folder)
    assert await second.goes_on_waiting()
    end_builds(folder, "one", OPEN)
    with pytest.raises(Interrupted, match="task one"):
        await second.task


async def test_a_build_that_came_to_nothing_is_none_to_wait_for(folder: Path) -> None:
    first = BuildFolder(folder, "one")
    first.announce((MEAN,))
    first.settle(MEAN, None)
    assert await Asking(folder).task == ()


async def test_gone_on_with_a_step_keeps_what_was_said_and_forgets_tasks_that_begin_anew(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("one", "two", "anew"):
        task = BuildFolder(folder, name)
        task.announce((MEAN,))
        task.settle(MEAN, tool_at(tmp_path))
        end_builds(folder, name, OPEN)
    open_builds(folder, ("one", "two", "anew"), {"two", "anew"}, lambda task: task == "two")
    assert sorted(path.name for path in folder.iterdir()) == ["one.end", "one.json", "two.json"]
    third = BuildFolder(folder, "three", ("one", "two"))
    BuildFolder(folder, "two").announce((MEAN,))
    assert [offer.task for offer in await third.offers(MEAN_TOO)] == ["one", "two"]


async def test_a_folder_that_cannot_be_written_costs_the_sharing_alone(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("a file is in the way", encoding="utf-8")
    builds = BuildFolder(tmp_path / "b", "two", ("one",))
    builds.announce((MEAN,))
    builds.settle(MEAN, tool_at(tmp_path))
    assert await builds.offers(MEAN_TOO) == ()


async def test_a_torn_record_says_nothing(folder: Path, tmp_path: Path) -> None:
    first = BuildFolder(folder, "one")
    first.announce((MEAN,))
    first.settle(MEAN, tool_at(tmp_path))
    record = folder / "one.json"
    record.write_bytes(record.read_bytes()[:40])
    end_builds(folder, "one", OVER)
    assert await Asking(folder).task == ()


# --- the smith

Source = Callable[..., str]


def rows(name: str = "count_rows", description: str = "Count the rows of a table.", field: str = "path") -> ToolRequest:
    return asked(name, description, {field: "string"}, "integer")


async def build(shop: Any, wanted: ToolRequest) -> Any:
    shop.smith.announce((wanted,))
    return await shop.smith.build(wanted, question="How many rows?", files=[])


@pytest.fixture
def two(shop: Any, other_shop: Any, tmp_path: Path) -> tuple[Any, Any]:
    shop.share(tmp_path / "builds", "task0")
    other_shop.share(tmp_path / "builds", "task1", ("task0",))
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
    once = [CallError(kind="crashed", message="KeyError: 'x'")]
    second.host.refuse = lambda tool: once.pop() if once else None
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
