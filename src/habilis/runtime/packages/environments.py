"""Folders of packages that tools import from: one for tools without dependencies, one per resolved requirement set.

The base environment is copied from the running installation, so it needs no network and no installer. Others are
resolved and installed by uv, wheels only, so that no code of a package runs before it is in the sandbox; they stand in
front of the base on a tool's path, and hold Pydantic to the base's version. A requirement set is resolved once: the
lock with versions and hashes is kept, and sets with the same lock share one environment, which holds a copy of it.
"""

from __future__ import annotations

import asyncio
import compileall
import hashlib
import importlib.metadata
import shutil
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from habilis.config import ToolsSettings, cache_dir
from habilis.core.errors import PlaceError
from habilis.core.place import place_error
from habilis.runtime.packages.cache import MARK, EnvironmentCache, beside, is_whole, locked, remove
from habilis.runtime.packages.installer import Installer
from habilis.runtime.packages.policy import EnvironmentFailed as EnvironmentFailed
from habilis.runtime.packages.policy import PackagePolicy, checked
from habilis.sandbox.processes.interpreter import python

BASE_PACKAGES = ("pydantic", "pydantic-core", "typing-extensions", "annotated-types", "typing-inspection")
HELD_PACKAGES = ("pydantic", "pydantic-core")
LOCK, LOCK_COPY, LEADS_TO = "lock.txt", ".lock.txt", "environment"
_BASE_FORM = "2"
"""Bases before it did not list what they hold."""
_LOCK_FORM = "2"
"""Locks before it had no hashes."""


@dataclass(frozen=True)
class Environment:
    """A ready environment: the interpreter, the folders that tools import from, in order, and a digest of both."""

    python: Path
    paths: tuple[Path, ...]
    digest: str


