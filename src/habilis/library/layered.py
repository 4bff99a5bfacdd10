"""A task's view of two libraries: its private tools over the public ones. Clashes are settled here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from habilis.contract.aliases import called_by, properties
from habilis.contract.contract import Contract
from habilis.contract.records import RecordedCall, RecordStore
from habilis.contract.runnable import Describer, Description
from habilis.core.types import Invocation, ToolCard
from habilis.library.folder import INDEX, Broken, Library
from habilis.library.members import Member, line_of, members_of
from habilis.library.places import is_generation, writer_lock
from habilis.library.retrieval import BM25Retriever
from habilis.library.retrieval.relevance import fitting
from habilis.library.retrieval.vectors import Meaning
from habilis.library.tool import Origin, Tool

_DEPTH = 3
"""How many times as many tools are ranked as are wanted: some of the first may not fit."""


class LayeredLibrary:
    """`private` shadows `public` by name. The public library is only read: what is new goes to the private one.

    `public` is None where there is none.
    """

    def __init__(self, private: Library, public: Library | None = None, *, vectors: Meaning | None = None) -> None:
        """`vectors` find tools by what is meant too, beside the words."""
        self.private = private
        self.public = public
        self._vectors = vectors
        self._index: BM25Retriever | None = None

    def names(self) -> list[str]:
        """Names of all tools that can be used, sorted."""
        return sorted({*self.private.names(), *(self.public.names() if self.public else ())})

    def aliases(self) -> list[str]:
        """Old names under which tools can be used as well, sorted."""
        found = {*self.private.aliases(), *(self.public.aliases() if self.public else ())}
        return sorted(found - set(self.names()))

    def tools(self) -> list[Tool]:
        """All tools that can be used, by name, each once."""
        found = {tool.name: self.public.presented(tool).public for tool in self.public.tools()} if self.public else {}
        found |= {tool.name: tool for tool in self.private.tools()}
        return [found[name] for name in sorted(found)]

    def cards(self) -> list[ToolCard]:
        """What a plan shows of each tool."""
        found = {card.name: card for card in self.public.cards()} if self.public else {}
        found |= {card.name: card for card in self.private.cards()}
        return [found[name] for name in sorted(found)]

    def search(self, query: str, k: int, *, also: Sequence[ToolCard] = ()) -> list[ToolCard]:
        """The at most `k` tools nearest to `query`, best first . The index follows the tools.

        `also` are tools of other places, ranked among those of the libraries.
        """
        return self._following(also).search(query, k)

    def fitting(self, query: str, k: int, *, also: Sequence[ToolCard] = ()) -> list[ToolCard]:
        """Those of `search` that have enough to do with `query`, and no more than `k`; none where none has.

        Where there are `k` tools at most, those that share no word with it are looked at as well: it may be written in
        another language than they are.
        """
        cards = [*self.cards(), *also]
        if not cards:
            return []
        index = self._following(also)
        found = index.search(query, _DEPTH * k)
        if len(cards) <= k:
            found += [card for card in cards if card not in found]
        return fitting(query, found, index.alike(query))[:k]

    def _following(self, also: Sequence[ToolCard]) -> BM25Retriever:
        """The index, brought up to date."""
        if self._index is None:
            self._index = _index_of(self.public)
            self._index.use(self._vectors, self.public.path / INDEX if self.public else None)
        self._index.follow([*self.cards(), *also])
        return self._index

    def broken(self) -> list[Broken]:
        """Files of both libraries that are no usable tools."""
        return [*self.private.broken(), *(self.public.broken() if self.public else ())]

    def get(self, name: str) -> Tool | None:
        """The tool called `name`, the private one first; where there is none, the one that `name` is an old name of."""
        own = self.private.get(name)
        if self.public is None or (own is not None and own.alias is None):
            return own
        public = self.public.get(name)
        if public is None or (own is not None and public.alias is not None):
            return own
        return self.public.presented(public).public

    def records(self, name: str, version: str | None = None) -> list[RecordedCall]:
        """The recorded calls of tool `name` in both libraries, the public ones first, each call id once."""
        public = self.public.records(name, version) if self.public else []
        found = {call.call_id: call for call in public} | {c.call_id: c for c in self.private.records(name, version)}
        return list(found.values())

    def members(self, tool: Tool) -> list[Member]:
        """The tools that `tool` took the place of in a merge, which can still be called."""
        return members_of(self._folders, tool)

    def line(self, tool: Tool) -> list[Tool]:
        """The versions in the archives that `tool` was made from, or took the place of."""
        return line_of(self._folders, tool)

    def calls_before(self, tool: Tool) -> list[RecordedCall]:
        """Good calls, as calls of `tool`, that were made by its old names or of versions in the archives."""
        own, found = set(properties(tool.input_schema)), []
        for name, alias in sorted(tool.manifest.aliases.items()):
            found += [called_by(alias, call) for call in self.records(name)]
        for one in self.line(tool):
            beside = RecordStore(one.path.parent).read(one.path.stem)
            found += [called_by(tool.manifest.aliases.get(one.name), call) for call in beside]
        return [call for call in found if call.verdict == "success" and call.arguments.keys() <= own]

    @property
    def _folders(self) -> list[Path]:
        return [library.path for library in (self.private, self.public) if library is not None]

    def record_of(self, name: str, call_id: str) -> RecordedCall | None:
        """The record of one call of tool `name`."""
        return next((call for call in self.records(name) if call.call_id == call_id), None)

    def retired(self) -> list[tuple[Tool, list[RecordedCall]]]:
        """Tools of the public library that were taken out of use, each with its recorded calls."""
        return self.public.retired() if self.public else []

    def content(self, digest: str) -> bytes | None:
        """The content of a recorded file of either library."""
        content = self.private.content(digest)
        return content if content is not None or self.public is None else self.public.content(digest)

    def record(self, invocation: Invocation, *, workspace: Path, files: Sequence[Path] = ()) -> RecordedCall:
        """Record a call of a private or public tool, in the private library."""
        return self.private.record(invocation, workspace=workspace, files=files)

    def keep(self, contents: Mapping[str, bytes]) -> tuple[dict[str, str], str | None]:
        """Store contents that a record will name, in the private library: digests by name, or why they are not kept.

        Raises OSError.
        """
        with writer_lock(self.private.path):
            return self.private.store.keep(contents)

    def improve(self, tool: Tool, source: str, description: Description, contract: Contract, origin: Origin) -> Tool:
        """Put a better version of `tool` in force: in place when it is private, as a private fork when it is public."""
        if self.private.get(tool.name) is not None:
            return self.private.replace(tool.name, source, description, contract, origin=origin)
        forked = origin.model_copy(update={"how": "forked"})
        aliases = tool.manifest.aliases
        return self.private.add(source, description, contract, name=tool.name, origin=forked, aliases=aliases)

    def archive(self, name: str, reason: str) -> Path:
        """Set a private tool aside, with the reason. Raises KeyError when there is no such private tool."""
        return self.private.archive(name, reason)

    async def describe_missing(self, describer: Describer) -> list[Tool]:
        """See `Library.describe_missing`, for both libraries."""
        own = await self.private.describe_missing(describer)
        if self.public is None:
            return own
        public = await self.public.describe_missing(describer)
        return [*(self.public.presented(tool).public for tool in public), *own]


def public_library(path: Path) -> Library:
    """The library at `path`, to read from. A generation does not change: it is read once for all tasks of a step."""
    place = path.resolve()
    return _generation(place, _made(place)) if is_generation(place) and place.is_dir() else Library(path)


@lru_cache(maxsize=2)
def _generation(folder: Path, made: tuple[int, ...]) -> Library:
    return Library(folder, unchanging=True)


def _made(folder: Path) -> tuple[int, ...]:
    """What tells a generation from one that lay in its place before: somebody may delete all and begin anew."""
    try:
        found = folder.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _index_of(public: Library | None) -> BM25Retriever:
    """An index of one's own over the public library, not yet of what one has made oneself."""
    if public is None:
        return BM25Retriever()
    if not is_generation(public.path):
        return public.index()
    return _index_of_generation(public.path, _made(public.path)).copy()


@lru_cache(maxsize=2)
def _index_of_generation(folder: Path, made: tuple[int, ...]) -> BM25Retriever:
    """The index of a generation, which does not change: made once for all tasks of a step."""
    return _generation(folder, made).index()
