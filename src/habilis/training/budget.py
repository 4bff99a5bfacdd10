"""What a whole training run may cost: tokens, money and seconds, over all its tasks and all its resumes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from habilis.config import EvolutionSettings
from habilis.core.errors import Interrupted
from habilis.core.events import Event
from habilis.core.types import Usage
from habilis.core.usage import Amount, Ceiling
from habilis.models.purse import SpendingPurse

OF_THE_RUN = " of the run"


class RunBudget:
    """Counts model calls as they end. `spent` and `spent_s` were used before a resume.

    On `purse` draw all tasks and the curator. Where it is used up, tasks are interrupted: a resume goes on with them.
    """

    def __init__(
        self,
        settings: EvolutionSettings,
        *,
        spent: Usage = Usage(),  # noqa: B008 - it is frozen
        spent_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits, self._max_time_s = Ceiling(settings.max_tokens, settings.max_cost), settings.max_time_s
        self._clock, self._start = clock, clock() - spent_s
        self.spent = spent
        self.purse = SpendingPurse(self._limits, spent.amount, whose=OF_THE_RUN, error=Interrupted)

    @property
    def tokens(self) -> int:
        """Tokens that the run has used."""
        return self.spent.total_tokens

    @property
    def account(self) -> dict[str, Any]:
        """What the run has taken so far, JSON-plain."""
        cost = None if self.spent.cost is None else float(self.spent.cost)
        return {"seconds": self.seconds, "tokens": self.tokens, "cost": cost}

    @property
    def seconds(self) -> float:
        """Seconds that the run has taken, earlier sessions included."""
        return self._clock() - self._start

    @property
    def left_s(self) -> float | None:
        """Seconds that are left, None without a limit; may be negative."""
        return None if self._max_time_s is None else self._max_time_s - self.seconds

    def heed(self, event: Event) -> None:
        """Add what `event` cost; what was answered from a tape cost nothing now."""
        if event.kind == "model_call_ended" and not event.replayed:
            self.spent += event.usage

    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is room."""
        if self._limits.cost is not None and self.spent.unpriced:
            return "what the run spent before was not priced: evolution.max_cost cannot be kept; unset it"
        told, drawn = self.spent.amount, self.purse.spent
        used = Amount(max(told.tokens, drawn.tokens), max(told.cost, drawn.cost))
        if (why := self._limits.reached(used, OF_THE_RUN)) is not None:
            return why
        return self.time_reached if self.left_s is not None and self.left_s <= 0 else None

    @property
    def time_reached(self) -> str:
        """In words that its time is over."""
        return f"time budget of the run reached: {self._max_time_s:g} s are over"


def more_of(noted: Usage, taped: Usage) -> Usage:
    """What a run has used by its own account or by its tapes, whichever tells of more of it."""
    known = not taped.unpriced and (not noted.unpriced or taped.total_tokens >= noted.total_tokens)
    cost = max(noted.amount.cost, taped.amount.cost) if known else None
    return Usage(prompt_tokens=max(noted.total_tokens, taped.total_tokens), cost=cost)
