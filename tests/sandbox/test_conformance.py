"""What every back end must do, warm and cold: a new one is added to `WAYS` and must pass all of it.

What a back end is known not to do is a strict expected failure with its reason, listed in SECURITY.md.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from habilis.config import SandboxSettings
from habilis.contract.capabilities import Grant
from habilis.contract.inference import NO_PROGRAM
from habilis.contract.runnable import Runnable
from habilis.core.ports import SandboxLimits
from habilis.core.types import CallError, CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.landlock import SIGNAL_SCOPE_ABI, landlock_abi
from habilis.sandbox.backends.probing import make, missing

from ..marks import PROMISE
from ..openfiles import held_back, open_files
from .conftest import servers, value_of

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
]
MakeTool = Callable[..., Runnable]
WAYS = (
    ("bubblewrap", "warm"),
    ("bubblewrap", "cold"),
    ("landlock", "warm"),
    ("landlock", "cold"),
    ("off", "cold"),
    ("zygote", "warm"),
    ("zygote", "cold"),
)
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Back:
    """A back end and the way in which it runs calls."""

    level: str
    way: str

    @property
    def many(self) -> int:
        """How many calls at once are asked of it: cold, each is an interpreter."""
        return 200 if self.way == "warm" else 8


def all_of(*, rare: Container[str] = ("bubblewrap-cold", "zygote-cold", "zygote-warm"), **known: str) -> Any:
    """Every back end. The levels in `known` fail, each for its reason; the ways in `rare` are for the slow run."""
    params = []
    for level, way in WAYS:
        name = f"{level}-{way}"
        marks = list(PROMISE) if name in rare else []
        marks += [pytest.mark.xfail(strict=True, reason=known[level])] if level in known else []
        params.append(pytest.param(Back(level, way), id=name, marks=marks))
    return pytest.mark.parametrize("back", params)


every = all_of()
cold_rarely = all_of(rare=("bubblewrap-cold", "landlock-cold", "off-cold", "zygote-cold", "zygote-warm"))
warm_alone = pytest.mark.parametrize("back", [Back(*at) for at in WAYS if at[1] == "warm"], ids=lambda b: b.level)


@pytest.fixture
async def host(back: Back, workspace: Path) -> AsyncIterator[Callable[..., ToolHost]]:
    """Makes hosts of a back end that expect calls in the workspace, with settings of the test's own."""
    if back.level != "off" and (problem := missing(back.level)):
        pytest.skip(f"{back.level}: {problem}")
    made: list[ToolHost] = []

    def make_host(limits: SandboxLimits | None = None, **settings: object) -> ToolHost:
        off = back.level == "off"
        chosen = SandboxSettings.model_validate({**settings, **({"mode": "off"} if off else {})})
        made.append(ToolHost(chosen, sandbox=None if off else make(back.level), limits=limits))
        if back.way == "warm":
            made[-1].start(workspace, ())
        return made[-1]

    yield make_host
    for one in made:
        await one.aclose()


def error_of(outcome: CallOutcome) -> CallError:
    assert outcome.error is not None, outcome
    return outcome.error


