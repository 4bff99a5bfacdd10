"""The folder of a run that is kept in a store, made from it: on an empty disk as well as over what lies there.

What comes from a store is looked at like any stranger's: names lead nowhere but into the folder, and no link is
followed or made, but the one to the library's generation in force.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from habilis.core.errors import UserError
from habilis.core.ports import RunStore
from habilis.rundir.files import place, remove_tree
from habilis.rundir.kept import CHECKPOINTS, GENERATIONS, LIBRARY, TREE, WORK, File, KeptFolder, tree_in
from habilis.rundir.plain import is_plain_folder, own_folder, read_plain

_BESIDE = ("", "-wal", "-shm", "-journal")
_EVENTS, _SETTINGS = "events.jsonl", "run.yaml"
_LISTED = ("tasks", "earlier", "steps", "curator")
"""Folders in which nothing stays that the store does not know."""


def fetch_records(store: RunStore, name: str, root: Path) -> None:
    """Write what the run `name` as a whole has on record into `root`: enough to ask for its resume.

    Raises `UserError` for a run that the store does not know, `PlaceError`.
    """
    names = [found for found in store.names(f"{name}/") if found.count("/") == 1 and found != f"{name}/{LIBRARY}"]
    if f"{name}/{_SETTINGS}" not in names:
        raise UserError(f"the store knows no run named {name}")
    for found in names:
        _write(_path(root, found.partition("/")[2]), store.read(found) or b"")


def fetch(kept: KeptFolder) -> None:
    """Make the run's folder what the store says. Raises `UserError` for what cannot be a run, `PlaceError`, OSError."""
    names = {found.removeprefix(f"{kept.name}/"): found for found in kept.store.names(f"{kept.name}/")}
    names |= _on_the_shelf(kept)
    own_folder(kept.root)
    _fetch_all(kept, names, _LISTED)
    if LIBRARY in names:
        _point(kept, (kept.store.read(names[LIBRARY]) or b"").decode("ascii", "replace"))


def fetch_task(kept: KeptFolder, task: str) -> None:
    """Make the folder of one task what the store says. `task`: its folder's name. Raises as `fetch` does."""
    above = f"tasks/{task}"
    for folder in (kept.root, kept.root / "tasks", kept.root / above):
        own_folder(folder)
    names = {found.removeprefix(f"{kept.name}/"): found for found in kept.store.names(f"{kept.name}/{above}/")}
    _fetch_all(kept, names, (above,))


def fetch_settings(kept: KeptFolder) -> None:
    """Write what the run was begun with. Raises as `fetch` does."""
    content = kept.store.read(f"{kept.name}/{_SETTINGS}")
    if content is None:
        raise UserError(f"the store knows no run named {kept.name}")
    _fetch_record(kept, kept.root / _SETTINGS, content)


def fetch_library(kept: KeptFolder) -> None:
    """Lay out the generation of the run's library that is in force, if there is one. Raises as `fetch` does."""
    number = kept.store.read(f"{kept.shelf}/{LIBRARY}")
    if number is None:
        return
    text = number.decode("ascii", "replace")
    tree = f"{GENERATIONS}/{text}/{TREE}"
    own_folder(kept.root / GENERATIONS)
    _fetch_tree(kept, tree, {tree: f"{kept.shelf}/{tree}"})
    _point(kept, text)


def fetch_newer(kept: KeptFolder) -> None:
    """Lay out the generations of the library that are newer than those that are here, or, where none is here, the one
    in force. Raises as `fetch` does."""
    here = [int(path.name) for path in (kept.root / GENERATIONS).glob("*") if path.name.isdecimal()]
    if here:
        names = _on_the_shelf(kept)
        for tree in [name for name in names if PurePosixPath(name).name == TREE]:
            if _generation(tree) > max(here):
                _fetch_tree(kept, tree, names)
    fetch_library(kept)


def _on_the_shelf(kept: KeptFolder) -> dict[str, str]:
    """Of the library: names in the run's folder, each with the name that it has in the store.

    Of one that other runs feed too, a generation beyond the one in force does not count: a killed run left it, and the
    next one makes its own under that number.
    """
    names = {name.removeprefix(f"{kept.shelf}/"): name for name in kept.store.names(f"{kept.shelf}/")}
    names = {here: name for here, name in names.items() if here == LIBRARY or here.startswith(f"{GENERATIONS}/")}
    if not kept.shares:
        return names
    in_force = (kept.store.read(f"{kept.shelf}/{LIBRARY}") or b"").decode("ascii", "replace")
    last = int(in_force) if in_force.isdecimal() else 0
    return {here: name for here, name in names.items() if _generation(here) <= last}


def _generation(name: str) -> int:
    """The number of the generation that a name in the run's folder belongs to; 0 for no generation's."""
    number = PurePosixPath(name).parts[1:2]
    return int(number[0]) if number and number[0].isdecimal() else 0


