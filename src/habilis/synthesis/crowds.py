"""Two versions on hundreds of inputs, each in one run of the sandbox: where they part, and what reaches further.

It only finds inputs. What speaks for or against a version is a call of its own, which whoever compares makes of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from habilis.contract.records import RecordedCall, equal, is_empty, set_error
from habilis.contract.runnable import Runnable
from habilis.core.types import CallOutcome
from habilis.inputs.relations import Given
from habilis.synthesis import crowd_tool
from habilis.synthesis.crowd_tool import Seen
from habilis.synthesis.replay import Replayer, result_key

TIMEOUT_S = 10.0
_SEEN = TypeAdapter(list[Seen])


@dataclass(frozen=True)
class Met:
    """What both versions came to on one input: they part on it, or agree on a result (as a text); or neither. `new`:
    one of them went where it had not gone before."""

    given: Given
    parts: bool = False
    agreed: str = ""
    new: bool = False


async def meet(
    old: Runnable, new: Runnable, inputs: Sequence[Given], replayer: Replayer, place: Path
) -> list[Met]:
    """Run both on `inputs`, which have no files. Empty where either had no word at all: it reaches for what is not
    granted, or one call took all the time. Raises OSError."""
    ours, theirs = await asyncio.gather(
        _seen(old, inputs, replayer, place / "old"), _seen(new, inputs, replayer, place / "new")
    )
    pairs = zip(inputs, ours, theirs, strict=True) if len(ours) == len(theirs) == len(inputs) else ()
    return [_met(given, one, other) for given, one, other in pairs]


def _met(given: Given, one: Seen, other: Seen) -> Met:
    new = one.new or other.new
    if one.silent or other.silent or _failed(one):
        return Met(given, new=new and not (one.silent or other.silent))
    if _failed(other):
        return Met(given, parts=not is_empty(one.output), new=new)
    if not equal(one.output, other.output):
        return Met(given, parts=True, new=new)
    return Met(given, agreed="" if is_empty(one.output) else result_key(one.output), new=new)


def _failed(seen: Seen) -> bool:
    return seen.failed or set_error(seen.output) is not None


async def _seen(tool: Runnable, inputs: Sequence[Given], replayer: Replayer, place: Path) -> list[Seen]:
    place.mkdir(parents=True)
    module = place / "crowd.py"
    source = tool.module.read_text("utf-8", "replace")
    module.write_text(f"{_text()}\nSOURCE = {source!r}\n", "utf-8")
    call = RecordedCall(
        call_id="crowd", tool=tool.name, version="", arguments={"calls": [tool.given(one.arguments) for one in inputs]}
    )
    several = replace(tool, module=module, alias=None)
    outcome = await replayer.run(several, call, place / "work", TIMEOUT_S)
    if outcome is None or outcome.error is not None:
        return []
    try:
        found = _SEEN.validate_python(outcome.output["seen"])
    except (ValidationError, LookupError, TypeError):
        return []
    return [one.model_copy(update={"output": _given_back(tool, one.output)}) for one in found]


def _given_back(tool: Runnable, output: Any) -> Any:
    return tool.seen(CallOutcome(output=output)).output if output is not None else None


@cache
def _text() -> str:
    return Path(crowd_tool.__file__).read_text("utf-8")
