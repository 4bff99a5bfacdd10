"""The code that a task wrote: versions that it keeps, and attempts as a model's replies on the tape."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from habilis.rundir import TaskDir
from habilis.rundir.plain import read_plain
from habilis.view.records import part, rows

MAX_SOURCE_BYTES = 1 << 20
_PLAIN = re.compile(r"[\w-]{1,120}")
_FENCED = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)


def source_of(task: TaskDir, tool: str, version: str) -> str:
    """The source of this version among the task's own tools, empty when it is not kept there."""
    if not (_PLAIN.fullmatch(tool) and _PLAIN.fullmatch(version)) or task.tools.is_symlink():
        return ""
    archive = task.tools / "archive"
    places = [task.tools / f"{tool}.py", *([] if archive.is_symlink() else [archive / f"{tool}.{version}.py"])]
    return next((text for path in places if (text := _of_version(path, version))), "")


def _of_version(path: Path, version: str) -> str:
    try:
        source = read_plain(path, MAX_SOURCE_BYTES)
    except OSError:
        return ""
    return source.decode("utf-8", "replace") if hashlib.sha256(source).hexdigest().startswith(version) else ""


def replies_of(task: TaskDir, call_ids: Collection[str]) -> dict[str, str]:
    """What models replied to these calls, by id, without the fence around code."""
    found = {}
    for row in rows(task.tape):
        call_id = f"{row.get('key')}-{row.get('n')}"
        if row.get("kind") == "reply" and call_id in call_ids:
            content = part(row, "reply").get("content")
            if isinstance(content, str):
                fenced = _FENCED.search(content)
                found[call_id] = (fenced[1] if fenced else content)[:MAX_SOURCE_BYTES]
    return found
