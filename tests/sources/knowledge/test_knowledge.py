"""`search_documents` over a folder as people keep it: what changed is found, what cannot be read is said, no more."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from habilis.core.errors import UserError
from habilis.sources.documents import Raw

from .conftest import Shelf

LEAVE = (
    "# Handbook\n\n## Leave\n\nEverybody has thirty days of leave a year.\n\n## Notice\n\nThree months, in writing.\n"
)


async def test_a_passage_comes_with_the_place_to_cite(shelf: Shelf) -> None:
    shelf.write("staff/handbook.md", LEAVE)
    tool = await shelf.open()
    outcome = await tool.call({"query": "How many days of leave are there?"}, workspace=shelf.home)
    (passage,) = outcome.output["passages"]
    assert passage["source"] == "staff/handbook.md, Handbook > Leave, line 5"
    assert "thirty days" in passage["text"]
    assert 0.15 <= passage["relevance"] <= 1
    assert "Cite" in outcome.output["note"]
    assert "staff/handbook.md" in tool.spec.description
    assert tool.missing() == ()


async def test_nothing_near_is_nothing_with_what_to_try(shelf: Shelf) -> None:
    shelf.write("handbook.md", LEAVE)
    shelf.write("photo.jpg", b"\xff\xd8\xff\xe0\0\0\0\0")
    tool = await shelf.open()
    outcome = await tool.call({"query": "Who won the world cup in 1998?"}, workspace=shelf.home)
    assert outcome.error is None
    assert outcome.output["passages"] == []
    assert "Try others" in outcome.output["note"]
    assert "photo.jpg (is no text, HTML or PDF)" in outcome.output["note"]
    empty = await tool.call({"query": "  "}, workspace=shelf.home)
    assert empty.error is not None
    assert empty.error.kind == "invalid_arguments"


async def test_what_changed_is_found_as_it_is_now(shelf: Shelf) -> None:
    shelf.write("a.md", LEAVE)
    shelf.write("b.txt", "The canteen opens at noon.")
    assert await shelf.ask("canteen")
    first = (await shelf.open()).version
    shelf.write("a.md", LEAVE.replace("thirty", "twenty-eight"))
    (shelf.folder / "b.txt").unlink()
    shelf.write("c.txt", "The library closes at six.")
    assert "twenty-eight" in (await shelf.ask("days of leave"))[0][1]
    assert await shelf.ask("canteen") == []
    assert await shelf.ask("library closes")
    assert (await shelf.open()).version != first


async def test_a_file_that_looks_other_and_reads_the_same_is_not_read_twice(shelf: Shelf) -> None:
    path = shelf.write("page.html", "<p>words")
    os.utime(path, (1, 1))
    await shelf.open()
    assert len(shelf.reader.asked) == 1
    shelf.write("notes.txt", "words")
    await shelf.open()
    assert [raw.kind for raw in shelf.reader.asked] == ["html", "html"]  # its reader was not there: asked again


async def test_each_that_cannot_be_read_is_a_line_and_no_more(shelf: Shelf) -> None:
    shelf.write("good.txt", "The canteen opens at noon.")
    shelf.write("program.bin", bytes(range(256)) * 10)
    shelf.write("empty.txt", "")
    shelf.write("large.txt", "x" * (21 << 20))
    shelf.write(".hidden/secret.txt", "hidden canteen")
    outside = shelf.home / "secret.txt"
    outside.write_text("the secret canteen")
    (shelf.folder / "link.txt").symlink_to(outside)
    (shelf.folder / "out").symlink_to(shelf.home)
    (shelf.folder / "inside.txt").symlink_to(shelf.folder / "good.txt")
    (shelf.folder / "broken").symlink_to(shelf.folder / "nowhere")
    os.mkfifo(shelf.folder / "pipe")
    assert await shelf.ask("canteen") == [("good.txt, line 1", "The canteen opens at noon.")]
    assert sorted(shelf.said) == [
        "knowledge: empty.txt: is empty",
        "knowledge: large.txt: is larger than 20 MB",
        "knowledge: link.txt: leads out of the folder",
        "knowledge: out: leads out of the folder",
        "knowledge: pipe: is not a file",
        "knowledge: program.bin: is no text, HTML or PDF",
    ]
    shelf.said.clear()
    await shelf.open()
    assert shelf.said == []  # said once, not in every task


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Grüße aus Köln".encode(), ""),
        ("Grüße aus Köln".encode("utf-8-sig"), ""),
        ("Grüße aus Köln".encode("utf-16"), ""),
        ("Grüße aus Köln".encode("latin-1"), "knowledge: a.txt: is not UTF-8, read as windows-1252"),
    ],
)
async def test_encodings_are_read_and_a_guess_is_said(shelf: Shelf, content: bytes, line: str) -> None:
    shelf.write("a.txt", content)
    assert (await shelf.ask("Grüße"))[0][1] == "Grüße aus Köln"
    assert shelf.said == ([line] if line else [])


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("员工每年有三十天的假期。", "假期"),
        ("年次有給休暇は二十日です。", "有給休暇"),
        ("휴가는 삼십일입니다", "휴가"),
        ("Отпуск тридцать дней", "отпуск"),
    ],
)
async def test_any_script_is_searched(shelf: Shelf, text: str, query: str) -> None:
    shelf.write("a.txt", text)
    shelf.write("b.txt", "Something else in another script.")
    assert [found for _, found in await shelf.ask(query)] == [text]


async def test_one_document_can_be_searched_alone(shelf: Shelf) -> None:
    shelf.write("north.txt", "The canteen opens at noon.")
    shelf.write("south.txt", "The canteen opens at one.")
    tool = await shelf.open()
    outcome = await tool.call({"query": "canteen", "document": "SOUTH"}, workspace=shelf.home)
    assert [p["source"] for p in outcome.output["passages"]] == ["south.txt, line 1"]
    outcome = await tool.call({"query": "canteen", "document": "east"}, workspace=shelf.home)
    assert "There are: north.txt, south.txt" in outcome.output["note"]


async def test_two_folders_are_told_apart(shelf: Shelf) -> None:
    other = shelf.home / "manual"
    other.mkdir()
    (other / "a.txt").write_text("The canteen of the manual.")
    shelf.write("a.txt", "The canteen of the handbook.")
    found = await shelf.ask("canteen", folders=(str(shelf.folder), str(other), str(other)))
    assert sorted(source for source, _ in found) == ["handbook/a.txt, line 1", "manual/a.txt, line 1"]


async def test_a_folder_that_is_none_is_for_the_person_to_mend(shelf: Shelf) -> None:
    with pytest.raises(UserError, match=r"knowledge\.folders: .*nowhere"):
        await shelf.open(folders=(str(shelf.home / "nowhere"),))


async def test_a_folder_without_text_leaves_the_tool_out_with_the_reason(shelf: Shelf) -> None:
    shelf.write("photo.jpg", b"\xff\xd8\xff\0")
    assert "no document of handbook has text to search; not readable: photo.jpg" in (await shelf.open()).missing()[0]


async def test_several_tasks_at_once_read_a_folder_once(shelf: Shelf) -> None:
    class Slow:
        asked = 0

        async def extract(self, documents: list[Raw]) -> list[object]:
            from habilis.sources.documents import Extracted, Part

            self.asked += len(documents)
            for _ in range(20):
                await asyncio.sleep(0)
            return [Extracted(parts=(Part(text=raw.content.decode()),)) for raw in documents]

    shelf.reader = Slow()
    for number in range(5):
        os.utime(shelf.write(f"{number}.html", f"document {number} of the canteen"), (1, 1))
    tools = await asyncio.gather(*(shelf.open() for _ in range(4)))
    assert shelf.reader.asked == 5
    for tool in tools:
        outcome = await tool.call({"query": "canteen"}, workspace=shelf.home)
        assert len(outcome.output["passages"]) == 5


async def test_without_a_place_for_the_index_the_task_goes_on(shelf: Shelf) -> None:
    shelf.write("a.txt", "The canteen opens at noon.")
    shelf.cache.write_text("a file where a folder should be")
    assert await shelf.ask("canteen")
    assert "cannot be kept" in shelf.said[0]


async def test_a_broken_off_reading_leaves_nothing_behind_and_goes_on_later(shelf: Shelf) -> None:
    class Stuck:
        async def extract(self, documents: list[Raw]) -> list[object]:
            await asyncio.Event().wait()
            return []

    shelf.write("a.html", "<p>canteen")
    keep, shelf.reader = shelf.reader, Stuck()
    opening = asyncio.create_task(shelf.open())
    done, _ = await asyncio.wait([opening], timeout=0.2)
    assert not done
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    shelf.reader = keep
    shelf.write("b.txt", "canteen")
    assert await shelf.ask("canteen") == [("b.txt, line 1", "canteen")]


def test_the_cache_and_the_folder_keep_apart(tmp_path: Path) -> None:
    """An index never lands in the user's own folder."""
    shelf = Shelf(tmp_path)
    shelf.write("a.txt", "canteen")
    asyncio.run(_opened_and_closed(shelf))
    assert [path.name for path in shelf.folder.iterdir()] == ["a.txt"]


async def _opened_and_closed(shelf: Shelf) -> None:
    await shelf.open()
    for source in shelf.sources:
        await source.aclose()
