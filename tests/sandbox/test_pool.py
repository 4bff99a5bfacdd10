"""Many tasks in one process: few of them have a warm server, none waits for one, and a long idle one makes way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from habilis.core.ports import SandboxExit, SandboxJob
from habilis.sandbox.forkserver.pool import MOST_IN_PROCESS, SPARED_S, Servers


class Waiting:
    """A server that waits."""

    def __init__(self) -> None:
        self.usable, self.calls, self.memory, self.last_used = True, 0, 0, time.monotonic()
        self.when_unusable: Callable[[], None] = lambda: None

    async def drained(self) -> None: ...

    async def aclose(self) -> None:
        self.usable = False


class Serving:
    level = "double"

    def __init__(self) -> None:
        self.made: list[Waiting] = []

    async def run(self, job: SandboxJob) -> SandboxExit:
        raise AssertionError("nothing is run here")

    async def serve(self, job: SandboxJob) -> Waiting:
        self.made.append(Waiting())
        return self.made[-1]


async def test_a_process_has_few_servers_and_one_that_was_long_idle_makes_way(tmp_path: Path) -> None:
    sandbox = Serving()
    hosts = [Servers(sandbox) for _ in range(MOST_IN_PROCESS + 2)]  # type: ignore[arg-type]
    jobs = [SandboxJob(["python"], b"", tmp_path / str(number)) for number in range(len(hosts))]
    for host, job in zip(hosts, jobs, strict=True):
        await host.server(job, ())
    got = [await host.server(job, ()) for host, job in zip(hosts, jobs, strict=True)]
    assert [server is not None for server in got] == [True] * MOST_IN_PROCESS + [False] * 2
    sandbox.made[3].last_used -= 2 * SPARED_S
    assert await hosts[-1].server(jobs[-1], ()) is not None
    assert not sandbox.made[3].usable
    assert await hosts[-2].server(jobs[-2], ()) is None, "the others were used just now"
    await hosts[0].aclose()
    assert await hosts[-2].server(jobs[-2], ()) is not None
    for host in hosts:
        await host.aclose()


async def test_where_a_call_of_its_own_is_quick_a_server_begins_with_the_second(tmp_path: Path) -> None:
    """A task of one call, as most are, would pay for a server that nobody uses."""

    class Quick(Serving):
        quick = True

        def expect(self, packages: Sequence[Path]) -> None:
            expected.append(packages)

    expected: list[Sequence[Path]] = []
    sandbox, job = Quick(), SandboxJob(["python"], b"", tmp_path)
    host = Servers(sandbox)
    host.expect(job, (tmp_path,))
    assert expected == [(tmp_path,)]
    assert await host.server(job, (tmp_path,)) is None
    assert sandbox.made == []
    assert await host.server(job, (tmp_path,)) is not None
    await host.aclose()
