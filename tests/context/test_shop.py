"""The tool shop with its real host: write, try in the sandbox, record, mend, replay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SandboxSettings
from habilis.contract import taskfiles
from habilis.contract.capabilities import Grant
from habilis.contract.contract import read_contract
from habilis.contract.runnable import Runnable
from habilis.core.types import Invocation, ToolRequest
from habilis.library import LayeredLibrary, Library, Tool
from habilis.prompts import Prompts
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.synthesis.calls_by_rule import TaskGround
from habilis.synthesis.smith import BuildFailure, EnhanceFailure, Smith
from habilis.synthesis.trial import Trials

pytestmark = pytest.mark.sandbox
Source = Callable[..., str]

META = (
    "'dependencies': [], 'examples': [{'arguments': {'path': 'a.csv', 'column': 'v'}, 'files': {'a.csv': 'v\\n1\\n'}}]"
)
FIELDS = "    path: str\n    column: str"
COMMA = """    import csv
    with open(input.path, newline="", encoding="utf-8") as file:
        return OutputModel(result=sum(float(row[input.column]) for row in csv.DictReader(file)))"""
ANY = COMMA.replace(
    "        return", "        mark = ';' if ';' in file.readline() else ','\n        file.seek(0)\n        return"
).replace("DictReader(file)", "DictReader(file, delimiter=mark)")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "column": {"type": "string"}}}


class Floor:
    """A smith over the real host, with a user's file that the tool reads."""

    def __init__(self, folder: Path, host: ToolHost, shop: Any) -> None:
        self.host, self.writer, self.models, self.events = host, shop.writer, shop.models, shop.events
        self.library = LayeredLibrary(Library(folder / "private"))
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self.user = folder / "user"
        self.user.mkdir()
        self.smith = Smith(host, self.library, self.writer, self.models, Prompts(), self.events.append)

    async def build(self, *replies: str) -> Any:
        self.writer.replies = list(replies)
        request = ToolRequest(name="sum_column", description="Sum.", input_schema=SCHEMA, output_schema={})
        return await self.smith.build(request, question="What is the sum?", files=[])

    async def call(self, tool: Tool, name: str, text: str, verdict: Any) -> Any:
        file = self.user / name
        file.write_text(text)
        arguments = {"path": str(file), "column": "v"}
        outcome = await self.host.call(CallSpec(tool.runnable, arguments, workspace=self.workspace, files=[file]))
        invocation = Invocation(
            call_id=name,
            tool=tool.name,
            version=tool.version,
            arguments=arguments,
            outcome=outcome,
            effects=tool.effects,
            verdict=verdict,
        )
        return self.library.record(invocation, workspace=self.workspace, files=[file])


@pytest.fixture
async def floor(tmp_path: Path, shop: Any) -> AsyncIterator[Floor]:
    host = ToolHost(SandboxSettings())
    folder = tmp_path / "floor"
    folder.mkdir()
    yield Floor(folder, host, shop)
    await host.aclose()


async def test_a_tool_is_built_fails_on_harder_input_and_is_mended(floor: Floor, source_of: Source) -> None:
    def code(body: str) -> str:
        return source_of("sum_column", body=body, fields=FIELDS, result="float | None", meta=META)

    tool = await floor.build(code("    return OutputModel(result=1 / 0)"), code(COMMA))
    assert isinstance(tool, Tool), tool
    assert tool.origin.smoke == "passed"
    assert "ZeroDivisionError" in floor.writer.asked[1]
    assert str(floor.library.private.path) not in floor.writer.asked[1]
    passed = await floor.call(tool, "good.csv", "n,v\na,1\nb,2\n", "success")
    failed = await floor.call(tool, "bad.csv", "n;v\na;1\nb;4\n", "failure")
    assert passed.output == {"result": 3.0, "error": None}
    assert failed.error.exception == "KeyError"
    for record in (passed, failed):
        assert record.replayable, record.why_not
        assert list(record.files) == [record.arguments["path"]]
    for file in floor.user.iterdir():
        file.unlink()  # what the replay reads is the record's
    floor.models.replies = [{"results": [{"record": "r1", "fixed": True, "reason": "5.0 is the sum"}]}]
    floor.writer.replies = [code(COMMA + "  # no change"), code(ANY)]
    better = await floor.smith.enhance(tool, [failed])
    assert isinstance(better, Tool), better
    assert '"now": ' not in floor.models.asked[0][1]
    assert '{"result": 5.0, "error": null}' in floor.models.asked[0][1]
    assert "still fails" in floor.writer.asked[-1]
    assert floor.events[-1].replayed == 2


