"""What the manager may call an answer, and what a task's result may say of itself."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from habilis import Team
from habilis.core.errors import BudgetReached, ModelUnreachable

from .conftest import Script, Stage, call, calling, tool_source

DOUBLE = tool_source("double", "return OutputModel(result=input.x * 2)", effects="pure")
PLAN = ({"required_tool_names": ["double"]},)
RETRY: dict[str, Any] = {"status": "RETRY", "reason": "no conclusion"}
FINISH: dict[str, Any] = {"status": "FINISH", "reason": "fine"}


async def test_an_empty_answer_is_refused_without_asking_a_judge(stage: Stage) -> None:
    script = Script([""], reviews=())
    result = await stage.play(script, "limits.max_attempts=2")
    assert (result.status, result.final_answer) == ("gave_up", "No result was found.")
    assert result.attempts == 2
    assert script.of("reviews") == []


async def test_a_refused_answer_comes_back_with_its_reason_last(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script(["Perhaps.", calling(call("double", {"x": 1}, "a")), "It is 2."], PLAN, reviews=[RETRY, FINISH])
    result = await stage.play(script)
    messages, _ = script.of("steps")[1]
    assert isinstance(messages[-1], HumanMessage)
    assert "no conclusion" in str(messages[-1].content)
    assert str(messages[2].content) == "Perhaps."
    assert "no conclusion" in str(script.of("plans")[1][0][-1].content)
    assert (result.status, result.attempts) == ("answered", 2)


async def test_the_judge_sees_which_tools_ran_and_what_they_gave(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    script = Script([calling(call("double", {"x": 21}, "a")), "It is 42."], PLAN)
    await stage.play(script)
    seen = str(script.of("reviews")[0][0][-1].content)
    assert 'double({"x": 21}) -> {"result": 42' in seen


async def test_after_the_last_attempt_the_best_text_stands_and_the_status_is_honest(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [x for n in range(3) for x in (calling(call("double", {"x": n}, f"c{n}")), f"Perhaps {n}.")]
    script = Script(steps, PLAN, reviews=[RETRY])
    result = await stage.play(script, "limits.max_attempts=3")
    assert (result.status, result.attempts) == ("gave_up", 3)
    assert result.error == "no conclusion"
    assert "Perhaps 2." in str(script.of("answers")[0][0][-1].content)


async def test_a_team_that_only_repeats_itself_stops_early(stage: Stage) -> None:
    script = Script(["I do not know."], reviews=[RETRY])
    result = await stage.play(script)
    assert (result.status, result.attempts) == ("gave_up", 2)


async def test_an_accepted_answer_with_a_failing_integrator_is_no_success(stage: Stage) -> None:
    script = Script(["It is 42."], answers=["no JSON at all"])
    result = await stage.play(script)
    assert (result.status, result.final_answer) == ("gave_up", "It is 42.")
    assert result.error is not None
    assert result.error.startswith("integrator")


async def test_an_integrator_that_says_nothing_is_no_success(stage: Stage) -> None:
    result = await stage.play(Script(["It is 42."], answers=[{"final_answer": " "}]))
    assert (result.status, result.final_answer) == ("gave_up", "It is 42.")


async def test_a_judge_that_talks_rubbish_never_accepts(stage: Stage) -> None:
    result = await stage.play(Script(["It is 42."], reviews=["well, maybe"]), "limits.max_attempts=1")
    assert result.status == "gave_up"
    assert result.error is not None
    assert "review" in result.error


async def test_a_plan_that_cannot_be_read_leaves_the_executor_to_try(stage: Stage) -> None:
    result = await stage.play(Script(["Paris."], plans=["rubbish"]))
    assert result.status == "answered"


@pytest.mark.parametrize(
    ("error", "status"),
    [(ModelUnreachable("401"), "unreachable"), (BudgetReached("tokens"), "budget"), (RuntimeError("bug"), "crashed")],
)
async def test_no_error_is_dressed_as_an_answer(stage: Stage, error: Exception, status: str) -> None:
    result = await stage.play(Script([error]))
    assert result.status == status
    assert result.error
    assert result.final_answer == "No result was found."


async def test_work_done_before_an_error_is_kept(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [calling(call("double", {"x": 1}, "a")), "First thought: 2.", RuntimeError("bug")]
    result = await stage.play(Script(steps, PLAN, reviews=[RETRY]))
    assert (result.status, result.final_answer) == ("crashed", "First thought: 2.")
    assert len(result.invocations) == 1


async def test_a_tool_that_was_built_is_bound_even_when_another_build_failed(stage: Stage) -> None:
    good = tool_source("halve", "return OutputModel(result=input.x / 2)", effects="pure")
    request = {"description": "d", "parameters": [{"name": "x", "type": "integer"}], "returns": [{"name": "result"}]}
    plan = {"tool_requests": [{"name": "halve", **request}, {"name": "broken", **request}]}

    class Writers(Script):
        def __call__(self, messages: Any, tools: Any, form: Any) -> Any:
            if "name: halve" in str(messages[-1].content):
                return f"```python\n{good}```"
            if "name: broken" in str(messages[-1].content):
                return "```python\nnot python\n```"
            return super().__call__(messages, tools, form)

    script = Writers([calling(call("halve", {"x": 4}, "a")), "It is 2."], [plan])
    result = await stage.play(script)
    assert result.status == "answered"
    assert result.tools_made == ("halve",)
    assert [e.tool for e in stage.sink.of("tool_given_up")] == ["broken"]


async def test_a_tool_that_never_proved_itself_is_archived_with_a_reason_not_deleted(stage: Stage) -> None:
    source = tool_source("halve", "return OutputModel(result=input.x / 2)", effects="pure")
    request = {"name": "halve", "description": "d", "parameters": [{"name": "x", "type": "integer"}], "returns": []}
    script = Script(["It is 2."], [{"tool_requests": [request]}], codes=[f"```python\n{source}```"])
    result = await stage.play(script)
    assert result.status == "answered"
    (archived,) = stage.sink.of("tool_archived")
    assert archived.reason == "it was never called"
    assert source.strip() in "".join(
        path.read_text(encoding="utf-8") for path in (stage.root / "run").rglob("*halve*.py")
    )


async def test_calls_of_an_execution_that_was_broken_off_are_in_the_result(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [calling(call("double", {"x": 1}, "a")), BudgetReached("token budget reached")]
    result = await stage.play(Script(steps, PLAN))
    assert result.status == "budget"
    assert [call.call_id for call in result.invocations] == ["a"]
    assert (result.rounds, result.tools_used) == (1, ("double",))


async def test_a_cancelled_task_leaves_its_result_and_can_go_on(stage: Stage) -> None:
    import asyncio

    stage.add("double", DOUBLE)
    script = Script([calling(call("double", {"x": 1}, "a")), "It is 2."], PLAN)

    class Cancel:
        def emit(self, event: Any) -> None:
            if event.kind == "tool_call_started":
                running.cancel()

    watched = Team(
        stage.team(script).settings, library=stage.root / "library", sinks=[Cancel()], clients=stage.clients(script)
    )
    running = asyncio.ensure_future(watched.run("q", run_dir=stage.root / "run", base=stage.root))
    with pytest.raises(asyncio.CancelledError):
        await running
    stored = (stage.root / "run" / "tasks" / "task" / "result.json").read_text(encoding="utf-8")
    assert '"interrupted"' in stored
    result = await stage.team(script).resume(stage.root / "run")
    assert result.status == "answered"
    assert len(script.of("plans")) == 1


async def test_a_resumed_task_keeps_the_library_it_was_started_with(stage: Stage) -> None:
    stage.add("double", DOUBLE)
    steps = [BudgetReached("token budget reached"), calling(call("double", {"x": 21}, "a")), "It is 42."]
    script = Script(steps, PLAN)
    await stage.play(script)
    team = Team(stage.team(script).settings, sinks=[stage.sink], clients=stage.clients(script))
    result = await team.resume(stage.root / "run")
    assert result.tools_used == ("double",)


async def test_an_answer_that_tells_its_results_wrongly_is_asked_for_again_without_another_plan(stage: Stage) -> None:
    stage.add("double", tool_source("double", "return OutputModel(result=2 * input.x)", effects="pure"))
    plan = {"required_tool_names": [{"name": "double", "serves": "which it is"}]}
    script = Script([calling(call("double", {"x": 21}, "a")), "It is 4711.", "It is 42."], [plan])
    result = await stage.play(script)
    assert (result.status, result.attempts) == ("answered", 2)
    assert len(script.of("plans")) == 1
    told = str(script.of("steps")[2][0][-1].content)
    assert "4711" in told
    assert "stands in no result of a call" in told
