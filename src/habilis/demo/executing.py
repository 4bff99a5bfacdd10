"""The executor: from the conversation so far to the next tool calls, or to the answer in words.

Nothing is remembered between replies: what was called and what came back is read from the messages, or from a
summary of them. A call whose result is gone (its tool was mended) is simply made again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from habilis.demo import MODEL_NAME, citing, following
from habilis.demo.form import Form, written
from habilis.demo.understanding import Unclear, Understood, all_operations
from habilis.questions.language import number
from habilis.questions.operations import DemoOperation, assign, recognise, result_of
from habilis.questions.prompts import Seen, first_object, loads, text_of
from habilis.questions.world import DemoCall, FilledOperation, Ref, viewed

SETUP = "To use a real model, set OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL for any OpenAI-compatible server."
CONCLUSION = "Conclusion:"
MAX_TRIES = 2
"""Calls of one step with one tool that may fail before this model reports the failure, unless the tool is mended."""

_NO_TOOL = "no tool for: "
_HOPELESS = r"FileNotFound|no such file|does not exist|not run:|permission denied"
_PASSING = r"time limit|timed? ?out|interrupted|unavailable"
_SHORTENED = re.compile(r"^\[(?:Cut|Extract)\b.*\b(the whole result .*?)\.?\]$", re.MULTILINE)
_SUMMARY_CALL = re.compile(r"^- call (\S+) \((\S*)\) (.*)$")
_SUMMARY_RESULT = re.compile(r"^- result of (\S+) \((\S*)\): (.*)$")


@dataclass(frozen=True)
class _Made:
    """A call that was made, and what came back. `recent` when made since the user's last word; `shortened` says where
    the rest of a result is that was too long to be shown."""

    tool: str
    arguments: Mapping[str, Any]
    output: Mapping[str, Any] | None
    error: str
    recent: bool
    shortened: str = ""


@dataclass(frozen=True)
class _Bound:
    """A tool that can be called, by the operation that it does: field name and type of each role."""

    name: str
    fields: Mapping[str, str]
    types: Mapping[str, str]


@dataclass
class _State:
    """Where the steps stand: results and failures by index."""

    results: dict[int, Any] = field(default_factory=dict)
    used: dict[int, _Made] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)


def next_step(seen: Seen, messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]]) -> AIMessage:
    """The executor's next reply: calls that can be made now, else the answer or what stands in its way."""
    understood = following.understood(seen)
    made = _calls_made(messages[seen.position :])
    if isinstance(understood, Unclear):
        search = None if understood.known else citing.call_for(seen.question, tools)
        return _looked_up(seen.question, *search, made) if search else AIMessage(_cannot(understood))
    bound = _bound(tools)
    state = _State()
    calls: list[Any] = []
    for index, step in enumerate(understood.steps):
        values = _filled(step, state)
        if values is None:
            continue
        good, failed = _outcomes(step.operation, values, made, bound)
        if good is not None:
            state.used[index] = good
            state.results[index] = viewed(result_of(step.operation, good.output or {}), step.view)
            continue
        tool = _choose(bound.get(step.operation.key, []), failed)
        tried = [one for one in failed if tool is None or one.tool == tool.name]
        if tool is None and not tried:
            state.failures[index] = f"{_NO_TOOL}{_description(step.operation)}"
        elif tool is None or _is_enough(tried):
            state.failures[index] = tried[-1].error
        else:
            call = _call(tool.name, _arguments(tool, values), len(failed))
            calls += [] if call in calls else [call]
    if calls and not state.failures:
        return AIMessage("", tool_calls=calls)
    if state.failures:
        return AIMessage(_report(understood, state))
    return AIMessage(_answer(understood, state, [file.named for file in seen.files if file.nameless]))


def _looked_up(question: str, tool: str, arguments: dict[str, Any], made: Sequence[_Made]) -> AIMessage:
    """A search in the user's documents, or what came of it."""
    same = [one for one in made if one.tool == tool and dict(one.arguments) == arguments]
    if not same:
        return AIMessage("", tool_calls=[_call(tool, arguments, 0)])
    if same[-1].output is None:
        return AIMessage(f"I could not answer this. The search failed: {same[-1].error} (This is the {MODEL_NAME}.)")
    found = citing.answer(question, tool, arguments, same[-1].output)
    nothing = f"I could not answer this: no sentence of the documents does. (This is the {MODEL_NAME}.)"
    return AIMessage(found or nothing)


