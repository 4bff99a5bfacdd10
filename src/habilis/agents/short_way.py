"""The short way: plans that take no model, and answers that take no step to tell what one call gave.

Where a tool of the library answered a question of the same words, it is used again. Where the library has nothing and
the question looks like one job, one tool is written together with its first call: the gate's trial of the new tool is
that call, over the task's own files; it stands on the tape like any call, and the execution begins with it. Where one
tool is to do one job, whoever planned it, its first call is answered from at once. Whatever does not end well goes on
the long way, with what was made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from pydantic import BaseModel, Field

from habilis import grounding
from habilis.agents.answering import Doubted, grounded
from habilis.agents.recorded import folders_of, results_of, told_with
from habilis.agents.remembering import exchanges
from habilis.agents.state import unpacked
from habilis.context.results import as_text
from habilis.core.errors import ModelReplyUnusable
from habilis.core.types import Plan
from habilis.library.retrieval.relevance import same_but_values
from habilis.synthesis.one_job import why_several
from habilis.synthesis.outright import request_of

if TYPE_CHECKING:
    from habilis.agents.state import ExecutorState, TaskState
    from habilis.context.task import TaskContext
    from habilis.core.types import ToolCard
    from habilis.synthesis.trial import FirstCall

ANSWERED_BEFORE = "it answered a question of the same words"
LONGEST = 8_000
"""Letters of an answer."""
MOST_CHARS = 300
"""Letters of a call's arguments, and of its result, that are told of how an answer was found."""
_LONE_FIELD = re.compile(r"""\{\s*(["']?)\w+\1\s*:\s*(["']?)(?P<value>[^{}\[\]"',;]*[^{}\[\]"',;\s])\2\s*\}""")
_SPEAKS_OF_OBJECTS = re.compile(r"\{|\b(?:json|dict\w*|objects?|mappings?|keys?)\b", re.IGNORECASE)
FIRST = "first"
"""The id of the first call, and the name under which the tape has its arguments."""


class BareReply(BaseModel):
    """An answer alone: how it was found is known."""

    final_answer: str = Field(max_length=LONGEST)


class AnswerReply(BareReply):
    reasoning_summary: str = Field(default="", max_length=1_500)


Worded = TypeVar("Worded", bound=BareReply)


def plan_by_rule(state: TaskState, candidates: Sequence[ToolCard], ctx: TaskContext) -> Plan | None:
    """The plan that takes no model, None where one is needed: something else can be reused, the question is a turn that
    may lean on others, tasks of a step share what they build, or it does not look like one job."""
    task, tools = ctx.task, ctx.settings.tools
    if not (tools.short_way and ctx.smith.builds_alone) or state["attempt"] or state.get("plan"):
        return None
    if task.earlier is not None or task.missing:
        return None
    if candidates:
        return plan_as_before(task.question, candidates)
    if not tools.synthesis or why_several(task.question, ctx.files_view):
        return None
    return Plan(build=(request_of(task.question),), by="rule")


def plan_as_before(question: str, candidates: Sequence[ToolCard]) -> Plan | None:
    """To use the one tool again that answered a question of the same words. Where several did, each may have done a
    part, so a model plans."""
    known = [card for card in candidates if any(same_but_values(question, past) for past in card.answered)]
    if len(known) != 1:
        return None
    name = known[0].name
    return Plan(reuse=(name,), serves={name: ANSWERED_BEFORE}, by="rule")


def one_call_may_do(plan: Plan, ctx: TaskContext) -> bool:
    """Whether a plan's one tool, called once, may be all that its question takes. Several files may take several
    calls; of a table without names of columns something more is to be said."""
    if plan.by == "rule" and plan.build:
        return True
    if not ctx.settings.tools.short_way or ctx.task.earlier is not None or ctx.task.missing:
        return False
    alone = len(plan.reuse) + len(plan.build) == 1 and len(ctx.files_view) <= 1
    alone = alone and not any(file.get("nameless") for file in ctx.files_view)
    return alone and not why_several(ctx.task.question, ctx.files_view)


