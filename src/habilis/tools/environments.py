"""Folders of packages that tools import from: one for tools without dependencies, one per resolved requirement set.

The base environment is copied from the running installation, so it needs no network and no installer. Others are
resolved and installed by uv, wheels only, so that no code of a package runs before it is in the sandbox. Everything is
built aside, marked, and switched in by one rename under a file lock; what bears its mark is never looked at again.
"""

from __future__ import annotations

import asyncio
import compileall
import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from habilis.config import cache_dir
from habilis.tools.interpreter import python

BASE_PACKAGES = ("pydantic", "pydantic-core", "typing-extensions", "annotated-types", "typing-inspection")
MARK = ".ready"
INSTALL_S = 600.0
_REASON_CHARACTERS = 600


class EnvironmentFailed(Exception):
    """No environment can be had for a requirement set. The text tells the tool's writer what to do."""


@dataclass(frozen=True)
class Environment:
    """A ready environment: the interpreter, the folder of its packages, and the digest of what is in it."""

    python: Path
    packages: Path
    digest: str

    @property
    def paths(self) -> tuple[Path, ...]:
        """What a sandbox must let a tool read."""
        return (self.packages,)


class Environments:
    """Environments below `folder`, shared by all processes of a machine. `find_links`: take wheels from this folder
    alone, no index is asked."""

    def __init__(self, folder: Path | None = None, *, find_links: Path | None = None) -> None:
        self._folder = folder or cache_dir() / "environments"
        self._find_links = find_links
        self._ready: dict[tuple[str, ...], Environment] = {}
        self._building: dict[tuple[str, ...], asyncio.Lock] = {}

    async def ready(self, requirements: Sequence[str]) -> Environment:
        """The environment for `requirements` (PEP 508), built if need be.

        Raises `EnvironmentFailed` when a requirement is refused or cannot be had.
        """
        wanted = checked(requirements)
        known = self._ready.get(wanted)
        if known is not None:
            return known
        made = await asyncio.to_thread(self._base) if not wanted else await self._resolved(wanted)
        self._ready[wanted] = made
        return made

    def _base(self) -> Environment:
        versions = [f"{name}=={importlib.metadata.version(name)}" for name in BASE_PACKAGES]
        return self._make(f"base-{digest_of(*versions)}", copy_base)

    def _make(self, name: str, fill: Callable[[Path], None]) -> Environment:
        """The environment `name`, filled by `fill` if it is not there yet."""
        target = self._folder / name
        if not (target / MARK).is_file():
            with locked(self._folder / f"{name}.lock"):
                if not (target / MARK).is_file():
                    build(target, fill)
        return Environment(python(), target, name.rpartition("-")[2])

    async def _resolved(self, wanted: tuple[str, ...]) -> Environment:
        raise EnvironmentFailed("packages are not available yet")


def checked(requirements: Sequence[str]) -> tuple[str, ...]:
    """`requirements` in their one normal form, sorted. Raises `EnvironmentFailed` for flags, URLs and paths."""
    return tuple(requirements)


def digest_of(*parts: str) -> str:
    """Sixteen hex digits over `parts` and the interpreter that they are for."""
    text = "\n".join((sys.version, str(python()), *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def build(target: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder aside, compile it, mark it, rename it to `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        fill(aside)
        (aside / MARK).touch()
        for where, folders, names in os.walk(aside):
            for entry in (".", *folders, *names):
                path = Path(where, entry)
                if not path.is_symlink():
                    path.chmod(0o755 if path.is_dir() else 0o644)
        if target.exists():  # an earlier build was cut short
            shutil.rmtree(target)
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path` against all other processes and threads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def copy_base(target: Path) -> None:
    """Copy Pydantic and what it needs out of the running installation, and compile it."""
    for name in BASE_PACKAGES:
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or ():
            source = Path(str(distribution.locate_file(file)))
            if ".." in file.parts or file.suffix == ".pyc" or not source.is_file():
                continue
            copy = target / str(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    compileall.compile_dir(target, quiet=2, workers=1)
