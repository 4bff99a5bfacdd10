"""A small in-process play of one task with the offline model alone: plan, build, execute, mend, review, answer."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.contract.taskfiles import kind_of, view
from habilis.core.types import TaskFile, ToolRequest
from habilis.demo import reply
from habilis.prompts import Prompts, Rendered
from habilis.synthesis.skeleton import skeleton

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"
_TYPES = {"array_of_strings": "string", "array_of_numbers": "number"}


def as_messages(prompt: Rendered) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def schema(fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The JSON schema of a plan's parameters or returns."""
    properties = {
        one["name"]: (
            {"type": "array", "items": {"type": _TYPES[one["type"]]}}
            if one["type"] in _TYPES
            else {"type": one["type"]}
        )
        for one in fields
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def code_in(text: str) -> str:
    """The last python block of a reply, '' when there is none."""
    return text.rpartition("```python\n")[2].rpartition("\n```")[0] if "```python\n" in text else ""


@cache
def compiled(source: str) -> tuple[CodeType, ast.expr]:
    """A tool's code, and the literal of what it says of itself: the same few tools answer most questions."""
    tree = ast.parse(source)
    said = (node for node in tree.body if isinstance(node, ast.Assign))
    meta = next(node.value for node in said if getattr(node.targets[0], "id", "") == "__TOOL_META__")
    return compile(tree, "tool.py", "exec"), meta


class Loaded:
    """A tool's source, executed in a plain namespace."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.space: dict[str, Any] = {"__name__": "tool"}
        code, meta = compiled(source)
        exec(code, self.space)
        self.meta: dict[str, Any] = self.space["__TOOL_META__"]
        assert self.meta == ast.literal_eval(meta)

    @property
    def name(self) -> str:
        return str(self.meta["name"])

    def call(self, arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
        """The output as JSON would carry it. What the tool raises is raised."""
        here = Path.cwd()
        os.chdir(folder)
        try:
            output = self.space["run"](self.space["InputModel"].model_validate(arguments))
        finally:
            os.chdir(here)
        assert isinstance(output, self.space["OutputModel"])
        return json.loads(output.model_dump_json())

    def try_example(self, folder: Path) -> dict[str, Any]:
        folder.mkdir(parents=True, exist_ok=True)
        example = self.meta["examples"][0]
        for name, text in example.get("files", {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        return self.call(example["arguments"], folder)

    def spec(self) -> dict[str, Any]:
        parameters = self.space["InputModel"].model_json_schema()
        function = {"name": self.name, "description": self.meta["description"], "parameters": parameters}
        return {"type": "function", "function": function}

    def card(self) -> dict[str, Any]:
        names = list(self.space["InputModel"].model_fields)
        return {"name": self.name, "description": self.meta["description"], "parameters": names}


@dataclass
class Played:
    """What came of one question."""

    plan: dict[str, Any]
    tools: dict[str, Loaded]
    text: str
    status: str
    final: str
    mended: list[str] = field(default_factory=list)
    rounds: int = 0
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


class Player:
    """Plays questions in `folder`, with the project's own prompts."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.prompts = folder, Prompts()

    def ask(self, prompt: str, **values: Any) -> AIMessage:
        if prompt in ("plan", "review", "answer"):
            values = {"conversation": [], **{"plan": {"tried": []}, "review": {"tools": []}}.get(prompt, {}), **values}
        return reply(as_messages(self.prompts.render(prompt, **values)))

    def data(self, prompt: str, **values: Any) -> dict[str, Any]:
        return json.loads(str(self.ask(prompt, **values).content))

    def view(self, names: Sequence[str]) -> list[dict[str, Any]]:
        files = []
        for name in names:
            head = (self.folder / name).read_bytes().decode("utf-8-sig", errors="replace").splitlines()[:3]
            begins = "\n".join(f"    {line[:120]}" for line in head)
            file = TaskFile(path=str(self.folder / name), named=name)
            if name.endswith(".json"):
                begins = str(view([file])[0]["begins"])
            shown = {"named": name, "path": file.path, "is_dir": False, "begins": begins}
            files.append({**shown, "kind": kind_of(file, begins)})
        return files

    def plan(
        self, question: str, names: Sequence[str] = (), library: Sequence[Loaded] = (), missing=()
    ) -> dict[str, Any]:
        return self.data(
            "plan",
            question=question,
            files=self.view(names),
            missing=list(missing),
            candidates=[tool.card() for tool in library],
            tried=[],
            failure_report="",
            build_failures="",
            capabilities="",
            frozen=False,
            web=False,
        )

    def build(
        self, request: dict[str, Any], question: str = "", names: Sequence[str] = (), failure: str = ""
    ) -> Loaded:
        text = self.ask(
            "build",
            name=request["name"],
            description=request["description"],
            input_schema=json.dumps(schema(request["parameters"])),
            output_schema=json.dumps(schema(request["returns"])),
            question=question,
            files=self.view(names),
            skeleton=skeleton(
                ToolRequest(
                    name=request["name"],
                    description=request["description"],
                    input_schema=schema(request["parameters"]),
                    output_schema=schema(request["returns"]),
                ),
                self.view(names),
            ),
            failure=failure,
        ).content
        tool = Loaded(code_in(str(text)))
        assert tool.name == request["name"]
        return tool

    def enhance(self, tool: Loaded, arguments: dict[str, Any], result: str) -> Loaded:
        text = self.ask(
            "enhance",
            name=tool.name,
            code=tool.source,
            failures=[{"arguments": json.dumps(arguments), "result": result, "begins": ""}],
            failure="",
        ).content
        return Loaded(code_in(str(text)))

    def play(
        self, question: str, names: Sequence[str] = (), library: Sequence[Loaded] = (), missing: Sequence[str] = ()
    ) -> Played:
        """One question from plan to final answer; failing tools are mended every second round, as in a real task."""
        plan = self.plan(question, names, library, missing)
        shelf = {tool.name: tool for tool in library}
        tools = {one["name"]: shelf[one["name"]] for one in plan["required_tool_names"]}
        for request in plan["tool_requests"]:
            tools[request["name"]] = self.build(request, question, names)
            example = tools[request["name"]].try_example(self.folder / "examples" / request["name"])
            assert example.get("error") is None, example
        opening = self.prompts.render(
            "execute",
            question=question,
            files=self.view(names),
            missing=list(missing),
            guidance=plan["tool_usage_guidance"],
        )
        history = as_messages(opening)
        played = Played(plan, tools, "", "", "")
        log: list[dict[str, Any]] = []
        failing: list[tuple[str, str, dict[str, Any], str]] = []
        for _ in range(10):
            said = reply(history, [tool.spec() for tool in tools.values()])
            if not said.tool_calls:
                played.text = str(said.content)
                break
            played.rounds += 1
            history.append(said)
            for call in said.tool_calls:
                played.calls.append((call["name"], call["args"]))
                try:
                    output = tools[call["name"]].call(call["args"], self.folder)
                    result, bad = json.dumps(output, ensure_ascii=False), bool(output.get("error"))
                except Exception as error:  # the host of a real task turns whatever a tool raises into such a text
                    result, bad = f"Error: the tool crashed: {type(error).__name__}: {error}", True
                history.append(ToolMessage(result, tool_call_id=call["id"], status="error" if bad else "success"))
                log.append({"tool": call["name"], "arguments": json.dumps(call["args"]), "result": result})
                if bad:
                    failing.append((call["id"], call["name"], call["args"], result))
            if played.rounds % 2 == 0 and failing:
                history = self._mend(history, failing, played)
                failing = []
        review = self.data("review", question=question, answer=played.text, invocations=log)
        answer = self.data("answer", question=question, findings=played.text, sources=[], explained=True)
        played.status = "answered" if review["status"] == "FINISH" else "gave_up"
        played.final = answer["final_answer"]
        return played

    def _mend(
        self, history: list[BaseMessage], failing: list[tuple[str, str, dict[str, Any], str]], played: Played
    ) -> list[BaseMessage]:
        gone: set[str] = set()
        for call_id, name, arguments, result in failing:
            if name not in played.mended:
                better = self.enhance(played.tools[name], arguments, result)
                try:
                    now = better.call(arguments, self.folder)
                except Exception:
                    continue
                if now.get("error"):
                    continue
                played.tools[name] = better
                played.mended.append(name)
            gone.add(call_id)
        kept: list[BaseMessage] = []
        for message in history:
            if isinstance(message, ToolMessage) and message.tool_call_id in gone:
                continue
            if isinstance(message, AIMessage) and message.tool_calls:
                left = [call for call in message.tool_calls if call["id"] not in gone]
                if not left:
                    continue
                message = AIMessage(message.content, tool_calls=left)
            kept.append(message)
        return kept


@pytest.fixture
def player(tmp_path: Path) -> Player:
    """A player in a folder of its own that holds the sample files."""
    for path in EXAMPLES.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    return Player(tmp_path)


@pytest.fixture
def loaded() -> Callable[[str], Loaded]:
    """Executes a tool's source."""
    return Loaded
