"""Going back to an older generation without losing what came since: it stays in the library, out of use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from habilis.contract.records import RecordedCall, RecordStore
from habilis.curation.ledger.reports import Lineage
from habilis.curation.manual.change import Change
from habilis.library import Library
from habilis.library.catalogue import Catalogue, Listed
from habilis.library.drafting import DraftLibrary
from habilis.library.outofuse import PLACES, set_aside
from habilis.rundir import atomic_write

_ALSO = {"report.json", "__pycache__"}


def roll_back(change: Change, known: Path, generation: int) -> None:
    """Make of the draft, which is an image of generation `generation` (in `known`), the library's next one."""
    change.changed = True
    current = change.current
    then, listed_then = Library(known), Catalogue.of(known).tools
    _keep_contents(current.path, change.folder)
    _keep_places(change, current.path, {(one.name, one.version) for one in listed_then.values() if not one.problem})
    reason = f"left by the rollback to generation {generation}"
    for name, listed in sorted(change.catalogue.tools.items()):
        if listed.problem:
            _keep_file(change, name, reason, there=name in listed_then)
            continue
        back = _usable(listed_then.get(name))
        if back is not None and back.version == listed.version:
            if change.draft.add_records(name, _new_calls(current, then, name)):
                change.draft.count(name)
            continue
        left = current.get(name)
        assert left is not None
        calls = current.records(name)
        own = [call for call in calls if back is None or call.version == left.version]
        change.draft.keep(left.path.read_bytes(), left.manifest, "retired", reason, own)
        change.draft.add_records(name, [call for call in calls if back is not None and call.version != left.version])
        change.end(name, "retired", None, reason)
    for name in sorted(listed_then):
        listed_now, back = change.catalogue.tools.get(name), _usable(listed_then[name])
        if back is None:
            if listed_now is None:
                change.came(f"generation {generation}:{name}@unread", name, "it was there then")
        elif (listed_now is None or listed_now.version != back.version) and (tool := then.get(name)) is not None:
            line = Lineage(tool=f"{name}@{tool.version}", parents=tool.origin.parents, model=tool.origin.model)
            change.came(f"generation {generation}:{name}@{tool.version}", name, "it was in use then", line)
            _in_use_again(change.draft, name, tool.version)
    _keep_loose_calls(change, set(listed_then))
    _keep_other_files(current.path, change.folder)


def _usable(listed: Listed | None) -> Listed | None:
    return None if listed is None or listed.problem else listed


def _new_calls(current: Library, then: Library, name: str) -> list[RecordedCall]:
    """Calls of a tool that are recorded now and were not then; nothing is read where the file is the same one."""
    now, before = current.store.path(name), then.store.path(name)
    try:
        if now.samefile(before):
            return []
    except OSError:
        pass
    return current.records(name)


def _keep_contents(current: Path, draft: Path) -> None:
    """The files of recorded calls."""
    target = draft / "records" / "files"
    for path in _files(current / "records" / "files"):
        target.mkdir(parents=True, exist_ok=True)
        _link(path, target / path.name)


def _keep_places(change: Change, current: Path, used: Collection[tuple[str, str]]) -> None:
    """What the library keeps out of use now; of the tools that are `used` again (name, version) into the archive."""
    for place in PLACES:
        for path in _files(current / place):
            (change.folder / place).mkdir(exist_ok=True)
            target = change.folder / place / path.name
            if path.suffix == ".jsonl" and target.exists() and not target.samefile(path):
                change.draft.unite(place, path.stem, RecordStore(path.parent).read(path.stem))
            else:
                _link(path, target)
    for one in set_aside(change.folder, places=("retired", "quarantine")):
        if (one.tool.name, one.tool.version) in used:
            change.draft.add_records(one.tool.name, one.records())
            change.draft.to_archive(one.place, one.tool)


def _in_use_again(draft: DraftLibrary, name: str, version: str) -> None:
    """Calls that were archived with a tool count for it again."""
    if draft.add_records(name, draft.taken_up(name, version)):
        draft.count(name)


def _keep_file(change: Change, name: str, reason: str, *, there: bool) -> None:
    """A file that is no usable tool stays as it is, or aside where another has its name."""
    path, target = change.current.path / f"{name}.py", change.folder / f"{name}.py"
    if not there:
        for suffix in (".py", ".json"):
            if path.with_suffix(suffix).is_file():
                _link(path.with_suffix(suffix), target.with_suffix(suffix))
    elif not target.samefile(path):
        (change.folder / "archive").mkdir(exist_ok=True)
        atomic_write(change.folder / "archive" / f"{name}.unread.py", path.read_bytes(), durable=False)
        change.end(name, "retired", None, reason)


def _keep_loose_calls(change: Change, names: set[str]) -> None:
    """Calls filed under names that no tool has any more, old names of today's tools say."""
    for path in _files(change.current.path / "records"):
        name = path.stem
        if path.suffix != ".jsonl" or name in change.catalogue.tools:
            continue
        calls = change.current.records(name)
        if name in names or change.draft.records(name):
            change.draft.add_records(name, calls)
        else:
            change.draft.unite("archive", f"{name}.loose", calls)


def _keep_other_files(current: Path, draft: Path) -> None:
    """Notes and the like that a person laid there."""
    for path in _files(current):
        if path.suffix not in (".py", ".json") and path.name not in _ALSO:
            _link(path, draft / path.name)


def _files(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    yield from (Path(entry.path) for entry in entries if entry.is_file() and not entry.name.startswith("."))


def _link(path: Path, target: Path) -> None:
    """`path` under another name as well, unless something is there; copied where it cannot be shared."""
    if target.exists():
        return
    try:
        os.link(path, target)
    except OSError:
        shutil.copy2(path, target)
