"""Whether recorded calls give what was recorded, here and now: only then are they taken over, or handed on as tests."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from habilis.contract.records import RecordedCall, equal
from habilis.core.gathering import side_by_side
from habilis.library import Tool
from habilis.runtime.grants import Grants
from habilis.synthesis.replay import AT_ONCE, Replayer


@dataclass(frozen=True)
class Proof:
    """What came of it. `kept` are all calls but those that gave something else; `repeated` the ids of those that gave
    the same; `failed` of `tried` gave something else. A call that could not be run again is kept and not counted."""

    kept: tuple[RecordedCall, ...]
    repeated: frozenset[str]
    tried: int
    failed: int


class Prover:
    """Repeats calls in the sandbox. No judge and no older version excuses a difference."""

    def __init__(self, replayer: Replayer, grants: Grants) -> None:
        self._replayer, self._grants = replayer, grants

    async def prove(self, tool: Tool, calls: Sequence[RecordedCall], scratch: Path) -> Proof:
        """Repeat those of `calls` that succeeded, each below `scratch`, which is gone afterwards."""
        grant = await self._grants.of(tool)

        async def one(number: int, call: RecordedCall) -> bool | None:
            if call.verdict != "success" or not call.replayable or _reaches_out(call):
                return None
            place = scratch / f"{number}"
            try:
                outcome = await self._replayer.run(tool.runnable, call, place, grant.timeout_s, grant)
            finally:
                await asyncio.to_thread(shutil.rmtree, place, True)
            if outcome is None or (outcome.error is not None and outcome.error.kind in ("denied", "unavailable")):
                return None
            return outcome.error is None and equal(call.output, outcome.output)

        said = await side_by_side(calls, one, AT_ONCE)
        return Proof(
            kept=tuple(call for call, same in zip(calls, said, strict=True) if same is not False),
            repeated=frozenset(call.call_id for call, same in zip(calls, said, strict=True) if same),
            tried=sum(same is not None for same in said),
            failed=said.count(False),
        )


def _reaches_out(call: RecordedCall) -> bool:
    """Whether a call would need its hosts once more: nobody who takes tools over or hands them on expects requests."""
    return call.online and (call.traffic is None or not call.traffic.digest)
