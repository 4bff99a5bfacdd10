"""What a user would lose: a Ctrl-C, or the end that a system asks for, that came in a moment when nobody looked."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from habilis.core import signals


@pytest.fixture(autouse=True)
def _as_a_person_starts_us() -> Iterator[None]:
    """Who started the tests may have had them ignore signals, as a shell does with what it runs in the background."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_that_does_not_break_off_the_wait_is_heard_all_the_same(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes after the interpreter's last look and before the wait: here it is held back until the wait is over."""
    loop: Any = asyncio.get_running_loop()
    select, waits = loop._selector.select, []
    heard = asyncio.Event()

    def in_the_gap(timeout: float | None = None) -> Any:
        if waits or (timeout is not None and timeout <= 0):
            return select(timeout)
        waits.append(timeout)
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        os.kill(os.getpid(), number)
        try:
            return select(1.0 if timeout is None else timeout)  # none would be for ever
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})

    monkeypatch.setattr(signals, "LOOK_S", 0.02)
    with signals.hearing({number: heard.set}):
        monkeypatch.setattr(loop._selector, "select", in_the_gap)
        await asyncio.wait_for(heard.wait(), 60)
    assert waits
    assert waits[0] is not None, "a loop without anything else to do waits for ever"
    assert waits[0] <= 0.02


async def test_afterwards_the_loop_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "LOOK_S", 0.02)
    loop: Any = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGTERM)
    with signals.hearing({signal.SIGTERM: lambda: None}):
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert [timer for timer in loop._scheduled if not timer.cancelled()] == []
