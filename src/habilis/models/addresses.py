"""What can be told of an address, a key's variable and headers without asking anybody: their form."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from habilis.config import RoleSettings
from habilis.core.errors import UserError

_ENDPOINTS = ("/chat/completions", "/completions", "/messages", "/responses", "/embeddings", "/models")
"""Paths of requests, which come behind a base URL."""
_QUOTES = "\"'‘’“”«»„`"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"(?:[!-~](?:[ \t!-~]*[!-~])?)?")
"""Names and values of headers (RFC 9110 §5), as far as every client and server takes them."""


def check_address(settings: RoleSettings, role: str) -> None:
    """Raises `UserError`, which names what is wrong and where it was set, for an address that cannot be one.

    The form is that of RFC 3986; the user in it is left out of what is said.
    """
    variable = settings.api_key_env
    if variable and not _VARIABLE.fullmatch(variable):
        raise UserError(f"{settings.said_in('api_key_env', role)}: give the name of the variable, not the key itself")
    url = (settings.base_url or "").strip()
    if not url:
        return
    wrong = _wrong_with(url)
    if wrong:
        shown = re.sub(r"(?<=//)[^/?#\s]*@", "", url)
        raise UserError(f"{settings.said_in('base_url', role)}: {shown!r} is not the address of an API: {wrong}")


def check_headers(settings: RoleSettings, role: str) -> None:
    """Raises `UserError` for a header that cannot be sent. Its value, which may be a key, is not shown."""
    for name, value in (settings.headers or {}).items():
        where = f"{settings.said_in('headers', role)}: {name!r} "
        if not _HEADER.fullmatch(name):
            raise UserError(f"{where}is no name of a header; write letters, digits and hyphens")
        if not _VALUE.fullmatch(value):
            raise UserError(f"{where}has a value that cannot be sent; write ASCII on one line, no space at either end")


def _wrong_with(url: str) -> str:
    """What is wrong with the form of `url`, and what to do; empty for nothing."""
    if url[0] in _QUOTES or url[-1] in _QUOTES:
        return "quotation marks stand round it; leave them out"
    if any(char.isspace() or ord(char) < 32 for char in url):
        return "white space stands in it; leave it out"
    scheme, mark, _ = url.partition("://")
    if not mark:
        return f"the scheme is missing; write http://{url} or https://{url}"
    if scheme.lower() not in ("http", "https"):
        return f"the scheme must be http or https, not {scheme}"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"{error}; mend host and port"
    if not host:
        return "the host is missing; write it after the ://"
    if parts.query or parts.fragment:
        return "it ends in a query or a fragment; leave out what begins with ? or #"
    bare = parts.path.rstrip("/")
    for path in _ENDPOINTS:
        if bare.endswith(path):
            return f"it names one request; leave out {path}, so that it ends in /v1 or in what stands before"
    return ""
