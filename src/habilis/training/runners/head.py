"""Whether a Ray cluster still has its head.

Where the head has died, Ray lets tasks wait for it without a word and ends this whole process after a while. So we ask
it for its nodes all the time, on a thread of its own: the question itself may never return.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import TypeVar, cast

from habilis.core.errors import PlaceError

Answer = TypeVar("Answer")
LOOK_S = 2.0
"""Seconds between two questions."""
SILENT_S = 30.0
"""Seconds without an answer after which the head is given up. A busy one takes a few."""


class ClusterHead:
    """The head of the cluster that this process has joined; `where` names the cluster. `lost` once it is given up."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._answered, self._ended = threading.Event(), threading.Event()
        self.lost = asyncio.Event()

    def failure(self) -> PlaceError:
        """What has happened, and what to do."""
        return PlaceError(f"{self._where} is gone: its head has not answered for {SILENT_S:g} s; start it again")

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Watch the head while the block runs."""
        threading.Thread(target=self._ask, name="head", daemon=True).start()
        watching = asyncio.ensure_future(self._watch())
        try:
            yield
        finally:
            self._ended.set()
            watching.cancel()

    async def _watch(self) -> None:
        silent_s = 0.0
        while silent_s < SILENT_S:  # counted by looks: a process that was stopped meanwhile has missed no answer
            await asyncio.sleep(LOOK_S)
            silent_s = 0.0 if self._answered.is_set() else silent_s + LOOK_S
            self._answered.clear()
        self.lost.set()

    async def asked(self, question: Callable[[], Answer]) -> Answer:
        """What the head answers to `question`, which blocks; nothing waits for the answer after a cancellation."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def give(found: Answer | None, error: Exception | None) -> None:
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(cast("Answer", found))

        def ask() -> None:
            found, refused = None, None
            try:
                found = question()
            except Exception as error:
                refused = error
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(give, found, refused)

        threading.Thread(target=ask, name="head", daemon=True).start()
        return await answer

    def _ask(self) -> None:
        import ray

        ours = ray.get_runtime_context().get_node_id()
        while not self._ended.wait(LOOK_S / 2):
            with contextlib.suppress(Exception):  # whatever it is, it is no answer
                if any(node["NodeID"] == ours and node["Alive"] for node in ray.nodes()):
                    self._answered.set()
