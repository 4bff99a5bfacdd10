"""A record bears the checksum of what it says, so that one bit that a disk turned is seen and not believed.

The seal is the last field of a JSON object, `"crc32":"…"`: CRC-32 (ISO 3309, as zlib has it) of all bytes before it, in
hexadecimal. It is no proof of who wrote the record (see `rundir.marks`). A record without one, of an older version or
written by hand, is read as it is.
"""

from __future__ import annotations

import re
import zlib

_HEAD, _TAIL = b',"crc32":"', b'"}'
_REWRITTEN = re.compile(rb',\s+"crc32":\s+"[0-9a-f]{8}"\s*\}\s*\Z')
"""A seal as another program writes it: whoever wrote the record anew answers for what it says."""
_LENGTH = len(_HEAD) + 8 + len(_TAIL)


def sealed(record: bytes) -> bytes:
    """A JSON object as text, with its seal and a line feed. To be made of what is written, secrets masked already."""
    body = record.rstrip().removesuffix(b"}")
    if not body.rstrip().removeprefix(b"{"):
        return record
    return body + _HEAD + b"%08x" % zlib.crc32(body) + _TAIL + b"\n"


def unsealed(record: bytes) -> bytes:
    """The JSON object without its seal. Raises ValueError where it does not say what was sealed."""
    whole = record.rstrip()
    tail = whole[-_LENGTH:]
    if not (tail.startswith(_HEAD) and tail.endswith(_TAIL)):
        if _almost(tail):
            raise ValueError("it does not fit its checksum")
        return _REWRITTEN.sub(b"}", record) if b'"crc32"' in whole[-60:] else record
    body = whole[:-_LENGTH]
    if b"%08x" % zlib.crc32(body) != tail[len(_HEAD) : -len(_TAIL)]:
        raise ValueError("it does not fit its checksum")
    return body + b"}"


def _almost(tail: bytes) -> bool:
    """Whether this was a seal before one of its own letters changed."""
    frame, found = _HEAD + _TAIL, tail[: len(_HEAD)] + tail[len(_HEAD) + 8 :]
    return len(found) == len(frame) and sum(a != b for a, b in zip(frame, found, strict=True)) == 1
