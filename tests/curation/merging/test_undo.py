"""A merge that lost something is undone by what happens: the tool is mended by that call, or its members come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.context.standing_in import witnessed
from habilis.core.types import Invocation, StoodIn
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished, Point, StepReport
from habilis.curation.manual.browsing import shown
from habilis.curation.manual.health import doctor
from habilis.curation.manual.history import history_of
from habilis.library import LayeredLibrary, Library, Manifest, Origin
from habilis.library.generations import digest
from habilis.rundir.seals import unsealed
from habilis.runtime.calls import CallSpec

from ...forced import force_merge
from ...marks import PROMISE
from .conftest import Stage, clusters, endings, module

GIVES = "value: int | None"
PLAIN = module("parse_number", "    return OutputModel(value=int(input.x))", "x: str", GIVES).replace("a b", "1")
ANY = module("parse_amount", "    return OutputModel(value=int(input.x.replace(',', '')))", "x: str", GIVES)
ANY = ANY.replace("a b", "1")
WRITTEN = PLAIN.replace("int(input.x)", "int(float(input.x))").replace("parse_number", "to_number")
MENDED = PLAIN.replace("int(input.x)", "int(input.x.replace(',', '').strip())")
NUMBERS = [{"x": str(n)} for n in range(1, 7)]
CALLS = {"parse_number": NUMBERS, "parse_amount": [{"x": "2"}, {"x": "3,000"}]}


async def lossy(stage: Stage) -> None:
    """A library in which `parse_number` does the work of `parse_amount`, and cannot."""
    first = await stage.task("t1", {"parse_number": PLAIN, "parse_amount": ANY}, CALLS)
    await stage.curator(models=False).step(1, [first])
    assert stage.names() == ["parse_amount", "parse_number"]
    force_merge(stage.library, "parse_number", "parse_amount")


async def answered(stage: Stage, task_id: str, name: str, *calls: dict[str, Any]) -> Finished:
    """A task in which a member answered `calls` of the merged tool `name`, as the task's context records it."""
    finished = await stage.task(task_id)
    view = LayeredLibrary(Library(stage.folder / "run" / "tasks" / task_id / "tools"), Library(stage.library))
    tool = view.get(name)
    assert tool is not None
    workspace = stage.folder / "run" / "tasks" / task_id / "workspace"
    for number, arguments in enumerate(calls):
        failed = await stage.host.call(CallSpec(tool.runnable, arguments, workspace=workspace))
        assert failed.error is not None
        member = view.members(tool)[0]
        given = member.given(tool.alias.given(arguments) if tool.alias else arguments)
        answer = await stage.host.call(CallSpec(member.tool.runnable, given, workspace=workspace))
        assert answer.error is None, "the member does not answer it"
        said = StoodIn(member=member.tool.label, version=member.tool.version, failed=failed)
        output = member.gave(answer.output)
        output = tool.alias.seen(output) if tool.alias else output
        call = Invocation(
            call_id=f"s{number}",
            tool=name,
            version=tool.version,
            arguments=arguments,
            outcome=answer.model_copy(update={"output": output, "stood_in": said}),
            verdict="success",
        )
        for one in witnessed(call):
            view.record(one, workspace=workspace)
    return finished


def sound(stage: Stage) -> bool:
    return [one for one in doctor(stage.library, Library(stage.library)) if one.level != "note"] == []


@pytest.mark.parametrize("asked", ["parse_number", "parse_amount"])
async def test_the_member_that_answered_comes_back_with_its_name_and_calls(asked: str, stage: Stage) -> None:
    await lossy(stage)
    task = await answered(stage, "t2", asked, {"x": "1,000"})
    report = await stage.curator(models=False).step(2, [task])
    assert stage.names() == ["parse_amount", "parse_number"], report.evidence
    assert await stage.call("parse_amount", x="4,000") == {"value": 4000, "error": None}
    assert endings(report) == {"parse_number": "kept"}
    (back,) = report.came_back
    assert back.into == "parse_amount"
    assert [line.tool.split("@")[0] for line in report.lineage] == ["parse_amount"]
    library = Library(stage.library)
    proofs = {record.arguments["x"] for record in library.records("parse_amount") if record.verdict == "success"}
    assert {"2", "3,000", "1,000"} <= proofs
    assert stage.manifest("parse_number").aliases == {}
    assert sound(stage)
    again = await stage.curator(models=False).step(3, [task])
    assert (again.came_back, stage.names()) == ((), ["parse_amount", "parse_number"])


