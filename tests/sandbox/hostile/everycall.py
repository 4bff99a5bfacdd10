"""Every call that a tool must not make, made: the kernel has to answer what the filter is written to."""

from __future__ import annotations

import platform

from hostile.attack import NOTHING_FOUND, Attack
from hostile.calltable import KINDS, Kind, refusals

MADE = """
found = []
for number, arguments, expected in {refusals}:
    got = libc.syscall(ctypes.c_long(number), *[ctypes.c_ulong(one) for one in arguments])
    error = ctypes.get_errno()
    found += [] if (got, error) == (-1, expected) else [[number, arguments, got, error]]
return OutputModel(value=found)
"""


def every(name: str, *kinds: Kind, granted: bool) -> Attack:
    """All that is refused in the same way in each of `kinds`, which are those of the two levels."""
    machine = platform.machine()
    lists = [refusals(kind, machine) if machine in ("x86_64", "aarch64") else [] for kind in kinds]
    shared = [refusal for refusal in lists[0] if all(refusal in others for others in lists[1:])]
    return Attack(
        name, "the kernel does what no tool may ask of it", NOTHING_FOUND, MADE.format(refusals=shared), granted=granted
    )


ATTACKS = (
    every("every call that is not listed", KINDS[0], KINDS[2], granted=False),
    every("granted: every call that is not listed", KINDS[1], KINDS[3], granted=True),
)
