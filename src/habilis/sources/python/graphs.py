"""A compiled graph, or any other runnable of LangChain, as a tool: an agent that an agent can ask.

It runs apart from the graph that calls it: with no checkpointer, callbacks or configuration of that graph.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.ports import ExternalTool
from habilis.core.types import CallOutcome, Effects, JsonSchema, ToolSpec, Usage
from habilis.sources.foreign.answers import as_outcome, failed
from habilis.sources.foreign.apart import TOO_DEEP, apart, too_deep
from habilis.sources.foreign.presenting import version_of
from habilis.sources.python.langchain import raised

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.runnables import Runnable

STEPS = 100
"""Steps of one call of a graph."""


@dataclass(frozen=True)
class GraphTool:
    """The ports `ToolSource` and `ExternalTool` over one graph. Seconds.

    `input_schema` is the graph's own where it is left out; a call's arguments are the graph's input. Of a result that
    holds messages the last one is the answer. What its models cost counts into the task's budget.
    """

    graph: Runnable[Any, Any]
    name: str
    description: str
    input_schema: JsonSchema | None = None
    effects: Effects = "writes"
    timeout_s: float = 600.0

    async def open(self) -> Sequence[ExternalTool]:
        return [self]

    async def aclose(self) -> None:
        """There is nothing to close."""

    @property
    def spec(self) -> ToolSpec:
        schema = self.input_schema or self.graph.get_input_jsonschema()
        return ToolSpec(name=self.name, description=self.description, parameters=schema)

    @property
    def version(self) -> str:
        return version_of(self.spec.model_dump(), type(self.graph).__qualname__)

    def missing(self) -> tuple[str, ...]:
        return ()

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome:
        if too_deep():
            return TOO_DEEP
        meter = _meter()
        try:
            async with asyncio.timeout(self.timeout_s):
                config: Any = {"callbacks": [meter], "recursion_limit": STEPS}
                given = await apart(self.graph.ainvoke(dict(arguments), config))
            outcome = as_outcome(_answer(given), workspace)
        except TimeoutError:
            outcome = failed("timeout", f"no answer within {self.timeout_s:g} s; ask for less, or go on without.")
        except Exception as error:  # whatever the graph raises is a value for the model
            outcome = raised(error)
        used: Usage = meter.used  # type: ignore[attr-defined]
        return outcome.model_copy(update={"usage": used})


def _answer(given: Any) -> Any:
    messages = given.get("messages") if isinstance(given, dict) else given
    last = messages[-1] if isinstance(messages, list) and messages else messages
    text = getattr(last, "text", None) if hasattr(last, "content") else None
    return str(text) if text is not None else given


def _meter() -> BaseCallbackHandler:
    """Counts what models report; a call whose cost is not reported counts as one of no tokens."""
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.outputs import LLMResult

    class Meter(BaseCallbackHandler):
        def __init__(self) -> None:
            self.used = Usage()

        def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
            messages = [getattr(given, "message", None) for row in response.generations for given in row]
            told = (getattr(message, "usage_metadata", None) for message in messages)
            said: Any = next((usage for usage in told if usage), {})
            self.used += Usage(
                model_calls=1,
                prompt_tokens=said.get("input_tokens", 0),
                completion_tokens=said.get("output_tokens", 0),
            )

    return Meter()
