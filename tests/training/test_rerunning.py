"""Taped tasks without a tool: the tape answers up to where the two part, and only from there is a model paid."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.config import load_settings
from habilis.core.errors import UserError
from habilis.rundir import RunDir
from habilis.training.rerunning import _enclosed, concerned, rerun, taped_tasks

from ..agents.conftest import Script, Stage, call, calling, stage, tool_source

__all__ = ["stage"]


async def solved(stage: Stage) -> RunDir:
    stage.add(
        "double",
        tool_source("double", "return OutputModel(result=2 * input.x)", description="Gives two times a number."),
    )
    stage.add("shout", tool_source("shout", "return OutputModel(result='!')", description="Nothing of the kind."))
    script = Script([calling(call("double", {"x": 21}, "a")), "42"], ({"required_tool_names": ["double"]},))
    result = await stage.play(script, question="What is two times 21?")
    assert result.status == "answered"
    assert result.tools_used == ("double",)
    return RunDir.open(stage.root / "run")


async def test_without_leave_to_pay_it_is_told_where_the_two_part(stage: Stage) -> None:
    run = await solved(stage)
    settings = load_settings(overrides=[f"runs_dir={stage.root}"])
    tasks = concerned(taped_tasks(run, stage.root / "library"), "double")
    silent = Script([])
    (found,) = await rerun(tasks, "double", settings, pay=False, clients=stage.clients(silent))
    assert found.parted.startswith("model call 1 (builder, write tool) was not recorded")
    assert found.without_it is None
    assert found.paid_tokens == 0
    assert silent.asked == []
    assert (found.with_it.answered, found.with_it.calls) == (True, 1)


async def test_with_leave_the_rest_is_paid_and_both_sides_are_told(stage: Stage) -> None:
    run = await solved(stage)
    before = {path: path.read_bytes() for path in stage.root.rglob("*") if path.is_file()}
    settings = load_settings(overrides=[f"runs_dir={stage.root}"])
    tasks = concerned(taped_tasks(run, stage.root / "library"), "double")
    script = Script(["42"])
    (found,) = await rerun(tasks, "double", settings, pay=True, clients=stage.clients(script))
    assert found.without_it is not None
    assert found.without_it.calls == 0
    assert 0 < found.paid_tokens <= found.without_it.tokens
    assert found.parted.startswith("model call 1 (builder, write tool)")
    assert all(
        "double" not in str(messages[-1].content).split("<candidates>")[-1] for messages, _ in script.of("plans")
    )
    assert before == {path: path.read_bytes() for path in before}, "neither run nor library changes"


async def test_what_the_tool_has_no_part_in_is_not_paid_at_all(stage: Stage) -> None:
    run = await solved(stage)
    settings = load_settings(overrides=[f"runs_dir={stage.root}", "tools.short_way=false"])
    tasks = taped_tasks(run, stage.root / "library")
    assert concerned(tasks, "shout") == []
    silent = Script([])
    (found,) = await rerun(tasks, "shout", settings, pay=True, clients=stage.clients(silent))
    assert (found.parted, found.paid_tokens, silent.asked) == ("", 0, [])
    assert found.without_it == found.with_it


async def test_a_run_of_another_library_or_without_tapes_is_refused(stage: Stage, tmp_path: Path) -> None:
    run = await solved(stage)
    with pytest.raises(UserError, match=r"worked with .*library, not with .*elsewhere; name its library with --lib"):
        taped_tasks(run, tmp_path / "elsewhere")
    for tape in run.path.rglob("tape.jsonl"):
        tape.unlink()
    with pytest.raises(UserError, match="has no task that ended with a tape"):
        taped_tasks(run, stage.root / "library")


def test_what_is_run_again_reaches_no_host_and_no_source() -> None:
    loose = load_settings(overrides=["capabilities.network=any", "capabilities.read_list=[/srv]"])
    enclosed = _enclosed(loose)
    assert (enclosed.capabilities.network, enclosed.capabilities.read_list) == ("deny", ())
    assert enclosed.tools.use == ()
