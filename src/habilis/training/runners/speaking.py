"""How the process of a task, or of many, hears lines on its standard input and says lines on its standard output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from habilis.core.events import Event
from habilis.models.quirks import PROCESS_QUIRKS

MAX_TEXT = 1_000
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class Teller:
    """Says each event, long texts cut: the whole stands in the task's own record; and what is learnt of servers."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._learnt = PROCESS_QUIRKS.told()

    def emit(self, event: Event, **of: Any) -> None:
        """An event; where several tasks speak, `of` says whose."""
        self.say(event=_short(event.model_dump(mode="json")), **of)
        if (learnt := PROCESS_QUIRKS.told()) != self._learnt:
            self._learnt = learnt
            self.say(learnt=learnt)

    def say(self, **what: Any) -> None:
        self._out.write(json.dumps(what, default=str).encode("utf-8", "replace") + b"\n")
        self._out.flush()


def event_of(said: Any) -> Event:
    """The event that a `Teller` said, in the process that it speaks to."""
    return _EVENT.validate_python(said)


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_TEXT]
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


def listen(loop: asyncio.AbstractEventLoop, heard: Callable[[dict[str, Any]], None]) -> None:
    """Hand on what comes in, on a thread. Our standard input ends when its writer is gone, on every system: so do we,
    with our whole group."""
    while line := sys.stdin.buffer.readline():
        with contextlib.suppress(RuntimeError):  # the loop is closed: all is written
            loop.call_soon_threadsafe(heard, json.loads(line))
    os.killpg(os.getpgrp(), signal.SIGKILL)
