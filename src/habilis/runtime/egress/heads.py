"""Heads of HTTP messages: requests read strictly, so that no two readers of one can disagree, responses tidied.

What could be read in two ways (folded lines, bare line feeds, two lengths, a length and chunks, a Host that differs
from the target) is refused; nothing is repaired. Sources: RFC 9112 (message syntax, §3.2.2 absolute-form, §6 body
length), RFC 9110 §7.6.1 (hop-by-hop fields) and §9.3.6 (CONNECT).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from habilis.contract.hosts import BadHost, Place, place_of

MAX_FIELDS = 100
_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_METHOD = re.compile(r"[A-Z]{1,24}")
_TARGET = re.compile(rb"[\x21-\x7e]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: [^\r\n]*)?")
_REFUSED_METHODS = {"TRACE": "it would echo what is between", "TRACK": "it would echo what is between"}
_HOP_BY_HOP = {b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings"}
_FRAMING = {b"host", b"content-length", b"transfer-encoding"}
Fields = tuple[tuple[bytes, bytes], ...]


class Declined(Exception):
    """What the proxy answers with instead of passing a message on: `status` and one line that says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class HttpRequest:
    """A request for `place`. `path` is empty for CONNECT; `length` is that of the body in bytes, None when it comes in
    chunks; `websocket`: it asks to go on as one; `secure`: it was made inside a tunnel. `fields` are those that may be
    passed on, the Host left out."""

    method: str
    place: Place
    path: bytes
    fields: Fields
    length: int | None = 0
    websocket: bool = False
    secure: bool = False

    @property
    def tunnel(self) -> bool:
        return self.method == "CONNECT"

    @property
    def url(self) -> str:
        """What it is for: a whole address, `host:port` for CONNECT."""
        path = "" if self.path == b"*" else self.path.decode("ascii")
        return str(self.place) if self.tunnel else f"{'https' if self.secure else 'http'}://{self._host}{path}"

    @property
    def _host(self) -> str:
        return str(self.place).removesuffix(":443" if self.secure else ":80")

    def head(self, *, whole_target: bool = False, extra: Fields = ()) -> bytes:
        """The request as it is sent on, to the host itself or, with `whole_target`, to a further proxy."""
        host = self._host.encode("ascii")
        target = b"http://" + host + (b"" if self.path == b"*" else self.path) if whole_target else self.path
        length: Fields = ((b"Transfer-Encoding", b"chunked"),) if self.length is None else ()
        if self.length or (self.length == 0 and self.method in ("POST", "PUT", "PATCH")):
            length = ((b"Content-Length", str(self.length).encode("ascii")),)
        way: Fields = ((b"Connection", b"close"),)
        if self.websocket:
            way = ((b"Connection", b"Upgrade"), (b"Upgrade", b"websocket"))
        lines = [self.method.encode("ascii") + b" " + target + b" HTTP/1.1"]
        lines += [name + b": " + value for name, value in ((b"Host", host), *self.fields, *length, *way, *extra)]
        return b"\r\n".join(lines) + b"\r\n\r\n"


def read_request(head: bytes, inside: Place | None = None) -> HttpRequest:
    """The request of `head`, which ends with its empty line; `inside` a tunnel to this place it names a path alone.

    Raises `Declined`.
    """
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    start, fields = lines[0].split(b" "), _fields(lines[1:])
    if len(start) != 3 or not _TARGET.fullmatch(start[1]):
        raise Declined(400, "the first line is not a request")
    method = start[0].decode("latin-1")
    if start[2] not in (b"HTTP/1.0", b"HTTP/1.1"):
        raise Declined(505, "only HTTP/1.1 is spoken here")
    if not _METHOD.fullmatch(method):
        raise Declined(400, "the method is none")
    if method in _REFUSED_METHODS:
        raise Declined(405, f"{method} is not passed on: {_REFUSED_METHODS[method]}")
    target = start[1].decode("ascii")
    place, path = _target(method, target) if inside is None else (inside, _path_inside(method, target))
    port = 80 if inside is None else 443
    _same_host(place, fields, None if method == "CONNECT" else port, needed=start[2] == b"HTTP/1.1")
    length = _body_length(fields, old=start[2] == b"HTTP/1.0")
    if method == "CONNECT" and length != 0:
        raise Declined(400, "a CONNECT has no body")
    named = _connection_options(fields)
    websocket = method == "GET" and length == 0 and b"upgrade" in named and _only(fields, b"upgrade") == b"websocket"
    kept = tuple(
        (name, value)
        for name, value in fields
        if (low := name.lower()) not in _HOP_BY_HOP | _FRAMING | named and not low.startswith(b"proxy-")
    )
    return HttpRequest(method, place, path, kept, length, websocket, secure=inside is not None)


