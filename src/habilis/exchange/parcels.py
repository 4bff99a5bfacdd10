"""Tools on their way out, and the simplest form in which they go: a plain copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from habilis.contract.records import RecordedCall, RecordStore
from habilis.exchange.reports import ExportedTool
from habilis.library import Manifest, Tool
from habilis.library.folder import dump


@dataclass(frozen=True)
class Parcel:
    """One tool as it is handed on. `records` are by the name that they are filed under, the tool's own first; their
    files are in the layout's store. `tests` are ids of its own calls that were repeated just now."""

    tool: Tool
    source: bytes
    manifest: Manifest
    records: dict[str, tuple[RecordedCall, ...]] = field(default_factory=dict)
    tests: tuple[str, ...] = ()


class FolderLayout:
    """A plain copy: a library by itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._store = RecordStore(folder / "records")

    def store(self, tool: Tool) -> RecordStore:
        return self._store

    def put(self, parcel: Parcel) -> ExportedTool:
        name = parcel.tool.name
        (self._folder / f"{name}.py").write_bytes(parcel.source)
        (self._folder / f"{name}.json").write_text(dump(parcel.manifest), encoding="utf-8")
        paths = {called: f"records/{called}.jsonl" for called in parcel.records}
        return row_of(parcel, f"{name}.py", f"{name}.json", paths)

    def finish(self, parcels: Sequence[Parcel], rows: Sequence[ExportedTool]) -> list[str]:
        return []


def row_of(parcel: Parcel, source: str, manifest: str, records: dict[str, str]) -> ExportedTool:
    """What the export's manifest tells of a tool."""
    calls = [call for told in parcel.records.values() for call in told]
    return ExportedTool(
        name=parcel.tool.name,
        digest=parcel.manifest.digest,
        source=source,
        manifest=manifest,
        records=records,
        parents=parcel.manifest.origin.parents,
        how=parcel.manifest.origin.how,
        aliases=tuple(sorted(parcel.manifest.aliases)),
        requirements=parcel.manifest.requirements,
        calls=len(calls),
        redacted=sum(bool(call.redacted) for call in calls),
        tests=len(parcel.tests),
    )
