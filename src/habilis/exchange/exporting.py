"""A library handed on: what may go is chosen and cleaned, laid out in the form asked for, and put in place whole.

The export is made aside and renamed. What is in it is decided by the library and the settings alone: made twice, it
is the same, byte for byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.contract.records import RecordedCall, RecordStore
from habilis.core.errors import UserError
from habilis.core.gathering import side_by_side
from habilis.core.masker import MASKER
from habilis.exchange.parcels import FolderLayout, Parcel
from habilis.exchange.proving import Prover
from habilis.exchange.redaction import Redaction, told
from habilis.exchange.reports import MANIFEST, ExportedTool, ExportManifest, ExportReport, Kind
from habilis.library import LayeredLibrary, Library, Manifest, Tool
from habilis.prompts import Prompts
from habilis.rundir import atomic_write
from habilis.rundir.files import sync
from habilis.runtime.grants import Grants
from habilis.sandbox.processes.temporary import temporary
from habilis.synthesis.replay import Replayer, distinct

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.exchange.package import PackageLayout
    from habilis.exchange.skills import SkillsLayout
    from habilis.runtime.host import ToolHost

    Layout = FolderLayout | PackageLayout | SkillsLayout

MAX_TESTS = 20
"""Recorded calls of one tool that become tests; the newest."""
AT_ONCE = 4
LINK = "a link"
"""What stands for the digest of a symbolic link; no export holds one."""


class Exporter:
    """Hands on tools of `library`. `records`: with recorded calls and the questions that tools are found by."""

    def __init__(self, library: Library, settings: Settings, host: ToolHost, *, records: bool = True) -> None:
        self._library, self._settings, self._host, self._records = library, settings, host, records
        self._redaction = Redaction(settings.exchange)
        prompts = Prompts(settings.prompts_dir)
        self._prompts = prompts
        self._grants = Grants(settings.capabilities, env_allow=settings.sandbox.env_allow)

    async def export(
        self, kind: Kind, target: Path, *, names: Sequence[str] = (), replace: bool = False, name: str = ""
    ) -> ExportReport:
        """Export the tools `names`, all if none are named, to the new folder `target`.

        Raises `UserError` for a tool that is not there and for a target that is, unless `replace` says to set that
        aside; OSError when the disk refuses. The target is whole or not there; it is not made for no tool at all.
        """
        chosen, left_out = self._chosen(names)
        check_target(target, replace)
        if not chosen:
            return ExportReport(target=str(target), kind=kind, tools=(), left_out=tuple(left_out))
        target.parent.mkdir(parents=True, exist_ok=True)
        with _aside(target) as folder:
            layout = self._layout(kind, folder, name or target.name)
            parcels = await self._parcels(chosen, layout)
            rows = [layout.put(parcel) for parcel in parcels]
            notes = layout.finish(parcels, rows)
            await asyncio.to_thread(mask_below, folder)
            await asyncio.to_thread(self._write_manifest, folder, kind, rows)
            archived = put_in_place(folder, target)
        if self._records and any(row.redacted for row in rows):
            notes.append(f"recorded calls were redacted by these rules: {told(self._redaction.rules)}")
        return ExportReport(
            target=str(target),
            kind=kind,
            tools=tuple(rows),
            left_out=tuple(left_out),
            notes=tuple(notes),
            archived=str(archived) if archived else "",
        )

    def _chosen(self, names: Sequence[str]) -> tuple[list[Tool], list[str]]:
        """The tools to hand on, and a line for each that is not."""
        wanted = []
        for name in dict.fromkeys(names):
            tool = self._library.entry(name)
            if not isinstance(tool, Tool):
                raise UserError(f"there is no tool {name} in {self._library.path}")
            wanted.append(tool)
        wanted = wanted or self._library.tools()
        left_out = [] if names else [f"{b.file} is left out: {b.reason}" for b in self._library.broken()]
        kept = []
        for tool in wanted:
            if found := self._redaction.secrets_in(tool.source()):
                left_out.append(f"{tool.name} is left out: its source holds what looks like a secret ({found[0]})")
            else:
                kept.append(tool)
        return kept, left_out

    def _layout(self, kind: Kind, folder: Path, name: str) -> Layout:
        if kind == "folder":
            return FolderLayout(folder)
        if kind == "skills":
            from habilis.exchange.skills import SkillsLayout

            return SkillsLayout(folder)
        from habilis.exchange.package import PackageLayout

        return PackageLayout(folder, name, self._settings)

    async def _parcels(self, tools: Sequence[Tool], layout: Layout) -> list[Parcel]:
        with temporary("export") as scratch:
            self._host.start_trials(scratch)

            async def one(number: int, tool: Tool) -> Parcel:
                return await self._parcel(tool, layout, scratch / f"{number}")

            return await side_by_side(tools, one, AT_ONCE)

    async def _parcel(self, tool: Tool, layout: Layout, scratch: Path) -> Parcel:
        clean = Parcel(tool, tool.path.read_bytes(), self._manifest(tool))
        if not self._records:
            return clean
        store = layout.store(tool)
        records: dict[str, tuple[RecordedCall, ...]] = {}
        tests: tuple[str, ...] = ()
        for name in (tool.name, *sorted(tool.manifest.aliases)):
            calls = [self._handed_on(call, store) for call in self._library.records(name)]
            known = tool if name == tool.name else tool.known_as(name)
            calls, repeated = await self._proven(known, calls, store, scratch / name)
            for call in calls:
                store.append(call.model_copy(update={"tool": name}))
            records |= {name: tuple(calls)} if calls else {}
            tests = repeated if name == tool.name else tests
        return replace(clean, records=records, tests=tests)

    def _handed_on(self, call: RecordedCall, store: RecordStore) -> RecordedCall:
        """`call` without what must not be handed on, its files in `store`."""
        clean, files = self._redaction.record(call, self._library.content)
        digests, why_not = store.keep(files)
        return clean.model_copy(update={"files": digests, "why_not": clean.why_not or why_not})

    async def _proven(
        self, tool: Tool, calls: Sequence[RecordedCall], store: RecordStore, scratch: Path
    ) -> tuple[list[RecordedCall], tuple[str, ...]]:
        """`calls`, those marked that cannot be repeated as they are now, and the ids of those that could be just now.

        What was redacted is tried in any case: it stays a call to be repeated only if it gives the same.
        """
        changed = [call for call in calls if call.redacted]
        newest = distinct([call for call in calls if call.version == tool.version])[0][-MAX_TESTS:]
        wanted = {call.call_id: call for call in (*changed, *newest)}
        view = _Stored(self._library, store)
        prover = Prover(Replayer(self._host, view, None, self._prompts, live=False), self._grants)
        proof = await prover.prove(tool, list(wanted.values()), scratch)
        marked = [
            call.model_copy(update={"why_not": call.why_not or "it was redacted"})
            if call.redacted and call.call_id not in proof.repeated
            else call
            for call in calls
        ]
        free = {call.call_id for call in newest if not call.granted}
        return marked, tuple(call.call_id for call in marked if call.call_id in proof.repeated & free)

    def _manifest(self, tool: Tool) -> Manifest:
        """What stands beside the source, without users' words that must not be handed on."""
        manifest, hit = tool.manifest, set[str]()
        answered = tuple(self._redaction.text(text) for text in manifest.answered) if self._records else ()
        origin = manifest.origin.model_validate(self._redaction.value(manifest.origin.model_dump(), hit))
        return manifest.model_copy(update={"answered": answered, "origin": origin, "before": None})

    def _write_manifest(self, folder: Path, kind: Kind, rows: Sequence[ExportedTool]) -> None:
        from habilis import __version__

        manifest = ExportManifest(
            kind=kind,
            made_by=f"habilis {__version__}",
            records=self._records,
            redaction=self._redaction.rules if self._records else (),
            tools=tuple(rows),
            files=digests_below(folder),
        )
        atomic_write(folder / MANIFEST, manifest.model_dump_json(indent=1) + "\n")


