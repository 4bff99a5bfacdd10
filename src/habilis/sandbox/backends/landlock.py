"""The Landlock back end: kernel-held file rules, a seccomp filter, and a supervisor that reaps all descendants.

For hosts where namespaces are refused (some containers and distributions). Weaker than bubblewrap: files outside can
be counted and measured (stat), though not read; there is no process namespace. A call with a door makes no socket
either: a relay answers for each (see `network/relay.py`). Sources: landlock(7), kernel ABI 4–7.
"""

from __future__ import annotations

import asyncio
import base64
import ctypes
import os
import sys
import time
from contextlib import AsyncExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

from habilis.core.ports import SandboxExit, SandboxJob
from habilis.sandbox.backends import relaying
from habilis.sandbox.forkserver.warm import SPARE_LIMITS, WarmServer
from habilis.sandbox.ownership.tenancy import Tenancy
from habilis.sandbox.processes.process import StartedTree, run_confined
from habilis.sandbox.processes.walls import (
    HOST_NAME,
    confined,
    private_tmp,
    readable,
    system_paths,
    without_private_tmp,
)
from habilis.sandbox.syscalls import seccomp

MINIMUM_ABI = 4
LOOK_S, SLACK = 1.0, 8
REFER_ABI, SIGNAL_SCOPE_ABI = 2, 6
_CREATE_RULESET, _VERSION = 444, 1
_EXECUTE, WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE = 1 << 4 | 1 << 5
_MAKE_FOLDER, _MAKE_FILE, _MAKE_LINK = 1 << 7, 1 << 8, 1 << 12
REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_FILE_BITS = _EXECUTE | WRITE | _READ | _TRUNCATE | _DEVICE_CONTROL
_LOOK = _EXECUTE | _READ | _LIST
_CHANGE = _LOOK | WRITE | _REMOVE | _MAKE_FOLDER | _MAKE_FILE | _MAKE_LINK | REFER | _TRUNCATE
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@lru_cache(maxsize=1)
def landlock_abi() -> int:
    """The kernel's Landlock ABI; 0 without Landlock."""
    if sys.platform != "linux":
        return 0
    got = ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return max(0, int(got))


def landlock_usable() -> bool:
    """Whether kernel and processor have what this back end needs."""
    return landlock_abi() >= MINIMUM_ABI and seccomp.supported()


class Landlock:
    """Sandbox of Landlock and seccomp. As root the tool runs as an unprivileged uid that may read, within the rules,
    whatever it is allowed to see."""

    level = "landlock"

    def __init__(self, tenancy: Tenancy) -> None:
        self._tenancy = tenancy

    async def run(self, job: SandboxJob) -> SandboxExit:
        """Run `job`. Raises OSError when it cannot be started or the workspace cannot be lent."""
        job = relaying.furnished(job, mounted=False)
        async with (
            self._tenancy.lend(job.workspace, ()) as tenant,
            private_tmp(job, tenant.uid) as (placed, tmp),
        ):
            others = 0 if tenant.uid is not None else await asyncio.to_thread(threads_of_user, os.getuid())
            processes = job.limits.processes + (job.door is not None)  # the relay is one
            limits = {"processes": others + tenant.sharing * processes}
            policy = {**self._policy(placed, tmp, tenant.uid), "limits": limits, **relaying.lending(job)}
            command = confined(placed, policy)
            start = StartedTree.starting(lambda pipes: command, placed, supervised=True)
            ended = await run_confined(start, placed, scratch=tmp)
            return without_private_tmp(ended, tmp)

    async def serve(self, job: SandboxJob) -> WarmServer:
        """A warm server for calls that are confined like `job`. Raises OSError when none can be had here."""
        if landlock_abi() < SIGNAL_SCOPE_ABI:
            raise OSError("this kernel's Landlock cannot keep calls apart")
        async with AsyncExitStack() as leave:
            tenant = await leave.enter_async_context(self._tenancy.lend(job.workspace, ()))
            placed, tmp = await leave.enter_async_context(private_tmp(job, tenant.uid))
            policy = {**self._policy(placed, tmp, tenant.uid), "serve": True, "limits": SPARE_LIMITS}
            command = confined(placed, policy)
            start = StartedTree.starting(lambda pipes: command, placed, supervised=True)
            server = await WarmServer.start(start, placed, scratch=tmp)
            server.lent(leave.pop_all(), tenant.uid, self._tenancy, None if tenant.uid is not None else others_now)
            return server

    def _policy(self, job: SandboxJob, tmp: Path, uid: int | None) -> dict[str, Any]:
        return {
            "uid": uid,
            "keep_reading": True,
            "host": os.getpid(),
            "host_name": HOST_NAME if uid is not None else None,  # only root may call a machine otherwise
            "scratch": str(tmp),
            "landlock": rules(job, tmp),
            "seccomp": filter_text(lent=job.door is not None),
        }


@lru_cache(maxsize=2)
def filter_text(*, lent: bool = False) -> str:
    """The seccomp program for this kernel in base64: signals are refused where Landlock cannot confine them; `lent`:
    the relay answers for sockets."""
    signals, sockets = landlock_abi() >= SIGNAL_SCOPE_ABI, (seccomp.AF_INET,) if lent else ()
    program = seccomp.program(signals=signals, attributes=False, sockets=sockets, lent=lent)
    return base64.b64encode(program).decode("ascii")


def rules(job: SandboxJob, tmp: Path) -> dict[str, Any]:
    """The domain for `job`: handled rights and, by access, the paths that keep them (see `confine`)."""
    abi = landlock_abi()
    known = (1 << 15) - 1 if abi < 5 else (1 << 16) - 1
    return {
        "size": 24 if abi >= SIGNAL_SCOPE_ABI else 16,
        "handled": known,
        "handled_net": 3,
        "scoped": 3 if abi >= SIGNAL_SCOPE_ABI else 0,
        "file_bits": _FILE_BITS & known,
        "paths": [
            [_LOOK, [str(path) for path in (*system_paths(), *readable(job))]],
            [_CHANGE, [str(job.workspace), str(tmp)]],
            [_READ | WRITE, list(_DEVICES)],
        ],
    }


def others_now() -> int:
    """About how many threads our own uid runs, looked at once a second: a look takes as long as a call."""
    return _others(int(time.monotonic() / LOOK_S)) + SLACK


@lru_cache(maxsize=1)
def _others(moment: int) -> int:
    return threads_of_user(os.getuid())


def threads_of_user(uid: int) -> int:
    """Threads that `uid` runs now: without a uid or namespace of its own, the process limit counts these too."""
    total = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if entry.stat().st_uid == uid:
                total += len(os.listdir(f"/proc/{entry.name}/task"))  # noqa: PTH208
        except OSError:
            continue
    return total
