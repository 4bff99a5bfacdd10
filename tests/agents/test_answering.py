"""What a user would lose: an answer whose values a model made up on the way from the findings."""

from typing import Any

import pytest

from habilis.agents.grounding import Unfounded
from habilis.agents.grounding.recorded import from_nowhere
from habilis.agents.state import packed
from habilis.core.types import CallError, CallOutcome, Invocation, Task, TaskFile
from habilis.models.tape import Tape

from .conftest import Script, Stage, call, calling, tool_source

FOUND = "Osaka has 19013000 inhabitants."
SUM = tool_source("sum_of", "return OutputModel(result=input.x + 5)", effects="pure")
FOUNDED: dict[str, Any] = {"reason": "it says so", "word": "founded"}


def said(*answers: str) -> list[dict[str, str]]:
    return [{"final_answer": answer} for answer in answers]


async def test_an_answer_that_stands_costs_no_further_call(stage: Stage) -> None:
    script = Script([FOUND], answers=said("Osaka, with 19.0 million"))
    result = await stage.play(script, question="Which city is the largest?")
    assert (result.status, result.final_answer) == ("answered", "Osaka, with 19.0 million")
    assert (len(script.of("answers")), script.of("grounded")) == (1, [])


async def test_a_doubted_answer_is_told_the_very_values_and_asked_for_again(stage: Stage) -> None:
    script = Script([FOUND], answers=said("New York, 8.4 million", "Osaka"))
    result = await stage.play(script, question="Which city is the largest?")
    assert (result.status, result.final_answer) == ("answered", "Osaka")
    asked = str(script.of("answers")[1][0][-1].content)
    assert "- 8.4 million (number)" in asked
    assert "- New York (name)" in asked
    assert script.of("grounded") == []
    assert "asked for again" in stage.sink.of("notice")[-1].text


async def test_a_number_does_not_stand_because_it_is_said_twice_and_no_judge_is_asked(stage: Stage) -> None:
    script = Script([FOUND], answers=said("18 million"), grounded=[FOUNDED])
    result = await stage.play(script, question="How many people live in the largest city?")
    assert (result.status, result.final_answer) == ("answered", FOUND)
    assert (len(script.of("answers")), script.of("grounded")) == (2, [])
    notice = stage.sink.of("notice")[-1]
    assert notice.level == "warning"
    assert 'invented: "18 million" (number) stands in no finding' in notice.text


async def test_a_name_that_stays_in_doubt_is_judged_by_the_findings(stage: Stage) -> None:
    script = Script(["The largest city is Ōsaka-shi."], answers=said("Kyoto"), grounded=[FOUNDED])
    result = await stage.play(script, question="Which city is the largest?")
    assert result.final_answer == "Kyoto"
    (asked,) = script.of("grounded")
    assert "- Kyoto (name)" in str(asked[0][-1].content)
    assert "<findings>\nThe largest city is Ōsaka-shi.\n</findings>" in str(asked[0][-1].content)


@pytest.mark.parametrize("ruling", [{"reason": "it is not there", "word": "invented"}, "well, perhaps"])
async def test_what_no_judge_bears_out_never_stands_for_what_was_found(stage: Stage, ruling: Any) -> None:
    script = Script([FOUND], answers=said("New York"), grounded=[ruling])
    result = await stage.play(script, question="Which city is the largest?")
    assert (result.status, result.final_answer) == ("answered", FOUND)
    assert len(script.of("answers")) == 2


async def test_a_value_of_a_recorded_call_is_known_though_the_findings_leave_it_out(stage: Stage) -> None:
    stage.add("sum_of", SUM)
    steps = [calling(call("sum_of", {"x": 1732}, "a")), "The sum is known now."]
    script = Script(steps, ({"required_tool_names": ["sum_of"]},), answers=said("1,737"))
    result = await stage.play(script, question="What is the sum?")
    assert result.final_answer == "1,737"
    assert len(script.of("answers")) == 1


