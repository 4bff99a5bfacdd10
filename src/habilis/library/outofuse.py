"""What a library keeps and does not use: tools that were replaced, retired or quarantined, each with the reason."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from habilis.contract.records import RecordedCall, RecordStore
from habilis.library.tool import Manifest, Tool
from habilis.rundir.plain import read_plain
from habilis.rundir.seals import unsealed

log = logging.getLogger(__name__)

Place = Literal["archive", "retired", "quarantine"]
PLACES: tuple[Place, ...] = ("retired", "quarantine", "archive")
"""In the order in which a tool is looked for."""


@dataclass(frozen=True)
class SetAside:
    """A tool that is out of use. `place` is the folder of the library that it lies in."""

    place: Place
    tool: Tool

    @property
    def label(self) -> str:
        """`name@identity`."""
        return self.tool.label

    @property
    def reason(self) -> str:
        """Why it is out of use."""
        return self.tool.manifest.reason or ""

    def records(self) -> list[RecordedCall]:
        """The recorded calls that lie beside it."""
        return RecordStore(self.tool.path.parent).read(self.tool.path.stem)


def set_aside(folder: Path, name: str | None = None, places: Sequence[Place] = PLACES) -> list[SetAside]:
    """The tools that the library in `folder` keeps out of use, by place and name; those called `name` alone."""
    found = []
    for place in places:
        for stem in stems(folder, place):
            called, _, _ = stem.rpartition(".")
            if name is not None and called != name:
                continue
            path = folder / place / f"{stem}.py"
            try:
                manifest = Manifest.model_validate_json(unsealed(read_plain(path.with_suffix(".json"))))
            except (OSError, ValueError) as error:
                log.warning("%s is passed over: %s", path.with_suffix(".json"), str(error).splitlines()[0])
                continue
            found.append(SetAside(place, Tool(name=manifest.name, path=path, manifest=manifest)))
    return found


def next_nth(folder: Path, name: str, version: str) -> int:
    """Which version of this source it is that tool `name` gets, after those that the library in `folder` keeps."""
    nth = 1
    while any(
        (folder / place / f"{name}.{version if nth == 1 else f'{version}-{nth}'}.json").exists() for place in PLACES
    ):
        nth += 1
    return nth


def stems(folder: Path, place: Place) -> list[str]:
    """`name.version` of each tool in `place`, sorted."""
    return listed(folder / place, ".json")


def listed(folder: Path, suffix: str) -> list[str]:
    """Names of the files in `folder` that end in `suffix`, without it, sorted."""
    try:
        files = [entry.name for entry in os.scandir(folder)]
    except OSError:
        return []
    return sorted(name.removesuffix(suffix) for name in files if name.endswith(suffix) and not name.startswith("."))
