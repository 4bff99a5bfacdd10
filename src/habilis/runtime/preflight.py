"""The places that every task needs, tried before anything is paid: folders that are written, descriptors."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from habilis.core.errors import PlaceError
from habilis.core.place import place_told
from habilis.runtime.packages.environments import environments_folder

FILES, FILES_OF_TASK = 48, 8
"""Open files that a warm server, the pipes of a call and connections take, and those that stay open for each task."""


def try_places(*folders: Path, tasks: int = 1) -> None:
    """Write a little to each of `folders`, to the cache and to the temporary folder, and count what may still be
    opened by `tasks` side by side. Raises `PlaceError` for the first that fails. Takes well below a millisecond."""
    for _, place in places(folders):
        try_place(place)
    check_files(tasks)


def check_files(tasks: int = 1) -> None:
    """Raises `PlaceError` where this process may not open as many files as `tasks` side by side need."""
    left, needed = files_left(), FILES + FILES_OF_TASK * tasks
    if left is not None and left < needed:
        fewer = ", or run fewer tasks at once" if tasks > 1 else ""
        told = f"{left} files more may be opened here, and {needed} are needed"
        raise PlaceError(f"{told}: allow more open files (ulimit -n){fewer}")


def places(folders: Sequence[Path] = ()) -> Iterator[tuple[str, Path]]:
    """The folders that are written: those given, the cache, the temporary one. Raises `PlaceError` for one that
    cannot even be named."""
    yield from (("run", folder) for folder in folders)
    yield "cache", environments_folder()
    with place_told():
        yield "temporary", Path(tempfile.gettempdir())


def try_place(folder: Path) -> None:
    """Make `folder` and write a file to it that does not stay. Raises `PlaceError`."""
    with place_told():
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".habilis-", dir=folder)
        try:
            os.write(descriptor, b"\0" * 4096)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(folder)) from None
        finally:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                Path(name).unlink()


def files_left() -> int | None:
    """How many more files this process may open; None where nothing tells, or there is no limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        return limit - len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    except OSError as error:
        return 0 if error.errno in (errno.EMFILE, errno.ENFILE) else None
