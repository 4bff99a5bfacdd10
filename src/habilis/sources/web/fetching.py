"""One resource of the web: each redirect is checked like a first request, size and time are bounded as it comes."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from habilis.contract.hosts import HostGrants, Place
from habilis.runtime.egress.addresses import AddressRefused
from habilis.runtime.egress.unpacking import ASKED, NotUnpacked, TooLarge, unpacked
from habilis.runtime.egress.wayout import WayOut
from habilis.sources.web.policy import Address, Failed, address_of

if TYPE_CHECKING:
    import httpcore

    Headers = list[tuple[bytes, bytes]]

MOST_HOPS = 5
AGENT = "Mozilla/5.0 (compatible; habilis)"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_TYPE = 500
Granted = Callable[[Place], Awaitable[HostGrants]]


@dataclass(frozen=True)
class Limits:
    """Of one resource, all hops included. Bytes count unpacked."""

    seconds: float
    content: int


LIMITS = Limits(30.0, 5 << 20)
"""Of a page: what takes longer, or is larger, is no page that somebody reads."""


@dataclass(frozen=True)
class Fetched:
    """What an address gave: where it led to, the type and the characters that the server names, the unpacked bytes."""

    address: Address
    media_type: str
    charset: str | None
    content: bytes


def absent() -> str | None:
    """Why this installation cannot read the web; None when it can."""
    missing = [name for name in ("httpcore", "trafilatura") if importlib.util.find_spec(name) is None]
    return f"needs {' and '.join(missing)}: install habilis[web]" if missing else None


async def fetch(
    address: Address,
    way_out: WayOut,
    granted: Granted,
    limits: Limits,
    *,
    fields: Mapping[str, str] | None = None,
    body: bytes | None = None,
    hops: int = MOST_HOPS,
) -> Fetched:
    """What `address` gives to GET, or to POST with a `body`. Raises `Failed` with what to do next, `Interrupted` when
    a person who is asked for a grant ends the run. The time for a person's answer counts for nothing."""
    spent = 0.0
    seen = {str(address)}
    while True:
        grants = await granted(address.place)
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(limits.seconds - spent):
                found = await _asked(address, way_out, grants, limits, fields or {}, body)
        except TimeoutError:
            text = f"{address.place.host} took longer than {limits.seconds:g} s"
            raise Failed("timeout", f"{text}. Use another source, or try once more later.") from None
        spent += asyncio.get_running_loop().time() - began
        if isinstance(found, Fetched):
            return found
        if str(found) in seen or len(seen) > hops:
            raise Failed("unavailable", f"{address.place.host} redirects without end. Use another source.")
        seen.add(str(found))
        address = found


async def _asked(
    address: Address, way_out: WayOut, grants: HostGrants, limits: Limits, fields: Mapping[str, str], body: bytes | None
) -> Fetched | Address:
    """One request: what it gave, or where it was redirected to."""
    from habilis.sources.web.connection import NoConnection, pool

    heads = {"User-Agent": AGENT, "Accept-Encoding": ASKED, "Accept-Language": "*", **fields}
    connections = pool(way_out, grants)
    try:
        async with connections.stream(
            "GET" if body is None else "POST", str(address), headers=list(heads.items()), content=body
        ) as response:
            return await _answered(address, response, limits)
    except AddressRefused as refused:
        raise Failed("denied", f"not reached: {refused}. Use another source.") from None
    except NoConnection as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        text = f"{address.place.host} gives no answer: {reason}"
        raise Failed("unavailable", f"{text}. Check the address, or use another source.") from None
    finally:
        await connections.aclose()


async def _answered(address: Address, response: httpcore.Response, limits: Limits) -> Fetched | Address:
    headers = response.headers
    status = response.status
    if status in _REDIRECTS and (location := _field(headers, b"location")):
        return address_of(urljoin(str(address), location.decode("utf-8", "replace")))
    if not 200 <= status < 300:
        raise Failed("unavailable", _refusal(address, status, _field(headers, b"retry-after")))
    length = _field(headers, b"content-length") or b""
    if length.isdigit() and int(length) > limits.content:
        raise _too_large(limits)
    packing = (_field(headers, b"content-encoding") or b"identity").decode("latin-1")
    try:
        content = await unpacked(response.aiter_stream(), packing, limits.content)
    except TooLarge:
        raise _too_large(limits) from None
    except NotUnpacked as error:
        raise Failed("unavailable", f"the page was reached, but {error}. Use another source.") from None
    if not content.strip():
        raise Failed("unavailable", f"{address} is empty. Use another source.")
    kind = Message()
    said = (_field(headers, b"content-type") or b"")[:_MOST_TYPE].decode("latin-1")
    kind["content-type"] = " ".join(said.split()) or "application/octet-stream"
    charset = kind.get_content_charset()
    return Fetched(address, kind.get_content_type() if kind["content-type"] else "", charset, content)


def _too_large(limits: Limits) -> Failed:
    text = f"the page is larger than {limits.content / (1 << 20):g} MB"
    return Failed("unavailable", f"{text}. Use another source, or a part of it.")


def _refusal(address: Address, status: int, later: bytes | None) -> str:
    """What a status that is no success means for whoever wanted the page."""
    host = address.place.host
    if status in (401, 402, 403, 451):
        return f"{host} does not show this page to everybody (status {status}). Use another source."
    if status in (404, 410):
        return f"there is no such page at {host} (status {status}). Check the address, or search for it."
    if status == 429:
        wait = later.decode("latin-1")[:40] if later else ""
        hint = f", and says to wait {wait} s" if wait.isdigit() else ""
        return f"{host} has had too many requests (status 429){hint}. Use another source meanwhile."
    if status >= 500:
        return f"{host} has a fault of its own (status {status}). Try once more later, or use another source."
    return f"{host} answered with status {status}. Use another source."


def _field(headers: Headers, name: bytes) -> bytes | None:
    return next((value for key, value in headers if key.lower() == name), None)
