"""Replies that run on, in the whole of a task. What a user would lose: half a sentence taken for the answer, the long
report that was asked for, or an hour of a model that never ends."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from .conftest import Script, Stage, call, calling, tool_source

DOUBLE = tool_source("double", "return OutputModel(result=input.x * 2)", effects="pure")
PLAN = ({"required_tool_names": ["double"]},)
STEP = calling(call("double", {"x": 21}, "a"))


def cut(text: str, tokens: int = 1024) -> AIMessage:
    usage: Any = {"input_tokens": 1, "output_tokens": tokens, "total_tokens": tokens + 1}
    return AIMessage(text, response_metadata={"finish_reason": "length"}, usage_metadata=usage)


def looped() -> AIMessage:
    return AIMessage("It is 42, I think. " * 400)


@pytest.mark.parametrize(
    ("reply", "parts"), [(cut("The result is 42, and the"), 3), (looped(), 1)], ids=["cut", "looped"]
)
async def test_a_model_that_runs_on_is_told_so_and_ended_at_the_third_time(
    stage: Stage, reply: AIMessage, parts: int
) -> None:
    stage.add("double", DOUBLE)
    script = Script([STEP, reply], PLAN)
    result = await stage.play(script, "limits.max_attempts=1")
    assert result.status == "gave_up"
    assert "limits.reply_tokens" in str(result.error)
    assert len(script.of("steps")) == 1 + parts + 2
    told = str(script.of("steps")[1 + parts][0][-1].content)
    assert told.startswith(("Your last reply was cut off at 1,024 tokens.", "Your last reply repeated itself"))
    assert script.of("reviews") == [], "half an answer is shown to no judge"


async def test_the_reply_behind_the_last_round_is_no_answer_either_where_it_is_cut(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script([STEP, cut("The result is 42, and the")], PLAN)
    limits = ("limits.max_rounds=1", "limits.max_attempts=1")
    result = await stage.play(script, *limits)
    assert result.status == "gave_up"
    assert script.of("reviews") == []


async def test_a_long_finding_is_put_together_and_judged_whole(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    parts = ["The double of 21 is 42. This follows from", "follows from the call of double alone."]
    script = Script([STEP, cut(parts[0]), parts[1]], PLAN, answers=({"final_answer": "42"},))
    result = await stage.play(script)
    assert result.status == "answered"
    whole = "The double of 21 is 42. This follows from the call of double alone."
    assert whole in str(script.of("reviews")[0][0][-1].content)


async def test_a_module_that_is_cut_is_written_again(stage: Stage) -> None:
    wanted = {"name": "double", "description": "Do it.", "parameters": [{"name": "x", "type": "integer"}]}
    whole = f"```python\n{DOUBLE}```\n```json\n{{}}\n```"
    half = cut(f"```python\n{DOUBLE[:200]}", 2048)
    script = Script([STEP, "It is 42."], ({"tool_requests": [wanted]},), codes=[half, whole])
    await stage.play(script, "limits.max_attempts=1")
    rejected = stage.sink.of("tool_rejected")
    assert "cut off at 2,048 tokens (limits.code_tokens)" in rejected[0].reason
    assert "Write a shorter module" in str(script.of("codes")[1][0][-1].content)


async def test_a_summary_that_is_cut_is_used_up_to_its_last_sentence(stage: Stage) -> None:
    stage.add("speak", tool_source("speak", "return OutputModel(result='word ' * 40_000)"))
    steps: list[Any] = [calling(call("speak", {"x": n}, f"c{n}")) for n in range(3)]
    plan = ({"required_tool_names": ["speak"]},)
    script = Script([*steps, "Done."], plan, summaries=[cut("kept: path/a.csv. The next thing that was")])
    await stage.play(script, "limits.max_result_tokens=50000")
    folded = [str(m.content) for m in script.of("steps")[-1][0]]
    assert any("kept: path/a.csv." in text for text in folded)
    assert not any("The next thing" in text for text in folded)