async def test_the_next_steps_do_not_join_again_what_was_split(stage: Stage) -> None:
    await lossy(stage)
    await stage.curator(models=False).step(2, [await answered(stage, "t2", "parse_number", {"x": "1,000"})])
    more = {"parse_number": PLAIN.replace("int(input.x)", "int(str(input.x))")}
    task = await stage.task("t3", more, {"parse_number": NUMBERS, "parse_amount": [{"x": "9,000"}]})
    await stage.curator(models=False).step(3, [task])
    assert await stage.call("parse_amount", x="4,000") == {"value": 4000, "error": None}


async def test_a_member_that_came_back_is_not_replaced_through_the_old_name_of_a_fork(stage: Stage) -> None:
    """A task that began before the split brings a fork that still answers to the member's name."""
    await lossy(stage)
    before = stage.get("parse_number")
    await stage.curator(models=False).step(2, [await answered(stage, "t2", "parse_number", {"x": "1,000"})])
    fork = PLAIN.replace("int(input.x)", "int(str(input.x))")
    task = await stage.task("t3", {"parse_number": fork}, {"parse_number": NUMBERS})
    path = Path(task.folder) / "tools" / "parse_number.json"
    manifest = Manifest.model_validate_json(unsealed(path.read_bytes()))
    origin = Origin(how="forked", parents=(before.label,))
    aliases = before.manifest.aliases
    assert list(aliases) == ["parse_amount"]
    path.write_text(manifest.model_copy(update={"origin": origin, "aliases": aliases}).model_dump_json())
    await stage.curator(clusters(["parse_amount", "parse_number", "parse_number_v02"])).step(3, [task])
    assert await stage.call("parse_amount", x="4,000") == {"value": 4000, "error": None}
    assert sound(stage)


async def test_the_writer_mends_the_merged_tool_by_what_the_member_answered(stage: Stage) -> None:
    await lossy(stage)
    task = await answered(stage, "t2", "parse_number", {"x": "1,000"})
    report = await stage.curator(f"```python\n{MENDED}```", policy="model").step(2, [task])
    assert stage.names() == ["parse_number"], report.evidence
    assert "right is" in stage.asked[0]
    assert report.model_calls == 1
    assert await stage.call("parse_number", x="4,000") == {"value": 4000, "error": None}
    assert await stage.call("parse_amount", x="5,000") == {"value": 5000, "error": None}
    assert (report.came_back, sound(stage)) == ((), True)
    assert endings(report) == {"parse_number": "merged"}
    tool = stage.get("parse_number")
    assert [one.tool.name for one in LayeredLibrary(Library(stage.library)).members(tool)] == ["parse_amount"]


async def test_where_no_mend_stands_the_merge_is_undone(stage: Stage) -> None:
    await lossy(stage)
    task = await answered(stage, "t2", "parse_number", {"x": "1,000"})
    wrong = PLAIN.replace("int(input.x)", "int(input.x.replace(',', '.').split('.')[0])")
    report = await stage.curator(lambda *_: f"```python\n{wrong}```", policy="model").step(2, [task])
    assert stage.names() == ["parse_amount", "parse_number"]
    assert all("judge whether" not in asked for asked in stage.asked)
    assert any("is not mended" in line for line in report.evidence)


