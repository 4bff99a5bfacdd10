"""What lies in a folder of documents, and its content, read so that nothing in it leads elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from habilis.tools.confined import Refused, is_within, read_confined

MOST_FILES = 50_000
OUTSIDE = "leads out of the folder"


@dataclass(frozen=True)
class Found:
    """A file by its name below the folder. With a `problem` it is not read."""

    name: str
    size: int = 0
    changed: int = 0
    problem: str = ""


def files_in(folder: Path, most_bytes: int) -> list[Found]:
    """Every file below `folder`, by name. What is hidden is left out; links are not followed, and named if they lead
    out of it. Raises OSError when the folder itself cannot be read."""
    os.scandir(folder).close()
    found = sorted(_walked(folder, most_bytes), key=lambda one: one.name)
    if len(found) <= MOST_FILES:
        return found
    more = Found("", problem=f"the folder holds more than {MOST_FILES} files; the rest is not searched")
    return [more, *found[:MOST_FILES]]


def content_of(folder: Path, name: str, most_bytes: int) -> bytes | str:
    """The bytes of a file below `folder`, or why they cannot be had."""
    try:
        return read_confined(folder / name, [folder], most_bytes)
    except Refused as refused:
        text = str(refused)
        if "outside" in text:
            return OUTSIDE
        return _too_large(most_bytes) if "larger" in text else "cannot be read"


def _walked(folder: Path, most_bytes: int) -> Iterator[Found]:
    for parent, folders, names in os.walk(folder):
        shown = [name for name in folders if not name.startswith(".")]
        folders[:] = [name for name in shown if not os.path.islink(os.path.join(parent, name))]  # noqa: PTH114, PTH118
        for name in (*(n for n in shown if n not in folders), *names):
            path = Path(parent) / name
            shown_name = path.relative_to(folder).as_posix()
            if not name.startswith(".") and (one := _looked_at(path, shown_name, folder, most_bytes)):
                yield one


def _looked_at(path: Path, name: str, folder: Path, most_bytes: int) -> Found | None:
    name = name.encode("utf-8", "replace").decode("utf-8") if not _is_plain(name) else name
    try:
        looks = path.lstat()
        if stat.S_ISLNK(looks.st_mode):  # what it leads to inside is found by its own name
            inside = is_within(path.resolve(), [folder])
            return None if inside else Found(name, problem=OUTSIDE)
    except (OSError, RuntimeError):
        return Found(name, problem="cannot be read")
    if not stat.S_ISREG(looks.st_mode):
        return Found(name, problem="is no file")
    if not _is_plain(path.name):
        return Found(name, problem="has a name that is no text")
    if looks.st_size > most_bytes:
        return Found(name, looks.st_size, looks.st_mtime_ns, _too_large(most_bytes))
    return Found(name, looks.st_size, looks.st_mtime_ns)


def _is_plain(name: str) -> bool:
    """Whether a file's name is text: a prompt must be able to carry it."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return name.isprintable()


def _too_large(most_bytes: int) -> str:
    return f"is larger than {most_bytes / (1 << 20):g} MB (knowledge.max_file_mb)"
