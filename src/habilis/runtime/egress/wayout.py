"""The way from this machine to a granted host: directly, or through the proxy that the machine's user has set."""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import dataclass

from habilis.contract.hosts import BadHost, HostGrants, Place, place_of
from habilis.runtime.egress.addresses import (
    AddressRefused,
    Dial,
    Kind,
    Resolve,
    Streams,
    addresses_of,
    allowed_addresses,
    checked_again,
    kind_here,
    reach,
)
from habilis.runtime.egress.heads import Declined, Fields, HttpRequest, read_response

_URL = re.compile(r"http://(?:([^@/]*)@)?([^@/]+)/?")


@dataclass(frozen=True)
class Upstream:
    """The user's own proxy. `fields` carry its credentials, which go to it alone."""

    place: Place
    fields: Fields = ()

    @classmethod
    def read(cls, url: str) -> Upstream:
        """`http://[user:password@]host:port`. Raises `BadHost`, whose text never holds the password."""
        found = _URL.fullmatch(url)
        if found is None:
            raise BadHost("the proxy must be given as http://host:port")
        if not found[1]:
            return cls(place_of(found[2], 3128))
        from urllib.parse import unquote_to_bytes

        credentials = base64.b64encode(unquote_to_bytes(found[1]))
        return cls(place_of(found[2], 3128), ((b"Proxy-Authorization", b"Basic " + credentials),))


@dataclass(frozen=True)
class WayOut:
    """How connections are made: `resolve`, `dial` and `kind_of` are the machine's own, or doubles of them."""

    resolve: Resolve
    dial: Dial
    upstream: Upstream | None = None
    kind_of: Kind = kind_here

    async def open(self, request: HttpRequest, grants: HostGrants) -> tuple[Streams, bytes]:
        """A connection on which `request` can be made, and its head as it is sent there: empty for a tunnel.

        Raises `AddressRefused`, `Declined`, or OSError when nobody answers.
        """
        upstream = self.upstream
        if upstream is None or grants.exact(request.place):
            addresses = await allowed_addresses(request.place, grants, self.resolve, self.kind_of)
            dial = self.dial if grants.exact(request.place) else checked_again(self.dial, self.kind_of)
            streams = await reach(addresses, request.place.port, dial)
            return streams, b"" if request.tunnel else request.head()
        await self._may_pass(request.place, grants)
        streams = await reach(await addresses_of(upstream.place, self.resolve), upstream.place.port, self.dial)
        if not request.tunnel:
            return streams, request.head(whole_target=True, extra=upstream.fields)
        try:
            await _ask_for_tunnel(streams, request.place, upstream.fields)
        except BaseException:
            streams[1].transport.abort()
            raise
        return streams, b""

    async def _may_pass(self, place: Place, grants: HostGrants) -> None:
        """The further proxy resolves names anew, so this look at the address is all that can be done here."""
        try:
            await allowed_addresses(place, grants, self.resolve, self.kind_of)
        except OSError:
            if not grants.by_name(place):
                raise AddressRefused(
                    f"{place.host} has no address here, so that nobody knows whether it is public"
                ) from None


async def _ask_for_tunnel(streams: Streams, place: Place, fields: Fields) -> None:
    reader, writer = streams
    lines = [f"CONNECT {place} HTTP/1.1".encode(), f"Host: {place}".encode()]
    writer.write(b"\r\n".join([*lines, *(name + b": " + value for name, value in fields)]) + b"\r\n\r\n")
    await writer.drain()
    try:
        status, _ = read_response(await reader.readuntil(b"\r\n\r\n"))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise Declined(502, "the proxy of this machine gave no answer") from None
    if not 200 <= status < 300:
        raise Declined(502, f"the proxy of this machine answered {status}")
