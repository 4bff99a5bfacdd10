"""Two versions on hundreds of inputs, each in one run of the sandbox: where they part, and what reaches further.

It only finds inputs. What speaks for or against a version is a call of its own, which whoever compares makes of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from habilis.contract.records import RecordedCall, equal, is_empty, set_error
from habilis.contract.runnable import Runnable
from habilis.core.gathering import side_by_side
from habilis.core.types import CallOutcome
from habilis.inputs.relations import Given
from habilis.inputs.search import Search
from habilis.synthesis import crowd_tool
from habilis.synthesis.crowd_tool import CrowdCall, OutputModel
from habilis.synthesis.replay import Replayer, result_key

CROWD, ROUNDS = 100, 2
"""Inputs of one round, and rounds."""
ANEW = 0.5
"""How often a value of theirs is made anew."""
TIMEOUT_S = 10.0


@dataclass(frozen=True)
class _Met:
    """What both versions came to on one input: they part on it, or agree on a result (both as texts); or neither.
    `new`: one of them went where it had not gone before."""

    given: Given
    parts: tuple[str, str] | None = None
    agreed: str = ""
    new: bool = False


@dataclass
class Crowd:
    """Two versions of which none is granted anything, and where inputs for them come from. `results` are those that
    both gave so far; `telling`, inputs that gave others."""

    old: Runnable
    new: Runnable
    replayer: Replayer
    scratch: Path
    search: Search
    results: set[str]
    telling: list[Given] = field(default_factory=list)
    _parts: set[tuple[str, str]] = field(default_factory=set)

    async def parted(self) -> AsyncIterator[list[Given]]:
        """Round by round the inputs on which the versions part, those first on which they part as on none before. What
        reached further is edited in the next one.

        A round tells nothing where a version has no word at all: one call took all the time. Raises OSError.
        """
        for number in range(ROUNDS):
            inputs = self.search.many(CROWD)
            met = await self._meet(inputs, self.scratch / f"crowd{number}") if inputs else []
            self.search.further([one.given for one in met if one.new or self._tells(one)])
            for one in met:
                if self._tells(one):
                    self.results.add(one.agreed)
                    self.telling.append(one.given)
            yield self._as_never_before([one for one in met if one.parts])

    def _as_never_before(self, parted: Sequence[_Met]) -> list[Given]:
        first: list[Given] = []
        others: list[Given] = []
        for one in parted:
            assert one.parts is not None
            (others if one.parts in self._parts else first).append(one.given)
            self._parts.add(one.parts)
        return first + others

    def _tells(self, one: _Met) -> bool:
        return bool(one.agreed) and one.agreed not in self.results

    async def _meet(self, inputs: Sequence[Given], place: Path) -> list[_Met]:
        async def seen(number: int, tool: Runnable) -> list[CrowdCall]:
            return await self._seen(tool, inputs, place / f"{number}")

        ours, theirs = await side_by_side([self.old, self.new], seen, 2)
        pairs = zip(inputs, ours, theirs, strict=True) if len(ours) == len(theirs) == len(inputs) else ()
        return [_met(given, one, other) for given, one, other in pairs]

    async def _seen(self, tool: Runnable, inputs: Sequence[Given], place: Path) -> list[CrowdCall]:
        """What each input came to; empty where the run as a whole came to nothing."""
        calls = [tool.given(one.arguments) for one in inputs]
        record = RecordedCall(call_id="crowd", tool=tool.name, version="", arguments={"calls": calls})
        several = replace(tool, module=_module(tool, place), alias=None)
        outcome = await self.replayer.run(several, record, place / "work", TIMEOUT_S)
        if outcome is None or outcome.error is not None:
            return []
        try:
            told = OutputModel.model_validate(outcome.output).seen
        except ValidationError:  # the tool in it wrote over what is its host's
            return []
        return [one.model_copy(update={"output": _given_back(tool, one.output)}) for one in told]


def _module(tool: Runnable, place: Path) -> Path:
    place.mkdir(parents=True)
    source = tool.module.read_text("utf-8", "replace")
    module = place / "crowd.py"
    module.write_text(f"{_text()}\nSOURCE = {source!r}\n", "utf-8")
    return module


def _met(given: Given, one: CrowdCall, other: CrowdCall) -> _Met:
    if one.silent or other.silent:
        return _Met(given)
    new = one.new or other.new
    if _failed(one) or is_empty(one.output):
        return _Met(given, new=new)
    if _failed(other) or not equal(one.output, other.output):
        return _Met(given, parts=(result_key(one.output), result_key(other.output)), new=new)
    return _Met(given, agreed=result_key(one.output), new=new)


def _failed(seen: CrowdCall) -> bool:
    return seen.failed or set_error(seen.output) is not None


def _given_back(tool: Runnable, output: Any) -> Any:
    return tool.seen(CallOutcome(output=output)).output if output is not None else None


@cache
def _text() -> str:
    return Path(crowd_tool.__file__).read_text("utf-8")
