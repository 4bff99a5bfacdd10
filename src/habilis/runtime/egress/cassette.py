"""What a call exchanged with its granted hosts, kept so that a replay can give it again without any network.

A `Recorder` stands at a live door and notes each request with the answer that the tool got; a `Fixture` is all of it,
as it is stored; `Stored` stands at the door of a replay and answers from that alone. What is kept never holds cookies,
header fields of requests, or the values of variables that the call was granted.
Sources: RFC 9112 §6 and §7.1 (framing of bodies, chunks), RFC 9110 §8.4 (content codings).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from habilis.core.types import FORMAT, CallOutcome, Frozen
from habilis.runtime.egress.heads import Fields, HttpRequest, answer

ANSWER_BYTES, CALL_BYTES = 1 << 20, 10 << 20
"""How much of one body, and of all bodies of a call, is kept."""
MOST_EXCHANGES = 500
NOT_RECORDED = "it asked for what its recorded call did not ask for"
_OF_THE_CLIENT = frozenset(
    b"accept-encoding cache-control connection cookie dnt expect host pragma priority user-agent".split()
)
"""Fields of a request that say who asks, not what for: two clients may differ in them."""
_NOT_KEPT = frozenset(b"connection content-length keep-alive set-cookie set-cookie2 transfer-encoding".split())
_CODINGS = frozenset((b"gzip", b"x-gzip", b"deflate"))
Clean = Callable[[bytes], bytes]
"""Takes the values of granted variables out of bytes."""


class Answered(Frozen):
    """One request and what was answered. `fields` and `body` are digests of what the request held beside its URL.

    `fields_back` are the header fields of the answer; its body is `text`, or `binary` (base64) where it is none.
    """

    method: str
    url: str
    fields: str
    body: str
    status: int
    reason: str = ""
    fields_back: tuple[tuple[str, str], ...] = ()
    text: str = ""
    binary: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.method, self.url, self.fields, self.body

    @property
    def content(self) -> bytes:
        """The answer's body. Raises ValueError for a damaged one."""
        return base64.b64decode(self.binary, validate=True) if self.binary else self.text.encode("utf-8")

    def message(self) -> bytes:
        """The answer as it goes to a tool."""
        content = self.content
        has_length = any(name.lower() == "content-length" for name, _ in self.fields_back)
        lines = [f"HTTP/1.1 {self.status} {self.reason}", *(f"{name}: {value}" for name, value in self.fields_back)]
        if not has_length and self.status not in (204, 304):
            lines.append(f"Content-Length: {len(content)}")
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1", "replace") + content


class Fixture(Frozen):
    """All that one call exchanged, in the order of its requests."""

    format: int = FORMAT
    answered: tuple[Answered, ...] = ()

    @property
    def encrypted(self) -> bool:
        """Whether any of it went through a tunnel."""
        return any(one.method == "CONNECT" for one in self.answered)

    def dump(self) -> bytes:
        return self.model_dump_json(exclude_defaults=True).encode("utf-8")


@dataclass(frozen=True)
class Recording:
    """Asks for a call's traffic to be kept: `keep` stores contents by name, and gives digests or why not."""

    keep: Callable[[dict[str, bytes]], tuple[dict[str, str], str | None]]


@dataclass(frozen=True)
class Replaying:
    """Asks for a call to be answered from `fixture` alone; granted variables (`env`) hold their names in brackets."""

    fixture: Fixture
    env: tuple[str, ...] = ()


