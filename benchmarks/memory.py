"""Peak memory of a whole process tree, as PSS: what it really takes from the machine, shared pages counted once."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

EVERY_S = 0.01


def pss_bytes(pid: int) -> int:
    """Proportional set size of one process, 0 when it is gone or may not be looked at."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def peak_mb(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> float:
    """Highest sum over `command` and all its descendants while it runs, MiB, looked at every 10 ms."""
    process = subprocess.Popen(
        command, env=dict(environment), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    tree, peak = psutil.Process(process.pid), 0
    while process.poll() is None:
        try:
            pids = [process.pid, *(child.pid for child in tree.children(recursive=True))]
        except psutil.NoSuchProcess:
            break
        peak = max(peak, sum(map(pss_bytes, pids)))
        time.sleep(EVERY_S)
    if process.wait() != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return peak / 2**20
