"""What a model that reasons in plain text is sent: its tools as text, and the conversation as one scratchpad."""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.core.types import ToolSpec
from habilis.messages.calls import UNREADABLE
from habilis.messages.history import text_of
from habilis.tool_calling.react import LABEL

STOP = "\nObservation"
"""Where the server is to end a reply: what would follow is for the tools to say."""
CONTINUE = 'Go on from the last observation: "Final Answer:" if it holds what is asked, else the next action.'
UNREAD = "unread"
"""Key of `additional_kwargs` of a reply that could not be read, which is sent back as it came."""


def tools_text(specs: Sequence[ToolSpec]) -> str:
    """The tools, one JSON object a line."""
    rows = [{"name": s.name, "description": s.description, "parameters": s.parameters} for s in specs]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def as_chat(system: str, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """A history for a chat model: the system prompt, what people said, and between them one scratchpad each."""
    made: list[BaseMessage] = [SystemMessage(system)]
    for message in messages:
        if isinstance(message, AIMessage | ToolMessage):
            part = _scratch(message)
            if isinstance(made[-1], AIMessage):
                made[-1] = AIMessage(f"{made[-1].content}\n{part}")
            elif part:
                made.append(AIMessage(part))
        elif not isinstance(message, SystemMessage):
            made.append(message)
    if isinstance(made[-1], AIMessage):
        made.append(HumanMessage(CONTINUE))
    return made


def as_completion(system: str, messages: Sequence[BaseMessage]) -> str:
    """The same as one text that the model is to go on with; parts that are no text are left out."""
    parts = [system, ""]
    for message in messages:
        if isinstance(message, AIMessage | ToolMessage):
            parts.append(_scratch(message))
        elif not isinstance(message, SystemMessage):
            parts.append(f"Question: {text_of(message)}")
    return "\n".join([*parts, "Thought:"])


def _scratch(message: AIMessage | ToolMessage) -> str:
    """One reply or result as it stands in a scratchpad."""
    if isinstance(message, ToolMessage):
        return f"Observation: {text_of(message)}"
    text = text_of(message).strip()
    if not message.tool_calls:
        plain = not text or UNREAD in message.additional_kwargs or LABEL.match(text)
        return text if plain else f"Final Answer: {text}"
    lines = [f"Thought: {text}"] if text else []
    for call in message.tool_calls:
        raw = call["args"].get(UNREADABLE) if set(call["args"]) == {UNREADABLE} else None
        given = raw if isinstance(raw, str) else json.dumps(call["args"], ensure_ascii=False)
        lines += [f"Action: {call['name']}", f"Action Input: {given}"]
    return "\n".join(lines)
