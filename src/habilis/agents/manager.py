"""The manager: judges what an execution came to, and plans what to do next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from habilis import rules
from habilis.agents.holding import evidence_of
from habilis.agents.planning import (
    as_plan,
    asked_again,
    asks_for_web,
    plan_form,
    with_fewer_builds,
    without_builds,
    without_misfits,
)
from habilis.agents.remembering import exchanges
from habilis.agents.reviewing import NOT_VERIFIED, reusable, reviewed, tells, told_plainly
from habilis.agents.short_way import AnswerReply, found_by, plan_by_rule
from habilis.agents.state import TaskState
from habilis.agents.steps import step
from habilis.context.task import TaskContext
from habilis.core.errors import ModelReplyUnusable
from habilis.core.events import Notice, Planned, Reviewed
from habilis.core.types import Plan, Review, ToolCard, ToolSpec
from habilis.prompts import Rendered

Next = Literal["tool_developer", "executor", "integrator"]
SHOWN_CALLS, SHOWN_CHARS = 30, 400
USED_BEFORE = 5
"""Tools of earlier turns that a plan is shown in any case, the last used."""
NO_ANSWER = "no answer"
NAMELESS = "{} seems to have no names of columns: its first row looks like data, and may be taken for the names."
STUCK = "the last attempt made no call and gave the answer that was refused before"
UNVERIFIED_AGAIN = "a second answer could not be verified either"
USELESS_AGAIN = "for the second time no call could run, and no answer came of it"
ASKED_AGAIN = "{} could not be built, and the next plan asks for the same again"
GIVES_NOTHING = "{} gives nothing that can be used: no plan, no judgement, no call"
NEVER_RAN = frozenset(("invalid_arguments", "unknown_tool"))
"""Errors of calls that were no calls of a tool there is."""


@step
async def manager(
    state: TaskState, runtime: Runtime[TaskContext]
) -> Command[Literal["tool_developer", "executor", "integrator"]]:
    """Review the last execution, if there was one; then hand over to the integrator, have the answer told again, or
    plan (again)."""
    ctx = runtime.context
    if state["attempt"] == 0:
        for file in ctx.files_view:
            if file.get("nameless") and not state.get("plan"):
                ctx.emit(Notice(level="warning", text=NAMELESS.format(file["named"])))
        return await _plan(state, ctx, None)
    review = await _review(state, ctx)
    ctx.emit(Reviewed(attempt=state["attempt"], review=review))
    update: TaskState = {"accepted": review.accepted, "review": review.model_dump()}
    if review.accepted:
        return Command(update=update, goto="integrator")
    shortly = Plan.model_validate(state["plan"]).by == "rule" and state["attempt"] == 1
    last = state["attempt"] >= ctx.settings.limits.max_attempts and not shortly
    ill_told = _told_wrongly(review) and (last or _told_wrongly_before(state) or not await tells(ctx))
    if ill_told or review.by == NOT_VERIFIED:
        told = told_plainly(evidence_of("", state, ctx), ctx)
        if told is not None:
            ctx.emit(Reviewed(attempt=state["attempt"], review=told[1]))
            plain = AnswerReply(final_answer=told[0], reasoning_summary=found_by(_last_success(state), ctx))
            update |= {"accepted": True, "review": told[1].model_dump(), "pending": told[0], "told": plain.model_dump()}
            return Command(update=update, goto="integrator")
    if stuck := _stuck(state, review, ctx):
        ctx.emit(Notice(level="warning", text=f"Giving up: {stuck}."))
    if stuck or last:
        return Command(update={**update, "report": review.reason}, goto="integrator")
    if _only_told_wrongly(review, state):
        return Command(update={**update, "report": review.reason}, goto="executor")
    return await _plan(state, ctx, review)


def _last_success(state: TaskState) -> dict[str, Any]:
    return next(raw for raw in reversed(state["calls"]) if raw["verdict"] == "success")


def _only_told_wrongly(review: Review, state: TaskState) -> bool:
    """Whether calls of this execution gave results, and the answer did not say what they say: it is asked for again
    with the same tools, told why. The second time in a row another plan is made."""
    gave = any(raw["attempt"] == state["attempt"] and raw["verdict"] == "success" for raw in state["calls"])
    return gave and _told_wrongly(review) and not _told_wrongly_before(state)


def _told_wrongly(review: Review) -> bool:
    """Whether an answer was refused for how it told its results. Not asked in the node itself: when LangGraph compiles
    a graph, it looks up all that a node names, which would import the rules."""
    return review.by in rules.TELLING


def _told_wrongly_before(state: TaskState) -> bool:
    """Whether the answer before this one was refused for how it told its results."""
    return bool(state.get("review")) and _told_wrongly(Review.model_validate(state["review"]))


async def _review(state: TaskState, ctx: TaskContext) -> Review:
    """The word on the last execution: by rules, then the judge. An answer that is empty, or had to be cut off, is
    refused without asking."""
    text = state.get("pending", "").strip()
    if not text:
        reason = {
            "out_of_rounds": "the round limit was reached without an answer",
            "empty_replies": "the model gave only empty replies",
            "cut_replies": "the model's replies ran on until they were cut off (limits.reply_tokens)",
        }.get(state.get("stop", ""), "no answer was given")
        return Review(accepted=False, reason=reason, by=NO_ANSWER)
    evidence = evidence_of(text, state, ctx)
    if refused := rules.refusal(evidence):
        return Review(accepted=False, reason=refused.reason, by=refused.rule)
    prompt = ctx.prompts.render(
        "review",
        conversation=exchanges(ctx.task),
        question=ctx.task.question,
        answer=text,
        tools=_used(state.get("calls", []), ctx),
        invocations=_digest(state.get("calls", [])),
    )
    return await reviewed(prompt, evidence, ctx)


def _digest(calls: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Which tools ran and with what result, the newest calls, short enough for a prompt of bounded size."""
    return [
        {
            "tool": raw["tool"],
            "arguments": json.dumps(raw["arguments"], ensure_ascii=False)[:SHOWN_CHARS],
            "result": raw["text"][:SHOWN_CHARS],
        }
        for raw in calls[-SHOWN_CALLS:]
    ]


