"""Folding a history that has grown too long into one summary, by what would really be sent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.agents.remembering import earlier_messages
from habilis.agents.state import ExecutorState
from habilis.context.task import TaskContext
from habilis.core.events import Summarised
from habilis.messages.bounds import whole_part
from habilis.messages.history import text_of

HEADING = "## Context Summary"
MOST_WORK = 100_000
"""Tokens of the work on one question, whatever the model could hold: what is longer, models read badly."""
_MISSING = re.compile(r"missing capabilities:\s*\n?(.*)", re.IGNORECASE | re.DOTALL)


def too_long(messages: Sequence[BaseMessage], bound: Sequence[str], ctx: TaskContext) -> bool:
    """Whether system prompt, messages, arguments and tool schemas exceed the model's limit (no limit: never), or the
    messages alone what the work on one question may hold."""
    if _exceed(messages, MOST_WORK, ctx):
        return True
    limit = ctx.models.token_limit("basic")
    if limit is None:
        return False
    system = SystemMessage(ctx.system_prompt)
    sent = [system, *earlier_messages(ctx), *messages]
    return ctx.models.count("basic", sent, ctx.specs(bound)).tokens > limit


def _exceed(messages: Sequence[BaseMessage], limit: int, ctx: TaskContext) -> bool:
    """Whether `messages` hold more than `limit` tokens. Most are so few bytes that they need not be counted."""
    texts = (f"{m.content}{m.tool_calls if isinstance(m, AIMessage) else ''}" for m in messages)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return size > limit and ctx.models.count("basic", messages).tokens > limit


async def fold(state: ExecutorState, ctx: TaskContext) -> list[BaseMessage]:
    """The history with all model and tool messages folded into one summary; the task and a report stay."""
    messages = state["messages"]
    kept = [m for m in messages if isinstance(m, HumanMessage) and not str(m.content).startswith(HEADING)]
    text = await summarise(messages, ctx)
    folded: list[BaseMessage] = [kept[0], HumanMessage(f"{HEADING}\n{text}"), *kept[1:]]
    before, after = (ctx.models.count("basic", part).tokens for part in (messages, folded))
    ctx.emit(Summarised(before_tokens=before, after_tokens=after))
    return folded


async def summarise(messages: Sequence[BaseMessage], ctx: TaskContext) -> str:
    """A summary of the work in `messages`, an earlier summary carried over.

    Work that exceeds the summarising model's limit is folded piece by piece, each with the summary so far.
    """
    previous = next((str(m.content).removeprefix(HEADING) for m in messages if str(m.content).startswith(HEADING)), "")
    pieces = _pieces([line for m in messages if (line := _line(m))], ctx)
    for number, piece in enumerate(pieces, 1):
        prompt = ctx.prompts.render(
            "summarise", question=ctx.task.question, previous=previous.strip(), work="\n".join(piece)
        )
        reply = await ctx.models.chat(
            prompt.role,
            prompt.messages(),
            purpose="summary",
            label=f"summary {number}",
        )
        previous = whole_part(reply) or previous
    return previous.strip()


def missing_capabilities(text: str) -> str:
    """What stands under "Missing capabilities:" in a summary or answer, else ''."""
    found = _MISSING.search(text)
    wanted = found.group(1).strip() if found else ""
    return "" if wanted.lower().strip(".-* ") in ("none", "n/a", "") else wanted


def _line(message: BaseMessage) -> str:
    if isinstance(message, ToolMessage):
        return f"- result of {message.name} ({message.tool_call_id}): {text_of(message)}"
    if isinstance(message, AIMessage):
        calls = [
            f"- call {c['name']} ({c['id']}) {json.dumps(c['args'], ensure_ascii=False)}" for c in message.tool_calls
        ]
        return "\n".join(([f"- said: {message.content}"] if message.content else []) + calls)
    return ""


def _pieces(lines: list[str], ctx: TaskContext) -> list[list[str]]:
    """`lines` in groups that fit half of the summarising model's limit; an over-long line is cut to it."""
    limit = ctx.models.token_limit("summarise")
    if limit is None:
        return [lines] if lines else []
    room = max(limit // 2, 100)
    pieces: list[list[str]] = [[]]
    used = 0
    for line in lines:
        size = ctx.models.count("summarise", [HumanMessage(line)]).tokens
        if size > room:
            line, size = line[: room * 3] + " …(cut)", room
        if used + size > room and pieces[-1]:
            pieces.append([])
            used = 0
        pieces[-1].append(line)
        used += size
    return [piece for piece in pieces if piece]
