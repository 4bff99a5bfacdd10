"""A library: its link, the generation in force, the sources, manifests and calls that lie in it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from habilis.checking.damages import Damage, Mender, first_whole, readable_json
from habilis.contract.records import RecordedCall
from habilis.library.generations import REPORT, point_to
from habilis.library.places import followed, generations_folder, is_generation, is_published
from habilis.library.tool import digest_of
from habilis.rundir import atomic_write
from habilis.rundir.damage import keep_copy, set_aside
from habilis.rundir.files import row_of


def check_library(
    path: Path, *, repair: bool = False, sources: Sequence[Path] = (), published: int = 0, whole: bool = True
) -> list[Damage]:
    """What is damaged in the library at `path`, mended with `repair`.

    `sources` are further folders of tools that may hold what is lost, `published` the newest generation that a journal
    tells of. `whole` looks at recorded calls too.
    """
    library = path.absolute() if _leads_nowhere(path.absolute()) else followed(path)
    mend = Mender(library.parent, repair)
    numbers = [] if is_generation(library) else _numbers(library)
    if numbers:
        _check_link(library, numbers, mend)
    if published and published > max(numbers, default=0):
        what = f"generation {published} is gone"
        mend.broken(generations_folder(library), what, "bring it back from a copy; the run goes on from the one before")
    mend.odd(generations_folder(library) / ".lock")
    if not library.is_dir():
        return mend.found
    others = [generations_folder(library) / f"{n:04d}" for n in reversed(numbers)]
    folders = [*(other for other in others if other != library.resolve()), *sources]
    check_tools(library.resolve(), folders, mend)
    for folder in [library.resolve(), *(other for other in others if whole and other != library.resolve())]:
        if is_generation(folder) and not isinstance(readable_json(folder / REPORT), dict):
            do = "the account of how this generation came about is lost; nothing else depends on it"
            mend.broken(folder / REPORT, "it is gone or damaged", do)
        if folder != library.resolve():
            check_tools(folder, [library.resolve(), *folders], mend)
        if whole:
            check_calls(folder, [library.resolve(), *folders], mend)
    return mend.found


def _leads_nowhere(library: Path) -> bool:
    """Whether a library with generations of its own is a link to nothing."""
    return library.is_symlink() and not library.exists() and bool(_numbers(library))


def _numbers(library: Path) -> list[int]:
    try:
        found = [
            int(entry.name) for entry in os.scandir(generations_folder(library)) if is_generation(Path(entry.path))
        ]
    except OSError:
        return []
    return sorted(found)


def _check_link(library: Path, numbers: Sequence[int], mend: Mender) -> None:
    """A link that is gone, or that leads nowhere, is set to the newest generation again."""
    if library.is_dir() and (is_published(library) or any(library.iterdir())):
        return
    newest = next((n for n in reversed(numbers) if _is_whole(library, n)), numbers[-1])

    def link() -> None:
        if os.path.lexists(library):
            set_aside(library, mend.root)
        point_to(library, newest)

    lost = "its link leads nowhere" if os.path.lexists(library) else "its link is gone"
    mend.mend(library, lost, f"it leads to generation {newest} again", link)


def _is_whole(library: Path, number: int) -> bool:
    folder = generations_folder(library) / f"{number:04d}"
    report = readable_json(folder / REPORT)
    tools = sum(1 for path in folder.glob("*.py") if not path.name.startswith("."))
    return isinstance(report, dict) and report.get("tools") in (None, tools)


def check_tools(folder: Path, sources: Sequence[Path], mend: Mender, *, ours: bool = False) -> None:
    """The sources and manifests in `folder`, each against the other; what is lost is looked for in `sources`.

    `ours`: nobody but Habilis puts tools there.
    """
    for name in sorted({path.stem for path in _tool_files(folder)}):
        source, manifest = folder / f"{name}.py", folder / f"{name}.json"
        said = readable_json(manifest)
        digests = _digests(said)
        there = first_whole([source], lambda content: True)
        if there is not None and digest_of(there[1]) in digests:
            continue
        if digests:
            _lost(source, [other / source.name for other in sources], digests, mend)
        elif there is not None and (os.path.lexists(manifest) or ours or is_generation(folder)):
            _lost_manifest(manifest, [other / manifest.name for other in sources], digest_of(there[1]), mend)


def _tool_files(folder: Path) -> Iterator[Path]:
    for pattern in ("*.py", "*.json"):
        yield from (p for p in folder.glob(pattern) if not p.name.startswith(".") and p.name != REPORT)


def _digests(manifest: Any) -> set[str]:
    """Digests of the sources that a manifest describes: its own, and the one before a change cut short."""
    if not isinstance(manifest, dict):
        return set()
    before = manifest.get("before")
    found = {manifest.get("digest"), before.get("digest") if isinstance(before, dict) else None}
    return {digest for digest in found if isinstance(digest, str)}


def _lost(source: Path, copies: Sequence[Path], digests: set[str], mend: Mender) -> None:
    what = "the tool's source is not what its manifest says" if source.is_file() else "the tool's source is gone"
    found = first_whole(copies, lambda content: digest_of(content) in digests)
    if found is None:
        do = "no copy of it was found: bring one back, or take the manifest away; the tool is passed over until then"
        mend.broken(source, what, do)
        return
    mend.mend(source, what, f"restored from {found[0]}", lambda: _put(source, found[1], mend.root))


def _lost_manifest(manifest: Path, copies: Sequence[Path], digest: str, mend: Mender) -> None:
    what = "the tool's manifest cannot be read" if os.path.lexists(manifest) else "the tool's manifest is gone"
    for copy in copies:
        if digest in _digests(readable_json(copy)):
            put = functools.partial(_put, manifest, copy.read_bytes(), mend.root)
            mend.mend(manifest, what, f"restored from {copy}", put)
            return
    mend.mend(
        manifest, what, "set aside; the tool is described anew when it is next used", lambda: _away(manifest, mend)
    )


def _put(path: Path, content: bytes, root: Path) -> None:
    _clear(path, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, content)


def _away(path: Path, mend: Mender) -> None:
    if os.path.lexists(path):
        set_aside(path, mend.root)


def _clear(path: Path, root: Path) -> None:
    if path.is_file() and not path.is_symlink():
        keep_copy(path, root)
    elif os.path.lexists(path):
        set_aside(path, root)


def check_calls(
    folder: Path, sources: Sequence[Path], mend: Mender, confirmed: Mapping[str, int] = MappingProxyType({})
) -> None:
    """Recorded calls that cannot be read, and file contents that are not what their names say.

    `confirmed`: how many calls of each tool are known to have been kept when it was made; its manifest counts those
    since.
    """
    records = folder / "records"
    wanted: set[str] = set()
    manifests = [path for path in folder.glob("*.json") if path.name != REPORT]
    counted = {path.stem: _counted(readable_json(path)) + confirmed.get(path.stem, 0) for path in manifests}
    for name in sorted({path.stem for path in records.glob("*.jsonl")} | {n for n, count in counted.items() if count}):
        path = records / f"{name}.jsonl"
        rows = mend.log(path, RecordedCall.model_validate)
        lost = counted.get(name, 0) - len({row["call_id"] for row in rows})
        if lost > 0:
            _lost_calls(path, [other / "records" / path.name for other in sources], lost, mend)
        wanted |= {str(digest) for row in rows for digest in (row.get("files") or {}).values()}
    files = records / "files"
    for digest in sorted(wanted | {path.name for path in files.glob("*")}):
        path = files / digest

        def fits(content: bytes, digest: str = digest) -> bool:
            return hashlib.sha256(content).hexdigest() == digest

        if first_whole([path], fits) is not None:
            continue
        what = "it is not what its name says" if os.path.lexists(path) else "it is gone"
        found = first_whole([other / "records" / "files" / digest for other in sources], fits)
        if found is None:
            mend.broken(path, what, "calls that need it are not repeated; bring it back from a copy if there is one")
            continue
        content = found[1]
        mend.mend(path, what, f"restored from {found[0]}", functools.partial(_put, path, content, mend.root))


def _counted(manifest: Any) -> int:
    """How many recorded calls a manifest tells of."""
    counters = manifest.get("counters") if isinstance(manifest, dict) else None
    count = counters.get("calls") if isinstance(counters, dict) else 0
    return count if isinstance(count, int) else 0


def _lost_calls(path: Path, copies: Sequence[Path], lost: int, mend: Mender) -> None:
    """Recorded calls that the manifest counts and that are not there: a copy that is whole brings them back."""
    what = f"{lost} recorded call{'s are' if lost > 1 else ' is'} gone"

    def fits(content: bytes) -> bool:
        lines = [line for line in content.splitlines() if line.strip()]
        with contextlib.suppress(ValueError):
            return len({row_of(line)["call_id"] for line in lines}) >= lost
        return False

    there = [copy for copy in copies if not (copy.exists() and path.exists() and copy.samefile(path))]
    found = first_whole(there, fits)
    if found is None or path.exists():
        mend.broken(path, what, "the tool is held to those that are left; bring them back from a copy if there is one")
    else:
        mend.mend(path, what, f"restored from {found[0]}", lambda: _put(path, found[1], mend.root))
