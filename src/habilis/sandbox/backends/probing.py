"""Which confinement this machine can give, found out by attacking it, and the choice between refusing and warning.

Levels, strongest first: `bubblewrap`, `landlock`, `unconfined` (best effort found nothing), `off` (asked for by name).
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from habilis.config import SandboxSettings
from habilis.core.errors import PlaceError, SandboxUnavailable
from habilis.core.place import place_told, raise_place
from habilis.core.ports import Sandbox, SandboxExit, SandboxJob, SandboxLimits
from habilis.sandbox.backends.bubblewrap import Bubblewrap, find_bwrap
from habilis.sandbox.backends.landlock import Landlock, landlock_abi, landlock_usable
from habilis.sandbox.inside import program
from habilis.sandbox.ownership.tenancy import Tenancy
from habilis.sandbox.processes.interpreter import FLAGS, compiled, python
from habilis.sandbox.processes.process import StartedTree, run_confined
from habilis.sandbox.processes.temporary import temporary
from habilis.sandbox.processes.walls import confined, private_tmp, without_private_tmp
from habilis.sandbox.syscalls import seccomp
from habilis.sandbox.zygote.spawning import nursery

PROBE_S = 20.0
LOW_PROCESS = 100
"""Up to here a process number may mean the sandbox's own in its namespace."""
_ATTACK = program("attack")
_TRIED = {
    "auto": ("zygote", "bubblewrap", "landlock"),
    "bubblewrap": ("zygote", "bubblewrap"),
    "landlock": ("landlock",),
}
"""Which back ends are tried for each that settings name, the best first; a zygote gives the level of bubblewrap."""


class Unconfined:
    """No walls: limits, a cleared environment, a time limit and a supervisor that reaps all descendants."""

    def __init__(self, level: str) -> None:
        self.level = level

    async def run(self, job: SandboxJob) -> SandboxExit:
        """Run `job`. Raises OSError when it cannot be started."""
        async with private_tmp(job, None) as (inside, tmp):
            command = confined(inside, {"host": os.getpid(), "scratch": str(tmp)})
            start = StartedTree.starting(lambda pipes: command, inside, supervised=True)
            ended = await run_confined(start, inside, scratch=tmp)
            return without_private_tmp(ended, tmp)


@dataclass(frozen=True)
class ProbeResult:
    """What came of one back end's probe: `problem` is None when every attack was held."""

    level: str
    problem: str | None


async def choose(settings: SandboxSettings, notice: Callable[[str], None]) -> Sandbox:
    """The sandbox that `settings` ask for. Probes once per process.

    Raises `SandboxUnavailable` as they demand, and `PlaceError` where this machine fails at less than that.
    """
    if settings.mode == "off":
        return Unconfined("off")
    findings = []
    for level in _TRIED[settings.backend]:
        finding = await probe(level)
        if finding.problem is None:
            return make(level)
        findings.append(finding)
    if not await _interpreter_works():
        raise PlaceError(f"the interpreter {python()}, which runs tools, does not work: mend or reinstall it")
    reasons = "; ".join(f"{f.level}: {f.problem}" for f in findings)
    if settings.mode == "best-effort":
        notice(f"no sandbox works here ({reasons}): tools run unconfined, with your rights")
        return Unconfined("unconfined")
    raise SandboxUnavailable(
        f"no sandbox works here ({reasons}). Allow user namespaces or install bubblewrap; where generated code may do "
        "all that you may, set sandbox.mode to best-effort or off"
    )


def why_no_zygote() -> str | None:
    """Why calls in a sandbox of their own start an interpreter here, as far as that was tried."""
    return _found["zygote"].problem if "zygote" in _found else None


def make(level: str) -> Sandbox:
    """The back end called `level`, unprobed; `zygote` is bubblewrap's, made by a zygote."""
    if level == "landlock":
        return Landlock(Tenancy(copying=False))
    return Bubblewrap(nursery() if level == "zygote" else find_bwrap() or Path("bwrap"), Tenancy())


