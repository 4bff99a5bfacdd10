"""Looking through what somebody else made: everything is read as data, nothing is run, nothing is changed.

A source is a tool's file, a folder of them (private folders of tasks included), a library, or one of our exports.
Links that lead elsewhere, pipes and what is too big are not followed, waited for or read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from habilis.contract.contract import MAX_SOURCE_BYTES
from habilis.contract.names import is_plain
from habilis.contract.paths import FileRefused, read_confined
from habilis.contract.records import MAX_CALL_BYTES, RecordedCall, call_of
from habilis.core.errors import UserError
from habilis.exchange.reports import MANIFEST, ExportManifest
from habilis.library.places import generations_folder, is_published
from habilis.library.tool import Manifest, digest_of
from habilis.rundir.seals import unsealed

MAX_ENTRIES, MAX_DEPTH = 50_000, 20
MAX_RECORDS_BYTES = 64 << 20
OUT_OF_USE = ("archive", "quarantine", "retired")
_OURS = frozenset({".aside", ".catalogue.json", ".index", ".lock", ".names", "__pycache__", "report.json", MANIFEST})
"""What a library or Python itself leaves beside tools: no loss, and no line."""
MAX_MANIFEST_BYTES = 8 << 20


@dataclass(frozen=True)
class ImportCandidate:
    """A Python file that may be a tool. `manifest` is that of this very source, where there is one; `records` are
    recorded calls by the name that they are filed under; `content` finds their files."""

    label: str
    name: str
    source: bytes
    manifest: Manifest | None = None
    records: dict[str, tuple[RecordedCall, ...]] = field(default_factory=dict)
    content: Callable[[str], bytes | None] = lambda digest: None
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return digest_of(self.source)


@dataclass(frozen=True)
class Unfit:
    """Something that is no tool, and why. `python`: it has the name of a Python file."""

    label: str
    reason: str
    python: bool = False


def look_through(source: Path) -> list[ImportCandidate | Unfit]:
    """All that `source` holds, in the order of its names. Raises `UserError` where that is nothing to begin with."""
    try:
        given = source.expanduser()
        if not given.exists():
            raise UserError(f"{source}: no such file or folder")
        real = given.resolve()
    except (OSError, RuntimeError) as error:
        raise UserError(f"{source}: {getattr(error, 'strerror', None) or error}") from None
    look = _Look(real if real.is_dir() else real.parent)
    found = list(look.folder(real, str(source).rstrip("/"), 0) if real.is_dir() else look.file(real, str(source), ()))
    if not found:
        raise UserError(f"{source}: nothing is in it")
    return found


class _Look:
    """One walk below `root`."""

    def __init__(self, root: Path) -> None:
        self._root, self._seen = root, 0

    def folder(self, folder: Path, label: str, depth: int) -> Iterator[ImportCandidate | Unfit]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield Unfit(label, f"it cannot be read: {error.strerror}")
            return
        self._seen += len(entries)
        if self._seen > MAX_ENTRIES:
            raise UserError(f"{self._root} holds more than {MAX_ENTRIES} files; name the folder of tools itself")
        if any(entry.name == MANIFEST for entry in entries):  # a plain copy is read as the library that it is
            exported = self._exported(folder, label)
            if exported is not None:
                yield from exported
                return
        names = {entry.name for entry in entries}
        stored = {generations_folder(folder / n).name for n in names if is_published(folder / n)}
        library = "records" in names or any(f"{n[:-5]}.py" in names for n in names if n.endswith(".json"))
        for entry in entries:
            if entry.name in _OURS or entry.name in stored or (library and entry.name == "records"):
                continue
            yield from self._entry(Path(entry.path), f"{label}/{_text(entry.name)}", names, library, depth)

    def _entry(
        self, path: Path, label: str, names: set[str], library: bool, depth: int
    ) -> Iterator[ImportCandidate | Unfit]:
        python = path.name.endswith(".py")
        if path.is_symlink() and is_published(path):
            yield from self.folder(path.resolve(), label, depth + 1)
        elif path.is_symlink():
            yield Unfit(label, "it is a symbolic link", python)
        elif path.name.startswith("."):
            yield Unfit(label, "it is hidden", python)
        elif path.is_dir():
            if library and path.name in OUT_OF_USE:
                yield Unfit(label, "it holds what that library took out of use")
            elif depth >= MAX_DEPTH:
                yield Unfit(label, f"it lies more than {MAX_DEPTH} folders deep")
            else:
                yield from self.folder(path, label, depth + 1)
        elif python:
            yield from self.file(path, label, names)
        elif not (path.name.endswith(".json") and f"{path.name[:-5]}.py" in names):
            yield Unfit(label, "it is not Python")

    def file(self, path: Path, label: str, names: set[str] | tuple[()]) -> Iterator[ImportCandidate | Unfit]:
        """The tool file `path`, with what lies beside it in our own layout."""
        name = _text(path.name.removesuffix(".py"))
        if not path.name.endswith(".py"):
            yield Unfit(label, "it is not Python")
            return
        beside = path.with_suffix(".json") if path.with_suffix(".json").is_file() else None
        records = {name: path.parent / "records" / f"{path.name.removesuffix('.py')}.jsonl"}
        yield self._found(label, name, path, beside, records, path.parent / "records" / "files", by_alias=True)

    def _exported(self, folder: Path, label: str) -> list[ImportCandidate | Unfit] | None:
        """What an export's manifest names; None where the file is no such manifest."""
        try:
            text = read_confined(folder / MANIFEST, [self._root], MAX_MANIFEST_BYTES)
            manifest = ExportManifest.model_validate_json(text)
        except (FileRefused, ValueError, RecursionError):
            return None
        if manifest.kind == "folder":
            return None
        found: list[ImportCandidate | Unfit] = []
        for row in manifest.tools:
            paths = [row.source, row.manifest, *row.records.values()]
            where = f"{label}/{row.source}"
            if any(not _inside(path) for path in paths) or not is_plain(row.name):
                found.append(Unfit(where, "the manifest names a file outside its folder", True))
                continue
            records = {name: folder / path for name, path in row.records.items()}
            files = folder / Path(next(iter(row.records.values()))).parent / "files" if row.records else folder
            one = self._found(where, row.name, folder / row.source, folder / row.manifest, records, files)
            if isinstance(one, ImportCandidate) and one.digest != row.digest:
                notes = (*one.notes, "it was changed since it was exported")
                one = ImportCandidate(one.label, one.name, one.source, None, {}, one.content, notes)
            found.append(one)
        return found

    def _found(
        self,
        label: str,
        name: str,
        path: Path,
        beside: Path | None,
        records: dict[str, Path],
        files: Path,
        *,
        by_alias: bool = False,
    ) -> ImportCandidate | Unfit:
        try:
            source = read_confined(path, [self._root], MAX_SOURCE_BYTES)
        except FileRefused as refused:
            big = path.is_file() and path.stat().st_size > MAX_SOURCE_BYTES
            return Unfit(label, "it is longer than 1 MiB" if big else str(refused), True)
        notes: list[str] = []
        manifest = self._manifest(beside, digest_of(source), notes) if beside else None
        if by_alias and manifest is not None:
            folder = next(iter(records.values())).parent
            records |= {alias: folder / f"{alias}.jsonl" for alias in sorted(manifest.aliases) if is_plain(alias)}
        calls = {name: told for name, path in records.items() if (told := self._calls(path, notes))}

        def content(digest: str) -> bytes | None:
            try:
                data = read_confined(files / digest, [self._root], MAX_CALL_BYTES)
            except FileRefused:
                return None
            return data if digest_of(data) == digest else None

        return ImportCandidate(label, name, source, manifest, calls, content, tuple(notes))

    def _manifest(self, path: Path, digest: str, notes: list[str]) -> Manifest | None:
        """The manifest at `path` if it tells of the source with this digest."""
        try:
            manifest = Manifest.model_validate_json(unsealed(read_confined(path, [self._root], MAX_MANIFEST_BYTES)))
        except (FileRefused, ValueError, RecursionError):
            notes.append("its manifest cannot be read and does not count")
            return None
        for one in (manifest, manifest.before):
            if one is not None and one.digest == digest:
                return one
        notes.append("its manifest tells of another version and does not count")
        return None

    def _calls(self, path: Path, notes: list[str]) -> tuple[RecordedCall, ...]:
        """The recorded calls in the file `path`, each id once; what is broken is passed over and said so."""
        if not path.is_file():
            return ()
        try:
            lines = read_confined(path, [self._root], MAX_RECORDS_BYTES).split(b"\n")
        except FileRefused as refused:
            notes.append(f"its recorded calls are left: {refused}")
            return ()
        found: dict[str, RecordedCall] = {}
        broken = 0
        for line in filter(bytes.strip, lines):
            call = recorded_call(line)
            if call is not None and all(_can_be_laid_out(name, call.files) for name in call.files):
                found[call.call_id] = call
            else:
                broken += 1
        if broken:
            notes.append(f"{broken} of its recorded calls cannot be read")
        return tuple(found.values())


def recorded_call(line: bytes) -> RecordedCall | None:
    """The call that a line of records tells of; None for one that is none, or longer than any of ours."""
    if len(line) > MAX_CALL_BYTES:
        return None
    try:
        return call_of(line)
    except ValueError:
        return None


def _text(name: str) -> str:
    """The name of a file as text that can be written down, bytes that are none written out."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _inside(path: str) -> bool:
    """Whether `path` is a plain relative name below a folder."""
    parts = path.split("/")
    return bool(path) and path.isprintable() and not ({"", ".", ".."} & set(parts)) and "\\" not in path


def _can_be_laid_out(name: str, files: dict[str, str]) -> bool:
    """Whether a recorded file of this name can be put into a workspace beside the others."""
    if not name.isprintable() or len(name) > 1_000 or any(len(part.encode()) > 250 for part in name.split("/")):
        return False
    below = name.rstrip("/") + "/"
    return not any(other.startswith(below) for other in files if other != name)
