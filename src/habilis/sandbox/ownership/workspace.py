"""What a call leaves in its workspace, and how the workspace is named to models: `.`."""

from __future__ import annotations

import math
import os
import re
import stat
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from habilis.sandbox.processes.walking import too_deep

_ADDRESS = re.compile(r"(<[^<>\n]{1,200} at 0x)[0-9a-fA-F]+>")

Snapshot = dict[str, tuple[int, int, int, int]]
"""Files by their path in the workspace: device-independent marks that change when the file does."""
State = tuple[int, int, int]
FILE, FOLDER = 0o600, 0o700
"""Permissions that the owner of a file, and of a folder, needs."""
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_CONTROLS = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]")


def changed(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Files of `after` that are new or not as they were, sorted."""
    found = (name for name, marks in after.items() if before.get(name) != marks)
    return tuple(sorted(shown(os.fsencode(name).decode("utf-8", "backslashreplace")) for name in found))


def shown(name: str) -> str:
    """A file's name on one line: one with a line feed in it would look like two files, or forge a line of a report."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), name)


@dataclass(frozen=True)
class Survey:
    """A workspace as it was at the moment `taken` (ns since the epoch). Names are paths in it, "" is itself.

    `states` holds inode, mode and time of last change (ns) of files and folders, `owners` the uids that own any.
    `odd` names what calls for a closer look: modes that the umask would not give, set-user-id bits, what its owner
    cannot read, what is neither file, folder nor link, and folders too deep to be entered.
    """

    workspace: Path
    taken: int
    files: Snapshot
    links: dict[str, str]
    states: dict[str, State]
    odd: dict[str, State]
    owners: frozenset[int] = frozenset()

    @classmethod
    def of(cls, workspace: Path) -> Survey:
        """The workspace as it is now; one that does not exist is empty.

        Folders are opened without following links, each from the one around it: a call that works here meanwhile may
        exchange names, and must not have us list a folder elsewhere.
        """
        found = cls(workspace, time.time_ns(), {}, {}, {}, {})
        owners: set[int] = set()
        with suppress(OSError):
            about = workspace.stat()
            found._note("", about, FOLDER)
            handle = os.open(workspace, FOLDER_FLAGS)
            try:
                found._look(handle, "", owners)
            finally:
                os.close(handle)
        return replace(found, owners=frozenset(owners))

    def _look(self, folder: int, inside: str, owners: set[int]) -> None:
        deep = too_deep(f"//{inside[:-1]}", Path("/"))
        with os.scandir(folder) as entries:
            for entry in entries:
                name = inside + entry.name
                with suppress(OSError):
                    about = entry.stat(follow_symlinks=False)
                    mode = about.st_mode
                    if stat.S_ISLNK(mode):
                        self.links[name] = os.readlink(entry.name, dir_fd=folder)
                        continue
                    owners.add(about.st_uid)
                    if stat.S_ISREG(mode):
                        self.files[name] = (about.st_ino, about.st_size, about.st_mtime_ns, mode)
                        self._note(name, about, FILE)
                    elif stat.S_ISDIR(mode) and not deep:
                        self._note(name, about, FOLDER)
                        self._enter(folder, entry.name, name, owners)
                    else:
                        self.odd[name] = (about.st_ino, mode, about.st_ctime_ns)

    def _enter(self, folder: int, entry: str, name: str, owners: set[int]) -> None:
        handle = os.open(entry, FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
        try:
            self._look(handle, name + "/", owners)
        finally:
            os.close(handle)

    def _note(self, name: str, about: os.stat_result, needed: int) -> None:
        state = self.states[name] = (about.st_ino, about.st_mode, about.st_ctime_ns)
        if sane(about.st_mode, needed) != stat.S_IMODE(about.st_mode):
            self.odd[name] = state


def sane(mode: int, needed: int) -> int:
    """The permissions that a file or folder of `mode` may keep: what its owner needs, and what the umask allows."""
    return (stat.S_IMODE(mode) | needed) & allowed_modes()


@cache
def allowed_modes() -> int:
    """All permissions but those that this process's umask takes from others."""
    mask = 0o022
    with suppress(OSError, ValueError, IndexError):
        mask = int(Path("/proc/self/status").read_text().split("Umask:")[1].split()[0], 8)
    return 0o777 & ~mask | 0o700


class Scrubber:
    """Rewrites texts so that equal runs give equal texts: the workspace is `.`, addresses of objects are blank."""

    def __init__(self, workspace: Path) -> None:
        self._names = (str(workspace), str(workspace.resolve()))

    def text(self, text: str) -> str:
        """`text` with the workspace's path as `.`."""
        if any(name in text for name in self._names):
            text = _named(*self._names).sub(".", text)
        return _ADDRESS.sub(r"\g<1>…>", text)

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


@lru_cache(maxsize=64)
def _named(*names: str) -> re.Pattern[str]:
    """Where one of `names` stands for the folder itself. A task asks for its own again and again."""
    longest_first = sorted(set(names), key=len, reverse=True)
    return re.compile("(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-]|\.\w)")
