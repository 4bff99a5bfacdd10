"""A team whose models play a script, over real tools in the real sandbox."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.testing import RecordingSink, ScriptedModel

TOOL = '''"""A tool."""
from pydantic import BaseModel

__TOOL_META__ = {{"name": "{name}", "description": "{description}", "dependencies": [], "effects": "{effects}"}}


class InputModel(BaseModel):
    {inputs}


class OutputModel(BaseModel):
    result: {output} = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    {body}
'''


def tool_source(
    name: str,
    body: str,
    inputs: str = "x: int",
    *,
    description: str = "Does it.",
    effects: str = "reads",
    output: str = "object | None",
) -> str:
    """Source of a small tool; `body` is the body of `run`."""
    lines = "\n    ".join(body.splitlines())
    return TOOL.format(name=name, body=lines, inputs=inputs, description=description, effects=effects, output=output)


def call(name: str, args: dict[str, Any] | None = None, id: str = "") -> dict[str, Any]:
    return {"name": name, "args": args or {}, "id": id or f"{name}-{json.dumps(args, sort_keys=True)}"}


def calling(*calls: dict[str, Any], text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=list(calls))


Reply = AIMessage | str | dict[str, Any] | Exception


@dataclass
class Script:
    """What the models say: each list is played in order, its last entry again and again."""

    steps: Sequence[Reply]
    plans: Sequence[Reply] = ({},)
    reviews: Sequence[Reply] = ({"status": "FINISH", "reason": "fine"},)
    answers: Sequence[Reply] = ({"final_answer": "42", "reasoning_summary": "so"},)
    verdicts: Sequence[Reply] = ()
    fixed: Sequence[Reply] = ()
    differing: Sequence[Reply] = ({"results": []},)
    codes: Sequence[Reply] = ()
    calls: Sequence[Reply] = ("I am sure of none.",)
    summaries: Sequence[Reply] = ("a summary",)
    grounded: Sequence[Reply] = ({"reason": "it is not there", "word": "invented"},)
    asked: list[tuple[str, list[BaseMessage], list[Any]]] = field(default_factory=list)

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> Reply:
        kind = self.kind_of(str(messages[-1].content), str(messages[0].content))
        said = getattr(self, kind)
        nth = sum(known == kind for known, _, _ in self.asked)
        self.asked.append((kind, messages, tools))
        assert said, f"nothing to say to a request for {kind}"
        return said[min(nth, len(said) - 1)]

    def kind_of(self, last: str, first: str) -> str:
        marks = {
            "<candidates>": "plans",
            "<doubted>": "grounded" if "<question>" in last else "answers",
            "<answer>": "reviews",
            "<findings>": "answers",
            "<calls>": "verdicts",
            "<records": "fixed",
            "<differing>": "differing",
            "<disputed>": "codes",
            "<tested_tool>": "calls",
            "<tool_request>": "codes",
            "<tool_code": "codes",
            "<work>": "summaries",
        }
        return next((kind for mark, kind in marks.items() if mark in last), "steps")

    def of(self, kind: str) -> list[tuple[list[BaseMessage], list[Any]]]:
        """Messages and tools of each request of one kind."""
        return [(messages, tools) for known, messages, tools in self.asked if known == kind]


@dataclass
class Stage:
    """Where a script is played: `tools` go into the public library, `result` is what came of it."""

    root: Path
    sink: RecordingSink = field(default_factory=RecordingSink)

    def add(self, name: str, source: str) -> None:
        library = self.root / "library"
        library.mkdir(exist_ok=True)
        (library / f"{name}.py").write_text(source, encoding="utf-8")

    def clients(self, script: Callable[..., Any]) -> Callable[..., ScriptedModel]:
        model = ScriptedModel(script=script)
        return lambda *_: model

    def team(self, script: Callable[..., Any], *settings: str, **options: Any) -> Team:
        loaded = load_settings(overrides=[f"runs_dir={self.root}", "tools.short_way=false", *settings])
        return Team(loaded, library=self.root / "library", sinks=[self.sink], clients=self.clients(script), **options)

    async def play(
        self, script: Script, *settings: str, question: str = "Which is it: 1, 2, 4, 5, 8, 21 or 42?", **options: Any
    ) -> TaskResult:
        return await self.team(script, *settings, **options).run(question, run_dir=self.root / "run", base=self.root)


@pytest.fixture
def stage(tmp_path: Path, sandbox_level: str) -> Stage:
    return Stage(tmp_path)
