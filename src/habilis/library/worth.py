"""What a tool's record says for it, as one number: small, since it decides between near equals alone."""

from __future__ import annotations

from collections.abc import Mapping

CARRIED = ("tasks", "offered")
"""Counters that recorded calls do not tell: tasks that ended well with the tool, and how often a plan was shown it
while nobody had called it yet."""
_WELL_KNOWN = 3
_PASSED_OVER = 10


def worth(counters: Mapping[str, int]) -> float:
    """0 to 1, and one half of a tool that nothing is known of: the share of good calls (Laplace's rule of succession),
    the nearer to one half the fewer calls and tasks stand behind it; less where it was offered and never called."""
    calls, tasks = counters.get("calls", 0), counters.get("tasks", 0)
    good, bad = counters.get("success", 0), counters.get("failure", 0)
    known = (calls + tasks) / (calls + tasks + _WELL_KNOWN)
    heeded = 1.0 if calls else _PASSED_OVER / (_PASSED_OVER + counters.get("offered", 0))
    return round((0.5 + ((good + 1) / (good + bad + 2) - 0.5) * known) * heeded, 3)
