"""Replies in one shape, whoever gave them: plain text as content, reasoning beside it, calls readable or not.

Nothing random stays: ids of runs and requests are left out, ids of calls are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage

from habilis.core.types import Usage
from habilis.messages.arguments import strict_arguments
from habilis.messages.calls import UNREADABLE_AT
from habilis.models.failures import BadReply, ServerSaid, no_json
from habilis.models.thinking import split_thoughts

THINKING_BLOCKS = "thinking_blocks"
"""Key of `additional_kwargs`: thinking that its service signed, and wants back with the reply that it led to."""
BYTES_PER_TOKEN = 3.4
"""Measured over mixed prompts of code and prose; used where no count is to be had."""


_KINDS = {str: "a text", list: "a list", int: "a number", float: "a number", bool: "true or false"}


def from_body(body: Any) -> AIMessage:
    """The reply in the body of a chat completion. Raises `BadReply` for another shape, `ServerSaid` for an error."""
    if isinstance(body, str):
        raise no_json(body)
    if not isinstance(body, dict):
        raise BadReply(
            f"expected a chat completion from the server, but got {_KINDS.get(type(body), 'nothing')}: {_short(body)}"
        )
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = body.get("error") or (choice.get("error") if isinstance(choice, dict) else None)
    if error:
        raise error_said(error)
    if isinstance(choice, dict) and choice.get("finish_reason") == "error":
        raise BadReply("the server broke off in the middle of its reply")
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(choice, dict) and message is None and isinstance(choice.get("text"), str):
        message = {"content": choice["text"]}  # of a completion without chat
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise BadReply(f"the server's reply holds no message: {_short(body)}")
    calls, broken, places = _calls(message)
    said = {"reasoning_content": message.get("reasoning_content") or message.get("reasoning")}
    said["refusal"] = message.get("refusal")
    kwargs: dict[str, Any] = {key: value for key, value in said.items() if isinstance(value, str) and value}
    if places:
        kwargs[UNREADABLE_AT] = places
    return normalised(
        AIMessage(
            content=_content(message.get("content")),
            tool_calls=calls,
            invalid_tool_calls=broken,
            additional_kwargs=kwargs,
            response_metadata={"finish_reason": choice.get("finish_reason"), "model_name": body.get("model")},
            usage_metadata=_usage_metadata(body.get("usage")),
        )
    )


def _calls(message: dict[str, Any]) -> tuple[list[Any], list[Any], list[int]]:
    """Readable calls, unreadable ones, and the places of the latter among all."""
    raw = message.get("tool_calls") or []
    if isinstance(message.get("function_call"), dict):
        raw = [{"function": message["function_call"]}]
    calls: list[Any] = []
    broken: list[Any] = []
    places: list[int] = []
    for index, call in enumerate(raw if isinstance(raw, list) else []):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise BadReply(f"the server sent a tool call without a function: {_short(call)}")
        name, given, call_id = str(function.get("name") or ""), function.get("arguments"), call.get("id")
        call_id = str(call_id) if call_id else None
        args = strict_arguments(given)
        if args is not None:
            calls.append({"name": name, "args": args, "id": call_id, "type": "tool_call"})
        else:
            text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            broken.append({"name": name, "args": text, "id": call_id, "error": None, "type": "invalid_tool_call"})
            places.append(index)
    return calls, broken, places


def _content(content: Any) -> Any:
    if content is None:
        return ""
    if isinstance(content, list):
        return [block for block in content if isinstance(block, str | dict)]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def normalised(message: AIMessage) -> AIMessage:
    """`message` with its text as one string and its reasoning in `additional_kwargs["reasoning_content"]`."""
    text, thoughts = text_and_thoughts(message.content)
    given = message.additional_kwargs.get("reasoning_content") or message.additional_kwargs.get("reasoning")
    if isinstance(given, str) and given:
        thoughts.insert(0, given)
    leading, text = split_thoughts(text, late=not message.tool_calls)
    thoughts += leading
    kwargs: dict[str, Any] = {}
    thought = "\n".join(part.strip() for part in thoughts if part.strip())
    if thought:
        kwargs["reasoning_content"] = thought
    refusal = message.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal:
        kwargs["refusal"] = refusal
    if message.invalid_tool_calls and UNREADABLE_AT in message.additional_kwargs:
        kwargs[UNREADABLE_AT] = message.additional_kwargs[UNREADABLE_AT]
    if message.additional_kwargs.get(THINKING_BLOCKS):
        kwargs[THINKING_BLOCKS] = message.additional_kwargs[THINKING_BLOCKS]
    kept = ("finish_reason", "model_name")
    metadata = {key: message.response_metadata[key] for key in kept if message.response_metadata.get(key)}
    return AIMessage(
        content=text,
        tool_calls=message.tool_calls,
        invalid_tool_calls=message.invalid_tool_calls,
        additional_kwargs=kwargs,
        response_metadata=metadata,
        usage_metadata=message.usage_metadata,
    )


def text_and_thoughts(content: str | list[Any]) -> tuple[str, list[str]]:
    """Text and thoughts of a message's content, which may be a list of parts; thoughts may have parts themselves."""
    if isinstance(content, str):
        return content, []
    texts: list[str] = []
    thoughts: list[str] = []
    for block in content:
        if not isinstance(block, dict):
            texts += [block] if isinstance(block, str) else []
            continue
        kind = block.get("type")
        if kind in ("text", "output_text"):
            texts.append(str(block.get("text") or ""))
        elif kind in ("thinking", "reasoning", "reasoning_content"):
            said = block.get("thinking") or block.get("reasoning") or block.get("text") or ""
            inner = text_and_thoughts(said)[0] if isinstance(said, list) else ""
            thoughts.append(said if isinstance(said, str) else inner or json.dumps(said, ensure_ascii=False))
        elif kind == "refusal":
            texts.append(str(block.get("refusal") or ""))
    return "".join(texts), thoughts


