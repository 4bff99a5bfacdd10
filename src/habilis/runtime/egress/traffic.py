"""One connection of a tool to its door: one request, read, checked, and carried out or refused.

A connection carries one request alone, so that nothing can hide behind it; whoever wants another connects again, and
is checked again. Responses go back byte by byte but for the fields of their heads that are for one connection.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from habilis.contract.hosts import Place
from habilis.runtime.egress.addresses import AddressRefused, Streams
from habilis.runtime.egress.cassette import Note, Recorder, Stored, refusal
from habilis.runtime.egress.heads import Declined, HttpRequest, answer, read_request, read_response
from habilis.runtime.egress.inspecting import Authority, secured
from habilis.runtime.egress.rules import REFUSED_BY, UNSEEN, Rules, Visit

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_BLOCK = 1 << 16
_CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,8}\r\n")


class _TooMuch(Exception):
    """The door has carried all that it may."""


@dataclass
class TrafficExchange:
    """One connection. `run` carries it to its end and says what came of it; None when nothing was asked.

    `allowed` hears the name of a host when its connection stands.
    """

    rules: Rules
    client: Streams
    allowed: Callable[[str], None]
    _up: int = 0
    _down: int = 0
    _reason: str = ""
    _request: HttpRequest | None = None
    _was_allowed: bool = True
    _note: Note | None = None
    _below: list[Streams] = field(default_factory=list, repr=False)
    _clock: asyncio.Timeout | None = field(default=None, repr=False)

    async def run(self) -> Visit | None:
        """Raises nothing but cancellation. Both ends are closed when it returns."""
        try:
            await self._converse()
        except* Declined as group:
            self._decline(group)
        except* TimeoutError:
            self._reason = f"nothing was heard for {self.rules.limits.idle_s:g} s"
        except* _TooMuch:
            self._reason = f"more than {self.rules.limits.transfer_bytes} bytes in all"
        except* OSError:
            self._reason = "the connection broke off"
        finally:
            await self._part()
        return self.visit()

    def visit(self) -> Visit | None:
        """What came of the connection so far."""
        if self._request is None:
            return Visit("", 0, False, reason=self._reason) if self._reason else None
        place = self._request.place
        return Visit(place.host, place.port, self._was_allowed, self._up, self._down, self._reason)

    async def _converse(self) -> None:
        head = await self._head()
        if head is None:
            return
        request = self._begin(read_request(head))
        traffic = self.rules.traffic
        if isinstance(traffic, Stored):
            await self._give_again(request, traffic)
            return
        host, first = await self._reach(request)
        inner: HttpRequest | None = request
        try:
            if request.tunnel and self.rules.authority is not None:
                host = await self._greeted(host, request.place, self.rules.authority)
                inner = await self._inside(request.place, self.rules.authority)
                first = b"" if inner is None else inner.head()
            self.allowed(request.place.as_grant())
            if inner is not None:
                await self._carry(inner, host, first)
        finally:
            host[1].transport.abort()

    def _begin(self, request: HttpRequest) -> HttpRequest:
        """From now on the connection is about `request`."""
        self._request = request
        if isinstance(self.rules.traffic, Recorder):
            self._note = self.rules.traffic.begin(request)
        return request

    async def _carry(self, request: HttpRequest, host: Streams, first: bytes) -> None:
        """All that belongs to `request`, both ways; `first` is what the host is told first."""
        async with asyncio.timeout(self.rules.limits.idle_s) as self._clock:
            if request.tunnel:
                self.rules.lose(UNSEEN)
                self.client[1].write(_ESTABLISHED)
                await self._tunnel(host)
            else:
                host[1].write(first)
                await self._forward(request, host)

    async def _greeted(self, host: Streams, place: Place, authority: Authority) -> Streams:
        """The connection to a host, encrypted, and the host known by its certificate. Raises `Declined`."""
        limits = self.rules.limits
        self._below.append(host)
        try:
            return await secured(
                host, authority.to_hosts, limit=limits.head_bytes, timeout_s=limits.connect_s, to_host=place.host
            )
        except ssl.SSLCertVerificationError as error:
            raise Declined(502, f"the certificate of {place} is not trusted: {error.verify_message}") from None
        except OSError:
            raise Declined(502, f"{place} does not speak the TLS of https") from None

    async def _inside(self, place: Place, authority: Authority) -> HttpRequest | None:
        """The request that the tool makes inside its tunnel to `place`; None when it goes away without one."""
        limits = self.rules.limits
        if self._note is not None:
            self._note.own(_ESTABLISHED)
        self.client[1].write(_ESTABLISHED)
        self._below.append(self.client)
        try:
            self.client = await secured(
                self.client, authority.context(place.host), limit=limits.head_bytes, timeout_s=limits.connect_s
            )
        except BaseException:  # cancelled too: the tool may end on the spot
            self.client[1].transport.abort()
            self.rules.lose(f"it did not let its connection to {place.host} be looked into")
            raise
        head = await self._head()
        return None if head is None else self._begin(read_request(head, inside=place))

    async def _give_again(self, request: HttpRequest, stored: Stored) -> None:
        """Answer as the record does, and reach nobody."""
        async with asyncio.timeout(self.rules.limits.idle_s) as self._clock:
            answered = stored.answer(request, await self._whole_body(request))
            if answered is not None and request.tunnel and answered.status == 200:
                assert self.rules.authority is not None
                inner = await self._inside(request.place, self.rules.authority)
                if inner is None:
                    return
                request = inner
                answered = stored.answer(request, await self._whole_body(request))
            self._was_allowed, self._reason = answered is not None, "answered by the record"
            self.client[1].write(refusal(request) if answered is None else answered.message())
            await self.client[1].drain()

    async def _whole_body(self, request: HttpRequest) -> bytes:
        """The body of a request that goes no further."""
        self._note = Note(request)
        await self._upload(request, None)
        return bytes(self._note.sent)

    async def _head(self) -> bytes | None:
        """The head of the request; None when the tool went away without asking."""
        limits = self.rules.limits
        try:
            async with asyncio.timeout(limits.head_s):
                return await self.client[0].readuntil(b"\r\n\r\n")
        except TimeoutError:
            raise Declined(408, f"no request was read within {limits.head_s:g} s") from None
        except asyncio.LimitOverrunError:
            raise Declined(431, f"the head of the request is longer than {limits.head_bytes} bytes") from None
        except asyncio.IncompleteReadError as error:
            if not error.partial:
                return None
            raise Declined(400, "the request broke off in its head") from None

    async def _reach(self, request: HttpRequest) -> tuple[Streams, bytes]:
        """The connection on which `request` goes on, and its head. Raises `Declined`."""
        grants, place = self.rules.grants, request.place
        reason = grants.refusal(place)
        try:
            if reason is not None:
                raise AddressRefused(reason)
            async with asyncio.timeout(self.rules.limits.connect_s):
                return await self.rules.way_out.open(request, grants)
        except AddressRefused as error:
            self._was_allowed = False
            raise Declined(403, f"{REFUSED_BY}: {error} (granted: {grants})") from None
        except TimeoutError:
            raise Declined(504, f"{place} did not answer within {self.rules.limits.connect_s:g} s") from None
        except OSError as error:
            raise Declined(502, f"{place} cannot be reached: {error.strerror or error}") from None

    async def _tunnel(self, host: Streams) -> None:
        """Bytes both ways until both ends have ended."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._pump(self.client[0], host[1], up=True))
            both.create_task(self._pump(host[0], self.client[1], up=False))

    async def _forward(self, request: HttpRequest, host: Streams) -> None:
        """The body up and the response down; what the tool sends after the body is not read."""
        async with asyncio.TaskGroup() as both:
            upload = both.create_task(self._upload(request, host[1]))
            switched = await self._download(request, host[0])
            upload.cancel()
        if switched:
            await self._tunnel(host)

    async def _upload(self, request: HttpRequest, sink: asyncio.StreamWriter | None) -> None:
        """The body of the request to `sink`, if there is anyone to hear it."""
        try:
            if request.length is not None:
                await self._copy(request.length, sink)
                return
            while size := await self._chunk_size():
                if sink is not None:
                    sink.write(b"%x\r\n" % size)
                await self._copy(size, sink)
                if await self.client[0].readexactly(2) != b"\r\n":
                    raise Declined(400, "a chunk of the body is malformed")
                if sink is not None:
                    sink.write(b"\r\n")
                await asyncio.sleep(0)  # whoever sends chunks of one byte must not keep the others waiting
            if await self.client[0].readexactly(2) != b"\r\n":
                raise Declined(400, "fields after the body are not passed on")
            if sink is not None:
                sink.write(b"0\r\n\r\n")
                await sink.drain()
        except asyncio.IncompleteReadError:
            raise Declined(400, "the body broke off") from None
        except ConnectionError:
            return  # the host may have answered already and not care for the rest

    async def _chunk_size(self) -> int:
        try:
            line = await self.client[0].readuntil(b"\r\n")
        except asyncio.LimitOverrunError:
            line = b""
        if not _CHUNK_SIZE.fullmatch(line):
            raise Declined(400, "a chunk of the body is malformed")
        self._count(len(line) + 2, up=True)
        return int(line, 16)

    async def _copy(self, size: int, sink: asyncio.StreamWriter | None) -> None:
        """Exactly `size` bytes from the tool."""
        while size:
            data = await self.client[0].read(min(size, _BLOCK))
            if not data:
                raise asyncio.IncompleteReadError(b"", size)
            size -= len(data)
            self._count(len(data), up=True)
            if self._note is not None:
                self._note.up(data)
            if sink is not None:
                sink.write(data)
                await sink.drain()

    async def _download(self, request: HttpRequest, source: asyncio.StreamReader) -> bool:
        """The response to the tool; whether the connection is now a websocket."""
        while True:
            try:
                head = await source.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                raise Declined(502, f"{request.place} gave no whole answer") from None
            status, head = read_response(head)
            if status == 101 and not request.websocket:
                raise Declined(502, f"{request.place} wants another protocol, which was not asked for")
            self._count(len(head), up=False)
            self.client[1].write(head)
            if status == 101:
                self.rules.lose(f"its connection to {request.place.host} went on as a websocket")
                return True
            if status >= 200:
                if self._note is not None:
                    self._note.status, self._note.head = status, head.removesuffix(b"\r\n\r\n")
                await self._pump(source, self.client[1], up=False, note=self._note)
                return False

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, up: bool, note: Note | None = None
    ) -> None:
        while data := await source.read(_BLOCK):
            self._count(len(data), up=up)
            if note is not None:
                note.down(data)
            sink.write(data)
            await sink.drain()
        if note is not None:
            note.ended = True
        if sink.can_write_eof():
            sink.write_eof()

    def _count(self, size: int, *, up: bool) -> None:
        """Note that bytes went by: the idle clock starts anew, and the door's limit comes nearer."""
        if up:
            self._up += size
        else:
            self._down += size
        self.rules.carried += size
        if self.rules.carried > self.rules.limits.transfer_bytes:
            raise _TooMuch
        if self._clock is not None:
            self._clock.reschedule(asyncio.get_running_loop().time() + self.rules.limits.idle_s)

    def _decline(self, error: BaseException) -> None:
        """Answer with the first reason to decline in `error`, unless the host's own answer is on its way already."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        self._reason = str(error)
        if isinstance(error, Declined) and not self._down:
            message = answer(error.status, str(error))
            self.client[1].write(message)
            if self._note is not None:
                self._note.own(message)

    async def _part(self) -> None:
        """Close the tool's end when it has read what was written, or when it does not for too long."""
        writer = self.client[1]
        if any(streams[1] is writer for streams in self._below):
            return  # TLS did not come about, and nobody hears of this end any more
        writer.close()
        try:
            async with asyncio.timeout(self.rules.limits.idle_s):
                await writer.wait_closed()
        except OSError:
            return
        finally:
            writer.transport.abort()
