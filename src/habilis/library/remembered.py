"""What was read of a library's tools, kept beside them in one hidden file, so that the next process need not read them.

To read ten thousand sources and manifests takes seconds, to look whether they changed a tenth of one. Each row bears
the stamps of the tool's two files and counts only while they are what they were. The file can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from habilis.core.types import FORMAT
from habilis.library.tool import Manifest, Tool
from habilis.rundir import atomic_write
from habilis.rundir.plain import own_folder, read_plain

FILE = ".index/tools.json"
SETTLED_NS = 2_000_000_000
"""A file that changed so lately may change again within the same tick of its disk's clock: it is not kept."""
Stamp = tuple[int, ...]
"""Of each of a tool's files: number, times of change of its content and of itself (ns), size, mode. The second time
is the kernel's own, so that nobody can hand out a library with rows that fit other files."""


class Remembered:
    """The rows of the library in `folder`; none where there is no file, or none that can be understood."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows = _rows(folder / FILE)

    def tool(self, file: str, stamp: Stamp) -> Tool | None:
        """The tool that `file` and its manifest hold if they are still what they were; None when they must be read."""
        row = self._rows.get(file)
        if not isinstance(row, list) or len(row) != 2 or row[0] != list(stamp):
            return None
        try:
            manifest = Manifest.model_validate(row[1])
        except (ValidationError, RecursionError):
            return None
        return Tool.model_construct(
            name=file.removesuffix(".py"), path=self._folder / file, manifest=manifest, layer="private", alias=None
        )

    def save(self, tools: Iterable[tuple[str, Stamp, Tool]], now: int | None = None) -> None:
        """Keep these from `now` (nanoseconds since the epoch) on. Where that cannot be written, all is read again."""
        now = time.time_ns() if now is None else now
        rows = {
            file: (stamp, tool.manifest.model_dump(mode="json", exclude_defaults=True))
            for file, stamp, tool in tools
            if settled(stamp, now)
        }
        with contextlib.suppress(OSError):
            own_folder((self._folder / FILE).parent)
            text = to_json({"format": FORMAT, "tools": rows}).decode("utf-8")
            atomic_write(self._folder / FILE, text, durable=False)


def settled(stamp: Stamp, now: int) -> bool:
    """Whether both files have not changed lately (`now`: nanoseconds since the epoch)."""
    return all(moment < now - SETTLED_NS for moment in (*stamp[1::5], *stamp[2::5]))


def _rows(path: Path) -> Mapping[str, Any]:
    try:
        data = from_json(read_plain(path))
    except (OSError, ValueError):
        return {}
    rows = data.get("tools") if isinstance(data, dict) and data.get("format") == FORMAT else None
    return rows if isinstance(rows, dict) else {}
