"""Doors to granted hosts: a unix socket for each call that may reach some, behind which an HTTP proxy of ours listens.

The sandbox has no network; a relay beside the tool (`relay.py`) leads all that it says to the door. The names are
resolved out here, and every request is checked (`traffic.py`, `addresses.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from habilis.contract.hosts import HostGrants, Place
from habilis.runtime.egress.addresses import Dial, Kind, Resolve, Resolver, connect, kind_here
from habilis.runtime.egress.cassette import Recorder, Stored
from habilis.runtime.egress.heads import answer
from habilis.runtime.egress.inspecting import Authority
from habilis.runtime.egress.rules import REFUSED_BY, DoorLimits, Rules, Visit
from habilis.runtime.egress.traffic import TrafficExchange
from habilis.runtime.egress.wayout import Upstream, WayOut
from habilis.sandbox.backends.relaying import CERTIFICATE
from habilis.sandbox.processes.temporary import new_folder

logger = logging.getLogger(__name__)
MOST_KEPT = 1_000
"""Visits and names that a door remembers: a tool can ask without end."""
_BREATH_S = 0.1


class ProxyDoor:
    """The way out of one call. `socket` is its path; `refused` and `visited` are names in the form of grants, in the
    order in which they were first asked for; `visits` are all requests, oldest first (the first thousand)."""

    def __init__(self, rules: Rules, owner: Proxy) -> None:
        self._rules = rules
        self._owner = owner
        self._refused: dict[str, None] = {}
        self._visited: dict[str, None] = {}
        self._visits: list[Visit] = []
        self._is_full = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        # Nobody but us comes through this folder; inside the sandbox, where another uid may work, the socket is bound
        # to a place of its own.
        self._folder = new_folder("door")
        self.socket, self._certificate = self._folder / "door", self._folder / CERTIFICATE.name
        with contextlib.ExitStack() as failing:
            failing.callback(self._remove)
            if rules.authority is not None:
                self._certificate.write_bytes(rules.authority.certificate)
                self._certificate.chmod(0o644)
            self._listener = _listen(self.socket)
            failing.pop_all()
        self._loop.add_reader(self._listener, self._accept)
        self._open = True

    @property
    def refused(self) -> tuple[str, ...]:
        return tuple(self._refused)

    @property
    def visited(self) -> tuple[str, ...]:
        return tuple(self._visited)

    @property
    def visits(self) -> tuple[Visit, ...]:
        return tuple(self._visits)

    @property
    def connections(self) -> int:
        """How many are held now."""
        return len(self._tasks)

    async def __aenter__(self) -> ProxyDoor:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cut every connection and remove the socket. A second time does nothing."""
        self._shut()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    def _shut(self) -> None:
        if not self._open:
            return
        self._open = False
        self._loop.remove_reader(self._listener)
        self._listener.close()
        self._remove()
        self._owner.forget(self)

    def _remove(self) -> None:
        """Remove the folder with what is in it: file by file, which also works while no file can be opened."""
        with contextlib.suppress(OSError):
            for path in (self.socket, self._certificate):
                path.unlink(missing_ok=True)
            self._folder.rmdir()

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):  # too many open files: look again when some are closed
                self._loop.remove_reader(self._listener)
                self._loop.call_later(_BREATH_S, self._resume)
            return
        if self.connections >= self._rules.limits.connections or not self._owner.has_room():
            self._turn_away(client)
            return
        task = self._loop.create_task(self._serve(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: client.close())  # also of one that was cancelled before it began

    def _resume(self) -> None:
        if self._open:
            self._loop.add_reader(self._listener, self._accept)

    def _turn_away(self, client: socket.socket) -> None:
        text = f"{REFUSED_BY}: too many connections at once"
        self._note(Visit("", 0, False, reason=text))
        with client, contextlib.suppress(OSError):
            client.send(answer(503, text), socket.MSG_DONTWAIT)

    async def _serve(self, client: socket.socket) -> None:
        streams = await asyncio.open_unix_connection(sock=client, limit=self._rules.limits.head_bytes)
        exchange = TrafficExchange(self._rules, streams, self._began)
        try:
            await exchange.run()
        finally:
            visit = exchange.visit()
            if visit is not None:
                self._note(visit)

    def _began(self, name: str) -> None:
        if len(self._visited) < MOST_KEPT:
            self._visited.setdefault(name)

    def _note(self, visit: Visit) -> None:
        if not visit.allowed and visit.host and len(self._refused) < MOST_KEPT:
            self._refused.setdefault(Place(visit.host, visit.port).as_grant())
        if len(self._visits) == MOST_KEPT:
            if not self._is_full:
                logger.info("network: the tool asks without end, no more of its visits are listed")
            self._is_full = True
            return
        self._visits.append(visit)
        logger.info(
            "network: %s %s:%s, %d bytes up, %d down%s",
            *("allowed" if visit.allowed else "refused", visit.host or "(no host)", visit.port),
            *(visit.bytes_up, visit.bytes_down, visit.reason and f": {visit.reason}"),
        )


def _listen(path: Path) -> socket.socket:
    """A listening socket at `path`, however long that is, which every uid may connect to that sees it."""
    with contextlib.ExitStack() as failing:
        listener = failing.enter_context(socket.socket(socket.AF_UNIX))
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            # a socket's address holds 107 bytes: where there is a /proc, it goes through the folder's descriptor
            listener.bind(f"/proc/self/fd/{folder}/{path.name}" if sys.platform == "linux" else str(path))
        finally:
            os.close(folder)
        path.chmod(0o666)
        listener.listen()
        listener.setblocking(False)
        failing.pop_all()
    return listener


class Proxy:
    """All doors of one host. `upstream` is the user's own proxy, `http://[user:password@]host:port`.

    `connections` is how many all doors together may hold, since each takes two open files of this process. `resolve`,
    `dial`, `kind_of` (which addresses are not public) and `to_hosts` (whom TLS believes) are the machine's own unless
    doubles stand in. Raises `BadHost` for an `upstream` that is none.
    """

    def __init__(
        self,
        *,
        upstream: str | None = None,
        limits: DoorLimits | None = None,
        connections: int = 256,
        resolve: Resolve | None = None,
        dial: Dial = connect,
        kind_of: Kind = kind_here,
        to_hosts: ssl.SSLContext | None = None,
    ) -> None:
        self._limits, self._connections = limits or DoorLimits(), connections
        self._resolver = Resolver()
        further = Upstream.read(upstream) if upstream else None
        self._way_out = WayOut(resolve or self._resolver, dial, further, kind_of)
        self._doors: set[ProxyDoor] = set()
        self._to_hosts = to_hosts
        self._authority: Authority | None = None

    async def door(
        self, hosts: Sequence[str], *, traffic: Recorder | Stored | None = None, inspect: bool = False
    ) -> ProxyDoor:
        """A door to exactly `hosts`: `name`, `*.name`, `name:port`, or `*` (any public host), ports 80 and 443 unless
        one is named. Use as an async context manager.

        `traffic` notes what passes, or answers for all hosts, so that none is reached; `inspect`: tunnels are looked
        into. Raises `BadHost` (a ValueError, like the one for a missing package); OSError when no socket can be made.
        """
        if inspect and self._authority is None:
            self._authority = Authority(self._to_hosts)
        authority = self._authority if inspect else None
        door = ProxyDoor(Rules(HostGrants.read(hosts), self._limits, self._way_out, traffic, authority), self)
        self._doors.add(door)
        return door

    def has_room(self) -> bool:
        """Whether one more connection may be held."""
        return sum(door.connections for door in self._doors) < self._connections

    def forget(self, door: ProxyDoor) -> None:
        """`door` is shut."""
        self._doors.discard(door)

    async def aclose(self) -> None:
        """Close every door, for good."""
        while self._doors:
            await next(iter(self._doors)).aclose()
        self._resolver.close()
