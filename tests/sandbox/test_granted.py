"""Calls with a door, in the real sandbox: they reach what they were granted, and are calls like any other else."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.ports import Sandbox, SandboxExit, SandboxJob
from habilis.core.types import CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress.proxy import Proxy, ProxyDoor
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make, missing

MakeTool = Callable[..., Runnable]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
FETCH = """
import urllib.request
return OutputModel(value=urllib.request.urlopen(f"http://localhost:{input.number}/", timeout=10).read().decode())
"""


class WithDoor:
    """A sandbox whose every job has a door to `hosts`."""

    def __init__(self, inner: Sandbox, *hosts: str) -> None:
        self.level, self._inner, self._hosts = inner.level, inner, hosts
        self.doors: list[ProxyDoor] = []

    async def run(self, job: SandboxJob) -> SandboxExit:
        async with await Proxy().door(self._hosts) as door:
            self.doors.append(door)
            return await self._inner.run(replace(job, door=door.socket))


@pytest.fixture
def sandbox(level: str) -> Sandbox:
    return make(level)


@pytest.fixture
async def ports() -> AsyncIterator[list[int]]:
    """Two hosts that answer with their number."""

    def answering(number: int) -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % number)
            writer.close()

        return serve

    servers = [await asyncio.start_server(answering(number), "127.0.0.1", 0) for number in (0, 1)]
    yield [server.sockets[0].getsockname()[1] for server in servers]
    for server in servers:
        server.close()


def host_in(sandbox: Sandbox, **settings: Any) -> ToolHost:
    return ToolHost(SandboxSettings.model_validate(settings), sandbox=sandbox)


def told(outcome: CallOutcome) -> str:
    return outcome.error.message if outcome.error else str(outcome.output)


async def test_calls_at_the_same_time_reach_each_its_own_host(
    sandbox: Sandbox, tool: MakeTool, workspace: Path, ports: list[int]
) -> None:
    hosts = [host_in(WithDoor(sandbox, f"localhost:{port}")) for port in ports]
    hosts.append(host_in(sandbox))
    fetch = tool(FETCH)
    tried = [(host, port) for host in hosts for port in ports]
    got = await asyncio.gather(
        *(host.call(CallSpec(fetch, {"number": port}, workspace=workspace)) for host, port in tried)
    )
    answers = [outcome.output and outcome.output["value"] for outcome in got]
    assert answers == ["0", None, None, "1", None, None], [told(outcome) for outcome in got]
    assert "is not granted" in told(got[1])
    assert "no network in the sandbox" in told(got[4])


async def test_the_relay_takes_no_process_and_no_open_file_from_the_tool(
    sandbox: Sandbox, tool: MakeTool, workspace: Path, ports: list[int]
) -> None:
    body = """
    import os, time
    made = []
    try:
        while True:
            made.append(os.fork())
            if made[-1] == 0:
                time.sleep(60)
                os._exit(0)
    except BlockingIOError:
        pass
    return OutputModel(value=len(made))
    """
    plain = host_in(sandbox, processes=6)
    granted = host_in(WithDoor(sandbox, f"localhost:{ports[0]}"), processes=6)
    counted = [await host.call(CallSpec(tool(body), {}, workspace=workspace)) for host in (plain, granted)]
    assert counted[0].output is not None
    assert counted[0].output == counted[1].output
    body = "import os\nreturn OutputModel(value=len(os.listdir('/proc/self/fd')))"
    counted = [await host.call(CallSpec(tool(body), {}, workspace=workspace)) for host in (plain, granted)]
    assert counted[0].output == counted[1].output


async def test_a_tool_that_waits_for_its_children_does_not_wait_for_the_relay(
    sandbox: Sandbox, tool: MakeTool, workspace: Path, ports: list[int]
) -> None:
    body = """
    import os
    if os.fork() == 0:
        os._exit(3)
    codes = []
    try:
        while True:
            codes.append(os.waitstatus_to_exitcode(os.wait()[1]))
    except ChildProcessError:
        return OutputModel(value=codes)
    """
    host = host_in(WithDoor(sandbox, f"localhost:{ports[0]}"))
    outcome = await host.call(CallSpec(tool(body), {}, workspace=workspace, timeout_s=20))
    assert outcome.output == {"value": [3], "error": None}


async def test_a_cancelled_call_leaves_no_door_and_no_process(
    sandbox: Sandbox, tool: MakeTool, workspace: Path, ports: list[int]
) -> None:
    with_door = WithDoor(sandbox, f"localhost:{ports[0]}")
    body = "import time\nopen('started', 'w').close()\ntime.sleep(60)"
    call = asyncio.create_task(host_in(with_door).call(CallSpec(tool(body), {}, workspace=workspace)))
    while not (workspace / "started").exists():
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not with_door.doors[0].socket.exists()
    assert with_door.doors[0].connections == 0
    running = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(workspace).encode() in read_or_nothing(p)]
    assert running == []


def read_or_nothing(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_a_client_that_never_blocks_reaches_its_host(
    sandbox: Sandbox, tool: MakeTool, workspace: Path, ports: list[int]
) -> None:
    """What a tool says of its sockets must count, also of one that it did not make itself: asyncio waits for none."""
    body = """
    import asyncio
    async def fetch():
        reader, writer = await asyncio.open_connection("127.0.0.1", 3128)
        writer.write(b"GET http://localhost:%d/ HTTP/1.0\\r\\n\\r\\n" % input.number)
        return (await reader.read()).partition(b"\\r\\n\\r\\n")[2].decode()
    async def both():
        return await asyncio.gather(fetch(), fetch())
    return OutputModel(value=asyncio.run(both()))
    """
    host = host_in(WithDoor(sandbox, f"localhost:{ports[1]}"))
    outcome = await host.call(CallSpec(tool(body), {"number": ports[1]}, workspace=workspace, timeout_s=20))
    assert outcome.output == {"value": ["1", "1"], "error": None}, told(outcome)


ANSWERED_FOR = """
import asyncio, ctypes, os, sys
from pathlib import Path
from habilis.config import SandboxSettings
from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make

code = ctypes.create_string_buffer(bytes((6, 0, 0, 0, 0, 0, 0xFF, 0x7F)), 8)
program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
number = ctypes.c_long({"x86_64": 317, "aarch64": 277}[os.uname().machine])
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
assert libc.syscall(number, 1, ctypes.c_ulong(8), ctypes.byref(program)) > 0

async def main():
    host, tool = ToolHost(SandboxSettings(), sandbox=make("landlock")), Runnable("t", Path(sys.argv[1]))
    grant = Grant(network=("example.org",), any_host=True)
    for given in (grant, None):
        outcome = await host.call(CallSpec(tool, {}, workspace=Path(sys.argv[2]), grant=given))
        print(outcome.error.kind, outcome.error.message) if outcome.error else print(outcome.output["value"])

asyncio.run(main())
"""
"""A host below a filter that somebody listens to, as containers may have one: the kernel allows no second."""


async def test_where_a_container_answers_for_calls_itself_hosts_are_refused_in_one_line(
    tool: MakeTool, workspace: Path
) -> None:
    if problem := missing("landlock"):
        pytest.skip(f"landlock: {problem}")
    module = tool("return OutputModel(value='ran')").module
    command = [sys.executable, "-c", ANSWERED_FOR, str(module), str(workspace)]
    ran = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said = (await ran.communicate())[0].decode().splitlines()
    assert said[0].startswith("unavailable the sandbox did not start")
    assert "granted hosts cannot be reached here: nobody may answer for a filter" in said[0]
    assert "Traceback" not in said[0]
    assert said[1:] == ["ran"]
