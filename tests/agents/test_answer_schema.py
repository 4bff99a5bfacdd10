"""What a user would lose: an answer that their program cannot read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from habilis.core.errors import UserError
from habilis.core.types import TaskResult
from habilis.models.answers import answer_type, checked_schema, read_schema
from habilis.models.forms import FormProblem, read_form, schema_of

from .conftest import Script, Stage

SCHEMA = {
    "type": "object",
    "properties": {"mean": {"type": "number"}, "unit": {"$ref": "#/definitions/unit"}, "note": {"maxLength": 5}},
    "required": ["mean", "unit"],
    "additionalProperties": False,
    "definitions": {"unit": {"enum": ["EUR", "USD"]}},
}
GOOD = {"mean": 4.25, "unit": "EUR"}


class Corrected(Script):
    """A script whose corrections of an answer are answers too."""

    def kind_of(self, last: str, first: str) -> str:
        return "answers" if "the final answer from findings" in first else super().kind_of(last, first)


async def play(stage: Stage, script: Script, *settings: str) -> TaskResult:
    team = stage.team(script, *settings)
    return await team.run("What is it, 4.25 EUR?", run_dir=stage.root / "run", base=stage.root, answer_schema=SCHEMA)


async def test_the_answer_is_data_that_fits_the_schema_after_corrections(stage: Stage) -> None:
    answers = [{"final_answer": {"mean": "much", "unit": "GBP"}}, {"final_answer": GOOD, "reasoning_summary": "so"}]
    script = Corrected(["It is 4.25 EUR."], answers=answers)
    result = await play(stage, script)
    assert (result.status, result.answer_data) == ("answered", GOOD)
    assert json.loads(result.final_answer) == GOOD
    asked = script.asked[-1][1]
    assert "mean must be number" in str(asked[-1].content)
    assert '"EUR"' in str(asked[-1].content)


async def test_an_answer_that_never_fits_is_no_answer_and_says_why(stage: Stage) -> None:
    script = Corrected(["It is 4.25 EUR."], answers=[{"final_answer": {"mean": 4.25}}])
    result = await play(stage, script, "models.basic.structured_mode=json_schema")
    assert (result.status, result.answer_data) == ("gave_up", None)
    assert "no answer fits the schema" in (result.error or "")
    assert "unit" in (result.error or "")
    assert result.final_answer == "It is 4.25 EUR."


async def test_the_schema_is_kept_with_the_task(stage: Stage) -> None:
    script = Corrected(["It is 4.25 EUR."], answers=[{"final_answer": GOOD}])
    await play(stage, script)
    stored = json.loads((stage.root / "run" / "tasks" / "task" / "task.json").read_text(encoding="utf-8"))
    assert SCHEMA in (stored.get("answer_schema"), stored.get("task", {}).get("answer_schema"))


def test_references_reach_the_server_in_place_and_nothing_is_cut_to_fit() -> None:
    form = schema_of(answer_type(SCHEMA))
    assert form["properties"]["final_answer"]["properties"]["unit"] == {"enum": ["EUR", "USD"]}
    assert "definitions" not in json.dumps(form)
    with pytest.raises(FormProblem, match="note"):
        read_form(answer_type(SCHEMA), {"final_answer": {**GOOD, "note": "far too long"}})


@pytest.mark.parametrize(
    ("schema", "sent", "taken"),
    [
        ({"type": "integer"}, "14", 14),
        ({"type": "string"}, "14", "14"),
        ({"type": "array", "items": {"type": "string"}}, '["a"]', ["a"]),
        ({"type": "boolean"}, True, True),
        ({}, "so", "so"),
    ],
)
def test_json_in_a_string_is_read_where_only_that_fits(schema: dict[str, object], sent: object, taken: object) -> None:
    reply = read_form(answer_type(schema), {"final_answer": sent})
    assert reply.model_dump()["final_answer"] == taken


def test_a_schema_that_holds_itself_is_checked_all_the_same() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "n": {"type": "integer"}}, "required": ["n"]}
    assert read_form(answer_type(tree), {"final_answer": {"n": 1, "left": {"n": 2}}})
    with pytest.raises(FormProblem, match=r"left"):
        read_form(answer_type(tree), {"final_answer": {"n": 1, "left": {}}})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        ("{", "is not JSON"),
        ("[1]", "a JSON schema is an object"),
        ('{"type": "nothing"}', "is not a valid JSON schema: at type"),
        ('{"properties": {"a": {"$ref": "#/$defs/b"}}}', "#/.defs/b refers to nothing"),
        ('{"properties": {"a": {"$ref": "https://example.org/x"}}}', "refers to nothing in the schema"),
    ],
)
def test_a_bad_schema_is_named_before_anything_is_asked(text: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "form.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=said) as caught:
        read_schema(str(path))
    assert "form.json" in str(caught.value)


def test_a_schema_of_code_is_checked_as_well() -> None:
    with pytest.raises(UserError, match="answer_schema is not a valid JSON schema"):
        checked_schema({"type": 7})