def keep_first(ctx: TaskContext, tool: str, first: FirstCall) -> None:
    """Write the first call of `tool` and its outcome to the tape, where the execution finds it."""
    ctx.tape.note(FIRST, json.dumps({"tool": tool, "arguments": first.arguments}, ensure_ascii=False))
    ctx.tape.call_ended(FIRST, first.outcome)


def first_reply(ctx: TaskContext) -> AIMessage | None:
    """The first call as the model's reply that it takes the place of; None where none was made."""
    noted = ctx.tape.noted(FIRST)
    if noted is None:
        return None
    call = json.loads(noted)
    return AIMessage("", tool_calls=[tool_call(name=call["tool"], args=call["arguments"], id=FIRST)])


async def answered(state: ExecutorState, ctx: TaskContext) -> AnswerReply | None:
    """The answer from what the first call gave; None where it gave nothing, or the model has no answer that stands on
    it. An answer in a form of its own is left to the integrator."""
    if not state["calls"]:  # what was called was no tool
        return None
    raw = state["calls"][-1]
    if raw["verdict"] != "success" or ctx.task.answer_schema is not None:
        return None
    findings = _findings(raw, ctx)
    sources = [findings, *told_with(ctx.task), *results_of(state["calls"], ctx.tape)]
    try:
        reply = await worded(findings, sources, BareReply, ctx)
    except ModelReplyUnusable:
        return None
    if isinstance(reply, Doubted) or not reply.final_answer.strip():
        return None
    return AnswerReply(final_answer=reply.final_answer, reasoning_summary=found_by(raw, ctx))


async def worded(
    findings: str, sources: Sequence[str], form: type[Worded], ctx: TaskContext, *, cited: Sequence[str] = ()
) -> Worded | Doubted:
    """The answer that a model gives in `form` from `findings`, of which each value stands in `sources`, or what of it
    does not.

    Raises `ModelReplyUnusable`.
    """
    told = {"conversation": exchanges(ctx.task), "question": ctx.task.question, "findings": findings}
    known = grounding.Known(sources, ctx.task.question, folders=folders_of(ctx.task))
    reply = await grounded(
        ctx.prompts.render("answer", **told, sources=cited, explained=issubclass(form, AnswerReply)),
        form,
        lambda reply: grounding.unfounded(reply.final_answer, known),
        ctx,
        findings=findings,
    )
    if isinstance(reply, Doubted):
        return reply
    return reply.model_copy(update={"final_answer": plain_value(reply.final_answer, ctx.task.question)})


def plain_value(answer: str, question: str) -> str:
    """`answer`, or the value alone where it is an object with one field: small models give the form of a result along.
    A question that speaks of such a form keeps it."""
    lone = None if _SPEAKS_OF_OBJECTS.search(question) else _LONE_FIELD.fullmatch(answer.strip())
    return lone["value"] if lone else answer


def _findings(raw: dict[str, Any], ctx: TaskContext) -> str:
    tool = ctx.tool(raw["tool"])
    does = tool.spec.description if tool is not None else ""
    return f"{raw['tool']}: {does}\nCalled with {as_text(raw['arguments'])}, it gave:\n{raw['text']}"


def found_by(raw: dict[str, Any], ctx: TaskContext) -> str:
    """How one call's answer was found: what was run, where a model would only tell a story about it."""
    output = unpacked(raw, ctx.tape).outcome.output
    if isinstance(output, dict):
        output = {name: value for name, value in output.items() if value is not None}
    return f"`{raw['tool']}` with {_brief(raw['arguments'])} gave {_brief(output)}"


def _brief(value: Any) -> str:
    text = " ".join(as_text(value).split())
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1]}…"


def answer_given(state: TaskState) -> AnswerReply | None:
    """The answer that the execution gave in its final form, None where it is still to be made."""
    reply = AnswerReply.model_validate(state["told"]) if state.get("told") else None
    return reply if reply is not None and state["accepted"] and reply.final_answer == state["pending"] else None
