"""Reading and writing where a tool may have arranged things, from outside its sandbox, without being led astray.

A tool can leave links, pipes or devices in its workspace. What we read for a record or a picture must lie in the
workspace or in a task's file in truth, not only by its name, and must be a plain file of bounded size. What we write
there follows no link.
"""

from __future__ import annotations

import contextlib
import hashlib
import mimetypes
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from habilis.core.errors import HabilisError

MAX_FOLDER_FILES = 1000
RESULTS = "results"
"""Folder of a workspace that keeps what calls gave."""


class FileRefused(HabilisError):
    """A file is not read. The text says why, as an ending to 'not replayable: '."""


def read_confined(path: Path, allowed: Sequence[Path], limit: int) -> bytes:
    """The content of the plain file `path`, at most `limit` bytes, if it truly lies in one of `allowed`.

    Links are followed and judged by where they end. Raises `FileRefused` for anything else.
    """
    try:
        real = path.resolve(strict=True)
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, RuntimeError, ValueError):
        raise FileRefused(f"file {path.name} cannot be read") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileRefused(f"{path.name} is not a plain file")
        if not is_within(_opened_path(descriptor, real), allowed):
            raise FileRefused(f"file {path.name} lies outside the task's files")
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            content = stream.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise FileRefused(f"file {path.name} is larger than {limit} bytes")
    return content


def is_within(real: Path, allowed: Sequence[Path]) -> bool:
    """Whether the resolved path `real` is one of `allowed` or lies below one."""
    return any(real.is_relative_to(root.resolve()) for root in allowed)


def files_below(folder: Path, limit: int) -> Iterator[str]:
    """Relative names of the plain files below `folder`, sorted. Raises `FileRefused` for too many, or too much.

    Links to folders are not followed, hidden folders are left out.
    """
    found: list[str] = []
    total = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent) / name
            if not path.is_file():
                continue
            total += path.stat().st_size
            found.append(str(path.relative_to(folder)))
            if len(found) > MAX_FOLDER_FILES or total > limit:
                raise FileRefused(f"folder {folder.name} holds more than a record keeps")
    yield from sorted(found)


def _opened_path(descriptor: int, fallback: Path) -> Path:
    """Where an open file truly is, as the kernel sees it; without /proc the path that was resolved before opening."""
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink()
    except OSError:
        return fallback


def keep_file(workspace: Path, content: bytes, media_type: str) -> str:
    """Keep an image or another file that a call gave, in the workspace. Returns its workspace-relative name, which
    follows from its content. Raises OSError."""
    ending = mimetypes.guess_extension(media_type.split(";")[0].strip().lower()) or ".bin"
    return write_result(workspace, f"{hashlib.sha256(content).hexdigest()[:16]}{ending}", content)


def write_result(workspace: Path, name: str, content: bytes) -> str:
    """Write a file among the results in `workspace`; returns its workspace-relative name. Raises OSError.

    Tools can write here: a link that one of them left is never followed.
    """
    root = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _write_below(root, name, content)
    finally:
        os.close(root)
    return f"{RESULTS}/{name}"


def _write_below(root: int, name: str, content: bytes) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(RESULTS, 0o755, dir_fd=root)
    folder = os.open(RESULTS, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
    finally:
        os.close(folder)
