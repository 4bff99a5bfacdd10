"""WorkFigures of tasks: rounds, how long models and tools took, failed calls, tokens, ends."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from habilis.core.events import Event

QUANTILES = (0.5, 0.95)


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """The value that `share` of the `ordered` ones reach at most (nearest rank); None of none."""
    return ordered[max(0, math.ceil(round(share * len(ordered), 9)) - 1)] if ordered else None


@dataclass
class WorkFigures:
    """Of one task or many. `rounds` has a number for each task, durations are in seconds.

    What was replayed or answered from the record took no time and no tokens, and is not among them.
    """

    rounds: list[int] = field(default_factory=list)
    model_s: list[float] = field(default_factory=list)
    tool_s: list[float] = field(default_factory=list)
    tool_errors: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def heed(self, event: Event) -> None:
        """Take in what happens in a task."""
        if event.kind == "thought" and event.position > 0:
            self.rounds = [max(event.position, *self.rounds)] if self.rounds else [event.position]
        elif event.kind == "model_call_ended" and not event.replayed:
            self.model_s.append(event.seconds)
            self.prompt_tokens += event.usage.prompt_tokens
            self.completion_tokens += event.usage.completion_tokens
        elif event.kind == "tool_call_ended" and not event.reused:
            self.tool_s.append(event.seconds)
            self.tool_errors += event.error is not None

    @property
    def tool_error_rate(self) -> float | None:
        """The share of tool calls that failed; None of none."""
        return self.tool_errors / len(self.tool_s) if self.tool_s else None

    @property
    def success_rate(self) -> float | None:
        """The share of answered tasks among those that ended; None of none."""
        return self.ends["answered"] / self.ends.total() if self.ends else None


def total(parts: Iterable[WorkFigures]) -> WorkFigures:
    """All of them in one, durations and rounds in order of size."""
    whole = WorkFigures()
    for part in parts:
        whole.rounds += part.rounds
        whole.model_s += part.model_s
        whole.tool_s += part.tool_s
        whole.tool_errors += part.tool_errors
        whole.prompt_tokens += part.prompt_tokens
        whole.completion_tokens += part.completion_tokens
        whole.ends.update(part.ends)
    for values in (whole.rounds, whole.model_s, whole.tool_s):
        values.sort()
    return whole


def summary(figures: WorkFigures, runs: int) -> dict[str, Any]:
    """The figures of `runs` runs, JSON-plain; `figures` are in order of size, as `total` gives them."""
    half, most = QUANTILES

    def spread(ordered: Sequence[float], unit: str) -> dict[str, float | None]:
        return {f"median{unit}": quantile(ordered, half), f"p95{unit}": quantile(ordered, most)}

    return {
        "runs": runs,
        "tasks": {
            "ended": figures.ends.total(),
            "statuses": dict(figures.ends.most_common()),
            "success_rate": figures.success_rate,
        },
        "rounds": {"tasks": len(figures.rounds), **spread(figures.rounds, "")},
        "model_calls": {"count": len(figures.model_s), **spread(figures.model_s, "_s")},
        "tool_calls": {
            "count": len(figures.tool_s),
            "failed": figures.tool_errors,
            "error_rate": figures.tool_error_rate,
            **spread(figures.tool_s, "_s"),
        },
        "tokens": {"input": figures.prompt_tokens, "output": figures.completion_tokens},
    }
