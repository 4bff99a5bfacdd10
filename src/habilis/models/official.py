"""The models of OpenAI's own service: LangChain's, which knows what each of them takes, and which API it wants.

Imported lazily: it brings langchain_openai with it, which takes a second.
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI

from habilis.models.compatible import thoughts_of
from habilis.models.quirks import THOUGHTS


class OfficialChat(ChatOpenAI):
    """`ChatOpenAI` that asks for chat completions, and reads them, as every model of ours does; where a model wants the
    Responses API, that is LangChain's.

    Why: LangChain's reading raises for arguments that are JSON but no object, drops reasoning, and sends requests with
    a response format through a helper that raises for cut replies. It takes the keywords of `CompatibleChat`.
    """

    completions: Any

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
        payload.pop("extra_body", None)
        for said, row in zip(messages, payload["messages"], strict=False):
            if row["role"] == "assistant":
                row[THOUGHTS] = thoughts_of(said)
        result: ChatResult = await self.completions.result(payload, say, completion=completion)
        return result
