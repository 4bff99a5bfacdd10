"""Figures of the work against their limits: what goes beyond one is told once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from habilis.core.events import Alert, Event
from habilis.telemetry.figures import WorkFigures, quantile

if TYPE_CHECKING:
    from habilis.config import AlertsSettings

CALLS_FOR_A_SHARE = 10
"""Tool calls before their share of failures tells something: one failure of fewer is more than a tenth already."""
CALLS_FOR_P95 = 20
"""Calls before their P95 is another one than the slowest of them."""
Name = Literal["rounds", "tool_errors", "slow_models", "slow_tools", "tokens"]
OF_A_TASK: frozenset[Name] = frozenset({"rounds", "tokens"})
"""What is looked at in each task of a training by itself; the others in all of its calls together."""
OF_CALLS: frozenset[Name] = frozenset({"tool_errors", "slow_models", "slow_tools"})


@dataclass
class _Pace:
    """How many of so many calls were too slow."""

    calls: int = 0
    slow: int = 0

    def is_over(self) -> bool:
        """Whether the P95 is one of the slow ones (nearest rank)."""
        return self.calls >= CALLS_FOR_P95 and self.calls - self.slow < -(-95 * self.calls // 100)


class AlertWatch:
    """Watches one task, or one training. `emit` hears each alert; `names` are those that are looked for."""

    def __init__(
        self, settings: AlertsSettings, scope: Literal["task", "run"], about: str, names: frozenset[Name]
    ) -> None:
        self._settings, self._scope, self._about, self._names = settings, scope, about, names
        self._figures = WorkFigures()
        self._paces = {"slow_models": _Pace(), "slow_tools": _Pace()}
        self._told: set[str] = set()
        self.tell: Callable[[Alert], None] = lambda alert: None

    def emit(self, event: Event) -> None:
        """Take in what happens; an alert follows at once."""
        self._figures.heed(event)
        settings, figures = self._settings, self._figures
        if event.kind == "thought":
            rounds = figures.rounds[0] if figures.rounds else 0
            self._check("rounds", rounds, settings.rounds, f"the task is in round {rounds}")
        elif event.kind == "model_call_ended" and not event.replayed:
            tokens = figures.prompt_tokens + figures.completion_tokens
            self._check("tokens", tokens, settings.tokens, f"the task has taken {tokens:,} tokens")
            self._check_pace("slow_models", event.seconds, figures.model_s, "model calls")
        elif event.kind == "tool_call_ended" and not event.reused:
            self._check_errors()
            self._check_pace("slow_tools", event.seconds, figures.tool_s, "tool calls")

    def _check_errors(self) -> None:
        calls, share = len(self._figures.tool_s), self._figures.tool_error_rate or 0.0
        text = f"{self._figures.tool_errors} of {calls} tool calls failed"
        if calls >= CALLS_FOR_A_SHARE:
            self._check("tool_errors", share, self._settings.tool_errors, text)

    def _check_pace(
        self, name: Literal["slow_models", "slow_tools"], seconds: float, all_s: list[float], of: str
    ) -> None:
        limit = self._settings.p95_s
        if limit is None or name not in self._names or name in self._told:
            return
        pace = self._paces[name]
        pace.calls += 1
        pace.slow += seconds > limit
        if pace.is_over():
            p95 = quantile(sorted(all_s), 0.95) or 0.0
            self._check(name, p95, limit, f"the P95 of {pace.calls} {of} is {p95:.1f} s")

    def _check(self, name: Name, value: float, limit: float | None, text: str) -> None:
        if limit is None or value <= limit or name in self._told or name not in self._names:
            return
        self._told.add(name)
        shown = f"{100 * limit:g} %" if name == "tool_errors" else f"{limit:g} s" if "slow" in name else f"{limit:,}"
        told = f"{text}; the limit is {shown} (alerts.{_SETTINGS[name]})"
        self.tell(Alert(name=name, scope=self._scope, about=self._about, value=value, limit=limit, text=told))


_SETTINGS: dict[Name, str] = {
    "rounds": "rounds",
    "tool_errors": "tool_errors",
    "slow_models": "p95_s",
    "slow_tools": "p95_s",
    "tokens": "tokens",
}
