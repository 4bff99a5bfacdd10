"""Files as Habilis leaves them: plain ones. A folder may be a stranger's, and what lies in it a link, a pipe, a device.

Whoever opens a file of a run or a library opens it here. A link in its place is never followed, neither to read nor to
write, and a pipe is never waited for.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from habilis.core.errors import NOT_PLAIN, NotPlain, UserError
from habilis.core.place import scarcity

MAX_LINE_BYTES = 64 << 20
"""Longer than any line that Habilis writes."""
MAX_DEPTH = 300
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ALIKE = bytes.maketrans(b"{}", b"[]")
"""Levels of nesting in JSON: more than anything that passed a model, a tool or Pydantic."""


def open_plain(path: Path, flags: int, mode: int = 0o666) -> int:
    """A descriptor of the plain file `path`. Raises OSError, `NotPlain` for what is none."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NotPlain(path) from None
        raise
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise NotPlain(path)


def reading(path: Path) -> BinaryIO:
    """The plain file `path`, open for reading. Raises OSError, `NotPlain` for what is none."""
    return os.fdopen(open_plain(path, os.O_RDONLY), "rb")


def read_plain(path: Path, most: int | None = None) -> bytes:
    """What the plain file `path` holds; one of more than `most` bytes raises OSError (EFBIG)."""
    with reading(path) as stream:
        if most is not None and os.fstat(stream.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"it holds more than {most} bytes", str(path))
        return stream.read(-1 if most is None else most)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of the plain file `path` with their line feeds. Raises OSError, `UserError` for one without end."""
    with reading(path) as stream:
        number = 0
        while line := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise UserError(f"{path} is damaged at line {number}: it is longer than {MAX_LINE_BYTES >> 20} MiB")
            yield line


def plain_json(text: str | bytes) -> Any:
    """What `text` says as JSON. Raises ValueError, also for what is nested deeper than anything that Habilis writes."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if b"\0" in raw:  # json reads UTF-16 and UTF-32 as well
        raw = raw.decode(json.detect_encoding(raw), "surrogatepass").encode("utf-8", "surrogatepass")
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _deeper(raw, MAX_DEPTH):
        raise ValueError("it is nested too deep")
    return value


def _deeper(text: bytes, most: int) -> bool:
    """Whether valid JSON is nested deeper than `most`. Its brackets alone are looked at, the innermost pairs first: a
    quarter of the time that a walk over the values takes."""
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    left = b"".join(unescaped.split(b'"')[::2]).translate(_ALIKE, _NO_BRACKETS)
    for _ in range(most):
        if not left:
            return False
        left = left.replace(b"[]", b"")
    return bool(left)


def own_folder(path: Path) -> Path:
    """The folder `path`, made if it is not there. Raises OSError, `NotPlain` for a link in its place."""
    path.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        raise NotPlain(path)
    return path


def check_plain_file(path: Path) -> None:
    """Raises `UserError` for something at `path` that is no plain file; nothing there is fine."""
    _check(path, stat.S_ISREG)


def check_plain_folder(path: Path) -> None:
    """Raises `UserError` for something at `path` that is no folder itself; nothing there is fine."""
    _check(path, stat.S_ISDIR)


def is_plain_folder(path: Path) -> bool:
    """Whether a folder is at `path`, and no link to one elsewhere."""
    return path.is_dir() and not path.is_symlink()


def _check(path: Path, fits: Any) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise scarcity(error) or UserError(f"{path} cannot be read: {error.strerror}") from None
    if not fits(mode):
        raise UserError(f"{path} is not a {'file' if fits is stat.S_ISREG else 'folder'} of Habilis: {NOT_PLAIN}")
