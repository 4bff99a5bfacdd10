"""What models cost, per role and in all, and the budgets that end a task in time."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from habilis.core.errors import BudgetReached
from habilis.core.ports import Purse
from habilis.core.types import Usage
from habilis.core.usage import Amount, Ceiling
from habilis.models.purse import SpendingPurse


class Ledger:
    """Adds usage up per role. Failed attempts count as calls."""

    def __init__(self) -> None:
        self._roles: dict[str, Usage] = {}

    def add(self, role: str, usage: Usage) -> None:
        self._roles[role] = self._roles.get(role, Usage()) + usage

    @property
    def by_role(self) -> dict[str, Usage]:
        return dict(self._roles)

    @property
    def total(self) -> Usage:
        return sum(self._roles.values(), Usage())


@dataclass
class Draw:
    """What a request that was let out has used so far."""

    used: Amount = field(default_factory=Amount)


class Budget:
    """The tokens, seconds, model calls and money that a task may take; None is no limit.

    `clock` counts seconds; `spent_s` went before. `run` is the purse of all tasks of a run, which its requests draw on
    besides.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        max_time_s: float | None = None,
        *,
        max_calls: int | None = None,
        max_cost: Decimal | None = None,
        clock: Callable[[], float] = time.monotonic,
        spent_s: float = 0.0,
        run: Purse | None = None,
    ) -> None:
        self.own = SpendingPurse(Ceiling(max_tokens, max_cost))
        self._purses: tuple[Purse, ...] = (self.own,) if run is None else (self.own, run)
        self.max_time_s = max_time_s
        self.max_calls = max_calls
        self._clock = clock
        self._start = clock() - spent_s

    def check(self, usage: Usage) -> None:
        """Raises `BudgetReached`, naming the limit, when `usage` or the time has reached it."""
        if (why := self.own.limits.reached(usage.amount)) is not None:
            raise BudgetReached(why)
        if self.own.limits.cost is not None and usage.unpriced:
            raise BudgetReached("what was spent before was not priced: limits.max_cost cannot be kept; unset it")
        remaining = self.remaining_s()
        if remaining is not None and remaining <= 0:
            raise BudgetReached(f"time budget reached: {self.max_time_s:g} s are over")

    def check_calls(self, made: int) -> None:
        """Raises `BudgetReached`, naming the limit, when `made` calls have reached it."""
        if self.max_calls is not None and made >= self.max_calls:
            raise BudgetReached(f"call budget reached: {made} of {self.max_calls} model calls made (limits.max_calls)")

    @property
    def in_money(self) -> str:
        """The setting that limits money; empty where nothing does."""
        settings = ("limits.max_cost", "evolution.max_cost")
        return next(
            (name for name, purse in zip(settings, self._purses, strict=False) if purse.limits.cost is not None), ""
        )

    @asynccontextmanager
    async def drawing(self, most: Callable[[], Amount]) -> AsyncIterator[Draw]:
        """Let one request out once there is room for what it may come to at `most`; what was used of that is settled
        at the end. Raises `BudgetReached`, or `Interrupted` where it is the run that has come to its end."""
        draw, reserved = Draw(), Amount()
        async with AsyncExitStack() as drawn:
            for purse in self._purses:
                reserved = most() if purse.limits.any and reserved == Amount() else reserved
                await purse.reserve(reserved)
                drawn.callback(_settle, purse, reserved, draw)
            yield draw

    def remaining_s(self) -> float | None:
        """Seconds left, None without a limit; may be negative."""
        return None if self.max_time_s is None else self.max_time_s - (self._clock() - self._start)


def _settle(purse: Purse, reserved: Amount, draw: Draw) -> None:
    purse.settle(reserved, draw.used)
