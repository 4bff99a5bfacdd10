"""A call and an answer of a test's own, and the rule that refuses the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from habilis.core.types import CallOutcome, Invocation, TaskFile
from habilis.rules.evidence import Evidence
from habilis.rules.refusing import refusal


def called(result: Any, tool: str = "tool", **arguments: Any) -> Invocation:
    return Invocation(
        call_id="c",
        tool=tool,
        arguments=arguments,
        outcome=CallOutcome(output=result),
        verdict="success",
        text=str(result),
        attempt=1,
    )


def rule_of(answer: str, question: str, call: Invocation, file: TaskFile | None = None) -> str:
    files = (file,) if file else ()
    opened = call.outcome.model_copy(update={"opened": tuple(one.path for one in files)})
    begins = [Path(one.path).read_text(encoding="utf-8") for one in files]
    evidence = Evidence(answer, question, [call.model_copy(update={"outcome": opened})], 1, files=files, begins=begins)
    found = refusal(evidence)
    return found.rule if found else ""
