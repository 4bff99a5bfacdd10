"""Where a tool comes from: its parents, theirs, and so on, as far as the library still holds them."""

from __future__ import annotations

from pathlib import Path

from habilis.core.types import Frozen
from habilis.library import Tool
from habilis.library.outofuse import set_aside

MAX_DEPTH = 20


class Ancestor(Frozen):
    """A version of a tool and what it was made from. `place` is where it lies now, empty when the library does not
    hold it (a task's first attempt, say); `reason` is why it is out of use."""

    tool: str
    how: str = ""
    task: str = ""
    model: str = ""
    place: str = ""
    reason: str = ""
    parents: tuple[Ancestor, ...] = ()


def ancestry(library: Path, tool: Tool, place: str) -> Ancestor:
    """The tree of what `tool` was made from."""
    return _of(library, tool, place, tool.manifest.reason or "", {f"{tool.manifest.name}@{tool.version}"})


def _of(library: Path, tool: Tool, place: str, reason: str, seen: set[str]) -> Ancestor:
    origin = tool.manifest.origin
    parents = []
    for label in origin.parents:
        if label in seen or len(seen) > MAX_DEPTH:
            continue
        name, _, version = label.rpartition("@")
        found = next((one for one in set_aside(library, name) if one.tool.version == version), None)
        if found is None:
            parents.append(Ancestor(tool=label))
        else:
            parents.append(_of(library, found.tool, found.place, found.reason, {*seen, label}))
    label = f"{tool.manifest.name}@{tool.version}"
    return Ancestor(
        tool=label,
        how=origin.how,
        task=origin.task,
        model=origin.model,
        place=place,
        reason=reason,
        parents=tuple(parents),
    )
