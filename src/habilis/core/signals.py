"""Signals that an event loop hears, with the descriptor of `signal.set_wakeup_fd` left to the watchdog.

asyncio's `add_signal_handler` takes that descriptor for itself. It is not needed: a signal breaks off the wait of the
main thread, whose handler then wakes the loop (PEP 475; asyncio's own handling of Ctrl-C rests on the same). A signal
that comes after the last look at signals and before the wait begins breaks off nothing, so no wait is a long one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import FrameType

WIND_DOWN_S = 10.0
"""Seconds that replies on their way may take to come in, once an end was asked for."""
LOOK_S = 0.25
"""The longest wait of a loop that hears signals: so late may one be heard that came just before the wait."""
WINDING_DOWN = 0
"""Stands among the numbers of signals that the watchdog is told, and is none: we have heard, and wait for replies."""


class Ending:
    """An end in two parts: `wind_down` sends nothing more and says what to wait for, if anything; then `end` ends all.

    Whoever asks for it a second time waits no more.
    """

    def __init__(self, wind_down: Callable[[], Awaitable[None] | None], end: Callable[[], object]) -> None:
        self._wind_down, self._end = wind_down, end
        self._waiting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Wait for what is on its way, ten seconds at most, then end. In the running loop."""
        replies = None if self._waiting is not None else self._wind_down()
        if replies is None:
            self._end()
            return
        _tell_the_watchdog()
        self._waiting = asyncio.ensure_future(self._wait(replies))

    async def _wait(self, replies: Awaitable[None]) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(replies, WIND_DOWN_S)
        self._end()


def _tell_the_watchdog() -> None:
    told = signal.set_wakeup_fd(-1)
    if told >= 0:
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        with contextlib.suppress(OSError):
            os.write(told, bytes([WINDING_DOWN]))


@contextlib.contextmanager
def hearing(told: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[Callable[[], None]]:
    """While the block runs, each signal has its function called in the running loop; main thread only.

    Yields what gives the signals back to the system before that. One that we were started to ignore (nohup) stays
    ignored.
    """
    loop = asyncio.get_running_loop()
    heard = [number for number in told if signal.getsignal(number) != signal.SIG_IGN]
    waking: asyncio.TimerHandle | None = None

    def hear(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed in this very moment
            loop.call_soon_threadsafe(told[signal.Signals(number)])

    def look_again() -> None:
        nonlocal waking
        waking = loop.call_later(LOOK_S, look_again)

    def give_back() -> None:
        while heard:
            number = heard.pop()
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

    for number in heard:
        signal.signal(number, hear)
        signal.siginterrupt(number, False)
    look_again()
    try:
        yield give_back
    finally:
        if waking is not None:
            waking.cancel()
        give_back()