def _cannot(unclear: Unclear) -> str:
    if unclear.known:
        return f"I cannot answer this: {unclear.reason.rstrip('.')}. (This is the {MODEL_NAME}.)"
    return f"I cannot answer this. I am the {MODEL_NAME} and do not understand the question. {SETUP}"


def _calls_made(messages: Sequence[BaseMessage]) -> list[_Made]:
    """All calls with a result, oldest first, those of a context summary included."""
    last_word = max((i for i, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {}
    made: list[_Made] = []
    for position, message in enumerate(messages):
        if isinstance(message, AIMessage):
            asked |= {str(call["id"]): (call["name"], call["args"]) for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            bad = message.status == "error"
            made.append(_made(*asked[message.tool_call_id], text_of(message), bad, position > last_word))
        elif isinstance(message, HumanMessage) and position:
            made += _from_summary(text_of(message))
    return made


def _from_summary(text: str) -> list[_Made]:
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {}
    made: list[_Made] = []
    for line in text.splitlines():
        if match := _SUMMARY_CALL.match(line):
            arguments = loads(match[3])
            asked[match[2]] = (match[1], arguments if isinstance(arguments, dict) else {})
        elif (match := _SUMMARY_RESULT.match(line)) and match[2] in asked:
            made.append(_made(*asked[match[2]], match[3], False, False))
    return made


def _made(tool: str, arguments: Mapping[str, Any], text: str, bad: bool, recent: bool) -> _Made:
    output = first_object(text)
    if output is not None and "error" in output and output["error"]:
        return _Made(tool, arguments, None, str(output["error"]), recent)
    if bad or output is None:
        return _Made(tool, arguments, None, " ".join(text.split())[:400] or "an empty result", recent)
    cut = _SHORTENED.search(text)
    return _Made(tool, arguments, output, "", recent, cut[1] if cut else "")


def _bound(tools: Sequence[Mapping[str, Any]]) -> dict[str, list[_Bound]]:
    """The tools at hand by the key of the operation that they do."""
    found: dict[str, list[_Bound]] = {}
    for tool in tools:
        function = tool.get("function", tool)
        schema = function.get("parameters") or {}
        properties = schema.get("properties") or {}
        operation = recognise(
            str(function.get("name", "")), str(function.get("description", "")), list(properties), all_operations()
        )
        if operation:
            fields = assign(operation.inputs, list(properties)) or {}
            types = {name: str((one or {}).get("type", "")) for name, one in properties.items()}
            found.setdefault(operation.key, []).append(_Bound(str(function["name"]), fields, types))
    return found


def _choose(tools: Sequence[_Bound], failed: Sequence[_Made]) -> _Bound | None:
    """The tool that failed least on this step, the first of equals."""
    return min(tools, key=lambda tool: sum(one.tool == tool.name for one in failed), default=None)


def _filled(step: DemoCall, state: _State) -> dict[str, Any] | None:
    """The step's values with earlier results in place; None while one of them is not there yet."""
    values: dict[str, Any] = {}
    for role, value in step.values.items():
        refs = value.calls if isinstance(value, FilledOperation) else (value,) if isinstance(value, Ref) else ()
        if any(ref.step not in state.results for ref in refs):
            return None
        if isinstance(value, FilledOperation):
            values[role] = value.text.format(*(_plain(state.results[ref.step]) for ref in refs))
        else:
            values[role] = _exact(state.results[value.step]) if isinstance(value, Ref) else value
    return values


def _exact(value: Any) -> Any:
    """A result as a number to calculate with, whole where it is whole."""
    if isinstance(value, str) and (found := number(value)) is not None:
        value = found
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _plain(value: Any) -> str:
    value = _exact(value)
    return f"({value})" if isinstance(value, int | float) and value < 0 else str(value)


def arguments_of(operation: DemoOperation, fields: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` under the names of `fields`, as a tool takes them that is written for `operation`."""
    types = {fields[slot.role]: slot.type for slot in operation.inputs}
    return _arguments(_Bound("", fields, types), values)


def _arguments(tool: _Bound, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values under the tool's own names, a number as text where the tool takes text."""
    arguments: dict[str, Any] = {}
    for role, name in tool.fields.items():
        value = values[role]
        wants_text = tool.types.get(name) == "string" and not isinstance(value, str)
        arguments[name] = str(value) if wants_text else value
    return arguments


def _outcomes(
    operation: DemoOperation, values: Mapping[str, Any], made: Sequence[_Made], bound: Mapping[str, Sequence[_Bound]]
) -> tuple[_Made | None, list[_Made]]:
    """The newest good call of this step, and the failed ones: same operation and values, whatever the names."""
    wanted = sorted(str(value) for value in values.values())
    same = [
        one
        for one in made
        if sorted(str(value) for value in one.arguments.values()) == wanted and _does(one.tool, operation, bound)
    ]
    good = [one for one in same if one.output is not None]
    return (good[-1] if good else None), [one for one in same if one.output is None]


def _does(tool: str, operation: DemoOperation, bound: Mapping[str, Sequence[_Bound]]) -> bool:
    """Whether a tool that was called does `operation`: by its schema while it is bound, else by its name."""
    known = {one.name: key for key, tools in bound.items() for one in tools}
    if tool in known:
        return known[tool] == operation.key
    plain = re.sub(r"_v[0-9]+$", "", tool)
    named = {wording.name: other.key for other in all_operations() for wording in other.wordings}
    return named.get(plain, operation.key) == operation.key


def _is_enough(failed: Sequence[_Made]) -> bool:
    """Whether calling again cannot help: it failed twice, or for what no better tool could change.

    Calls before the user's last word count as well, but for those that another time may go through.
    """
    if any(re.search(_HOPELESS, one.error, re.IGNORECASE) for one in failed):
        return True
    lasting = [one for one in failed if one.recent or not re.search(_PASSING, one.error, re.IGNORECASE)]
    return len(lasting) >= MAX_TRIES


def _call(name: str, arguments: dict[str, Any], turn: int) -> Any:
    seed = json.dumps([name, arguments, turn], sort_keys=True, ensure_ascii=False)
    return tool_call(name=name, args=arguments, id=f"call_{hashlib.sha256(seed.encode()).hexdigest()[:16]}")


def _answer(understood: Understood, state: _State, nameless: Sequence[str] = ()) -> str:
    """Findings with where they come from, and a conclusion that holds only the value, and what it takes for granted:
    that the first row of a table holds names, though it looks like data."""
    sentences = []
    for index, step in enumerate(understood.steps):
        values = _filled(step, state) or {}
        finding = _finding(step.operation, values, written(state.results[index]))
        used = state.used[index]
        arguments = json.dumps(used.arguments, ensure_ascii=False)
        start = finding[0] if step.operation.finding.startswith("{") else finding[0].upper()
        sentences.append(f"{start}{finding[1:]} (from `{used.tool}` with {arguments}).")
    shown = [state.results[i] for i in understood.asked]
    rest = next((made.shortened for made in state.used.values() if made.shortened), "")
    conclusion = _together(shown, understood.form) + (f" … (shortened; {rest})" if rest else "")
    taken = [name for name in nameless if any(name in made.arguments.values() for made in state.used.values())]
    conclusion += f" (the first row of {', '.join(taken)} was taken for the names of its columns)" if taken else ""
    return "\n".join([*sentences, f"{CONCLUSION} {conclusion}"])


def _together(values: Sequence[Any], form: Form) -> str:
    divider = "; " if any(isinstance(value, list | dict) for value in values) else ", "
    return divider.join(written(value, form) for value in values)


def _finding(operation: DemoOperation, values: Mapping[str, Any], value: str) -> str:
    shown = {role: written(one) for role, one in values.items()}
    if "conditions" in shown:  # marks around their values would look like quotations of what a source says
        shown["conditions"] = shown["conditions"].replace('"', "")
    return operation.finding.format(**shown, value=value)


def _description(operation: DemoOperation) -> str:
    return operation.description.format(word=operation.wordings[-1].word).strip()


def _report(understood: Understood, state: _State) -> str:
    """What was found, and what stood in the way; tools that were not there are named as missing."""
    lines = [f"I could not answer this. (This is the {MODEL_NAME}.)"]
    missing = []
    for index, reason in state.failures.items():
        operation = understood.steps[index].operation
        if reason.startswith(_NO_TOOL):
            missing.append(f"- {operation.wordings[-1].name}: {_description(operation)}")
        else:
            lines.append(f"The tool for this step failed: {reason}")
    if missing:
        lines += ["Missing capabilities:", *missing]
    return "\n".join(lines)