def processes_with(*marks: str) -> list[int]:
    """Living processes whose command line holds one of `marks`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                line, status = (entry / "cmdline").read_bytes(), (entry / "status").read_text()
                if any(mark.encode() in line for mark in marks) and "State:\tZ" not in status:
                    found.append(int(entry.name))
    return found


def new_mark() -> str:
    """A time to sleep that no other process has on its command line."""
    return f"7{os.getpid()}.{time.monotonic_ns()}"


@every
async def test_text_and_bytes_pass_unharmed_both_ways(
    back: Back, host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    text = "naïve ﬀ 😀 \x00 \x7f \u2028 \u202e \r\n \\ud800 \" '"
    (workspace / "bytes").write_bytes(bytes(range(256)) * 2)
    body = """
    import logging, os, sys
    assert sys.stdin.read() == ""
    with open("bytes", "rb") as given, open("back", "wb") as back:
        back.write(given.read()[::-1])
    print("\\u017dluť", input.path)
    logging.warning("careful")
    os.write(1, b"\\xff\\xfe raw\\n")
    return OutputModel(value=[input.path, input.number + 1, b"\\xff text", {"\\u00e9": None}, 0.1, True])
    """
    outcome = await host().call(CallSpec(tool(body), {"path": text, "number": 2**70}, workspace=workspace))
    assert value_of(outcome) == [text, 2**70 + 1, "\ufffd text", {"é": None}, 0.1, True]
    assert (workspace / "back").read_bytes() == bytes(range(255, -1, -1)) * 2
    assert "Žluť naïve ﬀ 😀" in outcome.printed
    assert "\ufffd\ufffd raw" in outcome.printed
    assert "careful" in outcome.printed
    assert outcome.made == ("back",)
    assert outcome.level == ("bubblewrap" if back.level == "zygote" else back.level)


@every
async def test_megabytes_go_in_and_come_out(host: Callable[..., ToolHost], tool: MakeTool, workspace: Path) -> None:
    text = "é0123456789" * 400_000
    body = """
    import hashlib
    return OutputModel(value=[hashlib.sha256(input.path.encode()).hexdigest(), input.path[::-1]])
    """
    outcome = await host(SandboxLimits(output_bytes=16 << 20)).call(
        CallSpec(tool(body), {"path": text}, workspace=workspace)
    )
    digest, back = value_of(outcome)
    assert digest == sha256(text.encode()).hexdigest()
    assert back == text[::-1]


@every
async def test_hosts_and_their_calls_leave_nothing_open(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    """A training makes thousands of them in one process, which may be allowed a thousand open files."""
    bodies = ("return OutputModel(value=1)", "raise ValueError", "import os; os._exit(3)")
    tools = [tool(body, name=f"tool{number}") for number, body in enumerate(bodies)]
    left = []
    for _ in range(5):
        one = host()
        for each in tools:
            await one.call(CallSpec(each, {}, workspace=workspace))
        await one.aclose()
        left.append(open_files())
    assert held_back(left) == 0, left


@every
async def test_output_has_limits(host: Callable[..., ToolHost], tool: MakeTool, workspace: Path) -> None:
    limited = host(SandboxLimits(output_bytes=1 << 20))
    huge = tool("return OutputModel(value='x' * (3 << 20))", name="huge")
    flood = tool("while True: print('x' * 1000)", name="flood")
    outcome = await limited.call(CallSpec(huge, {}, workspace=workspace))
    assert error_of(outcome).kind == "bad_output"
    assert "larger than 1 MiB" in error_of(outcome).message
    outcome = await limited.call(CallSpec(flood, {}, workspace=workspace))
    assert error_of(outcome).kind == "crashed"
    assert "printed more than 1 MiB" in error_of(outcome).message
    assert len(outcome.printed) <= 5_000


LEAVING = """
import os, subprocess, time
mark = "MARK"
subprocess.Popen(["/bin/sleep", mark])
subprocess.Popen(["/bin/sh", "-c", f"/bin/sleep {mark} & /bin/sleep {mark}"])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for n in range(16):
            os.dup2(null, n)
        open("started", "w").close()
        os.execv("/bin/sleep", ["sleep", mark])
    os._exit(0)
while not os.path.exists("started"):
    time.sleep(0.002)
"""
"""Starts a child, grandchildren, and a daemon of its own session that holds no descriptor of ours."""


@all_of(off="nothing confines a tool there")
async def test_programs_are_for_tools_that_were_granted_them(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    one, runnable = host(), tool("import os\nreturn OutputModel(value=os.popen('echo here').read())")
    for _ in range(2):  # one after the other, also in the same server
        refused = error_of(await one.call(CallSpec(runnable, {}, workspace=workspace)))
        assert refused.kind == "denied"
        assert refused.message.startswith(NO_PROGRAM)
        granted = await one.call(CallSpec(runnable, {}, workspace=workspace, grant=Grant(subprocess=True)))
        assert value_of(granted) == "here\n"


@cold_rarely
@pytest.mark.parametrize("how", ["end", "time-out", "cancellation"])
async def test_no_process_is_left(host: Callable[..., ToolHost], tool: MakeTool, workspace: Path, how: str) -> None:
    mark = new_mark()
    ending = "return OutputModel(value=1)" if how == "end" else "time.sleep(60)"
    one, runnable = host(), tool(LEAVING.replace("MARK", mark) + ending)
    call = asyncio.create_task(
        one.call(
            CallSpec(
                runnable,
                {},
                workspace=workspace,
                timeout_s=2.0 if how == "time-out" else PATIENCE_S,
                grant=Grant(subprocess=True),
            )
        )
    )
    while not (workspace / "started").exists() and not call.done():
        await asyncio.sleep(0.005)
    if how == "cancellation":
        assert processes_with(mark)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    elif how == "time-out":
        assert error_of(await call).kind == "timeout"
    else:
        assert value_of(await call) == 1
    assert processes_with(mark) == []
    assert value_of(await one.call(CallSpec(tool("return OutputModel(value=1)"), {}, workspace=workspace))) == 1


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of the test's, which it kills or which end with it."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@cold_rarely
async def test_no_process_is_left_when_habilis_is_killed(
    back: Back,
    host: Callable[..., ToolHost],
    tool: MakeTool,
    workspace: Path,
    children: list[subprocess.Popen[bytes]],
) -> None:
    mark = new_mark()
    runnable = tool(LEAVING.replace("MARK", mark) + "time.sleep(60)")
    script = f"""