def _used(calls: Sequence[dict[str, Any]], ctx: TaskContext) -> list[ToolSpec]:
    """What each tool behind the answer does: a judge that sees results alone takes an average for a maximum."""
    names = dict.fromkeys(raw["tool"] for raw in calls[-SHOWN_CALLS:])
    return [tool.spec for name in names if (tool := ctx.tool(name)) is not None]


def _stuck(state: TaskState, review: Review, ctx: TaskContext) -> str:
    """Why another attempt would end the same way, as far as can be told; else nothing."""
    if _only_repeated(state):
        return STUCK
    by, before = review.by, (state.get("review") or {}).get("by")
    if by == before == NOT_VERIFIED:
        return UNVERIFIED_AGAIN
    if {by, before} <= {NO_ANSWER, rules.NO_CALL} and not _ran(state, since=state["attempt"] - 1):
        return USELESS_AGAIN
    if ctx.models.patience.gives_nothing(ctx.models.name("basic")) and not _ran(state, since=state["attempt"]):
        return GIVES_NOTHING.format(ctx.models.name("basic"))
    return ""


def _only_repeated(state: TaskState) -> bool:
    """Whether another attempt has nothing new to stand on: same answer as before, no tool called in between."""
    called = any(raw["attempt"] == state["attempt"] for raw in state.get("calls", []))
    return not called and state.get("pending", "").strip() in [text.strip() for text in state.get("earlier", [])]


def _ran(state: TaskState, *, since: int) -> bool:
    """Whether a call of a tool that is there, with arguments that fit it, was made in the attempts `since` that one."""
    errors = [raw["outcome"]["error"] for raw in state.get("calls", []) if raw["attempt"] >= since]
    return any(error is None or error["kind"] not in NEVER_RAN for error in errors)


async def _plan(state: TaskState, ctx: TaskContext, review: Review | None) -> Command[Next]:
    """A rule gives the plan, or else one structured call; a model that gives none leaves the executor with the tools
    there are."""
    report = review.reason if review else ""
    tried = _tried(state, review, ctx) if review is not None and report else []
    candidates = await reusable([card for card in _candidates(state, ctx) if card.name not in tried], ctx)
    if (plan := plan_by_rule(state, candidates, ctx)) is not None:
        ctx.emit(Planned(attempt=1, plan=plan, offered=plan.reuse))
        return Command(update={"plan": plan.model_dump(mode="json")}, goto="tool_developer")
    prompt = ctx.prompts.render(
        "plan",
        conversation=exchanges(ctx.task),
        question=ctx.task.question,
        files=ctx.files_view,
        missing=ctx.task.missing,
        candidates=candidates,
        tried=tried,
        failure_report=report,
        build_failures="\n".join(state.get("build_failures", [])),
        capabilities=state.get("capabilities", ""),
        frozen=not ctx.settings.tools.synthesis,
        web=not ctx.task.files and asks_for_web(ctx.task.question),
    )
    plan, remarks = await _asked_for_plan(prompt, candidates, tried, ctx)
    if plan is None:
        plan = Plan(reuse=tuple(state["bound"]))
    if review is not None and _built_nothing(state):
        if again := asked_again(plan, Plan.model_validate(state["plan"])):
            why = ASKED_AGAIN.format(again)
            ctx.emit(Notice(level="warning", text=f"Giving up: {why}."))
            return Command(update={"report": why, "review": review.model_dump()}, goto="integrator")
        plan, more = with_fewer_builds(plan)
        remarks += more
    for remark in remarks:
        ctx.emit(Notice(level="warning", text=remark))
    shown = tuple(card.name for card in candidates)
    ctx.emit(Planned(attempt=state["attempt"] + 1, plan=plan, offered=shown))
    update: TaskState = {"plan": plan.model_dump(mode="json"), "report": report, "build_failures": remarks}
    if review is not None:
        update["review"] = review.model_dump()
    if plan.build:
        update["bound"] = [name for name in state["bound"] if name not in tried]
    return Command(update=update, goto="tool_developer")


