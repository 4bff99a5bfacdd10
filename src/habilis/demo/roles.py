"""Every role of the offline model: from messages to one reply, by the tags of the prompt that they end with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call

from habilis.demo import MODEL_NAME, citing, executing, expecting, following, judging, outright, writing
from habilis.demo.faults import RUBBISH, Faults
from habilis.demo.filling import asked_schema, filled
from habilis.demo.understanding import Unclear, all_operations
from habilis.questions.operations import recognise, request_for
from habilis.questions.prompts import Seen, entries, read_prompt

_CANDIDATE = re.compile(r"^- ([\w-]+)\(([^)]*)\): (.*)$", re.MULTILINE)


def reply(
    messages: Sequence[BaseMessage],
    tools: Sequence[dict[str, Any]] = (),
    response_format: dict[str, Any] | None = None,
    faults: Faults | None = None,
) -> AIMessage:
    """The reply to `messages`: a pure function. `tools` are OpenAI function schemas.

    `response_format` changes nothing: the prompt's tags say which structure is wanted. A structured reply comes as a
    call when its schema was offered as the only tool, else as JSON text. Never raises on text of any kind.
    `faults` spoil the replies about clusters and merges, on purpose.
    """
    seen = read_prompt(messages)
    if seen.kind == "execute":
        return executing.next_step(seen, messages, tools)
    if seen.kind == "cluster" and faults and faults.of_cluster(seen) == "rubbish":
        return AIMessage(RUBBISH)
    if seen.kind in _DATA:
        data = _DATA[seen.kind](seen)
        if seen.kind == "answer" and (schema := asked_schema(messages)) is not None:
            data = {**data, "final_answer": filled(schema, data["final_answer"])}
        spoilt = faults.cluster(seen, data) if faults and seen.kind == "cluster" else data
        return _structured(spoilt, tools, response_format)
    text = _TEXTS[seen.kind](seen)
    return AIMessage(faults.merge(seen, text) if faults and seen.kind == "merge" else text)


def _cannot(what: str) -> Callable[[Seen], str]:
    return lambda seen: f"I am the {MODEL_NAME} and {what}. {executing.SETUP}"


def _structured(
    data: Mapping[str, Any], tools: Sequence[dict[str, Any]], response_format: dict[str, Any] | None
) -> AIMessage:
    """`data` as JSON text, or as a call of the one function offered for it."""
    if len(tools) == 1 and not response_format:
        name = str(tools[0].get("function", tools[0]).get("name", ""))
        return AIMessage("", tool_calls=[tool_call(name=name, args=dict(data), id=f"call_{name}")])
    return AIMessage(json.dumps(dict(data), ensure_ascii=False))


def plan(seen: Seen) -> dict[str, Any]:
    """Candidates that fit the steps of the question are reused, for the other steps tools are requested."""
    understood = following.understood(seen)
    if isinstance(understood, Unclear):
        names = (
            [] if understood.known else [name for name, _, _ in _CANDIDATE.findall(seen.parts.get("candidates", ""))]
        )
        search = [name for name in names if name.startswith(citing.TOOL)][:1]
        guidance = f"Call {search[0]} with what the question asks about." if search else ""
        return {"required_tool_names": _reuse(search, seen), "tool_usage_guidance": guidance, "tool_requests": []}
    known = _candidates(seen.parts.get("candidates", ""))
    question = following.written_out(seen)
    operations = {step.operation.key: step.operation for step in understood.steps}
    requests = {key: request_for(one, question) for key, one in operations.items() if key not in known}
    order = [known[key] if key in known else str(requests[key]["name"]) for key in operations]
    return {
        "required_tool_names": _reuse([known[key] for key in operations if key in known], seen),
        "tool_usage_guidance": f"Call {', then '.join(order)}; take every argument from the question and the files.",
        "tool_requests": list(requests.values()),
    }


def _reuse(names: Sequence[str], seen: Seen) -> list[dict[str, str]]:
    """Each tool to reuse with what it serves: it was chosen because the question asks, in whatever words, for what it
    does."""
    asked = " ".join(seen.parts.get("question", "").split())[:160]
    return [{"name": name, "serves": asked} for name in names]


def _candidates(text: str) -> dict[str, str]:
    """Name of the first fitting candidate by the key of the operation that it does."""
    found: dict[str, str] = {}
    for name, parameters, description in _CANDIDATE.findall(text):
        names = [part.split(":")[0].strip() for part in parameters.split(",") if part.strip()]
        operation = recognise(name, description, names, all_operations())
        if operation:
            found.setdefault(operation.key, name)
    return found


def clustered(seen: Seen) -> dict[str, Any]:
    """A word on every pair: the same are tools that it recognises as one operation."""
    jobs: dict[str, str] = {}
    for tool in entries(seen.parts["tools"], "name"):
        parameters = [part.split(":")[0].strip() for part in tool.get("parameters", "").split(",")]
        names = [name for name in parameters if name and name != "none"]
        operation = recognise(tool["name"], tool.get("description", ""), names, all_operations())
        jobs[tool["name"]] = operation.key if operation else f"the job of {tool['name']} alone"
    found = []
    for pair in entries(seen.parts.get("pairs", ""), "one"):
        one, other = jobs.get(pair["one"], pair["one"]), jobs.get(pair["other"], pair["other"])
        reason = f"The one does {one}, the other {other}."
        found.append({**pair, "reason": reason, "word": "same" if one == other else "different"})
    return {"pairs": found}


_DATA: Mapping[str, Callable[[Seen], Mapping[str, Any]]] = {
    "plan": plan,
    "review": judging.review,
    "verdict": judging.verdicts,
    "fixed": judging.fixed,
    "differing": judging.differing,
    "answer": judging.answer,
    "judge": judging.ruling,
    "cluster": clustered,
}
_TEXTS: Mapping[str, Callable[[Seen], str]] = {
    "build": writing.build,
    "outright": outright.module_and_call,
    "enhance": writing.enhance,
    "merge": writing.merge,
    "expect": expecting.expect,
    "dispute": expecting.dispute,
    "summarise": judging.summarise,
    "extract": judging.extract,
    "image": _cannot("cannot see images"),
    "other": _cannot("do not understand this request"),
}
"""What each kind of prompt is answered with."""
