"""Reasoning and acting in plain text, for any model: Thought, Action, Action Input, Observation, Final Answer.

After "ReAct: Synergizing Reasoning and Acting in Language Models" (Yao et al., 2022, arXiv:2210.03629). An action is a
tool's name behind `Action:` with a JSON object behind `Action Input:`, or one JSON object with `action` and
`action_input`, fenced or bare, as the last thing of a reply; JSON in the middle of a thought is a thought. Of a reply
only the first action counts: what a model writes behind it, observations too, it has invented.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage

from habilis.core.patterns import lazy_pattern
from habilis.core.types import ToolSpec
from habilis.messages.arguments import ArgumentsUnreadable, decoder, read_arguments
from habilis.messages.calls import UNREADABLE_AT, only_text_parameter
from habilis.tool_calling.markup.leftovers import without_leftovers
from habilis.tool_calling.textcalls import begins_calls, read_text

FINAL = "final answer"
FORM = (
    'Write "Action:" with a tool\'s name and "Action Input:" with a JSON object, or "Final Answer:" with your answer.'
)
_NUMBER = r"(?:[ \t]*#?\d{1,3})?"
LABEL = lazy_pattern(
    rf"^[ \t>*_#]*(thought|action[ _]?input|action|final[ _]?answer|observation){_NUMBER}[*_ \t]*[:：][*_]*[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_IN_LINE = lazy_pattern(
    rf"(?<=[\s.!?。])[*_]*(?P<action>action){_NUMBER}[*_ \t]*[:：](?P<name>[^\n:：]{{1,120}}?\n?[^\n:：]{{0,3}}?)"
    rf"\b(?P<input>action[ _]?input){_NUMBER}[*_ \t]*[:：][*_]*[ \t]*",
    re.IGNORECASE,
)
"""An action behind other words on their line, which its input shows to be one."""
_SAME_LINE = lazy_pattern(r"\baction[ _]?input\b[*_ \t]*[:：][*_]*", re.IGNORECASE)
_BRACKETED = lazy_pattern(r"\s*([^\W\d][\w.-]{0,99})\[(.*)\]\s*", re.DOTALL)
"""An action as in the paper: `search[what is looked for]`, `finish[the answer]`."""
_OTHER_LABEL = lazy_pattern(r"\s*(?:input|arguments?|args|parameters?)[ \t]*[:：]\s*", re.IGNORECASE)
_KEYWORDS = lazy_pattern(r"[^\W\d]\w*\s*=(?!=)")
_NO_ACTION = lazy_pattern(r"[\W_]*(?:none|no action|n/?a|nothing)\b[^\n\w]*(?:needed|required)?[\W_]*", re.IGNORECASE)
_ACTION = lazy_pattern(r"^[ \t>*_#]*action\b", re.IGNORECASE | re.MULTILINE)
_WRITTEN = lazy_pattern(r"\[?[\w.]+\(")
_THINK = lazy_pattern(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_LATE_THINK = lazy_pattern(r"\A(?:(?!<think).)*?</(?:think|thinking)>", re.DOTALL)
_FENCED = lazy_pattern(r"^[ \t]*(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = lazy_pattern(
    r"^(?:[^\n`~]{0,80}[:：][*_ \t]*|[ \t]*)(`{3,}+|~{3,}+)[^\n`]*+\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""A fence that may begin behind a label."""
_OPENING = lazy_pattern(r"\s*(`{3,}|~{3,})[\w+-]*[ \t]*\n?\s*(?=[{\[\"])")
_LAST_FENCE = lazy_pattern(r"(`{3,}|~{3,})[^\n]*\n(.*)\n[ \t]*\1\s*", re.DOTALL)
_BLANK = lazy_pattern(r"[\s,:]*")
_DECODER = decoder()


_Label = tuple[str, int, int]


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
    text = _unwrapped(without_leftovers(_said(text)))
    if not text:
        return Parsed(doubt=f"Your last reply was empty. {FORM}")
    labels = _labels(text)
    thought = _thought(text, labels)
    for number, (kind, _, end) in enumerate(labels):
        rest_end = labels[number + 1][1] if number + 1 < len(labels) else len(text)
        if kind == "final":
            answer = _last_answer(text, labels)
            if begins_calls(answer, specs):
                return Parsed(thought, doubt=f"Your answer holds a tool call, which was not run. {FORM}")
            return Parsed(thought, answer=answer) if answer else Parsed(thought, doubt=f"Your answer is empty. {FORM}")
        final_follows = any(later == "final" for later, _, _ in labels[number:])
        if kind == "action" and not (final_follows and _NO_ACTION.fullmatch(text[end:rest_end])):
            if both := _json_at(text, end):
                return _action(thought, text[both[0] : both[1]], None, specs)
            following = labels[number + 1] if number + 1 < len(labels) else None
            given = None
            if following is not None and following[0] == "input":
                given = text[following[2] : _end_of_input(text, labels, number + 2)].strip()
            return _action(thought, text[end:rest_end].strip(), given, specs)
        if kind == "observation":
            break
    return _unlabelled(text[: labels[0][1]] if labels and labels[0][0] == "observation" else text, thought, specs)


