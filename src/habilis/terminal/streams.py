"""Standard output and error without secrets, and without a say in what becomes of a command: whatever is printed,
logged or raised passes here."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any


class MaskedStream:
    """A text stream through the masker. All else is the stream's own; its buffer is nobody's business.

    Who listens does not decide what is done: where nothing can be written any more, the first reason is kept in
    `lost`, and what follows is dropped. `kept_in` is where that stands as well, for people. What was written to
    `before` goes out ahead of what is written here, so that both are read in one order where they meet.
    """

    def __init__(self, stream: Any, before: MaskedStream | None = None) -> None:
        self._stream, self._before = stream, before
        self.lost: OSError | None = None
        self.kept_in = ""

    def write(self, text: str) -> int:
        """Write `text`; returns how many characters were taken, which is all."""
        # Until settings are read there is no secret to know, and `--help` must not wait for the masker's imports.
        if self._before is not None:
            self._before.flush()
        masker = sys.modules.get("habilis.core.masker")
        self._try(lambda: self._stream.write(masker.MASKER.text(text) if masker is not None else text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write each of `lines`."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Hand on what is held back."""
        self._try(self._stream.flush)

    def _try(self, work: Callable[[], object]) -> None:
        if self.lost is not None:
            return
        try:
            work()
        except OSError as error:
            self.lost = error
            with contextlib.suppress(OSError, ValueError):  # else what it still holds fails once more when we end
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError("bytes would pass the masker by")
        return getattr(self._stream, name)


@contextlib.contextmanager
def masked_streams() -> Iterator[None]:
    """Mask what is written to standard output and error while the block runs."""
    before = sys.stdout, sys.stderr
    _occupy(0, os.O_RDONLY)
    out = MaskedStream(sys.stdout if sys.stdout is not None else _opened(1, os.O_RDONLY))  # so that a write fails
    ours = out, MaskedStream(sys.stderr if sys.stderr is not None else _opened(2, os.O_WRONLY), before=out)
    sys.stdout, sys.stderr = ours
    try:
        yield
    finally:
        if (sys.stdout, sys.stderr) == ours:
            sys.stdout, sys.stderr = before


def note_kept(where: object) -> None:
    """Remember where what is printed now on standard output stands as well."""
    if isinstance(sys.stdout, MaskedStream):
        sys.stdout.kept_in = str(where)


def output_lost() -> str | None:
    """In one line what could not be written to standard output; None where all was, or its reader had left."""
    out = sys.stdout
    if not isinstance(out, MaskedStream):
        return None
    out.flush()
    if out.lost is None or isinstance(out.lost, BrokenPipeError):
        return None
    kept = f"; it stands in {out.kept_in}" if out.kept_in else "; what was done stays"
    why = "it is closed" if out.lost.errno == errno.EBADF else out.lost.strerror
    return f"nothing could be written to standard output ({why}){kept}"


def _opened(number: int, flags: int) -> Any:
    """A stream in the place of one that was closed when we were started."""
    _occupy(number, flags)
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace")


def _occupy(number: int, flags: int) -> None:
    """Have something at `number`, so that no file of ours gets it and what others print."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, flags)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
