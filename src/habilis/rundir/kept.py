"""Folders of runs that are kept in a store besides: what Habilis writes below one goes to the store first.

The folder is the working copy, and the store has the last word: no line stands in a log here that is not there. What
is only told (events) and what the next line of a log brings along (documents: states, results, trees) goes with that
line, in one transaction; a task whose last documents did not arrive is told again from its tape. `rundir.fetching`
makes the folder anew from the store.

Kept by their names are the records of the run and of its tasks (`run.yaml`, `rows.jsonl`, tapes, results …). Kept as a
tree (`tree.json`: name to mode and digests) is what stands in folders that others write as well: a task's tools and
workspace, together with its checkpoints, and each generation of the run's library. A task's tree is as old as its last
call that ended, or its last checkpoint. Links are not kept.

The store keeps a library that several runs feed under a name of its own, the **shelf**, and each run has a copy of it.
Whoever writes to it holds a lease of that name too (`KeptFolder.turn`).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from habilis.core.errors import HabilisError, UserError
from habilis.core.ports import Append, Change, Lease, Put, RunStore, Swap

TREE, LIBRARY, GENERATIONS, CHECKPOINTS = "tree.json", "library", "generations", "checkpoints.sqlite"
RESULT, BUILDS = "result.json", "builds"
WORK = ("tools", "workspace")
"""What of a task's folder is kept as a tree."""
PIECE_BYTES = 8 << 20
"""Longer files are kept in pieces of this length."""
_LATER_BYTES = 1 << 18
_OTHERWISE = frozenset({LIBRARY, GENERATIONS, "damaged"})
_OURS_ALONE = (".lock", ".tmp")
_PASSING = frozenset({"__pycache__", ".aside"})
Stamp = tuple[int, int, int]
File = tuple[int, list[str]]
"""The mode of a file, and the digests of its pieces."""


