"""A library for its pages: the default one, or that of a training, which may be a stranger's."""

from __future__ import annotations

from pathlib import Path

from habilis.core.errors import UserError
from habilis.curation.manual.browsing import ToolHit, ToolRow, names, opened, search, shown
from habilis.curation.manual.history import Difference, difference, history, history_of
from habilis.rundir import RunDir
from habilis.view.records import inside

__all__ = ["Difference", "difference", "found", "history", "history_of", "library_of", "listed", "opened", "shown"]

PAGE_TOOLS, MOST_FOUND = 200, 50
_FOLDERS = ("records", "retired", "quarantine", "archive", "generations", "library")


def library_of(run: RunDir) -> Path | None:
    """The library of a training run, if it has one that lies in the run's own folder."""
    training = run.training
    if training is None or not training.library.is_dir() or not inside(training.library, run.path):
        return None
    held = [training.library / name for name in _FOLDERS[:4]] + [run.path / "generations"]
    return training.library if all(inside(path, run.path) for path in held) else None


def listed(path: Path, sort: str) -> list[ToolRow]:
    """All tools, by name, worth or calls."""
    rows, _ = names(opened(path), "calls" if sort == "calls" else "success" if sort == "success" else "name")
    return rows


def found(path: Path, query: str) -> list[ToolHit]:
    """What a question finds, each with the reasons. Raises `UserError`."""
    try:
        return search(opened(path), query, MOST_FOUND, why=True)
    except ValueError as error:
        raise UserError(str(error)) from None
