"""Who holds a lease: a process, told so that others of its machine can see whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROC = Path("/proc")


def this_process() -> str:
    """`host, process number (boot, space, start)`: what nobody else is, here or elsewhere, now or later."""
    return f"{socket.gethostname()}, process {os.getpid()} ({_space()} {_start(os.getpid())})"


def is_dead(owner: str) -> bool:
    """Whether `owner` is a process of this machine that is no more. False for what cannot be seen from here."""
    host, _, rest = owner.partition(", process ")
    number, _, told = rest.removesuffix(")").partition(" (")
    space, _, start = told.rpartition(" ")
    if host != socket.gethostname() or not number.isdigit() or not space or space != _space():
        return False
    return _start(int(number)) != start


def _space() -> str:
    """This boot of this machine, and the numbering of processes that we are in."""
    try:
        return f"{_BOOT.read_text().strip()} {(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def _start(number: int) -> str:
    """When a process began, in ticks since the boot; "" for one that is not there, or is dead already."""
    try:
        fields = (_PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
