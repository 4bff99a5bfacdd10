"""What a replay of recorded calls came to."""

from __future__ import annotations

from dataclasses import dataclass

from habilis.core.events import ReplayedCall


@dataclass(frozen=True)
class ReplayReport:
    """What a replay came to. `failures` are reasons for the writer of the code; none means that all passed.

    `replayed` calls ran and counted, of `records` there are; `not_replayable` could not be run as they were, for the
    reasons `why_not`. `agreed` are the results of distinct good calls that were repeated, for counting distinct ones.
    `calls` are the first few hundred one by one; where all passed, those that ran did.
    """

    records: int
    replayed: int
    not_replayable: int
    failures: tuple[str, ...] = ()
    mended: int = 0
    why_not: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()
    calls: tuple[ReplayedCall, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failures

    def plus(self, other: ReplayReport, *, named: str = "") -> ReplayReport:
        """Both reports as one; `named` is put before the failures of `other`."""
        prefix = f"{named}: " if named else ""
        return ReplayReport(
            self.records + other.records,
            self.replayed + other.replayed,
            self.not_replayable + other.not_replayable,
            (*self.failures, *(f"{prefix}{line}" for line in other.failures)),
            self.mended + other.mended,
            tuple(dict.fromkeys((*self.why_not, *other.why_not))),
            (*self.agreed, *other.agreed),
            (*self.calls, *other.calls),
        )
