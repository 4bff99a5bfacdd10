"""A tool together with its first call, and the answer from what that call gave: for questions of one step."""

from __future__ import annotations

import json
import re
from typing import Any

from habilis.demo import executing, following
from habilis.demo.form import peel, written
from habilis.demo.toolbox import source_for
from habilis.demo.understanding import Understood, all_operations
from habilis.questions.language import squeeze
from habilis.questions.operations import fields_of, recognise, request_for, result_of
from habilis.questions.prompts import Seen, first_object, loads
from habilis.questions.world import FilledOperation, Ref

NO_TOOL = "NONE"
NOTHING = {"final_answer": "", "reasoning_summary": ""}
CALLED = re.compile(r"([\w-]+): ([^\n]*)\nCalled with ([^\n]*), it gave:\n(.*)", re.DOTALL)
"""Findings that are one call and what it gave: tool, description, arguments, result."""


def module_and_call(seen: Seen) -> str:
    """The tool for a question of one step with the arguments of its call: naive first, robust after a failure."""
    understood = following.understood(seen)
    if not isinstance(understood, Understood) or len(understood.steps) != 1 or seen.missing:
        return NO_TOOL
    (step,) = understood.steps
    deferred = any(isinstance(value, Ref | FilledOperation) for value in step.values.values())
    if deferred or step.view != "value" or any(file.nameless for file in seen.files):
        return NO_TOOL
    request = request_for(step.operation, seen.question)
    names = [[str(field["name"]) for field in request[part]] for part in ("parameters", "returns")]
    fields = fields_of(step.operation, *names)
    if fields is None:
        return NO_TOOL
    source = source_for(step.operation, request["name"], request["description"], fields, robust="failure" in seen.parts)
    arguments = executing.arguments_of(step.operation, fields.inputs, step.values)
    return f"```python\n{source.strip()}\n```\n```json\n{json.dumps(arguments, ensure_ascii=False)}\n```"


def answer(seen: Seen, called: re.Match[str]) -> dict[str, Any]:
    """The value that a call gave, in the form that the question asks for; empty where it cannot be told."""
    name, description, said, result = called.groups()
    arguments, output = loads(said), first_object(result)
    operation = recognise(name, description, list(arguments or {}), all_operations())
    if operation is None or output is None or output.get("error") or result.count("\n") > 0:
        return NOTHING
    value = result_of(operation, output)
    if _is_not_all(value, seen):
        return NOTHING
    value = written(value, peel(squeeze(seen.question))[1])
    return {"final_answer": value, "reasoning_summary": f"The result of `{name}` with {said}."}


def _is_not_all(value: Any, seen: Seen) -> bool:
    """Whether the question goes on from what one call gave: to another call, to how many there are, or to their names.
    An answer's prompt shows no files, so a question about some is told by its words."""
    understood = following.understood(seen)
    if isinstance(understood, Understood):
        return len(understood.steps) != 1 or understood.steps[0].view != "value"
    counts = re.search(r"\bhow many\b|\bnumber of\b", seen.question, re.IGNORECASE) is not None
    return (counts and isinstance(value, str | list | dict)) or isinstance(value, dict)
