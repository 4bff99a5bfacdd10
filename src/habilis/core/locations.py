"""Where this machine has a task's files, if not where their paths say.

A task keeps the paths of the machine that asked, in prompts, arguments and records, wherever it runs; so it is the same
task everywhere. On another machine its files lie elsewhere. Who opens one goes through `here`; the sandbox shows it to
tools at its own path as well.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_HERE: dict[Path, Path] = {}
"""Of the one task of this process: path as the task has it, path on this machine."""


def here(path: str | Path) -> Path:
    """Where this machine has what the task calls `path`, or what lies below one of its folders."""
    path = Path(path)
    for named, place in _HERE.items():
        if path == named or named in path.parents:
            return place / path.relative_to(named)
    return path


def all_places(paths: Iterable[Path]) -> tuple[Path, ...]:
    """`paths`, and where this machine has them, each once."""
    paths = tuple(paths)
    return tuple(dict.fromkeys((*paths, *map(here, paths))))


@contextlib.contextmanager
def located(places: Mapping[str, str]) -> Iterator[None]:
    """Have the task of this process find its files at `places`, by the paths that it has for them."""
    found = {Path(named): Path(place) for named, place in places.items()}
    _HERE.update(found)
    try:
        yield
    finally:
        for named in found:
            del _HERE[named]
