"""Servers from which nothing useful can be had. What a user would lose: the money that such a server costs."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.demo import reply as right
from habilis.testing import Fault, RecordingSink, ScriptedServer, in_plain_text, when
from habilis.testing.faults import content_text

from ..marks import PROMISE

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
    "prose, every form refused": (12, lambda: says(PROSE), {"refuse": ("tools", "json_schema", "json_mode")}),
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


QUICK = ("prose", "empty", "unreadable arguments", "review misshapen")


class Alone:
    """A machine that knows no model yet, and believes none untried."""

    def __init__(self, root: Path) -> None:
        self.root, self.sink = root, RecordingSink()

    async def ask(self, server: ScriptedServer, *settings: str, question: str = QUESTION) -> TaskResult:
        given = [f"runs_dir={self.root}", f"models.basic.base_url={server.base_url}", "models.basic.model=m", *settings]
        team = Team(load_settings(overrides=given), library=self.root / "library", sinks=[self.sink])
        return await team.run(question, run_dir=self.root / "run", base=self.root)


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox_level: str) -> Alone:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HABILIS_MODELS__PROBE_JUDGES", "true")
    return Alone(tmp_path)


@pytest.mark.parametrize(
    "kind",
    [kind if kind in QUICK else pytest.param(kind, marks=PROMISE) for kind in SERVERS],
)
async def test_a_hopeless_server_costs_little(kind: str, alone: Alone) -> None:
    most, answer, more = SERVERS[kind]
    with ScriptedServer(answer(), **more) as server:
        result = await alone.ask(server, "tools.short_way=false")
    assert len(server.requests) <= most
    assert result.usage.model_calls == len(server.requests)
    if kind == "review misshapen":  # rules settle what the judge says nothing of
        assert (result.status, result.final_answer, result.review and result.review.by) == ("answered", "42", "rules")
    else:
        assert result.status == "gave_up"


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("prose", "gave_up"),
        ("prose, never the same", "gave_up"),
        ("prose, every form refused", "gave_up"),
        ("the same object", "gave_up"),
        ("echo", "gave_up"),
        ("code misshapen", "answered"),
        ("plan misshapen", "answered"),
        ("unknown tool", "answered"),
    ],
)
async def test_on_the_short_way_a_hopeless_server_costs_no_more(kind: str, status: str, alone: Alone) -> None:
    """… and what spoils a plan, a build or a call by itself spoils nothing where none of them is asked for."""
    most, answer, more = SERVERS[kind]
    with ScriptedServer(answer(), **more) as server:
        result = await alone.ask(server)
    assert len(server.requests) <= most
    assert result.status == status
    assert status != "answered" or result.final_answer == "42"


@pytest.mark.parametrize(
    "kind",
    [
        "prose",
        "misshapen",
        "arguments",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("empty", "unknown tool")),
    ],
)
async def test_a_server_that_is_of_no_use_twice_and_then_right_still_answers(kind: str, alone: Alone) -> None:
    """Twice in every role: the cheap end of the hopeless is not paid for by those who come to themselves."""
    bad = {
        "prose": says(PROSE),
        "empty": says(""),
        "misshapen": says('{"status": "PERHAPS", "final_answer": ["?"], "tool_requests": 7}'),
        "arguments": calling(None, {"nonsense": 1}),
        "unknown tool": calling("no_such_tool", {"value": "x"}),
    }[kind]
    counts: Counter[str] = Counter()

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]], form: Any) -> AIMessage:
        role = content_text(messages[0].content)
        counts[role] += 1
        if counts[role] <= 2:
            return bad(messages, tools, form)
        return (in_plain_text(right) if "Final Answer:" in role else right)(messages, tools, form)

    with ScriptedServer(answer) as server:
        result = await alone.ask(server, "models.probe_judges=false")
    assert (result.status, result.final_answer) == ("answered", "42")


async def test_what_a_server_refuses_is_learnt_once_for_all_that_is_asked(alone: Alone) -> None:
    """Functions that a plan's form was refused with are not tried again by the steps, nor by the next task."""
    refused = ("tools", "json_schema", "json_mode")
    with ScriptedServer(in_plain_text(right), refuse=refused) as server:
        first = await alone.ask(server, "models.probe_judges=false")
        assert [seen.status for seen in server.requests].count(400) == 3
        alone.root = alone.root / "second"
        second = await alone.ask(server, "models.probe_judges=false", question="What is 7 * 8?")
        assert [seen.status for seen in server.requests].count(400) == 3
    assert [(task.status, task.final_answer) for task in (first, second)] == [("answered", "42"), ("answered", "56")]


async def test_a_task_ends_at_its_limit_of_calls_and_goes_on_where_it_is_raised(alone: Alone) -> None:
    with ScriptedServer() as server:
        result = await alone.ask(server, "models.probe_judges=false", "limits.max_calls=3")
        assert (result.status, len(server.requests)) == ("budget", 3)
        assert "3 of 3 model calls made (limits.max_calls)" in str(result.error)
        assert result.tools_made, "the work is kept"
        given = [f"runs_dir={alone.root}", f"models.basic.base_url={server.base_url}", "models.basic.model=m"]
        settings = load_settings(overrides=[*given, "models.probe_judges=false"])
        result = await Team(settings, library=alone.root / "library").resume(alone.root / "run")
        assert (result.status, result.final_answer) == ("answered", "42")
        assert server.repeated() == []


@pytest.mark.parametrize("dies", ["before it is tried", "after it was tried"])
async def test_a_judge_of_its_own_that_cannot_be_reached_gives_way_to_the_rules(dies: str, alone: Alone) -> None:
    """The work was done and paid for: that nobody answers where the judge was is no reason to lose it."""
    with ScriptedServer() as server, ScriptedServer(faults=["drop"] * 99) as judge:
        own = [f"models.judge.base_url={judge.base_url}", "models.judge.model=wise", "models.judge.max_retries=0"]
        tried = [] if dies.startswith("before") else ["models.probe_judges=false"]
        result = await alone.ask(server, *own, *tried)
    assert judge.requests, "the judge was asked"
    assert (result.status, result.final_answer) == ("answered", "42")
    assert result.review is not None
    assert result.review.judge is not None
    assert (result.review.by, result.review.judge.by) == ("rules", "unreachable")
    assert result.review.whose == "rules (the judge cannot be reached)"
    assert [event.review.by for event in alone.sink.of("reviewed")] == ["rules"]
    assert any("rules decide" in event.text for event in alone.sink.of("notice"))


async def test_a_judge_that_is_the_model_at_work_ends_the_task_where_it_cannot_be_reached(alone: Alone) -> None:
    faults = when(lambda seen: "<invocations>" in seen.prompt, [Fault("bad_request", status=404)] * 9)
    with ScriptedServer(faults=faults) as server:
        result = await alone.ask(server, "models.probe_judges=false")
    assert result.status == "unreachable"
