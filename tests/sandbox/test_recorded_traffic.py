"""Calls of network tools, recorded and given again in the real sandbox: the same result, and nobody is reached."""

from __future__ import annotations

import contextlib
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SandboxSettings
from habilis.contract.capabilities import Grant
from habilis.contract.records import RecordStore
from habilis.contract.runnable import Runnable
from habilis.core.types import CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress.cassette import Fixture, Recorder, Recording, Replaying, Stored, load, unrecorded
from habilis.runtime.egress.inspecting import Authority
from habilis.runtime.egress.proxy import Proxy, ProxyDoor
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make

from ..sites import Site, serving

MakeTool = Callable[..., Runnable]
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
]
FETCH = """
import os, urllib.request
headers = {"Authorization": "Bearer " + os.environ["API_TOKEN"]} if "API_TOKEN" in os.environ else {}
found = []
for url in input.path.split():
    found.append(urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10).read().decode())
return OutputModel(value=found)
"""


def visits(site: Site, head: bytes) -> bytes:
    return b"visit %d" % site.connections


class Inspecting:
    """Doors that look into https, and believe a host of the test's own."""

    def __init__(self, known: Authority) -> None:
        self._proxy = Proxy(to_hosts=ssl.create_default_context(cadata=known.certificate.decode()))

    async def door(self, hosts: Sequence[str], *, traffic: Recorder | Stored | None = None) -> ProxyDoor:
        return await self._proxy.door(hosts, traffic=traffic, inspect=True)

    async def aclose(self) -> None:
        await self._proxy.aclose()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site that says how often it was asked."""
    async with serving(visits) as found:
        yield found


@pytest.fixture
async def host(level: str) -> AsyncIterator[ToolHost]:
    made = ToolHost(SandboxSettings(), sandbox=make(level))
    yield made
    await made.aclose()


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "records")


def kept(store: RecordStore, outcome: CallOutcome) -> Fixture:
    assert outcome.traffic is not None, outcome
    fixture = load(store.content(outcome.traffic.digest) or b"")
    assert fixture is not None, outcome.traffic
    return fixture


async def test_a_call_is_given_again_without_its_host_and_without_its_secret(
    host: ToolHost, tool: MakeTool, workspace: Path, site: Site, store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "sk-planted-token")
    url = f"http://localhost:{site.port}/a"
    grant = Grant(network=(f"localhost:{site.port}",), any_host=True, env=("API_TOKEN",))
    fetch, arguments = tool(FETCH), {"path": f"{url} {url}"}
    live = await host.call(CallSpec(fetch, arguments, workspace=workspace, grant=grant, network=Recording(store.keep)))
    assert live.output["value"] == ["visit 1", "visit 2"]
    assert b"Bearer sk-planted-token" in site.heard
    assert b"planted" not in b"".join(path.read_bytes() for path in (store.path("x").parent / "files").iterdir())
    monkeypatch.delenv("API_TOKEN")
    replaying = Replaying(kept(store, live), ("API_TOKEN",))
    for given in (None, grant):
        again = await host.call(CallSpec(fetch, arguments, workspace=workspace, grant=given, network=replaying))
        assert (again.output, again.error) == (live.output, None)
    assert site.connections == 2


async def test_a_replay_reaches_nobody_whatever_the_tool_tries(
    host: ToolHost, tool: MakeTool, workspace: Path, site: Site, store: RecordStore
) -> None:
    grant = Grant(network=(f"localhost:{site.port}", "*"), any_host=True)
    arguments = {"path": f"http://localhost:{site.port}/a", "number": site.port}
    live = await host.call(
        CallSpec(tool(FETCH), arguments, workspace=workspace, grant=grant, network=Recording(store.keep))
    )
    replaying = Replaying(kept(store, live))
    hostile = tool(
        """
        import os, socket, urllib.request
        def through(text, to=int(os.environ["HTTP_PROXY"].rpartition(":")[2])):
            with socket.create_connection(("127.0.0.1", to), 5) as s:
                s.sendall(text.encode())
                return s.recv(200).decode().split("\\r\\n")[0]
        def tried(do):
            try:
                return str(do())
            except OSError as error:
                return "OSError"
        port = input.number
        said = [
            tried(lambda: urllib.request.urlopen(f"http://localhost:{port}/b", timeout=5).read()),
            tried(lambda: through("GET /a HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n", port)),
            tried(lambda: through(f"CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n")),
            tried(lambda: through(f"GET http://127.0.0.1:{port}/a HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n")),
            tried(lambda: through("GET http://example.org/ HTTP/1.1\\r\\nHost: example.org\\r\\n\\r\\n")),
        ]
        open("said", "w").write("\\n".join(said))
        return OutputModel(value=said)
        """,
        name="hostile_tool",
    )
    outcome = await host.call(CallSpec(hostile, arguments, workspace=workspace, grant=grant, network=replaying))
    assert unrecorded(outcome), outcome
    assert outcome.error is not None
    assert f"GET http://localhost:{site.port}/b" in outcome.error.message
    said = (workspace / "said").read_text().splitlines()
    assert said[0] == "OSError"
    assert said[1].startswith("OSError" if outcome.level == "bubblewrap" else "HTTP/1.1 400 ")
    assert all(line.startswith("HTTP/1.1 403 this is a replay") for line in said[2:])
    assert site.connections == 1


async def test_https_is_recorded_where_it_may_be_looked_into_and_no_key_is_within_reach(
    level: str, tool: MakeTool, workspace: Path, store: RecordStore
) -> None:
    known = Authority()
    host = ToolHost(SandboxSettings(), sandbox=make(level), doors=Inspecting(known))
    async with contextlib.aclosing(host), serving(visits, known.context("localhost")) as site:
        url = f"https://localhost:{site.port}/a"
        grant, arguments = Grant(network=(f"localhost:{site.port}",), any_host=True), {"path": url}
        fetch = tool(FETCH)
        live = await host.call(
            CallSpec(fetch, arguments, workspace=workspace, grant=grant, network=Recording(store.keep))
        )
        assert live.output is not None, live
        assert live.output["value"] == ["visit 1"]
        again = await host.call(CallSpec(fetch, arguments, workspace=workspace, network=Replaying(kept(store, live))))
        assert (again.output, site.connections) == (live.output, 1)
        searching = tool(SEARCH, name="searching_tool")
        found = await host.call(CallSpec(searching, {}, workspace=workspace, grant=grant))
        assert found.output is not None, found
        shown = ["/run/habilis/authority.pem"] if level == "bubblewrap" else []  # elsewhere no folder of it is shown
        assert found.output["value"] == {"certificates": shown, "keys": []}


SEARCH = """
import os
found = {"certificates": [], "keys": []}
def look(path, data):
    for what, mark in (("certificates", b"BEGIN CERTIFICATE"), ("keys", b"PRIVATE KEY")):
        if mark in data:
            found[what].append(path)
