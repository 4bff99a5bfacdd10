"""What a user would lose: a small model's work, because it writes its calls into the text or reasons in plain text."""

import pytest
from langchain_core.messages import AIMessage

from .conftest import Script, Stage, call, calling, tool_source

DOUBLE = tool_source("double", "return OutputModel(result=input.x * 2)")
PLAN = [{"required_tool_names": ["double"]}]


@pytest.mark.parametrize(
    "written",
    [
        "I double it.\ndouble(x=21)",
        "double(21)",
        '```json\n{"name": "double", "arguments": {"x": 21}}\n```',
        '<tool_call>\n{"name": "double", "arguments": {"x": 21}}\n</tool_call>',
    ],
)
async def test_a_call_written_as_text_is_run_like_any_other(stage: Stage, written: str) -> None:
    stage.add("double", DOUBLE)
    result = await stage.play(Script([written, "It is 42."], PLAN))
    assert result.status == "answered"
    (ran,) = result.invocations
    assert (ran.tool, ran.arguments, ran.outcome.error) == ("double", {"x": 21}, None)


async def test_a_written_call_that_cannot_be_read_is_told_and_corrected_and_nothing_runs(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script(["double(x=much)", "For example:\ndouble(x=1)", "double(x='I')", "double(x=21)", "It is 42."], PLAN)
    result = await stage.play(script)
    assert [ran.arguments for ran in result.invocations] == [{"x": 21}]
    last = [str(messages[-1].content) for messages, _ in script.of("steps")]
    assert "the value of x must be text in quotes, a number" in last[1]
    assert "an example" in last[2]
    assert "x must be integer" in last[3]


async def test_an_answer_that_speaks_of_a_call_is_an_answer(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script(
        [calling(call("double", {"x": 21})), "I ran double(x=21):\n\n    double(x=21)\n\nIt gave 42."], PLAN
    )
    result = await stage.play(script)
    assert (result.status, result.tool_calls) == ("answered", 1)


async def test_reasoning_as_text_goes_through_the_same_rounds(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script(
        [
            "I am thinking about how to help you",
            "Thought: I double it.\nAction: doubel\nAction Input: {}",
            'Thought: I double it.\nAction: double\nAction Input: {"x": 21}\nObservation: 7\nFinal Answer: 7',
            AIMessage("Thought: There it is.\nFinal Answer: It is 42."),
        ],
        PLAN,
    )
    result = await stage.play(script, "models.basic.strategy=react_text")
    assert result.status == "answered"
    assert [(ran.tool, ran.arguments) for ran in result.invocations] == [("double", {"x": 21})]
    asked = script.of("steps")
    assert all(not tools for _, tools in asked)
    assert "neither an action nor a final answer" in str(asked[1][0][-1].content)
    assert "did you mean double?" in str(asked[2][0][-2].content)
    assert 'Observation: {"result": 42' in str(asked[3][0][-2].content).replace("\n", " ")


async def test_the_last_round_as_text_has_no_tools_and_its_answer_counts(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    act = 'Thought: t\nAction: double\nAction Input: {"x": 21}'
    script = Script([act, "Final Answer: It is 42."], PLAN)
    result = await stage.play(script, "models.basic.strategy=react_text", "limits.max_rounds=1")
    assert (result.status, result.round_limit_reached) == ("answered", True)
    assert "There are no tools now" in str(script.of("steps")[-1][0][0].content)


ACT = 'Thought: The task requires doubling.\nAction: double\nAction Input: {"x": 21}'
CALL = '{"name": "double", "arguments": {"x": 21}}'


@pytest.mark.parametrize(
    ("strategy", "act", "answer"),
    [("react_text", ACT, "Final Answer: It is 42."), ("function_call", CALL, "It is 42.")],
)
async def test_a_call_where_none_is_left_is_told_and_its_thought_is_no_answer(
    stage: Stage, strategy: str, act: str, answer: str
) -> None:
    stage.add("double", DOUBLE)
    script = Script([act, act, answer], PLAN)
    result = await stage.play(script, f"models.basic.strategy={strategy}", "limits.max_rounds=1")
    assert result.status == "answered"
    assert "no tool calls are left" in str(script.of("steps")[-1][0][-1].content)
    assert "<answer>\nIt is 42.\n" in str(script.of("reviews")[0][0][-1].content)


@pytest.mark.parametrize(("strategy", "act"), [("react_text", ACT), ("function_call", CALL)])
async def test_a_model_that_only_calls_is_out_of_rounds_and_not_believed(stage: Stage, strategy: str, act: str) -> None:
    stage.add("double", DOUBLE)
    script = Script([act], PLAN, summaries=["Nothing was concluded."])
    limits = ["limits.max_rounds=1", "limits.max_attempts=1"]
    result = await stage.play(script, f"models.basic.strategy={strategy}", *limits)
    assert result.status == "gave_up"
    assert script.of("reviews") == []
    assert "without an answer" in (result.error or "")
