"""Calls that begin before they are asked for: quicker, and in nothing else different; what a tool spoils is its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.ports import SandboxExit, SandboxJob, SandboxLimits
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.runtime.loading import may_be_loaded_early
from habilis.runtime.packages.environments import Environments
from habilis.sandbox.backends.probing import Unconfined, make
from habilis.sandbox.forkserver.early import Early
from habilis.sandbox.forkserver.warm import WarmServer, serving
from habilis.sandbox.outcomes import frames_of
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
]
MakeTool = Callable[..., Runnable]
Call = Callable[..., Awaitable[SandboxExit]]
MODULE = """
import atexit, builtins, ctypes, os, signal, sys, threading, time
from pydantic import BaseModel

class InputModel(BaseModel):
    number: int = 0

class OutputModel(BaseModel):
    value: object = None

seen = []

def run(input: InputModel) -> OutputModel:
    open("called", "w").close()
    seen.append(len([1, 2]))
    return OutputModel(value=[input.number, seen])

def forever():
    while True:
        pass
"""
LIMITS = SandboxLimits(wall_s=2, processes=16)


def waiting() -> set[int]:
    """The processes below us that are stopped: each is a call whose arguments have not come yet."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if process.status() == psutil.STATUS_STOPPED:
                found.add(process.pid)
        except psutil.NoSuchProcess:
            continue
    return found


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not reached():
            await asyncio.sleep(0.01)


@pytest.fixture
async def warm(level: str, workspace: Path) -> AsyncIterator[ToolHost]:
    """A host that expects calls in the workspace."""
    host = ToolHost(SandboxSettings(), sandbox=make(level))
    host.start(workspace, ())
    yield host
    await host.aclose()


@pytest.fixture
async def server(level: str, workspace: Path) -> AsyncIterator[WarmServer]:
    """A server without a host, which would not load early what is not quiet to load."""
    sandbox, found = make(level), await Environments().ready(())
    assert not isinstance(sandbox, Unconfined)
    job = SandboxJob([], b"", workspace, read_only=found.paths, env=FIXED_VARIABLES, limits=LIMITS)
    server = await sandbox.serve(serving(job, found.paths))
    yield server
    await server.aclose()


@pytest.fixture
async def call(server: WarmServer, workspace: Path) -> Call:
    async def call(source: str, number: int = 0) -> SandboxExit:
        about: dict[str, Any] = {"name": "tool", "source": source, "steps": ["call"], "workspace": str(workspace)}
        whole = {**about, "packages": [], "files": [], "arguments": {"number": number}}
        early = Early(
            json.dumps({**whole, "arguments": {}}).encode(), json.dumps({"number": number}).encode(), lambda: True
        )
        return await server.call(json.dumps(whole).encode(), LIMITS, early)

    return call


def value_of(ended: SandboxExit) -> Any:
    return frames_of(ended.reply or b"")[1]["call"]["result"]["value"]


async def test_a_tool_that_was_called_waits_loaded_for_its_next_call(call: Call) -> None:
    """And each process does one call: nothing that a call leaves in its module is there in the next."""
    processes = set()
    for number in range(4):
        assert value_of(await call(MODULE, number)) == [number, [2]]
        await until(lambda: len(waiting()) == 1)
        processes |= waiting()
    assert len(processes) == 4


async def test_calls_without_a_pause_leave_nothing_waiting_but_the_next(call: Call, server: WarmServer) -> None:
    """Each takes what is being loaded, ready or not: what was taken waits no more, nor is it missed later."""
    for number in range(20):
        assert value_of(await call(MODULE, number)) == [number, [2]]
    await until(lambda: server.seeds <= 1 and len(waiting()) == server.seeds)
    assert server.usable


async def test_two_versions_of_a_tool_are_never_mixed_up(call: Call) -> None:
    for _ in range(3):
        for version in ("1", "2"):
            assert value_of(await call(MODULE.replace("input.number,", f"{version},"))) == [int(version), [2]]
    await until(lambda: len(waiting()) == 1)


async def test_only_the_last_tool_waits(call: Call) -> None:
    for version in range(5):
        await call(MODULE.replace("input.number,", f"{version},"))
        await until(lambda: bool(waiting()))
    await until(lambda: len(waiting()) == 1)


