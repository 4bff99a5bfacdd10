"""A door as a thing of the machine: its folder, its socket, its descriptors, its log; and what a full process costs."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import shutil
import socket
import stat
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from habilis.runtime.egress.proxy import DoorLimits, Proxy, ProxyDoor, Visit

Ask = Callable[..., Awaitable[bytes]]
GET = b"GET http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
OTHER = b"GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"


def descriptors() -> set[str]:
    return set(os.listdir("/dev/fd"))  # noqa: PTH208 - numbers, not paths


@pytest.fixture
def private_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


async def test_a_tool_that_runs_as_another_user_can_read_the_certificate(world: Any, private_umask: None) -> None:
    async with await Proxy(**world.ways).door(["api.example.com"], inspect=True) as door:
        (certificate,) = (path for path in door.socket.parent.iterdir() if path.is_file())
        assert stat.S_IMODE(certificate.stat().st_mode) == 0o644


@contextlib.contextmanager
def only(more: int) -> Iterator[None]:
    """This process may open `more` files, and no further one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as taken:
        limit = [taken.enter_context(socket.socket()).fileno() for _ in range(more + 1)][-1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("more", [0, 1])
async def test_a_door_that_cannot_be_made_says_so_and_leaves_nothing(world: Any, more: int) -> None:
    """A listening socket takes two descriptors while it is made."""
    proxy = Proxy(**world.ways)
    async with await proxy.door([]) as door:
        folder = door.socket.parent.parent
    left, before = set(folder.iterdir()), descriptors()
    with only(more), pytest.raises(OSError, match="Too many open files"):
        await proxy.door([])
    assert (set(folder.iterdir()), descriptors()) == (left, before)


@pytest.mark.parametrize("inspect", [False, True], ids=["plain", "looked into"])
async def test_a_door_leaves_nothing_when_it_closes_while_no_file_can_be_opened(world: Any, inspect: bool) -> None:
    door = await Proxy(**world.ways).door([], inspect=inspect)
    assert door.socket.exists()
    with only(0):
        await door.aclose()
    assert not door.socket.parent.exists()


async def test_calls_one_after_the_other_leave_no_descriptor_open(world: Any, host: Any, ask: Ask) -> None:
    proxy, doors = Proxy(**world.ways), []
    before: set[str] = set()
    for _ in range(3):
        async with await proxy.door(["api.example.com"]) as door:
            doors.append(door)
            assert (await ask(door, OTHER)).startswith(b"HTTP/1.1 403 ")
        before = before or descriptors()
    assert len(descriptors()) == len(before)


async def test_when_a_door_is_closed_its_connections_are_gone_at_once(world: Any, host: Any) -> None:
    opened: list[asyncio.StreamWriter] = []

    async def dial(address: Any, port: int) -> Any:
        reader, writer = await world.dial(address, port)
        opened.append(writer)
        return reader, writer

    host.answer = host.swallow
    door = await Proxy(resolve=world.resolve, dial=dial).door(["api.example.com"])
    reader, writer = await asyncio.open_unix_connection(str(door.socket))
    writer.write(b"CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    await door.aclose()
    assert [one.get_extra_info("socket").fileno() for one in opened] == [-1]
    writer.close()


async def test_a_door_whose_folder_was_swept_away_closes_all_the_same(world: Any) -> None:
    proxy = Proxy(**world.ways)
    async with await proxy.door(["api.example.com"]) as door:
        shutil.rmtree(door.socket.parent)
    await proxy.aclose()


async def test_a_wake_up_for_nobody_holds_nothing_up(world: Any) -> None:
    """Who knocked may be gone again: then there is nobody to take in, and nothing to wait for."""
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        door._accept()
        assert door.connections == 0


async def test_whoever_is_turned_away_and_does_not_listen_holds_nothing_up(world: Any) -> None:
    limits = DoorLimits(connections=0)
    async with await Proxy(**world.ways, limits=limits).door(["api.example.com"]) as door:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(door.socket))
        while not door.visits:
            await asyncio.sleep(0)
    assert "too many connections" in door.visits[0].reason


class Refusing:
    """A listener whose `accept` fails with `number`, the first `times`."""

    def __init__(self, listener: socket.socket, number: int, times: int) -> None:
        self._listener, self._number, self._times, self.asked = listener, number, times, 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.asked += 1
        if self.asked <= self._times:
            raise OSError(self._number, os.strerror(self._number))
        return self._listener.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


def refusing(door: ProxyDoor, monkeypatch: pytest.MonkeyPatch, number: int, times: int) -> Refusing:
    listener = Refusing(door._listener, number, times)
    monkeypatch.setattr(door, "_listener", listener)
    monkeypatch.setattr("habilis.runtime.egress.proxy._BREATH_S", 3600.0)
    return listener


async def test_a_door_does_not_look_again_and_again_while_no_file_can_be_opened(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        listener = refusing(door, monkeypatch, errno.ENFILE, 1000)
        _, writer = await asyncio.open_unix_connection(str(door.socket))
        while not listener.asked:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert listener.asked == 1
        writer.close()


async def test_a_knock_that_came_to_nothing_delays_nobody_else(
    world: Any, host: Any, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        listener = refusing(door, monkeypatch, errno.ECONNABORTED, 1)
        assert (await ask(door, GET)).startswith(b"HTTP/1.1 200 OK")
        assert listener.asked > 1


async def test_the_log_says_who_was_asked_how_much_passed_and_why_not(
    world: Any, host: Any, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "habilis.runtime.egress.proxy")
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        answer = await ask(door, GET)
        await ask(door, OTHER)
        await ask(door, b"\r\n\r\n")
    allowed, refused, nobody = caplog.messages
    assert allowed == f"network: allowed api.example.com:80, 0 bytes up, {len(answer)} down"
    assert refused.startswith("network: refused other.example:80, 0 bytes up, 0 down: refused by the sandbox: ")
    assert nobody.startswith("network: refused (no host):0, 0 bytes up, 0 down: ")


async def test_the_first_thousand_of_what_was_asked_is_kept(world: Any) -> None:
    async with await Proxy(**world.ways).door(["api.example.com"]) as door:
        for number in range(1_002):
            door._began(f"h{number}.example")
            door._note(Visit(f"h{number}.example", 80, False))
        for kept in (door.visited, door.refused, [visit.host for visit in door.visits]):
            assert (len(kept), kept[-1]) == (1_000, "h999.example")


async def test_the_threads_that_looked_names_up_end_with_the_proxy() -> None:
    def looking() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name.startswith("habilis-names")}

    before, proxy = looking(), Proxy()
    assert await proxy._resolver("localhost", 80)
    threads = looking() - before
    assert threads
    await proxy.aclose()
    for thread in threads:
        await asyncio.to_thread(thread.join, 60)
    assert not any(thread.is_alive() for thread in threads)
    assert proxy.has_room()
