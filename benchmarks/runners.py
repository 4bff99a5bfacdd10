"""What a process of its own costs a task of a training: the runners side by side.

`python benchmarks/runners.py [--rounds N]`: 16 tasks of the shipped benchmark, four at a time, over a scripted model
that takes 0.2 s for a reply. The runners are `local` (all in one process), `process` (a process for each, forked from
one that has everything loaded), and `process` where none is forked, as on macOS. Told are wall time, and processor time
with that of all processes that were started.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from habilis.rundir import read_jsonl
from habilis.testing import ScriptedServer
from measure import Figure, machine, table

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "examples" / "benchmark" / "tasks.jsonl"
BATCH, STEPS = 4, 4
UNFORKED = """
import sys
from habilis.cli import main
from habilis.training.runners import forks
forks.MOST_FAILURES = 0
sys.exit(main(sys.argv[1:]))
"""
WAYS = {
    "local": (["-m", "habilis"], "local"),
    "process, forked": (["-m", "habilis"], "process"),
    "process, started": (["-c", UNFORKED], "process"),
}


def trained(program: list[str], runner: str) -> tuple[float, float]:
    """Wall and processor time of one training, in seconds."""
    with ScriptedServer(latency_s=0.2) as model, tempfile.TemporaryDirectory() as runs:
        told = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": "none"}
        sizes = ["--batch-size", f"{BATCH}", "--train-steps", f"{STEPS}"]
        options = [*sizes, "--run-name", "one", "--set", f"runs_dir={runs}", "--runner", runner, "--json"]
        command = [sys.executable, *program, "evolve", "--dataset", str(DATA), *options]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env={**os.environ, **told}, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        rows = list(read_jsonl(Path(runs) / "one" / "predictions.jsonl"))
        assert len(rows) == BATCH * STEPS, "a row is missing"
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    rounds = parser.parse_args().rounds
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, how in WAYS.items():
            found[way].append(trained(*how))
    figures = []
    for way, times in found.items():
        own, least = list(zip(*times, strict=True)), list(zip(*found["local"], strict=True))
        for what, ours, theirs in zip(("wall", "processor time"), own, least, strict=True):
            beside = ("the runner `local`", theirs) if way != "local" else ("", ())
            figures.append(Figure(f"{BATCH * STEPS} tasks, runner {way}: {what}", "s", ours, *beside))
    print(f"{machine()}\n\n{table(figures)}")


if __name__ == "__main__":
    main()
