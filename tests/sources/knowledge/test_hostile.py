"""Documents that were made to do harm cost themselves alone: no time, no memory and no place in what is found."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from habilis.config import SandboxSettings
from habilis.sources.documents import Extractor, Raw, decoded
from habilis.sources.documents.chunks import Chunk
from habilis.sources.documents.passages import passages
from habilis.sources.knowledge import collection as collection_module
from habilis.sources.knowledge.collection import Collection
from habilis.sources.knowledge.store import IndexedDocument

from .conftest import Shelf, pdf

MEGA = 1 << 20
MUCH = 1 << 18
DELIMITER = "a|b\n--" + "|  " * 60 + "x"
"""A table's second line that is none: an expression that can match each blank in two ways tries them all."""


def long_texts() -> dict[str, str]:
    return {
        "one line": "x" * (4 * MUCH),
        "signs of a heading": "#" * MUCH,
        "a heading of blanks": "# a" + " " * MUCH + "b",
        "a heading of signs": "# a" + " #" * MUCH + "b",
        "bars": "|" * MUCH,
        "a table's head": "|".join(["c"] * MUCH) + "\n" + "|".join(["--"] * MUCH) + "\n" + "d|d\n" * 5_000,
        "a fence's line": "```" + "p" * MUCH + "\n" + "code code\n" * 30_000,
        "a delimiter": DELIMITER,
        "blank lines": "\n" * MUCH,
        "quotes": ">" * MUCH,
        "nested lists": "\n".join(" " * (number % 900) + "- x" for number in range(5_000)),
        "combining characters": "a" + "\u0301\u0327" * (MUCH // 2),
        "one row of a table": ",".join(["12"] * MUCH),
        "nested JSON": "[" * MUCH,
    }


CUTTING = """
import json, sys
from habilis.sources.documents.passages import passages
for name, text in json.load(sys.stdin).items():
    made, _ = passages([(text, None)], "markdown", 300)
    print(json.dumps([name, sum(len(one.text) for one in made) / len(text)]), flush=True)
"""
"""Cuts texts into passages, and says of each how much larger they are than it."""


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def test_a_text_of_any_shape_is_cut_within_little_time_and_memory() -> None:
    """Twenty seconds of processor are ten times what is needed; what grows by the square of a length needs hours."""
    texts = long_texts()
    ended = subprocess.run(
        [sys.executable, "-c", CUTTING], input=json.dumps(texts).encode(), capture_output=True, preexec_fn=_limited
    )
    grown = dict(json.loads(line) for line in ended.stdout.splitlines())
    assert list(grown) == list(texts), ended.stderr[-300:]
    assert max(grown.values()) < 3


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "utf-7", "zlib", "utf-8" * 10_000])
def test_no_codec_is_used_that_no_document_is_written_in(charset: str) -> None:
    """Python's punycode takes the square of a text's length, and a page may name any codec."""
    found = decoded(b"caf\xe9 +AGE- \\x41", charset)
    assert found is not None
    assert found.text == "caf\xe9 +AGE- \\x41"


def test_a_document_of_nothing_but_sections_is_kept_in_part_and_says_so() -> None:
    head = "# " + "h" * 190 + "\n## " + "i" * 190 + "\n### " + "j" * 190 + "\n"
    sections = "".join(f"#### {number}\nx\n" for number in range(30_000))
    made, note = passages([(head + sections, None)], "markdown", 300)
    assert len(made) < 25_000
    assert note == f"only its first {len(made):,} passages are searched"


async def test_a_long_text_is_not_computed_in_this_process(shelf: Shelf) -> None:
    shelf.write("log.txt", "x" * (MEGA + 1))
    shelf.write("short.txt", "The canteen opens at noon.")
    assert await shelf.ask("canteen") == [("short.txt, line 1", "The canteen opens at noon.")]
    assert [(raw.kind, len(raw.content)) for raw in shelf.reader.asked] == [("text", MEGA + 1)]


async def test_indexing_that_nobody_waits_for_any_more_ends_at_the_next_passage(shelf: Shelf) -> None:
    """A signal cancels: a folder that takes minutes to index must not hold the end up."""
    reached, seen = asyncio.Event(), 0
    loop = asyncio.get_running_loop()

    class Endless:
        """Passages without end, as a file of many gigabytes would give them."""

        def __iter__(self) -> Iterator[Chunk]:
            nonlocal seen
            while True:
                seen += 1
                loop.call_soon_threadsafe(reached.set)
                yield Chunk(f"passage {seen}", (), seen, seen)

    tool = await shelf.open()
    collection = Collection(shelf.folder, shelf.cache, shelf.reader, most_bytes=MEGA)
    keeping = asyncio.create_task(
        collection_module._apart(
            lambda going: collection._keep([(IndexedDocument("a", 1, 1, ""), Endless())], [], going)
        )
    )
    await reached.wait()
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    assert await collection.documents() == {}
    collection.close()
    assert tool.missing()