def _last_answer(text: str, labels: Sequence[_Label]) -> str:
    """What follows the last "Final Answer", up to what a model invents after it."""
    last = max(at for at, (kind, _, _) in enumerate(labels) if kind == "final")
    after = [*labels[last + 1 :], ("", len(text), len(text))]
    invented = (
        start
        for (kind, start, _), (following, _, _) in zip(after, [*after[1:], after[-1]], strict=True)
        if kind in ("observation", "thought", "") or (kind, following) == ("action", "input")
    )
    return text[labels[last][2] : next(invented)].strip()


def _end_of_input(text: str, labels: Sequence[_Label], number: int) -> int:
    """Where the input of an action ends: a value of JSON, which may hold words like labels, at its own end."""
    begin = labels[number - 1][2]
    found = _json_at(text, begin)
    return found[1] if found else labels[number][1] if number < len(labels) else len(text)


def _said(text: str) -> str:
    """`text` without what was thought between tags; what follows an action is not looked at."""
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


def _labels(text: str) -> list[_Label]:
    """The labels of a reply: kind, beginning, end. What stands in code fences labels nothing."""
    fences = deque((match.start(2), match.end(2)) for match in _CODE.finditer(text))
    found: list[_Label] = []
    for kind, start, end in sorted([*_at_line_starts(text), *_in_lines(text)], key=lambda label: label[1]):
        while fences and fences[0][1] <= start:
            fences.popleft()
        if (fences and fences[0][0] <= start) or (found and start < found[-1][2]):
            continue
        found.append((kind, start, end))
    return found


def _at_line_starts(text: str) -> Iterator[_Label]:
    for match in LABEL.finditer(text):
        word = match[1].lower().replace("_", " ").replace(" ", "")
        yield {"actioninput": "input", "finalanswer": "final"}.get(word, word), match.start(), match.end()


def _in_lines(text: str) -> Iterator[_Label]:
    for match in _IN_LINE.finditer(text):
        yield "action", match.start("action"), match.start("name")
        yield "input", match.start("input"), match.end()


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
    if given is None and (behind := _SAME_LINE.search(said)):
        said, given = said[: behind.start()].strip(), said[behind.end() :].strip()
    known = {spec.name for spec in specs}
    bracketed = _BRACKETED.fullmatch(said) if given is None else None
    if bracketed and bracketed[1] in known:
        return Parsed(thought, bracketed[1], _input(bracketed[1], bracketed[2].strip(), specs))
    if bracketed and bracketed[1].lower() == "finish":
        return _final(thought, bracketed[2])
    if _json_at(said, 0) or _WRITTEN.match(_without_fence(said)):
        return _from_text(thought, said, specs)
    first, _, below = _without_fence(said).partition("\n")
    name = first.partition(" (")[0].strip("`\"'*[]. ")
    if name.lower() == FINAL:
        return _final(thought, given if given is not None else below)
    if first.startswith(("{", "[{")):
        return _from_text(thought, said, specs)
    if not name:
        return Parsed(thought, doubt=f"Your action names no tool. {FORM}")
    if given is None:
        given = _OTHER_LABEL.sub("", below, count=1).strip() if _OTHER_LABEL.match(below) else below.strip()
    return Parsed(thought, name, _input(name, given, specs))


def _input(name: str, given: str, specs: Sequence[ToolSpec]) -> Any:
    """The input of an action: JSON as it is written, or a text.

    JSON in a code fence is itself the text where that is all that a tool takes, unless it names the parameter.
    """
    if given[:1] == given[-1:] == "`" and given.count("`") == 2:
        given = given[1:-1].strip()
    found = _json_at(given, 0)
    if found is None:
        return _keyworded(name, given, specs) or _without_fence(given)
    begin, end = found
    parameter = only_text_parameter(next((spec for spec in specs if spec.name == name), None))
    if parameter and given[begin] != '"' and begin > 0 and parameter not in _members(given[begin:end]):
        return {parameter: _without_fence(given) if _FENCED.match(given) else given[begin:end]}
    return given[begin:end]


