"""What passed a door is given again without the network, byte for byte, and nothing else is given."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.masker import Masker
from habilis.runtime.egress.cassette import ANSWER_BYTES, Fixture, Recorder, Stored, load
from habilis.runtime.egress.heads import read_request
from habilis.runtime.egress.inspecting import Authority, secured
from habilis.runtime.egress.proxy import Proxy, ProxyDoor

Ask = Callable[..., Awaitable[bytes]]
HOSTS = ["api.example.com"]


def request(path: str = "/x", *fields: str, method: str = "GET", body: bytes = b"") -> bytes:
    lines = [f"{method} http://api.example.com{path} HTTP/1.1", "Host: api.example.com", *fields]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(*fields: str, body: bytes = b"", status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode() + body


def saying(*messages: bytes) -> Any:
    """What a host does that gives these answers, one a connection, the last one for ever."""
    left = list(messages)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(left.pop(0) if len(left) > 1 else left[0])

    return serve


async def passed(
    world: Any, ask: Ask, *asked: bytes, clean: Any = bytes, end: bool = False
) -> tuple[list[bytes], Fixture | str]:
    """What a live door answered, and what was kept of that."""
    recorder = Recorder(clean)
    async with await Proxy(**world.ways).door(HOSTS, traffic=recorder) as door:
        got = [await ask(door, data, end=end) for data in asked]
    kept = recorder.result()
    return got, kept if isinstance(kept, str) else load(kept.dump()) or "it did not come back"


async def again(
    world: Any, ask: Ask, fixture: Fixture, *asked: bytes, clean: Any = bytes
) -> tuple[list[bytes], Stored]:
    """What the door of a replay answers."""
    stored = Stored(fixture, clean)
    async with await Proxy(**world.ways).door([], traffic=stored) as door:
        return [await ask(door, data) for data in asked], stored


def body_of(message: bytes) -> bytes:
    return message.partition(b"\r\n\r\n")[2]


async def test_the_same_requests_get_the_same_answers_and_the_host_is_not_reached(
    world: Any, host: Any, ask: Ask
) -> None:
    host.answer = saying(answer("Content-Length: 5", "Content-Type: text/plain", "ETag: a", body=b"first"))
    asked = [request("/a?b=1"), request("/a?b=2"), request("/p", method="POST", body=b"question")]
    got, fixture = await passed(world, ask, *asked)
    assert isinstance(fixture, Fixture)
    before = host.connections
    replayed, stored = await again(world, ask, fixture, *reversed(asked))
    assert [body_of(message) for message in replayed] == [b"first"] * 3 == [body_of(message) for message in got]
    assert b"ETag: a" in replayed[0]
    assert b"Content-Type: text/plain" in replayed[0]
    assert (host.connections, world.dialled.count(("93.184.215.14", 80))) == (before, 3)
    assert stored.unknown == {}


async def test_what_was_never_asked_is_refused_by_name_and_reaches_nobody(world: Any, host: Any, ask: Ask) -> None:
    _, fixture = await passed(world, ask, request("/a"))
    assert isinstance(fixture, Fixture)
    before, dialled = host.connections, list(world.dialled)
    other_host = b"GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"
    tunnel = b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n"
    asked = [request("/b"), request("/a", "Accept: text/csv"), request("/a", method="PUT"), other_host, tunnel]
    replayed, stored = await again(world, ask, fixture, *asked)
    assert all(message.startswith(b"HTTP/1.1 403 this is a replay") for message in replayed)
    assert b"GET http://api.example.com/b" in replayed[0]
    assert list(stored.unknown) == [
        "GET http://api.example.com/b",
        "GET http://api.example.com/a with another body or other header fields",
        "PUT http://api.example.com/a",
        "GET http://other.example/",
        "CONNECT api.example.com:443",
    ]
    assert (host.connections, world.dialled) == (before, dialled)


async def test_clients_differ_in_how_they_ask_and_get_the_same(world: Any, host: Any, ask: Ask) -> None:
    _, fixture = await passed(world, ask, request("/a", "User-Agent: one/1", "Accept-Encoding: gzip", "Accept: */*"))
    assert isinstance(fixture, Fixture)
    replayed, _ = await again(world, ask, fixture, request("/a", "User-Agent: two/2", "Cookie: c=1"))
    assert body_of(replayed[0]) == b"ok"


async def test_asked_again_a_request_gets_what_it_got_then(world: Any, host: Any, ask: Ask) -> None:
    host.answer = saying(answer("Content-Length: 4", body=b"wait"), answer("Content-Length: 4", body=b"done"))
    _, fixture = await passed(world, ask, request(), request())
    assert isinstance(fixture, Fixture)
    replayed, _ = await again(world, ask, fixture, request(), request(), request())
    assert [body_of(message) for message in replayed] == [b"wait", b"done", b"done"]


async def test_no_value_of_a_granted_variable_is_kept_and_its_name_in_brackets_takes_its_place(
    world: Any, host: Any, ask: Ask
) -> None:
    real, placeholder = Masker({"API_TOKEN": "sk-planted+1"}), Masker({"API_TOKEN": "[API_TOKEN]"})
    host.answer = saying(answer("X-You: sk-planted+1", "Set-Cookie: id=7", "Content-Length: 12", body=b"sk-planted+1"))
    asked = request("/a?key=sk-planted%2B1", "Authorization: Bearer sk-planted+1", method="POST", body=b"sk-planted+1")
    _, fixture = await passed(world, ask, asked, clean=real.data)
    assert isinstance(fixture, Fixture)
    assert b"planted" not in fixture.dump()
    assert b"id=7" not in fixture.dump()
    now = request("/a?key=%5BAPI_TOKEN%5D", "Authorization: Bearer [API_TOKEN]", method="POST", body=b"[API_TOKEN]")
    replayed, stored = await again(world, ask, fixture, now, clean=placeholder.data)
    assert (body_of(replayed[0]), stored.unknown) == (b"[API_TOKEN]", {})


CHUNKED = b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
BIG = b"x" * (ANSWER_BYTES + 1)


@pytest.mark.parametrize(
    ("message", "method", "kept"),
    [
        (answer("Transfer-Encoding: chunked", body=CHUNKED), "GET", b"abcde"),
        (answer(body=b"until the end"), "GET", b"until the end"),
        (
            answer("Content-Encoding: gzip", "Content-Length: 25", body=gzip.compress(b"hello", mtime=0)),
            "GET",
            b"hello",
        ),
        (answer("Content-Encoding: deflate", body=zlib.compress(b"hello")), "GET", b"hello"),
        (answer("Content-Encoding: deflate", body=zlib.compress(b"hello", wbits=-15)), "GET", b"hello"),
        (answer("Content-Length: 3", body=b"\xff\x00\xfe"), "GET", b"\xff\x00\xfe"),
        (answer("Content-Length: 999"), "HEAD", b""),
        (answer(status="204 No Content"), "GET", b""),
        (answer("Content-Length: 9", body=b"not there", status="404 Not Found"), "GET", b"not there"),
        (answer("Content-Length: 9", body=b"half"), "GET", "an answer of api.example.com was not read to its end"),
        (answer("Transfer-Encoding: chunked", body=CHUNKED[:-5]), "GET", "was not read to its end"),
        (answer("Content-Encoding: br", body=b"??"), "GET", "an answer of api.example.com is coded as br"),
        (answer("Content-Encoding: gzip", body=b"??"), "GET", "an answer of api.example.com cannot be decoded"),
        (answer("Content-Encoding: gzip", body=gzip.compress(BIG)), "GET", "holds more than 1 MB"),
        (answer(body=BIG), "GET", "an answer of api.example.com holds more than 1 MB"),
        (b"SSH-2.0-server\r\n\r\n", "GET", b"the host's answer is no HTTP/1.1\n"),
    ],
)
async def test_an_answer_is_kept_whole_or_it_is_said_why_not(
    world: Any, host: Any, ask: Ask, message: bytes, method: str, kept: bytes | str
) -> None:
    host.answer = saying(message)
    _, fixture = await passed(world, ask, request(method=method))
    if isinstance(kept, str):
        assert isinstance(fixture, str)
        assert kept in fixture
        return
    assert isinstance(fixture, Fixture), fixture
    replayed, _ = await again(world, ask, fixture, request(method=method))
    assert body_of(replayed[0]) == kept
    if method == "HEAD":
        assert b"Content-Length: 999" in replayed[0]


async def test_a_host_that_is_not_there_is_not_there_in_the_replay_either(world: Any, host: Any, ask: Ask) -> None:
    async def nobody(address: Any, port: int) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")

    recorder = Recorder()
    async with await Proxy(resolve=world.resolve, dial=nobody).door(HOSTS, traffic=recorder) as door:
        got = await ask(door, request())
    fixture = recorder.result()
    assert isinstance(fixture, Fixture)
    replayed, _ = await again(world, ask, fixture, request())
    assert replayed[0].partition(b"\r\n")[0] == got.partition(b"\r\n")[0]
    assert b"cannot be reached" in replayed[0]


async def test_what_cannot_be_seen_cannot_be_kept(world: Any, host: Any, ask: Ask) -> None:
    host.answer = host.echo
    _, kept = await passed(world, ask, b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n\x16\x03\x01", end=True)
    assert kept == "https goes through unseen (capabilities.inspect_https)"


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_chunks_come_back_as_the_content_that_they_were(parts: list[bytes]) -> None:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    recorder = Recorder()
    note = recorder.begin(read_request(request()))
    note.status, note.head = 200, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
    note.down(framed)
    fixture = recorder.result()
    assert isinstance(fixture, Fixture)
    assert fixture.answered[0].content == b"".join(parts)


def test_a_damaged_fixture_is_none() -> None:
    for data in (b"", b"{}x", b'{"answered": [{}]}', b'{"answered": 3}', b"\xff"):
        assert load(data) is None


# --- https


class Encrypted:
    """A host that speaks TLS, and a proxy that believes it."""

    def __init__(self, world: Any, host: Any) -> None:
        self.known = Authority()
        believing = ssl.create_default_context(cadata=self.known.certificate.decode())
        self.proxy = Proxy(**world.ways, to_hosts=believing)
        self.sceptic = Proxy(**world.ways)

        async def behind(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            context = self.known.context("api.example.com")
            inner = await secured((reader, writer), context, limit=1 << 16, timeout_s=10)
            try:
                host.heard += await inner[0].readuntil(b"\r\n\r\n")
                inner[1].write(answer("Content-Length: 6", body=b"secret"))
                await inner[1].drain()
                inner[1].close()
                await inner[1].wait_closed()
            except asyncio.IncompleteReadError:
                inner[1].transport.abort()

        host.answer = behind

    async def ask(
        self, door: ProxyDoor, data: bytes, *, trusting: bytes | None = None, name: str = "api.example.com"
    ) -> bytes:
        """What comes back for `data` inside a tunnel; without `trusting` the door's own certificate is believed."""
        streams = await asyncio.open_unix_connection(str(door.socket))
        streams[1].write(f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())
        head = await streams[0].readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            streams[1].transport.abort()
            return head
        pem = trusting or door.socket.with_name("authority.pem").read_bytes()
        context = ssl.create_default_context(cadata=pem.decode())
        try:
            reader, writer = await secured(streams, context, limit=1 << 16, timeout_s=10, to_host=name)
            try:
                writer.write(data)
                return await reader.read()
            finally:
                writer.transport.abort()
        finally:
            streams[1].transport.abort()


