"""Reasoning and acting in plain text, for any model: Thought, Action, Action Input, Observation, Final Answer.

After "ReAct: Synergizing Reasoning and Acting in Language Models" (Yao et al., 2022, arXiv:2210.03629). An action is a
tool's name behind `Action:` with a JSON object behind `Action Input:`, or one JSON object with `action` and
`action_input`, fenced or bare, as the last thing of a reply; JSON in the middle of a thought is a thought. Of a reply
only the first action counts: what a model writes behind it, observations too, it has invented.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.core.types import ToolSpec
from habilis.models.arguments import ArgumentsUnreadable, read_arguments
from habilis.models.calls import UNREADABLE, UNREADABLE_AT, only_text_parameter
from habilis.models.history import text_of
from habilis.tool_calling.textcalls import read_text

STOP = "\nObservation"
"""Where the server is to end a reply: what would follow is for the tools to say."""
CONTINUE = 'Go on from the last observation: "Final Answer:" if it holds what is asked, else the next action.'
UNREAD = "unread"
"""Key of `additional_kwargs` of a reply that could not be read, which is sent back as it came."""
FINAL = "final answer"
FORM = (
    'Write "Action:" with a tool\'s name and "Action Input:" with a JSON object, or "Final Answer:" with your answer.'
)
LABEL = re.compile(
    r"^[ \t>*_#]*(thought|action[ _]?input|action|final[ _]?answer|observation)[*_ \t]*:[*_]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_ACTION = re.compile(r"^[ \t>*_#]*action\b", re.IGNORECASE | re.MULTILINE)
_WRITTEN = re.compile(r"[\w.]+\(")
_THINK = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_LATE_THINK = re.compile(r"\A(?:(?!<think).)*?</(?:think|thinking)>", re.DOTALL)
_FENCED = re.compile(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Parsed:
    """What a reply says: an action (`name` and `raw` input, JSON or text), or an answer, or neither (`doubt`)."""

    thought: str = ""
    name: str = ""
    raw: Any = None
    answer: str | None = None
    doubt: str = ""


def parse_react(text: str, specs: Sequence[ToolSpec] = ()) -> Parsed:
    """What a whole reply says. Never raises; what is neither action nor answer comes back as a doubt."""
    text = _unwrapped(_said(text).strip())
    if not text:
        return Parsed(doubt=f"Your last reply was empty. {FORM}")
    labels = _labels(text)
    thought = _thought(text, labels)
    for number, (kind, _, end) in enumerate(labels):
        rest_end = labels[number + 1][1] if number + 1 < len(labels) else len(text)
        if kind == "final":
            last = max(at for at, (other, _, _) in enumerate(labels) if other == "final")
            answer = text[labels[last][2] :].strip()
            return Parsed(thought, answer=answer) if answer else Parsed(thought, doubt=f"Your answer is empty. {FORM}")
        if kind == "action":
            following = labels[number + 1] if number + 1 < len(labels) else None
            given = None
            if following is not None and following[0] == "input":
                after = labels[number + 2][1] if number + 2 < len(labels) else len(text)
                given = text[following[2] : after].strip()
            return _action(thought, text[end:rest_end].strip(), given, specs)
        if kind == "observation":
            break
    return _unlabelled(text[: labels[0][1]] if labels and labels[0][0] == "observation" else text, thought, specs)


def _said(text: str) -> str:
    """`text` without what was thought between tags; what stands behind an action is not looked at."""
    if "think" not in text:
        return text
    text = _LATE_THINK.sub("", text, count=1)
    kept, at = "", 0
    while (found := _THINK.search(text, at)) and not _ACTION.search(text, at, found.start()):
        kept, at = kept + text[at : found.start()], found.end()
    return kept + text[at:]


def _unwrapped(text: str) -> str:
    """A reply that is one code fence as a whole, labels and all, without the fence."""
    fenced = _FENCED.fullmatch(text)
    return fenced[2].strip() if fenced and LABEL.search(fenced[2]) else text


def _labels(text: str) -> list[tuple[str, int, int]]:
    """The labels of a reply: kind, beginning, end. What stands in code fences labels nothing."""
    fences = deque((match.start(2), match.end(2)) for match in _FENCED.finditer(text))
    found = []
    for match in LABEL.finditer(text):
        while fences and fences[0][1] <= match.start():
            fences.popleft()
        if fences and fences[0][0] <= match.start():
            continue
        word = match[1].lower().replace("_", " ").replace(" ", "")
        kind = {"actioninput": "input", "finalanswer": "final"}.get(word, word)
        found.append((kind, match.start(), match.end()))
    return found


def _thought(text: str, labels: Sequence[tuple[str, int, int]]) -> str:
    """Everything before the first label that is not a thought's."""
    parts, at = [], 0
    for kind, start, end in labels:
        parts.append(text[at:start])
        at = end
        if kind != "thought":
            break
    else:
        parts.append(text[at:])
    return "\n".join(part.strip() for part in parts if part.strip())


