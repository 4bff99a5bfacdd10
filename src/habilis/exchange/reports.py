"""What an import or an export came to, and the manifest of what was exported: frozen, JSON-plain, without a clock."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from habilis.core.types import FORMAT, Frozen

MANIFEST = "habilis.json"
"""The file at the top of every export that says what is in it."""
Kind = Literal["folder", "package", "skills"]
Ending = Literal["imported", "same", "kept", "refused"]


class ImportLine(Frozen):
    """What became of one thing that a source holds.

    `kept`: imported under another name than its own, `name`. `calls` are recorded calls that came along. `problem`: it
    is a Python file that was refused, not just something that is no tool.
    """

    source: str
    ending: Ending
    name: str = ""
    version: str = ""
    reason: str = ""
    calls: int = 0
    problem: bool = False

    @property
    def text(self) -> str:
        """The line for a person."""
        said = {
            "imported": f"imported as {self.name}",
            "same": f"same as {self.name}",
            "kept": f"kept as {self.name}",
            "refused": "refused",
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

    def count(self, ending: Ending) -> int:
        """How many things ended so."""
        return sum(line.ending == ending for line in self.lines)


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
