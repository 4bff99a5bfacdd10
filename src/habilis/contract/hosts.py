"""Names of hosts, each in one spelling alone, and what a grant of them lets through: `example.org` the ports of HTTP
and HTTPS, `example.org:8443` that one, `*.example.org` names below it and not itself, `*` any public host.

A name is compared only after it was read here. What a resolver or a client might read in another way than we do (a
short or hexadecimal form of an address, a percent sign, user information) is refused, not interpreted.
Sources: RFC 3986 §3.2 (authority), RFC 1123 §2.1 (labels), RFC 5890 (IDNA).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

DEFAULT_PORTS = (80, 443)
LOCALHOST = "localhost"
ANY = "*"
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[^\[\]:]{1,255})(?::([1-9][0-9]{0,4}))?")
_BRACKETED = re.compile(r"\[([0-9a-fA-F:.]{2,45})\]")
_LONGEST_NAME = 253
_SHOWN_GRANTS = 8

Address = IPv4Address | IPv6Address


class BadHost(ValueError):
    """A text that names no host in the one way that is read here. Its text says why."""


@dataclass(frozen=True)
class Place:
    """A host, by name or literal address in its one spelling, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{bracketed(self.host)}:{self.port}"

    def as_grant(self) -> str:
        """The shortest grant that lets this place through."""
        return bracketed(self.host) if self.port in DEFAULT_PORTS else str(self)


