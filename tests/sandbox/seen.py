"""Tells what a sandbox looks like from inside: `seen.py HOST LEVEL…` prints what a tool's process sees there, as JSON.

HOST is `plain`, or `odd`: with much about it that it should keep to itself; or `deaf`. LEVEL-afresh has a variable that
is read as an interpreter starts.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import tempfile
from pathlib import Path

from habilis.core.ports import SandboxJob
from habilis.sandbox.backends.probing import make
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, python

LOOK = r"""
import ctypes, json, os, random, stat
libc = ctypes.CDLL(None)

def read(file):
    try:
        return open(file).read()
    except OSError as error:
        return type(error).__name__

def about(path):
    found = os.lstat(path)
    return [found.st_mode, found.st_rdev, found.st_uid, os.path.islink(path) and os.readlink(path)]

def kind(number):
    try:
        return stat.S_IFMT(os.fstat(number).st_mode)
    except OSError:
        return None

signal = ctypes.c_int()
libc.prctl(2, ctypes.byref(signal), 0, 0, 0)
status = dict(line.split(":", 1) for line in read("/proc/self/status").splitlines())
named = "Umask Pid PPid TracerPid Uid Gid Groups NSpid NSpgid NSsid Threads SigBlk SigIgn SigCgt CapInh CapPrm " \
    "CapEff CapBnd CapAmb NoNewPrivs Seccomp Seccomp_filters Cpus_allowed"
seen = {
    "mounts": read("/proc/self/mountinfo").splitlines(),
    "status": {name: status.get(name) for name in named.split()},
    "maps": [read(f"/proc/self/{name}") for name in ("uid_map", "gid_map", "setgroups")],
    "limits": read("/proc/self/limits"),
    "dumpable": libc.prctl(3, 0, 0, 0, 0), "ends with": signal.value,
    "session": [os.getsid(0), os.getpgid(0), os.getppid()],
    "descriptors": sorted(found for number in range(1100) if (found := kind(number)) is not None),
    "variables": {name: value for name, value in os.environ.items() if not name.startswith("HABILIS_")},
    "folder": os.getcwd(), "name": os.uname().nodename,
    "processes": sorted(n for n in os.listdir("/proc") if n.isdigit()),
    "files": {path: about(path) for top in ("/", "/dev", "/etc", "/proc") for name in sorted(os.listdir(top))
        if not name.isdigit() for path in [os.path.join(top, name)]},
    "network": [read(f"/proc/net/{name}").splitlines()[-1:] for name in ("if_inet6", "fib_trie")],
    "other": [read(f"/proc/self/{name}") for name in ("oom_score_adj", "cgroup", "personality", "timerslack_ns",
        "coredump_filter")], "scheduling": [os.sched_getscheduler(0), os.getpriority(0, 0)],
    "first process's rights": [line.split() for line in read("/proc/1/status").splitlines()
        if line.startswith(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp:"))],
    "first process": [read(f"/proc/1/{name}") for name in ("environ", "maps", "mem")],
    "hash": hash("x"), "chance": random.random(),
}
os.write(int(os.environ["HABILIS_OUT"]), json.dumps(seen).encode())
"""


async def look(level: str, folder: Path) -> str:
    workspace, program = folder / "workspace", folder / "look.py"
    workspace.mkdir(exist_ok=True)
    program.write_text(LOOK)
    argv = [str(python()), *FLAGS, str(program)]
    back_end, _, afresh = level.partition("-")
    env = {**FIXED_VARIABLES, **({"PYTHONHASHSEED": "7"} if afresh else {})}
    ended = await make(back_end).run(SandboxJob(argv, b"", workspace, read_only=(program,), env=env))
    if ended.reply is None:
        raise RuntimeError(ended.printed)
    return ended.reply.decode()


async def looks(levels: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        for level in levels:
            print(await look(level, Path(folder)))


def be_odd() -> None:
    """Have about oneself what children would inherit."""
    os.umask(0)
    os.chdir("/usr")
    os.environ["SOME_API_KEY"] = os.environ["PYTHONSTARTUP"] = "hunter2"
    for number in range(40, 60):
        os.dup2(1, number)
        os.set_inheritable(number, True)
    for ignored in (signal.SIGHUP, signal.SIGTERM, signal.SIGUSR2):
        signal.signal(ignored, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 4 << 20))
    os.nice(3)


def be_deaf() -> None:
    """Be one whose ended children nobody is told of, and whose signals wait."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGALRM})


if __name__ == "__main__":
    {"odd": be_odd, "deaf": be_deaf, "plain": lambda: None}[sys.argv[1]]()
    asyncio.run(looks(sys.argv[2:]))
