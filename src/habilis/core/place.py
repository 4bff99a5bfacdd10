"""This machine: disk, memory, descriptors, processes. What it refuses is the fault of no tool and no model."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
from collections.abc import Iterator

from habilis.core.errors import HabilisError, NotPlain, PlaceError

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
_SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""What is the machine's own whatever was called, a connection to another one too."""
_OF_WHAT_IS_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
_SQLITE = {
    7: ADVICE[errno.ENOMEM],  # SQLITE_NOMEM
    8: ADVICE[errno.EROFS],  # SQLITE_READONLY
    10: ADVICE[errno.EIO],  # SQLITE_IOERR
    13: ADVICE[errno.ENOSPC],  # SQLITE_FULL
    14: "see that its folder is there and can be written, and allow more open files (ulimit -n)",  # SQLITE_CANTOPEN
}
"""What a person can do about SQLite's primary result codes (sqlite.org/rescode.html)."""
NO_MEMORY = f"out of memory; {ADVICE[errno.ENOMEM]}"
ROOM_BYTES = 16 << 20
"""What a thread asks for at once, with some to spare. Without it there is no going on."""
_NO_TEMPORARY = "No usable temporary directory"
_NO_THREAD = "can't start new thread"
_NOT_LOADED = ("failed to map segment", "cannot allocate memory")
"""What the loader of libraries says when there is no memory for one (ld.so, in whatever module was wanted first)."""


def place_error(error: OSError, *, ours: bool = False) -> PlaceError | None:
    """`error` as a failure of the place, with what to do; None where it says nothing of the place.

    `ours`: the file is one of Habilis' own (a run, a library, a cache), so that a refusal of that file alone counts.
    """
    written = error.filename2 if error.errno in _OF_WHAT_IS_WRITTEN else None  # a copy's second name is the new one
    named = written or error.filename
    name = os.fspath(named) if isinstance(named, str | os.PathLike) else ""
    said = error.strerror or str(error)
    if said.startswith(_NO_TEMPORARY):
        return PlaceError(f"{said}; make one of these folders, or set TMPDIR to another")
    if error.errno in ADVICE:
        return PlaceError(f"{name}: {said}; {ADVICE[error.errno]}" if name else f"{said}; {ADVICE[error.errno]}")
    if ours and error.errno in _OF_A_FOLDER and not isinstance(error, NotPlain):
        if error.errno == errno.ENOTDIR:
            name = _in_the_way(name)
        return PlaceError(f"{name or 'a folder of Habilis'} {_OF_A_FOLDER[error.errno]} ({said})")
    return None


def raise_place(error: Exception, *, ours: bool = False) -> None:
    """Raises `error` as `PlaceError` where it is an OSError that tells of the place."""
    if isinstance(error, OSError) and (place := place_error(error, ours=ours)) is not None:
        raise place from error


def _in_the_way(name: str) -> str:
    """What stands, on the way to `name`, in the place of a folder."""
    above = name
    while above != os.path.dirname(above):  # noqa: PTH120 - a path of whatever form
        if os.path.lexists(above):
            return above
        above = os.path.dirname(above)  # noqa: PTH120
    return name


def place_failure(error: BaseException, *, ours: bool = True) -> PlaceError | None:
    """What `error`, of whatever kind, says of the place; None where it says nothing of it. `ours` as above.

    An error that Habilis raised on purpose was sorted where it arose, and stays what it is.
    """
    if isinstance(error, HabilisError):
        return error if isinstance(error, PlaceError) else None
    if isinstance(error, OSError):
        return place_error(error, ours=ours)
    if isinstance(error, MemoryError):
        return PlaceError(NO_MEMORY)
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        return PlaceError(ADVICE[errno.EAGAIN] if memory_left() else NO_MEMORY)
    if isinstance(error, ImportError) and any(words in str(error).lower() for words in _NOT_LOADED):
        return PlaceError(NO_MEMORY)
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int) and code & 0xFF in _SQLITE:
        return PlaceError(f"{error}; {_SQLITE[code & 0xFF]}")
    return None


def memory_left() -> bool:
    """Whether this process is given more memory: enough to go on with."""
    try:
        mmap.mmap(-1, ROOM_BYTES).close()
    except (OSError, MemoryError):
        return False
    return True


def scarcity(error: BaseException) -> PlaceError | None:
    """What kept this machine itself from reaching another one, in `error` or in what it came from; None if nothing."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno in _SCARCE):
            return place_failure(cause)
        cause = cause.__cause__ or cause.__context__
    return None


@contextlib.contextmanager
def place_told() -> Iterator[None]:
    """Whatever the place refuses in the work on our own files is raised as `PlaceError`; all else as it is."""
    try:
        yield
    except Exception as error:
        found = place_failure(error)
        if found is None or found is error:
            raise
        raise found from error
