"""A wrong verdict mends a tool that works, or trusts one that does not."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from habilis.agents.verdicts import VERDICT, failure_kind, judge, verdict_by_rule
from habilis.config import ModelsSettings
from habilis.core.types import CallError, CallOutcome, Invocation
from habilis.models.chat import Models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.testing import RecordingSink, ScriptedModel


def call(output: Any = None, **error: Any) -> Invocation:
    outcome = CallOutcome(error=CallError(message="m", **error)) if error else CallOutcome(output=output)
    return Invocation(call_id="c", tool="t", version="v1", outcome=outcome)


@pytest.mark.parametrize(
    "output",
    [{"x": 1}, {"x": 0}, {"x": []}, {"x": False}, [], 0, False, "text", {"x": 1, "error": None}, {"x": {}, "n": 1}],
)
def test_an_answer_is_a_success_zero_and_empty_lists_too(output: Any) -> None:
    assert verdict_by_rule(call(output))[0] == "success"


@pytest.mark.parametrize(
    "output",
    [
        None,
        "",
        "  \n",
        {},
        {"error": "no such thing"},
        {"x": 1, "error": "partly"},
        {"x": None},
        {"x": " ", "error": None},
    ],
)
def test_nothing_and_set_errors_are_failures_never_success(output: Any) -> None:
    assert verdict_by_rule(call(output))[0] == "failure"


@pytest.mark.parametrize("kind", ["invalid_arguments", "unknown_tool", "denied", "unavailable", "interrupted"])
def test_what_no_mending_could_help_is_not_the_tools_failure(kind: str) -> None:
    assert verdict_by_rule(call(kind=kind))[0] == "input_error"


def test_a_named_file_that_is_not_there_is_the_callers_mistake() -> None:
    assert (
        verdict_by_rule(call(kind="crashed", exception="FileNotFoundError", missing_file="x.csv"))[0] == "input_error"
    )


@pytest.mark.parametrize("exception", ["KeyError", "IndexError", "StopIteration"])
def test_what_was_not_found_is_left_to_the_model(exception: str) -> None:
    assert verdict_by_rule(call(kind="crashed", exception=exception))[0] is None


@pytest.mark.parametrize(("kind", "exception"), [("crashed", "ValueError"), ("timeout", None), ("bad_output", None)])
def test_other_ends_are_the_tools_failure(kind: str, exception: str | None) -> None:
    assert verdict_by_rule(call(kind=kind, exception=exception))[0] == "failure"


def test_pages_that_refuse_are_the_worlds_answer() -> None:
    assert verdict_by_rule(call({"status": 403, "text": "Are you a robot?"}))[0] == "success"


def test_kinds_of_failure_differ_by_version_and_by_exception() -> None:
    one, two = call(kind="crashed", exception="ValueError"), call(kind="crashed", exception="TypeError")
    newer = one.model_copy(update={"version": "v2"})
    assert len({failure_kind(c) for c in (one, two, newer, call({"error": "x"}))}) == 4


@pytest.mark.parametrize(("word", "tells"), [("input_error", False), ("failure", False), ("as planted", True)])
async def test_what_rules_leave_open_is_a_failure_where_the_judge_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, tells: bool
) -> None:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path))
    right = {case.shown["call_id"]: case.right for question in VERDICT.questions for case in question.cases}

    def says(messages: Any, tools: Any, form: Any) -> dict[str, Any]:
        rows = []
        for name in re.findall(r"- call_id: (\S+)", str(messages[-1].content)):
            honest = "input_error" if right.get(name, True) else "failure"
            rows.append({"call_id": name, "verdict": honest if tells else word, "reason": "so"})
        return {"verdicts": rows}

    model, sink = ScriptedModel(script=says, trusted_judge=False), RecordingSink()
    tape = Tape(tmp_path / "tape.jsonl")
    models = Models(ModelsSettings(), tape=tape, emit=sink.emit, budget=Budget(), clients=lambda *_: model)
    shop: Any = SimpleNamespace(models=models, prompts=Prompts(), emit=sink.emit, files_view=[])
    (found,) = await judge([call(kind="crashed", exception="KeyError")], shop)
    assert found.verdict == ("input_error" if tells else "failure")
    assert len(model.asked) == (2 if tells else 1)
