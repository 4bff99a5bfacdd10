"""Is a library whole, and what is in it? Nothing is changed; each finding says what to do."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from habilis.core.types import Frozen
from habilis.library import Library, Tool
from habilis.library.catalogue import Catalogue
from habilis.library.generations import REPORT, Generations, generation_of
from habilis.library.outofuse import PLACES, stems
from habilis.library.places import CONVERTING, followed, is_generation
from habilis.rundir.plain import plain_json, read_plain

N = TypeVar("N", int, float)
_FIELDS = {"call_id", "tool", "version"}


class Finding(Frozen):
    """Something about a library. `what` names it, `do` says what a person can do about it."""

    level: Literal["error", "warning", "note"]
    where: str
    what: str
    do: str


class Stats(Frozen):
    """A library in figures. Sizes in bytes; what generations share is counted once.

    `tasks` sums the tasks that ended well with each tool. `passed_over` are tools that plans were shown most often and
    nobody called, `most_worth` those whose record says most for them, 0 to 1.
    """

    path: str
    generation: int
    generations: int
    tools: int
    broken: int
    pinned: int
    old_names: int
    retired: int
    quarantined: int
    archived: int
    calls: int
    success: int
    failure: int
    never_called: int
    tasks: int
    passed_over: tuple[tuple[str, int], ...]
    most_worth: tuple[tuple[str, float], ...]
    by_effects: dict[str, int]
    by_origin: dict[str, int]
    by_model: dict[str, int]
    packages: dict[str, int]
    bytes: int
    generations_bytes: int
    most_called: tuple[tuple[str, int], ...]
    worst: tuple[tuple[str, int, int], ...]


def stats(path: Path, library: Library) -> Stats:
    """What is in `library`, which is known by `path`."""
    listed = Catalogue.of(library.path).tools.values()
    tools = [one for one in listed if not one.problem]
    numbers, sizes = _generations(path), _sizes(path, library)
    worst = [(one.name, one.counts[2], one.counts[0]) for one in tools if one.counts[2]]
    return Stats(
        path=str(path),
        generation=_number(path),
        generations=len(numbers),
        tools=len(tools),
        broken=len(listed) - len(tools),
        pinned=sum(one.pinned for one in tools),
        old_names=sum(len(one.aliases) for one in tools),
        retired=len(stems(library.path, "retired")),
        quarantined=len(stems(library.path, "quarantine")),
        archived=len(stems(library.path, "archive")),
        calls=sum(one.counts[0] for one in tools),
        success=sum(one.counts[1] for one in tools),
        failure=sum(one.counts[2] for one in tools),
        never_called=sum(not one.counts[0] for one in tools),
        tasks=sum(one.counts[3] for one in tools),
        passed_over=_most((one.name, one.counts[4]) for one in tools if not one.counts[0]),
        most_worth=_most((one.name, one.card.worth) for one in tools if one.counts[0]),
        by_effects=_counted(one.effects for one in tools),
        by_origin=_counted(one.how for one in tools),
        by_model=_counted(one.model for one in tools if one.model),
        packages=_counted(package for one in tools for package in one.requirements),
        bytes=sizes[0],
        generations_bytes=sizes[1],
        most_called=_most((one.name, one.counts[0]) for one in tools),
        worst=tuple(sorted(worst, key=lambda row: (-row[1] / max(1, row[2]), -row[1], row[0]))[:5]),
    )


def _most(rows: Iterable[tuple[str, N]]) -> tuple[tuple[str, N], ...]:
    """The five that have most, without those that have none."""
    return tuple(sorted((row for row in rows if row[1]), key=lambda row: (-row[1], row[0]))[:5])


def doctor(path: Path, library: Library) -> list[Finding]:
    """What is wrong with `library`, the worst first; nothing where it is whole."""
    tools = library.tools()
    found = [*_tools(library), *_names(library, tools), *_calls(library, tools), *_aside(library)]
    found += _places(path, library)
    order = ("error", "warning", "note")
    return sorted(found, key=lambda one: (order.index(one.level), one.where, one.what))


def _tools(library: Library) -> Iterator[Finding]:
    for broken in library.broken():
        do = "mend the file, or take it away; it is passed over until then"
        if (library.path / f"{broken.file.removesuffix('.py')}.json").exists():
            do = (
                "its manifest describes another source: take the manifest away, and it is described anew when next used"
            )
        yield Finding(level="error", where=broken.file, what=broken.reason, do=do)
    sources = {name.removesuffix(".py") for name in _listing(library.path) if name.endswith(".py")}
    for name in _listing(library.path):
        if name.endswith(".json") and name != REPORT and name.removesuffix(".json") not in sources:
            yield Finding(
                level="error",
                where=name,
                what="a manifest without a tool: its source is gone",
                do="'doctor --repair' brings it back where a copy lies; else 'rollback' to a generation that has it",
            )


def _names(library: Library, tools: Sequence[Tool]) -> Iterator[Finding]:
    """Old names that lead nowhere, or to two tools."""
    owners: dict[str, str] = {}
    files = {name.removesuffix(".py") for name in _listing(library.path) if name.endswith(".py")}
    for tool in tools:
        for name, alias in tool.manifest.aliases.items():
            where = f"{tool.name}.json"
            if name in files:
                what = f"the old name {name} is that of a tool in use, which is what answers to it"
                yield Finding(level="warning", where=where, what=what, do="nothing is lost; 'merge' or 'retire' one")
            elif name in owners:
                what = f"the old name {name} is {owners[name]}'s too"
                yield Finding(level="warning", where=where, what=what, do="the first one answers; 'retire' the other")
            elif problem := alias.problem(tool.manifest.input_schema, tool.manifest.output_schema):
                what = f"the old name {name} leads nowhere: {problem}"
                yield Finding(level="error", where=where, what=what, do=f"habilis library revive {name}")
            owners.setdefault(name, tool.name)


def _calls(library: Library, tools: Sequence[Tool]) -> Iterator[Finding]:
    """Records that cannot be read, belong to nobody, or lack their files."""
    known = {name for tool in tools for name in (tool.name, *tool.manifest.aliases)}
    folder = library.path / "records"
    wanted: set[str] = set()
    for name in _listing(folder):
        if not name.endswith(".jsonl"):
            continue
        bad, digests = _read(folder / name)
        wanted |= digests
        where = f"records/{name}"
        if bad:
            what = f"{bad} recorded call{'s' * (bad != 1)} cannot be read"
            yield Finding(level="error", where=where, what=what, do="these are passed over; the others count")
        if name.removesuffix(".jsonl") not in known:
            do = "they count again when a tool of this name is there"
            yield Finding(level="note", where=where, what="calls of a tool that is not in use", do=do)
    for place in PLACES:
        for name in _listing(library.path / place):
            if name.endswith(".jsonl"):
                wanted |= _read(library.path / place / name)[1]
    there = set(_listing(folder / "files"))
    for digest in sorted(there):
        try:
            content = read_plain(folder / "files" / digest)
        except OSError as error:
            yield Finding(
                level="error", where=f"records/files/{digest}", what=str(error.strerror), do="make it readable"
            )
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            do = "calls that need it are not repeated; take the file away, or restore it from an older generation"
            yield Finding(level="error", where=f"records/files/{digest}", what="it is not what its name says", do=do)
    if lost := wanted - there:
        what = f"{len(lost)} file{'s' * (len(lost) != 1)} of recorded calls are not there"
        yield Finding(level="warning", where="records/files", what=what, do="calls that need them cannot be repeated")
    if extra := there - wanted:
        what = f"{len(extra)} file{'s' * (len(extra) != 1)} that no recorded call names"
        yield Finding(level="note", where="records/files", what=what, do="they take room and nothing else")


def _read(path: Path) -> tuple[int, set[str]]:
    """How many lines of a file of calls cannot be read, and which contents the others name."""
    bad, digests = 0, set()
    try:
        lines = read_plain(path).split(b"\n")
    except OSError:
        return 1, set()
    for line in lines:
        if not line.strip():
            continue
        try:
            call = plain_json(line)
            if not call.keys() >= _FIELDS:
                raise ValueError("fields are missing")
            digests.update(call.get("files", {}).values())
            digests.update({(call.get("traffic") or {}).get("digest", "")} - {""})
        except (ValueError, AttributeError, RecursionError):
            bad += 1
    return bad, digests


def _aside(library: Library) -> Iterator[Finding]:
    for place in PLACES:
        names = set(_listing(library.path / place))
        for name in sorted(names):
            if name.endswith(".json") and f"{name.removesuffix('.json')}.py" not in names:
                do = "it cannot be revived; an older generation may have it"
                yield Finding(level="error", where=f"{place}/{name}", what="a manifest without a source", do=do)
            elif name.endswith(".py") and f"{name.removesuffix('.py')}.json" not in names:
                do = "'promote' takes the file in as a new tool"
                yield Finding(level="warning", where=f"{place}/{name}", what="a source without a manifest", do=do)


def _places(path: Path, library: Library) -> Iterator[Finding]:
    """Folders that cannot be written, and what a killed writer left."""
    for folder in (library.path, library.path / "records"):
        if folder.is_dir() and not os.access(folder, os.W_OK):
            do = "it can be read and used; nothing new is kept in it"
            yield Finding(level="warning", where=str(folder), what="it cannot be written", do=do)
    if is_generation(followed(path)):
        return
    generations = Generations(path)
    if generations.folder.is_dir() and not os.access(generations.folder, os.W_OK):
        do = "no change can be published; let its owner do it"
        yield Finding(level="warning", where=str(generations.folder), what="it cannot be written", do=do)
    for name in (".draft", ".staging", ".link", CONVERTING):
        if os.path.lexists(generations.folder / name):
            do = "somebody may be at it now; else the next change sweeps it up"
            yield Finding(level="note", where=str(generations.folder / name), what="left by a writer", do=do)
    report = generations.report(generations.current()) if generations.current() else None
    files = sum(name.endswith(".py") and not name.startswith(".") for name in _listing(library.path))
    if report is not None and report.get("tools") not in (None, files):
        what = f"it holds {files} tools, its report says {report['tools']}"
        do = "files were added or taken away by hand: 'diff' tells which, 'rollback' undoes it"
        yield Finding(level="warning", where=str(library.path), what=what, do=do)


def _generations(path: Path) -> list[int]:
    return [] if is_generation(followed(path)) else Generations(path).numbers()


def _number(path: Path) -> int:
    return int(followed(path).name) if is_generation(followed(path)) else generation_of(path)


def _sizes(path: Path, library: Library) -> tuple[int, int]:
    """Bytes of the library, and of all its generations."""
    own = sum(_inodes(library.path).values())
    if is_generation(followed(path)):
        return own, own
    folder = Generations(path).folder
    return own, sum(_inodes(folder).values()) if folder.is_dir() else own


def _inodes(folder: Path) -> dict[int, int]:
    found: dict[int, int] = {}
    waiting = [str(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif (number := entry.inode()) not in found:  # most files of a generation are those of the one before
                    with contextlib.suppress(OSError):
                        found[number] = entry.stat(follow_symlinks=False).st_size
    return found


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _listing(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith("."))
    except OSError:
        return []
