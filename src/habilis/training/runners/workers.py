"""The tasks of a batch side by side in several processes, each of which runs its share as `LocalRunner` would.

One process keeps one processor busy. The others (`worker`) are forked, like those of `ProcessRunner`, but each takes
many tasks: what a process costs is paid a few times, not once for each task.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from habilis.core.errors import PlaceError
from habilis.curation.ledger.reports import Finished
from habilis.models.purse import SpendingPurse
from habilis.models.quirks import PROCESS_QUIRKS
from habilis.training.runners.drawing import Till
from habilis.training.runners.job import GRACE_S, Job, Watch, broken_off
from habilis.training.runners.program import LocalProgram, TaskProgram
from habilis.training.runners.speaking import event_of

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.core.ports import Purse

Start = Callable[[Mapping[str, Any]], Awaitable[TaskProgram]]


@contextlib.asynccontextmanager
async def working(settings: Settings, workers: int, purse: Purse | None = None) -> AsyncIterator[WorkersRunner]:
    """A runner over so many processes, which end with the block."""
    runner = WorkersRunner(settings, workers, purse=purse)
    try:
        yield runner
    finally:
        await runner.aclose()


class WorkersRunner:
    """Each task goes to the process that has the fewest, which is started if it is not there (any more).

    A process that dies takes its tasks along, as with `LocalRunner`, but not those of the others. `start` starts one
    with its first line. On `purse` draw all tasks of a run.
    """

    def __init__(
        self,
        settings: Settings,
        workers: int,
        *,
        start: Start = LocalProgram.start,
        grace_s: float = GRACE_S,
        purse: Purse | None = None,
    ) -> None:
        self._settings, self._start, self._grace_s = settings, start, grace_s
        self._purse = purse or SpendingPurse()
        self._places = [_Place() for _ in range(workers)]
        self._interrupted = False

    async def run(self, job: Job, watch: Watch) -> Finished:
        place = min(self._places, key=lambda place: place.tasks)
        place.tasks += 1
        try:
            worker = await place.worker(lambda: self._started(job))
            return await worker.run(job, watch, interrupted=self._interrupted)
        finally:
            place.tasks -= 1

    def interrupt(self) -> None:
        self._interrupted = True
        for place in self._places:
            if (worker := place.there) is not None:
                worker.interrupt()

    async def aclose(self) -> None:
        """End all processes, with what they started."""
        await asyncio.gather(*(place.end() for place in self._places))

    async def _started(self, job: Job) -> _Worker:
        lease = asdict(job.lease) if job.lease else None
        first = {"settings": self._settings.model_dump(mode="json"), "run": job.run, "lease": lease}
        program = await self._start({**first, "learnt": PROCESS_QUIRKS.told()})
        return _Worker(program, Till(self._purse, program.say), self._grace_s)


class _Place:
    """Where one process is, has been, or will be; `tasks` counts those that it has, or waits to get."""

    def __init__(self) -> None:
        self.tasks = 0
        self._starting: asyncio.Task[_Worker] | None = None

    @property
    def there(self) -> _Worker | None:
        """The process that was started last, once it was."""
        starting = self._starting
        begun = starting is not None and starting.done() and not starting.cancelled() and starting.exception() is None
        return starting.result() if starting is not None and begun else None

    async def worker(self, start: Callable[[], Awaitable[_Worker]]) -> _Worker:
        """The process, started if there is none that lives. Raises OSError where none can be."""
        starting = self._starting
        if starting is None or (starting.done() and (self.there is None or self.there.gone)):
            self._starting = starting = asyncio.ensure_future(start())
        return await asyncio.shield(starting)

    async def end(self) -> None:
        if self._starting is not None:
            with contextlib.suppress(OSError):
                await (await self._starting).end()


@dataclass
class _Told:
    """A task that a process has: who hears its events, and the last that is said of it, None if the process died."""

    watch: Watch
    last: asyncio.Future[dict[str, Any] | None] = field(default_factory=asyncio.Future)


class _Worker:
    """Our end of one process."""

    def __init__(self, program: TaskProgram, till: Till, grace_s: float) -> None:
        self._program, self._till, self._grace_s = program, till, grace_s
        self._number = 0
        self._tasks: dict[int, _Told] = {}
        self._failure: dict[str, Any] = {}
        """What it said of itself at its end, or what we have to say of it; if anything."""
        self._listening = asyncio.ensure_future(self._listen())

    @property
    def gone(self) -> bool:
        return self._listening.done()

    async def run(self, job: Job, watch: Watch, *, interrupted: bool) -> Finished:
        """`interrupted`: the task is to finish its first step and to go no further."""
        self._number += 1
        number, started = self._number, time.monotonic()
        self._tasks[number] = told = _Told(watch)
        self._program.say({"start": number, "job": job.model_dump(mode="json")})
        if interrupted:
            self.interrupt()
        try:
            await self._hear_last(told)
        except asyncio.CancelledError:
            await self._stop(number, told)
            raise
        finally:
            del self._tasks[number]
        said = told.last.result() if told.last.done() else None
        return await self._end_of(job, said, time.monotonic() - started)

    def interrupt(self) -> None:
        self._program.say({"order": "interrupt"})

    async def end(self) -> None:
        """With all that it started."""
        await self._program.kill()
        await asyncio.wait({self._listening})
        await self._program.death()

    async def _end_of(self, job: Job, said: dict[str, Any] | None, seconds: float) -> Finished:
        """What a task came to of which `said` was said last, or whose process died."""
        if said is not None and "ended" in said:
            return Finished.model_validate(said["ended"])
        if said is not None and said["place"]:
            raise PlaceError(said["failed"])
        if said is not None:
            return broken_off(job, "crashed", said["failed"], seconds, saved=False)
        failed, death = self._failure.get("failed"), await self._program.death()
        if failed and self._failure.get("place"):
            return broken_off(job, "environment_error", failed, seconds, saved=True)
        if death.asked_for and failed is None:
            return broken_off(job, "interrupted", "stopped", seconds, saved=False)
        return broken_off(job, "crashed", failed or death.words, seconds, saved=False)

    async def _stop(self, number: int, told: _Told) -> None:
        """End one task; the process with it, where that does not heed."""
        self._program.say({"stop": number})
        with contextlib.suppress(asyncio.CancelledError):
            await self._hear_last(told, within_s=2 * self._grace_s)
        if not (told.last.done() or self.gone):
            await self._program.kill()

    async def _hear_last(self, told: _Told, within_s: float | None = None) -> None:
        """Wait for the last that is said of a task, or until the process is gone."""
        either: list[asyncio.Future[Any]] = [told.last, self._listening]
        await asyncio.wait(either, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)

    async def _listen(self) -> None:
        """Take in what the process says until it is gone."""
        try:
            async for line in self._program.lines():
                with contextlib.suppress(ValueError):  # the torn line of one that died while it spoke
                    if isinstance(said := json.loads(line), dict):
                        self._heard(said)
        except Exception as error:  # of whoever watches: nobody hears this process any more
            self._failure = {"failed": f"{type(error).__name__}: {error}"}
            await self._program.kill()
        finally:
            self._till.close()

    def _heard(self, said: dict[str, Any]) -> None:
        PROCESS_QUIRKS.take_in(said.get("learnt", ()))
        self._till.heard(said)
        told = self._tasks.get(said.get("of", 0))
        if told is not None and "event" in said:
            told.watch(event_of(said["event"]))
        elif told is not None:
            told.last.set_result(said)
        elif "failed" in said and "of" not in said:
            self._failure = said
