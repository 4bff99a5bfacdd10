"""A library for its pages: the default one, or that of a training, which may be a stranger's."""

from __future__ import annotations

import functools
from pathlib import Path

from habilis.core.errors import UserError
from habilis.curation.manual.browsing import ToolHit, ToolRow, names, opened, search, shown
from habilis.curation.manual.history import Difference, difference, history, history_of
from habilis.library import Library, Tool
from habilis.library.catalogue import Catalogue, tool_files
from habilis.rundir import RunDir
from habilis.view.records import inside

__all__ = ["Difference", "difference", "found", "history", "history_of", "library_of", "listed", "opened", "shown"]

PAGE_TOOLS, MOST_FOUND = 200, 50
SORTS = ("calls", "success", "worth")
TAGS = ("built", "adopted", "forked", "enhanced", "merged", "revived", "pure", "reads", "writes", "pinned", "broken")
_FOLDERS = ("records", "retired", "quarantine", "archive", "generations", "library")


def library_of(run: RunDir) -> Path | None:
    """The library of a training run, if it has one that lies in the run's own folder."""
    training = run.training
    if training is None or not training.library.is_dir() or not inside(training.library, run.path):
        return None
    held = [training.library / name for name in _FOLDERS[:4]] + [run.path / "generations"]
    return training.library if all(inside(path, run.path) for path in held) else None


def listed(path: Path, sort: str, number: int, tag: str = "") -> tuple[list[ToolRow], int]:
    """Page `number` of the tools that have this tag, and how many there are; by name only those of the page are read.

    `sort`: see `browsing.names`.
    """
    library, begin = opened(path), (number - 1) * PAGE_TOOLS
    if tag or sort in SORTS:
        rows, _ = names(library, sort, known=_catalogue(library))
        rows = [row for row in rows if not tag or tag in tags(row)]
        return rows[begin : begin + PAGE_TOOLS], len(rows)
    files = tool_files(library.path)
    return [_row(library, name) for name in files[begin : begin + PAGE_TOOLS]], len(files)


def tags(row: ToolRow) -> tuple[str, ...]:
    """How it came to be, what it does to files, whether a person pinned it."""
    if row.problem:
        return ("broken",)
    return tuple(filter(None, (row.how, row.effects or "", "pinned" if row.pinned else "")))


def _catalogue(library: Library) -> Catalogue:
    """What is in the library; read once for each state of its folder, which every change of a tool's files renews."""
    folder = library.path.resolve()
    state = folder.stat()
    return _read(folder, (state.st_ino, state.st_mtime_ns))


@functools.lru_cache(maxsize=1)
def _read(folder: Path, _: tuple[int, int]) -> Catalogue:
    return Catalogue.of(folder)


def _row(library: Library, name: str) -> ToolRow:
    tool = library.entry(name)
    if not isinstance(tool, Tool):
        return ToolRow(name=name, problem=tool.reason if tool is not None else "it is gone")
    return ToolRow(
        name=name,
        version=tool.version,
        description=tool.description,
        effects=tool.effects,
        calls=tool.counters.get("calls", 0),
        success=tool.counters.get("success", 0),
        failure=tool.counters.get("failure", 0),
        how=tool.origin.how,
        pinned=tool.manifest.pinned,
        old_names=tuple(tool.manifest.aliases),
        worth=tool.card.worth,
    )


def found(path: Path, query: str) -> list[ToolHit]:
    """What a question finds, each with the reasons. Raises `UserError`."""
    try:
        library = opened(path)
        return search(library, query, MOST_FOUND, why=True, known=_catalogue(library))
    except ValueError as error:
        raise UserError(str(error)) from None
