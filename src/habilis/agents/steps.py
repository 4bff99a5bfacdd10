"""What every node does around its own work: heed the wish to end, note how far the tape is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from langgraph.runtime import Runtime
from langgraph.types import Command

from habilis.tools.workshop import Workshop

S = TypeVar("S")
Goto = TypeVar("Goto")
Node = Callable[[S, Runtime[Workshop]], Awaitable[Command[Goto]]]


def step(node: Node[S, Goto]) -> Node[S, Goto]:
    """A node that ends here when the user asked for an end, and whose checkpoint knows its place on the tape.

    With that place a resumed task asks only for what came after its last checkpoint, so that the n-th time of one and
    the same request stays the n-th (H23).
    """

    @wraps(node)
    async def stepping(state: S, runtime: Runtime[Workshop]) -> Command[Goto]:
        runtime.context.check_stop()
        command = await node(state, runtime)
        update: dict[str, Any] = command.update  # type: ignore[assignment]
        update["tape"] = runtime.context.models.tape.position()
        return command

    return stepping
