"""Patterns of hosts as tools declare them and settings list them, in the form that the proxy reads (`network.hosts`).

`example.org` means the ports of HTTP and HTTPS, `example.org:8443` that one, `*.example.org` names below it and not
itself, `*` any public host.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from habilis.contract.hosts import DEFAULT_PORTS, BadHost, HostGrant

ANY = "*"


def host_pattern(text: str) -> str:
    """`text` in its one form; an address such as `https://example.org/a` means its host. Raises `ValueError`."""
    given = text.strip()
    if "://" in given:
        given = _authority(given)
    try:
        return str(HostGrant.read(given))
    except BadHost:
        raise ValueError(f"{text!r} is no host name such as 'api.example.org' or '*.example.org'") from None


def covers(allowed: str, wanted: str) -> bool:
    """Whether every host that `wanted` means is one that `allowed` means; both in their one form."""
    here, there = HostGrant.read(allowed), HostGrant.read(wanted)
    ports = (there.port,) if there.port else DEFAULT_PORTS
    if not all(port in ((here.port,) if here.port else DEFAULT_PORTS) for port in ports):
        return False
    if here.name == ANY or (here.name, here.below) == (there.name, there.below):
        return True
    return here.below and there.name != ANY and there.name.endswith(f".{here.name}")


def common(wanted: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """The hosts that both lists mean, as patterns, each once."""
    allowed = tuple(allowed)
    found: list[str] = []
    for one in wanted:
        if any(covers(other, one) for other in allowed):
            found.append(one)
        else:
            found += [other for other in allowed if covers(one, other)]
    return tuple(dict.fromkeys(found))


def _authority(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"{address!r} is no address") from None
    if not host:
        raise ValueError(f"{address!r} names no host")
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"
