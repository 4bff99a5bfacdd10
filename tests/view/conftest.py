"""Runs as they lie on the disk, written by the same sink as real ones, and somebody who looks at them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from habilis.core import events as ev
from habilis.core.types import Plan, Review, Task, TaskResult, ToolRequest, Usage
from habilis.rundir import JsonlSink, RunDir, TaskDir
from habilis.view.app import app_of
from habilis.view.guard import Guard
from habilis.view.runs import Runs
from habilis.view.site import Site

ANY: dict[str, Any] = {"type": "object", "properties": {}}
USED = Usage(model_calls=3, prompt_tokens=1200, completion_tokens=34)


def course(word: str = "") -> list[Any]:
    """All that happens in a task with a build that failed once, and a call. `word` is said wherever text can be."""
    model = {"role": "builder", "purpose": "write tool", "model": f"m{word}", "parent": "build-1"}
    wish = ToolRequest(name="mean", description=f"the mean {word}", input_schema=ANY, output_schema=ANY)
    return [
        ev.TaskStarted(task_id="task", question=f"What is it? {word}"),
        ev.Notice(text=f"a notice {word}"),
        ev.Planned(attempt=1, plan=Plan(build=(wish,), guidance=f"do this {word}"), offered=(f"other{word}",)),
        ev.ToolBuildStarted(tool="mean", build_id="build-1"),
        ev.ModelCallStarted(**model, call_id="k1-1"),
        ev.ModelCallEnded(**model, call_id="k1-1", usage=USED, seconds=0.5),
        ev.ToolRejected(tool="mean", build_id="build-1", purpose="build", attempt=1, reason=f"it fails {word}"),
        ev.ModelCallStarted(**model, call_id="k2-1"),
        ev.ModelCallEnded(**model, call_id="k2-1", usage=USED, seconds=0.5),
        ev.ToolBuilt(tool="mean", build_id="build-1", version="v1", attempts=2, smoke=f"passed {word}", path="p"),
        ev.ToolCallStarted(call_id="c1", tool="mean", version="v1", arguments={"values": f"1 2 3 {word}"}),
        ev.ToolCallEnded(call_id="c1", tool="mean", seconds=0.2, text=f'{{"mean": 2}} {word}', level="bubblewrap"),
        ev.Judged(call_id="c1", tool="mean", verdict="success", reason=f"fits {word}", by="rule"),
        ev.Thought(position=1, stage="replied", thought=f"So it is 2. {word}"),
        ev.ExecutionEnded(attempt=1, stop="answer", text=f"It is 2. {word}"),
        ev.Reviewed(attempt=1, review=Review(accepted=True, reason=f"right {word}")),
        ev.TaskEnded(task_id="task", status="answered", final_answer=f"2 {word}", usage=USED, seconds=3.0),
    ]


class Written:
    """Writes runs below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def task(self, name: str, question: str = "What is the mean?", task_id: str = "task") -> TaskDir:
        """A task of the run `name` that was begun."""
        path = self.root / name
        run = RunDir.open(path) if path.is_dir() else RunDir.create(self.root, name)
        task = run.task(task_id)
        task.save_task(Task(id=task_id, question=question))
        task.set_state("running")
        return task

    def happens(self, task: TaskDir, *events: Any) -> None:
        """Write `events` into the task's log."""
        sink = JsonlSink(task.events)
        for event in events:
            sink.emit(event)
        sink.close()

    def ended(self, name: str, word: str = "", **more: Any) -> TaskDir:
        """A whole run that ended well; `more` are fields of its result."""
        task = self.task(name, f"What is the mean? {word}")
        self.happens(task, *course(word))
        self.tape(task, {"k1": "def run():\n    return 1\n", "k2": f"def run():\n    return 2  # {word}\n"})
        fields = {
            "task_id": "task",
            "status": "answered",
            "question": f"What is the mean? {word}",
            "final_answer": f"2 {word}",
            "reasoning_summary": f"by counting {word}",
            "usage": USED,
            "usage_by_role": {"builder": USED},
            "seconds": 3.0,
            "model": f"model {word}",
        }
        task.save_result(TaskResult(**{**fields, **more}))
        return task

    def tape(self, task: TaskDir, replies: dict[str, str]) -> None:
        """Write models' replies by the keys of their calls."""
        lines = [
            {"kind": "reply", "key": key, "n": 1, "reply": {"content": f"```python\n{code}```"}}
            for key, code in replies.items()
        ]
        task.tape.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    def training(self, name: str, steps: int = 3) -> RunDir:
        """A training that ended after `steps` steps of one task each."""
        run = RunDir.create(self.root, name)
        ends, metrics = [], []
        for step in range(1, steps + 1):
            said = {"task_id": f"t{step}", "question": f"Question {step}?", "status": "answered", "step": step}
            ends.append({**said, "prediction": f"answer {step}", "seconds": 2.0, "usage": USED.model_dump()})
            figures = {"accuracy": 0.5, "reuse_rate": step / 10, "library_size": 2 * step, "egl": 1 / step}
            metrics.append({"step": step, "tasks": 1, "tokens": 1000, "tokens_per_task": 1000.0, **figures})
        for file, rows in (("predictions.jsonl", ends), ("metrics.jsonl", metrics)):
            (run.path / file).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        training = run.training
        assert training is not None
        training.set_state("finished")
        return run


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path / "runs")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(Runs(tmp_path / "runs"), tmp_path / "runs" / "library")


Look = Callable[..., str]


@pytest.fixture
def look(site: Site) -> Look:
    """The page at a path, as text."""
    return lambda path, **query: site.page(path, query).body.decode()


@pytest.fixture
def guard(site: Site) -> Guard:
    return Guard(app_of(site), 8123)


@pytest.fixture
async def client(guard: Guard) -> Any:
    """A browser that was not let in yet."""
    transport = httpx.ASGITransport(app=guard)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8123") as made:
        yield made


@contextmanager
def served(site: Site) -> Iterator[str]:
    """A real server on loopback: the address that it prints."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    guard = Guard(app_of(site), listening.getsockname()[1])
    config = uvicorn.Config(guard, log_level="error", lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield guard.address
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture
def address(site: Site) -> Iterator[str]:
    with served(site) as found:
        yield found
