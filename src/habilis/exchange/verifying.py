"""Whether an export, or a library, is still what its digests say. Everything is read, nothing is run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from habilis.contract.paths import FileRefused, read_confined
from habilis.core.errors import UserError
from habilis.exchange.exporting import content_digest, digests_below
from habilis.exchange.reports import MANIFEST, ExportManifest
from habilis.exchange.surveying import MAX_MANIFEST_BYTES, MAX_RECORDS_BYTES, recorded_call
from habilis.library import Broken, Library
from habilis.library.catalogue import tool_files


@dataclass(frozen=True)
class Verified:
    """What was looked at, and each difference as one line."""

    kind: str
    tools: int
    files: int
    differences: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return asdict(self)


def verified(folder: Path) -> Verified:
    """Compare what lies at `folder` with its manifest, or a library with the digests beside its tools.

    Raises `UserError` where there is nothing to compare with.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: {'no folder' if folder.exists() else 'no such folder'}")
    return _export(folder) if (folder / MANIFEST).is_file() else _library(folder)


def _export(folder: Path) -> Verified:
    try:
        manifest = ExportManifest.model_validate_json(read_confined(folder / MANIFEST, [folder], MAX_MANIFEST_BYTES))
    except (FileRefused, ValueError, RecursionError) as error:
        raise UserError(f"{folder / MANIFEST} cannot be read: {_first_line(error)}") from None
    found, said = digests_below(folder), manifest.files
    lines = [f"{name}: it is not there" for name in said if name not in found]
    lines += [f"{name}: it is not what was exported" for name in said if name in found and found[name] != said[name]]
    lines += [f"{name}: nothing is told of it" for name in found if name not in said]
    for tool in manifest.tools:
        if tool.source in found and found[tool.source] != tool.digest:
            lines.append(f"{tool.name}: its source is another version than {tool.digest[:16]}")
    return Verified(manifest.kind, len(manifest.tools), len(said), tuple(sorted(dict.fromkeys(lines))))


def _library(folder: Path) -> Verified:
    library = Library(folder)
    names = tool_files(folder)
    if not names:
        raise UserError(f"{folder} is neither a library nor an export: it holds no tools and no {MANIFEST}")
    lines: list[str] = []
    for name in names:
        entry = library.entry(name)
        if isinstance(entry, Broken):
            lines.append(f"{entry.file}: {entry.reason}")
    content = library.store.path("x").parent / "files"
    for path in sorted(content.iterdir()) if content.is_dir() else ():
        if path.is_file() and (path.is_symlink() or content_digest(path) != path.name):
            lines.append(f"records/files/{path.name}: its content is another")
    records = sorted(content.parent.glob("*.jsonl"))
    for path in records:
        lines += [f"records/{path.name}: {problem}" for problem in _records(path, folder)]
    return Verified("library", len(names), len(names) + len(records), tuple(lines))


def _records(path: Path, folder: Path) -> list[str]:
    try:
        lines = read_confined(path, [folder], MAX_RECORDS_BYTES).split(b"\n")
    except FileRefused as refused:
        return [str(refused)]
    return [
        f"line {number} is no recorded call"
        for number, line in enumerate(lines, 1)
        if line.strip() and recorded_call(line) is None
    ]


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
