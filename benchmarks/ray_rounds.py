"""How a training on a Ray cluster stands what dies: a worker, a node, the driver, the database, at random moments.

`python benchmarks/ray_rounds.py [--rounds N] [--tasks M] [--batch 4] [--nodes 3] [--kills K] [--seed S]`. Each round is
a training on the first tasks of the shipped benchmark, all of them again under other names where more are asked for,
over the offline model, with a cluster and a database of this machine. What dies, and after how many more requests,
follows from the seed; the run is resumed as often as it stops. Afterwards each row must have ended once, with the local
runner's answer; each kill may have cost the replies on their way, and no more; and the library must be byte for byte
that of the local runner, which trains once, before the rounds. Exit code 1 where that does not hold.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.store.postgres import PostgresServer, programs  # noqa: E402
from tests.training.cluster import Cluster  # noqa: E402

from habilis.library.generations import digest  # noqa: E402
from habilis.rundir import TrainingDir, read_jsonl  # noqa: E402
from habilis.rundir.store.versions import migrate  # noqa: E402
from habilis.testing import ScriptedServer  # noqa: E402
from habilis.training.runners.tree import descendants, kill_tree  # noqa: E402

BENCHMARK = ROOT / "examples" / "benchmark"
KINDS = ("worker", "node", "driver", "database")
AT_ONCE = 8
"""Tasks that run at once at most, as long as nobody says otherwise."""
LATENCY_S = 0.2
LONGEST_S = 30.0
"""For each task of one session of a training, at least ten tasks; one that takes longer hangs."""


@dataclass
class Place:
    """What a round works with; `folder` holds its data set and its runs."""

    folder: Path
    model: ScriptedServer
    database: PostgresServer
    url: str
    cluster: Cluster
    chance: random.Random
    batch: int
    """Tasks of one step."""
    killed: list[str] = field(default_factory=list)


def command(folder: Path, name: str, batch: int, *more: str) -> list[str]:
    options = ["--run-name", name, "--batch-size", str(batch), "--set", f"runs_dir={folder / 'runs'}", "--json"]
    return [sys.executable, "-m", "habilis", "evolve", *options, *more]


def started(arguments: list[str], model: ScriptedServer, more: dict[str, str]) -> subprocess.Popen[str]:
    told = {"OPENAI_BASE_URL": model.base_url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": "none"}
    environment = {**os.environ, **told, "PYTHONPATH": str(ROOT / "src"), **more}
    return subprocess.Popen(
        arguments, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def laid_out(folder: Path, tasks: int) -> Path:
    """A data set of so many tasks, in a folder that is not there yet."""
    shutil.copytree(BENCHMARK, folder)
    shipped = [json.loads(line) for line in (BENCHMARK / "tasks.jsonl").read_text("utf-8").splitlines()]
    often = -(-tasks // len(shipped))
    rows = [{**row, "id": f"{row['id']}-{time}" if time else row["id"]} for time in range(often) for row in shipped]
    data = folder / "tasks.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows[:tasks]), encoding="utf-8")
    return data


def patience_s(data: Path) -> float:
    return LONGEST_S * max(10, len(data.read_text("utf-8").splitlines()))


def locally(folder: Path, data: Path, batch: int) -> Path:
    """A run over the same rows by the local runner, one after the other."""
    with ScriptedServer() as model:
        run = started(command(folder, "plain", batch, "--dataset", str(data), "--concurrency", "1"), model, {})
        out, errors = run.communicate(timeout=patience_s(data))
    if run.returncode:
        raise SystemExit(f"the local run failed: {errors or out}")
    return folder / "runs" / "plain"


def killed_until_done(place: Place, data: Path, kills: int, nodes: int) -> int:
    """Train, killing `kills` times; how often the run was resumed."""
    ray = ["--runner", "ray", "--ray-address", place.cluster.address, "--set", f"store={place.url}"]
    sessions = 0
    while True:
        way = ["--resume"] if sessions else ["--dataset", str(data)]
        run = started(command(place.folder, "first", place.batch, *ray, *way), place.model, place.cluster.environment)
        ended = threading.Event()
        thread = threading.Thread(target=kill_at_random, args=(place, run, kills, nodes, ended))
        thread.start()
        try:
            out, errors = run.communicate(timeout=patience_s(data))
        finally:
            ended.set()
            thread.join()
        if run.returncode == 0:
            return sessions
        if run.returncode not in (5, -signal.SIGKILL) or sessions > 2 * kills:
            raise SystemExit(f"exit code {run.returncode} after {place.killed}: {(errors or out)[-2000:]}")
        sessions += 1


def kill_at_random(place: Place, run: subprocess.Popen[str], kills: int, nodes: int, ended: threading.Event) -> None:
    """Until the session has `ended`: after a random number of requests, something dies."""
    while len(place.killed) < kills and not ended.is_set():
        until = len(place.model.requests) + place.chance.randrange(4, 20)
        while not place.model.wait_for(until, 0.2):
            if ended.is_set():
                return
        kind = place.chance.choice(KINDS)
        if ended.is_set() or not kill(place, run, kind):
            continue
        place.killed.append(kind)
        while len(place.cluster.alive()) < nodes:
            place.cluster.add()


def kill(place: Place, run: subprocess.Popen[str], kind: str) -> bool:
    """Whether there was one to kill."""
    if kind == "driver":
        kill_tree(run.pid)
    elif kind == "database":
        place.database.stop()
        time.sleep(place.chance.uniform(0.5, 3.0))
        place.database.start()
    elif kind == "node":
        place.cluster.kill(place.chance.choice(place.cluster.alive()))
    else:
        workers = [pid for number in place.cluster.alive() for pid in workers_of(place.cluster.nodes[number].pid)]
        if not workers:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(place.chance.choice(workers), signal.SIGKILL)
    return True


def workers_of(node: int) -> list[int]:
    """The processes of Ray that have a task on this node."""
    found = []
    for pid in descendants(node):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::TaskOnNode"):
                found.append(pid)
    return found


def rows(run: Path) -> list[tuple[str, str, str]]:
    """How each row ended, in order, as often as it did."""
    return [(row["task_id"], row["status"], row["prediction"]) for row in read_jsonl(TrainingDir(run).predictions)]


def on_tapes(run: Path) -> int:
    """How many replies of models are on record."""
    tapes = [*run.glob("tasks/*/tape.jsonl"), *run.glob("curator/*.jsonl")]
    return sum(line.get("kind") == "reply" for tape in tapes for line in read_jsonl(tape))


def one_round(seed: int, data: Path, plain: Path, told: argparse.Namespace, server: PostgresServer) -> bool:
    """Print a row of the table, beside the run `plain` by the local runner; whether all held."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rounds-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        model = stack.enter_context(ScriptedServer(latency_s=LATENCY_S))
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster")
        stack.callback(cluster.end)
        for _ in range(told.nodes):
            cluster.add()
        url = server.fresh()
        migrate(url, fresh=True)
        place = Place(folder, model, server, url, cluster, random.Random(seed), told.batch)
        resumed = killed_until_done(place, data, told.kills, told.nodes)
        first = folder / "runs" / "first"
        expected = [json.loads(line)["id"] for line in data.read_text("utf-8").splitlines()]
        once = [row[0] for row in rows(first)] == expected
        same = rows(first) == rows(plain)
        lost = model.finished - on_tapes(first)
        bounded = 0 <= lost <= min(told.batch, AT_ONCE) * len(place.killed)
        library = digest((first / "library").resolve()) == digest((plain / "library").resolve())
        died = ", ".join(place.killed) or "nothing"
        cells = [seed, died, resumed, f"{len(rows(first))} of {len(expected)}", yes(once), yes(same)]
        cells += [f"{lost} of {model.finished}", yes(library), f"{time.monotonic() - began:.0f} s"]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        return once and same and bounded and library


def yes(held: bool) -> str:
    return "yes" if held else "NO"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options = {"--rounds": 5, "--tasks": 24, "--batch": 4, "--nodes": 3, "--kills": 3, "--seed": 1}
    for option, default in options.items():
        parser.add_argument(option, type=int, default=default, help=f"default {default}")
    told = parser.parse_args()
    found = programs()
    if found is None:
        raise SystemExit("PostgreSQL is not installed here (initdb): apt-get install postgresql")
    os.environ.pop("RAY_ADDRESS", None)
    server = PostgresServer(found, durable=True)
    top = Path(tempfile.mkdtemp(prefix="rounds-"))
    try:
        server.begin()
        data = laid_out(top / "data", told.tasks)
        plain = locally(top, data, told.batch)
        print("| seed | what died | resumed | rows | each once | as locally | replies lost | same library | took |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        seeds = range(told.seed, told.seed + told.rounds)
        held = [one_round(seed, data, plain, told, server) for seed in seeds]
    finally:
        server.end()
        shutil.rmtree(top, ignore_errors=True)
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
