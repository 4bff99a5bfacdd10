"""The chat model behind every OpenAI-compatible server: LangChain's, with a body that small servers understand too.

Imported lazily: it brings langchain_openai with it, which takes a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from openai import APIStatusError
from pydantic import Field

from habilis.models.failures import unreadable
from habilis.models.quirks import THOUGHTS, Quirks, answered
from habilis.models.repeating import RepetitionWatch
from habilis.models.replies import from_body
from habilis.models.streaming import streamed


class CompatibleChat(ChatOpenAI):
    """`ChatOpenAI` that reads replies itself.

    Why: LangChain's reading raises for arguments that are JSON but no object, drops reasoning, and sends requests with
    a response format through a helper that raises for cut replies. `official`: the server is OpenAI's own, which
    wants `max_completion_tokens`; every other knows `max_tokens`. What either takes otherwise is found out by its
    refusals, kept in `quirks`, and told to `tell`. Two keywords beyond LangChain's: `say` streams the reply and is told
    its text as it comes; `completion` sends the last message as a text to go on with.
    """

    official: bool = True
    quirks: Quirks = Field(default_factory=Quirks)
    tell: Callable[[str], None] = Field(default=lambda _: None)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        say, completion = kwargs.pop("say", None), kwargs.pop("completion", False)
        if self._use_responses_api({**self._default_params, **kwargs}):
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        payload.pop("stream", None)
        for said, row in zip(messages, payload["messages"], strict=False):
            if row["role"] == "assistant":
                row[THOUGHTS] = said.additional_kwargs.get(THOUGHTS) or " "  # an empty one counts as none
        if not self.official and "max_completion_tokens" in payload:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        payload.update(payload.pop("extra_body", None) or {})
        path = "/chat/completions"
        if completion:
            path, payload["prompt"] = "/completions", str(messages[-1].content)
            del payload["messages"]
        if say is not None:
            payload |= {"stream": True, "stream_options": {"include_usage": True}}

        async def send(sent: dict[str, Any]) -> Any:
            if say is not None:
                return await streamed(
                    self.root_async_client, path, sent, say, RepetitionWatch(kwargs.get("max_tokens"))
                )
            return await self.root_async_client.post(path, cast_to=object, body=sent)

        try:
            body = await answered(payload, send, self.quirks, self.tell, APIStatusError)
        except (ValueError, RecursionError) as error:
            raise unreadable(error) from None
        message: AIMessage = from_body(body)
        return ChatResult(generations=[ChatGeneration(message=message)])
