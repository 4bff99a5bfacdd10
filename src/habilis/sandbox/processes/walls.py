"""What every back end shares: the system's libraries, the confining start of a job, a private temporary folder."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from habilis.core.ports import SandboxExit, SandboxJob
from habilis.sandbox.inside import program
from habilis.sandbox.processes.interpreter import FLAGS, compiled, python, python_paths
from habilis.sandbox.processes.process import uncancelled
from habilis.sandbox.processes.temporary import new_folder
from habilis.sandbox.processes.walking import remove

_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/fonts"),
    *("/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/ca-certificates"),
    *("/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted"),
)
HOST_NAME = "habilis"
"""What the machine is called inside."""
PENDING_SIGNALS = 1024
"""Signals and timers that may wait: the kernel counts them for each user, and so together with the host's own."""
_CONFINE = program("confine")


@lru_cache(maxsize=1)
def system_paths() -> tuple[Path, ...]:
    """The system's libraries and what they need to work, as far as this machine has them."""
    return tuple(Path(p) for p in _SYSTEM if os.path.lexists(p))


def readable(job: SandboxJob) -> tuple[Path, ...]:
    """All that `job` may read besides the system: its own list, the interpreter, the confining script."""
    return tuple(dict.fromkeys((*python_paths(), compiled(_CONFINE), *job.read_only)))


def confined(job: SandboxJob, policy: Mapping[str, Any]) -> list[str]:
    """The command that runs `job` from inside the walls, held by `policy` (see `confine`)."""
    return [str(python()), *FLAGS, str(compiled(_CONFINE)), json.dumps(whole_policy(job, policy)), *job.argv]


def whole_policy(job: SandboxJob, policy: Mapping[str, Any]) -> dict[str, Any]:
    """`policy` with the workspace of `job`, and with its limits where it sets no others."""
    limits = {
        "cpu_s": job.limits.cpu_s,
        "memory_bytes": job.limits.memory_bytes,
        "file_bytes": job.limits.file_bytes,
        "open_files": job.limits.open_files,
        "core_bytes": 0,
        "pending_signals": PENDING_SIGNALS,
        **policy.get("limits", {}),
    }
    return {**policy, "limits": limits, "workspace": str(job.workspace)}


@asynccontextmanager
async def private_tmp(job: SandboxJob, owner: int | None) -> AsyncIterator[tuple[SandboxJob, Path]]:
    """`job` with a temporary folder of its own, for back ends that cannot mount one; gone afterwards."""
    folder = new_folder("tmp")
    try:
        if owner is not None:
            os.chown(folder, owner, owner)
        yield replace(job, env={**job.env, "TMPDIR": str(folder), "HOME": str(folder)}), folder
    finally:
        await uncancelled(asyncio.to_thread(remove, folder))


def without_private_tmp(ended: SandboxExit, folder: Path) -> SandboxExit:
    """The same text at every level: the private folder is called /tmp."""
    reply = None if ended.reply is None else ended.reply.replace(str(folder).encode(), b"/tmp")
    return replace(ended, reply=reply, printed=ended.printed.replace(str(folder), "/tmp"))
