"""What the graph remembers between steps: JSON-plain values and LangChain messages, nothing that a later version
could not read. Tools stand here by name and are looked up at every step, so that a better version is picked up at once.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypedDict

from langchain_core.messages import BaseMessage

from habilis.core.types import CallOutcome, Invocation
from habilis.models.tape import Tape

Stop = Literal["", "answer", "finished", "out_of_rounds", "empty_replies", "cut_replies", "failing", "repeating"]
Short = Literal["", "call", "answer"]
"""What is left of the short way: its one call is to be made, the answer from it is to be asked for, or nothing."""
"""Why an execution ended; empty while it runs."""

KEPT_OUTPUT_CHARS = 4_000
"""Outputs longer than this as JSON are left to the tape, so that checkpoints stay small."""


class TaskState(TypedDict, total=False):
    """State of the outer graph.

    `attempt` counts executions. `plan` is a `Plan`, `answer` an `Answer` as JSON. `calls` is the log of invocations
    (see `packed`). `pending` is the executor's answer, `earlier` those of earlier attempts, `summary` what an
    execution that ran out of rounds had to say. `review` is the last `Review` as JSON, `report` the reason of its
    RETRY. `position` counts thoughts.
    `told` is the answer that an execution gave in its final form (`agents.short_way`).
    `tape` is how far the tape was used when the step ended (`agents.steps`).
    """

    attempt: int
    plan: dict[str, Any]
    bound: list[str]
    build_failures: list[str]
    capabilities: str
    report: str
    pending: str
    earlier: list[str]
    summary: str
    stop: Stop
    accepted: bool
    review: dict[str, Any]
    answer: dict[str, Any]
    answer_error: str
    told: dict[str, Any]
    messages: list[BaseMessage]
    calls: list[dict[str, Any]]
    rounds: int
    round_limit_reached: bool
    position: int
    enhancements: dict[str, list[str]]
    tape: int


class ExecutorState(TypedDict, total=False):
    """State of the executor's sub-graph: one execution.

    `rounds` counts tool rounds; `empty_run` and `empty_total` empty or cut replies, in a row and in all
    (`was_cut`: the last of them was cut off, `cut_how` is what the model is told of it); `failed_run` rounds
    in a row in which every call failed. `ending` is set when only the answer without tools is left to be asked for,
    `stop` when the execution is over. `enhancements` holds, by tool, one entry for each look that tried to mend it: the
    kinds of failure seen, one a line. `told` is the answer of the short way. `toolless`: all that was to be built
    failed, and nothing else is bound.
    """

    attempt: int
    bound: list[str]
    toolless: bool
    messages: list[BaseMessage]
    calls: list[dict[str, Any]]
    rounds: int
    empty_run: int
    empty_total: int
    was_cut: bool
    cut_how: str
    failed_run: int
    too_long: bool
    ending: Stop
    stop: Stop
    text: str
    short: Short
    told: dict[str, Any]
    position: int
    enhancements: dict[str, list[str]]
    tape: int


def packed(call: Invocation) -> dict[str, Any]:
    """An invocation for the state: as JSON, without an output that is long; the tape holds it by call id."""
    raw = call.model_dump(mode="json")
    if len(json.dumps(raw["outcome"]["output"])) > KEPT_OUTPUT_CHARS:
        raw["outcome"]["output"] = None
    return raw


def unpacked(raw: dict[str, Any], tape: Tape) -> Invocation:
    """The invocation that `packed` made `raw` of, its output whole again."""
    call = Invocation.model_validate(raw)
    if call.outcome.error is None and call.outcome.output is None:
        recorded = tape.call_state(call.call_id)
        if isinstance(recorded, CallOutcome):
            return call.model_copy(update={"outcome": recorded})
    return call
