"""How long a person waits before anything happens: `--help`, and from the command to the first model request.

The same whole run tells the peak memory of its process tree.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from langchain_core.messages import AIMessage

from habilis.demo import reply
from habilis.testing import ScriptedServer
from measure import PYTHON, ROOT, Figure
from memory import peak_mb

IMPORTS = "import langchain_openai, langgraph.graph"
WITH_CHECKPOINTS = f"{IMPORTS}, langgraph.checkpoint.sqlite.aio"


def environment(**more: str) -> dict[str, str]:
    """The environment of a user who has set up nothing but `more`."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and not k.startswith("OPENAI_")}
    return kept | more


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Wall and processor seconds of one run of `command`."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment())
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class FirstRequest(ScriptedServer):
    """A server that notes what the whole process tree of its client had used when the first request arrived."""

    def __init__(self) -> None:
        super().__init__(self._note)
        self.client: psutil.Process | None = None
        self.cpu_s: float | None = None

    def _note(self, messages: list[Any], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        if self.cpu_s is None and self.client is not None:
            self.cpu_s = sum(map(_cpu_s, [self.client, *self.client.children(recursive=True)]))
        return reply(messages, tools, form)


def _cpu_s(process: psutil.Process) -> float:
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.Error:
        return 0.0


def one_task(folder: Path, server: ScriptedServer) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a whole task against `server`."""
    run = tempfile.mkdtemp(dir=folder)
    question = ["--quiet", "--run-dir", run, "--file", str(ROOT / "examples" / "data" / "sales.csv")]
    command = [PYTHON, "-m", "habilis", "run", *question, "What is the average price in sales.csv?"]
    return command, environment(
        OPENAI_BASE_URL=server.base_url,
        OPENAI_MODEL="scripted",
        OPENAI_API_KEY="none",
        HABILIS_MODELS__PROBE_JUDGES="false",
    )


def to_first_request(folder: Path) -> float:
    """Processor seconds from the start of the program to its first request, children included."""
    with FirstRequest() as server:
        command, env = one_task(folder, server)
        process = subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.DEVNULL)
        server.client = psutil.Process(process.pid)
        if process.wait() != 0 or server.cpu_s is None:
            raise RuntimeError("the task did not come to an answer")
        return server.cpu_s


def task_peak(folder: Path) -> float:
    with ScriptedServer() as server:
        command, env = one_task(folder, server)
        return peak_mb(command, env, folder)


def figures(repeats: int) -> list[Figure]:
    """`habilis --help`, the way to the first request, and peak memory, beside the imports of an agent alone."""
    help_, imports = [PYTHON, "-m", "habilis", "--help"], [PYTHON, "-c", IMPORTS]
    for command in (help_, imports):
        timed(command)  # bytecode and file cache
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        to_first_request(folder)
        walls, cpus, peaks, bare = [], [], [], []
        for _ in range(repeats):
            walls.append((timed(help_)[0], timed(imports)))
            cpus.append(to_first_request(folder))
            peaks.append(task_peak(folder))
            bare.append(peak_mb([PYTHON, "-c", WITH_CHECKPOINTS], environment(), folder))
    alone = "`import langchain_openai, langgraph.graph` alone"
    return [
        Figure("`habilis --help`, wall", "s", [a for a, _ in walls], alone, [wall for _, (wall, _) in walls]),
        Figure("start to first model request, CPU", "s", cpus, alone, [cpu for _, (_, cpu) in walls]),
        Figure("peak memory of the process tree of a task (PSS)", "MB", peaks, f"{alone}, with checkpoints", bare),
    ]


if __name__ == "__main__":
    from measure import table

    print(table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 3)))
