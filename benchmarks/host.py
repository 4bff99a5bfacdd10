"""What a tool call costs: warm, cold, many at once; what a waiting server weighs; how fast known tools are loaded.

    python benchmarks/host.py [--only calls|throughput|weight|answers|environment|loading] [REPEATS]

Beside wall time stands processor time, of this process and all below it: that tells something on a busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import BaseModel

from habilis.config import SandboxSettings
from habilis.contract.contract import read_contract
from habilis.contract.runnable import Description, Runnable
from habilis.library import Library
from habilis.library.folder import INDEX
from habilis.library.tool import digest_of
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.runtime.packages.environments import Environments
from measure import PYTHON, Figure, table
from memory import pss_bytes

CALLS, PAUSE_S = 60, 0.03
AT_ONCE, WORK_S = 200, 0.05
FEW_TOOLS, MANY_TOOLS = 1_000, 10_000
ANSWERS = {
    "text": "'some text, ' * 740_000",
    "small lists": "[[0]] * 1_600_000",
    "small objects": "[{'a': 1}] * 800_000",
}
"""Expressions that come to about 8 MB of JSON."""
SETTLED_S = 3.0
"""So long a file is too young for what was read of it to be kept."""
PYDANTIC = "import pydantic; pydantic.create_model('M', x=(int, 1))()"
SMALL = """
from pydantic import BaseModel

__TOOL_META__ = {"name": "small", "description": "Adds one."}

class InputModel(BaseModel):
    n: int

class OutputModel(BaseModel):
    n: int

def run(input: InputModel) -> OutputModel:
    return OutputModel(n=input.n + 1)
"""
COMPUTE = f"until = time.process_time() + {WORK_S}\n    while time.process_time() < until: pass\n    return"
BUSY = "import time" + SMALL.replace("return", COMPUTE)


@asynccontextmanager
async def host_at_work(source: str, *, warm: bool = True) -> AsyncIterator[tuple[ToolHost, Runnable, Path]]:
    """A host, a tool and a workspace in which calls are expected."""
    with tempfile.TemporaryDirectory() as folder:
        module, workspace = Path(folder) / "tool.py", Path(folder) / "workspace"
        module.write_text(source)
        workspace.mkdir()
        host = ToolHost(SandboxSettings(warm=warm))
        await host.level()
        try:
            yield host, Runnable("tool", module), workspace
        finally:
            await host.aclose()


async def one(host: ToolHost, tool: Runnable, workspace: Path, n: int) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    outcome = await host.call(CallSpec(tool, {"n": n}, workspace=workspace))
    if outcome.output != {"n": n + 1}:
        raise RuntimeError(f"the call failed: {outcome.error}")
    return 1000 * (time.perf_counter() - start)


def interpreter_ms(code: str = PYDANTIC) -> float:
    """Milliseconds of a plain interpreter that runs `code`: nothing confined, nothing checked."""
    start = time.perf_counter()
    subprocess.run([PYTHON, "-c", code], check=True)
    return 1000 * (time.perf_counter() - start)


def in_process_ms() -> float:
    """Milliseconds of the same call inside this process."""
    namespace: dict[str, object] = {"__name__": "tool"}
    exec(SMALL, namespace)
    model, run = namespace["InputModel"], namespace["run"]
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    assert callable(run)
    start = time.perf_counter()
    run(model.model_validate({"n": 1})).model_dump(mode="json")
    return 1000 * (time.perf_counter() - start)


async def paused(host: ToolHost, tools: Sequence[Runnable], workspace: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of one call of each, a pause before every one; beside them a plain interpreter, now and then."""
    took, cold = [], []
    for n, tool in enumerate(tools):
        await asyncio.sleep(PAUSE_S)
        took.append(await one(host, tool, workspace, n))
        if n % 10 == 0:
            cold.append(interpreter_ms())
    return took, cold


