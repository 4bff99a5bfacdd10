"""Calls that have a door: a granted host, a neighbouring door, and a look afterwards at who was reached."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from habilis.contract.hosts import Address
from habilis.core.ports import Sandbox, SandboxExit, SandboxJob
from habilis.runtime.egress.addresses import Streams, connect, kind_here
from habilis.runtime.egress.proxy import DoorLimits, Proxy, ProxyDoor

INWARD = "inward.example"
"""A granted name whose owner has it lead to the metadata service of clouds."""
METADATA = "169.254.169.254"
OWN = ("8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808")
"""What counts as this machine's public addresses, in the forms in which the kernel knows them."""
PUBLIC = "93.184.215.14"
"""An address of somebody else, at which nobody answers."""
NAMES = {INWARD: [METADATA], "own.example": [OWN[0]], "both.example": [PUBLIC, OWN[1]]}
REBINDING = "rebinding.example"
"""Leads to somebody else when first asked for, and then to this machine."""
FORBIDDEN = (b"smuggled", b"stolen", b"proxy-authorization", b"evil")
"""What the granted host must never hear."""
TOO_LATE = b"after"
"""What it must not hear once the call has ended; a child may outlive its parent until then."""


class WithDoor:
    """A sandbox whose jobs have a door."""

    def __init__(self, inner: Sandbox, door: ProxyDoor) -> None:
        self.level, self._inner, self._door = inner.level, inner, door

    async def run(self, job: SandboxJob) -> SandboxExit:
        return await self._inner.run(replace(job, door=self._door.socket))


class Granted:
    """What stands behind the doors. `facts` is what the tool is told of it."""

    def __init__(self, victim_port: int) -> None:
        self._victim_port = victim_port
        self.heard = bytearray()
        self.until_end = 0
        self.door: ProxyDoor | None = None
        self.dialled: list[str] = []
        self._rebound = iter([PUBLIC])
        self.port = self.tls_port = 0
        self.facts: dict[str, Any] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Whatever is asked: a short answer, or a redirect to `port` of this machine, or to the metadata service."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heard += head
            places = {b"/in": f"127.0.0.1:{self._victim_port}", b"/metadata": METADATA, b"/own": OWN[0]}
            where = places.get(head.split(b" ")[1])
            if where:
                writer.write(f"HTTP/1.1 302 Found\r\nLocation: http://{where}/\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: keep-alive\r\n\r\ngranted")
            await writer.drain()
            while data := await reader.read(1 << 16):
                self.heard += data
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def resolve(self, name: str, port: int) -> Sequence[Address]:
        if name == REBINDING:
            return [ip_address(next(self._rebound, OWN[0]))]
        if name not in NAMES:
            raise socket.gaierror(f"{name} was looked up")
        return [ip_address(text) for text in NAMES[name]]

    def kind_of(self, address: Address) -> str | None:
        """As on this machine, but for addresses that are taken for its own."""
        return "this machine's own" if address in {ip_address(text) for text in OWN} else kind_here(address)

    async def dial(self, address: Address, port: int) -> Streams:
        if str(address) == PUBLIC:
            raise OSError(errno.ECONNREFUSED, "nobody answers")
        self.dialled.append(f"{address}:{port}")
        if not address.is_loopback:  # noted, and not done: nothing leaves this machine
            raise OSError(errno.ECONNREFUSED, "no test leaves this machine")
        return await connect(address, port)

    async def ended(self) -> None:
        """The call has returned. What it had said before may still be on its way."""
        assert self.door is not None
        reader, writer = await asyncio.open_unix_connection(str(self.door.socket))
        writer.write(b"\r\n\r\n")
        await reader.read()  # who came before us has been let in
        writer.close()
        while self.door.connections:
            await asyncio.sleep(0.01)
        self.until_end = len(self.heard)

    def harms(self) -> list[str]:
        """Who was reached but the granted host, and what that host should not have heard."""
        right = {f"127.0.0.1:{port}" for port in (self.port, self.tls_port)}
        found = [f"{place} was dialled" for place in self.dialled if place not in right]
        found += ["the granted host was asked after the end"] if TOO_LATE in self.heard[self.until_end :] else []
        return found + [f"the granted host heard {word!r}" for word in FORBIDDEN if word in self.heard.lower()]


@asynccontextmanager
async def granted(
    inner: Sandbox, victim_port: int, certificate: Path | None = None, *, any_host: bool = False
) -> AsyncIterator[tuple[Sandbox, Granted]]:
    """`inner` with a door to one host of this machine, and what stands behind it; with a `certificate`, its TLS too.
    `any_host`: the door is one to any host besides."""
    behind = Granted(victim_port)
    servers = [await asyncio.start_server(behind.serve, "127.0.0.1", 0)]
    behind.port = servers[0].sockets[0].getsockname()[1]
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        servers.append(await asyncio.start_server(behind.serve, "127.0.0.1", 0, ssl=context))
        behind.tls_port = servers[1].sockets[0].getsockname()[1]
    limits = DoorLimits(head_s=1.0, idle_s=2.0)
    proxy = Proxy(limits=limits, resolve=behind.resolve, dial=behind.dial, kind_of=behind.kind_of)
    hosts = [f"localhost:{port}" for port in (behind.port, behind.tls_port) if port] + ["*"] * any_host
    try:
        async with (
            await proxy.door([*hosts, INWARD]) as door,
            await proxy.door([f"127.0.0.1:{victim_port}"]) as neighbour,
        ):
            behind.facts = {"granted": behind.port, "tls": behind.tls_port, "neighbour_door": str(neighbour.socket)}
            behind.door = door
            yield WithDoor(inner, door), behind
    finally:
        await proxy.aclose()
        for server in servers:
            server.close()


def make_certificate(folder: Path) -> Path:
    """A certificate for localhost that is its own authority, with its key beside it."""
    path = folder / "authority.pem"
    extensions = ("subjectAltName=DNS:localhost", "keyUsage=critical,digitalSignature,keyCertSign")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(path.with_suffix(".key")), "-out", str(path), "-subj", "/CN=localhost", "-days", "2"]
    for extension in extensions:
        command += ["-addext", extension]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return path
