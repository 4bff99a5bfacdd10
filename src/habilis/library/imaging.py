"""The image of a folder: another folder with the same files, which both share by hard links."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

_NOT_LINKED = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES}
"""Why a file cannot be shared, and is copied."""


def image(source: Path, target: Path, *, but: Collection[str] = ()) -> None:
    """Fill `target` with all of `source`, files shared where the file system allows that.

    Hidden files and links are left out, and those called as in `but`.
    """
    with contextlib.ExitStack() as stack:
        here, there = (stack.enter_context(_opened(folder)) for folder in (source, target))
        for entry in os.scandir(source):
            name = entry.name
            if name.startswith(".") or name in but:
                continue
            if entry.is_symlink():
                continue  # Habilis leaves none, and it may lead anywhere
            if entry.is_dir():
                (target / name).mkdir()
                image(source / name, target / name, but=but)
            elif entry.is_file():
                try:
                    os.link(name, name, src_dir_fd=here, dst_dir_fd=there)
                except OSError as error:
                    if error.errno not in _NOT_LINKED:
                        raise
                    shutil.copy2(source / name, target / name)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """The folder as a descriptor, from which names are found without a path's walk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
