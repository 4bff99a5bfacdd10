"""One folder of documents as people keep it, and the store that follows it: only what changed is read again."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from habilis.core.errors import UserError
from habilis.rundir.locks import take
from habilis.sources.documents import Extracted, Extractor, Part, Raw
from habilis.sources.documents.chunks import Chunk
from habilis.sources.documents.extracting import Kind
from habilis.sources.documents.passages import passages, plain_text
from habilis.sources.knowledge.folder import FoundFile, content_of, files_in
from habilis.sources.knowledge.store import Hit, IndexedDocument, Store

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
HTML = frozenset({".html", ".htm", ".xhtml"})
CHUNK_TOKENS = 300
"""Of a passage, about: a few paragraphs, so that five of them leave room for the work."""
MOST_BYTES = 20 << 20
"""Of a file that is read."""
_MOST_HERE = 1 << 20
"""Bytes of a plain text that is read in this process; what is longer is read in the sandbox, within its limits."""
_BATCH_FILES, _BATCH_BYTES = 64, 16 << 20
_YOUNG_NS = 2_000_000_000
"""A file that changed so shortly before it was read may change again without looking different."""
_PAUSE_S = 0.1
_T = TypeVar("_T")
Going = Callable[[Sequence[Any]], Iterator[Any]]
"""Goes through items as long as somebody waits for what is made of them."""


class Collection:
    """A folder, its store, and how the one follows the other."""

    def __init__(self, folder: Path, cache: Path, extractor: Extractor, *, most_bytes: int = MOST_BYTES) -> None:
        """`cache`: the folder of stores. Raises `UserError` when `folder` is none."""
        self.folder = folder.expanduser().absolute()
        if not self.folder.is_dir():
            raise UserError(f"knowledge.folders: {folder} is not a folder")
        self.folder = self.folder.resolve()
        self._extractor, self._most_bytes = extractor, most_bytes
        key = hashlib.blake2b(f"{CHUNK_TOKENS} {self.folder}".encode("utf-8", "surrogateescape"), digest_size=12)
        self._path: Path | None = cache / f"{key.hexdigest()}.sqlite"
        try:
            self._store = Store(self._path)
        except (OSError, sqlite3.Error):  # no place on disk: for this task alone, then
            self._path, self._store = None, Store(None)

    @property
    def name(self) -> str:
        return self.folder.name or str(self.folder)

    @property
    def kept(self) -> bool:
        """Whether the index outlives this process."""
        return self._path is not None

    def close(self) -> None:
        self._store.close()

    async def refresh(self) -> list[str]:
        """Follow the folder. Returns a line on each document that was looked at and gives cause to say something.

        Raises `UserError` when the folder cannot be read or the index cannot be written.
        """
        try:
            found, known = await _apart(lambda _: (files_in(self.folder, self._most_bytes), self._store.documents()))
            if not _changed(found, known):
                return []
            async with self._turn():
                return await self._followed(found)
        except OSError as error:
            raise UserError(f"knowledge.folders: {self.folder}: {error.strerror or error}") from None
        except sqlite3.Error as error:
            raise UserError(f"knowledge.folders: the index of {self.folder} cannot be written: {error}") from None

    async def documents(self) -> dict[str, IndexedDocument]:
        return await _apart(lambda _: self._store.documents())

    async def search(self, query: str, k: int, threshold: float) -> list[Hit]:
        """The passages nearest to `query`, best first."""
        return await _apart(lambda _: self._store.search(query, k, threshold))

    # --- following -----------------------------------------------------------------------------------------------

    async def _followed(self, found: Sequence[FoundFile]) -> list[str]:
        known = await self.documents()  # as it is now: another process may have followed meanwhile
        there = {one.name for one in found}
        gone = [name for name in known if name not in there]
        if gone:
            await _apart(lambda going: self._store.put((), going(gone)))
        lines: list[str] = []
        for batch in _batches([one for one in found if _differs(one, known)]):
            lines += await self._batch(batch, known)
        return lines

    async def _batch(self, batch: Sequence[FoundFile], known: dict[str, IndexedDocument]) -> list[str]:
        """Read the documents of `batch`, in place of what was known of them. Returns a line for each problem."""
        read = await _apart(lambda going: [self._read(one) for one in going(batch)])
        same = [document for document, _ in read if _is_same(document, known.get(document.name))]
        fresh = [(document, given) for document, given in read if document not in same]
        raws = [given for _, given in fresh if isinstance(given, Raw)]
        extracted = iter(await self._extractor.extract(raws) if raws else ())
        whole = [(d, next(extracted) if isinstance(given, Raw) else given) for d, given in fresh]
        made = await _apart(lambda going: [self._chunked(document, given) for document, given in going(whole)])
        await _apart(lambda going: self._keep(made, same, going))
        told = [(document.name, document.problem or document.note) for document, _ in made]
        return [f"{name or self.name}: {text}" for name, text in told if text]

    def _keep(
        self, made: Sequence[tuple[IndexedDocument, Sequence[Chunk]]], same: Sequence[IndexedDocument], going: Going
    ) -> None:
        if made:
            self._store.put((document, going(chunks)) for document, chunks in made)
        if same:
            self._store.touch(same)

    def _read(self, one: FoundFile) -> tuple[IndexedDocument, Raw | Extracted]:
        """The document behind a file, with its text or with what its text is to be taken out of."""
        changed = one.changed if time.time_ns() - one.changed > _YOUNG_NS else -1
        document = IndexedDocument(one.name, one.size, changed, "", one.problem)
        content = one.problem or content_of(self.folder, one.name, self._most_bytes)
        if isinstance(content, str):
            return document, Extracted(problem=content)
        digest = hashlib.blake2b(content, digest_size=16).hexdigest()
        return IndexedDocument(one.name, one.size, changed, digest), _given(one.name, content, CHUNK_TOKENS)

    def _chunked(self, document: IndexedDocument, given: Extracted) -> tuple[IndexedDocument, list[Chunk]]:
        chunks, note = list(given.passages), given.note
        if given.parts:
            parts = [(part.text, part.page) for part in given.parts]
            chunks, more = passages(parts, _kind(document.name), CHUNK_TOKENS)
            note = "; ".join(filter(None, (note, more)))
        problem = given.problem or ("" if chunks else "is empty")
        looked = replace(document, problem=problem, note=note)
        return (replace(looked, changed=-1, digest="") if given.ours else looked), chunks

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One process at a time follows a folder; the others wait, since they need what it finds."""
        if self._path is None:
            yield
            return
        descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            while not take(descriptor):  # noqa: ASYNC110 - another process lets go of it
                await asyncio.sleep(_PAUSE_S)
            yield
        finally:
            os.close(descriptor)


