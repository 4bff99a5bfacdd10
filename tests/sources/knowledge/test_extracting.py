"""HTML and PDF are read inside the sandbox: their text comes out, and what is broken costs itself alone."""

from __future__ import annotations

import io
import zlib

import pytest

from habilis.config import SandboxSettings
from habilis.sources.documents import Extractor, Raw, decoded
from habilis.sources.documents.decoding import declared_in

from .conftest import Shelf, pdf

pytestmark = pytest.mark.sandbox
HTML = """<!doctype html><html><head><title>The  Handbook</title><style>p {}</style><script>steal()</script></head>
<body><nav>Home About</nav><h1>Hand<b>book</b></h1><p>Notice is<br>three   months.<p hidden>secret</p>
<ul><li>one<li>two</ul><pre>x = 1

y = 2</pre><table><tr><th>day<th>hours<tr><td>Mon|Tue<td>8</table><footer>imprint</footer></body></html>"""


@pytest.fixture
def extractor() -> Extractor:
    return Extractor(SandboxSettings(), print)


async def test_html_keeps_its_structure_and_loses_its_trimmings(extractor: Extractor) -> None:
    (found,) = await extractor.extract([Raw("html", HTML.encode())])
    assert found.title == "The Handbook"
    assert found.parts[0].text == (
        "# Handbook\n\nNotice is\nthree months.\n\n- one\n- two\n\n```\nx = 1\n\ny = 2\n```\n\n"
        "| day | hours |\n| --- | --- |\n| Mon\\|Tue | 8 |"
    )


async def test_a_pdf_gives_its_pages(extractor: Extractor) -> None:
    (found,) = await extractor.extract([Raw("pdf", pdf("Notice is three months.", "", "Leave is thirty days."))])
    assert [(part.page, part.text) for part in found.parts] == [
        (1, "Notice is three months."),
        (3, "Leave is thirty days."),
    ]


async def test_what_is_broken_hostile_or_locked_costs_itself_alone(extractor: Extractor) -> None:
    import pypdf

    locked = io.BytesIO()
    writer = pypdf.PdfWriter(io.BytesIO(pdf("secret words")))
    writer.encrypt("a password", algorithm="RC4-128")
    writer.write(locked)
    bomb = zlib.compress(b"BT " * 100_000_000)
    packed = pdf("x").replace(b"<< /Length 39 >>", b"<< /Length %d /Filter /FlateDecode >>" % len(bomb))
    hostile = packed.replace(b"BT /F1 12 Tf 72 720 Td (x) Tj ET", bomb)
    documents = [
        Raw("pdf", b"%PDF-1.7\nnot really"),
        Raw("pdf", locked.getvalue()),
        Raw("pdf", pdf("")),
        Raw("pdf", hostile),
        Raw("html", b""),
        Raw("html", b"<div>" * 200_000 + b"deep"),
        Raw("html", b"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><p>&a;ok"),
        Raw("html", b"<p>fine</p>"),
    ]
    found = await extractor.extract(documents)
    assert "broken" in found[0].problem
    assert found[1].problem == "it is encrypted"
    assert "no text" in found[2].problem
    assert found[3].problem
    assert found[4].problem == "it is empty"
    assert not any("root:" in part.text for one in found for part in one.parts)
    assert found[7].parts[0].text == "fine"


async def test_a_reader_that_dies_takes_nothing_else_along() -> None:
    from habilis.core.ports import SandboxExit, SandboxJob

    class Dying:
        """A sandbox in which the reader of the first document never ends well."""

        level = "off"

        async def run(self, job: SandboxJob) -> SandboxExit:
            if b"deadly" in job.request:
                return SandboxExit(reply=b'{"parts"', returncode=137, printed="", timed_out=True)
            return SandboxExit(reply=b'{"parts": [{"text": "fine"}]}\n', returncode=0, printed="")

    extractor = Extractor(SandboxSettings(), print, sandbox=Dying())
    found = await extractor.extract([Raw("html", b"deadly"), Raw("html", b"good")])
    assert [one.problem for one in found] == ["its reader took too long", ""]


async def test_a_search_cites_the_page_of_a_pdf_and_the_heading_of_html(shelf: Shelf) -> None:
    shelf.reader = Extractor(SandboxSettings(), shelf.said.append)
    shelf.write("rules.pdf", pdf("Notice is three months.", "Leave is thirty days."))
    shelf.write("canteen.html", "<h1>Canteen</h1><p>It opens at noon.")
    shelf.write("scan.pdf", pdf(""))
    assert await shelf.ask("leave days") == [("rules.pdf, page 2", "Leave is thirty days.")]
    assert await shelf.ask("canteen opens") == [("canteen.html, Canteen", "It opens at noon.")]
    assert shelf.said == ["knowledge: scan.pdf: it holds no text; scanned pages would have to be recognised first"]


@pytest.mark.parametrize(
    ("content", "declared", "text"),
    [
        ("Köln".encode(), None, "Köln"),
        ("Köln".encode("utf-16"), "latin-1", "Köln"),
        ("Köln".encode("utf-32"), None, "Köln"),
        ("Köln".encode("latin-1"), "iso-8859-1", "Köln"),
        ("Köln “so”".encode("windows-1252"), "latin-1", "Köln “so”"),
        ("Köln".encode(), "latin-1", "Köln"),
        ("東京".encode("shift_jis"), "Shift_JIS", "東京"),
        ("Köln".encode("latin-1"), "no-such-charset", "Köln"),
        ("Köln".encode("latin-1"), "zlib", "Köln"),
        (b"\x00\x01\x02", None, None),
        (b"\x01\x02\x03\x04" * 10, "latin-1", None),
        (b"", None, ""),
    ],
)
def test_characters_are_read_as_they_were_meant(content: bytes, declared: str | None, text: str | None) -> None:
    found = decoded(content, declared)
    assert (found.text if found else None) == text


def test_a_document_says_its_own_encoding() -> None:
    assert declared_in(b'<html><meta charset="koi8-r">') == "koi8-r"
    assert declared_in(b'<?xml version="1.0" encoding="UTF-16"?>') == "UTF-16"
    assert declared_in(b'<meta http-equiv="Content-Type" content="text/html; charset=gb2312">') == "gb2312"
    assert declared_in(b"<p>charset=x") is None
