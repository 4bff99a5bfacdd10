"""Settings that bound a task: what is shown, what is bound, what ends it. Each does what it says."""

from typing import Any

import pytest

from habilis.agents.graph import initial_state
from habilis.agents.integrator import best_text
from habilis.agents.manager import _built_nothing
from habilis.agents.planning import asked_again
from habilis.core.types import Plan, ToolRequest

from .conftest import Script, Stage, call, calling, tool_source

ADD = tool_source("add", "return OutputModel(result=input.x + 1)", effects="reads")


def _plan(*names: str) -> dict[str, object]:
    return {
        "tool_requests": [
            {"name": name, "description": "Does it.", "parameters": [{"name": "x", "type": "integer"}]}
            for name in names
        ]
    }


async def test_a_plan_sees_the_nearest_tools_alone_however_large_the_library_is(stage: Stage) -> None:
    for number in range(30):
        stage.add(f"make_tea_{number}", tool_source(f"make_tea_{number}", "return OutputModel(result=1)"))
    stage.add("count_words", tool_source("count_words", "return OutputModel(result=1)", description="Counts words."))
    script = Script(["Done: 1."])
    await stage.play(script, "retrieval.candidates=5", question="Count the words, and make tea.")
    prompt = str(script.of("plans")[0][0][-1].content)
    shown = [line for line in prompt.splitlines() if line.startswith("- ")]
    assert len(shown) == 5
    assert any("count_words(x)" in line for line in shown)


async def test_no_more_tools_are_bound_than_the_limit_and_the_plans_own_come_first(stage: Stage) -> None:
    names = [f"tool_{number}" for number in range(25)]
    for name in names:
        stage.add(name, tool_source(name, "return OutputModel(result=1)"))
    script = Script(["Done: 1."], plans=[{"required_tool_names": names}])
    await stage.play(script)
    bound = [tool["function"]["name"] for tool in script.of("steps")[0][1]]
    assert len(bound) == 20
    assert bound[0] == "tool_0"
    assert "ask_user" in bound


async def test_a_failed_build_ends_the_task_where_settings_say_so(stage: Stage) -> None:
    script = Script(["Done: 1."], plans=[_plan("add")], codes=["no code at all"])
    result = await stage.play(script, "tools.on_build_failure=stop")
    assert script.of("steps") == []
    assert result.status == "gave_up"
    assert "add could not be built" in (result.error or "")


async def test_guidance_to_a_tool_that_could_not_be_built_says_so(stage: Stage) -> None:
    plan = {**_plan("add"), "tool_usage_guidance": "Call add with 1."}
    script = Script(["Done: 1."], plans=[plan], codes=["no code at all"])
    await stage.play(script)
    told = str(script.of("steps")[0][0][-1].content)
    assert "Call add with 1.\nadd could not be built: there is no such tool now." in told


async def test_a_user_is_not_asked_for_what_a_tool_that_could_not_be_built_was_to_find(stage: Stage) -> None:
    script = Script(["I do not know.", "Done: 1."], plans=[_plan("add"), {}], codes=["no code at all"])
    await stage.play(script)
    assert script.of("steps")[0][1] == []


async def test_a_plan_without_tools_leaves_the_question_to_the_user(stage: Stage) -> None:
    script = Script(["Done: 1."])
    await stage.play(script)
    assert [tool["function"]["name"] for tool in script.of("steps")[0][1]] == ["ask_user"]


async def test_the_same_call_of_a_tool_that_reads_is_run_again_with_a_warning(stage: Stage) -> None:
    body = "n = len(open('log', 'a+').readlines())\nreturn OutputModel(result=n)"
    stage.add("look", tool_source("look", body, effects="writes"))
    steps = [calling(call("look", {"x": 1}, "one")), calling(call("look", {"x": 1}, "two")), "Done: 1."]
    result = await stage.play(Script(steps, plans=[{"required_tool_names": ["look"]}]))
    assert [event.reused for event in stage.sink.of("tool_call_ended")] == [False, False]
    assert "Warning" in result.invocations[1].text


async def test_rounds_without_a_limit_go_on_past_the_default(stage: Stage) -> None:
    stage.add("add", ADD)
    steps = [calling(*(call("add", {"x": 100 * n + m}) for m in range(1))) for n in range(12)]
    result = await stage.play(
        Script([*steps, "Done: 1."], plans=[{"required_tool_names": ["add"]}]), "limits.max_rounds=-1"
    )
    assert (result.rounds, result.round_limit_reached) == (12, False)


async def test_long_findings_are_cut_to_the_models_limit_and_never_emptied(stage: Stage) -> None:
    script = Script(["The answer is 42. " + " ".join(f"And {'so ' * (n * n % 97 % 11 + 1)}on." for n in range(3_000))])
    result = await stage.play(script, "models.basic.token_limit=2000")
    assert result.status == "answered"
    prompt = str(script.of("answers")[0][0][-1].content)
    assert "The answer is 42." in prompt
    assert len(prompt) < 12_000


def test_the_best_text_is_the_last_answer_then_an_earlier_one_then_the_summary() -> None:
    state = initial_state()
    assert best_text(state) == ""
    state["summary"] = "summary"
    assert best_text(state) == "summary"
    state["earlier"] = ["first", "second"]
    assert best_text(state) == "second"
    state["pending"] = "last"
    assert best_text(state) == "last"


