"""The executor's loop: what a user would lose if a round, a result or an end went wrong."""

import contextlib
import errno
import sqlite3
from typing import Any, NoReturn

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.core.events import Event
from habilis.core.types import TaskResult
from habilis.models.tape import Tape
from habilis.sandbox.backends import bubblewrap, landlock
from habilis.sandbox.zygote import spawning

from .conftest import Script, Stage, call, calling, tool_source

DOUBLE = tool_source("double", "return OutputModel(result=input.x * 2)", effects="pure")
PLAN = ({"required_tool_names": ["double"], "tool_usage_guidance": "call double"},)


def tool_texts(script: Script, nth: int = -1) -> dict[str, str]:
    """Results by call id, as the model saw them in its nth step."""
    messages, _ = script.of("steps")[nth]
    return {m.tool_call_id: str(m.content) for m in messages if isinstance(m, ToolMessage)}


async def test_a_tool_is_called_and_its_result_reaches_the_answer(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script([calling(call("double", {"x": 21}, "a")), "It is 42."], PLAN)
    result = await stage.play(script)
    assert (result.status, result.final_answer, result.rounds) == ("answered", "42", 1)
    assert tool_texts(script) == {"a": '{"result": 42, "error": null}'}
    assert result.tools_used == ("double",)
    assert result.invocations[0].outcome.output == {"result": 42, "error": None}
    assert [t.position for t in stage.sink.of("thought") if t.stage == "replied"] == [1, 2]


async def test_the_system_prompt_stands_in_front_once_and_the_task_is_never_repeated(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script([calling(call("double", {"x": 1}, "a")), calling(call("double", {"x": 2}, "b")), "Done."], PLAN)
    await stage.play(script)
    for messages, _ in script.of("steps"):
        assert isinstance(messages[0], SystemMessage)
        assert sum(isinstance(m, SystemMessage) for m in messages) == 1
        assert sum("<question>" in str(m.content) for m in messages) == 1


async def test_two_calls_of_one_tool_in_one_round_both_count(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script([calling(call("double", {"x": 1}, "a"), call("double", {"x": 2}, "b")), "Done."], PLAN)
    result = await stage.play(script)
    assert tool_texts(script) == {"a": '{"result": 2, "error": null}', "b": '{"result": 4, "error": null}'}
    assert [call.call_id for call in result.invocations] == ["a", "b"]


async def test_calls_that_write_run_in_their_order(stage: Stage) -> None:
    body = (
        "with open('log.txt', 'a') as f:\n    f.write(f'{input.x} ')\nreturn OutputModel(result=open('log.txt').read())"
    )
    stage.add("note", tool_source("note", body, effects="writes"))
    calls = [call("note", {"x": n}, f"c{n}") for n in range(4)]
    script = Script([calling(*calls), "Done."], ({"required_tool_names": ["note"]},))
    result = await stage.play(script)
    assert [i.outcome.output["result"] for i in result.invocations] == ["0 ", "0 1 ", "0 1 2 ", "0 1 2 3 "]
    assert result.files[0].endswith("workspace/log.txt")


async def test_ids_that_the_model_repeats_are_told_apart(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [calling(call("double", {"x": 1}, "call_0")), calling(call("double", {"x": 2}, "call_0")), "Done."]
    result = await stage.play(Script(steps, PLAN))
    assert [i.outcome.output["result"] for i in result.invocations] == [2, 4]
    assert len({i.call_id for i in result.invocations}) == 2


async def test_the_last_round_gets_no_tools_and_sees_the_last_results(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [calling(call("double", {"x": n}, f"c{n}")) for n in range(2)]
    script = Script([*steps, "It is 2."], PLAN)
    result = await stage.play(script, "limits.max_rounds=2")
    messages, tools = script.of("steps")[-1]
    assert tools == []
    assert "No tool calls are left" in str(messages[-1].content)
    assert "c1" in tool_texts(script)
    assert result.status == "answered"
    assert result.round_limit_reached


async def test_out_of_rounds_without_an_answer_hands_a_summary_to_the_next_plan(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [calling(call("double", {"x": 1}, "a")), "", "Now I know: 2."]
    script = Script(steps, PLAN, summaries=["Found 2.\nMissing capabilities:\n- read_a_page"])
    result = await stage.play(script, "limits.max_rounds=1")
    second_plan = str(script.of("plans")[1][0][-1].content)
    assert "read_a_page" in second_plan
    assert "round limit" in second_plan
    messages, _ = script.of("steps")[2]
    assert "## Context Summary" in str(messages[2].content)
    assert "round limit" in str(messages[-1].content)
    assert (result.status, result.attempts) == ("answered", 2)


async def test_wrong_calls_are_corrected_together_before_anything_runs(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    wrong = calling(call("double", {"x": "much"}, "a"), call("triple", {"x": 1}, "b"), call("double", {"x": 3}, "c"))
    script = Script([wrong, calling(call("double", {"x": 5}, "d")), "Done."], PLAN)
    result = await stage.play(script)
    texts = tool_texts(script, 1)
    assert "x" in texts["a"]
    assert "triple" in texts["b"]
    assert "double" in texts["b"]
    assert texts["c"].startswith("Not run")
    assert [i.call_id for i in result.invocations] == ["d"]
    assert result.rounds == 1
    assert not any(isinstance(m, ToolMessage) and m.tool_call_id == "a" for m in script.of("steps")[-1][0])


async def test_a_call_that_is_never_right_ends_as_an_error_result(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    wrong = calling(call("double", {"y": 1}, "a"))
    script = Script([wrong, wrong, wrong, "I could not."], PLAN)
    result = await stage.play(script)
    assert result.invocations[0].outcome.error is not None
    assert result.invocations[0].outcome.error.kind == "invalid_arguments"
    assert "y" in next(iter(tool_texts(script).values()))


async def test_tool_failures_are_told_to_the_model_and_the_loop_goes_on(stage: Stage) -> None:
    stage.add("boom", tool_source("boom", "raise ValueError('no such unit')"))
    script = Script(
        [calling(call("boom", {"x": 1}, "a")), "It failed: no such unit."], ({"required_tool_names": ["boom"]},)
    )
    result = await stage.play(script, "tools.synthesis=false")
    messages, _ = script.of("steps")[-1]
    failed = next(m for m in messages if isinstance(m, ToolMessage))
    assert failed.status == "error"
    assert "no such unit" in str(failed.content)
    assert result.status == "answered"


async def test_an_empty_reply_is_dropped_and_nudged_then_rolled_back_then_an_honest_end(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script([calling(call("double", {"x": 1}, "a")), ""], PLAN)
    result = await stage.play(script, "limits.max_attempts=1")
    steps = script.of("steps")
    assert str(steps[2][0][-1].content).startswith("Your last reply was empty")
    assert "a" in tool_texts(script, 2)
    assert "a" not in tool_texts(script, 3)
    assert len(steps) == 1 + 3
    assert result.status == "gave_up"
    assert result.error is not None
    assert "empty" in result.error


async def test_empty_replies_between_calls_end_after_ten_in_all(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [reply for n in range(12) for reply in (calling(call("double", {"x": n}, f"c{n}")), "")]
    result = await stage.play(Script(steps, PLAN), "limits.max_rounds=-1", "limits.max_attempts=1")
    emptied = [event.reason for event in stage.sink.of("rolled_back")]
    assert emptied == [f"empty reply, number {n + 1}" for n in range(11)]
    assert "empty" in (result.error or "")


async def test_results_of_calls_that_write_are_not_rolled_away(stage: Stage) -> None:
    stage.add("note", tool_source("note", "open('x', 'w').write('1')\nreturn OutputModel(result=1)", effects="writes"))
    script = Script([calling(call("note", {"x": 1}, "a")), "", "", "Written."], ({"required_tool_names": ["note"]},))
    await stage.play(script)
    assert "a" in tool_texts(script)


async def test_a_thinking_only_reply_is_empty(stage: Stage) -> None:
    thinking = AIMessage([{"type": "thinking", "thinking": "hm"}])
    script = Script([thinking, "Paris."])
    result = await stage.play(script)
    assert len(script.of("steps")) == 2
    assert result.status == "answered"


async def test_the_same_pure_call_is_answered_from_the_record_then_stopped(stage: Stage) -> None:
    stage.add("look", tool_source("look", "return OutputModel(result=1)", effects="pure"))
    steps = [calling(call("look", {"x": 1}, f"c{n}")) for n in range(4)]
    script = Script([*steps, "It is 1."], ({"required_tool_names": ["look"]},))
    result = await stage.play(script)
    assert len(stage.sink.of("tool_call_started")) == 1
    assert "Warning" in tool_texts(script)["c1"]
    assert "not run" in tool_texts(script)["c3"]
    assert script.of("steps")[-1][1] == []
    assert result.status == "answered"
    assert [e.reused for e in stage.sink.of("tool_call_ended")] == [False, True, True, False]


async def test_rounds_in_which_all_fails_end_with_one_answer_without_tools(stage: Stage) -> None:
    stage.add("boom", tool_source("boom", "raise ValueError('no')"))
    steps = [calling(call("boom", {"x": n}, f"c{n}")) for n in range(3)]
    script = Script([*steps, "All calls failed."], ({"required_tool_names": ["boom"]},))
    result = await stage.play(script, "tools.synthesis=false", "limits.max_attempts=1")
    assert len(script.of("steps")) == 4
    assert script.of("steps")[-1][1] == []
    assert (result.status, result.review and result.review.by) == ("gave_up", "no call succeeded")
    assert not script.of("answers"), "nothing ran, so there is nothing that a model could word"
    assert stage.sink.of("execution_ended")[0].stop == "failing"


async def test_finish_task_ends_with_its_answer_and_the_other_calls_count(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    step = calling(call("double", {"x": 4}, "a"), call("finish_task", {"answer": "It is 8."}, "f"))
    script = Script([step], PLAN)
    result = await stage.play(script, "tools.finish_task=true")
    assert result.status == "answered"
    assert len(result.invocations) == 1
    assert "It is 8." in str(script.of("answers")[0][0][-1].content)


async def test_a_question_to_the_user_waits_after_the_other_calls_and_goes_on_with_the_answer(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    step = calling(call("ask_user", {"question": "Which unit?"}, "q"), call("double", {"x": 4}, "a"))
    script = Script([step, "In metres: 8."], PLAN)
    team = stage.team(script)
    waiting = await team.run("How long?", run_dir=stage.root / "run", base=stage.root)
    assert (waiting.status, waiting.question_asked) == ("waiting", "Which unit?")
    result = await stage.team(script).resume(stage.root / "run", answer="metres")
    assert result.status == "answered"
    assert tool_texts(script) == {"a": '{"result": 8, "error": null}', "q": "metres"}
    assert len(script.of("plans")) == 1
    assert len([e for e in stage.sink.of("tool_call_started") if e.call_id == "a"]) == 1


async def test_someone_at_the_terminal_answers_at_once(stage: Stage) -> None:
    async def asker(question: str) -> str:
        return f"answer to {question}"

    script = Script([calling(call("ask_user", {"question": "Which?"}, "q")), "Done."])
    result: TaskResult = await stage.play(script, asker=asker)
    assert result.status == "answered"
    assert tool_texts(script) == {"q": "answer to Which?"}


@pytest.mark.parametrize(
    ("words", "limit"), [(400, "models.basic.token_limit=1500"), (40_000, "limits.max_result_tokens=50000")]
)
async def test_a_history_over_the_limit_is_folded_and_the_task_stays(stage: Stage, words: int, limit: str) -> None:
    stage.add("speak", tool_source("speak", f"return OutputModel(result='word ' * {words})"))
    steps: list[Any] = [calling(call("speak", {"x": n}, f"c{n}")) for n in range(3)]
    script = Script([*steps, "Done."], ({"required_tool_names": ["speak"]},), summaries=["kept: path/a.csv"])
    await stage.play(script, limit)
    messages, _ = script.of("steps")[-1]
    assert "<question>" in str(messages[1].content)
    assert any("kept: path/a.csv" in str(m.content) for m in messages if isinstance(m, HumanMessage))
    calls = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    assert calls == {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    assert stage.sink.of("summarised")


async def test_half_a_sentence_is_no_answer(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    cut = AIMessage("The average of the", response_metadata={"finish_reason": "length"})
    script = Script([calling(call("double", {"x": 1}, "a")), cut, cut, "It is 2."], PLAN)
    result = await stage.play(script)
    assert "cut off" in str(script.of("steps")[-1][0][-1].content)
    assert "a" in tool_texts(script)
    assert result.status == "answered"
    assert "It is 2." in str(script.of("answers")[0][0][-1].content)


async def test_checkpoints_do_not_grow_with_the_square_of_the_rounds(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [calling(call("double", {"x": n}, f"c{n}")) for n in range(12)]
    await stage.play(Script([*steps, "Done."], PLAN), "limits.max_rounds=20")
    with contextlib.closing(sqlite3.connect(stage.root / "run" / "tasks" / "task" / "checkpoints.sqlite")) as database:
        by_graph = database.execute("SELECT count(*) FROM checkpoints GROUP BY checkpoint_ns").fetchall()
    assert by_graph == [(1,), (1,)]


async def no_zygote(*_: object) -> NoReturn:
    raise spawning.ZygoteGone(errno.ECHILD, "none starts")


class _WithoutSandbox:
    """Takes the sandbox away as the first call begins, and brings it back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = monkeypatch

    def emit(self, event: Event) -> None:
        if event.kind == "tool_call_started":
            self.place.setattr(bubblewrap.Bubblewrap, "_walls", lambda *_: ["/no/such/bwrap"])
            self.place.setattr(landlock.Landlock, "_policy", lambda *_: {"uid": -7})
            self.place.setattr(spawning.Nursery, "_spawned", no_zygote)


@pytest.mark.parametrize("ran", [False, True])
async def test_a_call_that_writes_is_made_after_a_resume_where_it_had_not_started(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, ran: bool
) -> None:
    """Told apart from one that may have written: nobody has to look for traces of a call that only waited."""
    body = "open('x', 'a').write('1')\nreturn OutputModel(result=1)"
    stage.add("note", tool_source("note", body, effects="writes"))
    script = Script([calling(call("note", {"x": 1}, "a")), "It is 1."], ({"required_tool_names": ["note"]},))
    task = stage.root / "run" / "tasks" / "task"
    with monkeypatch.context() as place:
        stage.sink.emit, recorded = _WithoutSandbox(place).emit, stage.sink.emit  # type: ignore[method-assign]
        ended = await stage.play(script, "sandbox.warm=false")
        stage.sink.emit = recorded  # type: ignore[method-assign]
    assert ended.status == "environment_error"
    if ran:
        tape = Tape(task / "tape.jsonl")
        tape.call_started("a", "note", "writes")
        tape.close()
    result = await stage.team(script, "sandbox.warm=false").resume(stage.root / "run")
    (made,) = result.invocations
    assert (made.outcome.error and made.outcome.error.kind) == ("interrupted" if ran else None)
    assert (task / "workspace" / "x").exists() is not ran
