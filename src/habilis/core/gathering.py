"""Work that is done side by side, a few at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


async def side_by_side(
    items: Iterable[Item], work: Callable[[int, Item], Coroutine[Any, Any, Done]], at_once: int
) -> list[Done]:
    """What `work` gives for each of `items` (called with its number, from 0), in their order; the first failure ends
    the rest. Raises `ExceptionGroup`, as a task group does."""
    turn = asyncio.Semaphore(at_once)

    async def one(number: int, item: Item) -> Done:
        async with turn:
            return await work(number, item)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number, item)) for number, item in enumerate(items)]
    return [task.result() for task in tasks]