@pytest.fixture
async def encrypted(world: Any, host: Any) -> AsyncIterator[Encrypted]:
    found = Encrypted(world, host)
    yield found
    await found.proxy.aclose()
    await found.sceptic.aclose()


INSIDE = b"GET /a HTTP/1.1\r\nHost: api.example.com\r\n\r\n"


async def test_https_that_was_looked_into_is_given_again_without_the_host(
    encrypted: Encrypted, host: Any, world: Any
) -> None:
    recorder = Recorder()
    async with await encrypted.proxy.door(HOSTS, traffic=recorder, inspect=True) as door:
        assert body_of(await encrypted.ask(door, INSIDE)) == b"secret"
    fixture = recorder.result()
    assert isinstance(fixture, Fixture), fixture
    assert [(one.method, one.url) for one in fixture.answered] == [
        ("CONNECT", "api.example.com:443"),
        ("GET", "https://api.example.com/a"),
    ]
    assert host.heard.startswith(b"GET /a HTTP/1.1\r\nHost: api.example.com\r\n")
    before, stored = host.connections, Stored(fixture)
    async with await encrypted.proxy.door([], traffic=stored, inspect=True) as door:
        assert body_of(await encrypted.ask(door, INSIDE)) == b"secret"
        assert b"403 this is a replay" in await encrypted.ask(door, INSIDE.replace(b"/a", b"/b"))
        assert b"403 this is a replay" in await encrypted.ask(door, INSIDE, name="other.example")
    assert list(stored.unknown) == ["GET https://api.example.com/b", "CONNECT other.example:443"]
    assert host.connections == before


