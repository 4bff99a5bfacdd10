"""Generations: a library changes by one rename, its readers keep what they opened, and no kill leaves half of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.core.types import Task
from habilis.library import LayeredLibrary, Library, public_library
from habilis.library.generations import (
    DraftBroken,
    Generations,
    as_of,
    digest,
    generation_of,
    generations_folder,
    in_use,
)
from habilis.library.reading import Reader
from habilis.rundir import RunDir, check_run_name

from ..toolshop import InProcessHost, put

Source = Callable[..., str]
CALL = RecordedCall(call_id="c1", tool="count_rows", version="v", arguments={}, output=1, verdict="success")


async def publish(library: Path, source: str, name: str = "count_rows", **report: Any) -> int:
    """A generation with one more tool."""
    generations = Generations(library)
    with generations.draft() as draft:
        await put(Library(draft), source, name)
        shutil.rmtree(draft / ".aside", ignore_errors=True)
        return generations.publish(draft, report)


async def test_a_reader_keeps_the_generation_that_it_opened(tmp_path: Path, source_of: Source) -> None:
    library = tmp_path / "library"
    assert await publish(library, source_of("one"), "one") == 1
    reader = Library(library)
    assert await publish(library, source_of("two"), "two", step=7) == 2
    assert (reader.names(), Library(library).names()) == (["one"], ["one", "two"])
    assert library.readlink() == Path("generations/0002")
    report = Generations(library).report(2)
    assert report is not None
    assert (report["step"], report["generation"], report["parent"]) == (7, 2, 1)
    assert (tmp_path / "generations" / "0001" / "one.py").samefile(tmp_path / "generations" / "0002" / "one.py")


async def test_tasks_of_one_step_share_what_was_read_and_the_next_step_reads_its_own(
    tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    first = public_library(library)
    assert public_library(library) is first
    await publish(library, source_of("two"), "two")
    assert (public_library(library).names(), first.names()) == (["one", "two"], ["one"])


async def test_a_generation_is_read_once_and_a_tool_described_in_it_is_there(
    tmp_path: Path, source_of: Source, in_process_host: InProcessHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    generation = Generations(library).path(1)
    (generation / "two.py").write_text(source_of("two"), encoding="utf-8")  # as a stranger's folder may hold it
    reader = public_library(library)
    assert (reader.names(), [broken.file for broken in reader.broken()]) == (["one"], ["two.py"])
    assert [tool.name for tool in await reader.describe_missing(in_process_host)] == ["two"]
    assert (reader.names(), reader.broken()) == (["one", "two"], [])
    shown = LayeredLibrary(Library(tmp_path / "private"), reader)
    (card, other), tool = shown.cards(), shown.get("two")
    monkeypatch.setattr(Reader, "stamp", lambda *_: pytest.fail("a file of a generation was looked at again"))
    assert (reader.get("one"), reader.names()) == (reader.tools()[0], ["one", "two"])
    assert shown.public is reader
    assert tool is not None
    assert (tool.layer, tool.card) == ("public", other)
    assert card == reader.tools()[0].card


async def test_a_library_that_is_begun_anew_at_the_same_place_is_not_taken_for_the_one_before(
    tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    assert LayeredLibrary(Library(tmp_path / "private"), public_library(library)).names() == ["one"]
    shutil.rmtree(generations_folder(library))
    library.unlink()
    await publish(library, source_of("two"), "two")
    shown = LayeredLibrary(Library(tmp_path / "private"), public_library(library))
    assert shown.names() == ["two"]
    assert [card.name for card in shown.search("two", 5)] == ["two"]


async def test_whoever_published_knows_what_is_in_force_as_a_newcomer_reads_it(
    tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    generations = Generations(library)
    for name in ("two", "three"):
        with generations.draft() as draft:
            await put(Library(draft), source_of(name), name)
            (draft / "one.py").unlink(missing_ok=True)
            generations.publish(draft, {})
        assert generations.catalogue().tools == Generations(library).catalogue().tools
    await publish(library, source_of("four"), "four")  # by somebody else
    assert sorted(generations.catalogue().tools) == ["four", "three", "two"]


async def test_a_plain_folder_is_read_as_it_lies_there(tmp_path: Path, source_of: Source) -> None:
    before = public_library(tmp_path)
    await put(Library(tmp_path), source_of("one"), "one")
    assert public_library(tmp_path) is not before
    assert public_library(tmp_path).names() == ["one"]


async def test_old_generations_are_packed_whole_and_those_in_use_stay(tmp_path: Path, source_of: Source) -> None:
    library, runs = tmp_path / "runs" / "library", tmp_path / "runs"
    for name in ("one", "two", "three", "four", "five"):
        await publish(library, source_of(name), name)
    generations = Generations(library)
    task = RunDir.create(runs, "old").task("t")
    task.save_task(Task(id="t", question="?"), {"library": str(library), "generation": 2})
    (runs / "old" / "run.yaml").touch()
    assert in_use(library, runs) == {2}
    before = digest(generations.path(1))
    assert generations.pack_old(0) == []
    packed = generations.pack_old(2, spared=in_use(library, runs))
    assert [path.name for path in packed] == ["0001.tar.gz", "0003.tar.gz"]
    there = sorted(path.name for path in generations.folder.iterdir() if not path.name.startswith("."))
    assert there == ["0002", "0004", "0005", "packed"]
    assert Library(library).names() == sorted(["one", "two", "three", "four", "five"])
    with tarfile.open(packed[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    assert digest(tmp_path / "0001") == before
    assert await publish(library, source_of("six"), "six") == 6
    assert generations.pack_old(1) == [generations.folder / "packed" / f"000{n}.tar.gz" for n in (2, 4, 5)]


async def test_a_plain_folder_becomes_the_first_generation_without_losing_a_tool(
    tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "mine"
    await put(Library(library), source_of("one"), "one")
    (library / "notes.txt").write_text("keep me")
    assert await publish(library, source_of("two"), "two") == 2
    assert Library(tmp_path / "mine-generations" / "0001").names() == ["one"]
    assert Library(library).names() == ["one", "two"]
    assert (library / "notes.txt").read_text() == "keep me"


@pytest.mark.parametrize("stopped_after", ["note", "rename", "link"])
async def test_a_conversion_cut_short_is_finished_by_whoever_opens_the_library(
    stopped_after: str, tmp_path: Path, source_of: Source
) -> None:
    library, folder = tmp_path / "library", tmp_path / "generations"
    await put(Library(library), source_of("one"), "one")
    shutil.copytree(library, folder / "0002")
    (folder / ".converting").write_text("generations/0002")
    if stopped_after != "note":
        library.rename(folder / "0001")
    if stopped_after == "link":
        library.symlink_to("generations/0002")
    assert Library(library).names() == ["one"]
    assert Generations(library).current() == (0 if stopped_after == "note" else 2)
    assert await publish(library, source_of("two"), "two") >= 2
    assert Library(library).names() == ["one", "two"]


async def test_a_draft_that_is_left_changes_nothing_and_leaves_nothing(tmp_path: Path, source_of: Source) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    before = digest(library.resolve())
    with contextlib.suppress(RuntimeError), Generations(library).draft() as draft:
        (draft / "one.py").unlink()
        raise RuntimeError("stopped")
    assert digest(library.resolve()) == before
    assert not (tmp_path / "generations" / ".draft").exists()


async def test_what_a_killed_writer_left_is_swept_up_and_its_number_is_used_again(
    tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    await publish(library, source_of("two"), "two")
    library.unlink()
    library.symlink_to("generations/0001")  # as if killed before the link was swapped
    (tmp_path / "generations" / ".draft").mkdir()
    (tmp_path / "generations" / ".draft" / "half.py").write_text("")
    assert await publish(library, source_of("two"), "two") == 2
    assert await publish(library, source_of("three"), "three") == 3


async def test_a_generation_that_was_rolled_back_is_never_overwritten(tmp_path: Path, source_of: Source) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    await publish(library, source_of("two"), "two")
    library.unlink()
    library.symlink_to("generations/0001")
    assert await publish(library, source_of("other"), "other") == 3
    assert Library(Generations(library).path(2)).names() == ["one", "two"]
    assert Generations(library).report(3)["parent"] == 1  # type: ignore[index]


@pytest.mark.parametrize("tools", [1, 3])
async def test_a_draft_whose_counts_do_not_agree_is_not_published(
    tools: int, tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    with pytest.raises(DraftBroken, match="2 tools"):
        await publish(library, source_of("two"), "two", tools=tools)
    assert Library(library).names() == ["one"]


async def test_a_changed_tool_that_does_not_fit_its_manifest_is_not_published(
    tmp_path: Path, source_of: Source
) -> None:
    library = tmp_path / "library"
    await publish(library, source_of("one"), "one")
    generations = Generations(library)
    with generations.draft() as draft:
        (draft / "one.py").unlink()
        (draft / "one.py").write_text("import os\n")
        with pytest.raises(DraftBroken, match="tool one"):
            generations.publish(draft, {})
    assert Library(library).names() == ["one"]


async def test_a_broken_file_of_the_users_stays_and_stops_nothing(tmp_path: Path, source_of: Source) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "broken.py").write_text("this is no Python")
    assert await publish(library, source_of("one"), "one") == 2
    assert (library / "broken.py").read_text() == "this is no Python"


async def test_a_record_added_to_one_generation_is_in_no_other(tmp_path: Path, source_of: Source) -> None:
    library = tmp_path / "library"
    generations = Generations(library)
    with generations.draft() as draft:
        await put(Library(draft), source_of(), "count_rows")
        Library(draft).store.append(CALL)
        generations.publish(draft, {})
    old = Library(library)
    await publish(library, source_of("two"), "two")
    new = Library(library)
    new.store.append(CALL.model_copy(update={"call_id": "c2"}))
    old.store.append(CALL.model_copy(update={"call_id": "c3"}))
    new.store.append(CALL.model_copy(update={"call_id": "c4"}))
    assert [call.call_id for call in old.records("count_rows")] == ["c1", "c3"]
    assert [call.call_id for call in new.records("count_rows")] == ["c1", "c2", "c4"]


async def test_writers_take_turns_and_are_told_who_is_at_it(tmp_path: Path) -> None:
    library = tmp_path / "library"
    told: list[str] = []
    order: list[str] = []
    at_it = asyncio.Event()

    async def first() -> None:
        async with Generations(library).turn("step 1 of slow"):
            at_it.set()
            while not told:
                await asyncio.sleep(0)
            order.append("first")

    async def second() -> None:
        await at_it.wait()
        async with Generations(library).turn("step 1 of quick", told=told.append):
            order.append("second")

    await asyncio.gather(first(), second())
    assert order == ["first", "second"]
    assert f"step 1 of slow (process {os.getpid()})" in told[0]


async def test_a_writer_may_give_up_waiting(tmp_path: Path) -> None:
    library = tmp_path / "library"
    async with Generations(library).turn("a long step"):
        with pytest.raises(UserError, match=r"a long step .*; try again later"):
            async with Generations(library).turn("another", wait_s=0):
                raise AssertionError("two at once")
    async with Generations(library).turn("another", wait_s=0):
        pass


def test_the_lock_of_a_writer_that_crashed_is_free(tmp_path: Path) -> None:
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\n"
        "from habilis.library.generations import Generations\n"
        "async def main():\n    async with Generations(Path(sys.argv[1])).turn('a crash'):\n        os._exit(9)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "library")], check=False)
    assert ended.returncode == 9
    with Generations(tmp_path / "library").draft() as draft:
        assert draft.is_dir()


async def test_one_generation_is_no_library_to_publish_to(tmp_path: Path, source_of: Source) -> None:
    await publish(tmp_path / "library", source_of("one"), "one")
    with pytest.raises(UserError, match="one generation of a library"):
        Generations(tmp_path / "generations" / "0001")
    with pytest.raises(UserError, match="one generation of a library"):
        Generations((tmp_path / "library").resolve())


async def test_a_link_of_the_users_is_followed_and_kept(tmp_path: Path, source_of: Source) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "link").symlink_to("shared/tools")
    await publish(tmp_path / "shared" / "tools", source_of("one"), "one")
    assert await publish(tmp_path / "link", source_of("two"), "two") == 2
    assert (tmp_path / "link").readlink() == Path("shared/tools")
    assert Library(tmp_path / "link").names() == ["one", "two"]


def test_a_link_that_leads_nowhere_does_not_pass_for_an_empty_library(tmp_path: Path) -> None:
    (tmp_path / "library").symlink_to("generations/0004")
    with pytest.raises(UserError, match="generations/0004, which is not there"):
        Library(tmp_path / "library")


async def test_a_task_can_go_on_with_the_library_as_it_was(tmp_path: Path, source_of: Source) -> None:
    library, mine = tmp_path / "library", tmp_path / "mine"
    assert Library(as_of(library, generation_of(library))).names() == []
    await put(Library(mine), source_of("one"), "one")
    await publish(library, source_of("one"), "one")
    await publish(mine, source_of("two"), "two")
    assert Library(as_of(library, 0)).names() == []
    assert Library(as_of(mine, 0)).names() == ["one"]
    await publish(library, source_of("two"), "two")
    assert Library(as_of(library, 1)).names() == ["one"]


def test_generations_of_runs_library_are_no_run(tmp_path: Path) -> None:
    assert generations_folder(tmp_path / "library") == tmp_path / "generations"
    with pytest.raises(UserError, match="no run may be called 'generations'"):
        check_run_name("generations")
    with pytest.raises(UserError, match="'generations'"):
        RunDir.at(tmp_path / "Generations")