def _built_nothing(state: TaskState) -> bool:
    """Whether the plan before was a model's, and none of the tools that it asked for could be built."""
    before = Plan.model_validate(state["plan"])
    return before.by != "rule" and bool(before.build) and not state["bound"]


def _tried(state: TaskState, review: Review, ctx: TaskContext) -> list[str]:
    """Tools that were there already and whose calls led to a refused answer: the next plan builds another instead. So
    it does of the task's own tools where the files show that what they gave is wrong."""
    if not ctx.settings.tools.synthesis:
        return []
    own = set(ctx.library.private.names()) if review.by not in rules.WORK else set()
    return [
        name
        for name in dict.fromkeys(raw["tool"] for raw in state["calls"])
        if name in state["bound"] and name not in own
    ]


def _candidates(state: TaskState, ctx: TaskContext) -> list[ToolCard]:
    """The tools nearest to the question, and those that the turns before it used: it may go on where they stopped."""
    earlier = ctx.task.earlier
    before = earlier.recent[-1].question if earlier and earlier.recent else ""
    query = "\n".join(filter(None, [ctx.task.question, before, state.get("capabilities", "")]))
    found = ctx.candidates(query, ctx.settings.retrieval.candidates)
    used = set(earlier.tools[:USED_BEFORE] if earlier else ()) - {card.name for card in found}
    cards = ctx.library.cards() if used else []
    return found + [card for card in cards if card.name in used and not ctx.missing(card.name)]


def _said(ctx: TaskContext) -> str:
    """The question, those before it, and what its files are called and begin with: what a tool may serve."""
    before = [turn["question"] for turn in exchanges(ctx.task)]
    files = [f"{file['named']} {file['begins']}" for file in ctx.files_view]
    return "\n".join([ctx.task.question, *before, *files])


def _card_of(name: str, ctx: TaskContext) -> ToolCard | None:
    tool = ctx.tool(name)
    return tool.card if tool is not None else None


async def _asked_for_plan(
    prompt: Rendered, candidates: Sequence[ToolCard], tried: Sequence[str], ctx: TaskContext
) -> tuple[Plan | None, list[str]]:
    """The plan, and remarks on what was changed in it; None when the model gave none.

    A plan that names only tools that are not there, were tried in vain, or do another thing by its own word, and asks
    for none is sent back once.
    """
    messages: list[BaseMessage] = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
    remarks: list[str] = []
    form = plan_form(tuple(card.name for card in candidates))
    for label in ("plan", "plan, corrected"):
        try:
            reply = await ctx.models.structured(prompt.role, messages, form, purpose="plan", label=label)
        except ModelReplyUnusable as error:
            return None, [f"The plan could not be read: {error}"]
        plan, remarks = as_plan(reply, ctx.usable_names(), known=[card.name for card in candidates])
        plan, misfits = without_misfits(plan, _said(ctx), lambda name: _card_of(name, ctx))
        remarks += misfits
        if not ctx.settings.tools.synthesis:
            return without_builds(plan, remarks)
        in_vain = [name for name in plan.reuse if name in tried]
        if plan.build or len(plan.reuse) > len(in_vain) or not (remarks or in_vain):
            break
        remarks += [f"{name} was called before, and its answer was refused; request a new tool." for name in in_vain]
        told = ctx.prompts.render("replan", remarks=remarks)
        messages = [*messages, AIMessage(reply.model_dump_json()), HumanMessage(told.user)]
    return plan, remarks