async def test_what_the_sandbox_holds_back_fails_the_gate_or_is_not_tried(floor: Floor, source_of: Source) -> None:
    hostile = source_of("sum_column", fields=FIELDS, meta=META, body="    import os\n    os._exit(0)")
    failure = await floor.build(hostile, hostile, "raise SystemExit(0)\n" + hostile)
    assert isinstance(failure, BuildFailure)
    assert floor.library.names() == []


async def test_a_tool_may_be_called_like_a_module_that_it_uses(floor: Floor, source_of: Source) -> None:
    body = "    import json\n    return OutputModel(result=json.loads('3'))"
    floor.writer.replies = [source_of("json", body=body)]
    request = ToolRequest(name="json", description="Read.", input_schema={}, output_schema={})
    tool = await floor.smith.build(request, question="?", files=[])
    assert isinstance(tool, Tool), tool
    assert (tool.name, tool.origin.smoke) == ("json", "passed")


async def test_a_file_dropped_in_is_described_in_the_sandbox(floor: Floor, source_of: Source) -> None:
    floor.library.private.path.mkdir(parents=True, exist_ok=True)
    (floor.library.private.path / "dropped.py").write_text(source_of("dropped"))
    described = await floor.library.describe_missing(floor.host)
    assert [tool.card.parameters for tool in described] == [("path",)]


async def test_an_enhancement_that_never_passes_leaves_the_tool(floor: Floor, source_of: Source) -> None:
    code = source_of("sum_column", body=COMMA, fields=FIELDS, result="float | None", meta=META)
    tool = await floor.build(code)
    failed = await floor.call(tool, "bad.csv", "n;v\na;1\n", "failure")
    floor.writer.replies = [code] * 3
    assert isinstance(await floor.smith.enhance(tool, [failed]), EnhanceFailure)
    kept = floor.library.get("sum_column")
    assert kept is not None
    assert kept.version == tool.version


async def tried_on_the_users_file(floor: Floor, source: str) -> tuple[Any, Path]:
    """What building `source` for a task with the file temps.csv comes to, and that file."""
    file = floor.user / "temps.csv"
    file.write_text("city,v\nOslo,3\n")
    files = taskfiles.view(taskfiles.gather("", [file], floor.user)[0])
    floor.writer.replies = [source]
    request = ToolRequest(name="sum_column", description="Sum.", input_schema=SCHEMA, output_schema={})
    return await floor.smith.build(request, question="What is the sum of v in temps.csv?", files=files), file


@pytest.mark.parametrize(
    ("arguments", "smoke"),
    [
        ({"path": "{file}", "column": "v"}, "passed, on the task's own files"),
        ({"path": "/mnt/data/temps.csv", "column": "v"}, "passed, on the task's own files"),
        ({"path": "{file}", "column": "..."}, "passed, a call made of the task; its example cannot be used"),
        ({"path": 3}, "passed, a call made of the task; its example cannot be used"),
    ],
)
async def test_a_trial_on_the_users_file_reads_it_in_the_sandbox(
    floor: Floor, source_of: Source, arguments: dict[str, Any], smoke: str
) -> None:
    named = {k: v.format(file=floor.user / "temps.csv") if isinstance(v, str) else v for k, v in arguments.items()}
    meta = f"'dependencies': [], 'examples': [{{'arguments': {named!r}}}]"
    source = source_of("sum_column", body=COMMA, fields=FIELDS, result="float | None", meta=meta)
    tool, _ = await tried_on_the_users_file(floor, source)
    assert isinstance(tool, Tool), tool
    assert tool.origin.smoke.startswith(smoke)


async def test_a_trial_on_the_users_file_cannot_change_it(floor: Floor, source_of: Source, tmp_path: Path) -> None:
    """Even where it is not seen that a tool writes, and it is called with the user's file."""
    body = """    try:
        open(input.path, "a").write("x")
    except OSError:
        return OutputModel(result="refused")
    return OutputModel(error="changed")"""
    source = source_of("spoil", body=body, result="str | None", meta="'dependencies': []")
    module, file = tmp_path / "spoil.py", floor.user / "temps.csv"
    module.write_text(source)
    file.write_text("city,v\n")
    ground = TaskGround.of("How many rows?", taskfiles.view(taskfiles.gather("", [file], floor.user)[0]))
    unseen = read_contract(source).model_copy(update={"effects": "reads"})
    trial = await Trials(floor.host).run(Runnable("spoil", module), unseen, ground, tmp_path / "trial", Grant())
    assert trial.smoke.startswith("passed, a call made of the task"), "it was called, tried to write, and was refused"
    assert file.read_text() == "city,v\n"
