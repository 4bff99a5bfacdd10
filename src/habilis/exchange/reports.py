"""What an import or an export came to, and the manifest of what was exported: frozen, JSON-plain, without a clock."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from habilis.core.types import FORMAT, Frozen

MANIFEST = "habilis.json"
"""The file at the top of every export that says what is in it."""
MISSING = "a dependency is missing"
Kind = Literal["folder", "package", "skills"]
Ending = Literal["imported", "same", "kept", "refused", "left"]


class ImportLine(Frozen):
    """What became of one thing that a source holds.

    `kept`: imported under another name than its own, `name`. `calls` are recorded calls that came along. `problem`: it
    is a Python file that was refused, not just something that is no tool. `left`: an interrupted import did not come to
    it. `tried`: a call of it was made and passed; `untried` says why none was.
    """

    source: str
    ending: Ending
    name: str = ""
    version: str = ""
    reason: str = ""
    calls: int = 0
    problem: bool = False
    tried: bool = False
    untried: str = ""

    @property
    def text(self) -> str:
        """The line for a person."""
        said = {
            "imported": f"imported as {self.name}",
            "same": f"same as {self.name}",
            "kept": f"kept as {self.name}",
            "refused": "refused",
            "left": "not looked at yet",
        }[self.ending]
        calls = f"{self.calls} recorded call{'' if self.calls == 1 else 's'}" if self.calls else ""
        told = "; ".join(filter(None, [calls, self.reason]))
        return f"{self.source}: {said}" + (f": {told}" if told else "")


class ImportReport(Frozen):
    """What an import came to. `generation` is the one in force after it; `published` says whether it is a new one."""

    library: str
    lines: tuple[ImportLine, ...]
    generation: int = 0
    published: bool = False
    tools: int = 0
    dry_run: bool = False

    @property
    def sums(self) -> ImportSums:
        """How many were taken, how many of these were tried, how many were refused, by reason."""
        taken = [line for line in self.lines if line.ending in ("imported", "kept")]
        return ImportSums(
            taken=len(taken),
            tried=sum(line.tried for line in taken),
            not_tried=_by_reason(line.untried for line in taken if not line.tried),
            already_there=self.count("same"),
            refused=_by_reason(line.reason for line in self.lines if line.ending == "refused"),
            left=self.count("left"),
        )

    def count(self, ending: Ending) -> int:
        """How many things ended so."""
        return sum(line.ending == ending for line in self.lines)


class ImportSums(Frozen):
    """An import in figures; what was not tried and what was refused by reason, the most frequent first."""

    taken: int
    tried: int
    not_tried: dict[str, int]
    already_there: int
    refused: dict[str, int]
    left: int

    @property
    def text(self) -> str:
        """The figures for a person."""
        not_tried, refused = (sum(reasons.values()) for reasons in (self.not_tried, self.refused))
        found = [f"{self.taken:,} taken", f"{self.tried:,} tried", f"{not_tried:,} not tried{_told(self.not_tried)}"]
        found += [f"{refused:,} refused{_told(self.refused)}"]
        found += [f"{self.already_there:,} already there"] if self.already_there else []
        found += [f"{self.left:,} not looked at yet"] if self.left else []
        return ", ".join(found)


def _by_reason(reasons: Iterable[str]) -> dict[str, int]:
    return dict(Counter(map(_kind, reasons)).most_common())


def _kind(reason: str) -> str:
    """A reason without what is of one tool alone."""
    reason = reason.removeprefix("not tried: ")
    if "name it in the tool's dependencies" in reason or reason.startswith("Its dependencies cannot be installed"):
        return MISSING
    return re.split(r"[:,;(]", reason)[0].strip().rstrip(".") or "unknown"


def _told(reasons: Mapping[str, int]) -> str:
    return f" ({'; '.join(f'{count:,} {reason}' for reason, count in reasons.items())})" if reasons else ""


class ExportedTool(Frozen):
    """One tool of an export. `source`, `manifest` and the values of `records` (by tool name, old names included) are
    paths below the export's folder. `tests` are recorded calls that were repeated before they were handed on."""

    name: str
    digest: str
    source: str
    manifest: str
    records: dict[str, str] = Field(default_factory=dict)
    parents: tuple[str, ...] = ()
    how: str = ""
    aliases: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    calls: int = 0
    redacted: int = 0
    tests: int = 0


class ExportManifest(Frozen):
    """What stands in `habilis.json`. `files` are the digests (SHA-256) of all other files; `redaction` the rules that
    were in force; `records`: whether recorded calls were handed on at all."""

    format: int = FORMAT
    kind: Kind
    made_by: str
    records: bool = True
    redaction: tuple[str, ...] = ()
    tools: tuple[ExportedTool, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)


class ExportReport(Frozen):
    """What an export came to. `left_out` are tools that were not handed on, each with the reason, as one line."""

    target: str
    kind: Kind
    tools: tuple[ExportedTool, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    archived: str = ""
