"""What one step of the curator costs in a large library: our own time, and how often a model is asked.

Tools run in this process and the model answers at once, so that the wall time is the curator's own: reading, searching,
deciding, building the generation, bringing it to the disk. `python benchmarks/curator.py 100 1000 10000`: in libraries
of so many tools (default: 10,000), to see how it grows.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import tempfile
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from habilis.config import load_settings
from habilis.contract.contract import read_contract
from habilis.contract.runnable import Description, Runnable
from habilis.core.types import CallError, CallOutcome, Invocation, TaskResult
from habilis.curation.curator import Curator
from habilis.curation.ledger.reports import Finished
from habilis.library import Library, Manifest, Origin
from habilis.library.folder import dump
from habilis.library.generations import Generations
from habilis.runtime.calls import CallSpec
from habilis.testing import ScriptedModel
from measure import Figure

TOOLS, NEW, ALIKE = 10_000, 16, 4
"""Tools of the library, new ones of a step, and those of the new that do what one of the library does."""
Step = tuple[float, float, int]
"""Seconds, seconds of the processor, and model calls of one step."""
_VERBS = ("count", "sum", "average", "convert", "parse", "split", "join", "sort", "filter", "group", "compare", "merge")
_THINGS = (
    "rows",
    "columns",
    "dates",
    "words",
    "lines",
    "prices",
    "cells",
    "fields",
    "tables",
    "texts",
    "files",
    "units",
)
_MORE = [
    f"{one}{other}" for one in ("day", "net", "tax", "log", "geo", "key") for other in ("set", "map", "mark", "part")
]


class InstantHost:
    """Runs tools in this process."""

    def __init__(self) -> None:
        self._loaded: dict[bytes, types.ModuleType] = {}

    async def prepare(self, requirements: Sequence[str]) -> CallError | None:
        return None

    async def try_out(self, spec: CallSpec) -> tuple[Description | CallError, CallOutcome | None]:
        loaded, tool = self._load(spec.tool), spec.tool
        schemas = loaded.InputModel.model_json_schema(), loaded.OutputModel.model_json_schema()
        told = Description(name=tool.name, description="", input_schema=schemas[0], output_schema=schemas[1])
        return told, None if spec.arguments is None else await self.call(spec)

    async def call(self, spec: CallSpec) -> CallOutcome:
        loaded = self._load(spec.tool)
        output = loaded.run(loaded.InputModel(**spec.given)).model_dump(mode="json")
        return spec.tool.seen(CallOutcome(output=output, level="in process"))

    def _load(self, tool: Runnable) -> Any:
        text = tool.module.read_bytes()
        if text not in self._loaded:  # as a warm server does
            module = types.ModuleType(f"benchmark_{tool.name}")
            exec(compile(text, str(tool.module), "exec", dont_inherit=True), module.__dict__)
            self._loaded[text] = module
        return self._loaded[text]


def source(name: str, description: str, fields: Sequence[str], number: int) -> str:
    """A tool that adds its two numbers to one of its own."""
    one, other = fields
    meta = {"name": name, "description": description, "examples": [{"arguments": {one: 1, other: 2}}]}
    return (
        f"from pydantic import BaseModel\n\n__TOOL_META__ = {meta!r}\n\n\nclass InputModel(BaseModel):\n"
        f"    {one}: int\n    {other}: int\n\n\nclass OutputModel(BaseModel):\n    value: int\n\n\n"
        f"def run(input: InputModel) -> OutputModel:\n"
        f"    return OutputModel(value=input.{one} + input.{other} + {number})\n"
    )


def described(number: int) -> tuple[str, str]:
    """Name and description of a tool, drawn by lot, equal for equal numbers."""
    lot = random.Random(number)
    verb, thing, more = lot.choice(_VERBS), lot.choice(_THINGS), lot.choice(_MORE)
    words = " ".join(lot.choice([*_THINGS, *_MORE]) for _ in range(8))
    return f"{verb}_{thing}_{more}_{number}", f"{verb.capitalize()} {thing} of a {more} by {words}."


def large_library(library: Path, told: Description, tools: int) -> None:
    """A published library of so many tools, each with a recorded call."""
    for number in range(tools):
        name, description = described(number)
        text = source(name, description, ("left", "right"), number)
        manifest = Manifest.of(text, told, read_contract(text), name=name, origin=Origin())
        (library / f"{name}.py").write_text(text)
        (library / f"{name}.json").write_text(dump(manifest))
        write_record(library, manifest, number)
    generations = Generations(library)
    with generations.draft() as draft:
        generations.publish(draft, {"tools": tools})


def schemas(folder: Path) -> Description:
    """What every tool of the library says of itself."""
    module = folder / "module.py"
    module.write_text(source("any", "Any.", ("left", "right"), 0))
    told, _ = asyncio.run(InstantHost().try_out(CallSpec(Runnable("any", module), None, workspace=folder)))
    assert isinstance(told, Description)
    return told


def write_record(library: Path, manifest: Manifest, number: int) -> None:
    """The one call that the tool with `manifest` ever passed."""
    name = manifest.name
    (library / "records").mkdir(exist_ok=True)
    call = f'"call_id":"c","tool":"{name}","version":"{manifest.version}","arguments":{{"left":1,"right":2}}'
    line = f'{{{call},"output":{{"value":{number + 3}}},"verdict":"success","effects":"pure"}}\n'
    (library / "records" / f"{name}.jsonl").write_text(line)


async def finished_tasks(folder: Path, step: int, host: InstantHost, tools: int) -> list[Finished]:
    """NEW tasks, each with one new tool that it called."""
    tasks = []
    for number in range(NEW):
        path = folder / "tasks" / f"s{step}t{number}"
        known = random.Random(step * NEW + number).randrange(tools)
        name, description = described(known)
        name = f"{name.rsplit('_', 1)[0]}_anew_{step}_{number}"
        private = Library(path / "tools")
        if number < ALIKE:
            text = source(name, description, ("left", "right"), known).replace("+ input.right", "- -input.right")
        else:
            text = source(name, description, ("left", "right"), -step * NEW - number)
        private.path.mkdir(parents=True)
        (private.path / f"{name}.py").write_text(text)
        module = Runnable(name, private.path / f"{name}.py")
        told, _ = await host.try_out(CallSpec(module, None, workspace=path))
        assert isinstance(told, Description)
        manifest = Manifest.of(text, told, read_contract(text), name=name, origin=Origin(task=path.name))
        (private.path / f"{name}.json").write_text(dump(manifest))
        arguments = {"left": 1, "right": number}
        call = Invocation(
            call_id="c1",
            tool=name,
            version=manifest.version,
            arguments=arguments,
            outcome=await host.call(CallSpec(module, arguments, workspace=path)),
            effects="pure",
            verdict="success",
        )
        private.record(call, workspace=path)
        result = TaskResult(task_id=path.name, status="answered", question="?")
        tasks.append(Finished(task_id=path.name, status="answered", folder=str(path), result=result))
    return tasks


def measured_steps(repeats: int, tools: int = TOOLS) -> list[Step]:
    """What each of `repeats` steps on one large library took."""
    with tempfile.TemporaryDirectory(prefix="habilis-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "library").mkdir()
        large_library(folder / "library", schemas(folder), tools)
        return asyncio.run(steps(folder, repeats, tools))


def words_on(question: str) -> str:
    """The model's reply: the same are tools of the same first words."""
    rows = [
        {"one": one, "other": other, "reason": "By their names.", "word": "same"}
        for one, other in re.findall(r"^- one: (\w+)\n  other: (\w+)$", question, re.MULTILINE)
        if one.split("_")[:3] == other.split("_")[:3]
    ]
    return json.dumps({"pairs": rows})


