"""What a whole training run may cost: tokens and seconds, over all its tasks and all its resumes."""

from __future__ import annotations

import time
from collections.abc import Callable

from habilis.config import EvolutionSettings
from habilis.core.errors import Interrupted
from habilis.core.events import Event
from habilis.models.purse import TokenPurse


class RunBudget:
    """Counts model calls as they end. `spent_tokens` and `spent_s` were used before a resume.

    On `purse` draw all tasks and the curator. Where it is used up, tasks are interrupted: a resume goes on with them.
    """

    def __init__(
        self,
        settings: EvolutionSettings,
        *,
        spent_tokens: int = 0,
        spent_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_tokens, self._max_time_s = settings.max_tokens, settings.max_time_s
        self._clock, self._start = clock, clock() - spent_s
        self.tokens = spent_tokens
        name = "token budget of the run"
        self.purse = TokenPurse(settings.max_tokens, spent_tokens, name=name, error=Interrupted)

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
            self.tokens += event.usage.total_tokens

    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is room."""
        used = max(self.tokens, self.purse.spent)
        if self._max_tokens is not None and used >= self._max_tokens:
            return f"token budget of the run reached: {used:,} of {self._max_tokens:,} tokens used"
        return self.time_reached if self.left_s is not None and self.left_s <= 0 else None

    @property
    def time_reached(self) -> str:
        """In words that its time is over."""
        return f"time budget of the run reached: {self._max_time_s:g} s are over"