async def test_a_number_that_the_findings_write_as_a_word_may_be_given_in_digits(stage: Stage) -> None:
    script = Script(["There are five of them."], answers=said("5"))
    result = await stage.play(script, question="How many are there?")
    assert (result.status, result.final_answer) == ("answered", "5")
    assert len(script.of("answers")) == 1


SCHEMA = {
    "type": "object",
    "properties": {"mean": {"type": "number"}, "unit": {"enum": ["EUR", "USD"]}},
    "required": ["mean", "unit"],
}


async def with_schema(stage: Stage, script: Script) -> Any:
    team = stage.team(script)
    return await team.run("What is it?", run_dir=stage.root / "run", base=stage.root, answer_schema=SCHEMA)


async def test_data_is_asked_for_again_as_well(stage: Stage) -> None:
    answers = [{"final_answer": {"mean": mean, "unit": "EUR"}} for mean in (4.52, 4.25)]
    script = Script(["It is 4.25."], answers=answers)
    result = await with_schema(stage, script)
    assert (result.status, result.answer_data) == ("answered", {"mean": 4.25, "unit": "EUR"})
    assert "- 4.52 (number)" in str(script.of("answers")[1][0][-1].content)


async def test_data_that_stays_invented_is_no_answer(stage: Stage) -> None:
    script = Script(["It is 4.25."], answers=[{"final_answer": {"mean": 4.52, "unit": "EUR"}}])
    result = await with_schema(stage, script)
    assert (result.status, result.answer_data) == ("gave_up", None)
    assert result.final_answer == "It is 4.25."
    assert '"4.52" (number) stands in no finding' in (result.error or "")


def invocation(output: Any = None, error: str = "", call_id: str = "a") -> dict[str, Any]:
    failed = CallError(kind="crashed", message=error) if error else None
    outcome = CallOutcome(output=output, error=failed)
    return packed(Invocation(call_id=call_id, tool="mean", outcome=outcome, text=error or str(output)))


@pytest.fixture
def tape(tmp_path: Any) -> Tape:
    return Tape(tmp_path / "tape.jsonl")


def test_what_an_executor_says_must_come_of_its_calls_or_of_what_it_was_told(tape: Tape) -> None:
    task = Task(
        id="t",
        question="What is the mean of price in data.csv?",
        files=(TaskFile(named="data.csv", path="/x/data.csv"),),
    )
    calls = [invocation({"mean": 4.2513, "rows": 12})]
    assert from_nowhere("The mean price in data.csv is 4.25, over 12 rows.", task, calls, tape) == ()
    found = from_nowhere("The mean price in sales.csv is 5.24.", task, calls, tape)
    assert set(found) == {Unfounded("number", "5.24"), Unfounded("name", "sales.csv")}


def test_an_executor_may_say_what_it_called(tape: Tape) -> None:
    task = Task(id="t", question="What is 777 octal in binary?")
    raw = invocation({"digits": "111111111"}) | {"arguments": {"value": "777", "from_base": 8}}
    said = '777 in base 8 is 111111111 (from `mean` with {"value": "777", "from_base": 8}).'
    assert from_nowhere(said, task, [raw], tape) == ()


def test_the_text_of_an_error_founds_nothing(tape: Tape) -> None:
    task = Task(id="t", question="What is the product?")
    calls = [invocation({"result": 1}, call_id="b"), invocation(error="timeout after 120 seconds")]
    assert from_nowhere("The product is 120.", task, calls, tape) == (Unfounded("number", "120"),)


def test_an_answer_without_any_result_is_left_to_other_rules(tape: Tape) -> None:
    task = Task(id="t", question="What is the capital of France?")
    assert from_nowhere("Paris", task, [], tape) == ()
    assert from_nowhere("It is 120.", task, [invocation(error="timeout after 120 seconds")], tape) == ()