def _fields(lines: list[bytes]) -> Fields:
    if len(lines) > MAX_FIELDS:
        raise Declined(431, f"more than {MAX_FIELDS} header fields")
    found = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise Declined(400, "a header field is malformed")
        found.append((name, value.strip(b" \t")))
    return tuple(found)


def _target(method: str, target: str) -> tuple[Place, bytes]:
    """The place and the rest of a request's target."""
    try:
        if method == "CONNECT":
            return place_of(target), b""
        if target[:7].lower() != "http://":
            what = "the target must be a whole http:// address; https goes through CONNECT"
            raise Declined(400, f"{what}; hosts are reached through this proxy alone")
        found = re.fullmatch(r"([^/?#\\]*)([^#]*)", target[7:])
        if found is None:
            raise Declined(400, "an address with a fragment is not passed on")
        place, rest = place_of(found[1], 80), found[2]
    except BadHost as error:
        raise Declined(400, str(error)) from None
    if rest.startswith("\\"):
        raise Declined(400, "an address with a backslash is not passed on")
    if not rest and method == "OPTIONS":
        return place, b"*"
    return place, (rest if rest.startswith("/") else f"/{rest}").encode("ascii")


def _path_inside(method: str, target: str) -> bytes:
    """The target of a request inside a tunnel: a path, or the `*` of OPTIONS."""
    if method == "CONNECT":
        raise Declined(400, "a tunnel inside a tunnel is not made")
    if target == "*" and method == "OPTIONS":
        return b"*"
    if not re.fullmatch(r"/[^#]*", target):
        raise Declined(400, "inside a tunnel the target must be a path, without a fragment")
    return target.encode("ascii")


def _same_host(place: Place, fields: Fields, port: int | None, *, needed: bool) -> None:
    """Refuse a Host that is missing, double, or another than the target's.

    `port` is what a Host without one means; None for CONNECT, which names its port itself and may do without a Host.
    """
    hosts = [value for name, value in fields if name.lower() == b"host"]
    if len(hosts) > 1 or (needed and port is not None and not hosts):
        raise Declined(400, "exactly one Host is needed")
    for host in hosts:
        try:
            same = place_of(host.decode("latin-1"), port or place.port) == place
        except BadHost:
            same = False
        if not same:
            raise Declined(400, f"the Host field names another host than the target, {place}")


def _body_length(fields: Fields, *, old: bool) -> int | None:
    lengths = [value for name, value in fields if name.lower() == b"content-length"]
    codings = [value for name, value in fields if name.lower() == b"transfer-encoding"]
    if codings:
        if lengths or old or len(codings) > 1 or codings[0].lower() != b"chunked":
            raise Declined(400, "the length of the body can be read in two ways")
        return None
    if not lengths:
        return 0
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise Declined(400, "the length of the body can be read in two ways")
    return int(lengths[0])


def _connection_options(fields: Fields) -> set[bytes]:
    """What the sender says is for this connection alone, in lower case."""
    values = b",".join(value for name, value in fields if name.lower() == b"connection")
    named = {part.strip(b" \t").lower() for part in values.split(b",")} - {b""}
    if named & _FRAMING:
        raise Declined(400, "Connection names a field that is not for this connection alone")
    return named


def _only(fields: Fields, wanted: bytes) -> bytes | None:
    values = [value.lower() for name, value in fields if name.lower() == wanted]
    return values[0] if len(values) == 1 else None


def read_response(head: bytes) -> tuple[int, bytes]:
    """Status of a response and its head as it is passed on: without hop-by-hop fields, the body's coding excepted.

    A server may be odd: only what this connection needs is checked. Raises `Declined`.
    """
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    found = _STATUS.fullmatch(lines[0])
    if found is None:
        raise Declined(502, "the host's answer is no HTTP/1.1")
    status = int(found[1])
    dropped = _HOP_BY_HOP - {b"transfer-encoding"} - ({b"upgrade", b"connection"} if status == 101 else set())
    kept, drop = [lines[0]], False
    for line in lines[1:]:
        name = line.partition(b":")[0].strip().lower()
        drop = drop if line[:1] in b" \t" else name in dropped or name.startswith(b"proxy-")
        if not drop:
            kept.append(line)
    if status != 101:
        kept.append(b"Connection: close")
    return status, b"\r\n".join(kept) + b"\r\n\r\n"


def answer(status: int, text: str) -> bytes:
    """A response of the proxy's own: `text` is its reason too, since some clients show nothing else of it."""
    line = " ".join(text.split()).encode("ascii", "replace").decode("ascii")[:500]
    body = f"{line}\n".encode("ascii")
    head = f"HTTP/1.1 {status} {line}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close"
    return head.encode("ascii") + b"\r\n\r\n" + body
