"""Tokens that requests side by side draw on: what one may come to is set aside before it is sent.

So all of them together use up at most what one request with its reply may take beyond the limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from habilis.core.errors import BudgetReached, HabilisError, Interrupted


class TokenPurse:
    """A purse of one process. `spent` tokens were used before; `name` is for people; `error` ends who asks on."""

    def __init__(
        self,
        limit: int | None = None,
        spent: int = 0,
        *,
        name: str = "token budget",
        error: type[HabilisError] = BudgetReached,
    ) -> None:
        self.limit, self.spent = limit, spent
        self._name, self._error = name, error
        self._closed = ""
        self._reserved = self._on_their_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_idle(self) -> bool:
        """Whether no reply is on its way."""
        return self._on_their_way == 0

    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is room."""
        if self.limit is None or self.spent < self.limit:
            return None
        return f"{self._name} reached: {self.spent:,} of {self.limit:,} tokens used"

    def close(self, why: str) -> None:
        """Let nothing more be sent: who asks on is `Interrupted`. Replies on their way still come in."""
        self._closed = self._closed or why
        self._wake()

    async def reserve(self, tokens: int) -> None:
        """A request that finds no room waits for others to be settled; alone, it goes on while anything is left."""
        while True:
            if self._closed:
                raise Interrupted(self._closed)
            if (why := self.reached()) is not None:
                raise self._error(why)
            if self.limit is None or self.is_idle or self.spent + self._reserved + tokens <= self.limit:
                break
            await self._change()
        self._reserved += tokens
        self._on_their_way += 1

    def settle(self, reserved: int, used: int) -> None:
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


async def all_idle(purses: Sequence[TokenPurse]) -> None:
    """Returns once no reply is on its way for any of `purses`."""
    for purse in purses:
        await purse.idle()
