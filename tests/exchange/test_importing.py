"""Taking over what others made: a line for each thing, nothing lost, nothing taken on trust."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.aliases import Alias
from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.curation.manual.proving import check
from habilis.exchange.arriving import ImportNotConserved, check_conserved
from habilis.exchange.importing import Importer
from habilis.library import Library
from habilis.library.drafting import DraftLibrary
from habilis.library.folder import dump
from habilis.library.generations import Generations
from habilis.library.tool import digest_of


def told(report: Any) -> list[str]:
    return [line.text for line in report.lines]


async def test_a_folder_of_all_sorts_gives_a_line_each(exchange: Any) -> None:
    folder = exchange.home / "theirs"
    (folder / "private_dynamic_tools" / "dynamic_tools_7").mkdir(parents=True)
    await exchange.has(exchange.double(), "double_it")
    (folder / "double_it.py").write_text(exchange.double())
    (folder / "a copy.py").write_text(exchange.double())
    (folder / "count (1).py").write_text(exchange.source("count_rows"))
    (folder / "ask_user.py").write_text(exchange.shout("ask_user"))
    (folder / "broken.py").write_text("def (")
    (folder / "empty.py").write_text("")
    (folder / "latin.py").write_bytes("# é".encode("latin-1"))
    (folder / "big.py").write_bytes(b"#" * ((1 << 20) + 1))
    (folder / "away.py").symlink_to("/etc/passwd")
    (folder / ".hidden.py").write_text(exchange.shout("hidden"))
    (folder / "notes.txt").write_text("no tool")
    (folder / "two\nlines.py").write_text(exchange.shout("two lines"))
    Path(os.fsdecode(os.fsencode(folder) + b"/odd\xff.py")).write_text(exchange.shout("odd"))
    private = folder / "private_dynamic_tools" / "dynamic_tools_7" / "double_it.py"
    private.write_text(exchange.double(body="    return OutputModel(result=input.number * 2)"))
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    report = await exchange.take(folder)
    lines = {line.source.removeprefix(f"{folder}/"): line for line in report.lines}
    endings = {source: (line.ending, line.name) for source, line in lines.items()}
    assert endings == {
        ".hidden.py": ("refused", ""),
        "a copy.py": ("same", "double_it"),
        "ask_user.py": ("kept", "ask_user_v02"),
        "away.py": ("refused", ""),
        "big.py": ("refused", ""),
        "broken.py": ("refused", ""),
        "count (1).py": ("kept", "count_rows"),
        "double_it.py": ("same", "double_it"),
        "empty.py": ("refused", ""),
        "latin.py": ("refused", ""),
        "notes.txt": ("refused", ""),
        "odd\\udcff.py": ("kept", "odd"),
        "two\nlines.py": ("kept", "two_lines"),
        "private_dynamic_tools/dynamic_tools_7/double_it.py": ("kept", "double_it_v02"),
    }
    assert "symbolic link" in lines["away.py"].text
    assert "1 MiB" in lines["big.py"].text
    assert "line 1" in lines["broken.py"].text
    assert "UTF-8" in lines["latin.py"].text
    assert lines["notes.txt"].text.endswith("refused: it is not Python")
    assert not lines["notes.txt"].problem
    assert lines["broken.py"].problem
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == before
    assert Library(exchange.ours).names() == [
        "ask_user_v02",
        "count_rows",
        "double_it",
        "double_it_v02",
        "odd",
        "two_lines",
    ]
    assert (report.generation, report.published, report.tools) == (2, True, 6)


async def test_the_generation_accounts_for_everything(exchange: Any) -> None:
    await exchange.has(exchange.double(), "double_it")
    await exchange.has(exchange.shout(), "shout", exchange.home / "theirs")
    (exchange.home / "theirs" / "notes.txt").write_text("no tool")
    await exchange.take(exchange.home / "theirs")
    report = Generations(exchange.ours).report(2)
    assert report is not None
    assert len(report["went_in"]) == len(report["fates"]) == 3
    assert [fate["ending"] for fate in report["fates"]] == ["kept", "refused", "kept"]
    assert [fate["into"] for fate in report["fates"]] == ["double_it", None, "shout"]
    assert report["tools"] == 2


async def test_again_is_the_same_and_makes_no_generation(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    tool = await exchange.has(exchange.double(), "double_it", theirs)
    exchange.called(tool, "c1", {"result": 6, "error": None}, theirs, number=3)
    first = await exchange.take(theirs)
    assert (first.generation, told(first)) == (1, [f"{theirs}/double_it.py: imported as double_it: 1 recorded call"])
    again = await exchange.take(theirs)
    assert (again.generation, again.published) == (1, False)
    assert [line.ending for line in again.lines] == ["same"]
    assert len(Library(exchange.ours).records("double_it")) == 1


async def test_a_dry_run_says_the_same_and_changes_nothing(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    await exchange.has(exchange.double(), "double_it", theirs)
    (theirs / "broken.py").write_text("(")
    dry = await exchange.take(theirs, dry_run=True)
    assert not exchange.ours.exists()
    assert not list(exchange.home.glob("ours*"))
    assert told(dry) == told(await exchange.take(theirs))


async def test_records_lineage_and_old_names_come_along(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    origin = {"how": "merged", "parents": ("old_double@aaaa",), "task": "t7", "writer": "model", "model": "m"}
    tool = await exchange.has(exchange.double(), "double_it", theirs, **origin)
    alias = Alias(
        arguments={"n": "number"},
        input_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        output_schema=tool.output_schema,
    )
    draft = DraftLibrary(theirs, lambda digest: None)
    named = tool.manifest.model_copy(update={"aliases": {"old_double": alias}, "answered": ("Twice 3?",)})
    draft.describe(named)
    exchange.called(tool, "c1", {"result": 6, "error": None}, theirs, number=3)
    old = RecordedCall(call_id="c2", tool="old_double", version="aaaa", arguments={"n": 4}, verdict="success")
    draft.add_records("old_double", [old.model_copy(update={"output": {"result": 8, "error": None}})])
    report = await exchange.take(theirs)
    assert [line.calls for line in report.lines] == [2]
    ours = Library(exchange.ours)
    found = ours.get("old_double")
    assert found is not None
    assert (found.manifest.name, found.origin.how, found.origin.parents) == (
        "double_it",
        "merged",
        ("old_double@aaaa",),
    )
    assert (found.origin.task, found.manifest.answered) == ("t7", ("Twice 3?",))
    assert [call.call_id for name in ("double_it", "old_double") for call in ours.records(name)] == ["c1", "c2"]
    lineage = (Generations(exchange.ours).report(1) or {})["lineage"]
    assert lineage[0]["parents"] == ["old_double@aaaa"]


async def test_an_old_name_that_is_taken_here_is_not_taken_over(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    tool = await exchange.has(exchange.double(), "double_it", theirs)
    alias = Alias(input_schema=tool.input_schema, output_schema=tool.output_schema)
    (theirs / "double_it.json").write_text(dump(tool.manifest.model_copy(update={"aliases": {"shout": alias}})))
    await exchange.has(exchange.shout(), "shout")
    report = await exchange.take(theirs)
    assert told(report) == [f"{theirs}/double_it.py: imported as double_it: its old name shout is not taken over"]
    found = Library(exchange.ours).get("shout")
    assert found is not None
    assert found.alias is None


async def test_what_a_manifest_claims_of_a_tool_is_read_anew(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    tool = await exchange.has(
        exchange.source(
            "writer",
            body="    open('x', 'w').write('1')\n    return OutputModel(result=1)",
            fields="    number: int = 0",
            meta="'dependencies': []",
        ),
        "writer",
        theirs,
    )
    claimed = {"effects": "pure", "description": "harmless", "counters": {"calls": 99}}
    (theirs / "writer.json").write_text(dump(tool.manifest.model_copy(update=claimed)))
    await exchange.take(theirs)
    ours = Library(exchange.ours).get("writer")
    assert ours is not None
    assert (ours.effects, ours.description, ours.counters["calls"]) == ("writes", "Do writer.", 0)


async def test_calls_that_give_something_else_here_stay_behind(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    tool = await exchange.has(exchange.double(), "double_it", theirs)
    exchange.called(tool, "true", {"result": 6, "error": None}, theirs, number=3)
    exchange.called(tool, "false", {"result": 7, "error": None}, theirs, number=3)
    report = await exchange.take(theirs)
    assert "1 of 2 recorded calls give something else here" in told(report)[0]
    assert [call.call_id for call in Library(exchange.ours).records("double_it")] == ["true"]


async def test_a_tool_whose_schema_is_a_bomb_is_refused_in_a_line(exchange: Any) -> None:
    bomb = "    model_json_schema = classmethod(lambda cls, **how: {'anyOf': [{'$ref': '#'}]})\n    number: int"
    (exchange.home / "bomb.py").write_text(exchange.double("bomb", fields=bomb))
    report = await exchange.take(exchange.home / "bomb.py")
    (line,) = report.lines
    assert "refused: The JSON schema of InputModel refers to itself without end" in line.text
    assert exchange.digests(exchange.ours) == {}


async def test_a_tool_that_repeats_none_of_its_calls_is_refused(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    tool = await exchange.has(exchange.double(), "double_it", theirs)
    exchange.called(tool, "false", {"result": 7, "error": None}, theirs, number=3)
    assert "none of its 1 recorded calls gives what was recorded" in told(await exchange.take(theirs))[0]
    assert not exchange.ours.exists()


async def test_the_same_tool_brings_only_good_calls_of_its_own(exchange: Any) -> None:
    """Else a library that somebody sends could have one of ours retired for failures that nobody saw."""
    theirs = exchange.home / "theirs"
    mine = await exchange.has(exchange.double(), "double_it")
    exchange.called(mine, "c1", {"result": 2, "error": None}, number=1)
    tool = await exchange.has(exchange.double(), "double_it", theirs)
    exchange.called(tool, "c1", {"result": 6, "error": None}, theirs, number=3)
    exchange.called(tool, "c2", {"result": 9, "error": None}, theirs, number=4)
    bad = RecordedCall(call_id="c3", tool="double_it", version=tool.version, verdict="failure", output={"result": 1})
    Library(theirs).store.append(bad)
    report = await exchange.take(theirs)
    assert [(line.ending, line.calls) for line in report.lines] == [("same", 1)]
    calls = Library(exchange.ours).records("double_it")
    assert [call.arguments for call in calls] == [{"number": 1}, {"number": 3}]
    assert len({call.call_id for call in calls}) == 2


async def test_two_libraries_with_the_same_tool_bring_their_calls_together(exchange: Any) -> None:
    for name, number in (("one", 1), ("two", 2)):
        tool = await exchange.has(exchange.double(), "double_it", exchange.home / name)
        exchange.called(tool, "c1", {"result": 2 * number, "error": None}, exchange.home / name, number=number)
    report = await exchange.take(exchange.home / "one", exchange.home / "two")
    assert [(line.ending, line.calls) for line in report.lines] == [("imported", 1), ("same", 1)]
    assert len(Library(exchange.ours).records("double_it")) == 2


async def test_an_older_version_is_recognised_by_its_lineage(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    old = await exchange.has(exchange.double(), "double_it", theirs)
    shutil.copytree(theirs, exchange.ours)
    better = exchange.double(body="    return OutputModel(result=input.number + input.number)")
    mine = Library(exchange.ours)
    tool = mine.get("double_it")
    assert tool is not None
    described = await exchange.host.describe(tool.runnable)
    from habilis.contract.contract import read_contract

    origin = tool.origin.model_copy(update={"how": "enhanced", "parents": (f"double_it@{old.version}",)})
    mine.replace("double_it", better, described, read_contract(better), origin=origin)
    report = await exchange.take(theirs)
    assert told(report) == [f"{theirs}/double_it.py: same as double_it: it is an older version, kept in the archive"]
    assert Library(exchange.ours).names() == ["double_it"]


async def test_what_this_library_retired_is_not_taken_back_by_the_way(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    tool = await exchange.has(exchange.double(), "double_it", theirs)
    shutil.copytree(theirs, exchange.ours)
    DraftLibrary(exchange.ours, lambda digest: None).take_out("double_it", "retired", "it failed")
    report = await exchange.take(theirs)
    assert told(report) == [f"{theirs}/double_it.py: refused: this library has it already, retired: it failed"]
    assert tool.version in next((exchange.ours / "retired").glob("*.py")).name


async def test_a_changed_source_does_not_hide_behind_its_manifest(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    await exchange.has(exchange.double(), "double_it", theirs, task="t7")
    (theirs / "double_it.py").write_text(exchange.double(body="    return OutputModel(result=0)"))
    report = await exchange.take(theirs)
    assert "its manifest tells of another version and does not count" in told(report)[0]
    tool = Library(exchange.ours).get("double_it")
    assert tool is not None
    assert (tool.origin.how, tool.origin.task) == ("adopted", "")


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"call_id": "c", "tool": "t", "version": "v", "files": {"a/b": "0", "a": "1"}}',
        '{"call_id": "c", "tool": "t", "version": "v", "files": {"a\\u0000b": "0"}}',
        '{"call_id": "c", "tool": "t", "version": "v", "files": {"\\ud800": "0"}}',
    ],
)
async def test_records_that_cannot_be_read_are_passed_over_and_said_so(exchange: Any, line: str) -> None:
    theirs = exchange.home / "theirs"
    await exchange.has(exchange.double(), "double_it", theirs)
    (theirs / "records").mkdir()
    (theirs / "records" / "double_it.jsonl").write_text(line)
    assert "1 of its recorded calls cannot be read" in told(await exchange.take(theirs))[0]


async def test_a_pipe_among_the_files_is_not_waited_for(exchange: Any) -> None:
    theirs = exchange.home / "theirs"
    await exchange.has(exchange.double(), "double_it", theirs)
    (theirs / "records").mkdir()
    for name in ("pipe.py", "double_it_.json", "records/double_it.jsonl"):
        os.mkfifo(theirs / name)
    report = await exchange.take(theirs)
    assert {line.ending for line in report.lines} == {"imported", "refused"}


async def test_a_whole_run_folder_gives_its_current_library_once(exchange: Any) -> None:
    run = exchange.home / "run"
    run.mkdir()
    await exchange.has(exchange.double(), "double_it", exchange.home / "first")
    await exchange.take(exchange.home / "first", into=run / "library")
    await exchange.has(exchange.shout(), "shout", exchange.home / "second")
    await exchange.take(exchange.home / "second", into=run / "library")
    report = await exchange.take(run)
    assert sorted(line.source for line in report.lines) == [f"{run}/library/double_it.py", f"{run}/library/shout.py"]


async def test_a_source_that_is_not_there_is_an_error(exchange: Any) -> None:
    with pytest.raises(UserError, match="no such file"):
        await exchange.take(exchange.home / "nowhere")
    (exchange.home / "empty").mkdir()
    with pytest.raises(UserError, match="nothing is in it"):
        await exchange.take(exchange.home / "empty")


async def test_the_tools_of_one_task_are_not_written_to(exchange: Any) -> None:
    (exchange.home / "task.json").write_text("{}")
    with pytest.raises(UserError, match="one task"):
        Importer(exchange.home / "tools", exchange.settings, exchange.host)


async def test_a_plain_folder_as_library_is_recognised_though_nobody_described_it(exchange: Any) -> None:
    exchange.ours.mkdir()
    (exchange.ours / "double_it.py").write_text(exchange.double())
    theirs = exchange.home / "theirs"
    theirs.mkdir()
    (theirs / "double_it.py").write_text(exchange.double())
    assert told(await exchange.take(theirs)) == [f"{theirs}/double_it.py: same as double_it"]


async def test_tools_are_known_by_their_files_whatever_the_meta_data_says(exchange: Any, tmp_path: Path) -> None:
    theirs = exchange.home / "theirs"
    theirs.mkdir()
    (theirs / "twice.py").write_text(exchange.double("Double It!"))
    report = await exchange.take(theirs)
    assert [line.name for line in report.lines] == ["twice"]
    assert json.loads((exchange.ours / "twice.json").read_text())["name"] == "twice"


async def test_an_import_that_is_stopped_changes_nothing_and_can_be_made_again(exchange: Any) -> None:
    await exchange.has(exchange.shout(), "shout")
    theirs = exchange.home / "theirs"
    await exchange.has(exchange.double(), "double_it", theirs)
    before = exchange.digests(exchange.ours)
    tries = exchange.host.try_out

    async def stopped(*args: Any, **options: Any) -> Any:
        raise asyncio.CancelledError

    exchange.host.try_out = stopped
    with pytest.raises(asyncio.CancelledError):
        await exchange.take(theirs)
    assert exchange.digests(exchange.ours) == before
    assert not (exchange.home / "ours-generations" / ".staging").exists()
    exchange.host.try_out = tries
    assert (await exchange.take(theirs)).tools == 2


def test_a_draft_that_lost_or_changed_a_tool_is_not_published(tmp_path: Path) -> None:
    """The account is the last look before the link is swapped."""
    (tmp_path / "one.py").write_bytes(b"1")
    whole = {"one": digest_of(b"1")}
    check_conserved(tmp_path, whole, {})
    for odd in (whole | {"two": "0"}, {}, {"one": digest_of(b"2")}):
        with pytest.raises(ImportNotConserved, match=r"one|two"):
            check_conserved(tmp_path, odd, {})


@pytest.mark.parametrize(
    ("example", "why"),
    [
        ("{'arguments': {'path': '/home/ada/a.txt'}}", "it names /home/ada/a.txt, and brings no such file"),
        ("{'path': 'a.txt'}", "with a dict of arguments"),
        ("{'arguments': {'file': 'a.txt'}}", "do not fit InputModel"),
    ],
)
async def test_a_whole_tool_is_not_refused_for_an_example_that_cannot_be_used(
    exchange: Any, example: str, why: str
) -> None:
    folder = exchange.home / "theirs"
    folder.mkdir()
    source = exchange.source("count_rows", meta=f"'dependencies': [], 'examples': [{example}]")
    (folder / "count_rows.py").write_text(source)
    (line,) = (await exchange.take(folder)).lines
    assert line.ending == "imported"
    assert "its example cannot be used: " in line.text
    assert why in line.text
    smoke = Library(exchange.ours).get("count_rows").origin.smoke
    assert smoke.startswith("not tried: its example cannot be used: ")
    (looked,) = await check(Library(exchange.ours), ["count_rows"], exchange.settings, host=exchange.host, load=False)
    assert looked.ok
    assert [why in remark for remark in looked.remarks] == ([True] if "a dict of" in why else [])


async def test_an_example_that_names_its_file_by_a_whole_path_is_tried_where_it_arrives(exchange: Any) -> None:
    folder = exchange.home / "theirs"
    folder.mkdir()
    example = "{'arguments': {'path': '/home/ada/a.txt'}, 'files': {'/home/ada/a.txt': 'x'}}"
    (folder / "count_rows.py").write_text(
        exchange.source("count_rows", meta=f"'dependencies': [], 'examples': [{example}]")
    )
    assert [line.ending for line in (await exchange.take(folder)).lines] == ["imported"]
    assert Library(exchange.ours).get("count_rows").origin.smoke == "passed"
