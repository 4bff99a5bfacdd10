"""What a user would lose: an agent of their own that asks Habilis for the next calls, and runs them itself."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from habilis.core.errors import UserError
from habilis.core.types import Decision
from habilis.sources.python.langchain import LangChainTools

from .conftest import Reply, Stage, call, calling, tool_source

ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    },
}


async def decide(stage: Stage, *replies: Reply, **options: Any) -> tuple[Decision, list[Any]]:
    asked: list[Any] = []

    def play(messages: list[Any], tools: list[Any], form: Any) -> Reply:
        asked.append((messages, tools))
        return replies[len(asked) - 1]

    team = stage.team(play, *options.pop("settings", ()))
    return await team.decide(options.pop("question", None), base=stage.root, **options), asked


async def test_calls_are_given_out_and_their_results_taken_in_by_id(stage: Stage) -> None:
    two = calling(call("add", {"x": 1}, "a"), call("add", {"x": 2}, "b"), text="Both.")
    first, asked = await decide(stage, two, question="Add.", tools=[ADD], run_dir=stage.root / "run")
    assert first.status == "calls"
    assert [(one.id, one.name, one.arguments) for one in first.calls] == [
        ("a", "add", {"x": 1}),
        ("b", "add", {"x": 2}),
    ]
    assert [tool["function"]["name"] for tool in asked[0][1]] == ["add"]
    results = {"b": {"sum": 3}, "a": "two"}
    second, asked = await decide(stage, AIMessage("2 and 3."), run_dir=stage.root / "run", results=results)
    assert (second.status, second.answer) == ("answered", "2 and 3.")
    texts = {message.tool_call_id: message.content for message in asked[0][0] if message.type == "tool"}
    assert texts == {"a": "two", "b": '{"sum": 3}'}
    assert [message.type for message in asked[0][0]] == ["system", "human", "ai", "tool", "tool"]
    assert [row["role"] for row in second.conversation] == ["user", "assistant", "tool", "tool", "assistant"]


async def test_open_calls_are_named_and_no_model_is_asked(stage: Stage) -> None:
    two = calling(call("add", {"x": 1}, "a"), call("add", {"x": 2}, "b"))
    await decide(stage, two, question="Add.", tools=[ADD], run_dir=stage.root / "run")
    half, asked = await decide(stage, run_dir=stage.root / "run", results={"a": 2})
    assert (half.status, half.pending, asked) == ("unanswered", ("b",), [])
    rest, _ = await decide(stage, AIMessage("Done."), run_dir=stage.root / "run", results={"b": 3})
    assert rest.status == "answered"


async def test_a_result_without_a_call_is_kept_as_a_note(stage: Stage) -> None:
    rows = [{"role": "user", "content": "Add."}]
    decision, asked = await decide(stage, AIMessage("Done."), conversation=rows, results={"zz": 5}, tools=[ADD])
    assert decision.status == "answered"
    assert "zz" in asked[0][0][-1].content
    assert "5" in asked[0][0][-1].content


async def test_a_conversation_of_anthropics_goes_on(stage: Stage) -> None:
    rows = [
        {"role": "user", "content": "Add."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"x": 1}}]},
    ]
    decision, asked = await decide(stage, AIMessage("2."), conversation=rows, results={"toolu_1": 2}, tools=[ADD])
    assert decision.answer == "2."
    assert asked[0][0][-1].tool_call_id == "toolu_1"


async def test_wrong_calls_are_corrected_before_they_are_given_out(stage: Stage) -> None:
    wrong = calling(call("add", {"y": 1}, "a"), call("subtract", {"x": 1}, "b"))
    good = calling(call("add", {"x": 1}, "c"))
    decision, asked = await decide(stage, wrong, good, question="Add.", tools=[ADD])
    assert [one.id for one in decision.calls] == ["c"]
    told = "\n".join(str(message.content) for message in asked[1][0] if message.type == "tool")
    assert "missing required parameters: x" in told
    assert "There is no tool 'subtract'" in told
    assert [row["role"] for row in decision.conversation] == ["user", "assistant"]


async def test_a_model_that_never_gets_it_right_is_given_up_with_the_reason(stage: Stage) -> None:
    wrong = [calling(call("add", {"y": 1}, f"a{n}")) for n in range(3)]
    decision, asked = await decide(stage, *wrong, question="Add.", tools=[ADD])
    assert (decision.status, decision.calls, len(asked)) == ("gave_up", (), 3)
    assert "unknown parameters: y" in (decision.error or "")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (AIMessage(" "), "empty reply"),
        (AIMessage("It is th", response_metadata={"finish_reason": "length"}), "cut off"),
    ],
)
async def test_half_an_answer_or_none_is_not_given_out_as_one(stage: Stage, reply: AIMessage, said: str) -> None:
    decision, _ = await decide(stage, reply, question="Add.", tools=[ADD])
    assert decision.status == "gave_up"
    assert said in (decision.error or "")


@pytest.mark.parametrize("refusal", ["I cannot answer this.", "The answer could not be found.", "Das kann ich nicht."])
async def test_a_refusal_is_not_given_out_as_an_answer(stage: Stage, refusal: str) -> None:
    refusal = refusal.replace("Das kann ich", "Ich kann das")
    decision, _ = await decide(stage, refusal, question="Why is the sky blue?", tools=[ADD])
    assert (decision.status, decision.answer) == ("gave_up", refusal)
    assert "could not answer" in (decision.error or "")
    assert decision.conversation[-1]["content"] == refusal, "it can be gone on with"


async def test_what_a_result_says_of_itself_is_told_as_an_answer(stage: Stage) -> None:
    step, _ = await decide(stage, calling(call("add", {"x": 1}, "a")), question="What does add say?", tools=[ADD])
    said = "It says: the value could not be determined."
    results = {step.calls[0].id: "the value could not be determined"}
    told, _ = await decide(stage, said, conversation=step.conversation, results=results, tools=[ADD])
    assert (told.status, told.answer) == ("answered", said)


async def test_without_tools_given_the_librarys_are_offered(stage: Stage) -> None:
    stage.add("double", tool_source("double", "return OutputModel(result=input.x * 2)", description="Doubles x."))
    decision, asked = await decide(stage, calling(call("double", {"x": 4}, "a")), question="Double 4.")
    assert decision.calls[0].name == "double"
    assert [tool["function"]["name"] for tool in asked[0][1]] == ["double"]


class Counted:
    """A source of one function that notes when it is opened and closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    async def open(self) -> Any:
        self.opened += 1
        return await LangChainTools([triple]).open()

    async def aclose(self) -> None:
        self.closed += 1