for top in ("/run", "/tmp", "/dev/shm", "/proc/self/fd", "/proc/1/fd", os.getcwd()):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path):
                    look(path, open(path, "rb").read(1 << 20))
            except OSError:
                pass
look("environment", repr(dict(os.environ)).encode())
return OutputModel(value=found)
"""


async def test_what_cannot_be_kept_is_said_and_the_call_is_as_good_as_any(
    host: ToolHost, tool: MakeTool, workspace: Path, site: Site
) -> None:
    def full(contents: dict[str, bytes]) -> Any:
        raise OSError(28, "No space left on device")

    place = f"localhost:{site.port}"
    grant, arguments = Grant(network=(place,), any_host=True), {"path": f"http://{place}/"}
    outcome = await host.call(
        CallSpec(tool(FETCH), arguments, workspace=workspace, grant=grant, network=Recording(full))
    )
    assert outcome.output["value"] == ["visit 1"]
    assert outcome.traffic is not None
    assert outcome.traffic.lost == "it could not be kept: No space left on device"


async def test_without_walls_no_traffic_is_given_again(tool: MakeTool, workspace: Path) -> None:
    """It would not be given again alone: the tool could ask the hosts themselves."""
    host = ToolHost(SandboxSettings(mode="off"))
    outcome = await host.call(
        CallSpec(tool("return OutputModel(value=1)"), {}, workspace=workspace, network=Replaying(Fixture()))
    )
    await host.aclose()
    assert outcome.error is not None
    assert outcome.error.kind == "unavailable"
    assert "in a sandbox it can" in outcome.error.message