async def test_what_a_writer_made_of_several_goes_and_each_name_leads_somewhere(stage: Stage) -> None:
    await stage.curator(models=False).step(1, [await stage.task("t1", {"to_number": WRITTEN}, {"to_number": NUMBERS})])
    path = stage.library / "to_number.json"
    tool = stage.get("to_number")
    origin = tool.origin.model_copy(update={"how": "merged"})
    asked = {"origin": origin, "answered": ("How much do the pears weigh?",)}
    path.write_text(tool.manifest.model_copy(update=asked).model_dump_json(), encoding="utf-8")
    members = {"parse_number": PLAIN, "parse_amount": ANY}
    await stage.curator(models=False, policy="naive").step(2, [await stage.task("t2", members, CALLS)])
    force_merge(stage.library, "to_number", "parse_amount", "parse_number")
    task = await answered(stage, "t3", "to_number", {"x": "1,000"})
    report = await stage.curator(models=False).step(3, [task])
    assert stage.names() == ["parse_amount", "parse_number"], report.evidence
    assert {fate.tool.split("@")[0]: (fate.ending, fate.into) for fate in report.fates} == {
        "to_number": ("retired", "parse_amount")
    }
    assert await stage.call("to_number", x="4,000") == {"value": 4000, "error": None}
    assert stage.manifest("parse_amount").answered == ("How much do the pears weigh?",), "it has the name now"
    assert len(Library(stage.library).retired()) == 1
    assert sound(stage)


async def test_show_and_history_tell_who_answered_and_why_it_was_split(stage: Stage) -> None:
    await lossy(stage)
    await stage.curator(models=False).step(2, [await answered(stage, "t2", "parse_number", {"x": "1,000"})])
    told = "\n".join(line for event in history_of(stage.library, "parse_amount") for line in event.lines)
    assert "came back as parse_amount" in told
    assert "failed 1 call that parse_amount@" in told
    told = "\n".join(line for event in history_of(stage.library, "parse_number") for line in event.lines)
    assert "parse_amount answered for parse_number in task t2" in told
    row = shown(Library(stage.library), "parse_number")
    assert [line.split("@")[0] + line[-6:] for line in row.calls.stood_in] == ["parse_amount in t2"]
    assert [one.tool.split("@")[0] for one in row.lineage.parents] == ["parse_amount"]
    assert any("parse_amount answered for parse_number in task t2" in line for line in row.evidence)


class Killed(Exception):
    """The process ends here."""


class Stopping(Journal):
    point, before = "", False

    def write(self, step: int, point: Point, payload: dict[str, Any]) -> None:
        if point == self.point and self.before:
            raise Killed
        super().write(step, point, payload)
        if point == self.point:
            raise Killed


def undisturbed(report: StepReport) -> StepReport:
    return report.model_copy(update={"seconds": 0.0})


@pytest.mark.parametrize(
    "mended",
    [False, pytest.param(True, marks=PROMISE)],
    ids=["split", "mended"],
)
async def test_killed_at_any_point_the_step_comes_to_the_same(mended: bool, stage: Stage) -> None:
    await lossy(stage)
    task = await answered(stage, "t2", "parse_number", {"x": "1,000"})
    said, policy = (f"```python\n{MENDED}```", "model") if mended else ("", "best")
    curator = stage.curator(said, policy=policy, run="whole", models=mended)
    link = stage.library.readlink()
    whole = undisturbed(await curator.step(2, [task]))
    bits, made = digest(stage.library.resolve()), stage.library.resolve()
    for point in ["verified", "undone", "published"]:
        for before in (True, False):
            stage.library.unlink()
            stage.library.symlink_to(link)
            made.rename(stage.folder / f"{point}-{before}")
            name = f"run-{point}-{before}"
            journal = Stopping(stage.folder / name / "journal.jsonl")
            journal.point, journal.before = point, before
            with pytest.raises(Killed):
                await stage.curator(said, policy=policy, run=name, models=mended, journal=journal).step(2, [task])
            again = await stage.curator(said, policy=policy, run=name, models=mended).step(2, [task])
            assert (digest(stage.library.resolve()), undisturbed(again)) == (bits, whole), (point, before)
            assert stage.library.resolve() == made
