"""Every role of the offline model: from messages to one reply, by the tags of the prompt that they end with."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call

from habilis.demo import MODEL_NAME, citing, executing, following, judging, writing
from habilis.demo.clustering import cluster
from habilis.demo.faults import RUBBISH, Faults
from habilis.demo.operations import Operation, recognise, request_for
from habilis.demo.reading import Seen, read_prompt
from habilis.demo.understanding import Unclear, Understood, all_operations

_CANDIDATE = re.compile(r"^- ([\w-]+)\(([^)]*)\): (.*)$", re.MULTILINE)
_STRUCTURED = {"plan", "review", "verdict", "fixed", "answer", "judge", "cluster"}


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
    if seen.kind in _STRUCTURED:
        return _structured(_data(seen, faults), tools, response_format)
    return AIMessage(_text(seen, faults))


def _data(seen: Seen, faults: Faults | None) -> dict[str, Any]:
    if seen.kind == "cluster":
        return faults.cluster(seen, cluster(seen)) if faults else cluster(seen)
    if seen.kind == "plan":
        return plan(seen)
    if seen.kind == "review":
        return judging.review(seen)
    if seen.kind == "verdict":
        return judging.verdicts(seen)
    if seen.kind == "fixed":
        return judging.fixed(seen)
    if seen.kind == "judge":
        return judging.ruling(seen)
    return judging.answer(seen)


def _text(seen: Seen, faults: Faults | None) -> str:
    if seen.kind == "build":
        return writing.build(seen)
    if seen.kind == "enhance":
        return writing.enhance(seen)
    if seen.kind == "merge":
        return faults.merge(seen, writing.merge(seen)) if faults else writing.merge(seen)
    if seen.kind == "summarise":
        return judging.summarise(seen)
    if seen.kind == "extract":
        return judging.extract(seen)
    if seen.kind == "image":
        return f"I am the {MODEL_NAME} and cannot see images. {executing.SETUP}"
    return f"I am the {MODEL_NAME} and do not understand this request. {executing.SETUP}"


def _structured(
    data: dict[str, Any], tools: Sequence[dict[str, Any]], response_format: dict[str, Any] | None
) -> AIMessage:
    """`data` as JSON text, or as a call of the one function offered for it."""
    if len(tools) == 1 and not response_format:
        name = str(tools[0].get("function", tools[0]).get("name", ""))
        return AIMessage("", tool_calls=[tool_call(name=name, args=data, id=f"call_{name}")])
    return AIMessage(json.dumps(data, ensure_ascii=False))


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
    reused: list[str] = []
    requests: list[dict[str, Any]] = []
    order: list[str] = []
    for operation in _operations(understood):
        name = known.get(operation.key)
        if name:
            reused.append(name)
        else:
            request = request_for(operation, following.written_out(seen))
            requests.append(request)
            name = str(request["name"])
        order.append(name)
    guidance = f"Call {', then '.join(order)}; take every argument from the question and the files."
    return {"required_tool_names": _reuse(reused, seen), "tool_usage_guidance": guidance, "tool_requests": requests}


def _reuse(names: Sequence[str], seen: Seen) -> list[dict[str, str]]:
    """Each tool to reuse with what it serves: it was chosen because the question asks, in whatever words, for what it
    does."""
    asked = " ".join(seen.parts.get("question", "").split())[:160]
    return [{"name": name, "serves": asked} for name in names]


def _operations(understood: Understood) -> list[Operation]:
    return list({step.operation.key: step.operation for step in understood.steps}.values())


def _candidates(text: str) -> dict[str, str]:
    """Name of the first fitting candidate by the key of the operation that it does."""
    found: dict[str, str] = {}
    for name, parameters, description in _CANDIDATE.findall(text):
        names = [part.split(":")[0].strip() for part in parameters.split(",") if part.strip()]
        operation = recognise(name, description, names, all_operations())
        if operation:
            found.setdefault(operation.key, name)
    return found
