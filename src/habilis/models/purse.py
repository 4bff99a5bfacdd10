"""Tokens and money that requests side by side draw on: what one may come to is set aside before it is sent.

So all of them together use up at most what one request with its reply may take beyond the limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from habilis.core.errors import BudgetReached, HabilisError, Interrupted
from habilis.core.usage import Amount, Ceiling


class SpendingPurse:
    """A purse of one process. `spent` was used before; `whose` is for people; `error` ends who asks on."""

    def __init__(
        self,
        limits: Ceiling = Ceiling(),  # noqa: B008 - it is frozen
        spent: Amount = Amount(),  # noqa: B008
        *,
        whose: str = "",
        error: type[HabilisError] = BudgetReached,
    ) -> None:
        self.limits, self.spent = limits, spent
        self._whose, self._error = whose, error
        self._closed = ""
        self._reserved = Amount()
        self._on_their_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_idle(self) -> bool:
        """Whether no reply is on its way."""
        return self._on_their_way == 0

    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is room."""
        return self.limits.reached(self.spent, self._whose)

    def close(self, why: str) -> None:
        """Let nothing more be sent: who asks on is `Interrupted`. Replies on their way still come in."""
        self._closed = self._closed or why
        self._wake()

    async def reserve(self, most: Amount) -> None:
        """A request that finds no room waits for others to be settled; alone, it goes on while anything is left."""
        while True:
            if self._closed:
                raise Interrupted(self._closed)
            if (why := self.reached()) is not None:
                raise self._error(why)
            if self.is_idle or self.limits.hold(self.spent + self._reserved + most):
                break
            await self._change()
        self._reserved += most
        self._on_their_way += 1

    def settle(self, reserved: Amount, used: Amount) -> None:
        self._reserved -= reserved
        self._on_their_way -= 1
        self.spent += used
        self._wake()

    async def idle(self) -> None:
        """Returns once no reply is on its way."""
        while not self.is_idle:
            await self._change()

    async def _change(self) -> None:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()


async def all_idle(purses: Sequence[SpendingPurse]) -> None:
    """Returns once no reply is on its way for any of `purses`."""
    for purse in purses:
        await purse.idle()