def pages() -> dict[str, bytes]:
    return {
        "nested.html": b"<div>" * 1_000_000 + b"deep",
        "attribute.html": b"<p title='" + b"x" * (16 * MEGA) + b"'>long</p>",
        "entities.html": b"<!DOCTYPE x [<!ENTITY a 'ha'>"
        + b"".join(b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 20) for n in range(20))
        + b"]><p>&u;</p>",
        "coded.html": b"<meta charset=punycode><p>" + b"a-b" * MEGA,
        "table.html": b"<table><tr>" + b"<td>x" * 50_000 + b"<tr><td>x<td>y" * 50_000,
        "list.html": b"<ul>" + b"<li>item" * 200_000,
    }


def _circle() -> bytes:
    """A PDF whose tree of pages leads back to its root."""
    return pdf("x").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")


def _packed(content: bytes) -> bytes:
    bomb = zlib.compress(content)
    packed = pdf("x").replace(b"<< /Length 39 >>", b"<< /Length %d /Filter /FlateDecode >>" % len(bomb))
    return packed.replace(b"BT /F1 12 Tf 72 720 Td (x) Tj ET", bomb)


def _object_stream() -> bytes:
    """A PDF whose catalogue lies in a stream of objects that unpacks to 300 MB."""
    bomb = zlib.compress(b"1 0 2 5 " + b" " * (300 * MEGA))
    head = b"%%PDF-1.5\n5 0 obj\n<< /Type /ObjStm /N 2 /First 8 /Filter /FlateDecode /Length %d >>\nstream\n" % len(
        bomb
    )
    return head + bomb + b"\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"


@pytest.mark.sandbox
@pytest.mark.slow
async def test_hostile_documents_cost_themselves_alone(shelf: Shelf) -> None:
    shelf.reader = Extractor(SandboxSettings(), shelf.said.append, each_s=6)
    hostile = {
        **pages(),
        "circle.pdf": _circle(),
        "stream.pdf": _packed(b"BT " * 50_000_000),
        "object.pdf": _object_stream(),
    }
    for name, content in hostile.items():
        shelf.write(name, content)
    shelf.write("line.txt", "word" * (4 * MEGA))
    shelf.write("table.md", "|".join(["c"] * 2 * MEGA) + "\n" + "|".join(["--"] * 2 * MEGA) + "\nx|y\n")
    shelf.write("good.html", "<p>The canteen opens at noon.")
    assert await shelf.ask("canteen") == [("good.html", "The canteen opens at noon.")]
    assert all("\n" not in line for line in shelf.said)
    assert {line.split(":")[1].strip() for line in shelf.said} <= hostile.keys(), shelf.said
    assert any("object.pdf" in line for line in shelf.said), shelf.said


@pytest.mark.sandbox
async def test_a_reader_that_never_comes_back_is_ended_by_its_own_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code and regular expressions hear no signal: the watch needs neither."""
    extractor = Extractor(SandboxSettings(), print, each_s=0.2)
    monkeypatch.setattr("habilis.sources.documents.extracting._MEGABYTE_S", 0.0)
    stuck = Raw("text", b"# a b\n" * MEGA, passage_tokens=300)
    found = await extractor.extract([stuck, Raw("text", b"fine")])
    assert found[0].problem == "its reader took too long"
    assert [part.text for part in found[1].parts] == ["fine"]


SERVING = """
import asyncio, signal, sys
from pathlib import Path
from habilis.config import KnowledgeSettings, SandboxSettings
from habilis.sources.knowledge import Knowledge
async def work():
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    settings = KnowledgeSettings(folders=(sys.argv[1],))
    print("begun", flush=True)
    await Knowledge(settings, SandboxSettings(), print, cache=Path(sys.argv[2])).open()
    print("done", flush=True)
    await asyncio.Event().wait()
asyncio.run(work())
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("name", ["delimiter.md", "line.txt"])
def test_a_signal_is_heard_while_a_hostile_document_is_read(name: str, tmp_path: Path) -> None:
    """The delimiter's 200 bytes held the process for good; no signal but SIGKILL ended it."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / name).write_text(DELIMITER if name == "delimiter.md" else "word " * (4 * MEGA))
    child = subprocess.Popen(
        [sys.executable, "-c", SERVING, str(folder), str(tmp_path / "cache")], stdout=subprocess.PIPE, text=True
    )
    with child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            if name == "delimiter.md":
                assert child.stdout.readline() == "done\n"
            child.terminate()
            child.wait(timeout=60)
        finally:
            child.kill()
