"""Signals of a command at work: of a task the first Ctrl-C asks for an end, the second stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def guarded(work: Coroutine[Any, Any, T], ask: Callable[[], None]) -> T:
    """The result of `work`. Ctrl-C once calls `ask`, twice cancels, and so do SIGTERM and a terminal that goes away.

    After that the system's own handling is back. A signal that we were started to ignore (nohup) stays ignored.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    asked = False
    heard = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]

    def end(at_once: bool) -> None:
        nonlocal asked
        if asked or at_once:
            for number in heard:
                loop.remove_signal_handler(number)
            task.cancel()
            return
        asked = True
        ask()

    for number in heard:
        loop.add_signal_handler(number, end, number != signal.SIGINT)
    return await task


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; a request to stop ends it, and its processes, at once. Raises `KeyboardInterrupt` then."""

    done: list[T] = []

    async def driven() -> None:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                loop.add_signal_handler(number, task.cancel)
        done.append(await task)  # not returned: Python writes a main task's result out as text, and throws it away

    try:
        asyncio.run(driven())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    return done[0]