async def test_a_host_with_a_certificate_that_nobody_knows_is_refused(encrypted: Encrypted, host: Any) -> None:
    recorder = Recorder()
    async with await encrypted.sceptic.door(HOSTS, traffic=recorder, inspect=True) as door:
        told = await encrypted.ask(door, INSIDE)
    assert told.startswith(b"HTTP/1.1 502 the certificate of api.example.com:443 is not trusted")
    assert host.heard == b""
    assert isinstance(recorder.result(), Fixture)


async def test_a_client_that_trusts_but_its_own_is_told_apart_and_not_recorded(encrypted: Encrypted) -> None:
    recorder = Recorder()
    async with await encrypted.proxy.door(HOSTS, traffic=recorder, inspect=True) as door:
        with pytest.raises(ssl.SSLCertVerificationError):
            await encrypted.ask(door, INSIDE, trusting=encrypted.known.certificate)
    assert recorder.result() == "it did not let its connection to api.example.com be looked into"


@pytest.mark.parametrize(
    "head",
    [
        b"GET https://api.example.com/a HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
        b"GET /a HTTP/1.1\r\nHost: other.example\r\n\r\n",
        b"GET /a HTTP/1.1\r\n\r\n",
        b"CONNECT other.example:443 HTTP/1.1\r\n\r\n",
    ],
)
async def test_inside_a_tunnel_nobody_is_asked_for_but_its_own_host(
    encrypted: Encrypted, host: Any, head: bytes
) -> None:
    async with await encrypted.proxy.door(["*"], inspect=True) as door:
        assert (await encrypted.ask(door, head)).startswith(b"HTTP/1.1 400 ")
    assert host.heard == b""


async def test_the_authority_of_one_proxy_is_nothing_to_another(encrypted: Encrypted) -> None:
    async with (
        await encrypted.proxy.door(HOSTS, inspect=True) as door,
        await encrypted.sceptic.door(HOSTS, inspect=True) as other,
    ):
        shown = [d.socket.with_name("authority.pem").read_bytes() for d in (door, other)]
        plain = await encrypted.proxy.door(HOSTS)
        assert not plain.socket.with_name("authority.pem").exists()
        await plain.aclose()
    assert shown[0] != shown[1]
    assert all(b"PRIVATE" not in pem for pem in shown)
    assert not any(path.exists() for path in (door.socket.parent, other.socket.parent))


def test_a_call_with_too_much_in_all_holds_no_memory_for_it() -> None:
    recorder = Recorder()
    notes = [recorder.begin(read_request(request(f"/{number}"))) for number in range(12)]
    for note in notes:
        note.status, note.head, note.ended = 200, b"HTTP/1.1 200 OK", True
        note.down(b"x" * ANSWER_BYTES)
    assert recorder.result() == "its requests and answers hold more than 10 MB"
    assert not any(note.came for note in notes)
    assert recorder.begin(read_request(request())).over
