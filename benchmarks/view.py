"""`habilis view` on a run of 100,000 events and a library of 10,000 tools: `python benchmarks/view.py [REPEATS]`.

Each page is asked of a server of its own, as `habilis view` starts it: the time until the whole page is there, that
part of it in which the server computed, and the memory that the server's process holds afterwards. Then, with one who
watches that run as a page does: how long after an event its page is there. What a watched task pays: `watched.py`.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

EVENTS, TOOLS, RUNS = 100_000, 10_000, 2_000
PAGES = (
    "",
    "?sort=tokens",
    "runs/long/tasks/task/",
    "runs/long/tasks/task/from/99501/",
    "library/",
    "library/?sort=worth",
    "library/?q=count+text",
    "library/tools/count_05000/",
)
LIVE_EVENTS = 20
SOURCE = '''"""Counts {name}."""

from pydantic import BaseModel

__TOOL_META__ = {{"name": "{name}", "description": "Counts {name}.", "dependencies": []}}


class InputModel(BaseModel):
    text: str


class OutputModel(BaseModel):
    count: int = 0
    error: str | None = None


def run(input: InputModel) -> OutputModel:
    return OutputModel(count=len(input.text))
'''


def write_run(root: Path) -> None:
    """A run with `EVENTS` events: rounds of a model call, a tool call and a verdict."""
    from habilis.core.types import Task
    from habilis.rundir import RunDir

    task = RunDir.create(root, "long").task("task")
    task.save_task(Task(id="task", question="How long is it?"))
    model = {"role": "basic", "purpose": "step", "model": "m"}
    with task.events.open("w") as log:
        for number in range(EVENTS // 5):
            call = {"at": 1e9 + number, "call_id": f"c{number}", "tool": "count"}
            for row in (
                {"kind": "model_call_started", "at": call["at"], "call_id": f"m{number}", **model},
                {"kind": "model_call_ended", "at": call["at"] + 0.4, "call_id": f"m{number}", **model},
                {"kind": "tool_call_started", **call, "version": "v", "arguments": {"text": "x" * 200}},
                {"kind": "tool_call_ended", **call, "seconds": 0.2, "text": "y" * 300},
                {"kind": "judged", **call, "verdict": "success", "reason": "fits", "by": "rule"},
            ):
                log.write(json.dumps(row) + "\n")
    task.set_state("finished", status="answered")


def write_runs(root: Path) -> None:
    """`RUNS` runs of one small task, all but the first copied: the disk is not waited for so often."""
    from habilis.core.types import Task, TaskResult
    from habilis.rundir import RunDir

    task = RunDir.create(root, "run-00000").task("task")
    task.save_task(Task(id="task", question="How many?"))
    task.save_result(TaskResult(task_id="task", status="answered", question="How many?", final_answer="1"))
    for number in range(1, RUNS):
        shutil.copytree(root / "run-00000", root / f"run-{number:05}")


def write_library(folder: Path) -> None:
    """A library of `TOOLS` tools in one generation, published as the curator does it."""
    from habilis.contract.contract import read_contract
    from habilis.contract.runnable import Description
    from habilis.library import Origin
    from habilis.library.generations import Generations
    from habilis.library.tool import Manifest

    generations = Generations(folder)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    with generations.draft() as draft:
        draft.mkdir(parents=True, exist_ok=True)
        for number in range(TOOLS):
            name = f"count_{number:05}"
            source = SOURCE.format(name=name)
            described = Description(
                name=name, description=f"Counts {name}.", input_schema=schema, output_schema={"type": "object"}
            )
            manifest = Manifest.of(source, described, read_contract(source), name=name, origin=Origin())
            (draft / f"{name}.py").write_text(source)
            (draft / f"{name}.json").write_text(manifest.model_dump_json())
        generations.publish(draft, {"tools": TOOLS})


class Server:
    """A `habilis view` of its own, and one browser that it let in."""

    def __init__(self, root: Path, *words: str) -> None:
        command = [sys.executable, "-m", "habilis", "view", *words]
        self._process = subprocess.Popen(command, cwd=root.parent, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._address = urlsplit(self._process.stdout.readline().strip())
        welcome = self.open(f"/?{self._address.query}", {})
        self._cookie = str(welcome.headers["set-cookie"]).partition(";")[0]
        welcome.read()

    def open(self, path: str, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=120)
        connection.request("GET", path, headers={"Cookie": self._cookie} if headers is None else headers)
        return connection.getresponse()

    def page(self, path: str) -> bytes:
        reply = self.open(f"/{path}")
        body = reply.read()
        assert reply.status == 200, (path, reply.status)
        return body

    def computed(self) -> float:
        """Seconds that the server's process computed so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """What it holds now, in MB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def first_page(root: Path, path: str) -> tuple[float, float, float, float]:
    """Milliseconds until a new server gave this page, those in which it computed, those of the second time, and MB."""
    server = Server(root)
    try:
        begin, computed = time.perf_counter(), server.computed()
        server.page(path)
        first, computed = time.perf_counter() - begin, server.computed() - computed
        memory = server.memory()
        begin = time.perf_counter()
        server.page(path)
        return 1000 * first, 1000 * computed, 1000 * (time.perf_counter() - begin), memory
    finally:
        server.close()


@contextmanager
def watched(server: Server, path: str, *, seen: list[float]) -> Iterator[None]:
    """Watch the task as its page does: ask for the page again after each change, one at a time. `seen` are the times
    at which a new page was there."""
    stream = server.open(f"/{path}live")

    def follow() -> None:
        while line := stream.readline():
            if line.startswith(b"event: changed"):
                server.page(path)
                seen.append(time.perf_counter())
            elif line.startswith(b"event: ended"):
                return

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def behind(root: Path) -> list[float]:
    """Milliseconds from each of some events of the long task to the page that has it."""
    from habilis.core.events import Notice
    from habilis.rundir import JsonlSink, RunDir

    task, path, times = RunDir(root / "long").task("task"), "runs/long/tasks/task/", []
    task.set_state("running")
    server, sink, seen = Server(root, "long"), JsonlSink(task.events), list[float]()
    try:
        with task.lock(), watched(server, path, seen=seen):
            for number in range(LIVE_EVENTS):
                while len(seen) <= number:
                    time.sleep(0.005)
                time.sleep(0.037 * (number % 7))  # at any point of the server's rhythm
                begin = time.perf_counter()
                sink.emit(Notice(text=f"event {number}"))
                while len(seen) <= number + 1:
                    time.sleep(0.001)
                times.append(1000 * (seen[-1] - begin))
            task.set_state("finished")
    finally:
        server.close()
    return times


def spread(values: Sequence[float], form: str = "{:.0f}") -> str:
    """The median, and the range of all."""
    middle, least, most = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({least}–{most})"


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "runs"
        root.mkdir()
        write_library(root / "library")
        write_runs(root)
        write_run(root)
        print(f"Medians of {repeats} servers each, their range in brackets; load {os.getloadavg()[0]:.1f}.\n")
        print("| page | first, ms | computing, ms | again, ms | memory, MB |\n| --- | --- | --- | --- | --- |")
        for path in PAGES:
            columns = zip(*(first_page(root, path) for _ in range(repeats)), strict=True)
            print(f"| /{path} | {' | '.join(spread(column) for column in columns)} |", flush=True)
        print(f"\nlive, ms behind the event: {spread(behind(root))}, load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
