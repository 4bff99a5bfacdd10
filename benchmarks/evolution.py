"""What a training run costs: time, model calls and prompt tokens when neighbours need different tools or the same ones.

Sixteen tasks of the shipped benchmark in batches of four, eight kinds of tools, each asked for in two wordings and
hence under two names; some first versions are buggy. The model is the offline one behind a server that takes 200 ms and
5 ms a token. Beside each figure stands the same run with `--merge-policy naive`, and with the finished library to
start from. `python benchmarks/evolution.py [--only ROW]… [REPEATS]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from habilis.demo import reply
from habilis.models.tokens import TokenCounter
from habilis.rundir import read_jsonl
from habilis.testing import ScriptedServer, SeenRequest
from habilis.training.outcome import read_training
from measure import PYTHON, ROOT, Figure
from memory import peak_mb
from tasks import bare, bare_task, nothing

BENCHMARK = ROOT / "examples" / "benchmark" / "tasks.jsonl"
LATENCY_S, PER_TOKEN_S = 0.2, 0.005
FIRST = ("average-1", "groups-1", "hour-1", "matches-1", "decode-1", "number-1", "title-1", "units-1")
SECOND = ("average-2", "groups-2", "hour-2", "matches-2", "decode-2", "number-2", "title-2", "units-5")
"""The same kinds of tools, in other words; in decode-2, number-2 and title-2 first versions fail."""
DIFFERENT = (*FIRST, *SECOND)
SAME = tuple(name for pair in zip(FIRST, SECOND, strict=True) for name in pair)
MANY = 64


@dataclass(frozen=True)
class Run:
    """One measured training run; `path_s` is the longest sum of model latencies of one of its tasks, `cpu_s` what it
    computed with all processes that it waited for (0 when it was watched)."""

    wall_s: float
    cpu_s: float
    calls: int
    prompt_tokens: int
    right: int
    answered: int
    library: int
    built: int
    peak_mb: float
    path_s: float
    folder: Path


def data_set(folder: Path, names: Sequence[str]) -> Path:
    """A data set of these tasks of the shipped benchmark, in this order."""
    rows = {row["id"]: row for row in read_jsonl(BENCHMARK)}
    files = BENCHMARK.parent / "files"
    path = Path(tempfile.mkdtemp(dir=folder)) / "tasks.jsonl"
    (path.parent / "files").mkdir()
    for file in files.iterdir():  # a link would lead out of the data set's folder
        (path.parent / "files" / file.name).write_bytes(file.read_bytes())
    path.write_text("".join(json.dumps(rows[name]) + "\n" for name in names), encoding="utf-8")
    return path


class Rehearsed:
    """The offline model. To what it was asked before it has its reply ready: what a model thinks takes no time from the
    processor of whoever asks it."""

    def __init__(self) -> None:
        self._said: dict[str, AIMessage] = {}

    def __call__(
        self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None
    ) -> AIMessage:
        asked = json.dumps([[message.model_dump() for message in messages], tools, form], default=str)
        if asked not in self._said:
            self._said[asked] = reply(messages, tools, form)
        return self._said[asked]


def train(folder: Path, data: Path, *options: str, watched: bool = False, model: Rehearsed | None = None) -> Run:
    """A whole `habilis evolve` over a data set, in a process of its own, against a server of its own.

    `watched`: its memory is looked at, which takes time from it.
    """
    runs = Path(tempfile.mkdtemp(dir=folder))
    words = ["--dataset", str(data), "--run-name", "r", "--output", str(runs), "--quiet", *options]
    with ScriptedServer(model, latency_s=LATENCY_S, latency_per_token_s=PER_TOKEN_S) as server:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_", "HABILIS_"))}
        environment |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": "none"}
        environment["HABILIS_MODELS__PROBE_JUDGES"] = "false"  # the stand-in is no judge
        command = [PYTHON, "-m", "habilis", "evolve", *words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = peak_mb(command, environment, folder) if watched else 0.0
        if not watched:
            subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        requests = list(server.requests)
    training = read_training(runs / "r")
    return Run(
        wall_s=training.seconds,
        cpu_s=0.0 if watched else after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        calls=sum(seen.finished for seen in requests),
        prompt_tokens=sum(map(prompt_tokens, requests)),
        right=sum(row.right for row in training.steps),
        answered=training.statuses.get("answered", 0),
        library=training.steps[-1].library_size,
        built=training.steps[-1].synthesised_so_far,
        peak_mb=peak,
        path_s=max(map(model_seconds, (runs / "r" / "tasks").iterdir())),
        folder=runs / "r",
    )


def prompt_tokens(seen: SeenRequest) -> int:
    """Tokens of a request: its texts, and the schemas of tools and answers."""
    counter = TokenCounter("gpt-4o")
    schemas = [seen.body[name] for name in ("tools", "response_format") if seen.body.get(name)]
    calls = [message["tool_calls"] for message in seen.body["messages"] if message.get("tool_calls")]
    return sum(counter.text(text).tokens for text in (seen.prompt, *map(json.dumps, [*schemas, *calls])))


def model_seconds(task: Path) -> float:
    """Seconds that the server took for a task's requests, one after the other."""
    replies = [row for row in read_jsonl(task / "tape.jsonl") if row.get("kind") == "reply"]
    return sum(LATENCY_S + PER_TOKEN_S * row["usage"].get("completion_tokens", 0) for row in replies)


