"""What a tool was made from, as a picture: each version in the column of the generation in which it came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from habilis.curation.manual.browsing import Ancestor
from habilis.curation.manual.history import births

BOX, TALL, BESIDE, BELOW, TOP = 210, 46, 50, 14, 24
"""Width and height of a version, room between columns and rows, room for the names of the columns."""
MAX_VERSIONS = 60


@dataclass
class Version:
    """One version of a tool as it is drawn, its place in units of the picture. `made_into` is the one made from it."""

    about: Ancestor
    depth: int
    generation: int
    made_into: Version | None
    x: int = 0
    y: int = 0


@dataclass(frozen=True)
class FamilyTree:
    """The whole picture. `columns` are the places of generations and their names."""

    versions: tuple[Version, ...]
    columns: tuple[tuple[int, str], ...]
    width: int
    height: int


def lineage(folder: Path, root: Ancestor) -> FamilyTree | None:
    """The picture of what `root` was made from; None for one that was made from nothing."""
    if not root.parents:
        return None
    every = list(_versions(root, 0, None))[:MAX_VERSIONS]
    born = births(folder, {version.about.tool for version in every})
    for version in every:  # what no generation tells of came before what was made from it
        version.generation = born.get(version.about.tool, 0)
    places = sorted({(version.generation, -version.depth) for version in every})
    for version in every:
        version.x = places.index((version.generation, -version.depth)) * (BOX + BESIDE)
    rows = _in_rows(every)
    columns = {number: place * (BOX + BESIDE) for place, (number, _) in reversed(list(enumerate(places)))}
    told = sorted((x, f"generation {number}" if number else "before") for number, x in columns.items() if born)
    height = TOP + rows * (TALL + BELOW)
    return FamilyTree(tuple(every), tuple(told), len(places) * (BOX + BESIDE) - BESIDE, height)


def _versions(one: Ancestor, depth: int, made_into: Version | None) -> Iterator[Version]:
    version = Version(one, depth, 0, made_into)
    yield version
    for parent in one.parents:
        yield from _versions(parent, depth + 1, version)


def _in_rows(every: list[Version]) -> int:
    """Give each version its row: one of its own to each that was made from nothing, the others beside the first of
    theirs. Returns how many rows there are."""
    made_from = {id(version.made_into) for version in every}
    rows = 0
    for version in every:
        version.y = TOP + rows * (TALL + BELOW)
        rows += id(version) not in made_from
    return rows
