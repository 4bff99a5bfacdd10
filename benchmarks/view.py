"""`habilis view` on a run of 100,000 events and a library of 10,000 tools: `python benchmarks/view.py`.

Each figure is taken in a process of its own: the time of one core until the first page is there (imports left out), and
the most memory that the process ever took. The last one is how much slower events are written while somebody watches.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

EVENTS, TOOLS, RUNS = 100_000, 10_000, 2_000
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
    """A plain folder of `TOOLS` tools."""
    from habilis.contract.contract import read_contract
    from habilis.contract.runnable import Description
    from habilis.library import Library, Origin
    from habilis.library.tool import Manifest

    Library(folder)
    folder.mkdir(parents=True)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    for number in range(TOOLS):
        name = f"count_{number:05}"
        source = SOURCE.format(name=name)
        described = Description(
            name=name, description=f"Counts {name}.", input_schema=schema, output_schema={"type": "object"}
        )
        manifest = Manifest.of(source, described, read_contract(source), name=name, origin=Origin())
        (folder / f"{name}.py").write_text(source)
        (folder / f"{name}.json").write_text(manifest.model_dump_json())


def first_page(root: Path, path: str) -> None:
    """Print seconds of a core to the page at `path`, for the first time and again, and the peak of memory in MB."""
    from habilis.view.runs import Runs
    from habilis.view.site import Site

    site = Site(Runs(root), root / "library")
    times = []
    for _ in range(2):
        begin = time.process_time()
        site.page(path)
        times.append(time.process_time() - begin)
    print(json.dumps([*times, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def slowdown(root: Path, repeats: int = 5) -> float:
    """How much longer it takes to write events while somebody watches them: the ratio of medians, in one run."""
    from habilis.core.events import Notice
    from habilis.rundir import JsonlSink, RunDir
    from habilis.view.app import LOOK_EVERY_S

    task = RunDir.create(root, "watched").task("task")
    sink = JsonlSink(task.events)

    def written() -> float:
        begin = time.perf_counter()
        for number in range(20_000):
            sink.emit(Notice(text=f"event {number}"))
        return time.perf_counter() - begin

    times: dict[bool, list[float]] = {True: [], False: []}
    for watched in [True, False] * repeats:
        ended = threading.Event()

        def watch(ended: threading.Event = ended) -> None:
            while not ended.wait(LOOK_EVERY_S):
                task.events.stat()
                task.read_state()

        thread = threading.Thread(target=watch)
        if watched:
            thread.start()
        times[watched].append(written())
        ended.set()
        if watched:
            thread.join()
    return statistics.median(times[True]) / statistics.median(times[False])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_library(root / "library")
        write_runs(root)
        write_run(root)
        print("| page | first, ms | again, ms | memory, MB |\n| --- | --- | --- | --- |")
        for path in ("", "runs/long/tasks/task/", "runs/long/tasks/task/from/99501/", "library/", "assets/view.css"):
            command = [sys.executable, __file__, folder, path]
            first, again, peak = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(f"| /{path} | {1000 * first:.0f} | {1000 * again:.0f} | {peak:.0f} |", flush=True)
        print(f"\nwriting events while somebody watches: {slowdown(root):.3f} times as long")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        first_page(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
