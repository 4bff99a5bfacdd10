"""Success, the caller's mistake, or the tool's failure? Rules first, a model for what they leave open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from habilis.context.task import TaskContext
from habilis.contract.ruling import ruled
from habilis.core.events import Judged
from habilis.core.types import Invocation, Verdict
from habilis.judging import Case, JudgeTrial, at_once, word_of
from habilis.judging.planted_cases import FAILED_CALLS


class VerdictReply(BaseModel):
    call_id: str = Field(max_length=80)
    verdict: Literal["success", "failure", "input_error"]
    reason: str = Field(max_length=300)


class VerdictsReply(BaseModel):
    verdicts: list[VerdictReply] = Field(max_length=64)


def _clears(reply: VerdictsReply, case: Case) -> bool | None:
    """Whether the tool is found not to blame for a planted call."""
    said = [one.verdict for one in reply.verdicts if one.call_id == case.shown["call_id"]]
    return said[0] != "failure" if said else None


VERDICT = JudgeTrial("verdict", VerdictsReply, at_once("calls", FAILED_CALLS), _clears)


def verdict_by_rule(call: Invocation) -> tuple[Verdict | None, str]:
    """The verdict that needs no model, with its reason; None where the rules leave it open."""
    return ruled(call.outcome)


def failure_kind(call: Invocation) -> str:
    """What kind of failure it was, so that one version is mended at most once for each."""
    error = call.outcome.error
    return f"{call.version}:{(error.exception or error.kind) if error else 'output'}"


async def judge(calls: Sequence[Invocation], ctx: TaskContext) -> list[Invocation]:
    """`calls` with a verdict each, in order. One model call for all that the rules leave open, keyed by call id.

    Where the model gives no usable verdict, or its word tells nothing, the call counts as a failure: a wrong mending
    attempt costs little, since nothing replaces a tool that does not pass its replay.
    """
    ruled = {call.call_id: (*verdict_by_rule(call), "rule") for call in calls}
    unsure = [call for call in calls if ruled[call.call_id][0] is None]
    if unsure:
        replies = await _ask(unsure, ctx)
        for call in unsure:
            reply = replies.get(call.call_id)
            ruled[call.call_id] = (
                (reply.verdict, reply.reason, "model") if reply else ("failure", "no verdict given", "rule")
            )
    judged = []
    for call in calls:
        verdict, reason, by = ruled[call.call_id]
        ctx.emit(Judged(call_id=call.call_id, tool=call.tool, verdict=verdict, reason=reason, by=by))
        judged.append(call.model_copy(update={"verdict": verdict}))
    return judged


async def _ask(calls: Sequence[Invocation], ctx: TaskContext) -> dict[str, VerdictReply]:
    begins = "\n".join(f"  {file['named']}:\n{file['begins']}" for file in ctx.files_view if file["begins"])
    prompt = ctx.prompts.render(
        "verdict",
        calls=[
            {
                "call_id": call.call_id,
                "tool": call.tool,
                "arguments": json.dumps(call.arguments, ensure_ascii=False)[:1000],
                "result": call.text[:1500],
                "begins": begins,
            }
            for call in calls
        ],
    )
    _, reply = await word_of(VERDICT, prompt, ctx.models, ctx.prompts, label="verdict")
    return {one.call_id: one for one in reply.verdicts} if reply else {}
