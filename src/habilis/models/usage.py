"""What models cost, per role and in all, and the budgets that end a task in time."""

from __future__ import annotations

import time
from collections.abc import Callable

from habilis.core.errors import BudgetReached
from habilis.core.types import Usage


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


class Budget:
    """The tokens, seconds and model calls that a task may take; None is no limit.

    `clock` counts seconds; `spent_s` went before.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        max_time_s: float | None = None,
        *,
        max_calls: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        spent_s: float = 0.0,
    ) -> None:
        self.max_tokens = max_tokens
        self.max_time_s = max_time_s
        self.max_calls = max_calls
        self._clock = clock
        self._start = clock() - spent_s

    def check(self, usage: Usage) -> None:
        """Raises `BudgetReached`, naming the limit, when `usage` or the time has reached it."""
        if self.max_tokens is not None and usage.total_tokens >= self.max_tokens:
            raise BudgetReached(f"token budget reached: {usage.total_tokens} of {self.max_tokens} tokens used")
        remaining = self.remaining_s()
        if remaining is not None and remaining <= 0:
            raise BudgetReached(f"time budget reached: {self.max_time_s:g} s are over")

    def check_calls(self, made: int) -> None:
        """Raises `BudgetReached`, naming the limit, when `made` calls have reached it."""
        if self.max_calls is not None and made >= self.max_calls:
            raise BudgetReached(f"call budget reached: {made} of {self.max_calls} model calls made (limits.max_calls)")

    def remaining_s(self) -> float | None:
        """Seconds left, None without a limit; may be negative."""
        return None if self.max_time_s is None else self.max_time_s - (self._clock() - self._start)
