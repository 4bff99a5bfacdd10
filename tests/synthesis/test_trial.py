"""A flaw of the example is no flaw of the tool: what a user would lose is a right tool, refused for its example."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config.sandbox import CapabilitiesSettings
from habilis.contract import taskfiles
from habilis.core.errors import ModelUnreachable, WriterFailed
from habilis.core.types import ToolRequest
from habilis.library import Tool
from habilis.runtime.grants import Grants
from habilis.synthesis.smith import BuildFailure

Source = Callable[..., str]
QUESTION = "What is the highest temperature of Lagos in temps.csv?"
HIGHEST = """    import csv
    with open(input.path, encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    return OutputModel(result=max(float(row[input.column]) for row in rows))"""
FIELDS = "    path: str\n    column: str"
WHOLE = {"arguments": {"path": "small.csv", "column": "t"}, "files": {"small.csv": "city,t\nA,1\nB,2\n"}}


def request(*fields: str, **kinds: str) -> ToolRequest:
    properties = {name: {"type": kinds.get(name, "string")} for name in fields or ("path", "column")}
    return ToolRequest(
        name="highest_value",
        description="The highest value of a column.",
        input_schema={"type": "object", "properties": properties, "required": list(properties)},
        output_schema={"type": "object", "properties": {"result": {"type": "number"}}},
    )


class Task:
    """A task with the file temps.csv, its smith and its writer."""

    def __init__(self, shop: Any, source_of: Source, folder: Path) -> None:
        self.shop, self.source_of = shop, source_of
        self.path = folder / "data" / "temps.csv"
        self.path.parent.mkdir()
        self.path.write_text("city,temp_c\nLagos,31.5\nOslo,12.0\n")

    def module(self, example: Any = None, *, body: str = HIGHEST, fields: str = FIELDS, **more: str) -> str:
        meta = "'dependencies': []" + ("" if example is None else f", 'examples': [{example!r}]")
        return str(self.source_of("highest_value", body=body, fields=fields, result="float | None", meta=meta, **more))

    async def build(self, *replies: Any, wanted: ToolRequest | None = None, files: bool = True) -> Any:
        self.shop.writer.replies = list(replies)
        found, _ = taskfiles.gather("", [self.path] if files else [], self.path.parent)
        return await self.shop.smith.build(wanted or request(), question=QUESTION, files=taskfiles.view(found))

    @property
    def smoke(self) -> str:
        return str(next(event.smoke for event in self.shop.events if event.kind == "tool_built"))

    @property
    def asked(self) -> int:
        return len(self.shop.writer.asked)


@pytest.fixture
def task(shop: Any, source_of: Source, tmp_path: Path) -> Task:
    return Task(shop, source_of, tmp_path)


async def test_a_sound_example_is_tried_once_and_costs_nothing_more(task: Task) -> None:
    assert isinstance(await task.build(task.module(WHOLE)), Tool)
    assert (task.smoke, task.asked) == ("passed", 1)
    assert task.shop.host.ran == [("highest_value", WHOLE["arguments"])]


async def test_a_file_brought_under_the_absolute_path_of_the_tasks_costs_nothing_more(task: Task) -> None:
    named = str(task.path)
    example = {"arguments": {"path": named, "column": "t"}, "files": {named: "city,t\nA,1\n"}}
    tool = await task.build(task.module(example))
    assert (task.smoke, task.asked) == ("passed", 1)
    assert task.shop.host.ran == [("highest_value", {"path": "temps.csv", "column": "t"})]
    assert tool.manifest.examples[0].files == {"temps.csv": "city,t\nA,1\n"}


@pytest.mark.parametrize(
    "named", ["{path}", "temps.csv", "/mnt/data/temps.csv", "./data/temps.csv", "~/temps.csv", "C:\\data\\temps.csv"]
)
async def test_an_example_that_names_the_tasks_file_is_tried_on_that_very_file(task: Task, named: str) -> None:
    named = named.format(path=task.path)
    tool = await task.build(task.module({"arguments": {"path": named, "column": "temp_c"}}))
    assert isinstance(tool, Tool)
    assert (task.smoke, task.asked) == ("passed, on the task's own files", 1)
    assert tool.source() == task.module({"arguments": {"path": named, "column": "temp_c"}})


@pytest.mark.parametrize(
    ("example", "why"),
    [
        ({"arguments": None}, "with a dict of arguments"),
        ({"arguments": {"path": "a.csv", "column": "x"}, "files": {"a.csv": 1}}, "texts by name"),
        ({"arguments": {"file": "a.csv"}}, "do not fit InputModel"),
        ({"arguments": {"path": "nowhere.csv", "column": "x"}}, "it names nowhere.csv, and brings no such file"),
        ({"arguments": {"path": "a.csv", "column": "..."}, "files": {"a.csv": "x\n1\n"}}, "never filled in"),
        ({"arguments": {"path": "a.csv", "column": "x"}, "files": {"a.csv": "x\\n1\\n"}}, "holds \\n where"),
        ({"arguments": {"path": "a.csv", "column": "x"}, "files": {"a.csv": ""}}, "is empty"),
        (
            {"arguments": {"path": "a.csv", "column": "temp"}, "files": {"a.csv": "x\n1\n"}},
            "stands in none of its files",
        ),
    ],
)
async def test_an_example_that_cannot_be_used_gives_way_to_a_call_made_of_the_task(
    task: Task, example: Any, why: str
) -> None:
    tool = await task.build(task.module(example))
    assert isinstance(tool, Tool)
    assert task.shop.host.ran[-1] == ("highest_value", {"path": str(task.path), "column": "temp_c"})
    assert task.smoke.startswith("passed, a call made of the task; its example cannot be used: ")
    assert why in task.smoke
    assert task.asked == 1, "neither new code nor a new example was asked for"


async def test_a_tool_without_an_example_is_tried_on_the_task(task: Task) -> None:
    assert isinstance(await task.build(task.module()), Tool)
    assert (task.smoke, task.asked) == ("passed, a call made of the task; the tool brings no example", 1)


async def test_a_tool_that_fails_a_sound_example_is_refused_though_it_works_on_the_tasks_file(task: Task) -> None:
    body = HIGHEST.replace("float(row[input.column])", "float(row['temp_c'])")
    assert isinstance(await task.build(task.module(WHOLE, body=body), task.module(WHOLE)), Tool)
    assert "KeyError: 'temp_c'" in task.shop.writer.asked[1]
    assert len(task.shop.host.ran) == 2, "no other call excuses it"


async def test_a_first_call_that_opens_no_file_of_the_task_is_told_to_its_writer(task: Task) -> None:
    call = f'\n```json\n{{"path": "{task.path}", "column": "temp_c"}}\n```'
    blind = task.module(body="    return OutputModel(result=len(input.path.splitlines()))")
    task.shop.writer.replies = [blind + call, task.module() + call]
    found, _ = taskfiles.gather("", [task.path], task.path.parent)
    tool = await task.shop.smith.build_outright(QUESTION, taskfiles.view(found), lambda name, first: None)
    assert isinstance(tool, Tool)
    assert task.asked == 2
    assert "opens no file" in str(task.shop.writer.asked[1])


async def test_where_no_call_can_be_made_the_writer_is_asked_for_an_example_alone(task: Task) -> None:
    flawed = task.module({"arguments": {"path": "nowhere.csv", "column": "t"}})
    tool = await task.build(flawed, "Sure!\n```json\n" + json.dumps(WHOLE) + "\n```", files=False)
    assert isinstance(tool, Tool)
    assert task.smoke == (
        "passed, with a second example; its example cannot be used: it names nowhere.csv, and brings no such file"
    )
    assert task.shop.kinds() == ["tool_build_started", "tool_built"], "no attempt was lost"
    assert tool.manifest.examples[0].arguments == WHOLE["arguments"]
    assert tool.source().replace(repr([WHOLE]), "") == flawed.replace(
        repr([{"arguments": {"path": "nowhere.csv", "column": "t"}}]), ""
    ), "the code is the writer's, letter by letter"
    assert "it names nowhere.csv" in task.shop.writer.asked[1]
    assert "Your last version failed" not in task.shop.writer.asked[1]


async def test_an_example_is_asked_for_once_in_a_build(task: Task) -> None:
    flawed = {"arguments": {"path": "nowhere.csv", "column": "t"}}
    broken = task.module(flawed, body="    raise ValueError('never')")
    tool = await task.build(broken, json.dumps(WHOLE), task.module(flawed), files=False)
    assert isinstance(tool, Tool)
    assert task.asked == 3, "code, example, code: the example serves the second version too"
    assert "ValueError: never" in task.shop.writer.asked[2]


@pytest.mark.parametrize("reply", ["I have none.", "{}", "{'arguments': 3", WriterFailed("The reply was empty.")])
async def test_a_tool_that_nothing_could_try_is_kept_and_said_to_be_untried(task: Task, reply: Any) -> None:
    flawed = task.module({"arguments": {"path": "nowhere.csv", "column": "t"}})
    tool = await task.build(flawed, reply, files=False)
    assert isinstance(tool, Tool)
    assert tool.origin.smoke.startswith("not tried: its example cannot be used: it names nowhere.csv")
    assert tool.source() == flawed


async def test_a_doubtful_failure_that_nothing_excuses_is_one(task: Task) -> None:
    odd = {"arguments": {"path": "a.csv", "column": "temp"}, "files": {"a.csv": "x\n1\n"}}
    made = await task.build(*[task.module(odd), "none", *[task.module(odd) + "# x\n" * n for n in (1, 2)]], files=False)
    assert isinstance(made, BuildFailure)
    assert "KeyError: 'temp'" in made.reason


async def test_a_call_by_rule_that_shows_a_mistake_of_the_code_is_told_to_its_writer(task: Task) -> None:
    broken = task.module(body=HIGHEST.replace("max(", "maximum("))
    assert isinstance(await task.build(broken, task.module(WHOLE)), Tool)
    assert "A call made of the task, " in task.shop.writer.asked[1]
    assert "NameError" in task.shop.writer.asked[1]


async def test_a_call_by_rule_with_arguments_that_may_be_wrong_condemns_nobody(task: Task) -> None:
    body = "    return OutputModel(error=f'no {input.column}')"
    assert isinstance(await task.build(task.module(body=body)), Tool)
    assert task.smoke == "not tried: the tool brings no example"


async def test_a_tool_that_writes_is_not_tried_on_the_users_file(task: Task) -> None:
    body = "    open(input.path, 'w').write('gone')\n    return OutputModel(result=1.0)"
    assert isinstance(await task.build(task.module(body=body)), Tool)
    assert task.path.read_text().startswith("city")
    assert task.shop.host.ran == []


async def test_an_unreachable_model_ends_the_build_when_an_example_is_asked_for(task: Task) -> None:
    with pytest.raises(ModelUnreachable):
        await task.build(task.module({"arguments": 1}), ModelUnreachable("401"), files=False)


async def test_no_call_is_made_of_a_task_that_has_no_values(task: Task) -> None:
    fields = FIELDS + "\n    limit: int"
    assert isinstance(await task.build(task.module(fields=fields)), Tool)
    assert task.smoke == "not tried: the tool brings no example"
    assert task.shop.host.ran == []


async def test_a_long_text_is_no_file(task: Task) -> None:
    example = {**WHOLE, "arguments": {**WHOLE["arguments"], "path": "x" * 600}}
    assert isinstance(await task.build(task.module(example)), Tool)
    assert task.smoke.startswith("passed, a call made of the task; ")


async def test_what_the_user_has_is_not_tried_where_it_could_be_sent_away(task: Task) -> None:
    task.shop.smith = task.shop._smith(grants=Grants(CapabilitiesSettings(network="any")))
    meta = "'capabilities': {'network': ['api.example.org']}, 'examples': [{'arguments': {'path': %r, 'column': 'v'}}]"
    source = task.source_of(
        "highest_value", body=HIGHEST, fields=FIELDS, result="float | None", meta=meta % str(task.path)
    )
    await task.build(source, "none")
    assert task.shop.host.grants[-1].network == ("api.example.org",), "it could have sent it"
    assert task.shop.host.files == [()]
