"""The chat model behind every server that speaks chat completions, small ones included."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_openai_data_block
from langchain_core.messages import is_data_content_block as is_data
from langchain_core.outputs import ChatGeneration, ChatResult

from habilis.messages.history import text_of
from habilis.messages.repeating import RepetitionWatch
from habilis.models.endpoint import Endpoint
from habilis.models.failures import StatusError
from habilis.models.quirks import THOUGHTS, Body, Quirks, answered
from habilis.models.replies import from_body
from habilis.models.streaming import streamed

_ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


@dataclass(frozen=True)
class Completions:
    """Chat completions of one model. What the server takes otherwise than others is found out by its refusals, kept in
    `quirks`, and told to `tell`; `options` are a user's own fields of the body, and stand above ours."""

    endpoint: Endpoint
    quirks: Quirks
    tell: Callable[[str], None]
    options: Mapping[str, Any]

    async def result(
        self, payload: Body, say: Callable[[str], None] | None = None, *, completion: bool = False
    ) -> ChatResult:
        """The reply to `payload`. `say` streams it and is told its text as it comes; `completion` sends the last
        message as a text to go on with. Raises one of `failures.expected()`."""
        most = payload.get("max_completion_tokens", payload.get("max_tokens"))
        payload, path = {**payload, **self.options}, "/chat/completions"
        if completion:
            path, payload["prompt"] = "/completions", str(payload.pop("messages")[-1]["content"])
        if say is not None:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}

        async def send(sent: Body) -> Any:
            if say is not None:
                return await streamed(self.endpoint.events(path, sent), say, RepetitionWatch(most))
            return await self.endpoint.post(path, sent)

        message: AIMessage = from_body(await answered(payload, send, self.quirks, self.tell, StatusError))
        return ChatResult(generations=[ChatGeneration(message=message)])


class CompatibleChat(BaseChatModel):
    """A model that is asked with what is `always` the same: its name, and what else every request holds.

    Two keywords beyond those of chat completions: `say` and `completion`, as in `Completions.result`.
    """

    completions: Any
    always: dict[str, Any]

    @property
    def _llm_type(self) -> str:
        return "openai-chat"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("this model is asked asynchronously: use ainvoke")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        say: Callable[[str], None] | None = None,
        completion: bool = False,
        **kwargs: Any,
    ) -> ChatResult:
        payload = {"messages": [row(message) for message in messages], **self.always, **kwargs}
        if stop:
            payload["stop"] = stop
        result: ChatResult = await self.completions.result(payload, say, completion=completion)
        return result


def row(message: BaseMessage) -> Body:
    """`message` as chat completions have it. Of a reply its thoughts go along, which few servers want back."""
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": _content(message)}
    made: Body = {"role": _ROLES.get(message.type, message.type), "content": _content(message)}
    if message.name:
        made["name"] = message.name
    if isinstance(message, AIMessage):
        made |= {"content": text_of(message), THOUGHTS: thoughts_of(message)}
        if message.tool_calls:
            made |= {"content": made["content"] or None, "tool_calls": [_call(call) for call in message.tool_calls]}
    return made


def thoughts_of(message: BaseMessage) -> str:
    """What a reply brought along of its reasoning."""
    return message.additional_kwargs.get(THOUGHTS) or " "  # an empty one counts as none


def _call(call: Mapping[str, Any]) -> Body:
    function = {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)}
    return {"type": "function", "id": call["id"], "function": function}


def _content(message: BaseMessage) -> Any:
    if isinstance(message.content, str):
        return message.content
    blocks = ({"type": "text", "text": block} if isinstance(block, str) else block for block in message.content)
    return [convert_to_openai_data_block(block) if is_data(block) else block for block in blocks]
