"""Whatever goes wrong at whatever point of a step: a whole library, a true account, and nothing paid twice.

Each cell stops a step once and calls it again; what comes out must be what an undisturbed step comes to, bit for bit.
"""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage

from habilis.core.types import TaskResult
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished, Point, StepReport
from habilis.library import Library
from habilis.library.generations import digest
from habilis.testing import ScriptedServer

from ...marks import some
from .conftest import Stage, adding, clusters, module

ROOT = Path(__file__).resolve().parents[3]
CHILD = Path(__file__).parent / "child.py"
POINTS = [point for point in get_args(Point) if point != "tasks"]
ALIASES = {
    "count_errors": {"constants": {"part": "e"}, "fields": {"found": "n"}},
    "count_spaces": {"constants": {"part": " "}, "fields": {"found": "n"}},
}
RUN = "    return OutputModel(found=input.text.count(input.part))"
SAME = (["add_numbers", "sum_of_two"], ["count_errors", "count_spaces"])


def merged(body: str = RUN, takes: str = "text: str; part: str", name: str = "count_part") -> str:
    return module(name, body, takes, "found: int | None", aliases=ALIASES)


class Killed(BaseException):
    """Stands for a kill: nothing below the test may catch it."""


HOSTILE: dict[str, tuple[Any, str]] = {
    "all is well": (clusters(*SAME), merged()),
    "an exception in clustering": (RuntimeError("no such luck"), merged()),
    "an omitted tool": (clusters(["count_errors", "count_spaces"]), merged()),
    "an invented tool": (clusters(["add_numbers", "sum_of_two", "nosuch"], *SAME[1:], ["ghost", "other"]), merged()),
    "a tool named twice": (clusters(*SAME, ["count_errors", "add_numbers"]), merged()),
    "a path in a name": (clusters(["../../etc/passwd", "add_numbers"], *SAME), merged(name="../../escaped")),
    "no clusters": (clusters(), merged()),
    "a lossy merge": (clusters(*SAME), merged("    return OutputModel(found=input.text.count('e'))")),
    "a wrong signature": (clusters(*SAME), merged(takes="text: str; part: str; more: str")),
    "a crashing tool": (clusters(*SAME), merged("    raise RuntimeError('no')")),
    "no code at all": (clusters(*SAME), "I would rather not."),
}
MERGES = {"all is well", "an invented tool", "an omitted tool", "a tool named twice", "a path in a name"}