class KeptFolder:
    """The run in the folder `root`, kept in `store` under the name `name`, with the right to write it (`lease`).

    `shelf` is the name that its library has in the store: the run's own, unless several runs feed that library. `turn`
    is the right to write to such a one, for as long as this run has it. Safe for threads of one process.
    """

    def __init__(self, root: Path, store: RunStore, lease: Lease, name: str, shelf: str = "") -> None:
        self.root, self.store, self.lease, self.name = root.absolute(), store, lease, name
        self.shelf = shelf or name
        self.turn: Lease | None = None
        self._roots = {self.root, self.root.resolve()}
        self._lock = threading.RLock()
        self._later: dict[str, Append | Put] = {}
        self._trees: dict[Path, dict[str, tuple[Stamp, File]]] = {}
        self._written: dict[str, bytes] = {}

    @property
    def shares(self) -> bool:
        """Whether other runs feed its library too."""
        return self.shelf != self.name

    def holds(self, path: Path) -> bool:
        """Whether `path` lies in the run's folder."""
        return any(path.is_relative_to(root) for root in self._roots)

    def name_of(self, path: Path) -> str | None:
        """Under which name the store keeps the record `path`; None for one that it does not keep so."""
        parts = next(path.relative_to(root) for root in self._roots if path.is_relative_to(root)).parts
        work = parts[:1] in (("tasks",), ("earlier",)) and parts[2:3] and parts[2] in WORK
        if not parts or parts[0] in _OTHERWISE or work or any(part.startswith(".") for part in parts):
            return None
        return None if parts[-1].startswith(CHECKPOINTS) else "/".join((self.name, *parts))

    # --- records

    def append(self, path: Path, lines: bytes) -> None:
        """Lines for the end of a log, masked already. Raises `LeaseLost`, `PlaceError`, `UserError`."""
        if (name := self.name_of(path.absolute())) is not None:
            self.write([Append(name, lines)])

    def put(self, path: Path, content: bytes) -> None:
        """The whole of a record, masked already. A document goes along with the next line, but for what a task says of
        its builds: neighbours wait for it. Raises as `append`."""
        if path.name == RESULT:
            self.keep_work(path.parent)
        if (name := self.name_of(path.absolute())) is not None:
            change = Put(name, content)
            goes_along = path.suffix == ".json" and path.parent.name != BUILDS
            self._wait(change) if goes_along else self.write([change])

    def later(self, path: Path, line: bytes) -> None:
        """A line that goes along with the next write; it raises nothing."""
        if (name := self.name_of(path.absolute())) is not None:
            with self._lock:
                before = self._later.get(name)
                self._wait(Append(name, (before.lines if isinstance(before, Append) else b"") + line))

    def _wait(self, change: Append | Put) -> None:
        with self._lock:
            self._later[change.name] = change
            if sum(map(_length, self._later.values())) > _LATER_BYTES:
                self.flush()

    def flush(self) -> None:
        """Send what waits for the next write; where that is refused, the next write says so."""
        with self._lock, contextlib.suppress(HabilisError):
            if self._later:
                self.write([])

    def write(self, changes: Sequence[Change]) -> None:
        """Make these changes, after what waited before them."""
        with self._lock:
            self.store.write(self.lease, [*self._later.values(), *changes])
            self._later.clear()

    def forget(self, path: Path) -> None:
        """Of a record or a folder that is no longer there, nothing is kept."""
        name = self.name_of(path.absolute() / "x")
        if name is not None:
            self.write([])
            name = name.removesuffix("/x")
            self.write([Put(found, None) for found in [name, *self.store.names(f"{name}/")]])
            self._written = {tree: said for tree, said in self._written.items() if not tree.startswith(f"{name}/")}

    def move(self, old: Path, new: Path) -> None:
        """Keep the folder `old` as `new` from now on."""
        before, after = self.name_of(old.absolute()), self.name_of(new.absolute())
        if before is not None and after is not None:
            self.write([])
            for name in self.store.names(f"{before}/"):
                content = self.store.read(name)
                self.write([Put(after + name.removeprefix(before), content), Put(name, None)])
            self._trees.pop(old.absolute(), None)
            self._written.pop(f"{before}/{TREE}", None)

    # --- trees

    def keep_work(self, task: Path, checkpoints: bytes | None = None) -> None:
        """Keep what the tools of the task in the folder `task` left, and with it its checkpoints."""
        if task.absolute().parent.name != "tasks":
            return
        name = self.name_of(task.absolute())
        if name is None:
            return

        def with_the_checkpoints(tree: Sequence[Put]) -> None:
            for change in tree:
                self._wait(change)
            if checkpoints is not None:
                self.write([Put(f"{name}/{CHECKPOINTS}", checkpoints)])

        self._keep_tree(name, task.absolute(), WORK, with_the_checkpoints)

    def keep_generation(self, draft: Path, number: int, parent: int) -> None:
        """Keep the folder `draft` as generation `number` of the run's library, in force in the place of `parent`.

        Raises `StoreConflict` where another one is in force there, `UserError` where it is not this run's turn.
        """
        name = f"{self.shelf}/{GENERATIONS}/{number:04d}"
        before = f"{parent:04d}".encode() if parent else None
        in_force = self.store.read(f"{self.shelf}/{LIBRARY}")
        after = f"{number:04d}".encode()
        moved = [] if in_force == after else [Swap(f"{self.shelf}/{LIBRARY}", before, after)]

        def with_the_mark(tree: Sequence[Put]) -> None:
            if not self.shares:
                self.write([*tree, *moved])
            elif self.turn is None:
                raise UserError(f"{self.shelf} in the store is written only by the training whose turn it is")
            else:
                self.write([])
                self.store.write(self.turn, [*tree, *moved])

        self._keep_tree(name, draft.absolute(), ("",), with_the_mark)

    def _keep_tree(self, name: str, folder: Path, below: Sequence[str], write: Callable[[Sequence[Put]], None]) -> None:
        with self._lock:
            known = self._trees.get(folder, {})
            seen = {rel: (_stamp(path), path) for part in below for rel, path in _files(folder, part)}
            found = {rel: known[rel] for rel, (stamp, _) in seen.items() if rel in known and known[rel][0] == stamp}
            for rel, (stamp, path) in seen.items():
                if rel not in found and stamp is not None and (file := self._file(path)) is not None:
                    found[rel] = (stamp, file)
            files = {rel: found[rel][1] for rel in sorted(found)}
            folders = sorted(rel for part in below for rel in _folders(folder, part))
            text = json.dumps({"format": 1, "files": files, "folders": folders}, ensure_ascii=True) + "\n"
            tree, content = f"{name}/{TREE}", text.encode("ascii")
            write([] if self._written.get(tree) == content else [Put(tree, content)])
            self._trees[folder], self._written[tree] = found, content

    def _file(self, path: Path) -> File | None:
        """A file as it is now, its pieces kept; None for one that is gone by now."""
        try:
            with path.open("rb") as stream:
                mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
                return mode, self.store.keep(self.lease, iter(lambda: stream.read(PIECE_BYTES), b""))
        except OSError:
            return None


def _files(folder: Path, part: str) -> Iterator[tuple[str, Path]]:
    """The plain files below a part of a folder, by their names in it."""
    for at, names in _walk(folder / part):
        for path in (at / name for name in names if not name.endswith(_OURS_ALONE)):
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path


def _folders(folder: Path, part: str) -> Iterator[str]:
    return (at.relative_to(folder).as_posix() for at, _ in _walk(folder / part))


def _walk(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _PASSING]
        yield Path(at), names


def _length(change: Append | Put) -> int:
    return len(change.lines if isinstance(change, Append) else change.content or b"")


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


_KEPT: list[KeptFolder] = []
"""Those that this process works on: one, as a rule."""


def kept_at(path: Path) -> KeptFolder | None:
    """The kept folder in which `path` lies; None where what is written there is kept by its file alone."""
    return next((kept for kept in _KEPT if kept.holds(path.absolute())), None) if _KEPT else None


@contextlib.contextmanager
def as_kept(kept: KeptFolder) -> Iterator[None]:
    """Have all that this process writes below the folder go to its store, until the block ends."""
    _KEPT.append(kept)
    try:
        yield
    finally:
        kept.flush()
        _KEPT.remove(kept)


def lease_of(path: Path) -> Lease | None:
    """The lease under which this process writes the run at `path`; None where it has none, and needs none."""
    kept = kept_at(path)
    return kept.lease if kept is not None else None


def tree_in(content: bytes) -> dict[str, Any]:
    """What a tree says: `files` by name, and `folders`. Raises ValueError for what is none."""
    tree = json.loads(content)
    if not isinstance(tree, dict) or tree.get("format") != 1:
        raise ValueError("no tree of this version")
    return tree
