"""What a whole training run may cost: tokens and seconds, over all its tasks and all its resumes."""

from __future__ import annotations

import time
from collections.abc import Callable

from habilis.config import EvolutionSettings
from habilis.core.events import Event


class RunBudget:
    """Counts model calls as they end. `spent_tokens` and `spent_s` were used before a resume."""

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

    @property
    def seconds(self) -> float:
        """Seconds that the run has taken, earlier sessions included."""
        return self._clock() - self._start

    def heed(self, event: Event) -> None:
        """Add what `event` cost; what was answered from a tape cost nothing now."""
        if event.kind == "model_call_ended" and not event.replayed:
            self.tokens += event.usage.total_tokens

    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is room."""
        if self._max_tokens is not None and self.tokens >= self._max_tokens:
            return f"token budget of the run reached: {self.tokens:,} of {self._max_tokens:,} tokens used"
        if self._max_time_s is not None and self.seconds >= self._max_time_s:
            return f"time budget of the run reached: {self._max_time_s:g} s are over"
        return None
