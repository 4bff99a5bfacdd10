"""Signals that an event loop hears, with the descriptor of `signal.set_wakeup_fd` left to the watchdog.

asyncio's `add_signal_handler` takes that descriptor for itself. It is not needed: a signal breaks off the wait of the
main thread, whose handler then wakes the loop (PEP 475; asyncio's own handling of Ctrl-C rests on the same).
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from types import FrameType


@contextlib.contextmanager
def hearing(told: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[Callable[[], None]]:
    """While the block runs, each signal has its function called in the running loop; main thread only.

    Yields what gives the signals back to the system before that. One that we were started to ignore (nohup) stays
    ignored.
    """
    loop = asyncio.get_running_loop()
    heard = [number for number in told if signal.getsignal(number) != signal.SIG_IGN]

    def hear(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed in this very moment
            loop.call_soon_threadsafe(told[signal.Signals(number)])

    def give_back() -> None:
        while heard:
            number = heard.pop()
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

    for number in heard:
        signal.signal(number, hear)
        signal.siginterrupt(number, False)
    try:
        yield give_back
    finally:
        give_back()
