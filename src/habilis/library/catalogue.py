"""What is in a library, known without reading its manifests: one hidden file in a generation's folder.

A library of ten thousand tools takes a second to read and another to index; one step of the curator looks at a few of
them. Each entry bears the stamps of the tool's two files, so that it counts only while they are what they were. The
file can be deleted at any time: it is made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from habilis.contract.names import ToolName
from habilis.core.errors import UserError
from habilis.core.types import FORMAT, Effects, ToolCard
from habilis.library.folder import INDEX, KEPT_FROM, UNDESCRIBED, Broken, Library
from habilis.library.imaging import image
from habilis.library.reading import without_collecting
from habilis.library.retrieval import BM25Retriever
from habilis.library.tool import Tool
from habilis.library.worth import CARRIED
from habilis.rundir import atomic_write
from habilis.rundir.plain import plain_json, read_plain

FILE = ".catalogue.json"


@dataclass(frozen=True)
class Listed:
    """One tool as the catalogue knows it. `counts` are its calls, those that were good and those that failed, the tasks
    that ended well with it, and how often it was offered and never called; `problem` says why its file is no usable
    tool, and is empty for those that are."""

    name: str
    card: ToolCard
    version: str = ""
    aliases: tuple[str, ...] = ()
    our_suffix: bool = False
    effects: Effects = "reads"
    how: str = ""
    pinned: bool = False
    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    model: str = ""
    requirements: tuple[str, ...] = ()
    likeness: str = ""
    problem: str = ""

    @property
    def called(self) -> ToolName:
        return ToolName(self.name, self.our_suffix)


class Catalogue:
    """The tools of one folder, by name; files that are no usable tools are among them, with the reason."""

    def __init__(self, rows: Mapping[str, _Row], folder: Path) -> None:
        self._rows, self._folder = dict(rows), folder
        self._index: BM25Retriever | None = None
        self.tools = {name: row.listed for name, row in rows.items()}

    @classmethod
    def of(cls, folder: Path, known: Catalogue | None = None) -> Catalogue:
        """The catalogue of `folder` as its files are now; what `known` (or its own file) tells truly is not read."""
        with without_collecting():
            before = known._rows if known is not None else _read(folder)
            library = Library(folder)
            rows, names = {}, tool_files(folder)
            if len(names) - len(before) > KEPT_FROM:
                library.tools()  # of a plain folder with many tools, what was remembered need not be read either
            for name in names:
                stamp = _stamp(folder, name)
                row = before.get(name)
                rows[name] = row if row is not None and row.stamp == stamp else _made(library, name, stamp)
            return cls(rows, folder)

    def moved(self, folder: Path) -> Catalogue:
        """The same after its folder has become `folder`."""
        return Catalogue(self._rows, folder)

    def changed(self, since: Catalogue) -> list[Listed]:
        """The entries that are not the very files of `since`."""
        return [r.listed for n, r in self._rows.items() if n not in since._rows or since._rows[n].stamp != r.stamp]

    def taken(self) -> set[str]:
        """Every name under which something can be asked for, old names included."""
        return {*self.tools, *(alias for listed in self.tools.values() for alias in listed.aliases)}

    def cards(self) -> list[ToolCard]:
        """The cards of all usable tools."""
        return [listed.card for listed in self.tools.values() if not listed.problem]

    def index(self) -> BM25Retriever:
        """All usable tools, to be searched; one index, made once, from the saved one where there is one."""
        if self._index is None:
            self._index = BM25Retriever.open(self._folder / INDEX, self.cards())
        return self._index

    def save(self, before: Catalogue) -> None:
        """Write it down beside the tools, and the index of a large library. The index of `before` is shared as long as
        little is new since it was made: whoever opens it adds the rest. Raises OSError.
        """
        with without_collecting():
            tools = {name: row.packed() for name, row in self._rows.items() if not row.listed.problem}
            text = json.dumps({"format": FORMAT, "tools": tools}, ensure_ascii=False, separators=(",", ":"))
        atomic_write(self._folder / FILE, text, durable=False)
        if len(tools) <= KEPT_FROM:
            return
        index, kept = before.index(), before._folder / INDEX
        if kept.is_dir() and index.made_anew <= max(KEPT_FROM, len(tools) // 10):
            (self._folder / INDEX).mkdir(exist_ok=True)
            image(kept, self._folder / INDEX)
        else:
            index.follow(self.cards())
            index.save(self._folder / INDEX)


@dataclass(frozen=True)
class _Row:
    stamp: tuple[int, ...]
    listed: Listed

    def packed(self) -> list[object]:
        """The row as a JSON list, in the order that `_unpacked` reads."""
        one, card = self.listed, self.listed.card
        told = [card.description, card.parameters, card.explained, card.answered, card.types, card.worth]
        return [
            self.stamp,
            *told,
            one.version,
            one.aliases,
            one.our_suffix,
            one.effects,
            one.how,
            one.pinned,
            one.counts,
            one.model,
            one.requirements,
            one.likeness,
        ]


def _read(folder: Path) -> dict[str, _Row]:
    try:
        data = plain_json(read_plain(folder / FILE))
        return {name: _unpacked(name, *row) for name, row in data["tools"].items()} if data["format"] == FORMAT else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _unpacked(
    name: str,
    stamp: list[int],
    description: str,
    parameters: list[str],
    explained: list[str],
    answered: list[str],
    types: list[str],
    worth: float,
    version: str,
    aliases: list[str],
    our_suffix: bool,
    effects: Effects,
    how: str,
    pinned: bool,
    counts: list[int],
    model: str,
    requirements: list[str],
    likeness: str = "",
) -> _Row:
    card = ToolCard.model_construct(
        name=name,
        description=description,
        parameters=tuple(parameters),
        explained=tuple(explained),
        answered=tuple(answered),
        types=tuple(types),
        worth=worth,
    )
    calls, success, failure, tasks, offered = counts
    counted, packages = (calls, success, failure, tasks, offered), tuple(requirements)
    listed = Listed(
        name, card, version, tuple(aliases), our_suffix, effects, how, pinned, counted, model, packages, likeness
    )
    return _Row(tuple(stamp), listed)


def _made(library: Library, name: str, stamp: tuple[int, ...]) -> _Row:
    tool = library.entry(name)
    if not isinstance(tool, Tool):
        problem = tool.reason if isinstance(tool, Broken) else UNDESCRIBED
        return _Row(stamp, Listed(name, ToolCard(name=name, description=""), problem=problem))
    aliases = tuple(sorted(tool.manifest.aliases))
    kinds = ("calls", "success", "failure", *CARRIED)
    calls, success, failure, tasks, offered = (tool.counters.get(kind, 0) for kind in kinds)
    origin = tool.origin
    listed = Listed(
        name,
        tool.card,
        tool.version,
        aliases,
        origin.our_suffix,
        tool.effects,
        origin.how,
        tool.manifest.pinned,
        (calls, success, failure, tasks, offered),
        origin.model,
        tool.requirements,
        tool.manifest.likeness,
    )
    return _Row(stamp, listed)


def tool_files(folder: Path) -> list[str]:
    """Names of all tool files in `folder`, usable or not, sorted. Raises `UserError` when it cannot be read."""
    try:
        files = [entry.name for entry in os.scandir(folder)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"the library {folder} cannot be read: {error.strerror}") from None
    return sorted(name[:-3] for name in files if name.endswith(".py") and not name.startswith("."))


def _stamp(folder: Path, name: str) -> tuple[int, ...]:
    stamp: tuple[int, ...] = ()
    for file in (f"{folder}/{name}.py", f"{folder}/{name}.json"):  # plain strings: this runs over every tool
        try:
            status = os.lstat(file)
        except OSError:
            continue
        stamp += (status.st_ino, status.st_mtime_ns, status.st_size)
    return stamp
