"""The same pages as files: every page that a link leads to, beginning with the first."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from urllib.parse import unquote

from habilis.core.errors import UserError
from habilis.rundir import atomic_write
from habilis.rundir.parts import make_folder
from habilis.view.runs import Runs
from habilis.view.site import NoSuchPage, Site


def export(runs: Runs, library: Path, folder: Path) -> int:
    """Write all pages into `folder`, which is made, or empty. Returns how many there are.

    Raises `UserError`, OSError.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UserError(f"{folder} is not an empty folder; choose another for --static")
    make_folder(folder)
    queue, known = deque([""]), {""}

    def linked(path: str) -> None:
        if path not in known:
            known.add(path)
            queue.append(path)

    site = Site(runs, library, static=True, linked=linked)
    written = 0
    while queue:
        path = queue.popleft()
        target = _file(folder, path)
        try:
            body = site.page(path).body
        except NoSuchPage:
            continue
        except (UserError, OSError) as error:
            body = f"This cannot be read: {error}\n".encode("utf-8", "replace")
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(target, body, durable=False)
        written += 1
    return written


def _file(folder: Path, path: str) -> Path:
    """Where the page at `path` is written. Raises `UserError` for a name that would lead elsewhere."""
    parts = [unquote(part) for part in path.split("/")]
    if parts[-1] == "":
        parts[-1] = "index.html"
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
        raise UserError(f"a page cannot be called {path}")
    return folder.joinpath(*parts)