def missing(level: str) -> str | None:
    """Why `level` cannot even be tried here."""
    if sys.platform != "linux":
        return "needs Linux"
    if level == "bubblewrap" and find_bwrap() is None:
        return "the bwrap program is not installed"
    if level == "zygote" and not seccomp.supported():
        return "needs x86-64 or arm64"
    if level == "landlock" and not landlock_usable():
        return f"needs Landlock ABI 4 (this kernel: {landlock_abi()}) on x86-64 or arm64"
    return None


async def _interpreter_works() -> bool:
    """Whether the Python that tools run on starts at all."""
    with place_told():
        try:
            started = await asyncio.create_subprocess_exec(str(python()), *FLAGS, "-c", "", stderr=DEVNULL)
        except (FileNotFoundError, PermissionError):
            return False
        return await started.wait() == 0


_found: dict[str, ProbeResult] = {}


async def probe(level: str) -> ProbeResult:
    """Whether `level` holds here, found by attacking from inside it. Remembered for this process."""
    if level not in _found:
        problem = missing(level) or await attacked(make(level))
        _found[level] = ProbeResult(level, problem)
    return _found[level]


def findings() -> dict[str, str | None]:
    """What was found out so far: by level, why it does not hold, None where it does."""
    return {level: found.problem for level, found in _found.items()}


def take_over(found: Mapping[str, str | None]) -> None:
    """Know what another process of this user found out on this machine."""
    _found.update({level: ProbeResult(level, problem) for level, problem in found.items()})


async def attacked(sandbox: Sandbox) -> str | None:
    """Attack from inside `sandbox`: what was not held, or None.

    Reads and overwrites a canary next to the workspace, connects to a listener of ours, sends datagrams to sockets of
    ours, one of which lies in the workspace, signals us, and must be able to write in the workspace, so that a sandbox
    in which nothing works does not pass. Raises `PlaceError`.
    """
    with place_told(), temporary("probe") as folder, ExitStack() as open_ones:
        listener = open_ones.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        canary, workspace = stage(folder)
        # An address holds 107 bytes, which a whole path may not: the folder is named by its descriptor, inside by ".".
        inside = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
        open_ones.callback(os.close, inside)
        places = {"unix": "socket", "abstract": f"\0habilis-{folder.name}"}
        for place in (f"/proc/self/fd/{inside}/socket", places["abstract"]):
            open_ones.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)).bind(place)
        (workspace / "socket").chmod(0o777)
        job = attack_on(canary, workspace, {"port": listener.getsockname()[1], **places})
        try:
            ended = await sandbox.run(job)
        except OSError as error:
            raise_place(error)
            return f"does not start: {error.strerror or error}"
        return judgement(ended, canary, workspace)


def stage(folder: Path) -> tuple[Path, Path]:
    """A canary that anyone might read and write, and a workspace beside it."""
    folder.chmod(0o755)
    canary, workspace = folder / "canary", folder / "workspace"
    canary.write_text("secret")
    canary.chmod(0o666)
    workspace.mkdir()
    return canary, workspace


def attack_on(canary: Path, workspace: Path, listening: Mapping[str, object]) -> SandboxJob:
    """The attack as a job; `listening` are the places of what it tries to reach."""
    target: dict[str, object] = {"canary": str(canary), **listening}
    if os.getpid() > LOW_PROCESS:
        target["pid"] = os.getpid()
    return SandboxJob(
        argv=[str(python()), *FLAGS, str(compiled(_ATTACK))],
        request=json.dumps(target).encode(),
        workspace=workspace,
        read_only=(compiled(_ATTACK),),
        env={"PATH": "/usr/bin:/bin"},
        limits=SandboxLimits(wall_s=PROBE_S, cpu_s=10),
    )


def judgement(ended: SandboxExit, canary: Path, workspace: Path) -> str | None:
    """What the attack came to."""
    if ended.reply is None:
        said = " ".join(ended.printed.split())[-200:]
        return f"does not start ({said or f'code {ended.returncode}'})"
    broken = list(json.loads(ended.reply))
    if canary.read_text() != "secret":
        broken.append("wrote outside")
    if not (workspace / "mark").is_file():
        broken.append("could not write in its workspace")
    return f"does not hold ({', '.join(broken)})" if broken else None
