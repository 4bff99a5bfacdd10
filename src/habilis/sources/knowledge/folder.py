"""What lies in a folder of documents, and its content, read so that nothing in it leads elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from habilis.contract.paths import FileRefused, is_within, read_confined

MOST_FILES = 50_000
OUTSIDE = "leads out of the folder"
UNREADABLE = "cannot be read"


@dataclass(frozen=True)
class FoundFile:
    """A file by its name below the folder. With a `problem` it is not read."""

    name: str
    size: int = 0
    changed: int = 0
    problem: str = ""


def files_in(folder: Path, most_bytes: int) -> list[FoundFile]:
    """Every file below `folder`, by name. What is hidden is left out; links are not followed, and named if they lead
    out of it. Raises OSError when the folder itself cannot be read."""
    os.scandir(folder).close()
    found = sorted(_walked(folder, most_bytes), key=lambda one: one.name)
    if len(found) <= MOST_FILES:
        return found
    more = FoundFile("", problem=f"the folder holds more than {MOST_FILES} files; the rest is not searched")
    return [more, *found[:MOST_FILES]]


def content_of(folder: Path, name: str, most_bytes: int) -> bytes | str:
    """The bytes of a file below `folder`, or why they cannot be had."""
    try:
        return read_confined(folder / name, [folder], most_bytes)
    except FileRefused as refused:
        text = str(refused)
        if "outside" in text:
            return OUTSIDE
        return _too_large(most_bytes) if "larger" in text else UNREADABLE


def _walked(folder: Path, most_bytes: int) -> Iterator[FoundFile]:
    open_folders = [("", str(folder))]
    while open_folders:
        above, path = open_folders.pop()
        try:
            entries = list(os.scandir(path))
        except OSError:
            yield FoundFile(above.rstrip("/"), problem=UNREADABLE)
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if not _is_plain(entry.name):
                shown = entry.name.encode("utf-8", "replace").decode("utf-8")
                yield FoundFile(f"{above}{shown}", problem="has a name that is no text")
            elif entry.is_dir(follow_symlinks=False):
                open_folders.append((f"{above}{entry.name}/", entry.path))
            elif one := _looked_at(entry, f"{above}{entry.name}", folder, most_bytes):
                yield one


def _looked_at(entry: os.DirEntry[str], name: str, folder: Path, most_bytes: int) -> FoundFile | None:
    try:
        if entry.is_symlink():  # what it leads to inside is found by its own name
            return None if is_within(Path(entry.path).resolve(), [folder]) else FoundFile(name, problem=OUTSIDE)
        looks = entry.stat(follow_symlinks=False)
    except (OSError, RuntimeError):
        return FoundFile(name, problem=UNREADABLE)
    if not stat.S_ISREG(looks.st_mode):
        return FoundFile(name, problem="is not a file")
    too_large = _too_large(most_bytes) if looks.st_size > most_bytes else ""
    return FoundFile(name, looks.st_size, looks.st_mtime_ns, too_large)


def _is_plain(name: str) -> bool:
    """Whether a file's name is text: a prompt must be able to carry it."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return name.isprintable()


def _too_large(most_bytes: int) -> str:
    return f"is larger than {most_bytes / (1 << 20):g} MB"
