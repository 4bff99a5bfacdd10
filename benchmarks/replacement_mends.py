"""Mends of versions that answered a recorded call wrongly: right ones, and ones that break what was right before."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from habilis.contract.records import RecordedCall, equal
from habilis.core.types import CallOutcome
from replacement_problems import Called

MENDED = 2
"""Wrong versions of a problem that are mended."""


@dataclass(frozen=True)
class Tested:
    """A version by its number, and what it gave to each call of the tests."""

    number: int
    outcomes: Sequence[CallOutcome]
    sure: bool = False


@dataclass(frozen=True)
class Mend:
    """`new` is to take the place of `old`, which answers the call `failing` wrongly and `good` ones rightly."""

    old: Tested
    new: Tested
    failing: int
    good: tuple[int, ...]
    wrong: bool

    def records(self, calls: Sequence[Mapping[str, object]]) -> list[RecordedCall]:
        """The good calls, and then the one that failed."""
        made = [(n, "success") for n in self.good] + [(self.failing, "failure")]
        return [
            RecordedCall.model_validate(
                {
                    "call_id": f"c{n}",
                    "tool": "tool",
                    "version": "old",
                    "arguments": calls[n],
                    "output": self.old.outcomes[n].output,
                    "verdict": verdict,
                }
            )
            for n, verdict in made
        ]


def mends(versions: Sequence[Tested], expected: Sequence[CallOutcome], counts: Sequence[int]) -> Iterator[Mend]:
    """Of each wrong version those others that answer its first wrong call, and the good ones recorded, rightly.

    Wrong is who breaks what the old version had right. Who is wrong elsewhere only has mended a part, and is left out.
    """
    right = {one.number: _right(one.outcomes, expected) for one in versions}
    wrong = [one for one in versions if any(right[one.number]) and not all(right[one.number])]
    wrong = [one for one in wrong if one.outcomes[right[one.number].index(False)].error is None]
    for old in wrong[:MENDED]:
        failing = right[old.number].index(False)
        kept = [n for n, good in enumerate(right[old.number]) if good]
        for count in counts:
            good = tuple(kept[:count])
            if len(good) < count:
                continue
            for new in versions:
                now = right[new.number]
                if new is not old and now[failing] and all(now[n] for n in good):
                    broken = not all(now[n] for n in kept)
                    if broken or all(now):
                        yield Mend(old, new, failing, good, broken)


def raising(known: Called, call: Mapping[str, object]) -> str:
    """The source of the problem's reference, which raises in `call` alone. No number and no text in it leads there."""
    entry = known.problem.entry
    at = zlib.crc32(repr(tuple(call.values())).encode()).to_bytes(4)
    return (
        f"{known.problem.source}\n\nimport zlib as _zlib\n\n_answers = {entry}\n\n\ndef {entry}(*given):\n"
        f"    if _zlib.crc32(repr(given).encode()).to_bytes(4) == {at!r}:\n"
        f"        raise RuntimeError('not known')\n    return _answers(*given)\n"
    )


def _right(outcomes: Sequence[CallOutcome], expected: Sequence[CallOutcome]) -> list[bool]:
    return [one.error is None and equal(one.output, two.output) for one, two in zip(outcomes, expected, strict=True)]
