"""What the first sandboxed call of a task takes of the processor, beside bubblewrap with an interpreter and Pydantic;
and of memory, while many tasks are at it.

    python benchmarks/first_call.py [REPEATS]      as root and as an ordinary user: the ways differ

Counted is all that this process and all below it take, from a new host to its end; a zygote that runs is counted as far
as it works for the call. What the zygote's own start takes stands in a row of its own: a process has it once. Memory is
that of everything below this process, shared pages counted once; only root may look at it.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.ports import SandboxJob
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.runtime.packages.environments import Environments
from habilis.sandbox.backends.probing import make
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, python
from habilis.sandbox.zygote.spawning import nursery
from host import PYDANTIC, SMALL, host_at_work, one
from measure import Figure, table
from memory import pss_bytes

PR_SET_CHILD_SUBREAPER = 36
AT_A_TIME = 10
"""Calls in a round: what a process has used is told in hundredths of a second."""
SETTLED_S = 0.05
MANY, FEW = 64, 8
WAITING = "import os, time" + SMALL.replace(
    "return", "open('begun', 'w').close()\n    while not os.path.exists('go'): time.sleep(0.05)\n    return"
)


def cpu_ms() -> float:
    """Milliseconds of the processor so far: of this process, of all that has ended below it, and of the zygote with
    what it has collected. Orphans are collected here."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return 1000 * sum(used.ru_utime + used.ru_stime for used in own) + zygote_ms()


def zygote_ms() -> float:
    pid = nursery().number
    if pid is None:
        return 0.0
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def counted(into: list[float], share: int = 1) -> AsyncIterator[None]:
    """Note what the block takes, each of `share` alike."""
    before = cpu_ms()
    yield
    await asyncio.sleep(SETTLED_S)
    into.append((cpu_ms() - before) / share)


async def first_call() -> float:
    """Milliseconds by the clock of a new task's first call."""
    async with host_at_work(SMALL) as (host, tool, workspace):
        started = time.perf_counter()
        host.start(workspace, ())
        await one(host, tool, workspace, 1)
        return 1000 * (time.perf_counter() - started)


async def by_bubblewrap(base: Path) -> None:
    """An interpreter that loads Pydantic, started by bwrap."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101
        program, workspace = Path(folder) / "program.py", Path(folder) / "workspace"
        workspace.mkdir()
        program.write_text(f"import sys; sys.path.append({str(base)!r})\n{PYDANTIC}\n")
        argv = [str(python()), *FLAGS, str(program)]
        job = SandboxJob(argv, b"", workspace, read_only=(program, base), env=FIXED_VARIABLES)
        ended = await make("bubblewrap").run(job)
        if ended.returncode:
            raise RuntimeError(ended.printed)


async def while_waiting(level: str, tasks: int) -> float:
    """MiB that tasks at once take, each in its first call."""
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "tool.py"
        module.write_text(WAITING)
        host, places = ToolHost(SandboxSettings(), sandbox=make(level)), [Path(folder) / str(n) for n in range(tasks)]
        for place in places:
            place.mkdir()
        specs = [CallSpec(Runnable("tool", module), {"n": 1}, place, timeout_s=300.0) for place in places]
        calls = [asyncio.create_task(host.call(spec)) for spec in specs]
        while not all((place / "begun").exists() for place in places):  # noqa: ASYNC110 - they are other processes
            await asyncio.sleep(SETTLED_S)
        taken = sum(pss_bytes(one.pid) for one in psutil.Process().children(recursive=True)) / 2**20
        for place in places:
            (place / "go").touch()
        for outcome in await asyncio.gather(*calls):
            if outcome.error is not None:
                raise RuntimeError(outcome.error.message)
        await host.aclose()
        return taken


async def measured(repeats: int) -> list[Figure]:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    base = (await Environments().ready(())).paths[-1]
    await first_call()
    await by_bubblewrap(base)
    ours: list[float] = []
    theirs: list[float] = []
    starts: list[float] = []
    clock: list[float] = []
    for _ in range(repeats):
        async with counted(theirs):
            await by_bubblewrap(base)
        async with counted(ours, AT_A_TIME):
            clock += [await first_call() for _ in range(AT_A_TIME)]
    for _ in range(repeats):
        nursery().close()
        async with counted(starts):
            await first_call()
    beside = "bubblewrap, an interpreter, Pydantic"
    memory = [await while_waiting("zygote", MANY) / MANY for _ in range(repeats)]
    theirs_memory = [await while_waiting("bubblewrap", FEW) / FEW for _ in range(repeats)]
    return [
        Figure("processor time of a task's first sandboxed call", "ms", ours, beside, theirs),
        Figure("… by the clock", "ms", clock),
        Figure("… with the start of the zygote, once in a process", "ms", starts),
        Figure(f"memory of each of {MANY} tasks in their first call", "MiB", memory, f"{FEW} {beside}", theirs_memory),
    ]


def figures(repeats: int) -> list[Figure]:
    return asyncio.run(measured(repeats))


if __name__ == "__main__":
    print(table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
    print(f"\nLoad: {os.getloadavg()}")
