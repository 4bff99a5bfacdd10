"""Tools of other programs in a task: offered within limits, counted, and closed however the task ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph

from habilis import Team, load_settings
from habilis.agents.as_tool import TeamTool
from habilis.sources.bound import NamedSource
from habilis.sources.python.graphs import GraphTool
from habilis.sources.python.langchain import LangChainTools
from habilis.testing import ScriptedModel

from .conftest import Script, Stage, call, calling, tool_source


def count_letters(word: str) -> int:
    """Counts the letters of a word."""
    return len(word)


@tool
def shout(text: str) -> str:
    """Says it in capitals."""
    return text.upper()


class Closing:
    """A source of functions that notes when it is closed."""

    def __init__(self, *functions: Any) -> None:
        self._tools, self.closed = LangChainTools(functions), 0

    async def open(self) -> Sequence[Any]:
        return await self._tools.open()

    async def aclose(self) -> None:
        self.closed += 1


def plan(*names: str) -> tuple[dict[str, Any]]:
    return ({"required_tool_names": list(names)},)


async def test_functions_and_langchain_tools_work_beside_tools_of_the_library(stage: Stage) -> None:
    stage.add("double", tool_source("double", "return OutputModel(result=input.x * 2)", effects="pure"))
    first = calling(call("count_letters", {"word": "four"}, "a"), call("shout", {"text": "hey"}, "b"))
    script = Script([first, calling(call("double", {"x": 4}, "c")), "8"], plan("double", "count_letters", "shout"))
    source = Closing(count_letters, shout)
    result = await stage.play(script, sources=[source])
    assert [one.text for one in result.invocations] == ["4", "HEY", '{"result": 8, "error": null}']
    assert [one.effects for one in result.invocations] == ["writes", "writes", "pure"]
    assert (result.status, result.tools_made, source.closed) == ("answered", (), 1)


async def test_wrong_arguments_are_corrected_before_they_get_there(stage: Stage) -> None:
    steps = [calling(call("count_letters", {"wrd": "x"}, "a")), calling(call("count_letters", {"word": "x"}, "b")), "1"]
    result = await stage.play(Script(steps, plan("count_letters")), sources=[LangChainTools([count_letters])])
    assert [one.call_id for one in result.invocations] == ["b"]


async def test_many_tools_do_not_fill_the_plan(stage: Stage) -> None:
    async def tool_number(x: int) -> int:
        """Does something."""
        return x

    from langchain_core.tools import StructuredTool

    many = [StructuredTool.from_function(coroutine=tool_number, name=f"thing_{n}") for n in range(80)]
    script = Script(["42"])
    await stage.play(
        script, "retrieval.candidates=5", question="How many letters?", sources=[LangChainTools([*many, count_letters])]
    )
    asked = str(script.of("plans")[0][0][-1].content)
    shown = asked.split("<candidates>")[1].split("</candidates>")[0].strip().splitlines()
    assert 1 <= len(shown) <= 5
    assert shown[0].startswith("- count_letters(word)")


async def test_a_tool_that_raises_is_a_value_and_no_tool_is_mended_for_it(stage: Stage) -> None:
    def divide(a: int) -> float:
        """Divides."""
        return 1 / a

    script = Script([calling(call("divide", {"a": 0}, "a")), "None."], plan("divide"))
    result = await stage.play(script, sources=[LangChainTools([divide])])
    assert "ZeroDivisionError" in result.invocations[0].text
    assert script.of("codes") == []


async def test_sources_are_closed_when_the_task_is_cancelled_or_out_of_time(stage: Stage) -> None:
    began = asyncio.Event()

    async def wait_for_ever() -> str:
        """Waits."""
        began.set()
        await asyncio.Event().wait()
        return ""

    script = Script([calling(call("wait_for_ever", {}, "a"))], plan("wait_for_ever"))
    source = Closing(wait_for_ever)
    running = asyncio.create_task(stage.play(script, sources=[source]))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert source.closed == 1
    late = await stage.team(script, "limits.max_time_s=3", sources=[source]).run("Again?", run_dir=stage.root / "late")
    assert (late.status, source.closed) == ("budget", 2)


class Held:
    """A tool that holds something, and lets it go in its own way."""

    def __init__(self, let_go: Any) -> None:
        self.__name__, self.cleanup = "look_up", let_go

    def __call__(self, word: str) -> str:
        """Looks up a word."""
        raise RuntimeError("the shelf is empty")


@pytest.mark.parametrize("reply", [call("look_up", {"word": "x"}), call("look_up", {"no": 1})])
async def test_what_a_tool_holds_is_let_go_whatever_became_of_its_calls(stage: Stage, reply: dict[str, Any]) -> None:
    gone: list[str] = []

    async def later() -> None:
        gone.append("later")

    def fails() -> None:
        gone.append("fails")
        raise OSError("no such lock")

    given = [Held(fails), Held(later), Held(lambda: gone.append("at once"))]
    script = Script([calling(reply), "It is not there."], plan("look_up"))
    sources = [LangChainTools([one]) for one in given[1:]] + [LangChainTools(given[:1])]
    result = await stage.play(script, sources=sources)
    assert result.status == "answered"
    assert sorted(gone) == ["at once", "fails", "later"]


def counting_graph(tokens: int = 100) -> Any:
    said = AIMessage("four", usage_metadata={"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens})
    model = ScriptedModel(script=lambda *_: said)

    async def ask(state: MessagesState) -> MessagesState:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    chat = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    into = RunnableLambda(lambda given: {"messages": [HumanMessage(given["text"])]})
    return GraphTool(into | graph.compile(), "ask_expert", "Asks an expert.", chat)


async def test_a_replay_does_nothing_elsewhere_again(stage: Stage) -> None:
    done: list[str] = []

    def send(text: str) -> str:
        """Sends a message."""
        done.append(text)
        return f"sent {text}"

    script = Script([calling(call("send", {"text": "hallo"}, "a")), "Sent."], plan("send"))
    sources = [LangChainTools([send])]
    first = await stage.play(script, sources=sources)
    again = await stage.team(Script([]), sources=sources).run(
        "Which is it: 1, 2, 4, 5, 8, 21 or 42?",
        run_dir=stage.root / "again",
        replay=stage.root / "run",
        base=stage.root,
    )
    assert (again.status, again.final_answer) == (first.status, first.final_answer)
    assert again.invocations[0].text == "sent hallo"
    assert done == ["hallo"]


async def test_a_graph_is_a_tool_and_its_cost_counts_also_after_a_resume(stage: Stage) -> None:
    script = Script([calling(call("ask_expert", {"text": "2+2?"}, "a")), "4"], plan("ask_expert"))
    result = await stage.play(script, sources=[counting_graph()])
    assert result.invocations[0].text == "four"
    assert result.usage_by_role["tools"].total_tokens == 100
    from habilis.models.tape import Tape

    (tape,) = (stage.root / "run").rglob("tape.jsonl")
    assert Tape(tape).paid()["tools"].total_tokens == 100


async def test_a_graph_that_costs_too_much_ends_the_task_within_its_budget(stage: Stage) -> None:
    script = Script([calling(call("ask_expert", {"text": "2+2?"}, "a")), "4"], plan("ask_expert"))
    result = await stage.play(script, "limits.max_tokens=500000", sources=[counting_graph(1_000_000)])
    assert result.status == "budget"


async def test_another_team_is_a_tool_with_runs_of_its_own(stage: Stage) -> None:
    inner_script = Script(["Oslo."], answers=({"final_answer": "Oslo", "reasoning_summary": ""},))
    inner = Team(
        load_settings(overrides=[f"runs_dir={stage.root / 'inner'}"], environ={}), clients=stage.clients(inner_script)
    )
    script = Script(
        [calling(call("geographer", {"question": "The capital of Norway? See /etc/passwd"}, "a")), "Oslo"],
        plan("geographer"),
    )
    result = await stage.play(script, sources=[TeamTool(inner, "geographer", "Knows places.")])
    assert result.invocations[0].text == "Oslo"
    assert result.usage_by_role["tools"].model_calls >= 3
    assert result.status == "answered"
    (task,) = (stage.root / "inner").rglob("task.json")
    assert "passwd" in task.read_text()
    assert '"path": "/etc/passwd"' not in task.read_text()


async def test_agents_that_ask_each_other_come_to_an_end(stage: Stage) -> None:
    script = Script([calling(call("myself", {"question": "You?"}, "a")), "Done."], plan("myself"))
    settings = load_settings(overrides=[f"runs_dir={stage.root / 'inner'}"], environ={})
    team = Team(settings, clients=lambda *_: ScriptedModel(script=_fresh(script)))
    team.sources.append(NamedSource("me", TeamTool(team, "myself", "Asks itself."), prefix=False))
    result = await team.run("Ask yourself.", run_dir=stage.root / "outer")
    assert result.status == "answered"
    assert len(list((stage.root / "inner").rglob("result.json"))) == 3


def _fresh(script: Script) -> Any:
    """Plays `script` for each team anew: by whether a result stands in the conversation already."""

    def said(messages: list[Any], tools: list[Any], form: Any) -> Any:
        kind = script.kind_of(str(messages[-1].content), str(messages[0].content))
        if kind != "steps":
            return getattr(script, kind)[0]
        return script.steps[1 if any(message.type == "tool" for message in messages) else 0]

    return said
