"""Whether an answer is accepted where no rule refuses it: by the judge, or by rules where its word tells nothing."""

from __future__ import annotations

from collections.abc import Sequence

from habilis import rules
from habilis.context.task import TaskContext
from habilis.core.types import Review, Standing, ToolCard
from habilis.judging import standing_or_away, word_of
from habilis.judging.answers import REVIEW, accepts
from habilis.library.retrieval.relevance import same_but_values
from habilis.prompts import Rendered

BY_RULES, NOT_VERIFIED = "rules", "not verified"
WRITTEN_HERE = frozenset(("built", "enhanced"))
"""Ways by which a task's own tool came to be that began with a request of this task's plan."""


async def reviewed(prompt: Rendered, evidence: rules.Evidence, ctx: TaskContext) -> Review:
    """The review of an answer that no rule refuses: by the judge, or by rules where its word tells nothing."""
    standing, reply = await word_of(REVIEW, prompt, ctx.models, ctx.prompts)
    if reply is None:
        return by_rules(evidence, standing, ctx)
    accepted = accepts(reply)
    by = "judge" if accepted or reply.status == "RETRY" else "the judge's own reason"
    return Review(accepted=accepted, reason=reply.reason, by=by, judge=standing)


def by_rules(evidence: rules.Evidence, standing: Standing, ctx: TaskContext) -> Review:
    """What rules alone can say: accepted where they settle it, else not verified."""
    if why := rules.settled(evidence, lambda name: _own(name, ctx)):
        return Review(accepted=True, reason=why, by=BY_RULES, judge=standing)
    judge = (
        f"the judge, {standing.model}, {standing.said}" if not standing.tells else "the review gave no usable verdict"
    )
    reason = (
        f"{NOT_VERIFIED}: no rule settles this answer, and {judge}. "
        "What would settle it: one call of a tool that is built for this question and takes all that it gives"
    )
    return Review(accepted=False, reason=reason, by=NOT_VERIFIED, judge=standing)


async def reusable(candidates: Sequence[ToolCard], ctx: TaskContext) -> list[ToolCard]:
    """Those of `candidates` whose result can come to be accepted. Where the judge's word tells nothing, rules accept a
    tool of the library only for a question of the words that it answered before; another is better built anew."""
    doubtful = {card.name for card in candidates if ctx.library.get(card.name) and _own(card.name, ctx) is None}
    if not doubtful or not ctx.settings.tools.synthesis:
        return list(candidates)
    judged = await tells(ctx)
    return [card for card in candidates if judged or card.name not in doubtful]


async def tells(ctx: TaskContext) -> bool:
    """Whether the judge's word tells right from wrong."""
    return (await standing_or_away(REVIEW, ctx.models, ctx.prompts)).tells


def _own(name: str, ctx: TaskContext) -> rules.OwnTool | None:
    """A tool that was written for this task, or that answered a question of the same words before."""
    tool = ctx.library.private.get(name)
    if tool is not None and tool.origin.how in WRITTEN_HERE:
        return rules.OwnTool(tool.card, rules.words_in(tool.source()))
    tool = ctx.library.get(name)
    if tool is None or not any(same_but_values(ctx.task.question, past) for past in tool.manifest.answered):
        return None
    return rules.OwnTool(tool.card, rules.words_in(tool.source()), reused=True)


def told_plainly(evidence: rules.Evidence, ctx: TaskContext) -> tuple[str, Review] | None:
    """The last result told as it came, with its review, where rules settle that and refuse none of it; else None."""
    told = rules.plain_telling(evidence, lambda name: _own(name, ctx))
    if told is None or rules.refusal(told):
        return None
    why = rules.settled(told, lambda name: _own(name, ctx))
    return told.answer, Review(accepted=True, reason=f"told as it came: {why}", by=BY_RULES)