@dataclass
class Note:
    """One exchange while it goes on. What is over the limits is not collected: `over` says what that was, and `took`
    hears how much was."""

    request: HttpRequest
    took: Callable[[int], None] = lambda size: None
    sent: bytearray = field(default_factory=bytearray)
    head: bytes = b""
    status: int = 0
    came: bytearray = field(default_factory=bytearray)
    ended: bool = False
    over: str = ""

    def up(self, data: bytes) -> None:
        """Bytes of the request's body."""
        self._add(self.sent, data, "a request to")

    def down(self, data: bytes) -> None:
        """Bytes of the answer's body as they are framed."""
        self._add(self.came, data, "an answer of")

    def own(self, message: bytes) -> None:
        """The whole answer is the proxy's own."""
        self.head, _, body = message.partition(b"\r\n\r\n")
        self.status, self.came, self.ended = int(message[9:12]), bytearray(body), True

    def _add(self, to: bytearray, data: bytes, what: str) -> None:
        if self.over:
            return
        if len(to) + len(data) > ANSWER_BYTES + (ANSWER_BYTES >> 3):  # the framing of chunks takes some
            self.over = f"{what} {self.request.place.host} holds more than {ANSWER_BYTES >> 20} MB"
            to.clear()
            return
        to += data
        self.took(len(data))

    def drop(self, why: str) -> None:
        """Collect no more, and forget what there is."""
        self.over = why
        self.sent.clear()
        self.came.clear()


class Recorder:
    """Notes the exchanges of one call. `clean` is applied to all that is kept."""

    def __init__(self, clean: Clean = bytes) -> None:
        self._clean = clean
        self._notes: list[Note] = []
        self._bytes = 0
        self._lost = ""

    def begin(self, request: HttpRequest) -> Note:
        """A note of a request that was read."""
        note = Note(request, self._took)
        if len(self._notes) == MOST_EXCHANGES:
            self.lose(f"it made more than {MOST_EXCHANGES} requests")
        if self._lost:
            note.drop(self._lost)
        else:
            self._notes.append(note)
        return note

    def lose(self, why: str) -> None:
        """Something passed that cannot be given again: nothing of the call is kept."""
        self._lost = self._lost or why
        for note in self._notes:
            note.drop(self._lost)

    def _took(self, size: int) -> None:
        self._bytes += size
        if self._bytes > CALL_BYTES:
            self.lose(f"its requests and answers hold more than {CALL_BYTES >> 20} MB")

    def result(self) -> Fixture | str:
        """All that was exchanged, or why not all of it could be kept. Call it once the door is closed."""
        found: list[Answered] = []
        for note in self._notes:
            one = self._lost or _kept(note, self._clean)
            if isinstance(one, str):
                return one
            found.append(one)
        return self._lost or Fixture(answered=tuple(found))


class Stored:
    """Answers the requests of one call from a fixture: a request asked again gets the next answer that it got then,
    and the last one for ever. `unknown` names requests, with their method, that the fixture does not hold."""

    def __init__(self, fixture: Fixture, clean: Clean = bytes) -> None:
        self._clean = clean
        self._answers: dict[tuple[str, ...], deque[Answered]] = {}
        for one in fixture.answered:
            self._answers.setdefault(one.key, deque()).append(one)
        self._known = {(one.method, one.url) for one in fixture.answered}
        self.encrypted = fixture.encrypted
        self.unknown: dict[str, None] = {}

    def answer(self, request: HttpRequest, body: bytes) -> Answered | None:
        """What was answered to this request; None when it was never made."""
        key = _key(request, body, self._clean)
        left = self._answers.get(key)
        if left is None:
            other = " with another body or other header fields" if key[:2] in self._known else ""
            if len(self.unknown) < MOST_EXCHANGES:
                self.unknown[f"{key[0]} {key[1]}{other}"] = None
            return None
        return left.popleft() if len(left) > 1 else left[0]


def unrecorded(outcome: CallOutcome) -> bool:
    """Whether a replay failed since it asked for something that its fixture does not hold."""
    return outcome.error is not None and outcome.error.message.startswith(NOT_RECORDED)


def refusal(request: HttpRequest) -> bytes:
    """What a tool reads whose request the fixture does not hold."""
    return answer(403, f"this is a replay, and its record holds no answer to {request.method} {request.url}")


def _key(request: HttpRequest, body: bytes, clean: Clean) -> tuple[str, str, str, str]:
    """Method, URL, and digests of the fields that matter and of the body; equal for requests for the same thing."""
    lines = sorted(
        clean(name.lower() + b": " + b" ".join(value.split()))
        for name, value in request.fields
        if name.lower() not in _OF_THE_CLIENT and (name.lower(), value.strip()) != (b"accept", b"*/*")
    )
    url = clean(request.url.encode("ascii")).decode("ascii", "replace")
    return request.method, url, _digest(b"\n".join(lines)), _digest(clean(body)) if body else ""


