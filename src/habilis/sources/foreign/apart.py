"""Work that a tool has others do, apart from the graph that is running: an agent that asks an agent, and how deep."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, TypeVar

from habilis.sources.foreign.answers import failed

T = TypeVar("T")
MAX_DEPTH = 3
"""How deep agents may ask agents."""
TOO_DEEP = failed("denied", f"agents ask agents {MAX_DEPTH} deep already; do this without one")

_depth: contextvars.ContextVar[int] = contextvars.ContextVar("depth", default=0)


def too_deep() -> bool:
    """Whether an agent that is asked now would be asked by too many others."""
    return _depth.get() >= MAX_DEPTH


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """Do `work` one level deeper, in a context that knows nothing of the graph that is running now.

    Without that a graph would take itself for a part of ours, and keep its state among our checkpoints.
    """
    from langchain_core.runnables.config import var_child_runnable_config

    context = contextvars.copy_context()
    context.run(_depth.set, _depth.get() + 1)
    context.run(var_child_runnable_config.set, None)
    return await asyncio.create_task(work, context=context)