def bracketed(host: str) -> str:
    """`host` as it stands in an address line: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def host_of(text: str) -> str:
    """The one spelling of a host: lower case, no final dot, addresses as `ipaddress` writes them.

    Raises `BadHost` for what is neither a name of plain labels nor a whole literal address.
    """
    if not text.isascii():  # some capitals of other scripts are small letters of ours
        raise BadHost(f"{text!a:.80} is not a host name")
    if within := _BRACKETED.fullmatch(text):
        return str(_literal(IPv6Address, within[1], text))
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadHost(f"{text!a:.80} is not a host name")
    if _NUMBER.fullmatch(labels[-1]):  # what ends in a number is an address to some reader, so only a whole one will do
        return str(_literal(IPv4Address, name, text))
    return name


def _literal(kind: type[IPv4Address] | type[IPv6Address], text: str, whole: str) -> Address:
    try:
        return kind(text)
    except ValueError:
        raise BadHost(f"{whole!a:.80} is not a whole address") from None


def address_in(host: str) -> Address | None:
    """The address that `host`, in its one spelling, spells out; None for a name."""
    for kind in (IPv4Address, IPv6Address):
        try:
            return kind(host)
        except ValueError:
            continue
    return None


def place_of(authority: str, default_port: int | None = None) -> Place:
    """`host:port` as a place. Without a port `default_port` counts; None means that it must be there.

    Raises `BadHost`, also for user information before the host.
    """
    if "@" in authority:
        raise BadHost("user information before a host is not taken")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise BadHost(f"{authority!a:.80} is not a host and port")
    port = int(found[2]) if found[2] else default_port
    if port is None or port > 65535:
        raise BadHost(f"{authority!a:.80} has no usable port")
    return Place(host_of(found[1]), port)


@dataclass(frozen=True)
class HostGrant:
    """One entry of a grant. `name` is a host or `*`; `below` means its subdomains alone; no port means 80 and 443."""

    name: str
    below: bool = False
    port: int | None = None

    @classmethod
    def read(cls, text: str) -> HostGrant:
        """`name`, `*.name`, `*`, each with `:port` or without. Names in any script. Raises `BadHost`."""
        below = text.startswith("*.")
        rest = text[2:] if below else text
        if rest == ANY or rest.startswith(ANY + ":"):
            if below:
                raise BadHost(f"{text!a:.80} is not a host name")
            return cls(ANY, port=place_of(rest.replace(ANY, "any", 1), 0).port or None)
        found = place_of(_ascii(rest), 0)
        if below and address_in(found.host) is not None:
            raise BadHost(f"{text!a:.80}: an address has no subdomains")
        return cls(found.host, below, found.port or None)

    @classmethod
    def meant(cls, text: str) -> HostGrant:
        """`text` as people write it: an address such as `https://example.org/a` means its host. Raises `ValueError`."""
        given = text.strip()
        if "://" in given:
            given = _authority(given)
        try:
            return cls.read(given)
        except BadHost:
            raise ValueError(f"{text!r} is not a host name such as 'api.example.org' or '*.example.org'") from None

    def includes(self, other: HostGrant) -> bool:
        """Whether this entry lets through all that `other` does."""
        ports = (other.port,) if other.port else DEFAULT_PORTS
        if not all(port in ((self.port,) if self.port else DEFAULT_PORTS) for port in ports):
            return False
        if self.name == ANY or (self.name, self.below) == (other.name, other.below):
            return True
        return self.below and other.name != ANY and other.name.endswith(f".{self.name}")

    def __str__(self) -> str:
        name = f"*.{self.name}" if self.below else bracketed(self.name)
        return name if self.port is None else f"{name}:{self.port}"

    def covers(self, place: Place) -> bool:
        """Whether `place` is what this entry lets through, as far as names and ports go."""
        if place.port not in (DEFAULT_PORTS if self.port is None else (self.port,)):
            return False
        if self.name == ANY:  # a name without a dot is one of the local network
            return "." in place.host or ":" in place.host
        return place.host.endswith(f".{self.name}") if self.below else place.host == self.name

    def names_exactly(self, place: Place) -> bool:
        """Whether the entry spells out this very address (or `localhost`) and port, so that it may be a private one."""
        literal = place.host == LOCALHOST or address_in(place.host) is not None
        return literal and not self.below and self.name == place.host and self.port == place.port


def _authority(address: str) -> str:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"{address!r} is not an address") from None
    if not host:
        raise ValueError(f"{address!r} names no host")
    return bracketed(host) if port is None else f"{bracketed(host)}:{port}"


def _ascii(text: str) -> str:
    """`text` with its labels in the form that name servers know (`xn--…`)."""
    if text.isascii():
        return text
    import idna

    name, colon, port = text.partition(":")
    try:
        return idna.encode(name, uts46=True).decode("ascii") + colon + port
    except idna.IDNAError:
        raise BadHost(f"{text!a:.80} is not a host name") from None


@dataclass(frozen=True)
class HostGrants:
    """All entries of one call."""

    entries: tuple[HostGrant, ...]

    @classmethod
    def read(cls, hosts: Sequence[str]) -> HostGrants:
        """Entries as they stand in a grant. Raises `BadHost`."""
        return cls(tuple(HostGrant.read(text) for text in hosts))

    def common(self, wanted: str) -> tuple[str, ...]:
        """What both the entry `wanted` and these let through, as entries: itself, or those of these that it means."""
        if not self.entries:
            return ()
        other = HostGrant.read(wanted)
        if any(entry.includes(other) for entry in self.entries):
            return (wanted,)
        return tuple(str(entry) for entry in self.entries if other.includes(entry))

    def refusal(self, place: Place) -> str | None:
        """Why `place` is not let through; None when it is."""
        if any(entry.covers(place) for entry in self.entries):
            return None
        names = any(
            entry.covers(Place(place.host, port))
            for entry in self.entries
            for port in (*DEFAULT_PORTS, entry.port or 80)
        )
        return f"port {place.port} of {place.host} is not granted" if names else f"{place.host} is not granted"

    def exact(self, place: Place) -> bool:
        """Whether one entry spells out this address and port."""
        return any(entry.names_exactly(place) for entry in self.entries)

    def by_name(self, place: Place) -> bool:
        """Whether an entry other than `*` covers `place`."""
        return any(entry.name != ANY and entry.covers(place) for entry in self.entries)

    def __str__(self) -> str:
        shown = ", ".join(str(entry) for entry in self.entries[:_SHOWN_GRANTS])
        return f"{shown}, …" if len(self.entries) > _SHOWN_GRANTS else shown or "nothing"
