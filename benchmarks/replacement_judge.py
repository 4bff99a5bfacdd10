"""Stand-ins for a judge of stated reliability, which know the right solution of a problem."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from habilis.contract.records import RecordedCall, equal
from habilis.core.types import CallOutcome
from habilis.judging.preference import Differing, Preferred
from habilis.synthesis.replay import Replayer

JUDGES: dict[str, int | None] = {"none": None, "always right": 10, "right in 9 of 10": 9, "right in 7 of 10": 7}
"""In how many of ten differences each says what is right; None: there is no judge."""
Solution = Callable[[dict[str, Any]], CallOutcome]


class Unplaced(Replayer):
    """Runs calls without a workspace of their own: none of them has files."""

    def _laid_out(self, record: RecordedCall, workspace: Any, contents: Mapping[str, bytes]) -> bool:
        return True


class Judged(Unplaced):
    """With a judge that runs `solution`, and says the opposite where a hash of the call and the order says so.

    Where a call cannot be read, or the solution gives neither result, it cannot tell.
    """

    solution: Solution
    of_ten: int

    @property
    def has_judge(self) -> bool:
        return True

    async def preferred(self, tool: Any, differing: Sequence[Differing]) -> list[Preferred]:
        return [self._word(one) for one in differing]

    def _word(self, one: Differing) -> Preferred:
        try:
            right = self.solution(json.loads(one.arguments))
            gave = [_agrees(right, text) for text in (one.old, one.new)]
        except ValueError:
            return "unclear"  # cut: longer than a prompt shows
        if gave[0] is gave[1]:
            return "unclear"
        slips = sha256(f"{one.turned} {one.arguments}".encode()).digest()[0] % 10 >= self.of_ten
        return "old" if gave[0] is not slips else "new"


def _agrees(right: CallOutcome, shown: str) -> bool:
    """Whether a result is that of the solution, or both fail. Raises ValueError where it is cut."""
    failed = shown.startswith("fails: ")
    return failed if right.error is not None else not failed and equal(right.output, json.loads(shown))
