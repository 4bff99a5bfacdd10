"""A machine of its own to attack: a network namespace with public addresses, a service on all of them, and doors.

    unshare --net python own_namespace.py

Prints one object of JSON: what came of each request (`told`) and whom the service heard (`heard`). Nothing leaves the
namespace: it has no way out. The addresses are well-known ones of the world, since those kept for examples are refused
as reserved anyway.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from habilis.config import CapabilitiesSettings, SandboxSettings, WebSettings
from habilis.contract.hosts import Address
from habilis.runtime.egress.proxy import DoorLimits, Proxy, ProxyDoor
from habilis.runtime.grants import Grants
from habilis.sources.web import Web
from habilis.testing import ScriptedGranter

OWN = {
    "an address": "8.8.8.8",
    "a second address of one network": "11.0.0.2",
    "an address of a network that is all this machine's": "9.9.9.9",
    "an address of version 6": "[2001:4860:4860::8888]",
    "a network of version 6 that is all this machine's": "[2620:fe::fe]",
    "wrapped into version 6": "[::ffff:8.8.8.8]",
    "wrapped for a translator": "[64:ff9b::808:808]",
    "the service of Azure machines": "168.63.129.16",
}
WAYS = (
    ("ip", "link", "set", "lo", "up"),
    ("ip", "addr", "add", "8.8.8.8/32", "dev", "lo"),
    ("ip", "-6", "addr", "add", "2001:4860:4860::8888/128", "dev", "lo"),
    ("ip", "route", "add", "local", "9.9.9.0/24", "dev", "lo"),
    ("ip", "route", "add", "local", "168.63.129.16/32", "dev", "lo"),
    ("ip", "-6", "route", "add", "local", "2620:fe::/48", "dev", "lo"),
    ("ip", "-6", "route", "add", "local", "64:ff9b::/96", "dev", "lo"),
    ("ip", "-6", "route", "add", "anycast", "2620:11::1/128", "dev", "lo"),
    ("ip", "link", "add", "net0", "type", "bridge"),
    ("ip", "link", "set", "net0", "up"),
    ("ip", "addr", "add", "11.0.0.1/24", "dev", "net0", "brd", "11.0.0.255"),
    ("ip", "addr", "add", "11.0.0.2/24", "dev", "net0", "brd", "11.0.0.255"),
)
NAMES = {
    "own.example": ["8.8.8.8"],
    "both.example": ["1.1.1.1", "2001:4860:4860::8888"],
    "mapped.example": ["::ffff:8.8.8.8"],
}
REBINDING = "rebinding.example"


class Service:
    """What listens on every address of this machine, as a development server or a database does."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(str(writer.get_extra_info("sockname")[0]))
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            moved = b"302 Found\r\nLocation: http://8.8.8.8/" if b"/moved" in head else b"200 OK"
            writer.write(b"HTTP/1.1 " + moved + b"\r\nContent-Length: 7\r\n\r\nprivate")
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class Names:
    """The name service that the attacker has a hand in. One name changes its mind from one answer to the next."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, name: str, port: int) -> Sequence[Address]:
        if name == REBINDING:
            self.asked += 1
            return [ip_address("1.1.1.1" if self.asked == 1 else "8.8.8.8")]
        return [ip_address(text) for text in NAMES[name]]


async def told(door: ProxyDoor, host: str, request: str = "GET http://{0}/ HTTP/1.1\r\nHost: {0}\r\n\r\n") -> str:
    """The first line of the answer."""
    reader, writer = await asyncio.open_unix_connection(str(door.socket))
    writer.write(request.format(host).encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer.partition("\r\n")[0]


async def through_doors(service: Service) -> dict[str, Any]:
    """What a tool gets that may reach any host, and one whose grant spells the address out."""
    proxy, found = Proxy(resolve=Names(), limits=DoorLimits(idle_s=0.2)), {}
    async with await proxy.door(["*", "own.example", "*.example"]) as door:
        for what, address in OWN.items():
            found[what] = await told(door, address)
            found[f"{what}, a tunnel"] = await told(door, f"{address}:443", "CONNECT {0} HTTP/1.1\r\n\r\n")
        for name in (*NAMES, REBINDING, REBINDING):
            found[name] = await told(door, name)
        found["broadcast"] = await told(door, "11.0.0.255")
        found["anycast"] = await told(door, "[2620:11::1]")
    refused = {"told": found, "heard": list(service.heard)}
    service.heard.clear()
    spelled = [f"{address}:80" for address in OWN.values()]
    async with await proxy.door(spelled) as door:
        exact = {what: await told(door, address) for what, address in OWN.items()}
    await proxy.aclose()
    return {"any": refused, "exact": exact}


async def through_the_web(service: Service) -> dict[str, Any]:
    """What `read_page` gives where any host is granted, and where a person would say yes to all."""
    found: dict[str, Any] = {}
    service.heard.clear()
    for network, listed in (("any", ()), ("ask", ()), ("listed", ["127.0.0.1:80", "own.example", "8.8.8.8"])):
        granter = ScriptedGranter(otherwise=True)
        rules = CapabilitiesSettings.model_validate({"network": network, "network_list": listed})
        web = Web(
            WebSettings(read_page=True), Grants(rules, granter=granter), SandboxSettings(), print, resolve=Names()
        )
        (tool,) = await web.open()
        for url in (
            "http://8.8.8.8/",
            "http://[2001:4860:4860::8888]/",
            "http://own.example/",
            "http://127.0.0.1/moved",
        ):
            if "moved" in url and network != "listed":
                continue
            outcome = await tool.call({"url": url}, workspace=Path())
            found[f"{network} {url}"] = outcome.error.message if outcome.error else "reached"
        found[f"asked, {network}"] = [need for request in granter.asked for need in request.needs]
        await web.aclose()
    return {"told": found, "heard": list(service.heard)}


async def main() -> None:
    for command in WAYS:
        subprocess.run(command, check=True, capture_output=True)
    service = Service()
    servers = [
        await asyncio.start_server(service.serve, host, port) for host in ("0.0.0.0", "::") for port in (80, 443)
    ]
    result = {"doors": await through_doors(service), "web": await through_the_web(service)}
    for server in servers:
        server.close()
    print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
