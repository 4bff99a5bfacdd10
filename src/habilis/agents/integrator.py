"""The integrator: from findings to the answer in the form that was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from habilis import grounding, rules
from habilis.agents.answering import Doubted, grounded
from habilis.agents.holding import evidence_of
from habilis.agents.recorded import folders_of, results_of, told_with
from habilis.agents.remembering import exchanges
from habilis.agents.short_way import LONGEST, AnswerReply, answer_given, worded
from habilis.agents.state import TaskState, unpacked
from habilis.agents.steps import step
from habilis.context.results import as_text, cut_text
from habilis.context.task import TaskContext
from habilis.core.errors import ModelReplyUnusable
from habilis.core.events import Notice
from habilis.core.types import Answer, JsonSchema
from habilis.models.answers import answer_text, answer_type

NO_RESULT = "No result was found."
INVENTED = "The findings are given as they are, for the answer was invented:"
MISTOLD = "The findings are given as they are, for the answer told them wrongly:"
CITED = ("knowledge", "web")
"""Sources of tools whose results name what to cite."""
MOST_SOURCES = 40


@step
async def integrator(state: TaskState, runtime: Runtime[TaskContext]) -> Command[Literal["__end__"]]:
    """One structured call makes the answer, unless the execution gave it in its form. Without findings there is nothing
    to ask: the answer says so. Nor is there where nothing ran and the answer was refused: it is given as it is."""
    ctx = runtime.context
    findings = best_text(state)
    if not findings:
        return Command(update={"answer": Answer(final_answer=NO_RESULT).model_dump()}, goto="__end__")
    cited = sources_of(state, ctx)
    sources = [findings, *cited, *told_with(ctx.task), *results_of(state.get("calls", []), ctx.tape)]
    findings = _within_limit(findings, ctx)
    if ctx.task.answer_schema is not None:
        return await _by_schema(ctx.task.answer_schema, findings, sources, ctx)
    try:
        reply = (
            answer_given(state)
            or _refused(findings, state)
            or await worded(findings, sources, AnswerReply, ctx, cited=cited)
        )
    except ModelReplyUnusable as error:
        return Command(update={"answer_error": f"integrator: {error}"}, goto="__end__")
    if isinstance(reply, Doubted):
        ctx.emit(Notice(level="warning", text=f"{INVENTED} {reply} in no finding."))
        reply = AnswerReply(final_answer=findings[:LONGEST])
    elif wrong := _mistold(reply, state, ctx):
        ctx.emit(Notice(level="warning", text=f"{MISTOLD} {wrong.reason}."))
        reply = AnswerReply(final_answer=findings[:LONGEST])
    if not reply.final_answer.strip():
        return Command(update={"answer_error": "integrator: the model gave an empty answer"}, goto="__end__")
    return Command(update={"answer": Answer(**reply.model_dump()).model_dump()}, goto="__end__")


def _mistold(reply: AnswerReply, state: TaskState, ctx: TaskContext) -> rules.Refusal | None:
    """What an accepted answer tells otherwise than the calls. Not asked in the node itself, as in `manager.py`."""
    return rules.mistelling(evidence_of(reply.final_answer, state, ctx)) if state["accepted"] else None


def _refused(findings: str, state: TaskState) -> AnswerReply | None:
    """The refused answer of a task none of whose calls gave anything; None for any other."""
    gave = any(raw["verdict"] == "success" for raw in state.get("calls", []))
    return None if gave or state["accepted"] else AnswerReply(final_answer=findings[:LONGEST])


async def _by_schema(
    schema: JsonSchema, findings: str, sources: Sequence[str], ctx: TaskContext
) -> Command[Literal["__end__"]]:
    """The answer as data that fits `schema`; what does not is sent back with what is wrong, then given up.

    A value that the schema itself offers stands, whatever the findings say.
    """
    text = json.dumps(schema, ensure_ascii=False)
    told = {"conversation": exchanges(ctx.task), "question": ctx.task.question, "findings": findings}
    prompt = ctx.prompts.render("answer_form", **told, schema=text)
    known = grounding.Known([*sources, *_offered(schema)], ctx.task.question, folders=folders_of(ctx.task))

    def doubts(reply: Any) -> tuple[grounding.Unfounded, ...]:
        return grounding.unfounded_data(reply.final_answer, known)

    try:
        reply: Any = await grounded(prompt, answer_type(schema), doubts, ctx, findings=findings)
    except ModelReplyUnusable as error:
        return Command(update={"answer_error": f"integrator: no answer fits the schema: {error}"}, goto="__end__")
    if isinstance(reply, Doubted):
        return Command(update={"answer_error": f"integrator: {reply} in no finding"}, goto="__end__")
    data = reply.final_answer
    answer = Answer(final_answer=answer_text(data), reasoning_summary=reply.reasoning_summary, data=data)
    return Command(update={"answer": answer.model_dump()}, goto="__end__")


def _offered(node: Any) -> Iterator[str]:
    """The values that a schema lets an answer choose from."""
    for value in node if isinstance(node, list) else node.values() if isinstance(node, dict) else ():
        yield from _offered(value)
    if isinstance(node, dict):
        offered = [node.get("enum"), node.get("const"), node.get("default"), node.get("examples")]
        yield from (as_text(value) for value in offered if value is not None)


def sources_of(state: TaskState, ctx: TaskContext) -> list[str]:
    """Documents and pages that the task's calls gave text of, which findings may cite, in the order of the calls."""
    found: dict[str, None] = {}
    for raw in state.get("calls", []):
        if (tool := ctx.external.get(raw["tool"])) is None or tool.source not in CITED:
            continue
        output = unpacked(raw, ctx.tape).outcome.output
        rows = [output, *output.get("passages", ()), *output.get("results", ())] if isinstance(output, dict) else []
        found |= dict.fromkeys(row["source"] for row in rows if "source" in row)
    return list(found)[-MOST_SOURCES:]


def best_text(state: TaskState) -> str:
    """The best there is to build an answer on: the last answer, an earlier one, a summary."""
    candidates = [state.get("pending", ""), *reversed(state.get("earlier", [])), state.get("summary", "")]
    return next((text for text in candidates if text.strip()), "")


def _within_limit(findings: str, ctx: TaskContext) -> str:
    """`findings` cut to half of the model's limit: never an exception, never emptied."""
    limit = ctx.models.token_limit("basic")
    if limit is None:
        return findings
    return cut_text(findings, max(limit // 2, 50), lambda text: ctx.models.count("basic", [HumanMessage(text)]).tokens)
