"""Chat completions as JSON, from and to LangChain's messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.messages.arguments import strict_arguments
from habilis.testing.faults import FaultKind, SeenRequest, content_text


def read_messages(rows: Iterable[dict[str, Any]]) -> list[BaseMessage]:
    """Chat-completions messages as LangChain's. Arguments that are no JSON object become invalid tool calls."""
    messages: list[BaseMessage] = []
    for row in rows:
        role, content = row["role"], row.get("content") or ""
        if role in ("system", "developer"):
            messages.append(SystemMessage(content))
        elif role == "tool":
            messages.append(ToolMessage(content, tool_call_id=row["tool_call_id"]))
        elif role != "assistant":
            messages.append(HumanMessage(content))
        else:
            good: list[Any] = []
            bad: list[Any] = []
            for call in row.get("tool_calls") or ():
                name, raw = call["function"]["name"], call["function"]["arguments"]
                args = strict_arguments(raw)
                if args is None:
                    bad.append(
                        {"name": name, "args": raw, "id": call["id"], "error": None, "type": "invalid_tool_call"}
                    )
                else:
                    good.append({"name": name, "args": args, "id": call["id"], "type": "tool_call"})
            messages.append(AIMessage(content, tool_calls=good, invalid_tool_calls=bad))
    return messages


def as_call(message: AIMessage, tools: list[dict[str, Any]]) -> AIMessage:
    """A JSON text as the call that was demanded."""
    args = strict_arguments(message.content)
    if not tools or not args:
        return message
    call: Any = {"name": tools[0]["function"]["name"], "args": args, "id": None, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def stopped(message: AIMessage, words: Iterable[str]) -> AIMessage:
    """The reply up to the first of the stop words."""
    text = content_text(message.content)
    places = [text.index(word) for word in words if word in text]
    return message.model_copy(update={"content": text[: min(places)]}) if places else message


def with_fault(message: AIMessage, tools: list[dict[str, Any]], kind: FaultKind | None) -> AIMessage:
    """The reply as a fault leaves it."""
    if kind in ("empty", "refusal", "content_filter"):
        return AIMessage("", additional_kwargs={"refusal": "I cannot help with that."} if kind == "refusal" else {})
    if kind == "cut":
        return AIMessage(content_text(message.content)[: len(content_text(message.content)) // 2])
    if kind not in ("malformed_arguments", "unknown_tool") or not tools:
        return message
    name = tools[0]["function"]["name"]
    calls: list[Any] = list(message.tool_calls) or [
        {"name": name, "args": {"value": "x"}, "id": None, "type": "tool_call"}
    ]
    if kind == "unknown_tool":
        return AIMessage(message.content, tool_calls=[{**calls[0], "name": "no_such_tool"}, *calls[1:]])
    broken: Any = {**calls[0], "args": json.dumps(calls[0]["args"])[:-2], "error": None, "type": "invalid_tool_call"}
    return AIMessage(message.content, tool_calls=calls[1:], invalid_tool_calls=[broken])


def completion_of(seen: SeenRequest, message: AIMessage, kind: FaultKind | None) -> dict[str, Any]:
    """The body of a chat completion."""
    calls = [
        {
            "id": call["id"] or f"call_{seen.index}_{place}",
            "type": "function",
            "function": {
                "name": call["name"],
                "arguments": call["args"] if isinstance(call["args"], str) else json.dumps(call["args"]),
            },
        }
        for place, call in enumerate((*message.invalid_tool_calls, *message.tool_calls))
    ]
    said: dict[str, Any] = {"role": "assistant", "content": content_text(message.content) or (None if calls else "")}
    if calls:
        said["tool_calls"] = calls
    for name in ("refusal", "reasoning_content"):
        if message.additional_kwargs.get(name):
            said[name] = message.additional_kwargs[name]
    reason = {"cut": "length", "content_filter": "content_filter"}.get(kind or "", "tool_calls" if calls else "stop")
    counted = message.usage_metadata
    prompt = counted["input_tokens"] if counted else len(json.dumps(seen.body["messages"])) // 4
    reply = counted["output_tokens"] if counted else len(json.dumps(said)) // 4
    return {
        "id": f"chatcmpl-{seen.index}",
        "object": "chat.completion",
        "created": 0,
        "model": seen.model,
        "choices": [{"index": 0, **_said(seen, said), "finish_reason": reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
    }


def _said(seen: SeenRequest, said: dict[str, Any]) -> dict[str, Any]:
    return {"text": said["content"]} if "prompt" in seen.body else {"message": said}


def chunks_of(seen: SeenRequest, completion: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The same as the chunks of a stream."""
    base = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    message = choice.get("message") or {"content": choice["text"]}
    text = message["content"] or ""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[at : at + 16]} for at in range(0, len(text), 16)]
    for place, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        opened = {**call, "index": place, "function": {"name": call["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [opened]})
        for at in range(0, len(arguments), 16):
            deltas.append({"tool_calls": [{"index": place, "function": {"arguments": arguments[at : at + 16]}}]})
    for delta in deltas:
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if "usage" in completion and (seen.body.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": completion["usage"]}
