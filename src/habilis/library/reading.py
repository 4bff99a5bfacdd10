"""Reads the tools of a folder: starts no process, removes nothing, and reads nothing twice that did not change."""

from __future__ import annotations

import contextlib
import gc
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from habilis.contract.contract import MAX_SOURCE_BYTES, ContractError, read_contract
from habilis.contract.names import is_plain
from habilis.library.remembered import Remembered, Stamp
from habilis.library.tool import Manifest, Tool, digest_of
from habilis.rundir.plain import open_plain
from habilis.rundir.seals import unsealed

INDEX, KEPT_FROM = ".index", 200
"""Folder of what is kept to be quick, and how many tools it takes for keeping to pay."""
UNDESCRIBED = "its schemas are not known yet; it is described when it is next used"


@dataclass(frozen=True)
class Broken:
    """A file that is not read as a tool, and why. It stays where it is."""

    file: str
    reason: str


class Reader:
    """The tools in `folder`, as they lie there at each question; as they first did where nobody changes it."""

    def __init__(self, folder: Path, *, unchanging: bool = False) -> None:
        self._folder, self._root, self._unchanging = folder, str(folder), unchanging
        self._seen: dict[str, tuple[Stamp, Tool | Broken]] = {}
        self._remembered: Remembered | None = None
        self._read_anew = 0
        self._other_names: dict[str, str] | None = None
        self._all: list[Tool | Broken] | None = None

    def entries(self) -> list[Tool | Broken]:
        """All files, by name."""
        if self._all is not None:
            return self._all
        try:
            found = [entry.name for entry in os.scandir(self._root)]
        except OSError:
            return []
        files = sorted(name for name in found if name.endswith(".py") and not name.startswith("."))
        many = len(files) > KEPT_FROM
        if many and self._remembered is None:
            self._remembered = Remembered(self._folder)
        with without_collecting() if many else contextlib.nullcontext():
            entries = [self.entry(file) for file in files]
        if len(self._seen) > len(files):
            self._seen = {file: self._seen[file] for file in files if file in self._seen}
            self._other_names = None
        if self._remembered is not None and self._read_anew > max(KEPT_FROM, len(files) // 10):
            self._keep(self._remembered)
        there = [entry for entry in entries if entry is not None]
        self._all = there if self._unchanging else None
        return there

    def entry(self, file: str) -> Tool | Broken | None:
        """What `file` holds; None when there is no such file."""
        known = self._seen.get(file)
        if known and self._unchanging:
            return known[1]
        stamp = self.stamp(file)
        if stamp is None:
            return None
        if known and known[0] == stamp:
            return known[1]
        entry: Tool | Broken | None = self._remembered.tool(file, stamp) if self._remembered is not None else None
        if entry is None:
            entry = self._read(file, stamp)
            self._read_anew += 1
        self.know(file, stamp, entry)
        return entry

    def know(self, file: str, stamp: Stamp, entry: Tool | Broken) -> None:
        """Take `entry` for what `file` holds, as long as its stamp stays."""
        self._seen[file] = (stamp, entry)
        self._other_names = self._all = None

    def forget(self, file: str) -> None:
        """Read `file` anew when it is next asked for."""
        self._seen.pop(file, None)
        self._other_names = self._all = None

    def by_other_name(self, name: str) -> Tool | None:
        """The tool that models call `name` since its file's name is odd, or that replaced the one of this name."""
        tools = {tool.name: tool for tool in self.entries() if isinstance(tool, Tool)}
        if self._other_names is None:
            old = {alias: tool.name for tool in reversed(tools.values()) for alias in tool.manifest.aliases}
            odd = {tool.spec_name: tool.name for tool in reversed(tools.values()) if tool.spec_name != tool.name}
            self._other_names = {**old, **odd}
        tool = tools.get(self._other_names.get(name, ""))
        if tool is None:
            return None
        return tool if tool.spec_name == name else tool.known_as(name)

    def stamp(self, file: str) -> Stamp | None:
        """What tells whether a tool's two files changed since they were read; None without a source.

        Plain strings instead of `Path`, here and in `_read`: with a thousand tools that is a third of the time.
        """
        stamp: Stamp = ()
        for name in (f"{self._root}/{file}", f"{self._root}/{file[:-3]}.json"):
            try:
                found = os.lstat(name)
            except (OSError, ValueError):
                if not stamp:
                    return None
                continue
            stamp += (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode)
        return stamp

    def _read(self, file: str, stamp: Stamp) -> Tool | Broken:
        name, size, modes = file.removesuffix(".py"), stamp[3], stamp[4::5]
        if not is_plain(name):
            return Broken(file, "its name cannot be a tool's")
        if not all(stat.S_ISREG(mode) for mode in modes):  # opening a pipe would wait for ever
            return Broken(file, "it or its manifest is not a plain file")
        if size > MAX_SOURCE_BYTES:
            return Broken(file, "it is longer than 1 MiB")
        try:
            source = _whole(f"{self._root}/{file}")
            manifest = self._manifest(name, digest_of(source))
        except OSError as error:
            return Broken(file, f"it cannot be read: {error.strerror}")
        except (ValueError, RecursionError) as error:
            return Broken(file, f"its manifest is broken: {first_line(error)}")
        if manifest is not None:
            path = self._folder / file
            return Tool.model_construct(name=name, path=path, manifest=manifest, layer="private", alias=None)
        try:
            read_contract(source.decode("utf-8"))
        except (ContractError, UnicodeDecodeError) as error:
            return Broken(file, first_line(error))
        return Broken(file, UNDESCRIBED)

    def _manifest(self, name: str, digest: str) -> Manifest | None:
        """The manifest that describes the source with this digest; it may be the one before a change cut short."""
        try:
            raw = _whole(f"{self._root}/{name}.json")
        except FileNotFoundError:
            return None
        manifest = Manifest.model_validate_json(unsealed(raw))
        if manifest.digest == digest:
            return manifest
        before = manifest.before
        return before if before is not None and before.digest == digest else None

    def _keep(self, remembered: Remembered) -> None:
        self._read_anew = 0
        tools = ((file, stamp, entry) for file, (stamp, entry) in self._seen.items() if isinstance(entry, Tool))
        remembered.save(tools)


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """No search for garbage meanwhile: among ten thousand tools that live on it would find none, and take as long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _whole(path: str) -> bytes:
    """What a plain file holds. Raises OSError."""
    descriptor = open_plain(Path(path), os.O_RDONLY)
    try:
        data = more = os.read(descriptor, 1 << 16)
        while more:
            data += (more := os.read(descriptor, 1 << 20))
        return data
    finally:
        os.close(descriptor)


def first_line(error: Exception) -> str:
    """What an error says, on one line."""
    if isinstance(error, ValidationError):
        first: Any = error.errors(include_url=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error).splitlines()[0] if str(error) else type(error).__name__
