"""This machine: disk, memory, descriptors, processes. What it refuses is the fault of no tool and no model."""

from __future__ import annotations

import errno
import os

from habilis.core.errors import PlaceError

ADVICE = {
    errno.ENOSPC: "free space on this disk",
    errno.EDQUOT: "free space within your quota",
    errno.EFBIG: "raise the limit for the size of a file (ulimit -f)",
    errno.EROFS: "choose a folder that can be written",
    errno.EIO: "the disk reports a fault: check it",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "this machine has no more open files to give: close other programs",
    errno.ENOMEM: "free memory on this machine, or run fewer tasks at once",
    errno.EAGAIN: "this machine starts no further process: close other programs, or raise ulimit -u",
}
"""What a person can do about what a system call says, whatever it was called for."""
_OF_A_FOLDER = {
    errno.EACCES: "may not be written by this user: choose another folder, or change its owner",
    errno.EPERM: "may not be written by this user: choose another folder, or change its owner",
    errno.ENOTDIR: "stands where a folder is needed: remove that file, or choose another folder",
    errno.EEXIST: "stands where a folder is needed: remove that file, or choose another folder",
    errno.ENOENT: "is gone: make it, or choose another folder",
    errno.ENAMETOOLONG: "is too long a name: choose a shorter folder",
    errno.ELOOP: "is a link that leads to itself: remove it",
}


def place_error(error: OSError, *, ours: bool = False) -> PlaceError | None:
    """`error` as a failure of the place, with what to do; None where it says nothing of the place.

    `ours`: the file is one of Habilis' own (a run, a library, a cache), so that a refusal of that file alone counts.
    """
    name = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else ""
    said = error.strerror or str(error)
    if error.errno in ADVICE:
        return PlaceError(f"{name}: {said}; {ADVICE[error.errno]}" if name else f"{said}; {ADVICE[error.errno]}")
    if ours and error.errno in _OF_A_FOLDER:
        return PlaceError(f"{name or 'a folder of Habilis'} {_OF_A_FOLDER[error.errno]} ({said})")
    return None
