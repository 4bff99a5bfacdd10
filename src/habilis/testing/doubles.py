"""A chat model, an event sink and a clock that do as they are told."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from habilis.core.events import Event
from habilis.core.types import GrantRequest


class ScriptedModel(BaseChatModel):
    """A chat model that plays `script`: replies (messages, texts, JSON data, exceptions to raise) in order, or a
    function of messages, tools and response format. What it was asked stands in `asked`. As a judge it is taken at its
    word, unless it is no `trusted_judge`: then the planted cases are asked of it first."""

    script: Any
    model_name: str = "scripted"
    trusted_judge: bool = True
    _asked: list[tuple[list[BaseMessage], dict[str, Any]]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "habilis-scripted"

    @property
    def asked(self) -> list[tuple[list[BaseMessage], dict[str, Any]]]:
        """Messages and keyword arguments of each request."""
        return self._asked

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._asked.append((messages, kwargs))
        if callable(self.script):
            said = self.script(messages, kwargs.get("tools") or [], kwargs.get("response_format"))
        elif len(self._asked) > len(self.script):
            raise AssertionError(f"the script has no reply left for request {len(self._asked)}")
        else:
            said = self.script[len(self._asked) - 1]
        if isinstance(said, Exception):
            raise said
        if not isinstance(said, AIMessage):
            said = AIMessage(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))
        return ChatResult(generations=[ChatGeneration(message=said)])


@dataclass
class RecordingSink:
    """Keeps all events."""

    events: list[Event] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: str) -> list[Any]:
        """The events of one kind, in order."""
        return [event for event in self.events if event.kind == kind]


@dataclass
class ScriptedGranter:
    """A person who is asked what tools may have. `says` answers by need (`network example.org`), else `otherwise`.

    An answer that is an exception is raised. What was asked stands in `asked`.
    """

    says: dict[str, bool | BaseException | None] = field(default_factory=dict)
    otherwise: bool | BaseException | None = False
    asked: list[GrantRequest] = field(default_factory=list)

    async def grant(self, request: GrantRequest) -> bool | None:
        self.asked.append(request)
        answers = [self.says.get(need, self.otherwise) for need in request.needs]
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return None if None in answers else all(answers)


@dataclass
class FakeClock:
    """A clock that only `sleep` moves; `slept` are the waits in seconds."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
