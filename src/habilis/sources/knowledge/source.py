"""`search_documents`: passages of the user's own documents, with the place that each stands at."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.config import KnowledgeSettings, SandboxSettings, cache_dir
from habilis.core.types import CallError, CallOutcome, Effects, ToolSpec
from habilis.sources.documents import Extractor
from habilis.sources.knowledge.collection import CHUNK_TOKENS, Collection
from habilis.sources.knowledge.store import Hit, IndexedDocument

SEARCH_DOCUMENTS = "search_documents"
_LINES = 20
"""How many documents a notice names that could not be read."""
_NAMED = 8
_MOST_QUERY = 2_000
_NEAR = 0.35
"""What is less relevant than this share of the best passage is left out: it shares a by-word at most."""


class Knowledge:
    """Where `search_documents` comes from. Implements `ToolSource`: opened, it follows the folders and reads what
    changed; `notice` is told of documents that could not be read."""

    def __init__(
        self,
        settings: KnowledgeSettings,
        sandbox: SandboxSettings,
        notice: Callable[[str], None],
        *,
        cache: Path | None = None,
        extractor: Extractor | None = None,
    ) -> None:
        self._settings, self._notice = settings, notice
        self._cache = cache or cache_dir() / "knowledge"
        self._extractor = extractor or Extractor(sandbox, notice)
        self._collections: list[Collection] = []

    async def open(self) -> Sequence[SearchDocuments]:
        """The tool, if there are folders to search. Raises `UserError` for one that is not there."""
        for folder in dict.fromkeys(self._settings.folders):
            collection = Collection(Path(folder), self._cache, self._extractor)
            self._collections.append(collection)
            self._tell(collection, await collection.refresh())
        if not self._collections:
            return []
        known = [(one, await one.documents()) for one in self._collections]
        return [SearchDocuments(known, self._settings)]

    async def aclose(self) -> None:
        for collection in self._collections:
            collection.close()
        self._collections.clear()

    def _tell(self, collection: Collection, lines: Sequence[str]) -> None:
        if not collection.kept:
            self._notice(f"the index of {collection.folder} cannot be kept in {self._cache}; it is made for this task")
        for line in lines[:_LINES]:
            self._notice(f"knowledge: {line}")
        if len(lines) > _LINES:
            self._notice(f"knowledge: {len(lines) - _LINES} more documents of {collection.name} like these")


class SearchDocuments:
    """The tool itself. Implements `ExternalTool`."""

    effects: Effects = "reads"

    def __init__(
        self, known: Sequence[tuple[Collection, Mapping[str, IndexedDocument]]], settings: KnowledgeSettings
    ) -> None:
        self._known, self._settings = known, settings
        self._prefixed = len(known) > 1
        read = [self._source(c, d.name) for c, documents in known for d in documents.values() if not d.problem]
        self._unread = [
            f"{self._source(c, d.name)} ({d.problem})" for c, ds in known for d in ds.values() if d.problem and d.name
        ]
        self._count = len(read)
        self.spec = ToolSpec(name=SEARCH_DOCUMENTS, description=_description(known, read), parameters=_PARAMETERS)
        state = "\n".join(f"{c.folder} {d.name} {d.digest}" for c, documents in known for d in documents.values())
        limits = f"{settings.top_k} {settings.threshold} {CHUNK_TOKENS}"
        self.version = hashlib.sha256(f"{limits}\n{state}".encode("utf-8", "surrogateescape")).hexdigest()[:12]

    def missing(self) -> tuple[str, ...]:
        """Why it cannot be of use here: there is nothing to search."""
        if self._count:
            return ()
        unread = f"; not readable: {', '.join(self._unread[:3])}" if self._unread else ""
        return (f"no document of {', '.join(c.name for c, _ in self._known)} has text to search{unread}",)

    async def call(self, arguments: Mapping[str, Any], *, workspace: Path) -> CallOutcome:
        """Search all folders. `query` is words or a question, `document` the name of one document, or a part of it."""
        query, wanted = str(arguments.get("query") or ""), str(arguments.get("document") or "")
        if not query.strip():
            error = CallError(kind="invalid_arguments", message="query is empty; give the words to look for")
            return CallOutcome(error=error)
        hits: list[tuple[str, Hit]] = []
        depth = 1_000 if wanted else self._settings.top_k
        for collection, _ in self._known:
            found = await collection.search(query[:_MOST_QUERY], depth, self._settings.threshold)
            hits += [(self._source(collection, hit.document), hit) for hit in found]
        if wanted:
            hits = [(name, hit) for name, hit in hits if wanted.casefold() in name.casefold()]
        hits.sort(key=lambda one: -round(one[1].score, 9))
        hits = [one for one in hits if one[1].score >= _NEAR * hits[0][1].score]
        return CallOutcome(output=self._passages(hits[: self._settings.top_k], wanted))

    def _passages(self, hits: Sequence[tuple[str, Hit]], wanted: str) -> dict[str, Any]:
        if not hits:
            return {"passages": [], "note": self._nothing(wanted)}
        passages = [
            {
                "source": ", ".join(filter(None, (name, hit.chunk.place))),
                "relevance": round(hit.score, 2),
                "text": hit.chunk.text,
            }
            for name, hit in hits
        ]
        return {"passages": passages, "note": "Cite the source of each passage that the answer rests on."}

    def _nothing(self, wanted: str) -> str:
        if wanted and not any(wanted.casefold() in name.casefold() for name in self._names()):
            return f"There is no document called {wanted!r}. There are: {', '.join(self._names()[:_NAMED])}."
        searched = f"{self._count} document{'s' if self._count != 1 else ''}"
        text = (
            f"Nothing in {searched} is near enough to these words. Try others, as the documents would put it, or fewer."
        )
        if self._unread:
            more = f" and {len(self._unread) - 3} more" if len(self._unread) > 3 else ""
            text += f" Not searched: {', '.join(self._unread[:3])}{more}."
        return text

    def _names(self) -> list[str]:
        return [self._source(c, d.name) for c, ds in self._known for d in ds.values() if not d.problem]

    def _source(self, collection: Collection, name: str) -> str:
        return f"{collection.name}/{name}" if self._prefixed else name


_PARAMETERS = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "the words that the passage would hold; a question will do"},
        "document": {"type": "string", "description": "search this document alone, by its name or a part of it"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def _description(known: Sequence[tuple[Collection, Mapping[str, IndexedDocument]]], read: Sequence[str]) -> str:
    folders = ", ".join(collection.name for collection, _ in known)
    named = ", ".join(read[:_NAMED]) + (f" and {len(read) - _NAMED} more" if len(read) > _NAMED else "")
    return (
        f"Find passages in the user's own documents ({folders}: {named or 'nothing readable'}). Gives text with the "
        "source to cite for each."
    )
