"""The body of an answer, unpacked as it comes and never held beyond a limit.

A packed body may be a thousand times longer unpacked; a client library that unpacks by itself holds all of a block.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

ASKED = "gzip"
"""What to ask for, as the header Accept-Encoding has it."""


class NotUnpacked(Exception):
    """A body that cannot be read. Its text says why."""


class TooLarge(Exception):
    """A body of more bytes than the limit. `begin` are those within it."""

    def __init__(self, begin: bytes) -> None:
        super().__init__("the body is too large")
        self.begin = begin


async def unpacked(stream: AsyncIterable[bytes], packing: str, limit: int) -> bytes:
    """The bytes that `stream` holds, packed as the header Content-Encoding says. Raises `NotUnpacked`, `TooLarge`."""
    packing = packing.strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise NotUnpacked(f"it comes packed as {packing[:40]!r}, which was not asked for")
    unpack = zlib.decompressobj(47) if packing not in ("identity", "") else None
    content = bytearray()
    async for block in stream:
        room = limit + 1 - len(content)
        try:
            content += unpack.decompress(block, room) if unpack else block[:room]
        except zlib.error:
            raise NotUnpacked("it cannot be unpacked") from None
        if len(content) > limit:
            raise TooLarge(bytes(content[:limit]))
    return bytes(content)