POISONS = (
    "threading.Thread(target=forever, daemon=True).start()",
    "atexit.register(forever)",
    "os.fork() or forever()",
    "os.fork() or (os.setsid(), [os.kill(os.getppid(), 18) or time.sleep(0.001) for _ in range(10**6)])",
    "builtins.len = lambda thing: 666",
    "os.closerange(3, 64)",
    "os.kill(os.getpid(), signal.SIGSTOP)",
    "os.kill(0, signal.SIGKILL)",
    "forever()",
    "os._exit(0)",
    "raise ValueError('loaded')",
    "print('x' * 9_000_000)",
    '[os.write(number, b\'{"step": "call", "result": {"value": 666}}\') for number in (4, 5, 6)]',
    "held = [bytearray(1 << 20) for _ in range(1 << 12)]",
    "[os.write(3, str(number).encode()) for number in range(1, 200)]",
    "sys.modules['_habilis_sprouting'].beside = os.getppid",
    "sys.modules['_habilis_sprouting'].beside = lambda: 1",
    "sys.modules['_habilis_sprouting'].beside = forever",
    "os.setsid = os.getpid",
    "ctypes.CDLL(None).syscall(56, 0x8000 | 17, 0, 0, 0, 0) or forever()",
)


@pytest.mark.parametrize("poison", POISONS)
async def test_a_module_that_is_hostile_when_it_waits_harms_no_other(
    call: Call, server: WarmServer, poison: str
) -> None:
    """It acts from its second loading on, the one before a call is asked for."""
    hostile = MODULE + f"\nif os.path.exists('called'):\n    {poison}\n"
    innocent = MODULE.replace("input.number,", "'innocent',")
    await call(hostile)
    for _ in range(2):
        assert value_of(await call(innocent)) == ["innocent", [2]]
    await call(hostile)
    for _ in range(2):
        assert value_of(await call(innocent)) == ["innocent", [2]]
    assert server.usable
    await server.aclose()
    assert waiting() == set()


@pytest.mark.slow
async def test_what_is_hostile_when_it_is_split_harms_no_other(call: Call, server: WarmServer) -> None:
    """Many calls at once of each hostile module, all among calls of an innocent one."""
    innocent = MODULE.replace("input.number,", "'innocent',")
    await call(innocent)
    for poison in POISONS:
        hostile = MODULE + f"\nif os.path.exists('called'):\n    {poison}\n"
        calls = [call(source) for _ in range(3) for source in (hostile, innocent)]
        ended = await asyncio.gather(*calls)
        assert [value_of(one) for one in ended[1::2]] == [["innocent", [2]]] * 3, poison
        assert server.usable, poison
    await server.aclose()
    assert waiting() == set()


async def test_many_calls_at_once_load_their_tool_once_and_share_nothing(call: Call, workspace: Path) -> None:
    counted = MODULE + "\nwith open('loads', 'a') as loads:\n    loads.write('x')\n"
    counted = counted.replace("[input.number, seen]", "[input.number, seen, os.getpid(), os.getsid(0)]")
    found = [value_of(ended) for ended in await asyncio.gather(*(call(counted, number) for number in range(40)))]
    assert [(number, seen) for number, seen, _, _ in found] == [(number, [2]) for number in range(40)]
    assert len({pid for _, _, pid, _ in found}) == 40
    assert all(pid == session for _, _, pid, session in found)
    assert len((workspace / "loads").read_text()) < 5


async def test_many_calls_of_a_tool_that_cannot_be_split_are_made_all_the_same(call: Call) -> None:
    threaded = MODULE + "\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    for _ in range(2):
        found = await asyncio.gather(*(call(threaded, number) for number in range(8)))
        assert [value_of(ended) for ended in found] == [[number, [2]] for number in range(8)]


async def test_calls_go_on_when_the_process_that_they_are_split_from_is_killed(call: Call) -> None:
    """Those that had begun come to their end, and so do those that had not."""
    await call(MODULE)
    slow = MODULE.replace("    seen.append", "    time.sleep(0.05)\n    seen.append")
    calls = [asyncio.create_task(call(slow, number)) for number in range(30)]
    await until(lambda: bool(waiting()) or all(one.done() for one in calls))
    for pid in waiting():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    found = [value_of(ended) for ended in await asyncio.gather(*calls)]
    assert found == [[number, [2]] for number in range(30)]