async def calls(repeats: int) -> list[Figure]:
    """Calls one after the other, as an agent makes them: with a pause in between."""
    async with host_at_work(SMALL) as (host, tool, workspace):
        start = time.perf_counter()
        host.start(workspace, ())
        await one(host, tool, workspace, 0)
        first = [1000 * (time.perf_counter() - start)]
        again, beside_again = await paused(host, [tool] * CALLS, workspace)
        close = [await one(host, tool, workspace, n) for n in range(CALLS)]
        others = []
        for number in range(CALLS):
            others.append(Runnable(f"tool_{number}", tool.module.with_name(f"tool_{number}.py")))
            others[-1].module.write_text(f"{SMALL}\nNUMBER = {number}\n")
        new, beside_new = await paused(host, others, workspace)
    async with host_at_work(SMALL, warm=False) as (host, tool, workspace):
        alone = [await one(host, tool, workspace, n) for n in range(2 * repeats)]
    beside = "a plain interpreter with Pydantic, unsandboxed"
    return [
        Figure("a sandboxed call, its tool loaded ahead", "ms", again, beside, beside_again),
        Figure("… its 99th percentile", "ms", [slowest(again)]),
        Figure(
            "… one after the other without a pause", "ms", close, "the same call in this process", [in_process_ms()]
        ),
        Figure("a sandboxed call, warm, the first of its tool", "ms", new, beside, beside_new),
        Figure("… its 99th percentile", "ms", [slowest(new)]),
        Figure("a sandboxed call, cold", "ms", alone, beside, beside_new),
        Figure("from the start of a server to the end of its first call", "ms", first, beside, beside_again),
    ]


def slowest(ms: list[float]) -> float:
    """The 99th percentile."""
    return sorted(ms)[int(0.99 * len(ms)) - 1]


def cpu_s() -> tuple[float, float]:
    """Processor seconds so far: of this process, and of all that it has started, ended or not."""
    import psutil

    ours = psutil.Process()
    below = [process.cpu_times() for process in ours.children(recursive=True)]
    return time.process_time(), sum(sum(times[:4]) for times in below) + sum(ours.cpu_times()[2:4])


