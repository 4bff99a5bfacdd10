"""What a model's server may send: so many bytes and no more, packed ones counted as they are unpacked.

How long it may take is bounded by whoever asks: `attempts.py` for a reply, `providers.py` for a list of models.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Any

from habilis.models.failures import BadReply, PageSent, ReplyTooLarge, page_told

MAX_REPLY_BYTES = 8 << 20
"""Bytes of a reply that comes whole. One of 100,000 tokens has about half a million."""
MAX_PARTS = 500_000
"""What JSON is made of, in one reply: a part may take thirty times the memory that it took on the line."""
_PARTS = (b"{", b"[", b'"', b",")
MAX_STREAM_BYTES = 64 << 20
"""Bytes of a streamed reply: the frame round each token may be a hundred times as long as the token, and none stays."""
MAX_EVENT_BYTES = 1 << 20
"""Bytes of one event of a stream, which is held until its blank line."""
_PIECE = 1 << 16


async def bound_reply(response: Any) -> None:
    """A hook of an HTTP client: have `response` fail, while it is read, once it is longer than a reply may be.

    A client that unpacks by itself holds all that a reply unpacks to, a thousand times as much: here it is unpacked. A
    web page is no reply, and fails at once.
    """
    packing = response.headers.pop("content-encoding", "").strip().lower()
    kind = response.headers.get("content-type", "")
    count = _Events() if kind.startswith("text/event-stream") else _Whole()
    bounded = _bounded(type(response).__module__.partition(".")[0])
    response.stream = bounded(response.stream, packing, count)
    if response.status_code == 200 and kind.startswith("text/html"):
        page = page_told((await response.aread()).decode("utf-8", "replace"))
        if page:
            raise PageSent(f"the server answered with {page}")


@lru_cache
def _bounded(library: str) -> Any:
    """A stream that counts, of the kind that `library` (httpx, or its successor) takes."""
    base: Any = sys.modules[library].AsyncByteStream

    class Bounded(base):  # type: ignore[misc]
        def __init__(self, stream: Any, packing: str, count: _Whole | _Events) -> None:
            self._stream, self._packing, self._count = stream, packing, count

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in _unpacked(self._stream, self._packing):
                self._count.add(piece)
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Bounded


async def _unpacked(stream: Any, packing: str) -> AsyncIterator[bytes]:
    """The bytes that `stream` holds, in pieces of at most 64 KB where they were packed (RFC 9110 §8.4)."""
    if packing in ("", "identity"):
        async for block in stream:
            yield block
        return
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise BadReply(f"the server's reply is packed as {packing[:40]!r}, which was not asked for")
    unpacking = zlib.decompressobj(47)  # gzip or zlib, whichever its head says
    try:
        async for block in stream:
            while block:
                piece = unpacking.decompress(block, _PIECE)
                block = unpacking.unconsumed_tail
                yield piece
        yield unpacking.flush(_PIECE)
    except zlib.error:
        raise BadReply(f"the server's reply says that it is packed as {packing}, and cannot be unpacked") from None


class _Whole:
    """Counts a reply that is held until it is whole."""

    def __init__(self) -> None:
        self._seen = 0
        self._parts = 0

    def add(self, piece: bytes) -> None:
        self._seen += len(piece)
        self._parts += sum(map(piece.count, _PARTS))
        if self._parts > MAX_PARTS:
            raise ReplyTooLarge(f"the server's reply holds more than {MAX_PARTS:,} parts, and was broken off")
        if self._seen > MAX_REPLY_BYTES:
            raise ReplyTooLarge(f"the server's reply is larger than {MAX_REPLY_BYTES >> 20} MB, and was broken off")


class _Events:
    """Counts a stream, and each of its events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

    def __init__(self) -> None:
        self._seen = 0
        self._event = 0
        self._tail = b""

    def add(self, piece: bytes) -> None:
        self._seen += len(piece)
        text = self._tail + piece
        end = max(text.rfind(b"\n\n"), text.rfind(b"\n\r\n"), text.rfind(b"\r\r"))
        self._event = len(text) - end if end >= 0 else self._event + len(piece)
        self._tail = text[-2:]
        if self._seen > MAX_STREAM_BYTES:
            raise ReplyTooLarge(f"the server streamed more than {MAX_STREAM_BYTES >> 20} MB, and was broken off")
        if self._event > MAX_EVENT_BYTES:
            raise ReplyTooLarge(
                f"the server streamed one event of more than {MAX_EVENT_BYTES >> 20} MB, and was broken off"
            )
