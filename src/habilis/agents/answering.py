"""From findings to an answer that stands on them: asked for, doubted by its values, asked for again, judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, Field

from habilis import grounding
from habilis.context.task import TaskContext
from habilis.core.events import Notice
from habilis.grounding.telling import MOST_TOLD, listed
from habilis.judging import JudgeTrial, one_by_one, word_of
from habilis.judging.planted_answers import DOUBTED
from habilis.prompts import Rendered

BY_RULES_ALONE = frozenset(("number", "date"))
"""Kinds of values that no judge is asked about: whether a number is there, rules know better than any model."""
VALUES = "review of doubted values"
Reply = TypeVar("Reply", bound=BaseModel)


class GroundedReply(BaseModel):
    reason: str = Field(max_length=600)
    word: Literal["founded", "invented"]


GROUNDED = JudgeTrial("grounded", GroundedReply, one_by_one(DOUBTED), lambda reply, _: reply.word == "founded")


@dataclass(frozen=True)
class Doubted:
    """An answer that was asked for twice and still holds values that stand nowhere."""

    values: tuple[grounding.Unfounded, ...]

    def __str__(self) -> str:
        return listed(self.values)


async def grounded(
    prompt: Rendered,
    form: type[Reply],
    unfounded: Callable[[Reply], tuple[grounding.Unfounded, ...]],
    ctx: TaskContext,
    *,
    findings: str,
) -> Reply | Doubted:
    """A reply to `prompt` without values that stand nowhere, or what is doubted of the second one.

    One call where nothing is doubted; a second, told which values are; a third to the judge, where only names, words
    and quotations are left in doubt. Raises `ModelReplyUnusable` like any structured call.
    """
    messages = prompt.messages()
    reply = await ctx.models.structured(prompt.role, messages, form, purpose="answer")
    doubts = unfounded(reply)
    if not doubts:
        return reply
    ctx.emit(Notice(level="info", text=f"The answer is asked for again: {listed(doubts)} in no finding."))
    told = ctx.prompts.render("doubted", values=_shown(doubts))
    messages += [AIMessage(reply.model_dump_json()), HumanMessage(told.user)]
    again = await ctx.models.structured(prompt.role, messages, form, purpose="answer", label="answer from findings")
    doubts = unfounded(again)
    if not doubts or await _judged(again, doubts, findings, ctx):
        return again
    return Doubted(doubts)


async def _judged(reply: BaseModel, doubts: Sequence[grounding.Unfounded], findings: str, ctx: TaskContext) -> bool:
    """Whether the judge finds the doubted values in the findings all the same. Its silence is a no, and so is the word
    of one that tells nothing."""
    if any(value.kind in BY_RULES_ALONE for value in doubts):
        return False
    prompt = ctx.prompts.render(
        "grounded",
        question=ctx.task.question,
        findings=findings,
        answer=str(getattr(reply, "final_answer", "")),
        values=_shown(doubts),
    )
    _, ruling = await word_of(GROUNDED, prompt, ctx.models, ctx.prompts, label=VALUES)
    return ruling is not None and ruling.word == "founded"


def _shown(values: Sequence[grounding.Unfounded]) -> list[dict[str, str]]:
    return [{"text": " ".join(value.text.split())[:200], "kind": value.kind} for value in values[:MOST_TOLD]]
