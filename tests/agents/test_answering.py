"""What a user would lose: an answer whose values a model made up on the way from the findings."""

from typing import Any

import pytest

from .conftest import Script, Stage, call, calling, tool_source

FOUND = "Osaka has 19013000 inhabitants."
SUM = tool_source("sum_of", "return OutputModel(result=input.x + 5)", effects="pure")
FOUNDED: dict[str, Any] = {"reason": "it says so", "word": "founded"}


def said(*answers: str) -> list[dict[str, str]]:
    return [{"final_answer": answer} for answer in answers]


async def test_an_answer_that_stands_costs_no_further_call(stage: Stage) -> None:
    script = Script([FOUND], answers=said("Osaka, with 19.0 million"))
    result = await stage.play(script, question=f"{FOUND} Which city is the largest?")
    assert (result.status, result.final_answer) == ("answered", "Osaka, with 19.0 million")
    assert (len(script.of("answers")), script.of("grounded")) == (1, [])


@pytest.mark.parametrize(
    ("asked", "answer", "given"),
    [
        ("How many people?", "{inhabitants: 19013000}", "19013000"),
        ("How many people?", '{ "inhabitants": "19013000" }', "19013000"),
        ("Which city?", '{"city": "Osaka"}', "Osaka"),
        ("Which city, as JSON?", '{"city": "Osaka"}', '{"city": "Osaka"}'),
        ("Which city and how many?", '{"city": "Osaka", "n": 19013000}', '{"city": "Osaka", "n": 19013000}'),
        ("Which city?", '{"city": ["Osaka"]}', '{"city": ["Osaka"]}'),
        ("Which city?", "{Osaka}", "{Osaka}"),
    ],
)
async def test_the_form_of_a_result_is_no_part_of_the_answer(stage: Stage, asked: str, answer: str, given: str) -> None:
    result = await stage.play(Script([FOUND], answers=said(answer)), question=f"{FOUND} {asked}")
    assert (result.status, result.final_answer) == ("answered", given)


async def test_a_doubted_answer_is_told_the_very_values_and_asked_for_again(stage: Stage) -> None:
    script = Script([FOUND], answers=said("New York, 8.4 million", "Osaka"))
    result = await stage.play(script, question=f"{FOUND} Which city is the largest?")
    assert (result.status, result.final_answer) == ("answered", "Osaka")
    asked = str(script.of("answers")[1][0][-1].content)
    assert "- 8.4 million (number)" in asked
    assert "- New York (name)" in asked
    assert script.of("grounded") == []
    assert "asked for again" in stage.sink.of("notice")[-1].text


async def test_a_number_does_not_stand_because_it_is_said_twice_and_no_judge_is_asked(stage: Stage) -> None:
    script = Script([FOUND], answers=said("18 million"), grounded=[FOUNDED])
    result = await stage.play(script, question=f"{FOUND} How many people live in the largest city?")
    assert (result.status, result.final_answer) == ("answered", FOUND)
    assert (len(script.of("answers")), script.of("grounded")) == (2, [])
    notice = stage.sink.of("notice")[-1]
    assert notice.level == "warning"
    assert 'invented: "18 million" (number) stands in no finding' in notice.text


async def test_a_name_that_stays_in_doubt_is_judged_by_the_findings(stage: Stage) -> None:
    script = Script(["The largest city is Ōsaka-shi."], answers=said("Kyoto"), grounded=[FOUNDED])
    result = await stage.play(script, question=f"{FOUND} Which city is the largest?")
    assert result.final_answer == "Kyoto"
    (asked,) = script.of("grounded")
    assert "- Kyoto (name)" in str(asked[0][-1].content)
    assert "<findings>\nThe largest city is Ōsaka-shi.\n</findings>" in str(asked[0][-1].content)


@pytest.mark.parametrize("ruling", [{"reason": "it is not there", "word": "invented"}, "well, perhaps"])
async def test_what_no_judge_bears_out_never_stands_for_what_was_found(stage: Stage, ruling: Any) -> None:
    script = Script([FOUND], answers=said("New York"), grounded=[ruling])
    result = await stage.play(script, question=f"{FOUND} Which city is the largest?")
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
    result = await stage.play(script, question="There are five of them. How many are there?")
    assert (result.status, result.final_answer) == ("answered", "5")
    assert len(script.of("answers")) == 1


SCHEMA = {
    "type": "object",
    "properties": {"mean": {"type": "number"}, "unit": {"enum": ["EUR", "USD"]}},
    "required": ["mean", "unit"],
}


async def with_schema(stage: Stage, script: Script) -> Any:
    team = stage.team(script)
    return await team.run("What is it, 4.25 EUR?", run_dir=stage.root / "run", base=stage.root, answer_schema=SCHEMA)


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
