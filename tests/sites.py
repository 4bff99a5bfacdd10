"""A web server of this machine, for tools that reach for the network."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable


class Site:
    """Answers each request with the body that `says` makes of its head, and knows how often it was asked and what it
    heard."""

    def __init__(self, says: Callable[[Site, bytes], bytes]) -> None:
        self._says = says
        self.connections = 0
        self.heard = bytearray()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heard += head
            body = self._says(self, head)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def serving(says: Callable[[Site, bytes], bytes], known: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """A site while it serves; over https with the certificate in `known`."""
    site = Site(says)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=known)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await server.wait_closed()
