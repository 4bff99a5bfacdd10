"""What a call leaves in its workspace, and how the workspace is named to models: `.`."""

from __future__ import annotations

import math
import os
import re
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.tools.sandbox.walking import fwalk, remove, too_deep

_ADDRESS = re.compile(r"(<[^<>\n]{1,200} at 0x)[0-9a-fA-F]+>")

Snapshot = dict[str, tuple[int, int, int, int]]
"""Files by their path in the workspace: device-independent marks that change when the file does."""


def changed(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Files of `after` that are new or not as they were, sorted."""
    found = (name for name, marks in after.items() if before.get(name) != marks)
    return tuple(sorted(os.fsencode(name).decode("utf-8", "backslashreplace") for name in found))


def tidy(workspace: Path, known_links: dict[str, str]) -> None:
    """Take away what a call left to trip up whoever works here next, outside the sandbox.

    New links that lead out of the workspace, pipes, sockets and devices go, and so do folders nested deeper than
    anyone looks; set-user-id bits are cleared. Works by open folders: a call that begins meanwhile may exchange names.
    """
    root = workspace.resolve()
    for where, folders, names, here in fwalk(workspace):
        for name in (*folders, *names):
            path = Path(where, name)
            inside = os.path.relpath(path, workspace)
            with suppress(OSError):
                mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
                if stat.S_ISLNK(mode):
                    if known_links.get(inside) != os.readlink(name, dir_fd=here) and not leads_into(path, root):
                        os.unlink(name, dir_fd=here)
                elif stat.S_ISDIR(mode):
                    if too_deep(where, workspace):
                        remove(name, within=here)
                elif not stat.S_ISREG(mode):
                    os.unlink(name, dir_fd=here)
                elif mode & (stat.S_ISUID | stat.S_ISGID):
                    clear_mode(name, here, stat.S_IMODE(mode) & 0o777)


def clear_mode(name: str, folder: int, mode: int) -> None:
    """Set the mode of `name` in an open folder, never that of a file that a link of this name leads to."""
    handle = os.open(name, getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if sys.platform == "linux":
            os.chmod(f"/proc/self/fd/{handle}", mode)  # noqa: PTH101
        else:
            os.fchmod(handle, mode)
    finally:
        os.close(handle)


def leads_into(link: Path, root: Path) -> bool:
    """Whether `link`, followed to its end, stays below `root`."""
    try:
        return link.resolve().is_relative_to(root)
    except (OSError, RuntimeError):
        return False


@dataclass(frozen=True)
class Survey:
    """A workspace as it was at one moment. `owners` are the uids that own something in it; `odd` says that something
    is in it that `tidy` is for, besides links."""

    workspace: Path
    files: Snapshot
    links: dict[str, str]
    owners: frozenset[int] = frozenset()
    odd: bool = False

    @classmethod
    def of(cls, workspace: Path) -> Survey:
        """The workspace as it is now; one that does not exist is empty. Links are listed, not followed."""
        files: Snapshot = {}
        links: dict[str, str] = {}
        owners: set[int] = set()
        odd = False
        pending = [(str(workspace), "")]
        while pending:
            where, inside = pending.pop()
            deep = too_deep(where, workspace)
            for entry in entries_of(where):
                name = inside + entry.name
                with suppress(OSError):
                    about = entry.stat(follow_symlinks=False)
                    mode = about.st_mode
                    if stat.S_ISLNK(mode):
                        links[name] = os.readlink(entry.path)  # noqa: PTH115 - hot loop
                        continue
                    owners.add(about.st_uid)
                    if stat.S_ISREG(mode):
                        files[name] = (about.st_ino, about.st_size, about.st_mtime_ns, mode)
                        odd = odd or bool(mode & (stat.S_ISUID | stat.S_ISGID))
                    elif stat.S_ISDIR(mode) and not deep:
                        pending.append((entry.path, name + "/"))
                    else:
                        odd = True
        return cls(workspace, files, links, frozenset(owners), odd)

    def made_since(self, tidy_after: Survey | None) -> tuple[str, ...]:
        """The files that are new or changed since; before that, what came after `tidy_after` is tidied away."""
        now = Survey.of(self.workspace)
        if tidy_after is not None and (now.odd or now.links != tidy_after.links):
            tidy(self.workspace, tidy_after.links)
            now = Survey.of(self.workspace)
        return changed(self.files, now.files)


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    """What lies in `folder`; nothing when it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


class Scrubber:
    """Rewrites texts so that equal runs give equal texts: the workspace is `.`, addresses of objects are blank."""

    def __init__(self, workspace: Path) -> None:
        names = sorted({str(workspace), str(workspace.resolve())}, key=len, reverse=True)
        self._workspace = re.compile("(?:" + "|".join(map(re.escape, names)) + r")(?![\w-]|\.\w)")

    def text(self, text: str) -> str:
        """`text` with the workspace's path as `.`."""
        return _ADDRESS.sub(r"\g<1>…>", self._workspace.sub(".", text))

    def value(self, value: Any) -> Any:
        """A JSON value with all its strings scrubbed; a number too large for a float, read as infinity, is null.

        Lists and objects are changed in place: a copy of all of them would take as much memory again.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            for place, item in enumerate(value):
                value[place] = self.value(item)
        if isinstance(value, dict):
            if any(self.text(key) != key for key in value):
                return {self.text(key): self.value(item) for key, item in value.items()}
            for key, item in value.items():
                value[key] = self.value(item)
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value
