"""A task's files on their way to another machine: into the store once, from there once to each machine.

What a task gets is a snapshot: the files as they were when its run last began it. A file or folder is kept under
`files/<digest>.json` of the run, a tree like those of `rundir.kept`: name to mode and digests of pieces. Neither side
ever holds more than a piece of a file in memory. Links in a folder are followed where they lead to a file inside it;
others are left out, since no tool could follow them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from habilis.core.errors import HabilisError, UserError
from habilis.core.place import place_told
from habilis.core.ports import Put, RunStore
from habilis.core.types import TaskFile
from habilis.rundir.kept import PIECE_BYTES, File, KeptFolder, Stamp, tree_in
from habilis.rundir.locks import alone

FILES = "files"
MOST_FILES, MOST_BYTES = 20_000, 16 << 30
"""What one file or folder of a row may come to."""
_TRIES = 3
Found = dict[str, tuple[Path, Stamp]]
"""Plain files by their names in a tree, with what tells that one was changed."""


class FilesInStore:
    """Puts files of tasks into the store that `kept` is kept in. Safe for threads; what has not changed since is read
    once."""

    def __init__(self, kept: KeptFolder, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
        self._kept, self._most_files, self._most_bytes = kept, most_files, most_bytes
        self._known: dict[Path, tuple[Found, str]] = {}
        self._lock = threading.Lock()

    def put(self, files: Iterable[TaskFile]) -> dict[str, str]:
        """The digests under which the store has `files` from now on, by their paths.

        Raises `UserError` for one that cannot be read, is too much or changes all the time, `PlaceError`.
        """
        with self._lock:
            return {file.path: self._put(Path(file.path)) for file in files}

    def _put(self, path: Path) -> str:
        for _ in range(_TRIES):
            try:
                found = self._found(path)
                known = self._known.get(path)
                if known is not None and known[0] == found:
                    return known[1]
                digest = self._sent(path, found)
                if digest is not None and self._found(path) == found:
                    self._known[path] = found, digest
                    return digest
            except OSError as error:
                raise UserError(f"the file {error.filename or path} cannot be read: {error.strerror}") from None
        raise UserError(f"the file {path} changes while it is read; run the row again when nothing writes to it")

    def _found(self, path: Path) -> Found:
        """What belongs to `path` now. Raises `UserError` for too much, OSError."""
        found: Found = {}
        total = 0
        for file in _plain_files(path):
            about = file.stat()
            total += about.st_size
            name = PurePosixPath(path.name, *file.relative_to(path).parts).as_posix()
            found[name] = file, (about.st_mtime_ns, about.st_size, about.st_ino)
            if len(found) > self._most_files:
                raise UserError(f"the folder {path} holds more than {self._most_files:,} files, too many for one row")
            if total > self._most_bytes:
                raise UserError(f"{path} holds more than {self._most_bytes / 2**30:.3g} GiB, too much for one row")
        return found

    def _sent(self, path: Path, found: Found) -> str | None:
        """The digest of the tree, all of it in the store; None where a file was changed meanwhile."""
        files: dict[str, File] = {}
        for name, (file, stamp) in sorted(found.items()):
            pieces = [hashlib.sha256(piece).hexdigest() for piece in _pieces(file, stamp)]
            files[name] = stat.S_IMODE(file.stat().st_mode), pieces
        text = json.dumps({"format": 1, "files": files, "folders": sorted(_folders(path))}).encode("ascii")
        record = _name(self._kept.name, digest := hashlib.sha256(text).hexdigest())
        if self._kept.store.read(record) is None:
            for inside, (file, stamp) in found.items():
                if self._kept.store.keep(self._kept.lease, _pieces(file, stamp)) != files[inside][1]:
                    return None
            self._kept.write([Put(record, text)])
        return digest


def lay_out(store: RunStore, run: str, digest: str, folder: Path) -> Path:
    """The folder below `folder` that holds what `put` kept under `digest` for the run of that name, fetched unless it
    is there. Raises `HabilisError`."""
    place = folder / digest
    with place_told():
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder / f".{digest[:16]}.lock"):
            if not place.is_dir():
                aside = folder / f".{digest}"
                shutil.rmtree(aside, ignore_errors=True)  # what a killed one left
                _fetch(store, _name(run, digest), aside)
                aside.rename(place)
    return place


def _fetch(store: RunStore, name: str, folder: Path) -> None:
    content = store.read(name) or b""
    if name != _name(name.partition("/")[0], hashlib.sha256(content).hexdigest()):
        raise UserError(f"{name} in the store is lost or damaged; run the row again")
    tree = tree_in(content)
    for inside in ("", *tree["folders"]):
        _below(folder, inside).mkdir(parents=True, exist_ok=True, mode=0o755)
    for inside, (mode, pieces) in tree["files"].items():
        path = _below(folder, inside)
        with path.open("xb") as out:
            for piece in pieces:
                out.write(store.blob(piece))
        path.chmod(0o555 if mode & 0o111 else 0o444)


def _below(folder: Path, name: str) -> Path:
    """Raises `HabilisError` for a name that leads out of `folder`."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise HabilisError(f"{name!r} in the store is not a file name")
    return folder.joinpath(*parts)


def _name(run: str, digest: str) -> str:
    return f"{run}/{FILES}/{digest}.json"


def _plain_files(path: Path) -> Iterator[Path]:
    """`path` itself, or the files below it, in order."""
    if not path.is_dir():
        yield path
        return
    root = path.resolve()
    for at, folders, names in os.walk(path):
        folders.sort()
        for file in (Path(at, name) for name in sorted(names)):
            if file.is_file() and (not file.is_symlink() or file.resolve().is_relative_to(root)):
                yield file


def _folders(path: Path) -> Sequence[str]:
    """The folders of a tree, by name."""
    if not path.is_dir():
        return []
    below = (Path(at).relative_to(path) for at, _, _ in os.walk(path))
    return [PurePosixPath(path.name, *folder.parts).as_posix() for folder in below]


def _pieces(path: Path, stamp: Stamp) -> Iterator[bytes]:
    """The file as long as it was, in pieces: one that grows has no end."""
    left = stamp[1]
    with path.open("rb") as stream:
        while left > 0 and (piece := stream.read(min(left, PIECE_BYTES))):
            left -= len(piece)
            yield piece