class Model:
    """Says what it is told about clusters and merges, as often as it is asked; counts what it finished."""

    def __init__(self, said: tuple[Any, str]) -> None:
        self.clusters, self.code = said
        self.finished: list[str] = []

    def __call__(self, messages: Sequence[Any], tools: Any, form: Any) -> Any:
        text = str(messages[-1].content)
        said = self.code if "<tool_code" in text else self.clusters
        if isinstance(said, Exception):
            raise said
        self.finished.append("\n".join(str(message.content) for message in messages))
        return f"```python\n{said}\n```" if said is self.code and "import" in said else said


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prepared stage, to be copied: making it takes longer than most of what is done with it."""
    folder = tmp_path_factory.mktemp("template")
    asyncio.run(made(folder))
    return folder


def prepared(folder: Path, template: Path) -> tuple[Stage, list[Finished]]:
    """A library with one tool, and tasks that bring more: a duplicate, two to be one, one unproven, one that hung."""
    shutil.copytree(template, folder, symlinks=True, dirs_exist_ok=True)
    statuses = {"t1": "answered", "t2": "answered", "t3": "timed_out", "t4": "answered"}
    tasks = [
        Finished(
            task_id=name,
            status=status,
            folder=str(folder / "run" / "tasks" / name),
            result=TaskResult(task_id=name, status="answered", question="?"),
        )
        for name, status in statuses.items()
    ]
    return Stage(folder), tasks


async def made(folder: Path) -> None:
    stage = Stage(folder)
    calls = {"add_numbers": [{"a": 2, "b": 3}, {"a": 0, "b": 3}]}
    first = await stage.task("t0", {"add_numbers": adding()}, calls)
    await stage.curator(models=False).step(1, [first])
    same = adding("sum_of_two", "a: int; b: int", "value: int | None")
    count = "    return OutputModel(n=input.text.count('{}'))"
    counting = {
        "count_errors": module("count_errors", count.format("e"), "text: str", "n: int | None"),
        "count_spaces": module("count_spaces", count.format(" "), "text: str", "n: int | None"),
        "unproven": adding("unproven"),
    }
    said = {
        "count_errors": [{"text": "see me"}],
        "count_spaces": [{"text": "a b c"}],
        "add_numbers": [{"a": 5, "b": 5}],
    }
    await stage.task("t1", {"sum_of_two": same}, {"sum_of_two": [{"a": 1, "b": 1}]})
    await stage.task("t2", counting, said)
    await stage.task("t3", {"hung": adding("hung")}, {"hung": [{"a": 1, "b": 2}]})
    await stage.task("t4")  # a step without any tool call, as far as this task is concerned


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, tuple[str, StepReport]]:
    return {}


async def expected(
    hostile: str, known: dict[str, tuple[str, StepReport]], folder: Path, template: Path
) -> tuple[str, StepReport]:
    """Library and report of a step that nobody stops."""
    if hostile not in known:
        stage, tasks = prepared(folder / "undisturbed", template)
        report = await stage.curator(Model(HOSTILE[hostile]), policy="model").step(2, tasks)
        known[hostile] = (digest(stage.library.resolve()), report.model_copy(update={"seconds": 0.0}))
    return known[hostile]


def check_whole(stage: Stage, report: StepReport, hostile: str) -> None:
    """Every tool that went in is there, or where the report says; every old name works."""
    assert report.balanced
    library = Library(stage.library)
    assert library.broken() == []
    assert set(library.names()) == {fate.into for fate in report.fates if fate.into}
    for name in ("add_numbers", "sum_of_two", "count_errors", "count_spaces"):
        assert library.get(name) is not None, name
    assert {fate.ending for fate in report.fates if "unproven" in fate.tool} == {"retired"}
    assert not any("hung" in fate.tool for fate in report.fates)
    assert ("count_part" in library.names() or "escaped" in library.names()) == (hostile in MERGES)
    assert not (stage.folder.parent / "escaped.py").exists()


@pytest.mark.parametrize("hostile", HOSTILE)
async def test_what_a_model_says_costs_no_tool(
    hostile: str, tmp_path: Path, template: Path, undisturbed: dict[str, tuple[str, StepReport]]
) -> None:
    whole, _ = await expected(hostile, undisturbed, tmp_path, template)
    stage, tasks = prepared(tmp_path / "again", template)
    again = await stage.curator(Model(HOSTILE[hostile]), policy="model").step(2, tasks)
    check_whole(stage, again, hostile)
    assert digest(stage.library.resolve()) == whole, "two runs of one step differ"
    assert await stage.call("add_numbers", a=20, b=3) == {"total": 23, "error": None}
    assert await stage.call("sum_of_two", a=20, b=3) == {"value": 23, "error": None}
    assert await stage.call("count_spaces", text="x y") == {"n": 1, "error": None}


class StoppingJournal(Journal):
    """A journal that stops the step once, just before or just after a point is written down."""

    def __init__(self, path: Path, point: str, stop: Callable[[], BaseException], *, before: bool) -> None:
        super().__init__(path)
        self.point, self.stop, self.before = point, stop, before

    def write(self, step: int, point: Point, payload: dict[str, Any]) -> None:
        if point == self.point and self.before:
            raise self.stop()
        super().write(step, point, payload)
        if point == self.point:
            raise self.stop()


def no_space() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("hostile", ["all is well", "a lossy merge", "an exception in clustering"])
@pytest.mark.parametrize("how", ["killed after", "killed before", "disk full"])
async def test_stopped_at_a_point_and_called_again_a_step_comes_to_the_same(
    point: str, hostile: str, how: str, tmp_path: Path, template: Path, undisturbed: dict[str, tuple[str, StepReport]]
) -> None:
    whole, report = await expected(hostile, undisturbed, tmp_path, template)
    stage, tasks = prepared(tmp_path / "stopped", template)
    before = digest(stage.library.resolve())
    model, stop = Model(HOSTILE[hostile]), no_space if how == "disk full" else Killed
    journal = StoppingJournal(stage.folder / "run" / "journal.jsonl", point, stop, before=how != "killed after")
    with pytest.raises((Killed, OSError)):
        await stage.curator(model, policy="model", journal=journal).step(2, tasks)
    now = digest(stage.library.resolve())
    assert now == (whole if point == "published" else before), "neither the old library nor the new one"
    again = await stage.curator(model, policy="model").step(2, tasks)
    check_whole(stage, again, hostile)
    assert digest(stage.library.resolve()) == whole
    assert again.model_copy(update={"seconds": 0.0}) == report
    assert len(model.finished) == report.model_calls, "a model call was paid twice"


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """The system refuses every file that grows beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", some([1_000, 0, 300, 700, 1_400, 2_000, 3_000]))
async def test_a_disk_that_refuses_somewhere_leaves_a_whole_library(
    size: int, tmp_path: Path, template: Path, undisturbed: dict[str, tuple[str, StepReport]]
) -> None:
    whole, _ = await expected("all is well", undisturbed, tmp_path, template)
    stage, tasks = prepared(tmp_path / "full", template)
    before = digest(stage.library.resolve())
    model = Model(HOSTILE["all is well"])
    with files_of_at_most(size), pytest.raises(OSError):  # noqa: PT011 — which file it is depends on the size
        await stage.curator(model, policy="model").step(2, tasks)
    assert digest(stage.library.resolve()) == before
    check_whole(stage, await stage.curator(model, policy="model").step(2, tasks), "all is well")
    assert digest(stage.library.resolve()) == whole