def _action(thought: str, said: str, given: str | None, specs: Sequence[ToolSpec]) -> Parsed:
    """The action behind its label: a name with its input, or JSON that holds both, or a written call."""
    bare = _without_fence(said)
    first, _, below = bare.partition("\n")
    name = first.partition(" (")[0].strip("`\"'*[]. ")
    if name.lower() == FINAL:
        return _final(thought, _value(given if given is not None else below))
    if bare.startswith(("{", "[")) or _WRITTEN.match(bare):
        return _from_text(thought, bare, specs)
    if not name:
        return Parsed(thought, doubt=f"Your action names no tool. {FORM}")
    raw = _without_fence(given if given is not None else below.strip())
    return Parsed(thought, name, _first_value(raw))


def _from_text(thought: str, text: str, specs: Sequence[ToolSpec]) -> Parsed:
    """The first call that `text` makes."""
    value = _value(text)
    if isinstance(value, dict) and str(value.get("action", "")).strip().lower() == FINAL:
        return _final(thought, value.get("action_input", value.get("arguments", "")))
    head = _first_value(text)
    found = read_text(head if isinstance(head, str) else text, specs) if specs else None
    if found is not None and found.calls:
        return Parsed(thought, *found.calls[0])
    return Parsed(thought, doubt=f"{found.doubt if found and found.doubt else 'Your action cannot be read.'} {FORM}")


def _unlabelled(text: str, thought: str, specs: Sequence[ToolSpec]) -> Parsed:
    """A reply without action and answer: a call at its end is an action, the rest cannot be understood."""
    body = thought or text
    tail = _last_object(body)
    if isinstance(tail, dict) and str(tail.get("action", "")).strip().lower() == FINAL:
        return _final("", tail.get("action_input", ""))
    found = read_text(body, specs)
    if found.calls:
        return Parsed(found.thought, *found.calls[0])
    return Parsed(thought, doubt=found.doubt or f"Your reply holds neither an action nor a final answer. {FORM}")


def _final(thought: str, value: Any) -> Parsed:
    """An answer given as the input of the action "Final Answer"; what is no text becomes JSON."""
    answer = value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if value is None or not answer:
        return Parsed(thought, doubt=f"Your answer is empty. {FORM}")
    return Parsed(thought, answer=answer)


def _without_fence(text: str) -> str:
    fenced = _FENCED.match(text.strip())
    return fenced[2].strip() if fenced else text.strip()


def _value(text: Any) -> Any:
    """`text` as JSON where it is JSON, else as it is."""
    if not isinstance(text, str):
        return text
    plain = _without_fence(text)
    try:
        return json.loads(plain, strict=False)
    except (ValueError, RecursionError):
        return plain


def _last_object(text: str) -> Any:
    """The object that `text` ends with, fenced or bare, on lines of its own."""
    fences = list(_FENCED.finditer(text))
    if fences and fences[-1].end() >= len(text.rstrip()):
        return _value(fences[-1][2])
    start = [match.start() for match in re.finditer(r"^[ \t]*\{", text, re.MULTILINE)][-8:]
    return next((value for at in start if isinstance(value := _value(text[at:]), dict)), None)


def _first_value(raw: str) -> str:
    """The JSON value that `raw` begins with, without what was written behind it; any other text as it is."""
    if raw[:1] not in ("{", "[", '"'):
        return raw
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(raw)
    except (ValueError, RecursionError):
        return raw
    return raw[:end]


def as_message(parsed: Parsed, specs: Sequence[ToolSpec], *, cut: bool = False) -> AIMessage:
    """A parsed reply as every other part of the house knows replies; calls have no ids yet. `cut`: it broke off.

    A plain text as input is the one parameter of a tool that has one and takes text.
    """
    if parsed.answer is not None:
        extra = {"reasoning_content": parsed.thought} if parsed.thought else {}
        return AIMessage(parsed.answer, additional_kwargs=extra)
    if not parsed.name:
        return AIMessage(parsed.thought)
    try:
        args = read_arguments(parsed.raw, cut=cut)
    except ArgumentsUnreadable:
        parameter = only_text_parameter(next((spec for spec in specs if spec.name == parsed.name), None))
        raw = str(parsed.raw)
        if parameter is None or raw.startswith(("{", "[")):
            broken: Any = {"name": parsed.name, "args": raw, "id": None, "error": None, "type": "invalid_tool_call"}
            return AIMessage(parsed.thought, invalid_tool_calls=[broken], additional_kwargs={UNREADABLE_AT: [0]})
        text = _value(raw)
        args = {parameter: text if isinstance(text, str) else raw}
    return AIMessage(parsed.thought, tool_calls=[{"name": parsed.name, "args": args, "id": None, "type": "tool_call"}])


# --- what the model is sent


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