def triple(x: int) -> int:
    """Triples a number."""
    raise AssertionError("nothing is run while it is only decided")


async def test_tools_of_sources_are_offered_beside_the_librarys_and_kept_for_the_conversation(stage: Stage) -> None:
    stage.add("double", tool_source("double", "return OutputModel(result=input.x * 2)", description="Doubles x."))
    source, both = Counted(), calling(call("api_triple", {"x": 4}, "a"), call("double", {"x": 4}, "b"))
    offered: list[set[str]] = []

    def play(messages: list[Any], tools: list[Any], form: Any) -> Reply:
        offered.append({tool["function"]["name"] for tool in tools})
        return both if len(offered) == 1 else AIMessage("12 and 8.")

    team = stage.team(play, sources={"api": source})
    first = await team.decide("Triple 4 and double it.", base=stage.root, run_dir=stage.root / "run")
    assert [one.name for one in first.calls] == ["api_triple", "double"]
    second = await team.decide(run_dir=stage.root / "run", results={"a": 12, "b": 8})
    assert second.answer == "12 and 8."
    assert offered == [{"api_triple", "double"}] * 2
    assert (source.opened, source.closed) == (1, 1), "the conversation keeps what it began with"


async def test_wrong_calls_of_a_sources_tool_are_corrected_too(stage: Stage) -> None:
    replies = iter([calling(call("triple", {"y": 4}, "a")), calling(call("triple", {"x": 4}, "b"))])
    team = stage.team(lambda *_: next(replies), sources=[LangChainTools([triple])])
    decision = await team.decide("Triple 4.", base=stage.root)
    assert [(one.id, one.arguments) for one in decision.calls] == [("b", {"x": 4})]


async def test_a_folder_where_the_first_step_failed_is_no_dead_end(stage: Stage) -> None:
    with pytest.raises(UserError, match="there is no tool to decide for"):
        await decide(stage, question="Add.", run_dir=stage.root / "run")
    decision, _ = await decide(stage, AIMessage("2."), question="Add.", tools=[ADD], run_dir=stage.root / "run")
    assert decision.answer == "2."
    with pytest.raises(UserError, match="already holds a task"):
        await decide(stage, question="Add.", tools=[ADD], run_dir=stage.root / "run")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"question": "Add."}, "there is no tool to decide for"),
        ({"question": "Add.", "tools": [{"function": {}}]}, "tool 1 is not a function schema"),
        ({"question": "Add.", "tools": [ADD, ADD]}, "two tools are named add"),
        ({"question": " ", "tools": [ADD]}, "the question is empty"),
        ({"tools": [ADD]}, "give a question"),
    ],
)
async def test_what_a_person_must_mend_is_said_first(stage: Stage, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        await decide(stage, **options)


async def test_a_conversation_of_decisions_is_not_resumed_as_a_task(stage: Stage) -> None:
    await decide(stage, AIMessage("Done."), question="Add.", tools=[ADD], run_dir=stage.root / "run")
    with pytest.raises(UserError, match="holds a run of --decide"):
        await stage.team(lambda *_: "x").resume(stage.root / "run")
