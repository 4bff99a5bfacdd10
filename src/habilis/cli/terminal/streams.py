"""Standard output and error without secrets: whatever is printed, logged or raised passes here."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


class MaskedStream:
    """A text stream through the masker. All else is the stream's own; its buffer is nobody's business."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write `text`; returns how many characters were taken, which is all."""
        # Until settings are read there is no secret to know, and `--help` must not wait for the masker's imports.
        masker = sys.modules.get("habilis.core.masker")
        self._stream.write(masker.MASKER.text(text) if masker is not None else text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write each of `lines`."""
        for line in lines:
            self.write(line)

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
    ours = tuple(MaskedStream(stream) if stream is not None else None for stream in before)
    sys.stdout, sys.stderr = ours
    try:
        yield
    finally:
        if (sys.stdout, sys.stderr) == ours:
            sys.stdout, sys.stderr = before
