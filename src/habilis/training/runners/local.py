"""All tasks of a batch in this process, side by side on one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from habilis.core.errors import HabilisError
from habilis.core.events import Event
from habilis.core.place import place_failure
from habilis.curation.ledger.reports import Finished
from habilis.training.runners.job import GRACE_S, Job, Watch, broken_off, carry_out, ended, team_of, too_long

if TYPE_CHECKING:
    from habilis.agents.team import Team
    from habilis.agents.wiring import Clients
    from habilis.config import Settings
    from habilis.core.ports import Purse
    from habilis.core.types import TaskResult

log = logging.getLogger(__name__)


class LocalRunner:
    """Light, and as strong as Python is: a task that waits for ever is cancelled at its time limit, but one that
    blocks the event loop, or ends the interpreter, takes its neighbours along; `ProcessRunner` holds those.

    `sleep` waits out the time limit. On `purse` draw all tasks of a run.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clients: Clients | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        grace_s: float = GRACE_S,
        purse: Purse | None = None,
    ) -> None:
        self._settings, self._clients, self._purse = settings, clients, purse
        self._sleep, self._grace_s = sleep, grace_s
        self._open: list[Team] = []

    async def run(self, job: Job, watch: Watch) -> Finished:
        team = team_of(job, self._settings, [_Watcher(watch)], self._clients, self._purse)
        started = time.monotonic()
        work = asyncio.create_task(carry_out(team, job))
        limit = asyncio.ensure_future(self._sleep(job.timeout_s))
        self._open.append(team)
        try:
            await asyncio.wait({work, limit}, return_when=asyncio.FIRST_COMPLETED)
            late = not work.done()
            if late:
                await self._stop(work)
        except asyncio.CancelledError:
            await self._stop(work)
            raise
        finally:
            self._open.remove(team)
            limit.cancel()
        seconds = time.monotonic() - started
        if late:
            return broken_off(job, "timed_out", too_long(job), seconds, saved=work.done())
        return _finished(job, work, seconds)

    def interrupt(self) -> None:
        for team in self._open:
            team.interrupt()

    async def _stop(self, work: asyncio.Task[TaskResult]) -> None:
        """Cancel `work` and give it time to write down where it stands and to end its processes."""
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({work}, timeout=self._grace_s)
        if not work.done():
            log.warning("a task does not heed its cancellation; it is left behind")


@dataclass
class _Watcher:
    emit: Callable[[Event], None]


def _finished(job: Job, work: asyncio.Task[TaskResult], seconds: float) -> Finished:
    """What `work`, which is over, came to. What it raised is the end of this task and of no other."""
    if work.cancelled():
        return broken_off(job, "interrupted", "stopped", seconds, saved=True)
    error = work.exception()
    if error is None:
        return ended(job, work.result(), seconds)
    log.debug("task %s ended with an exception", job.task.id, exc_info=error)
    if (place := place_failure(error)) is not None:
        return broken_off(job, "environment_error", str(place), seconds, saved=True)
    text = str(error) if isinstance(error, HabilisError) else f"{type(error).__name__}: {error}"
    return broken_off(job, "crashed", " ".join(text.split()), seconds, saved=False)