def _kept(note: Note, clean: Clean) -> Answered | str:
    """The note as it is stored, or why it cannot be."""
    host = note.request.place.host
    if note.over:
        return note.over
    if not note.status:
        return f"{host} gave no answer"
    lines = note.head.split(b"\r\n")
    fields = [(n.strip(), v.strip()) for n, _, v in (line.partition(b":") for line in lines[1:] if line)]
    body = _body(note, fields)
    if isinstance(body, str):
        return body
    without = _NOT_KEPT | {b"content-encoding"}
    if note.request.method == "HEAD":  # then its length is all that it says
        without = _NOT_KEPT - {b"content-length"}
    kept = [(n, v) for n, v in fields if n.lower() not in without and not n.lower().startswith(b"proxy-")]
    content = clean(body)
    try:
        text, binary = content.decode("utf-8"), ""
    except UnicodeDecodeError:
        text, binary = "", base64.b64encode(content).decode("ascii")
    method, url, of_fields, of_body = _key(note.request, bytes(note.sent), clean)
    return Answered(
        method=method,
        url=url,
        fields=of_fields,
        body=of_body,
        status=note.status,
        reason=lines[0].decode("latin-1")[13:],
        fields_back=tuple((clean(n).decode("latin-1"), clean(v).decode("latin-1")) for n, v in kept),
        text=text,
        binary=binary,
    )


def _body(note: Note, fields: Fields | Sequence[tuple[bytes, bytes]]) -> bytes | str:
    """The body of an answer without its framing and coding, or why it cannot be had."""
    host = note.request.place.host
    if note.request.method in ("HEAD", "CONNECT") or note.status in (204, 304):
        return b""
    lengths = [value for name, value in fields if name.lower() == b"content-length"]
    raw: bytes | None = bytes(note.came)
    if any(name.lower() == b"transfer-encoding" for name, _ in fields):
        raw = _unchunked(bytes(note.came))
    elif lengths and lengths[0].isdigit():
        size = int(lengths[0])
        raw = bytes(note.came[:size]) if len(note.came) >= size else None
    elif not note.ended:
        raw = None
    if raw is None:
        return f"an answer of {host} was not read to its end"
    codings = [part.strip().lower() for n, v in fields if n.lower() == b"content-encoding" for part in v.split(b",")]
    codings = [coding for coding in codings if coding not in (b"", b"identity")]
    if codings and raw:
        if len(codings) > 1 or codings[0] not in _CODINGS:
            return f"an answer of {host} is coded as {codings[0].decode('latin-1')[:20]}"
        raw = _uncompressed(raw)
        if raw is None:
            return f"an answer of {host} cannot be decoded"
    if len(raw) > ANSWER_BYTES:
        return f"an answer of {host} holds more than {ANSWER_BYTES >> 20} MB"
    return raw


def _unchunked(data: bytes) -> bytes | None:
    """The content of a chunked body; None when it is not whole."""
    found, place = bytearray(), 0
    while True:
        end = data.find(b"\r\n", place)
        try:
            size = int(data[place:end].partition(b";")[0], 16) if end >= 0 else -1
        except ValueError:
            return None
        if size < 0 or (size and len(data) < end + 2 + size):
            return None
        if not size:
            return bytes(found)
        found += data[end + 2 : end + 2 + size]
        place = end + 4 + size


def _uncompressed(data: bytes) -> bytes | None:
    """`data` without gzip or deflate, cut just above what is kept; None when it is neither."""
    for bits in (47, -15):  # gzip or zlib by its head; else raw, which some servers call deflate
        try:
            return zlib.decompressobj(bits).decompress(data, ANSWER_BYTES + 1)
        except zlib.error:
            continue
    return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest() if data else ""


def load(data: bytes) -> Fixture | None:
    """A fixture as it was stored; None when it is damaged."""
    try:
        fixture: Any = Fixture.model_validate_json(data)
        return fixture if all(one.content is not None for one in fixture.answered) else None
    except (ValueError, binascii.Error):
        return None
