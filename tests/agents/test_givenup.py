"""A task without an answer says what it found, what is missing and what to try, in words that a person understands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from habilis.agents.givenup import given_up
from habilis.config import OFFLINE_NOTICE, load_settings
from habilis.core.types import CallError, CallOutcome, Invocation, Review, Task, TaskFile
from habilis.terminal.outcome import body

from .conftest import Script, Stage, call, calling, tool_source

FILES = (TaskFile(named="a.csv", path="/a.csv"),)


def said(*, by: str, reason: str = "so it is", model: str = "m", task: Any = None, **state: Any) -> Any:
    review = Review(accepted=False, reason=reason, by=by).model_dump()
    given: Any = {"review": review, "attempt": 1, **state}
    return given_up(reason, given, (), task or Task(id="t", question="q"), load_settings(overrides=[]), model)


@pytest.mark.parametrize(
    ("by", "missing"),
    [
        ("something missing", "The model said that it could not answer the question."),
        ("no file opened", "No tool read a file that the question is about (so it is)."),
        ("judge", "The last answer was not accepted: So it is."),
        ("no answer", "So it is."),
    ],
)
def test_what_is_missing_is_one_sentence(by: str, missing: str) -> None:
    assert said(by=by).missing == missing


@pytest.mark.parametrize("by", ["no call succeeded", "an error's text"])
def test_what_the_last_call_said_that_failed_is_told(by: str) -> None:
    """Its reader sees which word stands nowhere, not only that some tool failed."""
    failed = CallError(
        kind="crashed", message="ValueError: 'purple' stands in 0 columns of the file\nline 3, in run: …"
    )
    made: Any = {"call_id": "c", "arguments": {}, "verdict": "failure", "text": "", "attempt": 1}
    calls = [
        Invocation(tool="count", outcome=CallOutcome(error=failed), **made),
        Invocation(tool="other", outcome=CallOutcome(output={"result": 1}), **made),
    ]
    state: Any = {"review": Review(accepted=False, reason="so it is", by=by).model_dump(), "attempt": 1}
    ending = given_up("no", state, calls, Task(id="t", question="q"), load_settings(overrides=[]), "m")
    assert ending.missing.endswith(" The tool count said: ValueError: 'purple' stands in 0 columns of the file.")
    assert "line 3" not in ending.missing


def test_what_to_try_fits_what_went_wrong() -> None:
    lost = Task(id="t", question="q", missing=("a.csv",))
    assert said(by="judge", task=lost).suggestions[0] == "Give the file a.csv with --file; it was not found."
    assert "habilis doctor" in said(by="judge", model=OFFLINE_NOTICE).suggestions[0]
    assert "limits.max_rounds=20" in " ".join(said(by="no answer", stop="out_of_rounds").suggestions)
    assert "limits.max_attempts=10" in " ".join(
        said(by="another field", attempt=5, task=Task(id="t", question="q", files=FILES)).suggestions
    )
    assert "as they are written in the file" in said(by="no file opened").suggestions[0]


def test_a_network_that_was_denied_can_be_allowed() -> None:
    denied = CallOutcome(error=CallError(kind="denied", message="the network is not granted"))
    calls = [Invocation(call_id="c", tool="t", arguments={}, outcome=denied, verdict="input_error", text="", attempt=1)]
    state: Any = {"attempt": 1}
    ending = given_up("no", state, calls, Task(id="t", question="q"), load_settings(overrides=[]), "m")
    assert "capabilities.network=ask" in ending.suggestions[0]
    assert ending.found == ()


async def test_a_task_that_gave_up_says_all_three_on_the_console_and_in_its_result(stage: Stage) -> None:
    stage.add("double", tool_source("double", "return OutputModel(result=2 * input.x)", effects="pure"))
    plan = {"required_tool_names": [{"name": "double", "serves": "which it is"}]}
    script = Script([calling(call("double", {"x": 21}, "a")), "I could not find out which it is."], [plan])
    result = await stage.play(script, "limits.max_attempts=1")
    assert result.status == "gave_up"
    assert result.found == ('double(x=21) gave {"result": 42}',)
    assert result.missing == "The model said that it could not answer the question."
    assert result.suggestions
    written = json.loads(Path(result.run_dir, "tasks", "task", "result.json").read_text(encoding="utf-8"))
    assert (written["found"], written["missing"]) == (list(result.found), result.missing)
    shown = [text for text, _ in body(result)]
    assert shown[0] == result.missing
    assert shown[1] == "Found: " + result.found[0]
    assert shown[-1].startswith("Try: ")


async def test_a_task_with_an_answer_has_nothing_to_try(stage: Stage) -> None:
    result = await stage.play(Script(["Paris."]), question="What is the capital of France?")
    assert (result.found, result.missing, result.suggestions) == ((), "", ())
