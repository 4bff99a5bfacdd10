"""What a user would lose if forks of a zygote were held less than what bubblewrap starts, or the zygote were open to
anybody but its host."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from habilis.config import SandboxSettings
from habilis.contract.runnable import Runnable
from habilis.core.ports import SandboxExit, SandboxJob
from habilis.runtime.calls import CallSpec
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends import probing
from habilis.sandbox.backends.bubblewrap import Bubblewrap
from habilis.sandbox.backends.probing import ProbeResult, attacked, choose, make, missing, probe
from habilis.sandbox.ownership.tenancy import Tenancy
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, python
from habilis.sandbox.processes.pipes import Pipes, unnamed_file
from habilis.sandbox.zygote.spawning import Nursery, Offspring, Zygote, ZygoteGone, serves

from .. import nursery as nurse
from .test_attack_table import AS_ROOT, library_paths, python_of

SPAWN = b"spawn 1\n"
WITHIN_S = 30.0
WITH_MOUNTS_AT_HAND = (5, 12)
"""The first release of Linux with all calls by which a zygote's forks mount; there it holds where bubblewrap does."""
SECRET = "a-key-that-nobody-may-have"
RARE = (pytest.mark.slow, pytest.mark.promise)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")


@pytest.fixture(scope="module", autouse=True)
def possible() -> None:
    problem = asyncio.run(probe("zygote")).problem
    release = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    if problem is not None and missing("zygote") is None and release >= WITH_MOUNTS_AT_HAND:
        assert asyncio.run(probe("bubblewrap")).problem is not None, problem
    if problem is not None:
        pytest.skip(f"zygote: {problem}")


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    """A zygote that has loaded no packages."""
    made = Zygote(())
    yield made
    made.end()


def job_of(source: str, folder: Path) -> SandboxJob:
    """A job that runs a script."""
    workspace, program = folder / "workspace", folder / "script.py"
    workspace.mkdir(exist_ok=True)
    program.write_text(textwrap.dedent(source))
    argv = [str(python()), *FLAGS, str(program)]
    return SandboxJob(argv, b"", workspace, read_only=(program,), env=FIXED_VARIABLES)


def seen(user: str, host: str, *levels: str) -> list[dict[str, Any]]:
    """What is seen from inside, at each level, with a host of this user, which may be odd."""
    command = python_of(user)
    env = {"PYTHONPATH": ":".join(library_paths()), "PATH": os.environ["PATH"], "HOME": "/nowhere"}
    looker = Path(f"/tmp/habilis-seen-{os.getpid()}.py")  # where the other user may read it
    looker.write_text(Path(__file__).with_name("seen.py").read_text())
    try:
        done = subprocess.run(
            [*command, str(looker), host, *levels], env=env, cwd="/", capture_output=True, check=False
        )
    finally:
        looker.unlink()
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(mounts: list[str]) -> list[tuple[str, ...]]:
    """The mounts that can be reached: place, what of what lies there, and how. Numbers of mounts tell nothing."""
    found: dict[str, tuple[str, ...]] = {}
    for line in mounts:
        mount, _, system = line.partition(" - ")
        words = mount.split()
        kind = system.split()[0]
        root = "/" if kind == "tmpfs" else words[3]
        options = ",".join(sorted(set(system.split()[2].split(",")) - {"mode=755"}))
        found[words[4]] = (root, words[5], *[word.split(":")[0] for word in words[6:]], kind, options)
    return sorted((place, *rest) for place, rest in found.items())


@pytest.mark.parametrize("user", ["root", "ordinary"])
@pytest.mark.parametrize("host", ["plain", pytest.param("odd", marks=RARE)])
def test_a_tool_sees_the_same_as_where_bubblewrap_starts_it(user: str, host: str) -> None:
    """Mounts, ids, rights, limits, descriptors, variables, session, processes: whatever differs may be a hole.

    The odd host has another umask and folder, other limits, signals that it ignores, and open what it keeps to itself.
    """
    if user == "root" and not AS_ROOT:
        pytest.skip("only root can try it as root")
    if missing("bubblewrap"):
        pytest.skip("there is nothing to compare with")
    by_bwrap, by_zygote, again = seen(user, host, "bubblewrap", "zygote", "zygote")
    same_view(by_zygote, by_bwrap)
    assert by_zygote.pop("chance") != again["chance"], "two forks draw the same lots"
    del by_bwrap["chance"]
    assert by_zygote == by_bwrap


