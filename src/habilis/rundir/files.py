"""Files that are whole or not there, and logs that survive a kill."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError
from habilis.core.masker import MASKER
from habilis.core.place import scarcity
from habilis.rundir.kept import kept_at
from habilis.rundir.plain import lines_of, open_plain, plain_json, read_plain
from habilis.rundir.seals import sealed, unsealed

if TYPE_CHECKING:
    from habilis.core.events import Event

log = logging.getLogger(__name__)

FORMAT = 1
MAX_RECORD_BYTES = 256 << 20
"""Longer than any record of one piece that Habilis writes."""


class JsonlSink:
    """Appends each event as one JSON line with `at` (seconds since the epoch).

    A line is handed to the system whole, before `emit` returns, so that it survives a kill. A disk that refuses
    is logged once and otherwise ignored: a record cannot break the run that it records.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._torn = False
        self._warned = False

    def emit(self, event: Event) -> None:
        if event.kind == "thought_piece":
            return  # the whole thought is recorded
        try:
            row = {"at": round(time.time(), 3), **event.model_dump()}
            text = json.dumps(row, ensure_ascii=False, default=str) + "\n"
            # 'backslashreplace' turns a lone surrogate into the JSON escape that stands for it
            self._append(sealed(MASKER.document(text.encode("utf-8", "backslashreplace"))))
        except (OSError, ValueError, TypeError) as error:
            if not self._warned:
                log.warning("events are no longer recorded in %s: %s", self._path, one_line(error))
            self._warned = True

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, line: bytes) -> None:
        if (kept := kept_at(self._path)) is not None:
            kept.later(self._path, line)
        if self._descriptor is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = open_plain(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            size = os.fstat(self._descriptor).st_size
            self._torn = size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"
        line = b"\n" + line if self._torn else line
        self._torn = True
        self._torn = os.write(self._descriptor, line) != len(line)


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file; a torn line is passed over, a missing file is empty.

    Raises OSError, `UserError` for a file that Habilis cannot have written: a link, a line without end.
    """
    with contextlib.suppress(FileNotFoundError):
        for line in lines_of(path):
            with contextlib.suppress(ValueError):
                yield row_of(line)


def row_of(line: bytes) -> dict[str, Any]:
    """What one line of a log says. Raises ValueError for what is no JSON object, or does not fit its seal."""
    row = plain_json(unsealed(line).decode("utf-8", "replace"))
    if not isinstance(row, dict):
        raise ValueError("it is no JSON object")
    return row


def atomic_write(path: Path, text: str | bytes, *, durable: bool = True) -> None:
    """Write `path` whole or not at all: aside, to the disk (`durable`), then by one rename; secrets stay out of it.

    Raises OSError.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    data = MASKER.document(data) if path.suffix in (".json", ".jsonl") else MASKER.data(data)
    if (kept := kept_at(path)) is not None:
        kept.put(path, data)
    place(path, data, durable=durable)


def place(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write `path` whole or not at all, as `atomic_write` does, with what was masked already. Raises OSError."""
    aside = path.with_name(f".{path.name[:60]}.{os.getpid()}-{time.monotonic_ns()}.tmp")
    try:
        with aside.open("xb") as out:
            out.write(data)
            out.flush()
            if durable:
                os.fsync(out.fileno())
        aside.replace(path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    if durable:
        sync(path.parent)


def append_line(path: Path, line: bytes) -> None:
    """Add a line, with its line feed, to `path`; it is on the disk when this returns. A last line that a killed writer
    left without its end is cut off first. One process at a time writes. Secrets stay out of it.

    Raises OSError, the file then being as it was, without such a line.
    """
    line = MASKER.document(line)
    if (kept := kept_at(path)) is not None:
        kept.append(path, line)
    fresh = not path.exists()
    descriptor = open_plain(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        whole = _whole_bytes(descriptor)
        os.ftruncate(descriptor, whole)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, whole)
            raise
    finally:
        os.close(descriptor)
    if fresh:
        sync(path.parent)


def _whole_bytes(descriptor: int) -> int:
    """How many bytes of an open file are whole lines."""
    end = os.fstat(descriptor).st_size
    while end:
        begin = max(end - (1 << 16), 0)
        found = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(path: Path) -> None:
    """Remove a tree although a tool may have left folders that refuse it. Of a link, the link alone goes."""
    if (kept := kept_at(path)) is not None:
        kept.forget(path)
    if path.is_symlink():
        path.unlink()
        return
    for folder, _, _ in os.walk(path):
        with contextlib.suppress(OSError):
            Path(folder).chmod(stat.S_IRWXU)
    shutil.rmtree(path)


def write_json(path: Path, data: Mapping[str, Any], *, durable: bool = True) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1, default=str)
    atomic_write(path, sealed(MASKER.document(text.encode("utf-8", "backslashreplace") + b"\n")), durable=durable)


def read_json(path: Path) -> dict[str, Any] | None:
    try:
        data = plain_json(unsealed(read_plain(path, MAX_RECORD_BYTES)).decode("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise scarcity(error) or UserError(f"{path} cannot be read: {one_line(error)}") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} is broken: expected an object")
    if isinstance(data.get("format"), int) and data["format"] > FORMAT:
        raise UserError(f"{path} has format {data['format']}; this version of habilis reads up to {FORMAT}")
    return data


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
