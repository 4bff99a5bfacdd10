"""A small world on loopback: names that lead to public addresses, and hosts that stand behind them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import Any

import pytest

from habilis.contract.hosts import Address
from habilis.runtime.egress.addresses import Streams
from habilis.runtime.egress.proxy import ProxyDoor

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Host:
    """A server that notes what it hears. `answer` says what it does with a connection."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.connections = 0
        self.port = 0
        self.ended = asyncio.Event()
        self.answer: Answer = self.say_ok
        self._serving: set[asyncio.Task[None] | None] = set()

    async def say_ok(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard += await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)

    async def echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            self.heard += data
            writer.write(data)
            await writer.drain()

    async def swallow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            self.heard += data

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._serving.add(asyncio.current_task())  # of a connection that TLS took over, asyncio keeps no hold
        try:
            await self.answer(reader, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self.ended.set()


class World:
    """Name service and network of the proxy under test: whatever is dialled leads to `host`."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.names: dict[str, list[str]] = {"api.example.com": ["93.184.215.14"], "other.example": ["93.184.215.15"]}
        self.asked: list[str] = []
        self.dialled: list[tuple[str, int]] = []

    async def resolve(self, name: str, port: int) -> Sequence[Address]:
        self.asked.append(name)
        if name not in self.names:
            raise OSError("no such name")
        return [ip_address(text) for text in self.names[name]]

    async def dial(self, address: Address, port: int) -> Streams:
        self.dialled.append((str(address), port))
        return await asyncio.open_connection("127.0.0.1", self.host.port)

    @property
    def ways(self) -> dict[str, Any]:
        return {"resolve": self.resolve, "dial": self.dial}


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    made = Host()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()


@pytest.fixture
def world(host: Host) -> World:
    return World(host)


async def say(door: ProxyDoor, data: bytes, *, end: bool = False) -> bytes:
    """All that comes back through `door` for `data`."""
    reader, writer = await asyncio.open_unix_connection(str(door.socket))
    try:
        writer.write(data)
        if end:
            writer.write_eof()
        got = bytearray()
        while part := await reader.read(1 << 16):
            got += part
    except ConnectionError:
        pass
    finally:
        writer.transport.abort()
    return bytes(got)


@pytest.fixture
def ask() -> Callable[..., Awaitable[bytes]]:
    return say
