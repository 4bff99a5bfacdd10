"""Whether an address is one of this very machine, asked of the kernel for each connection: interfaces change.

The kernel's own choice of a route is what counts, so that no kind of address is forgotten: second and temporary ones,
whole networks that lead here, those of a network namespace or of rules for routes. Where it cannot be asked (other
systems, some sandboxes), an address is this machine's if a socket can be bound to it.
Source: rtnetlink(7), RFC 3549 §2.3.3.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

Address = IPv4Address | IPv6Address

_OWN = "this machine's own"
_TYPES = {2: _OWN, 3: "a broadcast", 4: _OWN, 5: "a multicast"}
"""Types of routes (rtm_type) that lead to no single other machine: local, broadcast, anycast, multicast."""
_ERROR, _NEW_ROUTE, _GET_ROUTE, _REQUEST, _DESTINATION = 2, 24, 26, 1, 1
_HEADER, _ROUTE, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=8BI"), struct.Struct("=HH")
_TYPE_AT = _HEADER.size + 7
_NOWHERE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EINVAL, errno.ENETDOWN})
"""What the kernel says of an address to which it will not connect either."""


def route_type(address: Address) -> int | None:
    """The type of the route to `address`, 0 for none; None where the kernel does not say."""
    if sys.platform != "linux":
        return None
    attribute = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(address.packed), _DESTINATION) + address.packed
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    question = _ROUTE.pack(family, address.max_prefixlen, 0, 0, 0, 0, 0, 0, 0) + attribute
    head = _HEADER.pack(_HEADER.size + len(question), _GET_ROUTE, _REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as kernel:
            kernel.settimeout(1.0)
            kernel.send(head + question)
            answer = kernel.recv(1 << 14)
        kind = _HEADER.unpack_from(answer)[1]
        if kind == _NEW_ROUTE:
            return answer[_TYPE_AT]
        if kind == _ERROR and -struct.unpack_from("=i", answer, _HEADER.size)[0] in _NOWHERE:
            return 0
    except (OSError, struct.error, IndexError):
        return None
    return None


def own_kind(address: Address, ask: Callable[[Address], int | None] = route_type) -> str | None:
    """What kind of this machine's addresses it is, with its article; None for one that leads to another machine."""
    route = ask(address)
    if route is None:
        return _OWN if _can_be_bound(address) else None
    return _TYPES.get(route)


def _can_be_bound(address: Address) -> bool:
    """Whether a socket of ours can have this address. Where that cannot be tried the address counts as ours."""
    try:
        with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as tried:
            tried.bind((str(address), 0))
    except OSError as error:
        return error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)
    return True