def _fetch_all(kept: KeptFolder, names: dict[str, str], listed: Sequence[str]) -> None:
    """Write records and trees of these names; what else lies in the folders `listed` goes."""
    for relative, found in names.items():
        if relative != LIBRARY and not _is_tree(relative) and PurePosixPath(relative).name != CHECKPOINTS:
            _fetch_record(kept, _path(kept.root, relative), kept.store.read(found) or b"")
    for relative in filter(_is_tree, names):
        _fetch_tree(kept, relative, names)
    for path in list(_unknown(kept.root, set(names), listed)):
        path.unlink()


def _is_tree(relative: str) -> bool:
    """Whether that is a tree's name: what a task called "tree" says of its builds, in a step's folder, is none."""
    return PurePosixPath(relative).name == TREE and not relative.startswith("steps/")


def _fetch_record(kept: KeptFolder, path: Path, content: bytes) -> None:
    before = _read(path)
    if path.name == _EVENTS and before is not None and before.startswith(content):
        kept.later(path, before[len(content) :])  # they wait for the next write: this folder may know more of them
    elif before != content:
        _write(path, content)


def _fetch_tree(kept: KeptFolder, relative: str, names: dict[str, str]) -> None:
    """Lay a tree out, and the checkpoints that belong to it."""
    above = PurePosixPath(relative).parent
    folder, content = _path(kept.root, str(above)), kept.store.read(names[relative]) or b""
    try:
        tree = tree_in(content)
        files: dict[str, File] = {
            str(name): (int(mode), list(pieces)) for name, (mode, pieces) in tree["files"].items()
        }
        folders = [str(name) for name in tree["folders"] if name != "."]
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{names[relative]} in the store is damaged: {error}") from None
    if above.parts[0] == GENERATIONS:
        _fetch_generation(kept, folder, files, folders)
        return
    for path in list(_others(folder, files)):
        path.unlink()
    _lay_out(kept, folder, files, folders)
    _fetch_checkpoints(kept, folder, names.get(f"{above}/{CHECKPOINTS}"))


def _fetch_generation(kept: KeptFolder, folder: Path, files: Mapping[str, File], folders: Sequence[str]) -> None:
    """Lay a generation out, whole or not at all; one that is there does not change."""
    if folder.is_dir():
        return
    aside = folder.with_name(".fetched")
    shutil.rmtree(aside, ignore_errors=True)  # what a killed one left
    aside.mkdir()
    _lay_out(kept, aside, files, folders)
    aside.rename(folder)


def _lay_out(kept: KeptFolder, folder: Path, files: Mapping[str, File], folders: Sequence[str]) -> None:
    for name in folders:
        _path(folder, name).mkdir(parents=True, exist_ok=True)
    for name, (mode, pieces) in files.items():
        _write(path := _path(folder, name), b"".join(map(kept.store.blob, pieces)))
        path.chmod(stat.S_IMODE(mode) & 0o777)


def _fetch_checkpoints(kept: KeptFolder, folder: Path, found: str | None) -> None:
    for ending in _BESIDE:
        (folder / f"{CHECKPOINTS}{ending}").unlink(missing_ok=True)
    if found is not None:
        _write(folder / CHECKPOINTS, kept.store.read(found) or b"")


def _point(kept: KeptFolder, number: str) -> None:
    """Have the link to the library lead to generation `number`, by one rename."""
    if not number.isdigit():
        raise UserError(f"{kept.name}/{LIBRARY} in the store is damaged: it names no generation")
    target, link, aside = f"{GENERATIONS}/{number}", kept.root / LIBRARY, kept.root / GENERATIONS / ".link"
    if link.is_symlink() and str(link.readlink()) == target:
        return
    aside.unlink(missing_ok=True)
    aside.symlink_to(target)
    aside.replace(link)


def _unknown(root: Path, names: set[str], listed: Sequence[str]) -> Iterator[Path]:
    """Records that lie here and that the store does not know: of a time before another machine went on."""
    for above in listed:
        for at, folders, found in os.walk(root / above):
            where = Path(at).relative_to(root)
            if len(where.parts) == 2 and where.parts[0] in ("tasks", "earlier"):
                folders[:] = [name for name in folders if name not in WORK]
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in found:
                known = name.startswith((".", CHECKPOINTS)) and f"{where.as_posix()}/{TREE}" in names
                if not known and (where / name).as_posix() not in names and not name.endswith(".lock"):
                    yield root / where / name


def _others(folder: Path, files: Mapping[str, File]) -> Iterator[Path]:
    """What lies in a task's tools and workspace and not in its tree."""
    for part in WORK:
        for at, _, found in os.walk(folder / part):
            for path in (Path(at, name) for name in found):
                if path.relative_to(folder).as_posix() not in files and path.name != ".lock":
                    yield path


def _path(root: Path, name: str) -> Path:
    """The file of that name below `root`. Raises `UserError` for a name that leads elsewhere, also by a link."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name:
        raise UserError(f"{name!r} in the store is not a file name")
    path = root
    for part in parts[:-1]:
        path = own_folder(path / part)
    return path / parts[-1]


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_plain_folder(path):
        remove_tree(path)
    place(path, content, durable=False)


def _read(path: Path) -> bytes | None:
    try:
        return read_plain(path)
    except OSError:
        return None