def sixteen(folder: Path, what: str, names: Sequence[str], repeats: int) -> list[Figure]:
    """Sixteen tasks in batches of four, beside the same without our merging, and with the library there already."""
    ours, naive, ready, data = [], [], [], data_set(folder, names)
    for _ in range(repeats):
        ours.append(train(folder, data, "--batch-size", "4"))
        naive.append(train(folder, data, "--batch-size", "4", "--merge-policy", "naive"))
        library = str(ours[-1].folder / "library")
        ready.append(train(folder, data, "--batch-size", "4", "--library", library))
    found = []
    for beside, theirs in (("merge policy naive", naive), ("the finished library to start from", ready)):
        found += [
            Figure(f"16 tasks, {what}: wall", "s", [r.wall_s for r in ours], beside, [r.wall_s for r in theirs]),
            Figure("… model calls", "", [r.calls for r in ours], beside, [r.calls for r in theirs]),
            Figure("… prompt tokens", "", [r.prompt_tokens for r in ours], beside, [r.prompt_tokens for r in theirs]),
            Figure("… right answers", "", [r.right for r in ours], beside, [r.right for r in theirs]),
            Figure("… tools in the library", "", [r.library for r in ours], beside, [r.library for r in theirs]),
        ]
    return found


def different(folder: Path, repeats: int) -> list[Figure]:
    return sixteen(folder, "neighbours need different tools", DIFFERENT, repeats)


def same(folder: Path, repeats: int) -> list[Figure]:
    return sixteen(folder, "neighbours need the same tool", SAME, repeats)


def paired(folder: Path, repeats: int) -> list[Figure]:
    """64 tasks, those of one kind one after the other: how many tools are built where one of each kind would do."""
    names = [row["id"] for row in read_jsonl(BENCHMARK)][:MANY]
    kinds = list(dict.fromkeys(name.rpartition("-")[0] for name in names))
    ordered = sorted(names, key=lambda name: kinds.index(name.rpartition("-")[0]))
    data = data_set(folder, ordered)
    runs = [train(folder, data, "--batch-size", "8") for _ in range(repeats)]
    beside, left = "in the library at the end", [run.library for run in runs]
    return [
        Figure(
            f"{MANY} tasks of {len(kinds)} kinds, kind by kind: tools built", "", [r.built for r in runs], beside, left
        ),
        Figure("… right answers", "", [run.right for run in runs]),
    ]


