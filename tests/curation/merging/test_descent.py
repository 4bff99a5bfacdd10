"""Who descends from whom goes by what was made from what, never by texts that happen to be equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from habilis.contract.contract import read_contract
from habilis.contract.records import RecordedCall
from habilis.contract.runnable import Description, Runnable
from habilis.library import LayeredLibrary, Library, Origin
from habilis.library.outofuse import set_aside

from ...toolshop import InProcessHost, Shop
from .conftest import Stage, adding, clusters, endings

ONCE = adding()
TWICE = adding().replace("input.a + input.b", "int(input.a) + int(input.b)")
THRICE = adding().replace("input.a + input.b", "sum([input.a, input.b])")
CALLS = [{"a": n, "b": 3} for n in range(5)]


async def _mended(stage: Stage, task: str, source: str, step: int) -> Any:
    """A step with a task that mended the tool in use, and called what it made of it."""
    old = stage.get("add_numbers")
    origin = Origin(how="forked", parents=(f"add_numbers@{old.manifest.identity}",))
    made = await stage.task(task, {"add_numbers": source}, {"add_numbers": CALLS}, origins={"add_numbers": origin})
    return await stage.curator(models=False).step(step, [made])


async def _begun(stage: Stage) -> None:
    await stage.curator(models=False).step(1, [await stage.task("t1", {"add_numbers": ONCE}, {"add_numbers": CALLS})])


async def test_a_mend_that_restores_an_old_text_replaces_what_it_mends(stage: Stage) -> None:
    await _begun(stage)
    await _mended(stage, "t2", TWICE, 2)
    report = await _mended(stage, "t3", ONCE, 3)
    assert stage.names() == ["add_numbers"], report.evidence
    assert stage.get("add_numbers").source() == ONCE
    assert endings(report) == {"add_numbers": "merged", "t3:add_numbers": "kept"}


async def test_each_version_keeps_its_manifest_be_its_text_that_of_another(stage: Stage) -> None:
    await _begun(stage)
    await _mended(stage, "t2", TWICE, 2)
    await _mended(stage, "t3", ONCE, 3)
    await _mended(stage, "t4", THRICE, 4)
    assert stage.names() == ["add_numbers"]
    archived = set_aside(stage.library, "add_numbers")
    assert sorted(one.tool.origin.task for one in archived) == ["t1", "t2", "t3"]
    assert len({one.label for one in archived}) == 3
    parents = {one.tool.origin.task: one.tool.origin.parents for one in archived}
    labels = {one.tool.origin.task: one.label for one in archived}
    assert (parents["t2"], parents["t3"]) == ((labels["t1"],), (labels["t2"],))
    assert stage.manifest("add_numbers").origin.parents == (labels["t3"],)


async def test_what_one_task_mended_twice_replaces_the_version_that_it_began_with(stage: Stage) -> None:
    wrong = adding().replace("input.a + input.b", "input.a + input.b if input.a < 3 else 0")
    made = await stage.task("t1", {"add_numbers": wrong}, {"add_numbers": CALLS[:2]})
    await stage.curator(models=False).step(1, [made])
    failing = await stage.task("t1b", {}, {"add_numbers": [{"a": n, "b": 3} for n in (3, 4, 5)]}, verdict="failure")
    await stage.curator(models=False).step(2, [failing])
    task = await stage.task("t2")
    private = Library(Path(task.folder) / "tools")
    view, version = LayeredLibrary(private, Library(stage.library)), stage.get("add_numbers").version
    for source in (wrong.replace("< 3", "< 4"), TWICE):
        await _improve(view, source, stage.host)
    calls = {"add_numbers": [*CALLS, {"a": 7, "b": 1}]}
    report = await stage.curator(models=False).step(3, [await stage.task("t2", {}, calls)])
    assert stage.names() == ["add_numbers"], report.evidence
    assert stage.get("add_numbers").source() == TWICE
    assert f"add_numbers@{version}" in stage.manifest("add_numbers").origin.parents


@pytest.mark.parametrize("judged", [False, True])
async def test_what_a_judge_settled_in_a_task_is_known_to_the_step(stage: Stage, judged: bool) -> None:
    """The step has no judge: without the kept call, the mend differs where nothing says that it may."""
    wrong = adding().replace("input.a + input.b", "input.a + input.b if input.a != 6 else 0")
    await stage.curator(models=False).step(1, [await stage.task("t1", {"add_numbers": wrong}, {"add_numbers": CALLS})])
    origin = Origin(how="forked", parents=(f"add_numbers@{stage.get('add_numbers').manifest.identity}",))
    task = await stage.task("t2", {"add_numbers": ONCE}, {"add_numbers": CALLS}, origins={"add_numbers": origin})
    if judged:
        values: dict[str, Any] = {"arguments": {"a": 6, "b": 3}, "output": {"total": 9, "error": None}}
        call = RecordedCall(
            call_id="judged-1", tool="add_numbers", version="", verdict="success", kind="judged", **values
        )
        Library(Path(task.folder) / "tools").keep_confirmed("add_numbers", [call], {})
    report = await stage.curator(models=False).step(2, [task])
    evidence = "\n".join(report.evidence)
    assert ("on a generated call" in evidence) is not judged, evidence
    assert (stage.get("add_numbers").source() == ONCE) is judged, evidence
    if judged:
        kinds = [one.kind for one in Library(stage.library).records("add_numbers")]
        assert "judged" in kinds, "it binds whoever comes next"


async def _improve(view: LayeredLibrary, source: str, host: InProcessHost) -> None:
    """What the smith does once a better version of the tool has passed."""
    tool = view.get("add_numbers")
    assert tool is not None
    with view.private.aside() as aside:
        module = aside / "add_numbers.py"
        module.write_text(source, encoding="utf-8")
        description = await host.describe(Runnable("add_numbers", module))
    assert isinstance(description, Description)
    view.improve(tool, source, description, read_contract(source), Origin(how="enhanced", parents=(tool.label,)))


async def test_a_version_mended_back_and_forth_in_one_task_keeps_every_manifest(shop: Shop) -> None:
    await shop.has(ONCE, "add_numbers")
    for source in (TWICE, ONCE, THRICE):
        await _improve(shop.library, source, shop.host)
    archived = set_aside(shop.private.path, "add_numbers")
    assert len({one.label for one in archived}) == 3


async def test_the_proofs_of_a_tool_are_those_of_all_its_names(stage: Stage) -> None:
    """Who has more calls to show goes on: calls by old names count, so that what many rely on is not given up."""
    other = adding("plus", gives="value: int | None")
    first = await stage.task("t1", {"add_numbers": ONCE}, {"add_numbers": [{"a": n, "b": 1} for n in range(6)]})
    await stage.curator(models=False).step(1, [first])
    second = await stage.task("t2", {"plus": other}, {"plus": [{"a": n, "b": 2} for n in range(5)]})
    report = await stage.curator(clusters(["add_numbers", "plus"])).step(2, [second])
    assert stage.names() == ["add_numbers"], report.evidence
    called = await stage.task("t3", {}, {"plus": [{"a": n, "b": 5} for n in range(6)]})
    await stage.curator(models=False).step(3, [called])
    third = THRICE.replace("add_numbers", "total_of")
    rival = await stage.task("t4", {"total_of": third}, {"total_of": [{"a": n, "b": 7} for n in range(9)]})
    report = await stage.curator(clusters(["add_numbers", "total_of"])).step(4, [rival])
    assert stage.names() == ["add_numbers"], report.evidence


async def test_what_was_called_by_old_names_makes_inputs_for_comparisons(stage: Stage) -> None:
    calls = {"add_numbers": CALLS, "plus": [{"a": 1050, "b": 9}, *CALLS]}
    tools = {"add_numbers": ONCE, "plus": adding("plus", gives="value: int | None")}
    await stage.curator(clusters(["add_numbers", "plus"])).step(1, [await stage.task("t1", tools, calls)])
    (name,) = stage.names()
    view, (other,) = LayeredLibrary(Library(stage.library)), stage.manifest(name).aliases
    by_old_name = [one.arguments for one in view.records(other)]
    assert by_old_name
    assert [one.arguments for one in view.calls_before(stage.get(name))] == by_old_name


async def test_a_mend_that_is_wrong_only_at_a_call_by_an_old_name_replaces_nothing(stage: Stage) -> None:
    calls = {"add_numbers": CALLS, "plus": [{"a": 1050, "b": 9}, *CALLS]}
    tools = {"add_numbers": ONCE, "plus": adding("plus", gives="value: int | None")}
    await stage.curator(clusters(["add_numbers", "plus"])).step(1, [await stage.task("t1", tools, calls)])
    (name,) = stage.names()
    here, (other,) = stage.get(name), stage.manifest(name).aliases
    wrong = here.source().replace("input.a + input.b", "input.a + input.b if input.a + input.b != 1059 else 0")
    assert wrong != here.source()
    origins = {name: Origin(how="forked", parents=(here.label,))}
    report = await stage.curator(models=False).step(
        2, [await stage.task("t2", {name: wrong}, {name: CALLS}, origins=origins)]
    )
    assert 1059 in (await stage.call(other, a=1050, b=9)).values(), report.evidence
    assert any("1050" in line for line in report.evidence), report.evidence


async def test_what_archived_versions_were_called_with_makes_inputs_too(stage: Stage) -> None:
    await _begun(stage)
    await _mended(stage, "t2", TWICE, 2)
    view, tool = LayeredLibrary(Library(stage.library)), stage.get("add_numbers")
    (kept,) = view.line(tool)
    assert kept.source() == ONCE
    call = view.records("add_numbers")[0].model_copy(update={"call_id": "x", "arguments": {"a": 77, "b": 3}})
    (kept.path.with_suffix(".jsonl")).write_text(call.model_dump_json() + "\n", encoding="utf-8")
    assert [one.arguments for one in view.calls_before(tool)] == [{"a": 77, "b": 3}]
