"""What a task pays for being watched: `python benchmarks/watched.py [PAIRS] [CALLS]`.

A real task with a model that replies at once, so that it is never idle: `CALLS` rounds, each with a sandboxed call. It
is run in a process of its own, in turns watched by a page of `habilis view` and by nobody (A B B A …). Told are the
quotients pair by pair: processor time (user and system) of the task's process and all that it started, by the
kernel's account, and time on the clock. The first can be trusted on a machine that does other things as well; the
second shows how much it did.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from measure import machine
from view import Server, watched

PAIRS, CALLS = 30, 40
QUESTION, LIBRARY = "What is 2+3*4?", "arithmetic"


def work(root: Path, name: str, calls: int) -> dict[str, float]:
    """One task below `root`, imports left out. Seconds on the clock, and those that it computed."""
    from habilis import Team, load_settings
    from timed_model import LoopingModel

    (tool,) = (path.stem for path in (root / LIBRARY).glob("*.py"))
    model = LoopingModel(latency_s=0, tool=tool, rounds=calls)
    settings = load_settings(overrides=[f"limits.max_rounds={calls + 2}", "tools.short_way=false"], environ={})
    team = Team(settings, library=root / LIBRARY, clients=lambda role, own: model)
    begin, computed = time.perf_counter(), _computed()
    result = asyncio.run(team.run(QUESTION, run_dir=root / "runs" / name))
    assert result.rounds == calls, (result.status, result.error)
    return {"clock": time.perf_counter() - begin, "computed": _computed() - computed}


def prepare(root: Path) -> None:
    """A library of the one tool."""
    from tasks import task

    first = asyncio.run(task(root, QUESTION))
    shutil.copytree(first.tools, root / LIBRARY)


class Viewer:
    """A server that was there before the task, and one who follows its page from its first moment to its last."""

    def __init__(self, root: Path, name: str) -> None:
        self._server, self._path = Server(root / "runs"), f"runs/{name}/tasks/task/"
        self.pages: list[float] = []
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._server.page("")
        self._before = self._server.computed()
        self._thread.start()

    def _follow(self) -> None:
        while self._server.open(f"/{self._path}").status != 200:
            time.sleep(0.02)
        with watched(self._server, self._path, seen=self.pages):
            pass

    def close(self) -> float:
        """Seconds that the server computed while it was watched."""
        self._thread.join()
        computed = self._server.computed() - self._before
        self._server.close()
        return computed


def one(root: Path, name: str, calls: int, *, is_watched: bool) -> dict[str, float]:
    viewer = Viewer(root, name) if is_watched else None
    told = subprocess.run(
        [sys.executable, __file__, "--work", str(root), name, str(calls)], stdout=subprocess.PIPE, check=True
    )
    found: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    if viewer is not None:
        found |= {"server": viewer.close(), "pages": len(viewer.pages)}
    return found


def interval(values: Sequence[float]) -> str:
    """The median; between which values the true one lies with 95 % (order statistics); the smallest and largest."""
    ordered, n = sorted(values), len(values)
    rank = max(0, int((n - 1.96 * n**0.5) / 2))
    return (
        f"{statistics.median(ordered):.3f} (95 %: {ordered[rank]:.3f}–{ordered[n - 1 - rank]:.3f}; "
        f"all: {ordered[0]:.3f}–{ordered[-1]:.3f})"
    )


def main() -> None:
    pairs, calls = (int(said) for said in [*sys.argv[1:], *map(str, (PAIRS, CALLS)[len(sys.argv) - 1 :])])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        prepare(root)
        one(root, "warm", calls, is_watched=True)
        found: dict[bool, list[dict[str, float]]] = {True: [], False: []}
        for number in range(2 * pairs):
            is_watched = number % 4 in (0, 3)
            found[is_watched].append(one(root, f"run-{number}", calls, is_watched=is_watched))
            print(is_watched, found[is_watched][-1], file=sys.stderr, flush=True)
    print(f"{pairs} pairs of a task with {calls} calls; {machine()}, load {os.getloadavg()[0]:.1f}\n")
    for key, what in (("computed", "processor time of the task and all it started"), ("clock", "time on the clock")):
        ratios = [one[key] / other[key] for one, other in zip(found[True], found[False], strict=True)]
        alone = statistics.median(run[key] for run in found[False])
        print(f"{what}: {interval(ratios)} of that of one that nobody watches, {alone:.2f} s")
    share = statistics.median(run["server"] / run["clock"] for run in found[True])
    pages = statistics.median(run["pages"] for run in found[True])
    print(f"meanwhile the server computed {100 * share:.0f} % of the time, for {pages:.0f} pages")


def _computed() -> float:
    """Seconds, user and system, of this process and of all that it started and that ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        print(json.dumps(work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
    else:
        main()