def _changed(found: Sequence[FoundFile], known: dict[str, IndexedDocument]) -> bool:
    """Whether any file came, went or looks different."""
    return {one.name for one in found} != known.keys() or any(_differs(one, known) for one in found)


def _differs(one: FoundFile, known: dict[str, IndexedDocument]) -> bool:
    """Whether a file looks other than when it was read. Of one that is not read only the reason counts."""
    before = known.get(one.name)
    if before is None:
        return True
    if one.problem:
        return before.problem != one.problem
    return (before.size, before.changed) != (one.size, one.changed)


def _is_same(now: IndexedDocument, before: IndexedDocument | None) -> bool:
    """Whether the content is what it was."""
    return before is not None and bool(now.digest) and now.digest == before.digest


def _given(name: str, content: bytes, passage_tokens: int) -> Raw | Extracted:
    kind = "pdf" if content.startswith(b"%PDF-") else _kind(name)
    if kind in ("html", "pdf") or len(content) > _MOST_HERE:
        return Raw(kind, content, passage_tokens=passage_tokens)
    text, note, problem = plain_text(content)
    return Extracted(problem=problem) if problem else Extracted(parts=(Part(text=text),), note=note)


def _kind(name: str) -> Kind:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".pdf":
        return "pdf"
    return "html" if suffix in HTML else "markdown" if suffix in MARKDOWN else "text"


def _batches(found: Sequence[FoundFile]) -> Iterator[list[FoundFile]]:
    batch: list[FoundFile] = []
    size = 0
    for one in found:
        if batch and (len(batch) == _BATCH_FILES or size + one.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.size
    if batch:
        yield batch


async def _apart(work: Callable[[Going], _T]) -> _T:
    """`work` in a thread. Cancelled, it ends at the next item that it goes through by what it is given, and is waited
    for: nothing may go on behind our back."""
    left = threading.Event()

    def going(items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            if left.is_set():
                raise _BrokenOff
            yield item

    running = asyncio.ensure_future(asyncio.to_thread(work, going))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        left.set()
        await asyncio.wait([running])
        running.exception()  # heard of, and nobody's matter any more
        raise


class _BrokenOff(Exception):
    """Nobody wants any more what a thread is doing."""
