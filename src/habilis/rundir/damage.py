"""What is damaged in a folder of ours is kept before it is mended: below `damaged/`, under the name that it had."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from habilis.rundir.files import atomic_write, row_of
from habilis.rundir.kept import kept_at
from habilis.rundir.plain import lines_of

DAMAGED = "damaged"


def is_odd(path: Path) -> bool:
    """Whether something lies at `path` that is no plain file: a folder, a link, a pipe."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def set_aside(path: Path, root: Path) -> Path:
    """Move `path` into `root`/damaged; returns where it is now. Of a link the target is kept. Raises OSError."""
    target = _free(path, root)
    if (kept := kept_at(path)) is not None:
        kept.forget(path)
    if path.is_symlink():
        target = target.with_name(f"{target.name}.link")
        atomic_write(target, os.fsencode(path.readlink()) + b"\n")
        path.unlink()
    else:
        path.rename(target)
    return target


def keep_copy(path: Path, root: Path) -> Path:
    """Copy the plain file `path` into `root`/damaged; returns the copy. Raises OSError."""
    target = _free(path, root)
    shutil.copyfile(path, target, follow_symlinks=False)
    return target


def bad_lines(path: Path, fits: Callable[[dict[str, Any]], object]) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """The rows of a log, and why the others are none, by line number from 1. `fits` raises or is false for what no
    record of this log looks like. Raises OSError, `UserError` for a line without end."""
    rows, bad = [], {}
    for number, line in enumerate(lines_of(path), 1):
        if not line.strip():
            continue
        try:
            row = row_of(line)
            if not fits(row):
                raise ValueError("it is not a record of this file")
            rows.append(row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            bad[number] = "it is cut off" if not line.endswith(b"\n") else " ".join(str(error).split())[:120]
    return rows, bad


def drop_lines(path: Path, numbers: Collection[int], root: Path) -> None:
    """Write `path` without these lines, after a copy of it was kept. Raises OSError."""
    keep_copy(path, root)
    atomic_write(path, b"".join(line for number, line in enumerate(lines_of(path), 1) if number not in numbers))


def _free(path: Path, root: Path) -> Path:
    """A name below `root`/damaged that nothing has."""
    relative = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
    wanted = root / DAMAGED / relative
    wanted.parent.mkdir(parents=True, exist_ok=True)
    number, target = 1, wanted
    while os.path.lexists(target) or os.path.lexists(f"{target}.link"):
        number += 1
        target = wanted.with_name(f"{wanted.name}.{number}")
    return target
