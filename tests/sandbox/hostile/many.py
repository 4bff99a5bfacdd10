"""Many attempts of mixed kinds in one workspace and one process, and what of its host they use up."""

from __future__ import annotations

import gc
import os
import random
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hostile.attack import Attack
from hostile.scene import Scene, descendants_of
from hostile.table import ATTACKS

from habilis.config import SandboxSettings
from habilis.runtime.host import ToolHost
from habilis.sandbox.backends.probing import make
from habilis.sandbox.processes.temporary import new_folder

SEED = 20_250
FIRST = 40
"""Calls after which memory is looked at first."""
Try = Callable[[Attack, str, Scene, ToolHost], Awaitable[dict[str, Any]]]


def drawn(count: int) -> list[tuple[Attack, bool]]:
    """Attempts, and whether each is made cold: those that need no settings of their own and no time-out."""
    able = [
        attack
        for attack in ATTACKS
        if not (attack.settings or attack.slow or attack.costly or attack.granted or attack.warm or attack.known)
        and attack.timeout_s >= 20
    ]
    chance = random.Random(SEED)
    return [(chance.choice(able), number % 4 == 3) for number in range(count)]


def state() -> dict[str, Any]:
    """What a call could leave of the host's: counted, and named where that is the same each time."""
    own = {os.getpid(), *descendants_of(os.getpid())}
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    folder = Path("/proc/self/fd")
    return {
        "processes": len(own),
        "descriptors": len(list(folder.iterdir())),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "temporary files": sorted(path.name for path in Path(tempfile.gettempdir()).iterdir()),
        "locks": len([words for words in locks if str(words[4]).isdigit() and int(words[4]) in own]),
        "shared memory": len(list(Path("/dev/shm").glob(f"habilis-{os.getpid()}-*"))),
    }


def resident_kib() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


async def many(count: int, level: str, folder: Path, module_of: Callable[[str], str], tried: Try) -> dict[str, Any]:
    """Make `count` attempts; what was found wrong, what is left, and KiB in use after the first and after all."""
    attempts = drawn(count)
    scene = Scene(folder, module_of(attempts[0][0].source), kept=True)
    new_folder("before").rmdir()  # the folder of this process is made once
    before = state()
    hosts = [ToolHost(SandboxSettings(), sandbox=make(level)) for _ in ("warm", "cold")]
    hosts[0].start(scene.workspace, scene.files)
    wrong, memory = [], []
    for attack, cold in attempts:
        scene.again(module_of(attack.source))
        answer = await tried(attack, level, scene, hosts[cold])
        wrong += [f"{attack.name}: {found}" for found in answer["harms"] + answer["faults"]]
        memory.append(resident_kib())
    for host in hosts:
        await host.aclose()
    del host, hosts  # an environment is held, by a lock, as long as its host lives
    gc.collect()
    wrong += scene.left_behind()
    after = state()
    scene.close()
    kinds = len({attack.name for attack, _ in attempts})
    return {
        "wrong": wrong,
        "before": before,
        "after": after,
        "kib": (memory[min(FIRST, count) - 1], memory[-1]),
        "kinds": kinds,
    }
