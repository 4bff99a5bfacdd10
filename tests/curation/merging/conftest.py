"""Tasks that have ended, made by hand: private tools with the calls that prove them, and a curator over a fake host."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from habilis.config import load_settings
from habilis.core.types import Invocation, TaskResult
from habilis.curation.curator import Curator
from habilis.curation.ledger.reports import Finished, StepReport
from habilis.library import LayeredLibrary, Library, Manifest, Origin, Tool
from habilis.library.generations import Generations
from habilis.runtime.calls import CallSpec
from habilis.testing import ScriptedModel

from ...toolshop import InProcessHost, put

ADD = "    return OutputModel({result}=input.{a} + input.{b})"


def module(
    name: str,
    body: str,
    takes: str = "a: int; b: int",
    gives: str = "total: int | None",
    *,
    aliases: Mapping[str, Any] | None = None,
    description: str = "",
) -> str:
    """The source of a small tool; its example calls it with ones."""
    inputs = "".join(f"    {field.strip()}\n" for field in takes.split(";"))
    names = [field.split(":")[0].strip() for field in takes.split(";")]
    ones = {name: "a b" if "str" in field else 1 for name, field in zip(names, takes.split(";"), strict=True)}
    meta = {"name": name, "description": description or f"Do {name}.", "examples": [{"arguments": ones}]}
    meta |= {"aliases": dict(aliases)} if aliases is not None else {}
    return (
        f"from pydantic import BaseModel\n\n__TOOL_META__ = {meta!r}\n\n\nclass InputModel(BaseModel):\n{inputs}\n\n"
        f"class OutputModel(BaseModel):\n    {gives} = None\n    error: str | None = None\n\n\n"
        f"def run(input: InputModel) -> OutputModel:\n{body}\n"
    )


def adding(
    name: str = "add_numbers", takes: str = "a: int; b: int", gives: str = "total: int | None", **more: Any
) -> str:
    """A tool that adds its two numbers, under any names."""
    one, other = (field.split(":")[0].strip() for field in takes.split(";"))
    result = gives.split(":")[0].strip()
    return module(name, f"    return OutputModel({result}=input.{one} + input.{other})", takes, gives, **more)


class Stage:
    """A library, ended tasks beside it, and curators of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.library = folder, folder / "library"
        self.host = InProcessHost()
        self.models: list[ScriptedModel] = []

    async def task(
        self,
        task_id: str,
        tools: Mapping[str, str] = {},
        calls: Mapping[str, Sequence[Mapping[str, Any]]] = {},
        *,
        status: str = "answered",
        verdict: str | None = "success",
        origins: Mapping[str, Origin] = {},
    ) -> Finished:
        """A task that made `tools` (source by name) and called tools, its own or the library's, with arguments."""
        folder = self.folder / "run" / "tasks" / task_id
        private = Library(folder / "tools")
        view = LayeredLibrary(private, Library(self.library))
        workspace = folder / "workspace"
        workspace.mkdir(parents=True, exist_ok=True)
        for name, source in tools.items():
            await put(private, source, name, self.host)
            if name in origins:
                tool = private.get(name)
                assert tool is not None
                manifest = tool.manifest.model_copy(update={"origin": origins[name]})
                (private.path / f"{name}.json").write_text(manifest.model_dump_json(), encoding="utf-8")
        number = 0
        for name, rows in calls.items():
            for arguments in rows:
                number += 1
                tool = view.get(name)
                assert tool is not None, name
                outcome = await self.host.call(CallSpec(tool.runnable, arguments, workspace=workspace))
                view.record(
                    Invocation(
                        call_id=f"c{number}",
                        tool=name,
                        version=tool.version,
                        arguments=dict(arguments),
                        outcome=outcome,
                        effects=tool.effects,
                        verdict=verdict,
                    ),
                    workspace=workspace,
                )
        result = TaskResult(task_id=task_id, status="answered", question="?")
        return Finished(task_id=task_id, status=status, folder=str(folder), result=result)

    def curator(
        self, *script: Any, models: bool = True, policy: str = "best", run: str = "run", **more: Any
    ) -> Curator:
        """A curator whose models play `script` (see `ScriptedModel`); one with nothing to say when there is none."""

        def clients(role: str, settings: Any) -> ScriptedModel:
            said = script[0] if len(script) == 1 and callable(script[0]) else list(script)
            model = ScriptedModel(script=said) if not self.models else self.models[0]
            self.models[:] = [model]
            return model

        self.models.clear()
        settings = load_settings(overrides=[f"evolution.merge_policy={policy}", *more.pop("overrides", ())], environ={})
        return Curator(
            self.library,
            self.folder / run,
            settings=settings,
            host=self.host,  # type: ignore[arg-type]
            models=models,
            clients=clients,
            **more,
        )

    @property
    def asked(self) -> list[str]:
        """What models were asked."""
        return [str(messages[-1].content) for model in self.models for messages, _ in model.asked]

    def names(self) -> list[str]:
        return Library(self.library).names()

    def get(self, name: str) -> Tool:
        tool = Library(self.library).get(name)
        assert tool is not None, f"{name} is not in the library, which has {self.names()}"
        return tool

    def manifest(self, name: str) -> Manifest:
        return self.get(name).manifest

    async def call(self, name: str, **arguments: Any) -> Any:
        """The output of a tool of the library, by any of its names."""
        outcome = await self.host.call(CallSpec(self.get(name).runnable, arguments, workspace=self.folder))
        assert outcome.error is None, outcome.error
        return outcome.output

    @property
    def generations(self) -> Generations:
        return Generations(self.library)


def clusters(*groups: Sequence[str]) -> str:
    """What a model says of tools: the same are those of one group."""
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    rows = [{"one": one, "other": other, "reason": "So it seems.", "word": "same"} for one, other in pairs]
    return json.dumps({"pairs": rows})


def endings(report: StepReport) -> dict[str, str]:
    """How each tool of a step ended, by its name without the version."""
    return {fate.tool.split("@")[0]: fate.ending for fate in report.fates}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


Body = Callable[..., str]