async def test_a_step_that_was_absorbed_is_reported_again_and_does_nothing(tmp_path: Path, template: Path) -> None:
    stage, tasks = prepared(tmp_path, template)
    model = Model(HOSTILE["all is well"])
    first = await stage.curator(model, policy="model").step(2, tasks)
    asked = len(model.finished)
    again = await stage.curator(model, policy="model").step(2, tasks)
    assert again.model_copy(update={"seconds": 0.0}) == first.model_copy(update={"seconds": 0.0})
    assert (len(model.finished), stage.generations.current()) == (asked, 2)


async def test_a_library_that_went_on_meanwhile_is_built_upon_not_overwritten(tmp_path: Path, template: Path) -> None:
    stage, tasks = prepared(tmp_path, template)
    model = Model(HOSTILE["all is well"])
    journal = StoppingJournal(stage.folder / "run" / "journal.jsonl", "verified", Killed, before=False)
    with pytest.raises(Killed):
        await stage.curator(model, policy="model", journal=journal).step(2, tasks)
    source = adding("times", "x: int; y: int")  # other code than that of tools which are there
    other = await stage.task("o1", {"times": source}, {"times": [{"x": 1, "y": 2}]})
    await stage.curator(models=False, run="other").step(1, [other])
    report = await stage.curator(model, policy="model").step(2, tasks)
    assert (report.parent, report.generation) == (2, 3)
    assert {"times", "count_part"} <= set(stage.names())


def curate(folder: Path, base_url: str, point: str = "", when: str = "after") -> subprocess.CompletedProcess[str]:
    """A step in a process of its own, over the real protocol and in the real sandbox; killed at `point`."""
    env = {**os.environ, "OPENAI_BASE_URL": base_url, "OPENAI_MODEL": "scripted", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(CHILD), str(folder), point, when]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize(
    "point", [pytest.param(point, marks=() if at % 3 else pytest.mark.promise) for at, point in enumerate(POINTS)]
)
def test_killed_for_real_at_a_point_a_step_comes_to_the_same(
    point: str, tmp_path: Path, template: Path, sandbox_level: str, known_whole: dict[str, str]
) -> None:
    model = Model(HOSTILE["all is well"])

    def answer(messages: Any, tools: Any, form: Any) -> AIMessage:
        return AIMessage(model(messages, tools, form))

    with ScriptedServer(answer) as server:
        if not known_whole:
            whole, _ = prepared(tmp_path / "whole", template)
            ended = curate(whole.folder, server.base_url)
            assert ended.returncode == 0, ended.stderr
            known_whole |= {"digest": digest(whole.library.resolve()), "report": ended.stdout}
            server.requests.clear()
        stage, _ = prepared(tmp_path / "killed", template)
        killed = curate(stage.folder, server.base_url, point, "before" if point == "published" else "after")
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        again = curate(stage.folder, server.base_url)
        assert again.returncode == 0, again.stderr
        assert (digest(stage.library.resolve()), again.stdout) == (known_whole["digest"], known_whole["report"])
        assert server.finished == StepReport.model_validate_json(again.stdout).model_calls


@pytest.fixture(scope="module")
def known_whole() -> dict[str, str]:
    return {}
