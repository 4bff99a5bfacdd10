"""Which addresses a document's operations may lead to: outwards anywhere, inwards only where settings name the place.

A document that came over the network may name any server: this machine, its network, or a cloud's metadata service. A
name counts as the addresses that this machine's resolver gives for it just before the request is sent.
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address

from habilis.contract.hosts import Address, address_in
from habilis.runtime.egress.addresses import kind_of
from habilis.sources.foreign.auth import origin

Origin = tuple[str, str, int | None]
_NEVER = ("a link-local", "an unspecified", "a multicast")
"""Where no service is: the metadata services of clouds among them."""


def spelled_out(*addresses: str | None) -> frozenset[Origin]:
    """The origins of addresses that settings name."""
    return frozenset(origin(one) for one in addresses if one and one.startswith(("http://", "https://")))


async def refusal(url: str, known: frozenset[Origin], *, fetched: bool) -> str:
    """Why a request to `url` is not sent, empty when it is. `known`: origins that settings name; `fetched`: the
    document came from an address, and so is somebody else's word. Raises OSError for a name that leads nowhere."""
    place = origin(url)
    if place in known:
        return ""
    for address in await _addresses(place[1], place[2]):
        kind = kind_of(address)
        if kind is not None and (fetched or kind in _NEVER):
            return (
                f"its document leads to {place[1]}, which is {kind} address and not in the settings; "
                "if that is meant, name it as base_url"
            )
    return ""


async def _addresses(host: str, port: int | None) -> list[Address]:
    literal = address_in(host)
    if literal is not None:
        return [literal]
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