class _Stored(LayeredLibrary):
    """The library, with the files of recorded calls as they are handed on."""

    def __init__(self, library: Library, store: RecordStore) -> None:
        super().__init__(library)
        self._handed = store

    def content(self, digest: str) -> bytes | None:
        return self._handed.content(digest)


def check_target(target: Path, replaces: bool) -> None:
    """Raises `UserError` for a target that is there already and is not to be replaced."""
    if os.path.lexists(target) and not replaces and not _is_empty(target):
        raise UserError(f"{target} is there already; name a new folder, or set it aside with --replace")


def put_in_place(folder: Path, target: Path) -> Path | None:
    """Rename `folder` to `target`, by one rename; what is there goes under another name, which is returned."""
    archived = _free_name(target) if os.path.lexists(target) and not _is_empty(target) else None
    if archived is not None:
        target.rename(archived)
    folder.chmod(0o755)
    folder.rename(target)
    sync(target.parent)
    return archived


def _free_name(target: Path) -> Path:
    """The next free name for what stands at `target`."""
    number = 1
    while os.path.lexists(name := target.with_name(f"{target.name}.before-{number:02d}")):
        number += 1
    return name


def mask_below(folder: Path) -> None:
    """Take the secrets of this process out of every file below `folder`, whatever rules of redaction are in force."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            clean = MASKER.document(content) if path.suffix in (".json", ".jsonl") else MASKER.data(content)
            if clean is not content:
                path.write_bytes(clean)


def digests_below(folder: Path) -> dict[str, str]:
    """The digest of every file below `folder`, but for its manifest; links are not followed."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() or path.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if name != MANIFEST and "__pycache__" not in path.parts:
            found[name] = LINK if path.is_symlink() else content_digest(path)
    return found


def content_digest(path: Path) -> str:
    """The digest of a file's content, of which no more than a block is ever held."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def _aside(target: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:60]}.", suffix=".tmp", dir=target.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
