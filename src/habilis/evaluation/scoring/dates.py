"""Dates and times of day in answers: the same day, however it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from habilis.evaluation.scoring.qualified import qualifier
from habilis.values.moments import Day, moments
from habilis.values.plain import plain

_BETWEEN = re.compile(r"(?:[\s,.]|\b(?:the|of|on|at|noon|midnight)\b|T(?=\d)|Z\b)*", re.IGNORECASE)


@dataclass(frozen=True)
class When:
    """A date, a time of day, or both; `days` holds each way to read an ambiguous one (03/04/2021)."""

    days: frozenset[Day]
    clock: tuple[int, int, int] | None

    def same(self, other: When) -> bool:
        """Whether both can be the same, said as exactly."""
        if self.clock != other.clock or bool(self.days) != bool(other.days):
            return False
        return not self.days or bool(self.days & other.days)


def when(text: str, *, within: bool = False) -> When | None:
    """The date or time that `text` is; with `within`, the only one that it speaks of. None where there is none."""
    line = plain(text).text
    found = [moment for moment in moments(line) if moment.sure]
    if not found or (not within and _BETWEEN.sub("", _without(line, [(one.start, one.end) for one in found]))):
        return None
    if within and any(qualifier(line, one.start, one.end) for one in found):
        return None
    dates = {frozenset(day._replace(weekday=None) for day in one.days) for one in found if one.days}
    dated = {days for days in dates if any(any(day) for day in days)}
    named = dated or {frozenset(one.days) for one in found if one.days}
    clocks = {(one.clock.hour, one.clock.minute, one.clock.second or 0) for one in found if one.clock}
    if len(named) > 1 or len(clocks) > 1:
        return None
    return When(next(iter(named), frozenset()), next(iter(clocks), None))


def _without(line: str, spans: list[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        line = line[:start] + " " + line[end:]
    return line
