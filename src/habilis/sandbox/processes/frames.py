"""What a guest replied, line by line, read into no more memory than it may take: a few bytes can become a hundred.

Eight megabytes of `[[],[],…` are three hundred as objects of Python. So what a line would come to is counted first, and
of one that is too heavy the result stays text, which whoever reads it can cut, search and keep like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

MAX_OBJECTS = 40 << 20
"""Bytes that the objects of one reply may come to."""
LIGHT = 1 << 17
"""Bytes of a line that cannot become too many, whatever it holds."""
_CHUNK = 1 << 16
_WEIGHTS = ((b"{", 200), (b"[", 72), (b",", 32))
"""Bytes that a container or an item takes at most in CPython 3.11 on 64 bits, its place in another included."""
_QUOTE = 28
"""Half of what a short text takes."""
_HEAD, _TAIL = b'{"step": "call", "result": ', b', "opened": ['


def frames_of(reply: bytes) -> tuple[bool, dict[str, dict[str, Any]]]:
    """Whether the guest ever started, and the first frame of each step; what is not whole and sound is left out."""
    started = False
    frames: dict[str, dict[str, Any]] = {}
    for line in _lines(reply):
        try:
            frame = from_json(line, allow_inf_nan=False) if weight_of(line) <= MAX_OBJECTS else _with_text(line)
        except ValueError:
            continue
        if not isinstance(frame, dict) or not isinstance(frame.get("step"), str):
            continue
        started = True
        if "result" in frame or "error" in frame:
            frames.setdefault(frame["step"], frame)
    return started, frames


def weight_of(line: bytes) -> int:
    """About how many bytes the objects of a line of JSON take at most; 0 for a short line."""
    if len(line) <= LIGHT:
        return 0
    total, within, held = len(line), 0, b""
    for start in range(0, len(line), _CHUNK):
        chunk = held + line[start : start + _CHUNK]
        odd = (len(chunk) - len(chunk.rstrip(b"\\"))) % 2  # an escape that goes on in the next chunk
        chunk, held = (chunk[:-1], b"\\") if odd else (chunk, b"")
        parts = chunk.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[within::2])
        total += sum(weight * outside.count(mark) for mark, weight in _WEIGHTS) + _QUOTE * (len(parts) - 1)
        within = (within + len(parts) - 1) % 2
    return total


def _lines(reply: bytes) -> Iterator[bytes]:
    """The whole lines, one at a time."""
    start = 0
    while (end := reply.find(b"\n", start)) >= 0:
        yield reply[start:end]
        start = end + 1


def _with_text(line: bytes) -> Any:
    """The frame of a call with its result as the text that came. Raises `ValueError` for any other."""
    end = line.rfind(_TAIL)  # within JSON text no quote stands alone, so the last one is the frame's own
    rest = b"{" + line[end + 2 :]
    if end < 0 or not line.startswith(_HEAD) or weight_of(rest) > MAX_OBJECTS:
        raise ValueError("no frame of a call")
    named = from_json(rest)
    result = line[len(_HEAD) : end].decode("utf-8", "replace")
    return {"step": "call", "result": result, "opened": named.get("opened"), "written": named.get("written")}
