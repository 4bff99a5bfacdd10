"""What is needed of a tool to run it, and what it says of itself when it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from habilis.contract.aliases import Alias
from habilis.core.types import CallError, CallOutcome, Frozen, JsonSchema


@dataclass(frozen=True)
class Runnable:
    """What the host needs to know of a tool to run it. Through `alias` it takes and gives what an old name did."""

    name: str
    module: Path
    requirements: tuple[str, ...] = ()
    alias: Alias | None = None

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as its module takes them."""
        return self.alias.given(arguments) if self.alias else dict(arguments)

    def seen(self, outcome: CallOutcome) -> CallOutcome:
        """What its module gave, as the caller knows it."""
        if self.alias is None or outcome.error is not None:
            return outcome
        return outcome.model_copy(update={"output": self.alias.seen(outcome.output)})


class Description(Frozen):
    """What a tool says of itself when it is loaded."""

    name: str
    description: str
    input_schema: JsonSchema
    output_schema: JsonSchema


class Describer(Protocol):
    """Loads tools to read their schemas. A tool that cannot be loaded is an error by value, never raised."""

    async def describe(self, tool: Runnable) -> Description | CallError: ...
