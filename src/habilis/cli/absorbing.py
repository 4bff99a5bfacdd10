"""What a conversation proves goes into its library behind the scenes, while the person reads and types."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from habilis.config import Settings
from habilis.core.types import TaskResult
from habilis.curation.ledger.reports import StepReport

UNTOLD_S = 0.3
"""Seconds that waiting for it may take at the end without a word."""

log = logging.getLogger(__name__)


class Absorber:
    """Absorbs one turn after another on a thread of its own.

    A turn that begins meanwhile works with the library as it was, and finds the tools of earlier turns all the same.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._worker = ThreadPoolExecutor(1, "absorb")
        self._running: list[Future[str]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[StepReport | None] | None = None

    def take(self, result: TaskResult, library: Path) -> None:
        """Absorb what a turn proved, when its turn comes."""
        self._running.append(self._worker.submit(self._absorb, result, library))

    def news(self) -> list[str]:
        """What has come of those that are done, one line each; each once."""
        done = [future for future in self._running if future.done()]
        self._running = [future for future in self._running if not future.done()]
        return [text for future in done if not future.cancelled() and (text := future.result())]

    def close(self, say: Callable[[str], None]) -> None:
        """Wait for all of it. Ctrl-C leaves what is not done: its tools stay with their turns."""
        try:
            if wait(self._running, UNTOLD_S).not_done:
                say("taking the tools of this conversation into the library; Ctrl-C leaves them with it")
                wait(self._running)
        except KeyboardInterrupt:
            for future in self._running:
                future.cancel()
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._worker.shutdown()

    def _absorb(self, result: TaskResult, library: Path) -> str:
        """One line about what came of it; whatever fails here, the answer stands and the library is as it was."""
        try:
            report = asyncio.run(self._step(result, library))
        except (asyncio.CancelledError, KeyboardInterrupt):
            return "stopped; the tools of the last questions stay with this conversation"
        except Exception as error:
            log.debug("absorbing failed", exc_info=error)
            text = " ".join(str(error).split()) or type(error).__name__
            return f"the tools of a question stay with this conversation, the library is as it was: {text}"
        finally:
            self._task = None
        new = [line.tool.split("@")[0] for line in report.lineage] if report else []
        return f"{', '.join(new)} went into the library, generation {report.generation}" if report and new else ""

    async def _step(self, result: TaskResult, library: Path) -> StepReport | None:
        from habilis.curation.absorb import absorb_task

        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(absorb_task(result, library, self._settings))
        return await self._task
