"""Services of this very machine are out of reach by its own public addresses, too, as the kernel knows them.

The machine is a network namespace that the test makes (`own_namespace.py`), with addresses that look public.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.hosts import Address
from habilis.runtime.egress.addresses import METADATA_NAMES, connect, kind_here, kind_of
from habilis.runtime.egress.proxy import Proxy
from habilis.runtime.egress.routes import own_kind

Ask = Callable[..., Awaitable[bytes]]
SCRIPT = Path(__file__).with_name("own_namespace.py")
AS_PUBLIC = "93.184.215.14"
METADATA = (
    *("169.254.169.254", "fe80::a9fe:a9fe", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"),  # most clouds
    *("169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23"),  # Amazon's, its containers'
    *("168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110"),  # Azure's
    *("fd20:ce::254", "100.100.100.200", "192.0.0.192", "169.254.0.23", "169.254.42.42"),
)
"""Also of Google, Alibaba, Oracle, Tencent and Scaleway."""
SPELLINGS = (
    *("0", "0x0", "0.0.0.0", "[::]", "255.255.255.255", "127.1", "2130706433", "0x7f000001", "017700000001"),
    *("0177.0.0.1", "127.0.0.1.", "2852039166", "0xa9fea9fe", "0xa9.254.169.254", "169.254.43518", "[::ffff:7f00:1]"),
    *("[fe80::1%eth0]", "[fe80::1%25eth0]", "[::127.0.0.1]", "[0:0:0:0:0:ffff:a9fe:a9fe]", "[::ffff:0:127.0.0.1]"),
    *("168.63.129.16.", "2822734096", "[::ffff:168.63.129.16]", "[2002:7f00:1::]", "[64:ff9b:1::7f00:1]"),
    *("169.254.169.254%00.example", "127.0.0.1%2eexample", "①⑥⑧.63.129.16", "127。0。0。1", "[127.0.0.1]"),
)


@pytest.fixture(scope="module")
def machine() -> dict[str, Any]:
    """What doors and the tools of the web gave on a machine with public addresses of its own."""
    if sys.platform != "linux" or not all(map(shutil.which, ("unshare", "ip"))):
        pytest.skip("needs Linux, unshare and ip, to make a machine with addresses of its own")
    alone = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run([*alone, "ip", "link", "set", "lo", "up"], capture_output=True).returncode:
        pytest.skip("this machine lets nobody make a network namespace")
    done = subprocess.run([*alone, sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_any_host_is_none_of_this_machine(machine: dict[str, Any]) -> None:
    found = machine["doors"]["any"]
    assert found["heard"] == []
    told = dict(found["told"])
    assert "502" in told.pop("both.example")  # the public one of its addresses was tried, and nobody is there
    assert len(told) == 21
    assert all(answer.startswith("HTTP/1.1 403 refused by the sandbox: ") for answer in told.values()), told
    assert "8.8.8.8 is this machine's own address, which only a grant that says 8.8.8.8:80" in told["an address"]
    assert "own.example leads to this machine's own address" in told["own.example"]


def test_a_grant_that_spells_the_address_and_port_out_reaches_it(machine: dict[str, Any]) -> None:
    """The attempts of the test above would fail as well where nothing answers at all."""
    answers = machine["doors"]["exact"]
    assert len(answers) == 8
    assert set(answers.values()) == {"HTTP/1.1 200 OK"}


def test_the_tools_of_the_web_read_nothing_of_this_machine(machine: dict[str, Any]) -> None:
    """Neither by any grant, nor because a person says yes, nor by a redirect; and nobody is asked about an address."""
    told = machine["web"]["told"]
    assert told.pop("asked, ask") == ["network own.example"]
    assert told.pop("asked, any") == told.pop("asked, listed") == []
    assert len(told) == 10
    assert all("own address" in text or "machine's own; only" in text for text in told.values()), told
    assert machine["web"]["heard"] == ["127.0.0.1"]  # from where it was redirected to 8.8.8.8


@pytest.mark.parametrize("text", METADATA)
def test_the_metadata_address_of_each_cloud_is_known(text: str) -> None:
    assert kind_of(ip_address(text)) is not None


@pytest.mark.parametrize("name", sorted(METADATA_NAMES))
async def test_a_metadata_name_is_refused_whatever_resolves_it(world: Any, ask: Ask, name: str) -> None:
    """A further proxy resolves names where a cloud answers."""
    for upstream in (None, "http://127.0.0.1:3128"):
        async with await Proxy(upstream=upstream, **world.ways).door(["*", name]) as door:
            told = await ask(door, f"GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
            assert b"403 refused by the sandbox: " in told
            assert b"metadata service" in told
    assert world.asked == world.dialled == []


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_of_an_inward_address_passes(world: Any, ask: Ask, spelling: str) -> None:
    async with await Proxy(**world.ways).door(["*", "*.example"]) as door:
        for line in (f"GET http://{spelling}/ HTTP/1.1", f"CONNECT {spelling}:443 HTTP/1.1"):
            told = (await ask(door, f"{line}\r\nHost: {spelling}\r\n\r\n".encode()))[:13]
            assert told in (b"HTTP/1.1 403 ", b"HTTP/1.1 400 "), told
    assert world.asked == world.dialled == []


def test_the_kernel_says_what_is_this_machines() -> None:
    if sys.platform != "linux":
        pytest.skip("the kernel is asked on Linux")
    assert own_kind(ip_address("127.3.2.1")) == "this machine's own"
    assert own_kind(ip_address(AS_PUBLIC)) is None
    assert kind_here(ip_address(AS_PUBLIC)) is None


def test_where_the_kernel_is_not_asked_binding_tells() -> None:
    assert own_kind(ip_address("127.0.0.1"), lambda address: None) == "this machine's own"
    assert own_kind(ip_address(AS_PUBLIC), lambda address: None) is None


async def test_an_address_that_becomes_this_machines_while_it_is_dialled_is_cut(
    world: Any, host: Any, ask: Ask
) -> None:
    def look(address: Address) -> str | None:
        return "this machine's own" if world.dialled else None

    async with await Proxy(kind_of=look, **world.ways).door(["*"]) as door:
        told = await ask(door, b"GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    assert b"403 refused by the sandbox: 93.184.215.14 has become this machine's own address" in told
    assert world.dialled
    assert bytes(host.heard) == b""


async def test_a_connection_that_leads_elsewhere_is_none(host: Any) -> None:
    """What counts is who is really at the other end: the kernel takes `0.0.0.0` for this machine."""
    _, writer = await connect(ip_address("127.0.0.1"), host.port)
    writer.close()
    await writer.wait_closed()
    with pytest.raises(OSError, match="led elsewhere"):
        await connect(ip_address("0.0.0.0"), host.port)
    await host.ended.wait()


async def test_a_name_that_first_is_public_and_then_own_is_looked_at_each_time(world: Any, ask: Ask) -> None:
    answers = iter(["93.184.215.14", "8.8.8.8"])

    async def resolve(name: str, port: int) -> Sequence[Address]:
        return [ip_address(next(answers))]

    def look(address: Address) -> str | None:
        return "this machine's own" if str(address) == "8.8.8.8" else None

    request = b"GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
    proxy = Proxy(resolve=resolve, dial=world.dial, kind_of=look)
    async with await proxy.door(["*", "api.example.com"]) as door:
        assert (await ask(door, request)).startswith(b"HTTP/1.1 200 OK")
        assert b"leads to this machine's own address" in await ask(door, request)
    assert [address for address, _ in world.dialled] == ["93.184.215.14"]
