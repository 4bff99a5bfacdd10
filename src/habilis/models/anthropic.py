"""The chat model behind Anthropic's Messages API: LangChain's, asked and read as chat completions are.

Protocol: https://docs.anthropic.com/en/api/messages, its streamed events /en/api/messages-streaming, and thinking
beside tool use /en/docs/build-with-claude/extended-thinking. Imported lazily, extra `anthropic`: langchain_anthropic.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from anthropic import APIStatusError, AsyncAnthropic, AsyncStream
from langchain_anthropic import ChatAnthropic, convert_to_anthropic_tool
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from habilis.messages.repeating import RepetitionWatch
from habilis.models.failures import STATUS_OF, BadReply, ServerSaid, no_json, unreadable
from habilis.models.forms import strict_schema
from habilis.models.quirks import Quirks, answered
from habilis.models.replies import THINKING_BLOCKS, from_body

PATH = "/v1/messages"
_FINISH = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "length": "length",
    "repetition": "repetition",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
}
Body = dict[str, Any]


class AnthropicChat(ChatAnthropic):
    """`ChatAnthropic` that takes what chat completions take, and whose replies are read as theirs.

    Why: LangChain completes the arguments of a call that was cut, and reports thinking, ends and usage in words of the
    provider's own. Thinking that the service signed is kept beside a reply and sent back with it, which calls of tools
    need. Two keywords beyond LangChain's: `say` streams the reply and is told its text as it comes; `completion`, a
    text to go on with, is a message of the user's here.
    """

    http: Any
    """The connection, of the kind that the client library wants."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Extra fields of the body."""
    quirks: Quirks = Field(default_factory=Quirks)
    tell: Callable[[str], None] = Field(default=lambda _: None)

    @cached_property
    def _async_client(self) -> AsyncAnthropic:
        # Newer versions trace by what the environment says; nothing of ours is traced.
        traced = "open_telemetry" in inspect.signature(AsyncAnthropic.__init__).parameters
        untraced: Any = {"open_telemetry": False} if traced else {}
        return AsyncAnthropic(**self._client_params, http_client=self.http, **untraced)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        say = kwargs.pop("say", None)
        payload = self._payload(messages, stop, kwargs)
        betas = payload.pop("betas", None)
        options: Any = {"headers": {"anthropic-beta": ",".join(betas)}} if betas else {}

        async def send(sent: Body) -> Any:
            if say is not None:
                return await self._streamed(sent, options, say, RepetitionWatch(sent.get("max_tokens")))
            return await self._async_client.post(PATH, cast_to=object, body=sent, options=options)

        try:
            body = await answered(payload, send, self.quirks, self.tell, APIStatusError)
        except (ValueError, RecursionError) as error:
            raise unreadable(error) from None
        return ChatResult(generations=[ChatGeneration(message=read_message(body))])

    def _payload(self, messages: Sequence[BaseMessage], stop: list[str] | None, asked: Body) -> Body:
        """The body of a request. Raises `ServerSaid` for what the service is known to refuse."""
        more: Body = {}
        tools = [convert_to_anthropic_tool(tool) for tool in asked.get("tools") or ()]
        if tools:
            more["tools"] = tools
            if asked.get("tool_choice"):
                more["tool_choice"] = {"type": "any", "disable_parallel_tool_use": True}
            elif asked.get("parallel_tool_calls") is False:
                more["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
        if asked.get("response_format"):
            more["output_config"] = {"format": _format(asked["response_format"])}
        try:
            payload = self._get_request_payload([_outward(message) for message in messages], stop=stop, **more)
        except ValueError as error:  # LangChain knows what some models refuse
            raise ServerSaid(400, str(error)) from None
        payload |= payload.pop("extra_body", None) or {}
        if asked.get("max_tokens"):
            payload["max_tokens"] = asked["max_tokens"] + _thinking(self.options | payload)
        config = {**(self.options.get("output_config") or {}), **(payload.get("output_config") or {})}
        return payload | self.options | ({"output_config": config} if config else {})

    async def _streamed(self, payload: Body, options: Any, say: Callable[[str], None], watch: RepetitionWatch) -> Body:
        stream = await self._async_client.post(
            PATH,
            cast_to=object,
            body={**payload, "stream": True},
            options=options,
            stream=True,
            stream_cls=AsyncStream[object],
        )
        whole = StreamedMessage()
        async for event in stream:
            text = whole.add(event)
            if text:
                say(text)
            if why := watch.sees(whole.last):
                whole.end(why)
                await stream.close()
                break
        return whole.body()


def _thinking(body: Body) -> int:
    """Tokens that a request gives to thinking, which count as part of the reply, and must be fewer.

    https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
    """
    thinking = body.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return budget if isinstance(budget, int) else 0


def _format(response_format: Body) -> Body:
    """The form of an answer as this service takes it: closed objects without bounds, or none.

    https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs
    """
    if response_format.get("type") != "json_schema":
        raise ServerSaid(400, "this service has no JSON mode")
    schema = strict_schema(response_format["json_schema"]["schema"])
    if schema is None:
        raise ServerSaid(400, "this service takes no schema with free-form objects")
    return {"type": "json_schema", "schema": schema}


def _outward(message: BaseMessage) -> BaseMessage:
    """A reply with the thinking that came with it."""
    blocks = message.additional_kwargs.get(THINKING_BLOCKS) if isinstance(message, AIMessage) else None
    if not blocks:
        return message
    said: list[Any] = [{"type": "text", "text": message.content}] if message.content else []
    return message.model_copy(update={"content": [*blocks, *said]})


def read_message(body: Any) -> AIMessage:
    """The reply in the body of a message. Raises `BadReply` for another shape, `ServerSaid` for an error."""
    if not isinstance(body, dict) or not isinstance(body.get("content"), list):
        if isinstance(body, dict) and isinstance(body.get("error"), dict):
            kind, text = body["error"].get("type"), body["error"].get("message")
            raise ServerSaid(STATUS_OF.get(str(kind)), str(text))
        if isinstance(body, str):
            raise no_json(body)
        raise BadReply(f"the server's reply holds no message: {' '.join(str(body)[:2_000].split())[:120]}")
    blocks = [block for block in body["content"] if isinstance(block, dict)]
    thoughts = [str(block["thinking"]) for block in blocks if block.get("type") == "thinking" and block.get("thinking")]
    calls = [
        {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    said: Body = {
        "content": "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text"),
        "reasoning_content": "\n".join(thoughts),
        "tool_calls": calls,
    }
    reason = _FINISH.get(str(body.get("stop_reason")), "stop")
    choice = {"message": said, "finish_reason": reason}
    reply = from_body({"choices": [choice], "model": body.get("model"), "usage": _usage(body.get("usage"))})
    if reason == "content_filter" and not reply.content and not reply.tool_calls:
        return reply
    signed = [block for block in blocks if block.get("signature") or block.get("type") == "redacted_thinking"]
    if signed:
        reply.additional_kwargs[THINKING_BLOCKS] = signed
    return reply


def _usage(usage: Any) -> Body | None:
    """Tokens in the words of chat completions; those that the service had in its cache were sent all the same."""
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(f"{kind}input_tokens") for kind in ("", "cache_read_", "cache_creation_")]
    sent = [count if isinstance(count, int) else 0 for count in counts]
    return {
        "prompt_tokens": sum(sent),
        "prompt_tokens_details": {"cached_tokens": sent[1], "cache_write_tokens": sent[2]},
        "completion_tokens": usage.get("output_tokens"),
    }


class StreamedMessage:
    """The events of one stream, put together to the very body that would have come whole."""

    def __init__(self) -> None:
        self._message: Body = {}
        self._blocks: dict[int, Body] = {}
        self._inputs: dict[int, str] = {}
        self._usage: Body = {}
        self._ended = False
        self.last = ""
        """All that the last event held: text, thoughts, input of a call."""

    def end(self, why: str) -> None:
        """Nothing comes behind the last event: the reply was broken off, with `why` as the reason of its end."""
        self._ended = True
        self._message["stop_reason"] = why
        self._usage = {}  # what it cost would have come at the end

    def add(self, event: Any) -> str:
        """Take one event in; returns the text in it."""
        if not isinstance(event, dict):
            raise BadReply(f"the server streamed {type(event).__name__} in place of an event")
        self.last = ""
        kind, index = event.get("type"), int(event.get("index") or 0)
        if kind == "message_start":
            self._message = dict(event.get("message") or {})
            self._usage = dict(self._message.get("usage") or {})
        elif kind == "content_block_start":
            self._blocks[index] = dict(event.get("content_block") or {})
            return str(self._blocks[index].get("text") or "")
        elif kind == "content_block_delta":
            return self._delta(index, event.get("delta") or {})
        elif kind == "message_delta":
            self._message |= event.get("delta") or {}
            self._usage |= {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
        elif kind == "message_stop":
            self._ended = True
        return ""

    def _delta(self, index: int, delta: Body) -> str:
        block = self._blocks.setdefault(index, {"type": "text"})
        for name in ("text", "thinking", "signature"):
            if isinstance(delta.get(name), str):
                block[name] = str(block.get(name) or "") + delta[name]
                self.last += delta[name]
        if isinstance(delta.get("partial_json"), str):
            self.last += delta["partial_json"]
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
        return str(delta.get("text") or "")

    def body(self) -> Body:
        """The whole; arguments that are no JSON stay text. Raises `BadReply` for a stream that broke off."""
        if not self._ended and not self._message.get("stop_reason"):
            raise BadReply("the stream broke off before the end of the reply")
        for index, text in self._inputs.items():
            self._blocks[index]["input"] = _loaded(text)
        content = [self._blocks[index] for index in sorted(self._blocks)]
        return {**self._message, "content": content, "usage": self._usage or None}


def _loaded(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError:
        return text