async def test_after_a_plan_none_of_whose_tools_could_be_built_at_most_two_more_are_tried(stage: Stage) -> None:
    """A small model that failed at one tool asked for five, and failed at each of them three times."""
    names = ("one", "two", "three", "four", "five")
    script = Script(
        ["I cannot say.", "I cannot say either."], plans=[_plan("add"), _plan(*names)], codes=["no code at all"]
    )
    result = await stage.play(script, "limits.max_attempts=2")
    assert result.status == "gave_up"
    begun = [event.tool for event in stage.sink.events if event.kind == "tool_build_started"]
    assert begun == ["add", "one", "two"]
    told = [event.text for event in stage.sink.events if event.kind == "notice"]
    assert any("three was not built" in text for text in told), told


async def test_a_tool_that_could_not_be_built_is_not_tried_again_for_the_same_words(stage: Stage) -> None:
    """A small model wrote six versions of one tool, and each failed like the one before: ten minutes for nothing."""
    script = Script(["I cannot say.", "I cannot say either."], plans=[_plan("add")], codes=["no code at all"])
    result = await stage.play(script, "limits.max_attempts=3")
    assert (result.status, len(script.of("plans")), len(script.of("steps"))) == ("gave_up", 2, 1)
    begun = [event.tool for event in stage.sink.events if event.kind == "tool_build_started"]
    told = [event.text for event in stage.sink.events if event.kind == "notice"]
    assert begun == ["add"]
    assert "Giving up: add could not be built, and the next plan asks for the same again." in told
    assert "add could not be built" in (result.error or "")


def test_a_tool_that_is_asked_for_in_another_way_is_tried() -> None:
    def plan(name: str, *arguments: str, reuse: tuple[str, ...] = ()) -> Plan:
        schema = {"type": "object", "properties": {argument: {} for argument in arguments}}
        request = ToolRequest(name=name, description=name, input_schema=schema, output_schema={})
        return Plan(build=(request,), reuse=reuse)

    before = plan("add", "first", "second")
    assert asked_again(plan("add", "first", "second"), before) == "add"
    assert asked_again(plan("add", "numbers"), before) == ""
    assert asked_again(plan("total", "first", "second"), before) == ""
    assert asked_again(plan("add", "first", "second", reuse=("other",)), before) == ""


async def test_a_plan_after_one_that_built_something_asks_for_as_many_tools_as_it_likes(stage: Stage) -> None:
    names = ("one", "two", "three")
    code = tool_source("add", "return OutputModel(result=1)")
    script = Script(
        ["I cannot say.", "I cannot say either."], plans=[_plan("add"), _plan(*names)], codes=[f"```python\n{code}```"]
    )
    await stage.play(script, "limits.max_attempts=2")
    begun = [event.tool for event in stage.sink.events if event.kind == "tool_build_started"]
    assert begun == ["add", *names]


@pytest.mark.parametrize(
    ("by", "bound", "expected"), [("model", [], True), ("rule", [], False), ("model", ["add"], False)], ids=str
)
def test_only_a_models_plan_whose_tools_all_failed_makes_the_next_one_smaller(
    by: Any, bound: list[str], expected: bool
) -> None:
    """After the short way a model plans for the first time, and may ask for what it likes."""
    asked = ToolRequest(name="add", description="d", input_schema={}, output_schema={})
    state: Any = {"plan": Plan(build=(asked,), by=by).model_dump(mode="json"), "bound": bound}
    assert _built_nothing(state) is expected


async def test_an_own_tool_that_the_files_show_to_be_wrong_is_not_planned_with_again(stage: Stage) -> None:
    """A small model's tool counted no ERROR line where there are three, and the next plan called it once more."""
    (stage.root / "server.log").write_text("ERROR a\nok\nERROR b\nERROR c\n")
    counts = "text = open(input.path).read()\nreturn OutputModel(result=text.count({!r}))"
    path = [{"name": "path", "type": "string"}]
    plans = [
        {"tool_requests": [{"name": name, "description": "Counts ERROR lines of a file.", "parameters": path}]}
        for name in ("count_errors", "count_error_lines")
    ]
    codes = [
        f"```python\n{tool_source(name, counts.format(word), 'path: str', description='Counts ERROR lines.')}```"
        for name, word in (("count_errors", "Error:"), ("count_error_lines", "ERROR"))
    ]
    steps = [
        calling(call("count_errors", {"path": "server.log"})),
        "There are 0 ERROR lines.",
        calling(call("count_error_lines", {"path": "server.log"})),
        "There are 3 ERROR lines.",
    ]
    answer = {"final_answer": "There are 3 ERROR lines.", "reasoning_summary": "counted"}
    script = Script(steps, plans=plans, codes=codes, answers=[answer])
    result = await stage.play(script, "limits.max_attempts=2", question="How many ERROR lines are in server.log?")
    asked = str(script.of("plans")[1][0][-1].content)
    assert "<tried>\n- count_errors\n</tried>" in asked
    bound = [tool["function"]["name"] for tool in script.of("steps")[2][1]]
    assert "count_errors" not in bound
    assert result.status == "answered", result.error
