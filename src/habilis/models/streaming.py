"""A reply that comes in pieces: put together to the very body that would have come whole.

Protocol: server-sent events of chat completions (https://platform.openai.com/docs/api-reference/chat-streaming).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from habilis.messages.arguments import strict_arguments
from habilis.messages.repeating import RepetitionWatch
from habilis.models.failures import BadReply
from habilis.models.replies import error_said, text_and_thoughts

Body = dict[str, Any]


async def streamed(events: AsyncGenerator[Any], say: Callable[[str], None], watch: RepetitionWatch) -> Body:
    """The body of the reply that `events` bring; `say` is told its text as it comes, and `watch` ends it where it runs
    on.

    Raises `BadReply` for a stream that ends before its end or is none, `ServerSaid` for an error in the middle of it,
    and what `events` raises.
    """
    whole = StreamedBody()
    async with aclosing(events):
        async for chunk in events:
            if isinstance(chunk, dict) and chunk.get("error"):
                raise error_said(chunk["error"])
            text = whole.add(chunk)
            if text:
                say(text)
            if why := watch.sees(whole.last):
                whole.end(why)
                break
    return whole.body()


class StreamedBody:
    """The chunks of one stream, put together."""

    def __init__(self) -> None:
        self._head: Body = {}
        self._message: Body = {"role": "assistant", "content": ""}
        self._calls: list[Body] = []
        self._places: dict[Any, int] = {}
        self._finish: str | None = None
        self.last = ""
        """All that the last chunk held: text, thoughts, arguments."""

    def end(self, why: str) -> None:
        """Nothing comes behind the last chunk: the reply was broken off, with `why` as the reason of its end."""
        self._finish = why

    def add(self, chunk: Any) -> str:
        """Take one chunk in; returns the text in it."""
        if not isinstance(chunk, dict):
            raise BadReply(f"the server streamed {type(chunk).__name__} in place of a chunk")
        self._head |= {key: chunk[key] for key in ("model", "usage", "error") if chunk.get(key)}
        self.last = ""
        choices = chunk.get("choices") or []
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        self._head |= {"error": choice["error"]} if choice.get("error") else {}
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or choice.get("message") or {}
        if not isinstance(delta, dict):
            raise BadReply(f"the server streamed {type(delta).__name__} in place of a piece of a reply")
        for name in ("reasoning_content", "reasoning", "refusal"):
            if isinstance(delta.get(name), str):
                self._message[name] = self._message.get(name, "") + delta[name]
                self.last += delta[name]
        parts = delta.get("tool_calls") or ()
        for part in parts if isinstance(parts, list | tuple) else [parts]:
            self._call(part)
        if isinstance(delta.get("function_call"), dict):  # how calls were sent before there could be several
            self._call({"index": 0, "function": delta["function_call"]})
        text = self._text(delta.get("content", choice.get("text")))
        self._message["content"] += text
        self.last += text
        return text

    def _text(self, said: Any) -> str:
        """The text of a piece of content; thoughts among its parts are kept as such."""
        text, thoughts = text_and_thoughts(said) if isinstance(said, str | list) else ("", [])
        if thoughts:
            self._message["reasoning_content"] = self._message.get("reasoning_content", "") + "".join(thoughts)
            self.last += "".join(thoughts)
        return text

    def _call(self, part: Any) -> None:
        """A piece of a call. Where a server gives no place, or the same to all, an id or a name begins a new one."""
        function = part.get("function") or {} if isinstance(part, dict) else None
        if not isinstance(function, dict):
            raise BadReply("the server streamed a tool call without a function")
        index, given = part.get("index"), function.get("arguments")
        key = index if index is not None else part.get("id")
        place = self._places.get(key) if key is not None else len(self._calls) - 1 if self._calls else None
        if place is None or self._begins_anew(self._calls[place], part.get("id"), function.get("name")):
            place = self._places[key] = len(self._calls)
            self._calls.append({"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
        call = self._calls[place]
        call["id"] = call["id"] or part.get("id")
        call["function"]["name"] = call["function"]["name"] or function.get("name") or ""
        text = given if isinstance(given, str) or given is None else json.dumps(given, ensure_ascii=False)
        call["function"]["arguments"] += text or ""
        self.last += text or ""

    def _begins_anew(self, call: Body, part_id: Any, name: Any) -> bool:
        """Whether a piece with this id and name is no part of `call`, at whose place it came."""
        if not name or not call["function"]["name"]:
            return False
        if part_id and call["id"]:
            return bool(part_id != call["id"])
        return bool(call["function"]["arguments"]) and strict_arguments(call["function"]["arguments"]) is not None

    def body(self) -> Body:
        """The whole. Raises `BadReply` if the stream never said that it was at its end."""
        if self._head.get("error"):
            return self._head
        if self._finish is None:
            raise BadReply("the stream broke off before the end of the reply")
        message = {**self._message, **({"tool_calls": self._calls} if self._calls else {})}
        return {**self._head, "choices": [{"message": message, "finish_reason": self._finish}]}
