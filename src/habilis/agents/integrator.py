"""The integrator: from findings to the answer in the form that was asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

from habilis.agents.grounding import doubt
from habilis.agents.remembering import exchanges
from habilis.agents.state import TaskState, unpacked
from habilis.agents.steps import step
from habilis.core.errors import ModelReplyUnusable
from habilis.core.events import Notice
from habilis.core.types import Answer, JsonSchema
from habilis.models.answers import answer_text, answer_type
from habilis.prompts import Rendered
from habilis.tools.results import cut_text
from habilis.tools.workshop import Workshop

NO_RESULT = "No result was found."
INVENTED = (
    "Nothing of this stands in <findings>. Answer from them alone; where they lack what is asked, say what they hold."
)
CITED = ("knowledge", "web")
"""Sources of tools whose results name what to cite."""
MOST_SOURCES = 40


class AnswerReply(BaseModel):
    final_answer: str = Field(max_length=8_000, description="the answer alone")
    reasoning_summary: str = Field(default="", max_length=1_500)


@step
async def integrator(state: TaskState, runtime: Runtime[Workshop]) -> Command[Literal["__end__"]]:
    """One structured call makes the answer. Without findings there is nothing to ask: the answer says so."""
    shop = runtime.context
    findings = best_text(state)
    if not findings:
        return Command(update={"answer": Answer(final_answer=NO_RESULT).model_dump()}, goto="__end__")
    findings = _within_limit(findings, shop)
    if shop.task.answer_schema is not None:
        return await _by_schema(shop.task.answer_schema, findings, shop)
    sources = sources_of(state, shop)
    told = {"conversation": exchanges(shop.task), "question": shop.task.question, "findings": findings}
    prompt = shop.prompts.render("answer", **told, sources=sources)
    known = [findings, shop.task.question, *map(str, told["conversation"])]
    try:
        reply = await _from_what_is_known(prompt, known, shop)
    except ModelReplyUnusable as error:
        return Command(update={"answer_error": f"integrator: {error}"}, goto="__end__")
    if not reply.final_answer.strip():
        return Command(update={"answer_error": "integrator: the model gave an empty answer"}, goto="__end__")
    return Command(update={"answer": Answer(**reply.model_dump()).model_dump()}, goto="__end__")


async def _from_what_is_known(prompt: Rendered, known: Sequence[str], shop: Workshop) -> AnswerReply:
    """The answer. One of which nothing is `known` is asked for again, then the findings, known first, are given.

    A number that is given again as it was stands: findings may hold it as a word.
    """
    messages: list[BaseMessage] = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
    reply = await shop.models.structured(prompt.role, messages, AnswerReply, purpose="answer")
    doubted = doubt(reply.final_answer, known)
    if not doubted:
        return reply
    messages += [AIMessage(reply.model_dump_json()), HumanMessage(INVENTED)]
    again = await shop.models.structured(prompt.role, messages, AnswerReply, purpose="answer from findings")
    insists = doubted == "number" and again.final_answer.strip() == reply.final_answer.strip()
    if insists or not doubt(again.final_answer, known):
        return again
    shop.emit(Notice(level="warning", text="The findings are given as they are: the answer made of them was invented."))
    return AnswerReply(final_answer=known[0][:8_000])


async def _by_schema(schema: JsonSchema, findings: str, shop: Workshop) -> Command[Literal["__end__"]]:
    """The answer as data that fits `schema`; what does not is sent back with what is wrong, then given up."""
    text = json.dumps(schema, ensure_ascii=False)
    told = {"conversation": exchanges(shop.task), "question": shop.task.question, "findings": findings}
    prompt = shop.prompts.render("answer_form", **told, schema=text)
    messages = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
    try:
        reply: Any = await shop.models.structured(prompt.role, messages, answer_type(schema), purpose="answer")
    except ModelReplyUnusable as error:
        return Command(update={"answer_error": f"integrator: no answer fits the schema: {error}"}, goto="__end__")
    data = reply.final_answer
    answer = Answer(final_answer=answer_text(data), reasoning_summary=reply.reasoning_summary, data=data)
    return Command(update={"answer": answer.model_dump()}, goto="__end__")


def sources_of(state: TaskState, shop: Workshop) -> list[str]:
    """Documents and pages that the task's calls gave text of, which findings may cite, in the order of the calls."""
    found: dict[str, None] = {}
    for raw in state.get("calls", []):
        if (tool := shop.external.get(raw["tool"])) is None or tool.source not in CITED:
            continue
        output = unpacked(raw, shop.tape).outcome.output
        rows = [output, *output.get("passages", ()), *output.get("results", ())] if isinstance(output, dict) else []
        found |= dict.fromkeys(row["source"] for row in rows if "source" in row)
    return list(found)[-MOST_SOURCES:]


def best_text(state: TaskState) -> str:
    """The best there is to build an answer on: the last answer, an earlier one, a summary."""
    candidates = [state.get("pending", ""), *reversed(state.get("earlier", [])), state.get("summary", "")]
    return next((text for text in candidates if text.strip()), "")


def _within_limit(findings: str, shop: Workshop) -> str:
    """`findings` cut to half of the model's limit: never an exception, never emptied."""
    limit = shop.models.token_limit("basic")
    if limit is None:
        return findings
    return cut_text(findings, max(limit // 2, 50), lambda text: shop.models.count("basic", [HumanMessage(text)]).tokens)
