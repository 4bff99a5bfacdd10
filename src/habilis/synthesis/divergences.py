"""Where a mended version gives something else than the one before: what a judge is asked, and what comes of its word.

Comparing finds that two results differ, and not which is right. A judge that tells right from wrong is shown a few of
the calls, once for a candidate. One on which the old version was right ends it. Where none was, and the new one was
right at least as often as nobody could tell, those that were not asked speak against it no more.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from habilis.contract.records import RecordedCall
from habilis.inputs.domain import fine
from habilis.judging.preference import MOST_ASKED, Differing, Preferred
from habilis.synthesis.replay import compact, result_key
from habilis.synthesis.shown_files import begins

if TYPE_CHECKING:
    from habilis.core.types import Effects
    from habilis.inputs.relations import Given

SHOWN_CHARS = 600
FILE_LINES, FILE_CHARS = 20, 1200


@dataclass(frozen=True)
class Divergence:
    """A call on which the versions gave `old` and `new`; `failed`: the new one gave none, for that reason. `excused`:
    by the rules a mend may differ there."""

    given: Given
    old: Any
    new: Any
    excused: bool
    failed: str = ""

    @property
    def shown(self) -> Differing:
        """As the judge sees it."""
        files = begins(self.given.files, lines=FILE_LINES, chars=FILE_CHARS)
        return Differing(
            compact(self.given.arguments, SHOWN_CHARS),
            compact(self.old, SHOWN_CHARS),
            f"fails: {self.failed}" if self.failed else compact(self.new, SHOWN_CHARS),
            files,
        )

    @property
    def pair(self) -> str:
        """Both results as one text."""
        return f"{result_key(self.old)} {self.failed or result_key(self.new)}"

    @property
    def contents(self) -> dict[str, bytes]:
        """Its files by digest."""
        return {hashlib.sha256(content).hexdigest(): content for content in self.given.files.values()}

    def settled(self, tool: str, version: str, effects: Effects) -> RecordedCall:
        """The call as a record of the new version, whose result a judge called right."""
        files = {name: hashlib.sha256(content).hexdigest() for name, content in self.given.files.items()}
        key = json.dumps([version, self.given.arguments, files], sort_keys=True)
        return RecordedCall(
            call_id=f"judged-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}",
            tool=tool,
            version=version,
            arguments=self.given.arguments,
            output=self.new,
            verdict="success",
            effects=effects,
            files=files,
            kind="judged",
        )


def chosen(found: Sequence[Divergence]) -> list[Divergence]:
    """Those that a judge is asked about: of what the rules do not excuse and of what they do in turn, each one with two
    results that no other has, if there is one, and that shows most that the others do not."""
    left = [[one for one in found if one.excused is excused] for excused in (False, True)]
    seen: set[str] = set()
    pairs: set[str] = set()
    asked: list[Divergence] = []
    while any(left) and len(asked) < MOST_ASKED:
        for group in left:
            if group and len(asked) < MOST_ASKED:
                best = max(group, key=lambda one: (one.pair not in pairs, len(set(fine(one.given)) - seen)))
                group.remove(best)
                pairs.add(best.pair)
                seen.update(fine(best.given))
                asked.append(best)
    return asked


@dataclass(frozen=True)
class Ruling:
    """What a judge said of the differences in `words`, by their place in the comparison.

    `clears` what was not asked: nowhere was the old version right, and the new one as often as nobody could tell.
    """

    words: Mapping[int, Preferred]

    @property
    def clears(self) -> bool:
        said = Counter(self.words.values())
        return said["new"] >= max(1, said["unclear"]) and not said["old"]

    def word(self, place: int) -> Preferred:
        """On one difference, asked or not."""
        return self.words.get(place, "new" if self.clears else "unclear")
