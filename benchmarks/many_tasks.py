"""What the driver of a training costs for each task: our own time, with tasks that take none.

`python benchmarks/many_tasks.py [TASKS] [--store] [--answered]`, 10,000 tasks by default. A runner that answers at once
stands in for the tasks: it writes the folder and the result that a task leaves, and nothing else runs. What is measured
is the rest: rows, jobs, steps, predictions, events, figures, the curator's look at each step. Beside it, the least that
any driver does: the same result written to a file, and a line for its row brought to the disk.

The first and the last tenth of the run show how that grows. `--store` keeps the run in a PostgreSQL server of its own.
With `--answered` the tasks are real ones, answered by the offline model with one tool: it shows whether what each task
costs grows with their number.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from habilis import Evolution, load_settings
from habilis.core.events import Event
from habilis.core.types import TaskResult
from habilis.curation.ledger.reports import Finished, Row
from habilis.rundir import RunDir, TaskDir
from habilis.training.runners import Job
from measure import machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


class Instant:
    """Tasks that are over as soon as they begin; when each of them ended."""

    def __init__(self, ends: list[float]) -> None:
        self.ends = ends

    async def run(self, job: Job, watch: Callable[..., None]) -> Finished:
        folder = Path(job.run) / "tasks" / job.task.id
        RunDir.open(Path(job.run)).accept(trust=False, tasks=[TaskDir(folder)])  # as every runner does
        folder.mkdir(parents=True)
        result = answered(job.task.id, job.task.question, job.run)
        (folder / "result.json").write_text(result.model_dump_json())
        await asyncio.sleep(0 if int(job.task.id[-1]) % 2 else 0.001)  # they do not end in the order of their rows
        self.ends.append(time.perf_counter())
        return Finished(task_id=job.task.id, status="answered", folder=str(folder), result=result)

    def interrupt(self) -> None: ...


def answered(name: str, question: str, run: str) -> TaskResult:
    return TaskResult(task_id=name, status="answered", question=question, final_answer="14", run_dir=run)


def rows(tasks: int) -> list[Row]:
    return [
        Row(id=f"row-{number:06d}", question=f"What is {number}+2*7?", answer=str(number + 14))
        for number in range(tasks)
    ]


def driver(folder: Path, tasks: int, *overrides: str, answered: bool = False) -> list[float]:
    """When each of the tasks ended, counted from the start of the run; its end comes last."""
    ends: list[float] = []

    def watch(task: str, event: Event) -> None:
        if event.kind == "task_ended":
            ends.append(time.perf_counter())

    settings = load_settings(environ={}, overrides=[f"runs_dir={folder}", "models.basic.provider=offline", *overrides])
    evolution = Evolution(settings, watch=watch) if answered else Evolution(settings, runner=Instant(ends))
    begun = time.perf_counter()
    training = evolution.run_sync(rows(tasks), name=folder.name)
    ended = time.perf_counter() - begun
    if (training.stopped, training.statuses) != ("done", {"answered": tasks}):
        raise RuntimeError(f"the run came to {training.stopped}: {training.reason}, {training.statuses}")
    return [*(end - begun for end in ends), ended]


def bare(folder: Path, tasks: int) -> float:
    """Seconds for the same results and rows, with nothing around them."""
    begun = time.perf_counter()
    with (folder / "rows.jsonl").open("ab") as lines:
        for row in rows(tasks):
            place = folder / "tasks" / row.id
            place.mkdir(parents=True)
            text = answered(row.id, row.question, str(folder)).model_dump_json().encode()
            (place / "result.json").write_bytes(text)
            lines.write(json.dumps({"task_id": row.id, "question": row.question, "prediction": "14"}).encode() + b"\n")
            lines.flush()
            os.fsync(lines.fileno())
    return time.perf_counter() - begun


@contextlib.contextmanager
def kept_in_postgres() -> Iterator[str]:
    """The setting that keeps a run in a database of its own."""
    from tests.store.postgres import PostgresServer, programs

    from habilis.rundir.store.versions import migrate

    found = programs()
    if found is None:
        sys.exit("PostgreSQL is not installed here: apt-get install postgresql")
    server: Any = PostgresServer(found, durable=True)
    try:
        server.begin()
        url = server.fresh()
        migrate(url, fresh=True)
        yield f"store={url}"
    finally:
        server.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="?", type=int, default=10_000)
    parser.add_argument("--store", action="store_true", help="keep the run in PostgreSQL")
    parser.add_argument("--answered", action="store_true", help="real tasks, answered by the offline model")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="habilis-many-")))
        overrides = [stack.enter_context(kept_in_postgres())] if args.store else []
        driver(folder / "warm", 32, *overrides, answered=args.answered)
        ends = driver(folder / "runs", args.tasks, *overrides, answered=args.answered)
        bare_s = bare(folder, args.tasks)
    tenth = max(1, args.tasks // 10)
    first, last = ends[tenth - 1], ends[-2] - ends[-2 - tenth]
    where = "in PostgreSQL" if args.store else "in files"
    what = "tasks" if args.answered else "driver"
    print(f"{args.tasks} tasks, kept {where}, steps of 16; {machine()}")
    print(
        f"{what}: {args.tasks / ends[-1]:.0f} tasks a second; first tenth {tenth / first:.0f}, last tenth"
        f" {tenth / last:.0f}; bare writes: {args.tasks / bare_s:.0f}; ratio {ends[-1] / bare_s:.2f}"
    )


if __name__ == "__main__":
    main()
