"""HTTP over connections that are made to checked addresses alone: httpcore's requests on our own way out.

Imported where a request is made: httpcore is no part of the core.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore

from habilis.contract.hosts import HostGrants, Place, bracketed, host_of
from habilis.runtime.egress.addresses import AddressRefused, Streams
from habilis.runtime.egress.heads import Declined, HttpRequest
from habilis.runtime.egress.wayout import WayOut


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections for one request: the name is looked up, its addresses are checked, and one of these is used."""

    def __init__(self, way_out: WayOut, grants: HostGrants) -> None:
        self._way_out, self._grants = way_out, grants

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        request = HttpRequest("CONNECT", Place(host_of(bracketed(host)), port), b"", ())
        streams, _ = await self._way_out.open(request, self._grants)
        return _Stream(streams)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    """Bytes of one connection. Time limits are the caller's, over all of a request."""

    def __init__(self, streams: Streams) -> None:
        self._reader, self._writer = streams

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        try:
            return await self._reader.read(max_bytes)
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        try:
            self._writer.write(buffer)
            await self._writer.drain()
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    async def aclose(self) -> None:
        self._writer.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        try:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        return self

    def get_extra_info(self, info: str) -> Any:
        names = {"ssl_object": "ssl_object", "client_addr": "sockname", "server_addr": "peername", "socket": "socket"}
        return self._writer.get_extra_info(names.get(info, info))


def pool(way_out: WayOut, grants: HostGrants) -> httpcore.AsyncConnectionPool:
    """Connections for one request."""
    return httpcore.AsyncConnectionPool(
        ssl_context=_trusted(), network_backend=CheckedBackend(way_out, grants), http1=True, http2=False, retries=0
    )


def _trusted() -> ssl.SSLContext:
    """The authorities that this machine trusts, and those of certifi."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


NoConnection = (OSError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, Declined)
"""What a request ends with that got no answer."""
__all__ = ["AddressRefused", "CheckedBackend", "NoConnection", "pool"]
