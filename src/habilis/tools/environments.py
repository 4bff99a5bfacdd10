"""Folders of packages that tools import from: one for tools without dependencies, one per resolved requirement set.

The base environment is copied from the running installation, so it needs no network and no installer. Others are
resolved and installed by uv, wheels only, so that no code of a package runs before it is in the sandbox; they stand in
front of the base on a tool's path, and hold Pydantic to the base's version. Everything is built aside, marked, and
switched in by one rename under a file lock; what bears its mark is never looked at again.
"""

from __future__ import annotations

import asyncio
import compileall
import fcntl
import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from habilis.config import cache_dir, environment
from habilis.tools.interpreter import python

BASE_PACKAGES = ("pydantic", "pydantic-core", "typing-extensions", "annotated-types", "typing-inspection")
HELD_PACKAGES = ("pydantic", "pydantic-core")
MARK = ".ready"
INSTALL_S = 600.0
_POLL_S = 0.05
_REASON_CHARACTERS = 500


class EnvironmentFailed(Exception):
    """No environment can be had for a requirement set. The text tells the tool's writer what to do."""


@dataclass(frozen=True)
class Environment:
    """A ready environment: the interpreter, the folders that tools import from, in order, and a digest of both."""

    python: Path
    paths: tuple[Path, ...]
    digest: str


class Environments:
    """Environments below `folder`, shared by all processes of a machine.

    `find_links`: take wheels from this folder alone; no index is asked.
    """

    def __init__(self, folder: Path | None = None, *, find_links: Path | None = None) -> None:
        self._folder = folder or cache_dir() / "environments"
        self._find_links = find_links
        self._ready: dict[tuple[str, ...], Environment] = {}

    async def ready(self, requirements: Sequence[str]) -> Environment:
        """The environment for `requirements` (PEP 508), built if need be.

        Raises `EnvironmentFailed` when a requirement is refused or cannot be had. Cancellation stops the installer.
        """
        wanted = checked(requirements)
        if wanted not in self._ready:
            self._ready[wanted] = await self._made(wanted)
        return self._ready[wanted]

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
            raise EnvironmentFailed(f"the environment cannot be written: {error.strerror or error}") from error

    def _make(self, wanted: tuple[str, ...], stop: threading.Event) -> Environment:
        versions = [f"{name}=={importlib.metadata.version(name)}" for name in BASE_PACKAGES]
        base = self._folder / f"base-{digest_of(*versions)}"
        ensure(base, copy_base, stop)
        if not wanted:
            return Environment(python(), (base,), base.name)
        installer = Installer(self._find_links, stop)
        held = [version for version in versions if version.partition("==")[0] in HELD_PACKAGES]
        source = str(self._find_links or "")
        lock = self._folder / f"lock-{digest_of(source, *held, *wanted)}"
        ensure(lock, lambda aside: installer.resolve(wanted, held, aside / "lock.txt"), stop)
        pins = (lock / "lock.txt").read_text(encoding="utf-8")
        packages = self._folder / f"set-{digest_of(pins)}"
        ensure(packages, lambda aside: installer.install(lock / "lock.txt", aside), stop)
        return Environment(python(), (packages, base), packages.name)


class Installer:
    """uv, wheels only, called so that no setting of a tool can change what it does."""

    def __init__(self, find_links: Path | None, stop: threading.Event) -> None:
        self._find_links, self._stop = find_links, stop

    def resolve(self, wanted: Sequence[str], held: Sequence[str], target: Path) -> None:
        """Write the exact versions for `wanted` to `target`, `held` versions kept. Raises `EnvironmentFailed`."""
        needs, limits = target.with_suffix(".in"), target.with_suffix(".held")
        needs.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        limits.write_text("\n".join(held) + "\n", encoding="utf-8")
        options = ["--quiet", "--no-header", "--no-annotate", "--constraint", str(limits), "--output-file", str(target)]
        self._run("compile", *options, str(needs))

    def install(self, lock: Path, target: Path) -> None:
        """Install what `lock` names into the folder `target`, byte-compiled. Raises `EnvironmentFailed`."""
        options = ["--quiet", "--no-deps", "--compile-bytecode", "--target", str(target)]
        self._run("install", *options, "--requirements", str(lock))

    def _run(self, verb: str, *arguments: str) -> None:
        sources = ["--no-index", "--find-links", str(self._find_links)] if self._find_links else []
        command = [uv_program(), "pip", verb, "--only-binary", ":all:", "--python", str(python()), *sources]
        variables = {**environment(), "NO_COLOR": "1", "UV_PYTHON_DOWNLOADS": "never"}
        with (
            tempfile.TemporaryDirectory(prefix="habilis-uv-") as folder,
            subprocess.Popen(
                [*command, *arguments],
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            ) as process,
        ):
            said = self._wait(process)
        if process.returncode != 0:
            raise EnvironmentFailed(f"the packages cannot be had: {short_reason(said)}")

    def _wait(self, process: subprocess.Popen[str]) -> str:
        ends = time.monotonic() + INSTALL_S
        while True:
            try:
                return process.communicate(timeout=_POLL_S)[1]
            except subprocess.TimeoutExpired:
                if self._stop.is_set() or time.monotonic() > ends:
                    process.kill()
                    process.wait()
                    raise EnvironmentFailed(f"the packages could not be had within {INSTALL_S:.0f} s") from None


def uv_program() -> str:
    """The uv program: the one of the `uv` package, else the system's. Raises `EnvironmentFailed` without any."""
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
        if found is None:
            raise EnvironmentFailed("uv is not installed, so a tool can have no packages") from None
        return found


def short_reason(said: str) -> str:
    """uv's message as one line of bounded length, without its drawing characters."""
    plain = re.sub(r"[×╰─▶│├]+", " ", said)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", plain)
    text = " ".join(plain.removeprefix("error:").split())
    return text if len(text) <= _REASON_CHARACTERS else text[:_REASON_CHARACTERS] + " …"


def checked(requirements: Sequence[str]) -> tuple[str, ...]:
    """`requirements` in their one normal form, sorted. Raises `EnvironmentFailed` for flags, URLs and paths."""
    if not requirements:
        return ()
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    found = set()
    for text in requirements:
        try:
            parsed = Requirement(text)
        except InvalidRequirement:
            raise EnvironmentFailed(f"dependency {text!r} is not a package requirement; {_FORM}") from None
        if parsed.url:
            raise EnvironmentFailed(f"dependency {text!r} is a URL or a path, which is refused; {_FORM}")
        parsed.name = canonicalize_name(parsed.name)
        if parsed.marker is None or parsed.marker.evaluate():
            found.add(str(parsed))
    return tuple(sorted(found))


_FORM = "write a name with an optional version range, such as 'numpy>=2'"


def ensure(target: Path, fill: Callable[[Path], None], stop: threading.Event) -> None:
    """Have the folder `target`, filled by `fill` if it is not there yet."""
    if (target / MARK).is_file():
        return
    with locked(target.with_name(f"{target.name}.lock"), stop):
        if not (target / MARK).is_file():
            build(target, fill)


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
def locked(path: Path, stop: threading.Event) -> Iterator[None]:
    """Hold the lock file `path` against all other processes and threads; gives up when `stop` is set."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as opened:
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if stop.wait(_POLL_S):
                    raise EnvironmentFailed("stopped") from None
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
