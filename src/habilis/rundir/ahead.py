"""Room on the disk for what will be added to a file: kept before it is needed, while there still is any."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

_KEEP_SIZE = 1


def reserve(descriptor: int, size: int) -> bool:
    """Have the disk keep `size` bytes for the end of an open file, which stays as long as it is (fallocate(2)).

    False where its file system, or this system, knows no such thing. Raises OSError where there is no room.
    """
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None)
    if call is None:
        return False
    end = os.fstat(descriptor).st_size
    if call(descriptor, _KEEP_SIZE, ctypes.c_int64(end), ctypes.c_int64(size)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EFBIG):
        return False  # the last: a limit of this process, which one reply may well keep to
    raise OSError(number, os.strerror(number))


class RoomAhead:
    """Room for `size` bytes past the end of a file that grows."""

    def __init__(self, size: int) -> None:
        self._size, self._until = size, 0

    def keep(self, descriptor: int, path: Path) -> None:
        """See to it that the room is there. Raises OSError, which names `path`, where there is none."""
        end = os.fstat(descriptor).st_size
        if end + self._size > self._until:
            try:
                reserve(descriptor, 2 * self._size)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from None
            self._until = end + 2 * self._size

    def free(self, descriptor: int) -> None:
        """Give back what was not needed."""
        self._until = 0
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, os.fstat(descriptor).st_size)
