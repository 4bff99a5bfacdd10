"""Calls that no task made: they bind a merge, and they are neither proof nor use of a tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.contract.records import RecordedCall
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Point
from habilis.curation.manual.browsing import shown
from habilis.library import Library

from .conftest import Stage, adding, clusters, endings, module

CALLS = [{"a": n, "b": n * 3 - 4} for n in range(1, 7)]
CAPPED = "    return OutputModel(total=min(input.a + input.b, 1000))"


def foretell(folder: Path, name: str, a: int, b: int, total: int) -> None:
    library = Library(folder)
    tool = library.get(name)
    assert tool is not None
    values: dict[str, Any] = {"arguments": {"a": a, "b": b}, "output": {"total": total, "error": None}}
    call = RecordedCall(
        call_id="confirmed-1", tool=name, version=tool.version, verdict="success", kind="confirmed", **values
    )
    library.keep_confirmed(name, [call], {})


async def test_a_merge_that_contradicts_only_what_was_foretold_leaves_both_and_says_so(stage: Stage) -> None:
    one = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": CALLS})
    other = await stage.task("t2", {"add_numbers": module("add_numbers", CAPPED)}, {"add_numbers": CALLS})
    foretell(Path(one.folder) / "tools", "add_numbers", 700, 600, 1300)
    foretell(Path(other.folder) / "tools", "add_numbers", 800, 600, 1000)
    report = await stage.curator(models=False).step(1, [one, other])
    assert len(stage.names()) == 2
    assert "that a writer confirmed and no task made" in "\n".join(report.evidence)


async def test_calls_that_nobody_made_prove_no_tool(stage: Stage) -> None:
    task = await stage.task("t1", {"add_numbers": adding()})
    foretell(Path(task.folder) / "tools", "add_numbers", 2, 3, 5)
    report = await stage.curator(models=False).step(1, [task])
    assert endings(report) == {"t1:add_numbers": "retired"}


async def test_kinds_of_calls_are_told_apart(stage: Stage) -> None:
    task = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": CALLS})
    foretell(Path(task.folder) / "tools", "add_numbers", 2, 3, 5)
    await stage.curator(models=False).step(1, [task])
    calls = shown(Library(stage.library), "add_numbers").calls
    assert calls.kinds == {"trial": 0, "used": 6, "confirmed": 1, "tried": 0, "judged": 0}
    assert (calls.total, calls.success) == (6, 6)
    assert stage.manifest("add_numbers").counters["calls"] == 6


async def test_a_merged_tool_is_asked_about_once_and_keeps_what_was_confirmed(stage: Stage) -> None:
    one = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": CALLS})
    pairs = [{"x": row["a"], "y": row["b"]} for row in CALLS]
    summing = adding("sum_of_two", "x: int; y: int", "value: int | None")
    other = await stage.task("t2", {"sum_of_two": summing}, {"sum_of_two": pairs})
    way = {"arguments": {"x": "a", "y": "b"}, "fields": {"total": "value"}}
    merged = adding("add_integers", aliases={"add_numbers": {}, "sum_of_two": way})
    foretold = '{"arguments": {"a": -5, "b": -6}, "expected": {"total": -11}}'
    said = (clusters(["add_numbers", "sum_of_two"]), f"```python\n{merged}\n```", foretold)
    report = await stage.curator(*said, policy="model").step(1, [one, other])
    assert stage.names() == ["add_integers"], report.evidence
    kept = [record for record in Library(stage.library).records("add_integers") if not record.used]
    assert [(record.arguments, record.output["total"]) for record in kept] == [({"a": -5, "b": -6}, -11)]
    assert report.model_calls == 3, "one more than without"


class Killed(BaseException):
    """The process ends here."""


class Dying(Journal):
    """What the step decided is written down, and no more."""

    def write(self, step: int, point: Point, payload: dict[str, Any]) -> None:
        super().write(step, point, payload)
        if point == "verified":
            raise Killed


async def test_what_was_confirmed_of_a_merged_tool_keeps_its_files_over_a_kill_before_publishing(stage: Stage) -> None:
    counting = "    return OutputModel(lines=len(open(input.{field}).read().splitlines()))"
    rows = [{"path": f"{n}.txt"} for n in range(1, 7)]
    tasks = []
    for task_id, name, field in (("t1", "count_lines", "path"), ("t2", "lines_of", "file")):
        workspace = stage.folder / "run" / "tasks" / task_id / "workspace"
        workspace.mkdir(parents=True)
        for n in range(1, 7):
            (workspace / f"{n}.txt").write_text("x\n" * n)
        source = module(name, counting.format(field=field), f"{field}: str", "lines: int | None")
        tasks.append(await stage.task(task_id, {name: source}, {name: [{field: row["path"]} for row in rows]}))
    ways = {"count_lines": {}, "lines_of": {"arguments": {"file": "path"}}}
    body = counting.format(field="path")
    merged = module("count_rows", body, "path: str", "lines: int | None", aliases=ways)
    foretold = '{"arguments": {"path": "new.txt"}, "files": {"new.txt": "a\\nb\\nc\\n"}, "expected": {"lines": 3}}'
    said = (clusters(["count_lines", "lines_of"]), f"```python\n{merged}\n```", foretold)
    journal = Dying(stage.folder / "run" / "journal.jsonl")
    with pytest.raises(Killed):
        await stage.curator(*said, policy="model", journal=journal).step(1, tasks)
    report = await stage.curator(policy="model").step(1, tasks)
    assert (stage.names(), stage.asked) == (["count_rows"], []), report.evidence
    library = Library(stage.library)
    (kept,) = (record for record in library.records("count_rows") if not record.used)
    assert kept.why_not is None
    assert [library.content(digest) for digest in kept.files.values()] == [b"a\nb\nc\n"]
