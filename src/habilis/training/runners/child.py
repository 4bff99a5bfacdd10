"""The process of one task (`ProcessRunner`): job and settings come in on one line, what happens goes out line by line.

SIGINT asks the task to finish its step, SIGTERM stops it at once, both write its result. When whoever started it is
gone, it goes too.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any, BinaryIO

from habilis.config import Settings
from habilis.core.errors import HabilisError, PlaceError
from habilis.core.events import Event
from habilis.core.place import place_failure
from habilis.training.runners.job import Job, carry_out, team_of

_PR_SET_PDEATHSIG = 1
MAX_TEXT = 1_000


class _Teller:
    """Says each event, long texts cut: the whole stands in the task's own record."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def emit(self, event: Event) -> None:
        self.say(event=_short(event.model_dump(mode="json")))

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
    _die_with_parent()
    # What others print must not come between our lines.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    told = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leave_when_alone, daemon=True).start()
    teller = _Teller(out)
    try:
        asyncio.run(_work(Job.model_validate(told["job"]), Settings.model_validate(told["settings"]), teller))
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
    team = team_of(job, settings, [teller])
    work = asyncio.ensure_future(carry_out(team, job))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, team.interrupt)
    loop.add_signal_handler(signal.SIGTERM, work.cancel)
    await work


def _die_with_parent() -> None:
    """Have the kernel end us when our parent dies, where it can (prctl(2), Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave_when_alone() -> None:
    """The same for every system: our standard input ends when its writer is gone."""
    while sys.stdin.buffer.readline():
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
