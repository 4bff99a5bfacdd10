"""Plain questions about one's own tables: most get their right answer, and none a wrong one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from habilis.contract.taskfiles import is_nameless
from habilis.demo.form import written
from habilis.demo.questions.operations import fields_of, request_for, result_of
from habilis.demo.questions.prompts import SeenFile
from habilis.demo.questions.world import FilledOperation, Ref, viewed
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import Unclear, Understood, all_operations, understand

from .conftest import Loaded
from .held_questions import HELD
from .plain_questions import TABLES, TUNED, Asked, rows_of


@cache
def tool(key: str) -> tuple[Loaded, Any, Any]:
    """A better version of a tool, with its operation and fields."""
    operation = next(one for one in all_operations() if one.key == key)
    request = request_for(operation, "")
    fields = fields_of(operation, [one["name"] for one in request["parameters"]], [request["returns"][0]["name"]])
    assert fields is not None
    return (
        Loaded(source_for(operation, request["name"], request["description"], fields, robust=True)),
        operation,
        fields,
    )


def seen(name: str) -> SeenFile:
    begins = "\n".join((TABLES / name).read_text(encoding="utf-8").splitlines()[:3])
    return SeenFile(name, begins, is_nameless(begins))


def understood(question: str, name: str) -> Understood | Unclear:
    return understand(question, [seen(name)])


@cache
def answered(question: str, name: str) -> str | None:
    """What the tools that the model would write for a question make of it; None where it gives up."""
    found = understood(question, name)
    if isinstance(found, Unclear):
        return None
    results: list[Any] = []
    for step in found.steps:
        loaded, operation, fields = tool(step.operation.key)
        values = {}
        for role, value in step.values.items():
            if isinstance(value, FilledOperation):
                value = value.text.format(*(results[ref.step] for ref in value.calls))
            values[fields.inputs[role]] = results[value.step] if isinstance(value, Ref) else value
        try:
            output = loaded.call(values, TABLES)
        except (KeyError, IndexError):
            return None
        if output["error"]:
            return None
        results.append(viewed(result_of(operation, output), step.view))
    return ", ".join(written(results[index], found.form) for index in found.asked)


def is_right(answer: str, truth: Any) -> bool:
    if isinstance(truth, dict):
        found = dict(part.rsplit(": ", 1) for part in answer.split(", ") if ": " in part)
        return found.keys() == truth.keys() and all(is_right(found[key], truth[key]) for key in truth)
    if (isinstance(truth, list) and len(truth) > 1) or (isinstance(truth, list) and isinstance(truth[0], str)):
        return answer == ", ".join(truth)
    number = truth[0] if isinstance(truth, list) else truth
    return abs(float(answer) - number) <= 1e-5 * max(1, abs(number))


@pytest.mark.parametrize(("question", "name", "worked_out"), [*TUNED, *HELD])
def test_no_answer_is_wrong(question: str, name: str, worked_out: Any) -> None:
    answer, truth = answered(question, name), worked_out(rows_of(name))
    assert answer is None or (truth is not None and is_right(answer, truth)), (answer, truth)


@pytest.mark.parametrize(("asked", "share"), [(TUNED, 0.9), (HELD, 0.7)], ids=["tuned", "held"])
def test_most_questions_are_answered(asked: tuple[Asked, ...], share: float) -> None:
    clear = [(question, name) for question, name, worked_out in asked if worked_out(rows_of(name)) is not None]
    given_up = [question for question, name in clear if answered(question, name) is None]
    assert len(given_up) <= (1 - share) * len(clear), given_up
