"""Changes by hand: each is one generation with an account of every tool, and none of them loses anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis import Curator
from habilis.core.errors import UserError
from habilis.core.types import CallError
from habilis.curation.manual.browsing import shown
from habilis.curation.manual.change import ChangeRefused
from habilis.library import Library
from habilis.library.generations import digest
from habilis.library.outofuse import set_aside

from ..merging.conftest import adding, endings, module
from .conftest import COUNT, SUMS, Desk

LATE = module("late", "    return OutputModel(total=input.a + 100 * input.b)")


async def test_a_retired_tool_is_kept_with_the_reason_and_comes_back_with_all_its_calls(desk: Desk) -> None:
    before, calls = desk.generations.current(), [call.call_id for call in desk.calls("count_words")]
    report = await desk.tending().retire(["count_words"], "wc does it")
    assert report.balanced
    assert (report.generation, report.parent, report.by, report.asked) == (
        before + 1,
        before,
        "hand",
        "retire count_words",
    )
    assert endings(report) == {"add_numbers": "kept", "count_words": "retired", "plus": "kept"}
    assert desk.names() == ["add_numbers", "plus"]
    (kept,) = set_aside(desk.now().path)
    assert (kept.place, kept.reason, [call.call_id for call in kept.records()]) == ("retired", "wc does it", calls)
    assert desk.generations.report(report.generation)["reason"] == "wc does it"  # type: ignore[index]
    await desk.tending().revive("count_words")
    assert [call.call_id for call in desk.calls("count_words")] == calls
    assert desk.manifest("count_words").origin.how == "revived"
    assert desk.manifest("count_words").reason is None
    assert await desk.call("count_words", text="a b c") == {"words": 3, "error": None}


async def test_a_reader_keeps_what_it_opened_and_the_old_generation_stays_as_it_was(desk: Desk) -> None:
    reader, current = desk.now(), desk.generations.current()
    before = digest(desk.generations.path(current))
    await desk.tending().retire(["plus"], "no")
    assert reader.names() == ["add_numbers", "count_words", "plus"]
    assert digest(desk.generations.path(current)) == before


async def test_a_dry_run_says_what_would_be_and_changes_nothing(desk: Desk) -> None:
    before, tending = desk.generations.current(), desk.tending()
    reports = [
        await tending.retire(["plus"], "no", dry_run=True),
        await tending.merge(["add_numbers", "plus"], dry_run=True),
        await tending.rollback(1, dry_run=True),
        await tending.pin(["plus"], dry_run=True),
    ]
    assert [report.dry_run for report in reports] == [True] * 4
    assert endings(reports[1])["plus"] == "merged"
    assert desk.generations.numbers() == list(range(1, before + 1))
    assert desk.names() == ["add_numbers", "count_words", "plus"]


async def test_tools_that_do_the_same_are_merged_and_the_old_name_keeps_working(desk: Desk) -> None:
    report = await desk.tending().merge(["add_numbers", "plus"])
    assert endings(report) == {"add_numbers": "kept", "count_words": "kept", "plus": "merged"}
    assert "add_numbers repeats 3 of 3 recorded calls of plus" in report.evidence[0]
    (line,) = shown(desk.now(), "add_numbers").evidence
    assert "generated ones that tell something, with" in line
    assert await desk.call("plus", a=2, b=5) == {"value": 7, "error": None}
    again = await desk.tending().revive("plus")
    assert "plus was an old name of add_numbers" in again.notes[0]
    assert desk.names() == ["add_numbers", "count_words", "plus"]
    assert desk.get("plus").alias is None
    assert len(desk.calls("plus")) == 3


async def test_a_person_may_say_which_one_goes_on(desk: Desk) -> None:
    report = await desk.tending().merge(["add_numbers", "plus"], into="plus")
    assert endings(report)["add_numbers"] == "merged"
    assert await desk.call("add_numbers", a=2, b=5) == {"total": 7, "error": None}
    with pytest.raises(UserError, match="--into add_numbers: name one of the tools to be merged"):
        await desk.tending().merge(["plus", "count_words"], into="add_numbers")


async def test_similarity_alone_never_merges_and_a_refusal_says_what_failed(desk: Desk) -> None:
    less = module("add_all", "    return OutputModel(total=input.a - input.b)", description="Add two numbers.")
    task = await desk.task("t3", {"add_all": less}, {"add_all": SUMS})
    await desk.tending().promote(Path(task.folder) / "tools" / "add_all.py")
    with pytest.raises(ChangeRefused, match="stay as they are") as refused:
        await desk.tending().merge(["add_numbers", "add_all"])
    assert "it gave" in refused.value.evidence[0]
    assert desk.get("add_all").alias is None


async def test_a_pinned_tool_is_neither_merged_nor_retired_by_anybody(desk: Desk) -> None:
    await desk.tending().pin(["plus"])
    with pytest.raises(UserError, match="plus is pinned"):
        await desk.tending().retire(["plus"], "no")
    with pytest.raises(ChangeRefused) as refused:
        await desk.tending().merge(["add_numbers", "plus"], into="add_numbers")
    assert "it is pinned" in refused.value.evidence[0]
    better = adding("plus", gives="value: int | None") + "# in other words"
    failing = await desk.task("t4", {}, {"plus": [{"a": n, "b": 1} for n in range(20)]}, verdict="failure")
    same = await desk.task("t5", {"sum_up": better}, {"sum_up": [{"a": 1, "b": 1}, {"a": 2, "b": 4}]})
    await desk.curator(models=False).step(2, [failing, same])
    assert desk.get("plus").alias is None
    assert not (await desk.tending().pin(["plus"])).changed
    await desk.tending().pin(["plus"], pinned=False)
    await desk.tending().retire(["plus"], "no")
    assert "plus" not in desk.names()


async def test_a_pinned_tool_goes_on_where_another_does_the_same(desk: Desk) -> None:
    await desk.tending().pin(["plus"])
    await desk.tending().merge(["add_numbers", "plus"])
    assert desk.get("add_numbers").manifest.name == "plus"
    assert desk.manifest("plus").pinned


async def test_a_rollback_keeps_what_it_leaves(desk: Desk) -> None:
    first = desk.generations.current()
    await desk.tending().merge(["add_numbers", "plus"])
    await desk.tending().retire(["count_words"], "no")
    late = await desk.task("t6", {"late": LATE}, {"late": SUMS})
    await desk.curator(models=False).step(3, [late])
    left = desk.generations.current()
    report = await desk.tending().rollback(first)
    assert report.balanced
    assert (report.generation, desk.generations.current()) == (left + 1, left + 1)
    assert desk.names() == ["add_numbers", "count_words", "plus"]
    assert Library(desk.generations.path(left)).names() == ["add_numbers", "late"]
    (late_one,) = set_aside(desk.now().path, "late")
    assert (late_one.place, late_one.reason) == ("retired", f"left by the rollback to generation {first}")
    assert len(desk.calls("count_words")) == 2
    assert not desk.manifest("add_numbers").aliases
    await desk.tending().rollback(left)
    assert desk.names() == ["add_numbers", "late"]
    assert len(desk.calls("late")) == len(SUMS)


async def test_the_generation_before_is_where_a_rollback_goes(desk: Desk) -> None:
    await desk.tending().retire(["plus"], "no")
    await desk.tending().rollback()
    assert desk.names() == ["add_numbers", "count_words", "plus"]
    with pytest.raises(UserError, match="no generation 99"):
        await desk.tending().rollback(99)
    with pytest.raises(UserError, match="is the one in force"):
        await desk.tending().rollback(desk.generations.current())


async def test_what_does_not_pass_the_gate_is_not_revived(desk: Desk) -> None:
    await desk.tending().quarantine(["count_words"], "counts wrongly")
    desk.host.refuse = lambda tool: CallError(kind="crashed", message="no") if tool.name.startswith("count") else None
    with pytest.raises(ChangeRefused, match="does not pass the gate"):
        await desk.tending().revive("count_words")
    assert desk.names() == ["add_numbers", "plus"]
    assert [one.place for one in set_aside(desk.now().path, "count_words")] == ["quarantine"]


async def test_a_tool_is_promoted_with_its_calls_or_refused_with_the_reason(desk: Desk, tmp_path: Path) -> None:
    halve = module("halve", "    return OutputModel(total=input.a // 2)")
    good = await desk.task("t7", {"halve": halve}, {"halve": SUMS})
    report = await desk.tending().promote(Path(good.folder) / "tools" / "halve.py", under="half_of")
    assert "6 of 6 recorded calls repeated" in report.evidence[0]
    assert len(desk.calls("half_of")) == 6
    bad = await desk.task("t8", {"bad": adding("bad")}, {"bad": SUMS}, verdict="failure")
    with pytest.raises(ChangeRefused, match="no call of it succeeded"):
        await desk.tending().promote(Path(bad.folder) / "tools" / "bad.py")
    file = tmp_path / "mine.py"
    file.write_text(module("mine", "    return OutputModel(total=input.a * 7)"))
    await desk.tending().promote(file)
    assert await desk.call("mine", a=2, b=1) == {"total": 14, "error": None}
    with pytest.raises(UserError, match="in the library already: it is mine"):
        await desk.tending().promote(file)
    file.write_text("print('no tool')")
    with pytest.raises(UserError, match="is not a tool"):
        await desk.tending().promote(file)


async def test_names_that_mean_nothing_are_told_with_what_was_perhaps_meant(desk: Desk) -> None:
    tending = desk.tending()
    with pytest.raises(UserError, match="did you mean count_words"):
        await tending.retire(["count_word"], "no")
    with pytest.raises(UserError, match="no tool nothing is out of use"):
        await tending.revive("nothing")
    with pytest.raises(UserError, match="plus is in use"):
        await tending.revive("plus")
    await tending.merge(["add_numbers", "plus"])
    with pytest.raises(UserError, match="plus is an old name of add_numbers"):
        await tending.retire(["plus"], "no")


async def test_a_tool_comes_back_under_another_name_where_its_own_is_taken(desk: Desk, tmp_path: Path) -> None:
    await desk.tending().retire(["count_words"], "too plain")
    other = tmp_path / "count_words.py"
    other.write_text(COUNT.replace("input.text.split()", "input.text.split(' ')"))
    await desk.tending().promote(other)
    with pytest.raises(UserError, match="a tool count_words is in use"):
        await desk.tending().revive("count_words")
    await desk.tending().revive("count_words", under="words_of")
    assert desk.names() == ["add_numbers", "count_words", "plus", "words_of"]
    assert len(desk.calls("words_of")) == 2


async def test_a_tasks_own_tools_and_one_generation_are_no_library_to_change(desk: Desk) -> None:
    with pytest.raises(UserError, match="one generation of a library"):
        Curator.by_hand(desk.generations.path(1))
    folder = desk.folder / "task"
    (folder / "tools").mkdir(parents=True)
    (folder / "task.json").write_text("{}")
    with pytest.raises(UserError, match="holds the tools of one task"):
        Curator.by_hand(folder / "tools")
    with pytest.raises(UserError, match="no library at"):
        Curator.by_hand(desk.folder / "absent")


async def test_a_plain_folder_becomes_a_library_with_generations_at_its_first_change(desk: Desk) -> None:
    plain = desk.folder / "mine"
    plain.mkdir()
    for name in ("add_numbers", "plus"):
        for suffix in (".py", ".json"):
            (plain / f"{name}{suffix}").write_bytes((desk.now().path / f"{name}{suffix}").read_bytes())
    (plain / "notes.txt").write_text("keep me")
    tending = Curator.by_hand(plain, desk.settings, host=desk.host)
    await tending.retire(["plus"], "no")
    assert tending.library.names() == ["add_numbers"]
    assert (plain / "notes.txt").read_text() == "keep me"
    await tending.rollback()
    assert tending.library.names() == ["add_numbers", "plus"]