def _keyworded(name: str, given: str, specs: Sequence[ToolSpec]) -> dict[str, Any] | None:
    """Arguments written as in Python, `path="a.csv", limit=5`; None where they are no parameters of the tool."""
    spec = next((spec for spec in specs if spec.name == name), None)
    if spec is None or not _KEYWORDS.match(given):
        return None
    calls = read_text(f"{name}({given})", [spec]).calls
    arguments = calls[0][1] if calls else {}
    return arguments if arguments.keys() <= spec.parameters.get("properties", {}).keys() else None


def _from_text(thought: str, text: str, specs: Sequence[ToolSpec]) -> Parsed:
    """The first call that `text` makes."""
    found_json = _json_at(text, 0)
    head = text[found_json[0] : found_json[1]] if found_json else _without_fence(text)
    answer = _answer_of(head)
    if answer is not None:
        return _final(thought, answer)
    found = read_text(head, specs) if specs else None
    if found is not None and found.calls:
        return Parsed(thought, *found.calls[0])
    return Parsed(thought, doubt=f"{found.doubt if found and found.doubt else 'Your action cannot be read.'} {FORM}")


def _unlabelled(text: str, thought: str, specs: Sequence[ToolSpec]) -> Parsed:
    """A reply without action and answer: a call at its end is an action, the rest cannot be understood."""
    body = thought or text
    answer = _answer_of(_last_object(body))
    if answer is not None:
        return _final("", answer)
    found = read_text(body, specs)
    if found.calls:
        return Parsed(found.thought, *found.calls[0])
    return Parsed(thought, doubt=found.doubt or f"Your reply holds neither an action nor a final answer. {FORM}")


def _answer_of(text: str) -> str | None:
    """The characters of the input in an object whose action is "Final Answer"; None for anything else."""
    members = _members(text)
    action = next((members[key] for key in ("action", "name") if key in members), "")
    if action.strip("\"' ").lower() != FINAL:
        return None
    return next((members[key] for key in ("action_input", "arguments", "input") if key in members), "")


def _final(thought: str, written: str) -> Parsed:
    """An answer given as the input of the action "Final Answer": the very characters; of a JSON string its text."""
    answer = written.strip()
    if answer.startswith('"'):
        value = _value(answer)
        answer = value.strip() if isinstance(value, str) else answer
    if answer in ("", "null", "None"):
        return Parsed(thought, doubt=f"Your answer is empty. {FORM}")
    return Parsed(thought, answer=answer)


def _json_at(text: str, at: int) -> tuple[int, int] | None:
    """Where the value of JSON begins and ends that stands at `at`, in a code fence or not; None where there is none."""
    opening = _OPENING.match(text, at)
    begin = opening.end() if opening else _BLANK.match(text, at).end()  # type: ignore[union-attr]
    if text[begin : begin + 1] not in ("{", "[", '"'):
        return None
    try:
        return begin, _DECODER.raw_decode(text, begin)[1]
    except (ValueError, RecursionError):
        return None


def _members(text: str) -> dict[str, str]:
    """The members of the object that `text` begins with, each value as it is written; nothing if it is none."""
    members: dict[str, str] = {}
    at = 1 if text[:1] == "{" else len(text)
    try:
        while (at := _BLANK.match(text, at).end()) < len(text) and text[at] == '"':  # type: ignore[union-attr]
            name, at = _DECODER.raw_decode(text, at)
            begin = _BLANK.match(text, at).end()  # type: ignore[union-attr]
            _, at = _DECODER.raw_decode(text, begin)
            members[name] = text[begin:at]
    except (ValueError, RecursionError):
        return {}
    return members


def _without_fence(text: str) -> str:
    """What stands in the fence that `text` begins with: up to its last line if that closes it."""
    text = text.strip()
    fenced = _LAST_FENCE.fullmatch(text) or _FENCED.match(text)
    return fenced[2].strip() if fenced else text


def _value(text: str) -> Any:
    """`text` as JSON where it is JSON, else as it is."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text


def _last_object(text: str) -> str:
    """The object that `text` ends with, fenced or bare, on lines of its own; nothing if there is none."""
    for match in [*re.finditer(r"^[ \t]*(?:(?:`{3,}|~{3,})\w*[ \t]*)?(\{)", text, re.MULTILINE)][-8:]:
        found = _json_at(text, match.start(1))
        if found and not text[found[1] :].strip("`~ \t\r\n"):
            return text[found[0] : found[1]]
    return ""


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
        text = _value(raw) if raw.startswith('"') else raw
        args = {parameter: text if isinstance(text, str) else raw}
    return AIMessage(parsed.thought, tool_calls=[{"name": parsed.name, "args": args, "id": None, "type": "tool_call"}])
