"""One task with tools of three kinds: an operation of an API, a tool of an MCP server, and a tool that was written."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis.testing import RecordingSink, ScriptedService

from .conftest import World

MCP_SERVER = Path(__file__).parents[1] / "sources" / "mcp_server.py"
SECRET = "the-secret-of-the-weather"
API = {
    "openapi": "3.1.0",
    "paths": {
        "/forecast": {
            "get": {
                "operationId": "forecast",
                "summary": "Temperature of tomorrow at a place",
                "parameters": [{"name": "place", "in": "query", "required": True, "schema": {"type": "string"}}],
            }
        }
    },
}
WRITTEN = '''```python
"""Adds."""
from pydantic import BaseModel

__TOOL_META__ = {"name": "add_numbers", "description": "Adds two numbers.", "dependencies": [], "effects": "pure",
                 "examples": [{"arguments": {"a": 1, "b": 2}, "files": {}}]}


class InputModel(BaseModel):
    a: float
    b: float


class OutputModel(BaseModel):
    result: float | None = None
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    return OutputModel(result=input.a + input.b)
```'''
PLAN = {
    "required_tool_names": ["weather_forecast", "files_echo"],
    "tool_usage_guidance": "Ask both, add.",
    "tool_requests": [
        {
            "name": "add_numbers",
            "description": "Adds two numbers.",
            "parameters": [{"name": "a", "type": "number"}, {"name": "b", "type": "number"}],
            "returns": [{"name": "result", "type": "number"}],
        }
    ],
}


class Script:
    """The models of the task, by what they are asked; every request is kept as text."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, messages: list[BaseMessage], tools: list[Any], form: Any) -> AIMessage:
        self.asked.append(json.dumps([str(message.content) for message in messages] + [tools]))
        last = str(messages[-1].content)
        for mark, said in (
            ("<candidates>", PLAN),
            ("<answer>", {"status": "FINISH", "reason": "fine"}),
            ("<findings>", {"final_answer": "21", "reasoning_summary": "18 and 3"}),
        ):
            if mark in last:
                return AIMessage(json.dumps(said))
        if "<tool_request>" in last:
            return AIMessage(WRITTEN)
        results = [message for message in messages if message.type == "tool"]
        if not results:
            return _calling(("weather_forecast", {"place": "Oslo"}), ("files_echo", {"text": "3"}))
        if len(results) == 2:
            degrees = json.loads(str(results[0].content))["degrees"]
            return _calling(("add_numbers", {"a": degrees, "b": float(str(results[1].content))}))
        return AIMessage("The sum is 21.")


def _calling(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": name} for name, args in calls])


async def test_an_api_an_mcp_server_and_a_written_tool_answer_one_question_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_KEY", SECRET)
    script = world.server.answer = Script()
    (world.home / "weather.json").write_text(json.dumps(API))
    sink = RecordingSink()
    with ScriptedService(lambda seen: {"degrees": 18.0, "you": seen.headers["x-key"]}) as service:
        auth = {"header": "X-Key", "secret_env": "WEATHER_KEY"}
        weather = {"openapi": str(world.home / "weather.json"), "base_url": service.url, "auth": auth}
        files = {"mcp": {"command": [sys.executable, str(MCP_SERVER)]}}
        team = world.team(
            f"sources.weather={json.dumps(weather)}",
            f"sources.files={json.dumps(files)}",
            'sources.absent={"mcp": {"command": ["/no/such/program"]}}',
            "tool_sets.both=[weather, files.echo]",
            "tools.use=[both, absent]",
            sink=sink,
        )
        result = await team.run("How much is tomorrow's temperature in Oslo and the number in the note?")
    assert (result.status, result.final_answer) == ("answered", "21")
    assert result.tools_used == ("weather_forecast", "files_echo", "add_numbers")
    assert result.tools_made == ("add_numbers",)
    assert {call.tool: call.verdict for call in result.invocations} == dict.fromkeys(result.tools_used, "success")
    assert result.invocations[2].outcome.output == {"result": 21.0, "error": None}
    (seen,) = service.calls
    assert (seen.query, seen.headers["x-key"]) == ((("place", "Oslo"),), SECRET)
    notices = [event.text for event in sink.of("notice") if "left out" in event.text]
    assert notices == ["absent is left out: /no/such/program cannot be started: No such file or directory"]
    assert "files_data" not in script.asked[0]
    assert SECRET not in "".join(script.asked)
    written = [path for path in (world.home / "runs").rglob("*") if path.is_file()]
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    left = [process.info["cmdline"] for process in psutil.process_iter(["cmdline", "ppid"]) if _ours(process)]
    assert left == []


def _ours(process: psutil.Process) -> bool:
    return process.info["ppid"] == os.getpid() and str(MCP_SERVER) in (process.info["cmdline"] or ())