import asyncio
from pathlib import Path
from habilis.config import SandboxSettings
from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Runnable
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make
async def main():
    off, workspace = {back.level == "off"}, Path({str(workspace)!r})
    host = ToolHost(SandboxSettings(mode="off" if off else "required"), sandbox=None if off else make({back.level!r}))
    if {back.way == "warm"}:
        host.start(workspace, ())
    tool = Runnable("t", Path({str(runnable.module)!r}))
    await host.call(CallSpec(tool, {{}}, workspace=workspace, grant=Grant(subprocess=True)))
asyncio.run(main())
"""
    children.append(subprocess.Popen([sys.executable, "-c", script]))
    ends = time.monotonic() + PATIENCE_S
    while not (workspace / "started").exists() and time.monotonic() < ends:
        await asyncio.sleep(0.01)
    assert processes_with(mark)
    children[0].kill()
    while processes_with(mark, str(workspace)) and time.monotonic() < ends:
        await asyncio.sleep(0.01)
    assert processes_with(mark, str(workspace)) == []
    # and whoever comes next has the workspace
    assert value_of(await host().call(CallSpec(tool("return OutputModel(value=1)"), {}, workspace=workspace))) == 1


@all_of(off="nothing confines a tool there: it reads and writes what the user may")
async def test_what_was_not_given_is_refused_and_said_to_be(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("sk-canary")
    one = host()
    for how in ("open(input.path).read()", "open(input.path, 'a').write('x')"):
        outcome = await one.call(
            CallSpec(tool(f"return OutputModel(value={how})"), {"path": str(secret)}, workspace=workspace)
        )
        assert error_of(outcome).kind == "denied"
        assert str(secret) in error_of(outcome).message
        assert "sk-canary" not in outcome.model_dump_json()
    assert secret.read_text() == "sk-canary"


@every
async def test_a_tool_works_in_its_workspace_which_stays_the_users(
    back: Back, host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    (workspace / "old.txt").write_text("x")
    (workspace / "sub").mkdir(mode=0o700)
    (workspace / "sub" / "private.txt").write_text("x")
    before = {p: (p.stat().st_uid, p.stat().st_gid) for p in (workspace, *workspace.rglob("*"))}
    body = """
    import os
    open("sub/private.txt", "a").write("y")
    os.makedirs("deep/down")
    open("deep/down/new.txt", "w").write("x")
    return OutputModel(value=[os.getcwd(), os.getuid()])
    """
    one = host()
    outcome = await one.call(CallSpec(tool(body), {}, workspace=workspace))
    await one.aclose()
    where, uid = value_of(outcome)
    assert where == "."
    assert uid != 0 or back.level == "off"
    assert outcome.made == ("deep/down/new.txt", "sub/private.txt")
    assert {p: (p.stat().st_uid, p.stat().st_gid) for p in before} == before
    owner = (os.getuid(), os.getgid())
    assert all((p.stat().st_uid, p.stat().st_gid) == owner for p in workspace.rglob("*"))


EXITS = {
    "import sys; sys.exit(3)": "sys.exit(3)",
    "import os; os._exit(3)": "exit code 3",
    "import os; os._exit(0)": "ended",
    "import os; os.kill(os.getpid(), 15)": "SIGTERM",
    "import ctypes; ctypes.string_at(0)": "SIGSEGV",
    "import os; os.abort()": "SIGABRT",
    "raise ValueError('so it is')": "ValueError: so it is",
    "raise PermissionError('not on Sundays')": "not on Sundays",
    "raise BaseExceptionGroup('all', [KeyboardInterrupt()])": "BaseExceptionGroup",
    "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd": "cannot be shown",
    "def down(): return down()\ndown()": "RecursionError",
}


@every
async def test_however_a_tool_ends_the_end_is_a_value(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    one = host()
    tools = [tool(body, name=f"ends{at}") for at, body in enumerate(EXITS)]
    outcomes = await asyncio.gather(*(one.call(CallSpec(each, {}, workspace=workspace)) for each in tools))
    for outcome, (body, words) in zip(outcomes, EXITS.items(), strict=True):
        assert error_of(outcome).kind == "crashed", body
        assert words in error_of(outcome).message, body


@cold_rarely
async def test_calls_at_once_mix_nothing_up_and_those_that_are_killed_take_no_other_with_them(
    back: Back, host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    body = """
    import os, time
    print("number", input.number, flush=True)
    open(f"{input.number}.txt", "w").write("x")
    time.sleep(0.02)
    if input.number % 20 == 7:
        os.kill(os.getpid(), 9)
    return OutputModel(value=str(input.number) * 3000)
    """
    one, runnable, beats = host(), tool(body), 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.005)

    beating = asyncio.create_task(beat())
    numbers = range(back.many)
    outcomes = await asyncio.gather(
        *(one.call(CallSpec(runnable, {"number": n}, workspace=workspace)) for n in numbers)
    )
    beating.cancel()
    for number, outcome in enumerate(outcomes):
        if number % 20 == 7:
            assert error_of(outcome).message.startswith("killed by signal SIGKILL")
        else:
            assert (value_of(outcome), outcome.made) == (str(number) * 3000, (f"{number}.txt",))
    assert [outcome.printed for outcome in outcomes] == [f"number {n}\n" for n in numbers]
    assert beats > 5


@cold_rarely
async def test_a_tool_that_hangs_in_c_is_stopped_beside_others(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    one = host()
    hanging = tool("import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')", name="hanging")
    quick = tool("return OutputModel(value=input.number + 1)", name="quick")
    assert value_of(await one.call(CallSpec(quick, {}, workspace=workspace))) == 1
    stuck = asyncio.create_task(one.call(CallSpec(hanging, {}, workspace=workspace, timeout_s=0.5)))
    assert [value_of(await one.call(CallSpec(quick, {"number": n}, workspace=workspace))) for n in range(3)] == [
        1,
        2,
        3,
    ]
    assert error_of(await stuck).kind == "timeout"


async def killed_in_the_middle(host: ToolHost, runnable: Runnable, workspace: Path, calls: int) -> list[CallOutcome]:
    """Outcomes of calls whose server is killed when some have ended, and some have not begun."""
    for number in (1000, 1001):  # where a call of its own is quick, a server begins with the second
        assert (await host.call(CallSpec(runnable, {"number": number}, workspace=workspace))).error is None
    if not servers() and landlock_abi() < SIGNAL_SCOPE_ABI:
        pytest.skip("this kernel keeps no calls apart, so none is warm")
    running = [
        asyncio.create_task(host.call(CallSpec(runnable, {"number": n}, workspace=workspace))) for n in range(calls)
    ]
    await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    [server] = servers()
    os.kill(server, signal.SIGKILL)
    return await asyncio.gather(*running)


@warm_alone
async def test_when_the_server_is_killed_calls_without_effects_are_made_again(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path
) -> None:
    one, add = host(), tool("return OutputModel(value=input.number + 1)")
    outcomes = await killed_in_the_middle(one, add, workspace, calls=20)
    assert [value_of(outcome) for outcome in outcomes] == list(range(1, 21))
    assert value_of(await one.call(CallSpec(add, {"number": 1}, workspace=workspace))) == 2


@warm_alone
@pytest.mark.parametrize("calls", [30, pytest.param(200, marks=PROMISE)])
async def test_when_the_server_is_killed_nothing_is_done_twice(
    host: Callable[..., ToolHost], tool: MakeTool, workspace: Path, calls: int
) -> None:
    body = """
    import time
    with open(f"{input.number}.txt", "a") as log:
        log.write("x")
    time.sleep(0.02)
    return OutputModel(value=input.number)
    """
    outcomes = await killed_in_the_middle(host(), tool(body), workspace, calls)
    for number, outcome in enumerate(outcomes):
        log = workspace / f"{number}.txt"
        assert not log.exists() or log.read_text() in ("x", "")
        if outcome.error is not None:
            assert "ended from outside" in outcome.error.message
        else:
            assert value_of(outcome) == number
    assert any(outcome.error is None for outcome in outcomes)


async def test_a_workspace_may_be_named_from_the_current_folder(
    host_with: Callable[..., ToolHost],
    level: str,
    tool: Callable[..., Runnable],
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run's folder is named as the user named it, and tools must be able to write there."""
    monkeypatch.chdir(workspace.parent)
    body = 'open("made.txt", "w").write("made")\nreturn OutputModel(value=open("made.txt").read())'
    outcome = await host_with(level).call(CallSpec(tool(body), {}, workspace=Path(workspace.name)))
    assert value_of(outcome) == "made"
    assert outcome.made == ("made.txt",)