def usage_of(message: AIMessage, asked_bytes: Callable[[], int]) -> Usage:
    """What a reply cost; where the server does not say, by its size and that of the request."""
    counted = message.usage_metadata
    if counted:
        prompt, completion = counted["input_tokens"], counted["output_tokens"]
    else:
        said = [message.content, *(call["args"] for call in (*message.tool_calls, *message.invalid_tool_calls))]
        prompt = round(asked_bytes() / BYTES_PER_TOKEN)
        completion = round(len(json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)
    kept: Any = counted.get("input_token_details") or {} if counted else {}
    cached = min(_count(kept.get("cache_read")), prompt)
    written = min(_count(kept.get("cache_creation")), prompt - cached)
    return Usage(
        model_calls=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        written_tokens=written,
    )


def _count(value: Any) -> int:
    return max(0, value) if isinstance(value, int) else 0


def _usage_metadata(usage: Any) -> Any:
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) and not isinstance(completion, int):
        return None
    prompt, completion = max(0, int(prompt or 0)), max(0, int(completion or 0))
    made = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
    details = usage.get("completion_tokens_details")
    thought = details.get("reasoning_tokens") if isinstance(details, dict) else None
    more = {"output_token_details": {"reasoning": thought}} if isinstance(thought, int) and thought else {}
    return made | more | _cache_of(usage)


def _cache_of(usage: dict[str, Any]) -> dict[str, Any]:
    """What of the prompt came out of a cache, or went into one, in the words of LangChain.

    OpenAI and most others count under `prompt_tokens_details`, DeepSeek in `prompt_cache_hit_tokens`.
    """
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read = _count(details.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens"))
    kept = {"cache_read": read, "cache_creation": _count(details.get("cache_write_tokens"))}
    return {"input_token_details": kept} if any(kept.values()) else {}


def error_said(error: Any) -> ServerSaid:
    """The error that a server reports in the body of a reply."""
    if isinstance(error, dict):
        code = error.get("code")
        status = int(code) if isinstance(code, int | str) and str(code).isdigit() else None
        return ServerSaid(status, str(error.get("message") or error))
    return ServerSaid(None, str(error))


def _short(value: Any) -> str:
    return " ".join(str(value)[:2_000].split())[:120]
