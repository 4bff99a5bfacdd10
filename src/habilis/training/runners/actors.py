"""Our end of a task on a node: the actors of a run (`node.TaskOnNode`), and the program that one of them runs for us.

An actor that has ended a task in order takes the next: what it has loaded, and the template process that its programs
are forked from, are there already.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from habilis.rundir.fetching import fetch_task
from habilis.rundir.kept import KeptFolder
from habilis.training.runners.head import ClusterHead
from habilis.training.runners.program import Death

TASK_CPUS = 0.25
"""Of a node's processors, for each task: it waits for its model most of the time."""
PATIENCE_S = 10.0
"""Seconds until a person hears that a task waits for a node, and until an actor that does not answer is given up."""
MOST_TASKS = 100
"""Tasks of one actor after which another takes its place."""


class NodeLost(Exception):
    """The node of a task, or the way to it, is gone."""


@dataclass
class Actor:
    """An actor, and how many tasks it was given."""

    handle: Any
    tasks: int = 0

    def end(self) -> None:
        import ray

        ray.kill(self.handle)


class Actors:
    """The actors of a run on the cluster of `head`."""

    def __init__(self, head: ClusterHead) -> None:
        self._head = head
        self._free: list[Actor] = []

    async def begun(
        self, first: Mapping[str, Any], kept: KeptFolder, task: str, tell: Callable[[str], None]
    ) -> NodeProgram:
        """The program of a task, on a node that Ray has chosen."""
        actor = await self._next()
        actor.tasks += 1
        run = actor.handle.run.options(num_returns="streaming")
        said = await self._head.asked(lambda: run.remote(actor.tasks, first))
        return NodeProgram(actor, said, kept, task, tell, self._take_back)

    async def _next(self) -> Actor:
        """One that waits for a task and answers, or a new one."""
        while self._free:
            actor = self._free.pop()
            with of_one_that_is_lost():
                async with asyncio.timeout(PATIENCE_S):
                    if await actor.handle.is_free.remote():
                        return actor
            actor.end()
        return Actor(await self._head.asked(_made))

    def _take_back(self, actor: Actor) -> None:
        if actor.tasks < MOST_TASKS:
            self._free.append(actor)
        else:
            actor.end()


def _made() -> Any:
    """A new actor, wherever Ray finds room."""
    import ray

    from habilis.training.runners.node import TaskOnNode

    return ray.remote(num_cpus=TASK_CPUS, max_restarts=0, scheduling_strategy="SPREAD")(TaskOnNode).remote()


class NodeProgram:
    """A task's program on a node. `take_back` gets the actor when it is free again."""

    def __init__(
        self,
        actor: Actor,
        said: Any,
        kept: KeptFolder,
        task: str,
        tell: Callable[[str], None],
        take_back: Callable[[Actor], None],
    ) -> None:
        self._actor, self._number, self._said, self._take_back = actor, actor.tasks, said, take_back
        self._kept, self._task, self._death = kept, task, Death(1, b"")
        self._lost, self._taken, self._over = "", asyncio.Event(), False
        text = f"task {task} waits for a node with {TASK_CPUS} of a processor free; 'ray status' says what there is"
        self._waiting = asyncio.get_running_loop().call_later(PATIENCE_S, tell, text)

    def say(self, said: Mapping[str, Any]) -> None:
        """Send a line. An order to one that no node has taken yet ends it: nothing was begun."""
        if "order" in said and not self._taken.is_set():
            self._death = Death(-signal.SIGINT, b"")
            self._end()
        else:
            self._actor.handle.say.remote(self._number, dict(said))

    async def lines(self) -> AsyncIterator[bytes]:
        import ray

        try:
            async for reference in self._said:
                line: bytes = await reference
                self._waiting.cancel()
                self._taken.set()
                if line.startswith(b'{"died"'):
                    code, printed = json.loads(line)["died"]
                    self._death = Death(code, printed.encode())
                else:
                    yield line
            self._over = True
        except ray.exceptions.RayError as error:
            self._lost = "" if self._death.code < 0 else first_line_of(error)

    async def begun(self) -> None:
        await self._taken.wait()

    async def memory_bytes(self) -> int:
        with of_one_that_is_lost():
            return int(await self._actor.handle.memory_bytes.remote(self._number))
        return 0

    async def kill(self) -> None:
        """End it, if it still runs; then its actor goes too."""
        if self._over:
            self._take_back(self._actor)
            return
        with of_one_that_is_lost():
            async with asyncio.timeout(PATIENCE_S):
                await self._actor.handle.kill.remote(self._number)
        self._end()

    def _end(self) -> None:
        self._waiting.cancel()
        self._actor.end()

    async def death(self) -> Death:
        """Raises `NodeLost` where the node went before the program did; else what the task left is fetched."""
        if self._lost:
            raise NodeLost(self._lost)
        await asyncio.to_thread(fetch_task, self._kept, self._task)
        return self._death


@contextlib.contextmanager
def of_one_that_is_lost() -> Iterator[None]:
    """What is asked in the block need not be answered."""
    import ray

    with contextlib.suppress(ray.exceptions.RayError, TimeoutError):
        yield


def first_line_of(error: BaseException) -> str:
    """The first line of what an error says."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