async def throughput(repeats: int) -> list[Figure]:
    """Many calls at once of a tool that computes; what all processors could do at best is 100 %."""
    cores = len(os.sched_getaffinity(0))
    ideal = AT_ONCE * WORK_S / cores
    shares, host_ms, guest_ms = [], [], []
    async with host_at_work(BUSY) as (host, tool, workspace):
        host.start(workspace, ())
        await one(host, tool, workspace, 0)
        for _ in range(repeats):
            start, before = time.perf_counter(), cpu_s()
            await asyncio.gather(*(one(host, tool, workspace, n) for n in range(AT_ONCE)))
            shares.append(100 * ideal / (time.perf_counter() - start))
            ours, theirs = (1000 * (now - then) / AT_ONCE for now, then in zip(cpu_s(), before, strict=True))
            host_ms.append(ours)
            guest_ms.append(theirs - 1000 * WORK_S)
    gate, code = asyncio.Semaphore(cores), f"{PYDANTIC}; import time\nwhile time.process_time() < {WORK_S}: pass"

    async def process() -> None:
        async with gate:
            await (await asyncio.create_subprocess_exec(PYTHON, "-c", code)).wait()

    start = time.perf_counter()
    await asyncio.gather(*(process() for _ in range(AT_ONCE // 10)))
    beside = [100 * (ideal / 10) / (time.perf_counter() - start)]
    what = f"{AT_ONCE} calls at once of {1000 * WORK_S:.0f} ms of computing, of the ideal"
    return [
        Figure(what, "%", shares, "a process for each, as many at a time as there are cores", beside),
        Figure("… processor time of the host for a call", "ms", host_ms),
        Figure("… processor time of server and call besides its computing", "ms", guest_ms),
    ]


async def weight(repeats: int) -> list[Figure]:
    """What an idle server, with all that belongs to it, takes of the machine's memory."""
    async with host_at_work(SMALL) as (host, tool, workspace):
        host.start(workspace, ())
        await host.describe(tool)
        await asyncio.sleep(1)
        idle = weight_mb()
        for number in range(3):
            other = Runnable(f"tool_{number}", tool.module.with_name(f"tool_{number}.py"))
            other.module.write_text(f"{SMALL}\nNUMBER = {number}\n")
            await one(host, other, workspace, 0)
            await asyncio.sleep(0.5)
        loaded = weight_mb()
    return [
        Figure("memory of a server that waits, MiB", "", [idle]),
        Figure("… with its last tool loaded for the next call", "", [loaded]),
    ]


async def answers(repeats: int) -> list[Figure]:
    """The most that a process ever takes which makes one call with an answer of about 8 MB."""
    found = []
    for what, result in ANSWERS.items():
        source = f"from typing import Any{SMALL}".replace("    n: int\n\ndef", "    n: Any\n\ndef")
        code = f"import asyncio, host; asyncio.run(host.one_answer({source.replace('input.n + 1', result)!r}))"
        told = await asyncio.to_thread(
            lambda code=code: subprocess.check_output([PYTHON, "-c", code], cwd=Path(__file__).parent, text=True)
        )
        found.append(Figure(f"peak memory of the host, an answer of 8 MB ({what}), MiB", "", [int(told) / 1024]))
    return found


async def one_answer(source: str) -> None:
    """Make one call, and print what this process took at most, KiB (`VmHWM`, which a parent's size is no part of)."""
    async with host_at_work(source, warm=False) as (host, tool, workspace):
        outcome = await host.call(CallSpec(tool, {"n": 1}, workspace=workspace))
        if outcome.error is not None:
            raise RuntimeError(f"the call failed: {outcome.error}")
    status = Path("/proc/self/status").read_text()  # noqa: ASYNC240
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


def weight_mb() -> float:
    """What all processes below this one take, shared pages divided among those that share them."""
    import psutil

    return sum(pss_bytes(process.pid) for process in psutil.Process().children(recursive=True)) / (1 << 20)


def known_tools(repeats: int) -> list[Figure]:
    """Loading a library: every tool with its schemas, no process started; also as nobody has read it before."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        first = SMALL.replace('"small"', '"tool_0"')
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        described = Description(name="tool_0", description="Adds one.", input_schema=schema, output_schema=schema)
        Library(Path(folder)).add(first, described, read_contract(first), name="tool_0")
        manifest = Path(folder, "tool_0.json").read_text()
        for number in range(MANY_TOOLS):
            # not added one by one: each would wait for the disk four times, minutes in all
            name = f"tool_{number}"
            source = first.replace('"tool_0"', f'"{name}"')
            about = manifest.replace('"tool_0"', f'"{name}"').replace(
                digest_of(first.encode()), digest_of(source.encode())
            )
            Path(folder, f"{name}.json").write_text(about)
            Path(folder, f"{name}.py").write_text(source)
            if number + 1 in (FEW_TOOLS, MANY_TOOLS):
                time.sleep(SETTLED_S)
                first_s, again_s, cpu = [], [], []
                for _ in range(repeats):
                    shutil.rmtree(Path(folder, INDEX), ignore_errors=True)
                    first_s.append(loaded_s(Path(folder), number + 1))
                    began = time.process_time()
                    again_s.append(loaded_s(Path(folder), number + 1))
                    cpu.append(time.process_time() - began)
                found.append(Figure(f"loading {number + 1:,} known tools", "s", again_s, "processor time", cpu))
                found.append(Figure("… that nobody has loaded before", "s", first_s))
    return found


def loaded_s(folder: Path, count: int) -> float:
    """Seconds in which a new process would know all tools in `folder`."""
    start = time.perf_counter()
    assert len(Library(folder).tools()) == count
    return time.perf_counter() - start


async def ready_environment(repeats: int) -> list[Figure]:
    """An environment that has been built before, as a call asks for it."""
    environments = Environments()
    await environments.ready(())
    ms, beside = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        await environments.ready(())
        ms.append(1000 * (time.perf_counter() - start))
        start = time.perf_counter()
        uv = [PYTHON, "-m", "uv", "run", "--no-project", "--offline", "python", "-c", "1"]
        await (await asyncio.create_subprocess_exec(*uv)).wait()
        beside.append(1000 * (time.perf_counter() - start))
    return [Figure("a ready environment", "ms", ms, "uv run", beside)]


async def loading(repeats: int) -> list[Figure]:
    return await asyncio.to_thread(known_tools, repeats)


ROWS: dict[str, Callable[[int], Awaitable[list[Figure]]]] = {
    "calls": calls,
    "throughput": throughput,
    "weight": weight,
    "answers": answers,
    "environment": ready_environment,
    "loading": loading,
}


def figures(repeats: int, only: str = "") -> list[Figure]:
    async def measured() -> list[Figure]:
        return [figure for name, row in ROWS.items() if only in ("", name) for figure in await row(repeats)]

    return asyncio.run(measured())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repeats", nargs="?", type=int, default=5)
    parser.add_argument("--only", choices=ROWS, default="")
    given = parser.parse_args()
    print(table(figures(given.repeats, given.only)))


if __name__ == "__main__":
    main()