async def test_calls_of_one_tool_at_once_reach_neither_each_other_nor_what_they_were_split_from(call: Call) -> None:
    """Each has a Landlock domain of its own, inside that of the loaded process."""
    body = """
    others = set(range(max(2, os.getpid() - 60), os.getpid() + 60)) | {os.getppid()}
    for pid in others - {os.getpid()}:
        try:
            os.kill(pid, 0)
            seen.append(pid)
        except (ProcessLookupError, PermissionError):
            pass
    time.sleep(0.05)
    seen.append"""
    reaching = MODULE.replace("\n    seen.append", body)
    found = await asyncio.gather(*(call(reaching, number) for number in range(20)))
    assert [value_of(ended) for ended in found] == [[number, [2]] for number in range(20)]


BODIES = {
    "arguments": ("return OutputModel(value=input.number)", {"number": "no"}),
    "crash": ("return OutputModel(value=1 / input.number)", {"number": 0}),
    "exit": ("raise SystemExit(3)", {}),
    "missing": ("return OutputModel(value=open('none.txt').read())", {}),
    "forbidden": ("return OutputModel(value=open('/etc/shadow').read())", {}),
    "output": ("return 5", {}),
    "printed": ("print('here', input.number)\nreturn OutputModel(value=input.number)", {"number": 4}),
    "opened": ("return OutputModel(value=open('given.txt').read())", {}),
    "slow": ("while True:\n    pass", {}),
}


@pytest.mark.parametrize("body", BODIES)
async def test_a_call_that_began_early_says_what_a_cold_one_says(
    warm: ToolHost, level: str, tool: MakeTool, workspace: Path, body: str
) -> None:
    (workspace / "given.txt").write_text("given")
    text, arguments = BODIES[body]
    guarded = f"if input.number == 77:\n    return OutputModel(value=1)\n{text}"
    await warm.call(CallSpec(tool(guarded), {"number": 77}, workspace=workspace))
    await until(lambda: bool(waiting()))
    limit_s = 2.0 if "sleep" in text or "while" in text else 60.0
    early = await warm.call(CallSpec(tool(guarded), arguments, workspace=workspace, timeout_s=limit_s))
    cold_host = ToolHost(SandboxSettings(warm=False), sandbox=make(level))
    cold = await cold_host.call(CallSpec(tool(guarded), arguments, workspace=workspace, timeout_s=limit_s))
    await cold_host.aclose()
    assert early.model_copy(update={"seconds": 0.0}) == cold.model_copy(update={"seconds": 0.0})


async def test_chance_is_not_the_same_in_each_call(warm: ToolHost, tool: MakeTool, workspace: Path) -> None:
    found = set()
    for _ in range(4):
        outcome = await warm.call(
            CallSpec(tool("import random\nreturn OutputModel(value=random.random())"), {}, workspace=workspace)
        )
        assert outcome.error is None
        found.add(outcome.output["value"])
        await until(lambda: bool(waiting()))
    assert len(found) == 4


@pytest.mark.parametrize(
    ("top", "early"),
    [
        ("LIMIT = 5", True),
        ("import pandas as pd", True),
        ("PATTERN = re.compile('a+')", True),
        ("from enum import Enum\nclass Kind(str, Enum):\n    A = 'a'", True),
        ("NOW = time.time()", False),
        ("TEXT = open('x').read()", False),
        ("threading.Thread(target=run).start()", False),
        ("run(InputModel())", False),
        ("@register\ndef other(): pass", False),
        ("class Odd:\n    made = other()", False),
        ("def other(given=look()): pass", False),
        ("while True: pass", False),
        ("def other(): open('x', 'w')", False),
        ("print(1)", False),
        ("(", False),
    ],
)
def test_what_is_loaded_early_does_nothing_when_it_is_loaded(top: str, early: bool) -> None:
    quiet = "import re, time, threading\ndef run(input):\n    return 1\n"
    assert may_be_loaded_early(quiet + top) is early
