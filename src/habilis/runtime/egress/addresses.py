"""From a name to a connection: which addresses may be reached, and a connection to the very address that was looked at.

A name may lead anywhere, also inwards: to this machine, its network, or a cloud's metadata service. So every address
is checked after the name was resolved, and the connection is made to the checked address, not to the name again. What
it is checked for is its kind (`kind_of`), and whether it is one of this machine's own (`routes.py`).
Sources: the IANA special-purpose address registries (RFC 6890), RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4380 (Teredo).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from habilis.contract.hosts import LOCALHOST, Address, HostGrants, Place, address_in
from habilis.runtime.egress.routes import own_kind

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
Dial = Callable[[Address, int], Awaitable[Streams]]
Kind = Callable[[Address], str | None]
"""What kind of address, with its article, makes it none to be reached; None for one of another machine, in public."""

_GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOOPBACK = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
_KINDS: tuple[tuple[str, tuple[IPv4Network | IPv6Network, ...]], ...] = tuple(
    (kind, tuple(ip_network(text) for text in texts))
    for kind, texts in (
        ("an unspecified", ("0.0.0.0/8", "::/128")),
        ("a loopback", ("127.0.0.0/8", "::1/128")),
        ("a link-local", ("169.254.0.0/16", "fe80::/10")),
        ("a private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10")),
        ("a multicast", ("224.0.0.0/4", "ff00::/8")),
        (
            "a cloud's metadata",
            ("168.63.129.16/32",),
        ),  # Azure's; those of other clouds are of the kinds above and below
        (
            "a reserved",
            (
                *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24"),
                *("203.0.113.0/24", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
            ),
        ),
    )
)
_NEVER = ("an unspecified", "a multicast", "a broadcast")
METADATA_NAMES = frozenset(
    {
        *("metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"),
        *("metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.packet.net"),
        "api.metadata.cloud.ibm.com",
    }
)
"""Names of clouds' metadata services. A further proxy resolves them elsewhere, so the names are refused as well."""


class AddressRefused(Exception):
    """A place that is granted by name and yet not reached. Its text says why."""


def kind_of(address: Address) -> str | None:
    """What kind of address, with its article, makes it none of the public network's; None for a public one.

    An IPv4 address wrapped into an IPv6 one counts as what it leads to.
    """
    inner = _wrapped_in(address)
    if inner is not None:
        return kind_of(inner)
    for kind, networks in _KINDS:
        if any(address.version == network.version and address in network for network in networks):
            return kind
    return "a reserved" if isinstance(address, IPv6Address) and address not in _GLOBAL_V6 else None


def kind_here(address: Address) -> str | None:
    """The same on this machine, now: also for each address that is its own."""
    inner = _wrapped_in(address)
    return kind_of(address) or own_kind(address) or (own_kind(inner) if inner is not None else None)


def _wrapped_in(address: Address) -> IPv4Address | None:
    """The IPv4 address to which a connection to this IPv6 address goes."""
    if isinstance(address, IPv4Address):
        return None
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address.ipv4_mapped


class Resolver:
    """This machine's resolver, asked in threads of its own: a tool can ask for names whose server never answers, and
    the threads that the rest of the house shares must not wait for it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="habilis-names")

    async def __call__(self, host: str, port: int) -> list[Address]:
        """The addresses of `host`. Raises OSError."""
        ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return list(dict.fromkeys(ip_address(entry[4][0]) for entry in found if "%" not in str(entry[4][0])))

    def close(self) -> None:
        """Forget what was not asked yet; what was asked ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def connect(address: Address, port: int) -> Streams:
    """A connection to exactly this address. Raises OSError."""
    streams = await asyncio.open_connection(str(address), port)
    peer = streams[1].get_extra_info("peername")
    if peer is None or ip_address(peer[0]) != address:
        streams[1].transport.abort()
        raise OSError(f"a connection to {address} led elsewhere")
    return streams


async def addresses_of(place: Place, resolve: Resolve) -> Sequence[Address]:
    """Where `place` leads: itself when it is an address, else what its name is known by. Raises OSError."""
    literal = address_in(place.host)
    if literal is not None:
        return [literal]
    found = _LOOPBACK if place.host == LOCALHOST else await resolve(place.host, place.port)
    if not found:
        raise OSError(f"{place.host} has no address")
    return found


async def allowed_addresses(
    place: Place, grants: HostGrants, resolve: Resolve, look: Kind = kind_here
) -> list[Address]:
    """Addresses of `place` that may be connected to. Raises `AddressRefused` when there is none, OSError when the
    name is not known."""
    if place.host in METADATA_NAMES:
        raise AddressRefused(
            f"{place.host} is the name of a cloud's metadata service; only a grant of an address reaches one"
        )
    exact = grants.exact(place)
    kinds = {address: look(address) for address in await addresses_of(place, resolve)}
    allowed = [a for a, kind in kinds.items() if kind is None or (exact and kind not in _NEVER)]
    if allowed:
        return allowed
    raise _refusal(place, str(next(iter(kinds.values()))))


def _refusal(place: Place, kind: str) -> AddressRefused:
    """Why an address of this kind is not reached, and what would have to be granted."""
    if address_in(place.host) is None and place.host != LOCALHOST:
        hint = "" if kind in _NEVER else ", which only a grant of the address itself, with its port, lets through"
        return AddressRefused(f"{place.host} leads to {kind} address{hint}")
    hint = "" if kind in _NEVER else f", which only a grant that says {place} lets through"
    return AddressRefused(f"{place.host} is {kind} address{hint}")


def checked_again(dial: Dial, look: Kind) -> Dial:
    """`dial`, and a second look at the address when the connection stands: an interface may have got it meanwhile."""

    async def dialled(address: Address, port: int) -> Streams:
        streams = await dial(address, port)
        if kind := look(address):
            streams[1].transport.abort()
            raise AddressRefused(f"{address} has become {kind} address")
        return streams

    return dialled


async def reach(addresses: Sequence[Address], port: int, dial: Dial) -> Streams:
    """A connection to the first of `addresses` that answers. Raises OSError when none does."""
    for address in addresses[:-1]:
        try:
            return await dial(address, port)
        except OSError:
            continue
    return await dial(addresses[-1], port)
