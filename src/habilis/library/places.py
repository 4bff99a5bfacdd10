"""Locks and places inside a library's folder: one writer at a time, names being built, candidates aside; and where
its generations are.

All of it is let go of by the kernel, or swept up by the next comer, when its process dies.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from habilis.contract.names import RESERVED, safe_name, with_suffix
from habilis.core.errors import UserError
from habilis.rundir.files import sync
from habilis.rundir.locks import alone, take_path
from habilis.rundir.plain import own_folder, read_plain

CONVERTING = ".converting"
"""A note that a plain folder is being made the first generation: it says where the link has to lead."""
_NUMBER = re.compile(r"\d{4,}")
_LINKS = 40
_STALE_S = 3600.0


@contextlib.contextmanager
def writer_lock(library: Path) -> Iterator[None]:
    """One writer at a time, over all processes; to be held for the length of a few small writes."""
    library.mkdir(parents=True, exist_ok=True)
    with alone(library / ".lock"):
        yield


@contextlib.contextmanager
def reserved_name(library: Path, name: str, is_taken: Callable[[str], bool]) -> Iterator[str]:
    """A free name for a tool called `name`, this caller's alone until the block ends.

    The first of `name`, `name_v02`, `name_v03` … that no tool has, no preset has, and nobody else is building.
    """
    folder = own_folder(library / ".names")
    base, number = safe_name(name), 0
    while True:
        number += 1
        chosen = with_suffix(base, number)
        if chosen in RESERVED or is_taken(chosen):
            continue
        descriptor = take_path(folder / chosen)
        if descriptor is None:
            continue
        try:
            if is_taken(chosen):  # by one who let go of the mark between our look and our lock
                continue
            yield chosen
            return
        finally:
            (folder / chosen).unlink(missing_ok=True)
            os.close(descriptor)


def aside_root(library: Path) -> Path:
    """Where folders for what is not a tool yet lie, each named after its process; what dead ones left is removed."""
    root = own_folder(library / ".aside")
    _sweep(root)
    return root


@contextlib.contextmanager
def aside_folder(library: Path) -> Iterator[Path]:
    """A folder of one's own inside the library, for what is not a tool yet; gone when the block ends."""
    root = aside_root(library)
    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=root))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(root: Path) -> None:
    """Remove what a killed process left aside: its maker is gone and nobody touched it for an hour."""
    for folder in root.iterdir():
        with contextlib.suppress(OSError, ValueError):
            if folder.stat().st_mtime < time.time() - _STALE_S and not _is_alive(int(folder.name.split("-")[0])):
                shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def generations_folder(library: Path) -> Path:
    """Where the generations of the library at `library` lie."""
    return library.with_name("generations" if library.name == "library" else f"{library.name}-generations")


def is_published(library: Path) -> bool:
    """Whether `library` is a link to one of its own generations."""
    try:
        parts = library.readlink().parts
    except OSError:
        return False
    return len(parts) == 2 and parts[0] == generations_folder(library).name and bool(_NUMBER.fullmatch(parts[1]))


def is_generation(folder: Path) -> bool:
    """Whether `folder` is one generation of a library, by its name and place."""
    return bool(_NUMBER.fullmatch(folder.name)) and folder.parent.name.endswith("generations")


def followed(library: Path) -> Path:
    """The library that `library` means, links of the user's followed: generations lie with what they lead to."""
    library = library.absolute()
    for _ in range(_LINKS):
        if not library.is_symlink() or is_published(library):
            break
        library = library.parent / library.readlink()
    return library


def settle(library: Path) -> None:
    """Take the last step of a first publication, where a kill cut it short. Does nothing else.

    Raises OSError when the link cannot be made, `UserError` when it is gone: it must not pass for an empty library.
    """
    library = followed(library)
    if os.path.lexists(library):
        return
    note = generations_folder(library) / CONVERTING
    try:
        target = read_plain(note, 4_096).decode("utf-8", "replace").strip()
    except OSError:
        _check_not_lost(library)
        return
    folder, _, number = target.partition("/")  # a note of somebody else may name any place
    if folder != note.parent.name or not _NUMBER.fullmatch(number) or not (library.parent / target).is_dir():
        _check_not_lost(library)
        return
    with contextlib.suppress(FileExistsError):
        library.symlink_to(target)
    sync(library.parent)
    note.unlink(missing_ok=True)


def _check_not_lost(library: Path) -> None:
    """Raises `UserError` where a library's generations are there and nothing leads to them: no new one begins there."""
    folder = generations_folder(library)
    lost = not is_generation(library) and any(is_generation(path) and path.is_dir() for path in _entries(folder))
    if lost:
        raise UserError(
            f"the library {library} is gone, and its generations are there: 'habilis library doctor --library "
            f"{library} --repair' puts the link back; to begin an empty library, move {folder} away"
        )


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