class Environments:
    """Environments below `folder`, shared by all processes of a machine.

    `find_links`: take wheels from this folder alone; no index is asked. `packages` says which a tool may name. What
    this object has handed out is not pruned while it lives, or until it is closed.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        find_links: Path | None = None,
        packages: PackagePolicy | None = None,
    ) -> None:
        self._cache = EnvironmentCache(folder or environments_folder())
        self._find_links = find_links
        self._packages = packages or PackagePolicy()
        self._ready: dict[tuple[str, ...], Environment] = {}

    @classmethod
    def of(cls, settings: ToolsSettings, folder: Path | None = None) -> Environments:
        """The environments that `settings` allow."""
        wheelhouse = Path(settings.wheelhouse).expanduser().absolute() if settings.wheelhouse else None
        policy = PackagePolicy(settings.packages)
        return cls(folder, find_links=wheelhouse, packages=policy)

    async def ready(self, requirements: Sequence[str]) -> Environment:
        """The environment for `requirements` (PEP 508), built if need be; notes that it was used just now.

        Raises `EnvironmentFailed` when a requirement is refused or cannot be had, and `PlaceError` when the folder of
        environments cannot be used. Cancellation stops the installer.
        """
        wanted = checked(requirements)
        wanted = () if in_base(wanted) else wanted
        self._packages.check(wanted)
        known = self._ready.get(wanted)
        if known is None or not all(self._cache.use(path.name) for path in known.paths):
            known = self._ready[wanted] = await self._made(wanted)
        return known

    def close(self) -> None:
        """Let what was handed out be pruned."""
        self._cache.let_all_go()

    def refusal(self, requirements: Sequence[str]) -> str | None:
        """Why `ready` would refuse `requirements` by settings alone; None when it would try."""
        try:
            wanted = checked(requirements)
            self._packages.check(() if in_base(wanted) else wanted)
        except EnvironmentFailed as error:
            return str(error)
        return None

    def lock(self, requirements: Sequence[str]) -> str | None:
        """What `requirements` were resolved to: exact versions with hashes. None where they never were; asks nobody."""
        wanted = checked(requirements)
        if in_base(wanted):
            return ""
        stop = threading.Event()
        building = _Building(self._cache, Installer(self._find_links, stop), wanted, stop, str(self._find_links or ""))
        return building.lock()

    async def _made(self, wanted: tuple[str, ...]) -> Environment:
        stop = threading.Event()
        work = asyncio.create_task(asyncio.to_thread(self._make, wanted, stop))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([work])
            raise
        except OSError as error:
            told = f"{self._cache.folder} cannot be used: {error.strerror or error}"
            raise (place_error(error, ours=True) or PlaceError(told)) from error

    async def mended(self, requirements: Sequence[str]) -> bool:
        """Look at the environment for `requirements` again; whether something of it was damaged, and made anew.

        Raises as `ready`.
        """
        before = self._cache.built
        for path in (await self.ready(requirements)).paths:
            await asyncio.to_thread(is_whole, path, again=True)
        self._ready.clear()
        await self.ready(requirements)
        return self._cache.built > before

    def _make(self, wanted: tuple[str, ...], stop: threading.Event) -> Environment:
        base = self._cache.ensure(base_name(), copy_base, stop)
        if not wanted:
            return Environment(python(), (base,), base.name)
        building = _Building(self._cache, Installer(self._find_links, stop), wanted, stop, str(self._find_links or ""))
        packages = building.packages()
        return Environment(python(), (packages, base), packages.name)


class _Building:
    """From a requirement set to its environment: lock, then packages."""

    def __init__(
        self, cache: EnvironmentCache, installer: Installer, wanted: tuple[str, ...], stop: threading.Event, source: str
    ) -> None:
        self._cache, self._installer, self._wanted, self._stop = cache, installer, wanted, stop
        self._held = [v for v in base_versions() if v.partition("==")[0] in HELD_PACKAGES]
        self._lock = f"lock-{digest_of(_LOCK_FORM, source, *self._held, *wanted)}"

    def packages(self) -> Path:
        """The folder of packages. A lock that can no longer be installed is made anew, once."""
        old = self._locked_before()
        try:
            return self._installed()
        except EnvironmentFailed:
            if not old or self._stop.is_set():
                raise
            target = self._cache.folder / self._lock
            with locked(beside(target, "lock"), self._stop):
                if target.exists():
                    remove(target)
            return self._installed()

    def lock(self) -> str | None:
        """The text of the lock, where there is one."""
        path = self._cache.folder / self._lock / LOCK
        return path.read_text(encoding="utf-8") if self._locked_before() else None

    def _locked_before(self) -> bool:
        return (self._cache.folder / self._lock / MARK).is_file()

    def _installed(self) -> Path:
        lock = self._cache.ensure(self._lock, self._resolve, self._stop)
        try:
            name = (lock / LEADS_TO).read_text(encoding="utf-8")
            return self._cache.ensure(name, lambda aside: self._install(lock / LOCK, aside), self._stop)
        finally:
            self._cache.let_go(lock.name)

    def _resolve(self, aside: Path) -> None:
        self._installer.resolve(self._wanted, self._held, aside / LOCK)
        pins = (aside / LOCK).read_text(encoding="utf-8")
        (aside / LEADS_TO).write_text(f"set-{digest_of(pins)}", encoding="utf-8")

    def _install(self, lock: Path, aside: Path) -> None:
        self._installer.install(self._wanted, lock, aside)
        shutil.copyfile(lock, aside / LOCK_COPY)


def environments_folder() -> Path:
    """Where environments are kept."""
    return cache_dir() / "environments"


@lru_cache(maxsize=1)
def base_versions() -> tuple[str, ...]:
    """The packages of the base environment, with the versions of the running installation."""
    return tuple(f"{name}=={importlib.metadata.version(name)}" for name in BASE_PACKAGES)


def in_base(wanted: Sequence[str]) -> bool:
    """Whether the base environment alone meets the requirements `wanted`."""
    if not wanted:
        return True
    from packaging.requirements import Requirement

    versions = dict(version.split("==") for version in base_versions())
    asked = [Requirement(text) for text in wanted]
    return all(r.name in versions and not r.extras and r.specifier.contains(versions[r.name]) for r in asked)


def base_name() -> str:
    """The name of the base environment of this installation."""
    return f"base-{digest_of(_BASE_FORM, *base_versions())}"


def digest_of(*parts: str) -> str:
    """Sixteen hex digits over `parts` and the interpreter that they are for."""
    text = "\n".join((sys.version, str(python()), *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