def test_a_host_that_is_told_of_no_childs_end_has_a_zygote_that_is() -> None:
    """Some are started so; and what their threads have blocked is open to tools."""
    [found] = seen("root" if AS_ROOT else "ordinary", "deaf", "zygote")
    assert int(found["status"]["SigBlk"], 16) == 0


def same_view(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """What cannot be compared as it stands is taken out."""
    assert table(ours.pop("mounts")) == table(theirs.pop("mounts"))
    bound, most = (int(one["status"].pop("CapBnd"), 16) for one in (ours, theirs))
    assert bound & ~most == 0, "no right can be had that bubblewrap does not give"
    theirs.pop("first process's rights")
    first = {name.rstrip(":"): int(value, 16) for name, value in ours.pop("first process's rights")}
    assert first.pop("CapBnd") & ~most == 0
    assert first == {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2}


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("user", ["root", "ordinary"])
def test_an_interpreter_that_has_to_start_afresh_is_held_as_well(user: str) -> None:
    """What is read as an interpreter starts was read long ago in a zygote: such a call has one of its own."""
    if user == "root" and not AS_ROOT:
        pytest.skip("only root can try it as root")
    plain, by_bwrap, by_zygote = seen(user, "plain", "zygote", "bubblewrap-afresh", "zygote-afresh")
    same_view(by_zygote, by_bwrap)
    assert by_zygote.pop("chance") != by_bwrap.pop("chance")
    assert by_zygote["hash"] != plain["hash"]
    assert by_zygote == by_bwrap


@pytest.mark.parametrize(
    "message", [b"", b"spawn", b"spawn 2\n", b"spawn 1\n\n", b"x" * 100_000], ids=lambda m: str(m[:12])
)
@pytest.mark.parametrize("given", [5, *(pytest.param(number, marks=RARE) for number in (0, 4, 6, 250))])
def test_what_is_not_the_one_message_ends_the_zygote(zygote: Zygote, message: bytes, given: int) -> None:
    """A parser that goes on after nonsense can be led on: ours stops for good, and makes nothing."""
    channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    null = os.open(os.devnull, os.O_RDWR)
    with channel, theirs:
        zygote._control.setblocking(True)
        socket.send_fds(zygote._control, [message], [theirs.fileno(), *[null] * 249][:given])
        os.close(null)
        theirs.close()
        assert zygote.process.wait(WITHIN_S) == 0
        with suppress(ConnectionResetError):
            assert channel.recv(64) == b"", "it was obeyed"


@pytest.mark.parametrize("given", [0, 4, 6])
def test_the_right_words_with_the_wrong_descriptors_end_it_too(zygote: Zygote, given: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    socket.send_fds(zygote._control, [SPAWN], [null] * given)
    os.close(null)
    assert zygote.process.wait(WITHIN_S) == 0


@pytest.mark.parametrize("spec", [b"", b"{", b"[]", b"{}", b"\xff", b'{"own_user": 3}', b'{"walls": ["--bind"]}'])
async def test_a_fork_that_cannot_read_what_it_is_to_be_ends_without_a_tool(spec: bytes) -> None:
    """Nor does the zygote: the next fork is made as if nothing had been."""
    made = Nursery()
    try:
        for text in (spec, spec):
            pipes = Pipes.open(b"")
            zygote = made.zygote(())
            tree = await made.spawn(text, (), pipes)
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            tree.when_exited(lambda ended=ended: ended.done() or ended.set_result(None))  # type: ignore[misc]
            await asyncio.wait_for(ended, WITHIN_S)
            await tree.end()
            for end in (pipes.reply_out, pipes.printed_out):
                os.close(end)
            assert tree.returncode not in (0, -9)
            assert zygote.usable
    finally:
        made.close()


async def test_a_zygote_holds_nothing_of_its_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keys are in the host's variables, memory and open files; none may be in a process that tools descend from."""
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    made = Nursery()
    secret = unnamed_file(SECRET.encode())
    os.set_inheritable(secret, True)
    try:
        sandbox = Bubblewrap(made, Tenancy())
        job = job_of("import os; os.write(1, b'was here')", tmp_path)
        ended = await sandbox.run(SandboxJob(**{**vars(job), "env": {**job.env, "GRANTED": SECRET}}))
        assert ended.printed == "was here"
        process = psutil.Process(made.zygote(()).process.pid)
        folder = Path(f"/proc/{process.pid}")
        own = ["/dev/null"] * 3 + ["anon_inode", "socket"]
        wait_until(lambda: kinds_of(folder / "fd") == own)  # it lets go of a call after it has told of its end
        assert process.num_threads() == 1
        if AS_ROOT:
            assert SECRET.encode() not in (folder / "environ").read_bytes()
            assert SECRET.encode() not in memory_of(process.pid)
    finally:
        os.close(secret)
        made.close()


def kinds_of(folder: Path) -> list[str]:
    """What is open, by kind."""
    found = []
    for entry in folder.iterdir():
        with suppress(OSError):
            found.append(os.readlink(entry).split(":")[0])  # noqa: PTH115
    return sorted(found)


def memory_of(pid: int) -> bytes:
    """All that a process may write to."""
    found = b""
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            area = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if area:
                begin, end = (int(edge, 16) for edge in area.groups())
                memory.seek(begin)
                with suppress(OSError):
                    found += memory.read(end - begin)
    return found


SEARCHING = """
    import asyncio, sys
    from pathlib import Path
    from habilis.core.ports import SandboxJob
    from habilis.runtime.packages.environments import Environments
    from habilis.sandbox.backends.probing import make
    from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, python
    folder = Path(sys.argv[1])
    (folder / "workspace").mkdir()
    (folder / "search.py").write_text(sys.argv[2])
    packages = asyncio.run(Environments().ready(())).paths
    job = SandboxJob([str(python()), *FLAGS, str(folder / "search.py")], b"", folder / "workspace",
        read_only=(folder / "search.py", *packages), env=FIXED_VARIABLES, packages=packages)
    print((asyncio.run(make("zygote").run(job))).reply.decode())
"""
SEARCH = """
import os, platform
name, found, looked = "yfitnedi-ot-enihcam-a"[::-1].encode(), 0, 0
with open("/proc/self/maps") as areas, open("/proc/self/mem", "rb", 0) as memory:
    for line in areas.read().splitlines():
        if " rw" in line:
            begin, end = (int(edge, 16) for edge in line.split()[0].split("-"))
            memory.seek(begin)
            data = memory.read(end - begin)
            looked, found = looked + len(data), found + data.count(name[::-1][::-1] + b"x")
os.write(int(os.environ["HABILIS_OUT"]), f"{found} {looked > 1 << 20} {platform.node()}".encode())
"""


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.skipif(not AS_ROOT, reason="only root may call a machine otherwise")
def test_a_fork_remembers_nothing_of_the_machine_that_it_was_loaded_on(tmp_path: Path) -> None:
    """Modules keep what they asked for while they were loaded: the machine's name, say, which no tool may know."""
    folder = Path(f"/tmp/habilis-search-{os.getpid()}")
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    call = "import ctypes, os, sys; ctypes.CDLL(None).unshare(0x04000000); import socket; "
    call += "socket.sethostname('a-machine-to-identifyx'); os.execvp(sys.argv[1], sys.argv[1:])"
    words = [sys.executable, "-c", call, *python_of("ordinary"), "-c", textwrap.dedent(SEARCHING), str(folder), SEARCH]
    env = {"PYTHONPATH": ":".join(library_paths()), "PATH": os.environ["PATH"], "HOME": str(folder)}
    try:
        done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(folder)
    assert done.stdout.split() == ["0", "True", "habilis"], done.stderr


REACHING = """
    import ctypes, os, signal, socket, json
    libc = ctypes.CDLL(None, use_errno=True)
    got = []
    for number in range(3, 2000):
        try:
            socket.socket(fileno=os.dup(number)).getpeername()
            got.append(f"a socket: {number}")
        except OSError:
            pass
    for pid in (1, os.getppid(), HOST, ZYGOTE):
        for name in ("mem", "environ", "maps", "fd/3", "root/etc/passwd"):
            try:
                open(f"/proc/{pid}/{name}", "rb").read(1)
                got.append(f"{name} of {pid}")
            except OSError:
                pass
        if libc.ptrace(16, pid, 0, 0) == 0:
            got.append(f"traced {pid}")
        buffer = ctypes.create_string_buffer(8)
        where = (ctypes.c_ulong * 2)(ctypes.addressof(buffer), 8)
        if libc.process_vm_readv(pid, where, 1, where, 1, 0) > 0:
            got.append(f"read {pid}")
        for number in (438, 434):
            descriptor = libc.syscall(number, pid if pid > 2 else 1, 0, 0)
            if number == 438 and descriptor >= 0:
                got.append(f"a descriptor of {pid}")
        try:
            os.kill(pid, signal.SIGKILL)
            if pid not in (1,):
                got.append(f"signalled {pid}")
        except OSError:
            pass
    for kind in ("user", "mnt", "pid", "net"):
        try:
            opened = os.open(f"/proc/1/ns/{kind}", os.O_RDONLY)
            if libc.setns(opened, 0) == 0:
                got.append(f"entered {kind}")
        except OSError:
            pass
    if libc.unshare(0x10000000) == 0:
        got.append("a user namespace")
    os.write(int(os.environ["HABILIS_OUT"]), json.dumps(got).encode())
"""


async def test_what_a_zygote_made_cannot_reach_it(tmp_path: Path) -> None:
    made = Nursery()
    try:
        number = made.zygote(()).process.pid
        source = REACHING.replace("HOST", str(os.getpid())).replace("ZYGOTE", str(number))
        ended = await Bubblewrap(made, Tenancy()).run(job_of(source, tmp_path))
        assert json.loads(ended.reply or b"null") == [], ended.printed
        assert made.zygote(()).process.pid == number, "it lives on"
    finally:
        made.close()


WAITING = "import os, time; os.write(int(os.environ['HABILIS_OUT']), b'!'); time.sleep(600)"
HOST = """
    import asyncio, sys
    from pathlib import Path
    from habilis.core.ports import SandboxJob
    from habilis.sandbox.backends.probing import make
    from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, python
    from habilis.sandbox.zygote.spawning import nursery
    folder = Path(sys.argv[1])
    (folder / "wait.py").write_text("import os, time; open('begun', 'w').close(); time.sleep(600)")
    (folder / "workspace").mkdir()
    argv = [str(python()), *FLAGS, str(folder / "wait.py")]
    job = SandboxJob(argv, b"", folder / "workspace", read_only=(folder / "wait.py",), env=FIXED_VARIABLES)
    print(nursery().zygote(()).process.pid, flush=True)
    asyncio.run(make("zygote").run(job))
"""


def wait_until(what: Any) -> None:
    ends = time.monotonic() + 30
    while not what():
        assert time.monotonic() < ends
        os.sched_yield()


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("whom", ["host", "zygote"])
def test_whoever_is_killed_leaves_no_process(tmp_path: Path, whom: str) -> None:
    """Of a host that was killed nothing goes on, and nothing of a zygote."""
    tmp_path.chmod(0o755)
    words = [sys.executable, "-c", textwrap.dedent(HOST), str(tmp_path)]
    with nurse.Program(words, cwd=tmp_path, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as host:
        try:
            zygote = psutil.Process(int(host.stdout.readline()))
            wait_until(lambda: (tmp_path / "workspace" / "begun").exists())
            below = zygote.children(recursive=True)
            assert len(below) == 2, "the first process of the namespace, and the one that waits"
            (zygote if whom == "zygote" else host).kill()
            _, alive = psutil.wait_procs([zygote, *below], timeout=WITHIN_S)
            assert not alive
        finally:
            host.kill()


async def test_a_zygote_that_was_killed_is_replaced_and_its_call_is_told_so(tmp_path: Path) -> None:
    made = Nursery()
    source = "import pathlib, time; pathlib.Path('begun').touch(); time.sleep(600)"
    sandbox, job = Bubblewrap(made, Tenancy()), job_of(source, tmp_path)
    try:
        running = asyncio.create_task(sandbox.run(job))
        zygote = made.zygote(())
        while not (job.workspace / "begun").exists():
            await asyncio.sleep(0)
        zygote.process.kill()
        ended = await asyncio.wait_for(running, WITHIN_S)
        assert (ended.reply, ended.returncode, ended.stopped) == (None, 137, "lost")
        assert await attacked(sandbox) is None
        assert made.zygote(()) is not zygote
    finally:
        made.close()


async def test_a_killed_zygote_that_still_looks_alive_is_not_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel closes its socket before anybody can see that it has ended."""
    made = Nursery()
    try:
        dying = made.zygote(())
        dying.process.kill()
        dying.process.wait()
        monkeypatch.setattr(dying.process, "poll", lambda: None)
        assert dying.usable
        assert await attacked(Bubblewrap(made, Tenancy())) is None
        assert made.zygote(()) is not dying
    finally:
        made.close()


ONCE = """
    import os, time
    again, lock = os.path.exists("begun"), open("begun", "w")
    while not again:
        time.sleep(0.01)
    return OutputModel(value="done")
"""


async def test_the_tool_of_a_call_whose_zygote_was_killed_is_not_run_again_and_the_model_is_told_why(
    tool: Callable[..., Runnable], workspace: Path
) -> None:
    """It has written: nobody knows what it would do a second time. The next call has another zygote."""
    made = Nursery()
    host = ToolHost(SandboxSettings(), sandbox=Bubblewrap(made, Tenancy()))
    try:
        spec = CallSpec(tool(ONCE), {}, workspace=workspace)
        running = asyncio.create_task(host.call(spec))
        while not (workspace / "begun").exists():
            await asyncio.sleep(0.005)
        made.zygote(()).process.kill()
        outcome = await asyncio.wait_for(running, WITHIN_S)
        assert outcome.error is not None
        assert (outcome.error.kind, outcome.error.message) == (
            "crashed",
            "its process was ended from outside before it gave a result",
        )
        assert (await host.call(spec)).output == {"value": "done", "error": None}
    finally:
        await host.aclose()
        made.close()


async def test_a_cancelled_call_ends_its_fork(tmp_path: Path) -> None:
    made = Nursery()
    try:
        running = asyncio.create_task(Bubblewrap(made, Tenancy()).run(job_of(WAITING, tmp_path)))
        zygote = psutil.Process(made.zygote(()).process.pid)
        while not zygote.children(recursive=True)[1:]:
            await asyncio.sleep(0)
        below = zygote.children(recursive=True)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not [one for one in below if one.is_running()]
    finally:
        made.close()


async def test_a_zygote_is_renewed_and_the_old_one_ends_with_its_last_fork(tmp_path: Path) -> None:
    """Places in memory are alike in its forks: not for ever."""
    made = Nursery(most_spawns=2)
    sandbox, job = Bubblewrap(made, Tenancy()), job_of("", tmp_path)
    try:
        numbers = []
        for _ in range(4):
            await sandbox.run(job)
            numbers.append(made.number)
        assert numbers[0] == numbers[1] != numbers[2] == numbers[3]
        assert numbers[0] is not None
        assert not psutil.pid_exists(numbers[0])
    finally:
        made.close()


async def test_where_no_zygote_holds_bubblewrap_starts_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level is the same; doctor tells the reason."""
    if missing("bubblewrap"):
        pytest.skip("needs bwrap")
    monkeypatch.setitem(probing._found, "zygote", ProbeResult("zygote", "none here"))
    sandbox = await choose(SandboxSettings(), lambda notice: None)
    assert (sandbox.level, getattr(sandbox, "quick", None)) == ("bubblewrap", False)
    assert probing.why_no_zygote() == "none here"


def test_what_a_zygote_has_loaded_otherwise_is_loaded_afresh(tmp_path: Path) -> None:
    """A tool whose environment holds a newer typing_extensions would be run with the older one."""
    base, same, newer = (tmp_path / name for name in ("base", "same", "newer"))
    for folder, version in ((base, "4.12.0"), (same, "4.12.0"), (newer, "4.15.0")):
        (folder / f"typing_extensions-{version}.dist-info").mkdir(parents=True)
        (folder / "other-1.dist-info").mkdir()
    assert serves((base,), {**FIXED_VARIABLES, "GRANTED": "x"})
    assert serves((same, base), {})
    assert not serves((newer, base), {})
    assert not serves((base,), {**FIXED_VARIABLES, "TZ": "Asia/Tokyo"})
    assert not serves((), {"PYTHONHASHSEED": "7"})


RUBBISH = (
    b"born",
    b"born x",
    b"born -1",
    b"born 99999999999",
    b"ended 0",
    b"refused",
    b"refused 0",
    b"yes",
    b"\xff" * 64,
)


@pytest.mark.parametrize("said", [*RUBBISH[:2], *(pytest.param(one, marks=RARE) for one in RUBBISH[2:])], ids=repr)
async def test_a_zygote_that_answers_rubbish_is_none_and_is_ended(zygote: Zygote, said: bytes) -> None:
    """It would be asked again and again, or believed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    tree = Offspring(zygote, ours)
    with theirs, open(os.devnull) as null:  # noqa: PTH123
        socket.send_fds(theirs, [said], [null.fileno()])
        assert await asyncio.wait_for(tree.born, WITHIN_S) == "the zygote has ended"
        assert zygote.process.wait(WITHIN_S) == -signal.SIGKILL
        await tree.end()
        assert theirs.recv(64) == b"", "it is let go of"


async def test_a_zygote_that_cannot_load_is_told_at_once(tmp_path: Path) -> None:
    """The call is made again once what it loads from has been mended; nobody waits until then."""
    (tmp_path / "pydantic.py").write_text("raise ImportError")
    made, pipes = Nursery(start_s=600), Pipes.open(b"")
    try:
        with pytest.raises(ZygoteGone):
            await asyncio.wait_for(made.spawn(b"{}", (tmp_path,), pipes), WITHIN_S)
    finally:
        made.close()


async def test_a_zygote_that_is_stuck_makes_way_for_another(tmp_path: Path) -> None:
    made = Nursery(start_s=0.5)
    sandbox, job = Bubblewrap(made, Tenancy()), job_of("print('done')", tmp_path)
    try:
        stuck = made.zygote(())
        stuck.process.send_signal(signal.SIGSTOP)
        assert (await sandbox.run(job)).printed == "done\n"
        assert made.zygote(()) is not stuck
        assert stuck.process.returncode == -signal.SIGKILL
    finally:
        made.close()


@pytest.mark.slow
@pytest.mark.promise
async def test_many_at_once_are_kept_apart_over_renewals_and_nothing_is_left(tmp_path: Path) -> None:
    """64 tasks begin at once, and their zygote is renewed under them."""
    made = Nursery(most_spawns=20)
    sandbox, zygotes = Bubblewrap(made, Tenancy()), set()

    async def one(number: int) -> SandboxExit:
        folder = tmp_path / str(number)
        folder.mkdir()
        job = job_of(f"open('/tmp/x', 'x').close(); open('/dev/shm/x', 'x').close(); print({number})", folder)
        ended = await sandbox.run(job)
        zygotes.add(made.number)
        return ended

    try:
        outcomes = await asyncio.gather(*map(one, range(64)))
        assert [ended.printed for ended in outcomes] == [f"{number}\n" for number in range(64)]
        assert [psutil.pid_exists(number or 0) for number in zygotes - {made.number}] == [False] * (len(zygotes) - 1)
        assert psutil.Process(made.number).children(recursive=True) == []
    finally:
        made.close()
    assert not psutil.pid_exists(made.number or 1 << 30)


VICTIM = """
    import os, time
    for folder in ("/tmp", "/dev/shm"):
        open(f"{folder}/of-a-neighbour", "w").write("a-neighbours-secret")
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
    kept = [open(f"{folder}/of-a-neighbour").read() for folder in ("/tmp", "/dev/shm")]
    os.write(int(os.environ["HABILIS_OUT"]), b"unharmed" if set(kept) == {"a-neighbours-secret"} else b"harmed")
"""
NEIGHBOUR = """
    import ctypes, json, os, signal
    libc, got = ctypes.CDLL(None, use_errno=True), []
    for folder in ("/tmp", "/dev/shm"):
        got += [f"{folder}/{name}" for name in os.listdir(folder) if "neighbour" in name]
    got += [f"process {name}" for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
    for area in open("/proc/self/maps"):
        if area.split()[1].startswith("rw") and area.split()[1].endswith("s"):
            got.append(f"shared: {area}")
    for pid in PIDS:
        attempts = {
            "ptrace": lambda: libc.ptrace(16, pid, 0, 0), "pidfd": lambda: libc.syscall(434, pid, 0, 0, 0),
            "signal": lambda: libc.kill(pid, 9), "priority": lambda: libc.setpriority(0, pid, 19),
            "limits": lambda: libc.prlimit(pid, 7, None, ctypes.create_string_buffer(16)),
        }
        for name, attempt in attempts.items():
            if attempt() >= 0:
                got.append(f"{name} of {pid}")
        for file in ("mem", "environ", "cmdline", "fd", "root/tmp", "cwd", "ns/mnt"):
            if os.path.lexists(f"/proc/{pid}/{file}"):
                got.append(f"/proc/{pid}/{file}")
    libc.kill(-1, signal.SIGKILL)
    id_max = (libc.shmget(0x6861, 4096, 0o1777), libc.msgget(0x6861, 0o1777), libc.semget(0x6861, 1, 0o1777))
    got += [f"System V: {one}" for one in id_max if one >= 0]
    for number in (248, 249, 250):  # add_key, request_key, keyctl; on other machines calls that are none
        if os.uname().machine == "x86_64" and libc.syscall(number, b"user", b"x", b"x", 1, -3) >= 0:
            got.append(f"keys: {number}")
    os.write(int(os.environ["HABILIS_OUT"]), json.dumps(got).encode())
"""


async def test_two_forks_of_one_zygote_have_nothing_of_each_other(tmp_path: Path) -> None:
    """Tasks of two users' tools: files, processes, memory, keys, signals."""
    made, folders = Nursery(), (tmp_path / "one", tmp_path / "other")
    for folder in folders:
        folder.mkdir()
    sandbox = Bubblewrap(made, Tenancy())
    try:
        victim = asyncio.create_task(sandbox.run(job_of(VICTIM, folders[0])))
        while not (folders[0] / "workspace" / "begun").exists() and not victim.done():
            await asyncio.sleep(0.005)
        pids = [one.pid for one in psutil.Process(made.number).children(recursive=True)]
        assert len(pids) == 2
        ended = await sandbox.run(job_of(NEIGHBOUR.replace("PIDS", str(pids)), folders[1]))
        (folders[0] / "workspace" / "go").touch()
        assert json.loads(ended.reply or b"null") == [], ended.printed
        assert (await victim).reply == b"unharmed"
    finally:
        made.close()


FULL = """
    mount -t tmpfs -o size=64k tmpfs /tmp && chmod 1777 /tmp || exit 77
    head -c 1000000 /dev/zero > /tmp/filling 2> /dev/null
    exec "$@"
"""


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("user", ["root", "ordinary"])
@pytest.mark.skipif(not AS_ROOT, reason="only root may mount a small /tmp")
@pytest.mark.skipif(Path(__file__).is_relative_to("/tmp"), reason="the small /tmp would hide this very checkout")
def test_a_full_tmp_keeps_no_call_from_its_sandbox(user: str) -> None:
    folder = Path(f"/dev/shm/habilis-full-{user}-{os.getpid()}")
    folder.mkdir()
    shutil.chown(folder, *([65534, 65534] if user == "ordinary" else []) or [0, 0])
    runner = folder / "run.py"
    source = textwrap.dedent(HOST).replace("open('begun', 'w').close(); time.sleep(600)", "os.write(1, b'done')")
    runner.write_text(source.replace("asyncio.run(", "print(asyncio.run(").rstrip() + ".printed)\n")
    try:
        words = ["unshare", "-m", "sh", "-c", FULL, "sh", *python_of(user), str(runner), str(folder)]
        env = {"PYTHONPATH": ":".join(library_paths()), "PATH": os.environ["PATH"], "HOME": str(folder)}
        done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True, check=False)
        if done.returncode == 77:
            pytest.skip("nothing can be mounted here")
        assert done.stdout.split()[1:] == ["done"], done.stderr
    finally:
        shutil.rmtree(folder)


def test_the_level_is_that_of_bubblewrap() -> None:
    assert make("zygote").level == "bubblewrap"
