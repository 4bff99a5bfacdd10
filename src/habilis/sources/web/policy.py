"""Which hosts the web tools may reach: by settings, or by a person who is asked once for each host of a task."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from habilis.contract import hosts
from habilis.contract.capabilities import Capabilities
from habilis.contract.hosts import ANY, BadHost, HostGrant, Place, address_in
from habilis.core.types import CallError, ErrorKind
from habilis.runtime.egress.addresses import kind_here
from habilis.runtime.grants import Grants

VERSION = "1"
"""Of the web tools: an answer about a host counts for one version."""
_PORTS = {"http": 80, "https": 443}
_MOST_URL = 4_000
_KEPT = "%/:@!$&'()*+,;=~-._"


class Failed(Exception):
    """A page or a search that gives nothing. Carries what the model is told."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.error = CallError(kind=kind, message=message)


@dataclass(frozen=True)
class Address:
    """An address of the web, taken apart and written in one way."""

    scheme: str
    place: Place
    target: str
    """Path and query, in ASCII."""

    def __str__(self) -> str:
        port = self.place.port
        host = hosts.bracketed(self.place.host) if port == _PORTS[self.scheme] else str(self.place)
        return f"{self.scheme}://{host}{self.target}"


def address_of(url: str) -> Address:
    """`url` read strictly. Raises `Failed` for what is no address of a page, or carries a password."""
    text = url.strip()
    try:
        parts = urlsplit(text)
        if len(text) > _MOST_URL or not text.isprintable():
            raise BadHost(f"{text[:80]!r} is too long, or no text")
        if parts.scheme.lower() not in _PORTS:
            raise BadHost(f"{text[:80]!r} does not begin with http:// or https://")
        if "@" in parts.netloc:
            raise BadHost("user information before a host is not taken")
        entry = HostGrant.read(parts.netloc)
        if entry.below or entry.name == ANY:
            raise BadHost(f"{parts.netloc[:80]!r} is not a host")
    except ValueError as error:
        raise Failed("invalid_arguments", f"{error}; give the whole address of a page") from None
    scheme = parts.scheme.lower()
    path, query = quote(parts.path, safe=_KEPT) or "/", quote(parts.query, safe=_KEPT + "?[]")
    return Address(scheme, Place(entry.name, entry.port or _PORTS[scheme]), urlunsplit(("", "", path, query, "")))


class Policy:
    """What one tool of the web may reach. `own`: its one address stands in the settings, a private one too then."""

    def __init__(self, tool: str, description: str, grants: Grants, *, own: bool = False) -> None:
        self._tool, self._description, self._grants, self._own = tool, description, grants, own

    def hopeless(self, place: Place | None = None) -> tuple[str, ...]:
        """Why `place`, or any host at all, cannot be had here, whatever anybody answers."""
        settings = self._grants.settings
        if place is None and settings.network_list and settings.network != "deny":
            return ()
        return self._grants.refusals(self._tool, VERSION, self._needs(place))

    async def granted(self, place: Place) -> hosts.HostGrants:
        """What lets `place` through. May ask a person; raises `Failed` when it is not granted, and `Interrupted`."""
        settings = self._grants.settings
        if not self._own and _is_inward(place) and not self._grants.listed.exact(place):
            text = f"{place.host} is no public address, or one of this machine's own; only"
            text += " one that capabilities.network_list spells out, with its port, is reached"
            raise Failed("denied", f"{text}. Use another source.")
        if settings.network == "any":
            given = [ANY, *([str(place)] if self._own else [])]
        else:
            needs = self._needs(place)
            grant = await self._grants.decide(self._tool, VERSION, needs, description=self._description)
            if not grant.network:
                text = f"not reached: {'; '.join(grant.denied)}"
                raise Failed("denied", f"{text}. Use a source that is granted, or say so.")
            given = list(grant.network)
        found = hosts.HostGrants((*hosts.HostGrants.read(given).entries, *self._grants.listed.entries))
        if refusal := found.refusal(place):
            raise Failed("denied", f"not reached: {refusal}. Use another source.")
        return found

    def _needs(self, place: Place | None) -> Capabilities:
        """What is asked for; an inward address with its port, since only that lets it through."""
        if place is None:
            return Capabilities(network=(ANY,))
        return Capabilities(network=(str(place) if self._own and _is_inward(place) else place.as_grant(),))


def _is_inward(place: Place) -> bool:
    """Whether the host is spelled out as an address of this machine or its network."""
    literal = address_in(place.host)
    return place.host == hosts.LOCALHOST or (literal is not None and kind_here(literal) is not None)
