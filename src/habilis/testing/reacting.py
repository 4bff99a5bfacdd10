"""A model that cannot call functions: it is asked in plain text, and answers in Thought, Action, Final Answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.messages.arguments import ArgumentsUnreadable, read_arguments
from habilis.testing.faults import content_text
from habilis.tool_calling.scratchpad import CONTINUE

Answerer = Callable[[list[BaseMessage], list[dict[str, Any]], dict[str, Any] | None], AIMessage]
_PART = re.compile(
    r"^(Thought|Action|Action Input|Observation|Final Answer|Question):[ ]?(.*?)"
    r"(?=^(?:Thought|Action|Action Input|Observation|Final Answer|Question):|\Z)",
    re.DOTALL | re.MULTILINE,
)
_TOOL = re.compile(r'^\{"name": .*\}$', re.MULTILINE)


def in_plain_text(answer: Answerer) -> Answerer:
    """`answer` as a model would give it that knows nothing of functions: tools are read from the prompt, calls are
    written into the reply, one at a time."""

    def answering(messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        asked = _read(messages)
        if asked is None:
            return answer(messages, [], form)
        reply = answer(*asked, form)
        return AIMessage(_written(reply))

    return answering


def _read(messages: Sequence[BaseMessage]) -> tuple[list[BaseMessage], list[dict[str, Any]]] | None:
    """A prompt of reasoning and acting as messages and functions; None for any other prompt."""
    first = content_text(messages[0].content) if messages else ""
    if "Final Answer:" not in first:
        return None
    rows = list(messages)
    if isinstance(messages[0], HumanMessage):  # one text to go on with
        first, _, rest = first.partition("\nQuestion: ")
        rows = [SystemMessage(first), *_scratch(f"Question: {rest.removesuffix('Thought:')}")]
    read: list[BaseMessage] = [SystemMessage(first)]
    for row in rows[1:]:
        if isinstance(row, AIMessage) and not row.tool_calls:
            read += list(_scratch(content_text(row.content))) or [row]
        elif content_text(row.content) != CONTINUE:
            read.append(row)
    tools = [{"type": "function", "function": json.loads(line)} for line in _TOOL.findall(first)]
    return read, tools


def _scratch(text: str) -> Iterator[BaseMessage]:
    """A scratchpad as the calls and results that it tells of."""
    thought = name = ""
    number = 0
    for kind, inner in _PART.findall(text):
        said = inner.strip()
        if kind == "Question":
            yield HumanMessage(said)
        elif kind == "Thought":
            thought = said
        elif kind == "Action":
            name = said
        elif kind == "Action Input":
            number += 1
            try:
                args = read_arguments(said)
            except ArgumentsUnreadable:
                args = {"unreadable": said}
            yield AIMessage(thought, tool_calls=[{"name": name, "args": args, "id": f"s{number}"}])
            thought = ""
        elif kind == "Observation":
            status: Any = "error" if "was not run" in said or "failed" in said.lower()[:40] else "success"
            yield ToolMessage(said, tool_call_id=f"s{number}", status=status)
        else:
            yield AIMessage(said)


def _written(reply: AIMessage) -> str:
    """A reply in the form that was asked for."""
    text = content_text(reply.content)
    if not reply.tool_calls:
        return f"Thought: I know what was asked.\nFinal Answer: {text}"
    call = reply.tool_calls[0]
    given = json.dumps(call["args"], ensure_ascii=False)
    # What follows is what such models invent unless a stop word ends them.
    return f"Thought: {text or 'A tool is needed.'}\nAction: {call['name']}\nAction Input: {given}\nObservation: 42"
