"""Signals of a command at work: the first asks for an end, and loses no reply that is paid for, the second stops at
once."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from habilis.core.signals import Ending, hearing

T = TypeVar("T")


async def guarded(
    work: Coroutine[Any, Any, T], ask: Callable[[], None], wind_down: Callable[[], Awaitable[None] | None]
) -> T:
    """The result of `work`. Ctrl-C once calls `ask`, twice cancels.

    SIGTERM and a terminal that goes away cancel it once the replies on their way are in (`wind_down`), or when they
    come again. After that the system's own handling is back. A signal that we were started to ignore (nohup) stays
    ignored.
    """
    task = asyncio.ensure_future(work)
    asked = False

    def interrupted() -> None:
        nonlocal asked
        if asked:
            end()
            return
        asked = True
        ask()

    def end() -> None:
        give_back()
        task.cancel()

    ending = Ending(wind_down, end)
    with hearing({signal.SIGINT: interrupted, signal.SIGTERM: ending.begin, signal.SIGHUP: ending.begin}) as give_back:
        return await task


INTERRUPTED = 130
"""The exit code of a command that somebody ended."""


class Stop:
    """Whether somebody asked for an end. `what` says what becomes of what is done by then."""

    def __init__(self, what: str) -> None:
        self._what, self._asked = what, False

    def asked(self) -> bool:
        return self._asked

    def ask(self) -> None:
        """Ask for an end, and say so once."""
        if not self._asked:
            self._asked = True
            print(
                f"\r\033[Kstopping: {self._what}" if sys.stderr.isatty() else f"stopping: {self._what}", file=sys.stderr
            )


def run_to_stop(work: Coroutine[Any, Any, T], stop: Stop) -> T:
    """The result of `work`, which looks at `stop`: a request to stop asks for an end, a second one ends it at once.
    Raises `KeyboardInterrupt` then."""

    def told(end: Callable[[], object]) -> None:
        if stop.asked():
            end()
        stop.ask()

    return _run(work, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP), told)


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`; a request to stop ends it, and its processes, at once. Raises `KeyboardInterrupt` then."""
    return _run(work, (signal.SIGTERM, signal.SIGHUP), lambda end: end())


def _run(
    work: Coroutine[Any, Any, T], signals: Sequence[signal.Signals], told: Callable[[Callable[[], object]], object]
) -> T:
    """The result of `work`. At each of `signals` `told` is called, with what ends the work."""
    done: list[T] = []

    async def driven() -> None:
        task = asyncio.ensure_future(work)

        def heard() -> None:
            told(task.cancel)

        with hearing(dict.fromkeys(signals, heard)):
            done.append(await task)  # not returned: Python writes a main task's result out as text, and throws it away

    try:
        asyncio.run(driven())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    return done[0]
