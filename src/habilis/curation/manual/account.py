"""The words of tending as frozen data, JSON-plain: what its functions give to those who asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from habilis.core.errors import HabilisError
from habilis.curation.ledger.reports import StepReport


class ChangeRefused(HabilisError):
    """A change that its gate does not let through; the library is as it was. `evidence` says in lines what failed."""

    def __init__(self, text: str, evidence: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.evidence = tuple(evidence)


class HandReport(StepReport):
    """One change by hand: every tool that went in is accounted for, as in a step of the curator.

    `asked` is what was asked for, in words, `reason` why, where a person said so. `notes` are lines on what else came
    with it. `changed` is False where the library was so already; then no generation was published. `dry_run`: nothing
    was published, this is what would have been.
    """

    step: int = 0
    by: Literal["hand"] = "hand"
    asked: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    changed: bool = True
    dry_run: bool = False
