"""The process of one task (`ProcessRunner`): job and settings come in on one line, what happens goes out line by line.

Later lines in are about the run's purse (`drawing`), or orders: {"order": "interrupt"} asks the task to finish its
step, {"order": "stop"} stops it at once; both write its result. SIGTERM and SIGHUP stop it once replies on their way
are in. When whoever started it is gone, it goes too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from habilis.config import Settings
from habilis.core.errors import HabilisError, PlaceError
from habilis.core.events import Event
from habilis.core.locations import located
from habilis.core.place import NO_MEMORY, place_failure
from habilis.core.signals import Ending, hearing
from habilis.core.starved import end_when_starved
from habilis.core.usage import Ceiling
from habilis.models.quirks import PROCESS_QUIRKS
from habilis.rundir.store import joined_run
from habilis.training.runners.drawing import DistantPurse
from habilis.training.runners.job import Job, carry_out, team_of

MAX_TEXT = 1_000
STARVED = json.dumps({"failed": NO_MEMORY, "place": True}).encode("ascii") + b"\n"


class _Teller:
    """Says each event, long texts cut: the whole stands in the task's own record; and what is learnt of servers."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._learnt = PROCESS_QUIRKS.told()

    def emit(self, event: Event) -> None:
        self.say(event=_short(event.model_dump(mode="json")))
        if (learnt := PROCESS_QUIRKS.told()) != self._learnt:
            self._learnt = learnt
            self.say(learnt=learnt)

    def say(self, **what: Any) -> None:
        self._out.write(json.dumps(what, default=str).encode("utf-8", "replace") + b"\n")
        self._out.flush()


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


def main() -> int:
    """Work on the one job; 0 when its result is written."""
    # What others print must not come between our lines.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    end_when_starved(1, fd=out.fileno(), last=STARVED)
    told = json.loads(sys.stdin.buffer.readline())
    PROCESS_QUIRKS.take_in(told["learnt"])
    teller = _Teller(out)
    try:
        job, settings = Job.model_validate(told["job"]), Settings.model_validate(told["settings"])
        with located(job.files), joined_run(settings.store, Path(job.run), job.lease):
            asyncio.run(_work(job, settings, teller))
    except asyncio.CancelledError:  # stopped; the result says so
        teller.say(done=True)
        return 0
    except HabilisError as error:
        teller.say(failed=" ".join(str(error).split()), place=isinstance(error, PlaceError))
        return 1
    except Exception as error:
        if (place := place_failure(error)) is not None:
            teller.say(failed=str(place), place=True)
            return 1
        teller.say(failed=f"{type(error).__name__}: {' '.join(str(error).split())}")
        raise
    teller.say(done=True)
    return 0


async def _work(job: Job, settings: Settings, teller: _Teller) -> None:
    purse = DistantPurse(Ceiling(settings.evolution.max_tokens, settings.evolution.max_cost), teller.say)
    team = team_of(job, settings, [teller], purse=purse)
    work = asyncio.ensure_future(carry_out(team, job))
    loop = asyncio.get_running_loop()
    orders: dict[str, Callable[[], object]] = {"interrupt": team.interrupt, "stop": work.cancel}

    def heard(said: dict[str, Any]) -> None:
        if "order" in said:
            orders[said["order"]]()
        else:
            purse.heard(said)

    threading.Thread(target=_listen, args=(loop, heard), daemon=True).start()
    ending = Ending(team.wind_down, work.cancel)
    with hearing({signal.SIGINT: team.interrupt, signal.SIGTERM: ending.begin, signal.SIGHUP: ending.begin}):
        await work


def _listen(loop: asyncio.AbstractEventLoop, heard: Callable[[dict[str, Any]], None]) -> None:
    """Hand on what comes in. Our standard input ends when its writer is gone, on every system."""
    while line := sys.stdin.buffer.readline():
        with contextlib.suppress(RuntimeError):  # the loop is closed: the result is written
            loop.call_soon_threadsafe(heard, json.loads(line))
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
