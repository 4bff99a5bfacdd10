"""The relay as it runs inside the sandbox, a program of its own, between clients and a real door."""

from __future__ import annotations

import asyncio
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from habilis.runtime.egress.proxy import Proxy
from habilis.sandbox.inside import relay

CONNECT = b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
Relayed = Callable[[Path], AbstractAsyncContextManager[int]]


@pytest.fixture
def relayed() -> Relayed:
    """Starts a relay to the door at a path, and gives its port."""

    @asynccontextmanager
    async def run(door: Path) -> AsyncIterator[int]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            command = [sys.executable, "-S", str(relay.__file__), str(listener.fileno()), str(door)]
            process = subprocess.Popen(command, pass_fds=[listener.fileno()])
            port = int(listener.getsockname()[1])
        try:
            yield port
            assert process.poll() is None, "the relay did not survive"
        finally:
            process.kill()
            await asyncio.to_thread(process.wait)

    return run


async def exchange(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        writer.write_eof()
        return await reader.read()
    finally:
        writer.transport.abort()


async def test_a_hundred_connections_keep_their_bytes_apart(relayed: Relayed, world: Any, host: Any) -> None:
    host.answer = host.echo
    bodies = [bytes([n]) * 200_000 for n in range(100)]
    async with await Proxy(**world.ways).door(["api.example.com"]) as door, relayed(door.socket) as port:
        answers = await asyncio.gather(*(exchange(port, CONNECT + body) for body in bodies))
    assert [len(answer) for answer in answers] == [len(ESTABLISHED) + 200_000] * 100
    assert answers == [ESTABLISHED + body for body in bodies]


async def test_whoever_is_refused_in_the_middle_of_a_long_body_still_learns_why(relayed: Relayed, world: Any) -> None:
    head = b"POST http://other.example/ HTTP/1.1\r\nHost: other.example\r\nContent-Length: 9000000\r\n\r\n"
    async with await Proxy(**world.ways).door(["api.example.com"]) as door, relayed(door.socket) as port:
        answer = await exchange(port, head + bytes(9_000_000))
    assert answer.startswith(b"HTTP/1.1 403 refused by the sandbox: other.example is not granted")


async def test_a_client_that_goes_away_frees_the_host(relayed: Relayed, world: Any, host: Any) -> None:
    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(bytes(1 << 16))
            await writer.drain()

    host.answer = stream
    async with await Proxy(**world.ways).door(["api.example.com"]) as door, relayed(door.socket) as port:
        with socket.socket() as client:
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, CONNECT)
            assert await loop.sock_recv(client, 12) == b"HTTP/1.1 200"
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await host.ended.wait()
        host.answer = host.echo
        assert await exchange(port, CONNECT + b"x") == ESTABLISHED + b"x"


async def test_a_door_that_is_shut_is_an_end_and_no_wait(relayed: Relayed, world: Any) -> None:
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        path = door.socket
    async with relayed(path) as port:
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await reader.read() == b""
            writer.close()


def test_whoever_else_comes_to_the_port_of_a_pair_is_sent_away() -> None:
    """Both ends are ours: else another program of this machine would speak to the proxy, or in its place."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stranger = socket.create_connection(listener.getsockname(), 5)
        theirs = socket.create_connection(listener.getsockname(), 5)
        with stranger, theirs, relay.other_end(listener, theirs) as ours:
            assert stranger.recv(1) == b""
            theirs.sendall(b"x")
            assert ours.recv(1) == b"x"
