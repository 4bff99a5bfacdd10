"""Many tasks side by side in one process among others (`WorkersRunner`), each of them run as by `LocalRunner`.

After its first line come {"start": number, "job": …}, {"stop": number}, {"order": "interrupt"}, and what is about the
run's purse (`drawing`). What happens goes out as {"event": …, "of": number}, and each task's end as {"ended": …, "of":
number}, or {"failed": text, "place": …, "of": number} where it could not be put on record. The process is killed when
there is nothing more to do; SIGTERM and SIGHUP have all tasks finish their step first.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.core.errors import PlaceError
from habilis.core.place import place_failure
from habilis.core.ports import Lease
from habilis.core.signals import hearing
from habilis.core.usage import Ceiling
from habilis.curation.ledger.reports import Finished
from habilis.rundir.kept import kept_at
from habilis.rundir.store import joined_run
from habilis.training.runners.drawing import DistantPurse
from habilis.training.runners.job import Job
from habilis.training.runners.local import LocalRunner
from habilis.training.runners.speaking import Teller, listen


def serve(told: dict[str, Any], settings: Settings, teller: Teller) -> None:
    """Run tasks until the process is ended. `told` names the run that they all belong to, and its lease."""
    lease = Lease(**told["lease"]) if told["lease"] else None
    with joined_run(settings.store, Path(told["run"]), lease):
        asyncio.run(_serve(_Worker(settings, teller)))


async def _serve(worker: _Worker) -> None:
    loop = asyncio.get_running_loop()
    threading.Thread(target=listen, args=(loop, worker.heard), daemon=True).start()
    with hearing(dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), worker.interrupt)):
        await asyncio.Event().wait()


class _Worker:
    def __init__(self, settings: Settings, teller: Teller) -> None:
        limits = Ceiling(settings.evolution.max_tokens, settings.evolution.max_cost)
        self._teller, self._purse = teller, DistantPurse(limits, teller.say)
        self._runner = LocalRunner(settings, purse=self._purse)
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def heard(self, said: dict[str, Any]) -> None:
        match said:
            case {"start": int(number), "job": job}:
                self._tasks[number] = asyncio.ensure_future(self._run(number, Job.model_validate(job)))
            case {"stop": int(number)}:
                if number in self._tasks:
                    self._tasks[number].cancel()
            case {"order": "interrupt"}:
                asyncio.get_running_loop().call_soon(self.interrupt)  # tasks that were to start before have begun then
            case _:
                self._purse.heard(said)

    def interrupt(self) -> None:
        """Have all tasks finish their step."""
        self._runner.interrupt()

    async def _run(self, number: int, job: Job) -> None:
        try:
            end = await self._end_of(number, job)
            self._teller.say(ended=end.model_dump(mode="json"), of=number)
        except asyncio.CancelledError:
            self._teller.say(failed="stopped", place=False, of=number)
        except Exception as error:  # nothing that one task does may end its neighbours
            known = place_failure(error) or error
            place = isinstance(known, PlaceError)
            text = " ".join(str(known).split()) if place else f"{type(error).__name__}: {' '.join(str(error).split())}"
            self._teller.say(failed=text, place=place, of=number)
        finally:
            del self._tasks[number]

    async def _end_of(self, number: int, job: Job) -> Finished:
        end = await self._runner.run(job, lambda event: self._teller.emit(event, of=number))
        if (kept := kept_at(Path(job.run))) is not None:
            await asyncio.to_thread(kept.write, [])  # whoever started it builds on all of that
        return end
