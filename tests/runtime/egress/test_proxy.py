"""What passes a door, what does not, and that nothing of it is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from habilis.contract.hosts import BadHost
from habilis.runtime.egress.addresses import Resolver
from habilis.runtime.egress.inspecting import Authority
from habilis.runtime.egress.proxy import DoorLimits, Proxy, ProxyDoor, Visit

Ask = Callable[..., Awaitable[bytes]]
GET = b"GET http://api.example.com/x?key=hunter2 HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
CONNECT = b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def get(url: str, *fields: str) -> bytes:
    """A plain request for `url`, as an honest client makes it."""
    host = url.removeprefix("http://").partition("/")[0]
    return "\r\n".join([f"GET {url} HTTP/1.1", f"Host: {host}", *fields, "", ""]).encode()


def status(answer: bytes) -> str:
    return answer.partition(b"\r\n")[0].decode()


async def test_a_granted_host_answers_over_http(world: Any, host: Any, ask: Ask) -> None:
    proxy = Proxy(**world.ways)
    async with await proxy.door(["api.example.com"]) as door:
        answer = await ask(door, GET)
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    assert bytes(host.heard) == b"GET /x?key=hunter2 HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n\r\n"
    assert world.dialled == [("93.184.215.14", 80)]
    assert door.visited == ("api.example.com",)
    assert door.refused == ()


async def test_a_granted_host_is_reached_through_a_tunnel(world: Any, host: Any, ask: Ask) -> None:
    host.answer = host.echo
    async with await Proxy(**world.ways).door(["*.example.com"]) as door:
        assert await ask(door, CONNECT + b"\x16\x03\x01 any bytes", end=True) == ESTABLISHED + b"\x16\x03\x01 any bytes"
    assert world.dialled == [("93.184.215.14", 443)]
    assert door.visits == (Visit("api.example.com", 443, True, 13, 13),)


async def test_what_is_refused_says_which_host_why_and_what_is_granted(world: Any, host: Any, ask: Ask) -> None:
    async with await Proxy(**world.ways).door(["api.example.com", "*.x.org"]) as door:
        told = await ask(door, get("http://other.example/"))
        tunnel = await ask(door, b"CONNECT api.example.com:22 HTTP/1.1\r\n\r\n")
        await ask(door, get("http://OTHER.example./again"))
    line = "refused by the sandbox: other.example is not granted (granted: api.example.com, *.x.org)"
    assert status(told) == f"HTTP/1.1 403 {line}"
    assert told.endswith(line.encode() + b"\n")
    assert "port 22 of api.example.com is not granted" in status(tunnel)
    assert door.refused == ("other.example", "api.example.com:22")
    assert world.asked == []
    assert host.connections == 0


async def test_a_door_to_nothing_refuses_all_and_says_what_was_wanted(world: Any, host: Any, ask: Ask) -> None:
    async with await Proxy(**world.ways).door([]) as door:
        assert "api.example.com is not granted (granted: nothing)" in status(await ask(door, GET))
        assert door.refused == ("api.example.com",)
    assert host.connections == 0


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "::1",
        "::ffff:10.0.0.1",
        "fe80::1",
        "64:ff9b::a9fe:a9fe",
        "0.0.0.0",
        "224.0.0.1",
    ],
)
async def test_a_granted_name_that_leads_inwards_is_refused(world: Any, host: Any, ask: Ask, address: str) -> None:
    world.names["api.example.com"] = [address]
    for hosts in (
        ["api.example.com"],
        ["*"],
        [f"[{address}]:80" if ":" in address else f"{address}:80", "api.example.com"],
    ):
        async with await Proxy(**world.ways).door(hosts) as door:
            assert "403 refused by the sandbox: api.example.com leads to" in status(await ask(door, GET))
            assert door.refused == ("api.example.com",)
    assert world.dialled == []


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://[::1]/", "http://[::ffff:7f00:1]/", "http://10.0.0.1/"]
)
async def test_a_private_address_is_not_public_when_any_host_is_granted(world: Any, ask: Ask, url: str) -> None:
    async with await Proxy(**world.ways).door(["*"]) as door:
        assert "403 refused by the sandbox" in status(await ask(door, get(url)))
    assert world.dialled == []


async def test_a_private_address_is_reached_when_the_grant_spells_it_out(world: Any, host: Any, ask: Ask) -> None:
    granted = [f"127.0.0.1:{host.port}", "[::1]:8080", f"localhost:{host.port}", "10.0.0.1", "0.0.0.0:80"]
    async with await Proxy(**world.ways).door(granted) as door:
        for name in (f"127.0.0.1:{host.port}", "[::1]:8080", f"localhost:{host.port}"):
            assert status(await ask(door, get(f"http://{name}/"))) == "HTTP/1.1 200 OK"
        assert "only a grant that says 10.0.0.1:80" in status(await ask(door, get("http://10.0.0.1/")))
        assert "403" in status(await ask(door, get("http://0.0.0.0/")))
        assert "403" in status(await ask(door, get(f"http://localhost.:{host.port + 1}/")))
    assert [address for address, _ in world.dialled] == ["127.0.0.1", "::1", "127.0.0.1"]


async def test_the_address_that_was_checked_is_the_one_that_is_dialled(world: Any, ask: Ask) -> None:
    """A name service that first says something harmless and then something else is asked once only."""
    answers = iter([["93.184.215.14", "127.0.0.1"], ["127.0.0.1"]])

    async def resolve(name: str, port: int) -> Any:
        world.names[name] = next(answers)
        return await world.resolve(name, port)

    async with await Proxy(resolve=resolve, dial=world.dial).door(["api.example.com"]) as door:
        assert status(await ask(door, GET)) == "HTTP/1.1 200 OK"
        assert world.dialled == [("93.184.215.14", 80)]
        assert "403" in status(await ask(door, GET))
    assert world.dialled == [("93.184.215.14", 80)]


async def test_a_host_that_cannot_be_reached_is_not_called_refused(world: Any, host: Any, ask: Ask) -> None:
    async def nobody(address: Any, port: int) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")

    async with await Proxy(resolve=world.resolve, dial=nobody).door(["api.example.com", "nowhere.example"]) as door:
        assert "502 api.example.com:80 cannot be reached: Connection refused" in status(await ask(door, GET))
        assert "502 nowhere.example:80 cannot be reached" in status(await ask(door, get("http://nowhere.example/")))
        assert door.refused == ()


async def test_a_redirect_is_a_request_of_its_own(world: Any, host: Any, ask: Ask) -> None:
    async def elsewhere(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://other.example/\r\nContent-Length: 0\r\n\r\n")

    host.answer = elsewhere
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        assert b"Location: http://other.example/" in await ask(door, GET)
        assert "403" in status(await ask(door, get("http://other.example/")))
    assert host.connections == 1


async def test_a_second_request_behind_the_first_is_never_read(world: Any, host: Any, ask: Ask) -> None:
    host.answer = host.swallow
    second = b"GET /admin HTTP/1.1\r\nHost: other.example\r\n\r\n"
    post = b"POST http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 2\r\n\r\nhi"
    chunked = (
        post.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked").removesuffix(b"hi") + b"2\r\nhi\r\n0\r\n\r\n"
    )
    async with await Proxy(**world.ways, limits=DoorLimits(idle_s=0.3)).door(["api.example.com"]) as door:
        for request in (GET, post, chunked):
            await ask(door, request + second)
    assert b"admin" not in host.heard
    assert host.heard.count(b"hi") == 2


@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\nhi\r\n0\r\n\r\n",
        b"2\r\nhi0\r\n\r\n",
        b"2;x=y\r\nhi\r\n0\r\n\r\n",
        b"-2\r\nhi\r\n0\r\n\r\n",
        b"ffffffffff\r\nhi",
        b"2\nhi\n0\n\n" + b"x" * 40_000,
        b"0\r\nX-Trailer: 1\r\n\r\n",
        b"2\r\nhi\r\n0\r\n",
    ],
)
async def test_a_malformed_body_ends_the_request(world: Any, host: Any, ask: Ask, body: bytes) -> None:
    host.answer = host.swallow
    head = b"POST http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        assert status(await ask(door, head + body, end=True)).startswith("HTTP/1.1 400 ")
        await host.ended.wait()
    assert not host.heard.endswith(b"0\r\n\r\n")


async def test_a_body_arrives_whole_and_so_does_the_answer(world: Any, host: Any, ask: Ask) -> None:
    async def back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + await reader.readexactly(1 << 20))

    host.answer = back
    body = os.urandom(1 << 20)
    head = f"PUT http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: {len(body)}\r\n\r\n"
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        answer = await ask(door, head.encode() + body)
    assert answer.endswith(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)


async def test_a_websocket_goes_on_both_ways_and_to_granted_hosts_alone(world: Any, host: Any) -> None:
    async def switch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        await host.echo(reader, writer)

    host.answer = switch
    fields = ("Connection: Upgrade", "Upgrade: websocket")
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        reader, writer = await asyncio.open_unix_connection(str(door.socket))
        writer.write(get("http://api.example.com/ws", *fields))
        assert b"101 Switching Protocols" in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"frame")
        assert await reader.readexactly(5) == b"frame"
        writer.close()
        reader, writer = await asyncio.open_unix_connection(str(door.socket))
        writer.write(get("http://other.example/ws", *fields))
        assert b"403" in await reader.readline()
        writer.close()


async def test_a_host_that_switches_unasked_is_cut_off(world: Any, host: Any, ask: Ask) -> None:
    async def switch(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")

    host.answer = switch
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        assert "502" in status(await ask(door, get("http://api.example.com/", "Connection: upgrade", "Upgrade: h2c")))


@pytest.mark.parametrize(
    "answer", [b"", b"rubbish\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, b"HTTP/1.1 200 OK\r\n"]
)
async def test_an_answer_that_is_none_is_said_to_be_none(world: Any, host: Any, ask: Ask, answer: bytes) -> None:
    async def odd(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)

    host.answer = odd
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        assert status(await ask(door, GET)).startswith("HTTP/1.1 502 ")


async def test_slow_heads_long_heads_and_silence_are_ended(world: Any, host: Any, ask: Ask) -> None:
    host.answer = host.swallow
    limits = DoorLimits(head_s=0.2, idle_s=0.2, head_bytes=1000)
    async with await Proxy(**world.ways, limits=limits).door(["api.example.com"]) as door:
        assert "408 no request was read within 0.2 s" in status(await ask(door, GET[:-1]))
        assert "431" in status(await ask(door, get("http://api.example.com/", "X: " + "x" * 1000)))
        assert await ask(door, CONNECT) == ESTABLISHED
        assert await ask(door, b"", end=True) == b""
    assert [visit.reason for visit in door.visits][2] == "nothing was heard for 0.2 s"


async def test_a_door_carries_no_more_than_its_limit(world: Any, host: Any, ask: Ask) -> None:
    host.answer = host.echo
    async with await Proxy(**world.ways, limits=DoorLimits(transfer_bytes=300_000)).door(["api.example.com"]) as door:
        assert len(await ask(door, CONNECT + bytes(1_000_000), end=True)) < 300_000
        assert await ask(door, CONNECT + b"x", end=True) in (ESTABLISHED, b"")
    assert door.visits[0].reason == "more than 300000 bytes in all"


async def test_a_hundred_connections_at_once_keep_their_bytes_apart(world: Any, host: Any, ask: Ask) -> None:
    host.answer = host.echo
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        bodies = [bytes([n]) * 50_000 for n in range(100)]
        answers = await asyncio.gather(*(ask(door, CONNECT + body, end=True) for body in bodies))
    assert answers == [ESTABLISHED + body for body in bodies]
    assert len(door.visits) == 100


async def test_more_connections_than_allowed_are_turned_away_and_the_next_are_served(
    world: Any, host: Any, ask: Ask
) -> None:
    host.answer = host.echo
    proxy = Proxy(**world.ways, limits=DoorLimits(connections=3), connections=5)
    async with await proxy.door(["api.example.com"]) as one, await proxy.door(["api.example.com"]) as two:
        held = []
        for door, count in ((one, 3), (two, 2)):
            for _ in range(count):
                reader, writer = await asyncio.open_unix_connection(str(door.socket))
                writer.write(CONNECT)
                await reader.readuntil(b"\r\n\r\n")
                held.append(writer)
            assert "503 refused by the sandbox: too many connections" in status(await ask(door, b""))
            turned_away = Visit("", 0, False, reason="refused by the sandbox: too many connections at once")
            assert [visit for visit in door.visits if not visit.allowed] == [turned_away]
        for writer in held:
            writer.close()
        while one.connections or two.connections:
            await asyncio.sleep(0)
        assert await ask(one, CONNECT + b"x", end=True) == ESTABLISHED + b"x"


async def test_a_closed_door_cuts_what_is_open_and_leaves_nothing(
    world: Any, host: Any, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "habilis.runtime.egress.proxy.new_folder", lambda kind: Path(mkdtemp(prefix=kind, dir=tmp_path))
    )
    host.answer = host.swallow
    before = asyncio.all_tasks()
    proxy = Proxy(**world.ways)
    door = await proxy.door(["api.example.com"])
    other = await proxy.door(["api.example.com"])
    assert len(list(tmp_path.iterdir())) == 2
    reader, writer = await asyncio.open_unix_connection(str(door.socket))
    writer.write(CONNECT)
    await reader.readuntil(b"\r\n\r\n")
    await door.aclose()
    await door.aclose()
    assert await reader.read() == b""
    await host.ended.wait()
    assert not door.socket.exists()
    assert other.socket.exists()
    await proxy.aclose()
    assert list(tmp_path.iterdir()) == []
    assert {task for task in asyncio.all_tasks() - before if "_serve" in repr(task)} == set()
    writer.close()


async def test_a_cancelled_call_closes_its_door(world: Any, host: Any, tmp_path: Path) -> None:
    opened: list[ProxyDoor] = []
    host.answer = host.swallow

    async def call() -> None:
        async with await Proxy(**world.ways).door(["api.example.com"]) as door:
            reader, writer = await asyncio.open_unix_connection(str(door.socket))
            writer.write(CONNECT)
            await reader.readuntil(b"\r\n\r\n")
            opened.append(door)
            try:
                await reader.read()
            finally:
                writer.close()

    task = asyncio.create_task(call())
    while not opened:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not opened[0].socket.exists()
    assert opened[0].connections == 0


async def test_a_door_that_closes_as_someone_knocks_leaves_nothing_open(world: Any) -> None:
    """A connection that was taken and not yet served when the call ended."""
    for rounds in range(4):
        door = await Proxy(**world.ways).door(["api.example.com"])
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(door.socket))
            for _ in range(rounds):
                await asyncio.sleep(0)
            await door.aclose()
            client.settimeout(5)
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1) == b""


async def test_nobody_else_on_the_machine_comes_through(
    world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other users cannot enter the folder; the socket itself is open, since a tool may run as another uid."""
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("habilis.runtime.egress.proxy.new_folder", lambda kind: Path(mkdtemp(prefix=kind, dir=deep)))
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        assert door.socket.parent.parent == deep, "longer than the address of a socket may be"
        assert stat.S_IMODE(door.socket.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(door.socket.stat().st_mode) == 0o666


async def test_no_query_body_or_credential_is_logged(
    world: Any, host: Any, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with await Proxy(upstream="http://u:hunter2@127.0.0.1:9", **world.ways).door(["api.example.com"]) as door:
        await ask(door, GET)
        await ask(door, b"GET http://u:hunter2@api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
        await ask(door, get("http://other.example/?hunter2", "Authorization: hunter2"))
    assert "hunter2" not in caplog.text + repr(door.visits)
    assert "other.example" in caplog.text


async def test_the_proxy_of_the_machine_is_used_and_alone_gets_its_password(world: Any, host: Any, ask: Ask) -> None:
    proxy = Proxy(upstream="http://user:p%40ss@proxy.corp:3128", **world.ways)
    world.names["proxy.corp"] = ["10.0.0.8"]
    async with await proxy.door(["api.example.com", f"127.0.0.1:{host.port}"]) as door:
        assert status(await ask(door, GET)) == "HTTP/1.1 200 OK"
        assert bytes(host.heard) == (
            b"GET http://api.example.com/x?key=hunter2 HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n"
            b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n"
        )
        host.heard.clear()
        assert (await ask(door, CONNECT)).startswith(ESTABLISHED)
        assert bytes(host.heard).startswith(b"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n")
        host.heard.clear()
        assert status(await ask(door, get(f"http://127.0.0.1:{host.port}/"))) == "HTTP/1.1 200 OK"
        assert b"Proxy-Authorization" not in host.heard
    assert world.dialled == [("10.0.0.8", 3128), ("10.0.0.8", 3128), ("127.0.0.1", host.port)]


async def test_the_proxy_of_the_machine_is_no_way_inwards(world: Any, host: Any, ask: Ask) -> None:
    world.names["inside.example"] = ["192.168.0.1"]
    for hosts, url in (
        (["inside.example"], "http://inside.example/"),
        (["*"], "http://inside.example/"),
        (["*"], "http://unknown.example/"),
        (["*"], "http://169.254.169.254/"),
    ):
        async with await Proxy(upstream="http://127.0.0.1:3128", **world.ways).door(hosts) as door:
            assert "403 refused by the sandbox" in status(await ask(door, get(url)))
    assert world.dialled == []
    async with await Proxy(upstream="http://127.0.0.1:3128", **world.ways).door(["unknown.example"]) as door:
        assert status(await ask(door, get("http://unknown.example/"))) == "HTTP/1.1 200 OK"


async def test_a_proxy_of_the_machine_that_refuses_is_named(world: Any, host: Any, ask: Ask) -> None:
    async def no(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    host.answer = no
    async with await Proxy(upstream="http://127.0.0.1:3128", **world.ways).door(["api.example.com"]) as door:
        assert "502 the proxy of this machine answered 407" in status(await ask(door, CONNECT))


@pytest.mark.parametrize(
    "upstream", ["proxy:3128", "https://proxy:3128", "socks5://proxy:1080", "http://u:hunter2@", "http://a b:1"]
)
def test_a_proxy_that_cannot_be_used_is_refused_at_once(upstream: str) -> None:
    with pytest.raises(BadHost) as refused:
        Proxy(upstream=upstream)
    assert "hunter2" not in str(refused.value)


async def test_a_tool_that_asks_without_end_fills_nothing(
    world: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("habilis.runtime.egress.proxy.MOST_KEPT", 5)
    caplog.set_level(logging.INFO)
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        for n in range(8):
            await ask(door, get(f"http://h{n}.example/"))
        assert len(door.refused) == len(door.visits) == 5
    assert caplog.text.count("refused h") == 5
    assert caplog.text.count("no more of its visits are listed") == 1


async def test_hosts_that_were_reached_are_listed_up_to_a_limit(
    world: Any, host: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("habilis.runtime.egress.proxy.MOST_KEPT", 3)
    names = [f"h{number}.example.com" for number in range(5)]
    world.names |= {name: ["93.184.215.14"] for name in names}
    async with await Proxy(**world.ways).door(["*.example.com"]) as door:
        for name in names:
            assert status(await ask(door, get(f"http://{name}/"))) == "HTTP/1.1 200 OK", "reached all the same"
    assert door.visited == tuple(names[:3])


@pytest.mark.parametrize("closed", [False, True], ids=["a door that is open", "a door that was closed meanwhile"])
async def test_too_many_open_files_make_a_door_wait_and_not_deaf(
    world: Any, host: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    full = asyncio.Event()

    class Full:
        """A listener of a process that has no descriptor left, once."""

        def __init__(self, listener: socket.socket) -> None:
            self._listener = listener

        def accept(self) -> tuple[socket.socket, Any]:
            if not full.is_set():
                full.set()
                raise OSError(errno.EMFILE, "Too many open files")
            return self._listener.accept()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._listener, name)

    monkeypatch.setattr("habilis.runtime.egress.proxy._BREATH_S", 0.0)
    door = await Proxy(**world.ways).door(["api.example.com"])
    monkeypatch.setattr(door, "_listener", Full(door._listener))
    knocking = asyncio.create_task(ask(door, GET))
    await full.wait()
    if closed:
        await door.aclose()
        assert await knocking == b""
        for _ in range(5):
            await asyncio.sleep(0)  # nobody looks at a socket that is gone: a warning would end this test
    else:
        assert status(await knocking) == "HTTP/1.1 200 OK"
        await door.aclose()


async def test_only_doors_that_are_looked_into_have_certificates_made_once_for_all(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Authority] = []

    def counted(to_hosts: Any) -> Authority:
        made.append(Authority(to_hosts))
        return made[-1]

    def shown(door: ProxyDoor) -> list[bytes]:
        return [path.read_bytes() for path in door.socket.parent.iterdir() if path.is_file()]

    monkeypatch.setattr("habilis.runtime.egress.proxy.Authority", counted)
    proxy = Proxy(**world.ways)
    async with await proxy.door(["api.example.com"]) as door:
        assert (made, shown(door)) == ([], [])
    for _ in range(2):
        async with await proxy.door(["api.example.com"], inspect=True) as door:
            assert shown(door) == [made[0].certificate]
    assert len(made) == 1
    async with await proxy.door(["api.example.com"]) as door:
        assert shown(door) == []


async def test_names_are_looked_up_with_the_resolver_of_the_machine() -> None:
    resolver = Resolver()
    try:
        assert {str(address) for address in await resolver("localhost", 80)} <= {"127.0.0.1", "::1"}
    finally:
        resolver.close()


async def test_a_name_that_leads_to_this_machine_is_refused_without_doubles(host: Any, ask: Ask) -> None:
    """Through the machine's own resolver and dialler, with nothing standing in."""
    proxy = Proxy()
    async with await proxy.door(["localhost", f"127.0.0.1:{host.port}"]) as door:
        assert "403 refused by the sandbox: localhost is a loopback address" in status(
            await ask(door, get("http://localhost/"))
        )
        assert status(await ask(door, get(f"http://127.0.0.1:{host.port}/"))) == "HTTP/1.1 200 OK"
    await proxy.aclose()
    assert host.connections == 1


PIECES = [
    *(
        b"GET ",
        b"POST ",
        b"CONNECT ",
        b"http://",
        b"evil.example",
        b"api.example.com",
        b"127.0.0.1",
        b"[::1]",
        b"0x7f.1",
    ),
    *(
        b":443",
        b":80",
        b"@",
        b"/",
        b"\\",
        b"#",
        b"%40",
        b" ",
        b" HTTP/1.1\r\n",
        b" HTTP/1.0\r\n",
        b"\r\n",
        b"\n",
        b"\0",
    ),
    *(
        b"Host: api.example.com\r\n",
        b"Host: evil.example\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Length: 1\r\n",
    ),
    *(b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"\r\n\r\n", b"1\r\nx\r\n", b"0\r\n\r\n", b"\xff" * 9),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.one_of(st.binary(max_size=400), st.lists(st.sampled_from(PIECES), max_size=16).map(b"".join)))
def test_no_bytes_reach_a_host_that_is_not_granted_or_break_the_door(data: bytes) -> None:
    async def throw() -> None:
        accidents: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: accidents.append(context))
        dialled: list[tuple[str, int]] = []

        async def resolve(name: str, port: int) -> Any:
            from ipaddress import ip_address

            assert name == "api.example.com"
            return [ip_address("93.184.215.14")]

        async def dial(address: Any, port: int) -> Any:
            dialled.append((str(address), port))
            raise ConnectionRefusedError(111, "Connection refused")

        proxy = Proxy(resolve=resolve, dial=dial)
        async with await proxy.door(["api.example.com"]) as door:
            reader, writer = await asyncio.open_unix_connection(str(door.socket))
            writer.write(data)
            writer.write_eof()
            answer = await reader.read()
            writer.close()
            assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
            assert all(visit.host in ("", "api.example.com") or not visit.allowed for visit in door.visits)
        assert set(dialled) <= {("93.184.215.14", 80), ("93.184.215.14", 443)}
        assert accidents == []

    asyncio.run(throw())
