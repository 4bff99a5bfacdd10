"""Servers from which nothing useful can be had. What a user would lose: the money that such a server costs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.demo import reply as right
from habilis.testing import RecordingSink, ScriptedServer, in_plain_text
from habilis.testing.faults import content_text

QUESTION = "What is 6 * 7?"
PROSE = "Well, that is an interesting question, and I would have to think about it."
PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Please sign in.</p></body></html>"
FORM_OF = {"plan": "PlanReply", "review": "ReviewReply", "answer": "AnswerReply"}
Answer = Callable[[list[BaseMessage], list[dict[str, Any]], dict[str, Any] | None], AIMessage]


def _form(tools: list[dict[str, Any]], form: dict[str, Any] | None, messages: list[BaseMessage]) -> str:
    """What a structured answer is to be, by its name on the wire or by the schema that the prompt ends with."""
    if form and form.get("json_schema"):
        return str(form["json_schema"]["name"])
    names = [tool["function"]["name"] for tool in tools]
    said = content_text(messages[-1].content)
    marks = {"PlanReply": "tool_requests", "ReviewReply": '"RETRY"', "AnswerReply": "final_answer"}
    by_text = next((name for name, mark in marks.items() if mark in said), "")
    return names[0] if len(names) == 1 and names[0].endswith("Reply") else by_text


def says(text: str) -> Answer:
    return lambda *_: AIMessage(text)


def rambling() -> Answer:
    """Prose that is never the same."""
    numbers = itertools.count(1)
    return lambda *_: AIMessage(f"{PROSE} This is thought number {next(numbers)}.")


def calling(name: str | None, args: dict[str, Any] | str) -> Answer:
    """Right in all but the work itself: every step is a call of `name` (None: the first tool offered) with `args`."""

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        at_work = not form and (len(tools) > 1 or any(kept in content_text(messages[-1].content) for kept in LAST))
        if not at_work:
            return right(messages, tools, form)
        call: Any = {"name": name or tools[0]["function"]["name"] if tools else "calculate", "args": args, "id": None}
        if isinstance(args, str):
            return AIMessage("", invalid_tool_calls=[{**call, "type": "invalid_tool_call", "error": None}])
        return AIMessage("", tool_calls=[{**call, "type": "tool_call"}])

    return answer


LAST = ("no tool calls are left", "without tools", "tool rounds")


def misshapen(*forms: str, code: bool = False) -> Answer:
    """Right in all but the form of the answers named `forms`."""

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        first = "\n".join(content_text(message.content) for message in messages)
        if _form(tools, form, messages) in forms:
            return AIMessage(json.dumps({"mood": "fine"}))
        if code and ("<tool_request>" in first or "<tool_code" in first):
            return AIMessage(PROSE)
        return right(messages, tools, form)

    return answer


def echo(messages: list[BaseMessage], tools: Any, form: Any) -> AIMessage:
    return AIMessage(content_text(messages[-1].content))


SERVERS: dict[str, tuple[int, Callable[[], Answer], dict[str, Any]]] = {
    "prose": (12, lambda: says(PROSE), {}),
    "prose, never the same": (12, rambling, {}),
    "prose, every form refused": (
        12,
        lambda: says(PROSE),
        {"refuse": ("tools", "json_schema", "json_mode", "function_calling")},
    ),
    "empty": (20, lambda: says(""), {}),
    "the same answer": (20, lambda: says("42"), {}),
    "the same object": (20, lambda: says("{}"), {}),
    "a page": (20, lambda: says(PAGE), {}),
    "echo": (20, lambda: echo, {}),
    "arguments of another tool": (20, lambda: calling(None, {"nonsense": 1}), {}),
    "unreadable arguments": (20, lambda: calling(None, '{"expression": '), {}),
    "unknown tool": (20, lambda: calling("no_such_tool", {"value": "x"}), {}),
    "plan misshapen": (20, lambda: misshapen("PlanReply"), {}),
    "code misshapen": (20, lambda: misshapen(code=True), {}),
    "review misshapen": (20, lambda: misshapen("ReviewReply"), {}),
    "answer misshapen": (20, lambda: misshapen("AnswerReply"), {}),
    "all misshapen": (20, lambda: misshapen(*FORM_OF.values()), {}),
}


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that knows no model yet, and believes none untried."""
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HABILIS_MODELS__PROBE_JUDGES", "true")
    return tmp_path


async def asked(server: ScriptedServer, root: Path, *settings: str, model: str = "m") -> tuple[TaskResult, Any]:
    sink = RecordingSink()
    given = [f"runs_dir={root}", f"models.basic.base_url={server.base_url}", f"models.basic.model={model}", *settings]
    team = Team(load_settings(overrides=given), library=root / "library", sinks=[sink])
    return await team.run(QUESTION, run_dir=root / "run", base=root), sink


@pytest.mark.parametrize("kind", list(SERVERS))
async def test_a_hopeless_server_costs_little(kind: str, alone: Path, sandbox_level: str) -> None:
    most, answer, more = SERVERS[kind]
    with ScriptedServer(answer(), **more) as server:
        result, sink = await asked(server, alone, model=f"m {kind}")
    purposes = [event.purpose for event in sink.of("model_call_ended")]
    print(f"\n@@ {kind} | {len(server.requests)} | {result.usage.total_tokens} | {result.status} | {result.error} | {purposes}")
    assert len(server.requests) <= most
