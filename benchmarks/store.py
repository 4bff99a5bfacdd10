"""What a run's store takes: the writes of many tasks beside a bare loop of INSERTs of the same bytes, in one database.

`python benchmarks/store.py [TASKS]`, 10,000 by default, in a PostgreSQL server of its own that brings each commit to
the disk. A task writes as in a training: question, states, three replies, its result, its row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

from measure import machine

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.store.postgres import PostgresServer, programs  # noqa: E402

from habilis.rundir.kept import KeptFolder  # noqa: E402
from habilis.rundir.store.postgres import PostgresStore  # noqa: E402
from habilis.rundir.store.versions import migrate  # noqa: E402

REPLY = b'{"kind":"reply","text":"' + b"x" * 2_000 + b'"}\n'
RESULT = b'{"status":"answered","text":"' + b"x" * 3_000 + b'"}\n'
BLOCK = 100


def writes(number: int) -> Iterator[tuple[str, bytes]]:
    """What task `number` writes: names in the run's folder, and bytes."""
    folder = f"tasks/{number:05d}"
    yield f"{folder}/task.json", b'{"question":"' + b"q" * 300 + b'"}\n'
    yield f"{folder}/state.json", b'{"state":"running"}\n'
    for _ in range(3):
        yield f"{folder}/tape.jsonl", REPLY
    yield f"{folder}/result.json", RESULT
    yield f"{folder}/state.json", b'{"state":"finished"}\n'
    yield "predictions.jsonl", b'{"task_id":"%d","prediction":"14"}\n' % number


def main() -> None:
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    found = programs()
    if found is None:
        sys.exit("PostgreSQL is not installed here: apt-get install postgresql")
    server = PostgresServer(found, durable=True)
    try:
        server.begin()
        url = server.fresh()
        migrate(url, fresh=True)
        ours_s, bare_s = beside(url, tasks)
    finally:
        server.end()
    print(f"{tasks} tasks, in turns of {BLOCK}; {machine()}")
    print(
        f"store: {tasks / ours_s:.0f} tasks a second; bare INSERTs: {tasks / bare_s:.0f}; ratio {ours_s / bare_s:.2f}"
    )


def beside(url: str, tasks: int) -> tuple[float, float]:
    """Seconds that the store took, and the bare loop; they take turns, so that a busy machine slows both."""
    store, run = PostgresStore(url), Path("/nowhere/run")
    kept = KeptFolder(run, store, store.lease("run", "benchmark"), "run")
    ours_s = bare_s = 0.0
    with psycopg.connect(url, autocommit=True) as bare:
        bare.execute("CREATE TABLE bare (name text, data bytea)")

        def write(tasks: range) -> None:
            for number in tasks:
                for name, data in writes(number):
                    (kept.append if name.endswith("l") else kept.put)(run / name, data)

        def insert(tasks: range) -> None:
            for number in tasks:
                for name, data in writes(number):
                    bare.execute("INSERT INTO bare VALUES (%s, %s)", (name, data))

        for first in range(0, tasks, BLOCK):
            block = range(first, min(first + BLOCK, tasks))
            ours_s += timed(write, block)
            bare_s += timed(insert, block)
    assert len(store.names("run/tasks/")) == 5 * tasks, "the four of each task, and its tree"
    store.close()
    return ours_s, bare_s


def timed(work: Callable[[range], None], tasks: range) -> float:
    begun = time.monotonic()
    work(tasks)
    return time.monotonic() - begun


if __name__ == "__main__":
    main()
