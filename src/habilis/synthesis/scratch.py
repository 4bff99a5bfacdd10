"""Names of files in the scratch workspace of a replay.

Files lie there under the names that the recorded arguments use. Names that are absolute or climb out (`/data/a.csv`,
`../a.csv`) cannot exist there: files and arguments alike are moved to a name below the workspace (`root/data/a.csv`,
`up/a.csv`), and moved names in the output are turned back before it is compared. So a tool that is given a folder and
joins names to it still finds everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from habilis.contract.records import path_texts, with_text


def scratch_name(name: str) -> str:
    """The name below a scratch workspace for a file that was called `name`; itself for a plain relative one."""
    parts = ["root"] if name.startswith("/") else []
    for part in name.split("/"):
        if part == "..":
            parts.append("up")
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def moved_names(arguments: Any, files: Mapping[str, str]) -> dict[str, str]:
    """The texts in `arguments` that name a recorded file, or a folder above one, and must be moved for a replay."""
    moved = {}
    for text in path_texts(arguments):
        outside = (text.startswith("/") and text.strip("/")) or ".." in text.split("/")  # "/" alone is a separator
        below = text.rstrip("/") + "/"
        if outside and any(name == text or name.startswith(below) for name in files):
            moved[text] = scratch_name(text)
    return moved


def named_back(output: Any, moved: Mapping[str, str], workspace: Path) -> Any:
    """`output` with moved names turned back and the scratch workspace as `.`."""

    def back(text: str) -> str:
        for name, new in sorted(moved.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(f"{workspace}/{new}", name).replace(f"./{new}", name).replace(new, name)
        return text.replace(str(workspace), ".")

    return with_text(output, back)
