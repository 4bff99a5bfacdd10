"""A model with a known delay that notes when it was at work, so that everything else can be told apart from it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from habilis.demo import OfflineModel
from habilis.models.tokens import TokenCounter

Interval = tuple[float, float]


class TimedModel(OfflineModel):
    """The offline model behind a delay of `latency_s`; `intervals` are the seconds in which requests were under way."""

    latency_s: float
    _intervals: list[Interval] = PrivateAttr(default_factory=list)
    _requests: list[tuple[list[BaseMessage], list[Any]]] = PrivateAttr(default_factory=list)

    @property
    def intervals(self) -> list[Interval]:
        return self._intervals

    def prompt_tokens(self) -> int:
        """Tokens of all requests so far: messages, and the schemas of tools and answers."""
        counter = TokenCounter("gpt-4o")
        sent = sum(counter.count(messages).tokens for messages, _ in self._requests)
        return sent + sum(
            counter.text(json.dumps(schema)).tokens for _, schemas in self._requests for schema in schemas
        )

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        schemas = [
            *(kwargs.get("tools") or []),
            *([kwargs["response_format"]] if kwargs.get("response_format") else []),
        ]
        self._requests.append((messages, schemas))
        start = time.perf_counter()
        try:
            await asyncio.sleep(self.latency_s)
            return self.answer(messages, **kwargs)
        finally:
            self._intervals.append((start, time.perf_counter()))

    def answer(self, messages: list[BaseMessage], **kwargs: Any) -> ChatResult:
        return self._generate(messages, **kwargs)


class LoopingModel(TimedModel):
    """Where tools are offered, calls `tool` in `rounds` rounds, each time with other arguments."""

    tool: str
    rounds: int

    def answer(self, messages: list[BaseMessage], **kwargs: Any) -> ChatResult:
        if not kwargs.get("tools"):
            return super().answer(messages, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=next_step(messages, self.tool, self.rounds))])


def next_step(messages: list[BaseMessage], tool: str, rounds: int) -> AIMessage:
    """Call `tool` once more, or answer after `rounds` results."""
    done = sum(message.type == "tool" for message in messages)
    if done >= rounds:
        return AIMessage(f"The result is {done}, computed by the tool in {done} steps.")
    call = {"name": tool, "args": {"calculation": f"{done} + 1"}, "id": f"call-{done}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def union_s(intervals: list[Interval]) -> float:
    """Seconds covered by at least one of the intervals."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(intervals):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total
