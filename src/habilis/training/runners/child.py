"""The process of one task (`ProcessRunner`), or of many (`WorkersRunner`): what to do comes in on lines, what happens
goes out on lines.

The first line in says what all of it rests on. With a job, that is the one task. Later lines are then about the run's
purse (`drawing`), or orders: {"order": "interrupt"} asks the task to finish its step, {"order": "stop"} stops it at
once; both write its result. SIGTERM and SIGHUP stop it once replies on their way are in. Without a job, the process is
a `worker`. When whoever started it is gone, it goes too.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from habilis.config import Settings
from habilis.core.errors import HabilisError, PlaceError
from habilis.core.locations import located
from habilis.core.place import NO_MEMORY, place_failure
from habilis.core.signals import Ending, hearing
from habilis.core.starved import end_when_starved
from habilis.core.usage import Ceiling
from habilis.models.quirks import PROCESS_QUIRKS
from habilis.rundir.store import joined_run
from habilis.sandbox.backends.probing import take_over
from habilis.training.runners import worker
from habilis.training.runners.drawing import DistantPurse
from habilis.training.runners.job import Job, carry_out, team_of
from habilis.training.runners.speaking import Teller, listen

STARVED = json.dumps({"failed": NO_MEMORY, "place": True}).encode("ascii") + b"\n"


def main() -> int:
    """Work on what is asked; 0 when the result of a single job is written."""
    # What others print must not come between our lines.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    end_when_starved(1, fd=out.fileno(), last=STARVED)
    told = json.loads(sys.stdin.buffer.readline())
    PROCESS_QUIRKS.take_in(told["learnt"])
    take_over(told["sandbox"])
    teller = Teller(out)
    try:
        settings = Settings.model_validate(told["settings"])
        if "job" in told:
            _carry_out(Job.model_validate(told["job"]), settings, teller)
        else:
            worker.serve(told, settings, teller)
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


def _carry_out(job: Job, settings: Settings, teller: Teller) -> None:
    with located(job.files), joined_run(settings.store, Path(job.run), job.lease):
        asyncio.run(_work(job, settings, teller))


async def _work(job: Job, settings: Settings, teller: Teller) -> None:
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

    threading.Thread(target=listen, args=(loop, heard), daemon=True).start()
    ending = Ending(team.wind_down, work.cancel)
    with hearing({signal.SIGINT: team.interrupt, signal.SIGTERM: ending.begin, signal.SIGHUP: ending.begin}):
        await work


if __name__ == "__main__":
    sys.exit(main())