async def steps(folder: Path, repeats: int, tools: int) -> list[Step]:
    """The same, by one curator, as in a training."""
    host, found = InstantHost(), []
    model = ScriptedModel(script=lambda messages, tools, form: AIMessage(words_on(str(messages[-1].content))))
    curator = Curator(
        folder / "library",
        folder,
        settings=load_settings(environ={}),
        host=host,  # type: ignore[arg-type]
        clients=lambda role, settings: model,
    )
    for step in range(1, repeats + 1):
        tasks = await finished_tasks(folder, step, host, tools)
        start, computed = time.perf_counter(), time.process_time()
        report = await curator.step(step, tasks)
        found.append((time.perf_counter() - start, time.process_time() - computed, report.model_calls))
        if not report.balanced or report.tools != tools + step * (NEW - ALIKE):
            raise RuntimeError(
                f"{report.tools} tools are left: the step lost one, or made no one of two: {report.evidence[:3]}"
            )
    return found


def figures(repeats: int, tools: int = TOOLS) -> list[Figure]:
    """The first step is left out: it reads a library that no curator has read before."""
    measured = measured_steps(repeats + 1, tools)[1:]
    what = f"curator: {NEW} new tools, {ALIKE} of them known, into a library of {tools:,}"
    return [
        Figure(f"{what}, own time", "s", [seconds for seconds, _, _ in measured]),
        Figure("… of it on the processor", "s", [computed for _, computed, _ in measured]),
        Figure("… model calls", "", [calls for _, _, calls in measured]),
    ]


if __name__ == "__main__":
    from measure import machine, table

    sizes = [int(word) for word in sys.argv[1:]] or [TOOLS]
    print(f"{machine()}\n{table(figure for size in sizes for figure in figures(3, size))}")
