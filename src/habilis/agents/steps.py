"""What every node does around its own work: heed the wish to end, note how far the tape is used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime
from langgraph.types import Command

from habilis.context.task import TaskContext

Node = TypeVar("Node", bound=Callable[..., Awaitable[Command[Any]]])


def step(node: Node) -> Node:
    """A node that ends here when the user asked for an end, and whose checkpoint knows its place on the tape.

    With that place a resumed task asks only for what came after its last checkpoint, so that the n-th time of one and
    the same request stays the n-th.
    """

    @wraps(node)
    async def stepping(state: Any, runtime: Runtime[TaskContext]) -> Command[Any]:
        runtime.context.check_stop()
        command = await node(state, runtime)
        update = cast(dict[str, Any], command.update)
        update["tape"] = runtime.context.models.tape.position()
        return command

    return cast(Node, stepping)
