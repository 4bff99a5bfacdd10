"""`OfflineModel`: the LangChain face of the offline demonstration model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from habilis.demo import MODEL_NAME
from habilis.demo.faults import Faults
from habilis.demo.roles import reply

BYTES_PER_TOKEN = 3.4
"""Usage is an estimate: UTF-8 bytes divided by this."""


class OfflineModel(BaseChatModel):
    """A deterministic chat model that needs no key and no network; labelled as what it is in `model_name`."""

    model_name: str = MODEL_NAME
    faults: Faults | None = None
    """How it spoils its replies about clusters and merges, on purpose; None: not at all."""

    @property
    def _llm_type(self) -> str:
        return "habilis-offline"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """This model with `tools` offered. `tool_choice` is ignored: the prompt decides."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tools = list(kwargs.get("tools") or [])
        message = reply(messages, tools, kwargs.get("response_format"), self.faults)
        ended = "tool_calls" if message.tool_calls else "stop"
        told = {
            "usage_metadata": estimate_usage(messages, tools, message),
            "response_metadata": {"model_name": self.model_name, "finish_reason": ended},
        }
        message = message.model_copy(update=told)
        return ChatResult(generations=[ChatGeneration(message=message)], llm_output={"model_name": self.model_name})

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)


def estimate_usage(messages: Sequence[BaseMessage], tools: Sequence[Any], answer: AIMessage) -> UsageMetadata:
    """Tokens of a request and its reply, estimated from their bytes; tool schemas and call arguments count."""
    sent = sum(_size(message) for message in messages) + sum(_bytes(json.dumps(tool, default=str)) for tool in tools)
    read, written = math.ceil(sent / BYTES_PER_TOKEN), math.ceil(_size(answer) / BYTES_PER_TOKEN)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _size(message: BaseMessage) -> int:
    content = message.content if isinstance(message.content, str) else json.dumps(message.content, default=str)
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return _bytes(content) + sum(_bytes(call["name"] + json.dumps(call["args"], default=str)) for call in calls)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", errors="replace"))