def peak(folder: Path, repeats: int) -> list[Figure]:
    """What the process tree of such a run weighs."""
    sets = [data_set(folder, names) for names in (DIFFERENT, SAME)]
    weights = [train(folder, data, "--batch-size", "4", watched=True).peak_mb for data in sets]
    return [Figure("16 tasks: peak memory of the process tree (PSS)", "MB", weights)]


SHARED = ("--set", "evolution.workers=2")


def many(folder: Path, repeats: int) -> list[Figure]:
    """64 tasks at once, tools ready: how much longer than the longest of them they take together."""
    data, options = ready_for_many(folder)
    runs, shared, loops, bounds, model = [], [], [], [], Rehearsed()
    train(folder, data, *options, model=model)
    for _ in range(repeats):
        run = train(folder, data, *options, model=model)
        runs.append(run)
        shared.append(train(folder, data, *options, *SHARED, model=model))
        loops.append(asyncio.run(bare_loops(folder, run.calls // MANY, run.path_s)))
        without = asyncio.run(bare_loops(folder, run.calls // MANY, run.path_s, tool=False))
        bounds.append(1.3 * run.path_s + without)
    chain = "the longest chain of model latencies among them"
    bare = "as many bare LangGraph loops with latencies as long, each with one tool call by a plain interpreter"
    walls = [r.wall_s for r in runs]
    return [
        Figure(f"{MANY} tasks at once, tools ready: wall", "s", walls, chain, [r.path_s for r in runs]),
        Figure("… the same", "s", walls, bare, loops),
        Figure("… the same", "s", walls, "1.3 × that chain and as many such loops without the tool call", bounds),
        Figure("… processor time", "s", [r.cpu_s for r in runs]),
        Figure("… shared by two processes: wall", "s", [r.wall_s for r in shared], "one process", walls),
        Figure("… processor time", "s", [r.cpu_s for r in shared]),
    ]


async def bare_loops(folder: Path, calls: int, latencies_s: float, *, tool: bool = True) -> float:
    """Wall seconds of `MANY` bare loops at once, each with `calls` model calls that take `latencies_s` together; with
    one tool call each, or with none."""

    async def one() -> None:
        await (bare_task if tool else without_a_tool)(folder, calls, latencies_s / calls)

    start = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(MANY)))
    return time.perf_counter() - start


async def without_a_tool(folder: Path, calls: int, latency_s: float) -> float:
    return await bare(folder, calls, nothing, latency_s)


def many_peak(folder: Path, repeats: int) -> list[Figure]:
    data, options = ready_for_many(folder)
    one, two = (train(folder, data, *options, *more, watched=True).peak_mb for more in ((), SHARED))
    return [
        Figure("64 tasks at once: peak memory of the process tree (PSS)", "MB", [one]),
        Figure("… shared by two processes", "MB", [two]),
    ]


def ready_for_many(folder: Path) -> tuple[Path, list[str]]:
    """64 tasks, and the options of a run of all of them at once over a library that has their tools."""
    data = data_set(folder, [row["id"] for row in read_jsonl(BENCHMARK)][:MANY])
    library = str(train(folder, data, "--batch-size", "8").folder / "library")
    return data, ["--batch-size", str(MANY), "--concurrency", str(MANY), "--library", library]


ROWS = {"different": different, "same": same, "paired": paired, "peak": peak, "many": many, "many-peak": many_peak}


def figures(repeats: int, only: Sequence[str] = tuple(ROWS)) -> list[Figure]:
    found = []
    for name in only:
        with tempfile.TemporaryDirectory() as folder:
            found += ROWS[name](Path(folder), repeats)
    return found


if __name__ == "__main__":
    from measure import machine, table

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repeats", nargs="?", type=int, default=1)
    parser.add_argument("--only", action="append", choices=ROWS, metavar="ROW", help=", ".join(ROWS))
    given = parser.parse_args()
    print(f"{machine()}\n\n{table(figures(given.repeats, given.only or tuple(ROWS)))}")
