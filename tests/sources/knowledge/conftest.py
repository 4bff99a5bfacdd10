"""A user's folder of documents, and PDF files made by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from habilis.config import KnowledgeSettings, SandboxSettings
from habilis.sources.documents import Extracted, Raw
from habilis.sources.knowledge import Knowledge, SearchDocuments

Open = Callable[..., Awaitable[SearchDocuments]]


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page (PDF 32000-1, §7.5)."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        font = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {5 + 2 * n} 0 R >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    body, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    rows = "".join(f"{place:010d} 00000 n \n" for place in places)
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}"
    return f"{body}{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n".encode()


class NoReader:
    """Stands in for the readers of HTML and PDF where a test is about something else."""

    def __init__(self) -> None:
        self.asked: list[Raw] = []

    async def extract(self, documents: Sequence[Raw]) -> list[Extracted]:
        self.asked += documents
        return [Extracted(problem="needs a reader", ours=True) for _ in documents]


class Shelf:
    """A folder of documents and what is said about it."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder, self.cache = home, home / "handbook", home / "cache"
        self.folder.mkdir()
        self.said: list[str] = []
        self.reader: Any = NoReader()
        self.sources: list[Knowledge] = []

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def open(self, **settings: Any) -> SearchDocuments:
        folders = settings.pop("folders", (str(self.folder),))
        source = Knowledge(
            KnowledgeSettings(folders=folders, **settings),
            SandboxSettings(),
            self.said.append,
            cache=self.cache,
            extractor=self.reader,
        )
        self.sources.append(source)
        return (await source.open())[0]

    async def ask(self, query: str, **settings: Any) -> list[tuple[str, str]]:
        """Source and text of each passage that is found."""
        tool = await self.open(**settings)
        outcome = await tool.call({"query": query}, workspace=self.home)
        return [(passage["source"], passage["text"]) for passage in outcome.output["passages"]]


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    for source in shelf.sources:
        await source.aclose()
