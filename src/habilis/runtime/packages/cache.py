"""The folder of environments that all processes of a machine share: built once, whole or not at all, held while in use.

<name>/            what was built, with its mark `.ready`, which lists it; the mark's time is that of the last use
<name>.<random>/   being built, by the process that holds <name>.lock; a leftover when none does
<name>.use         locked (shared) by every process that uses <name>
.gone-<random>/    being removed
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from habilis.rundir.locks import take_path
from habilis.runtime.packages.policy import EnvironmentFailed

logger = logging.getLogger(__name__)
MARK = ".ready"
MOST_DIGESTED = 32 << 20
"""Bytes up to which all that was built is looked at by digest; of more, sizes alone are."""
GONE = ".gone-"
_POLL_S = 0.05


class EnvironmentCache:
    """Built folders below `folder`. What this object has handed out is not pruned until the object is gone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.built = 0
        self._held: dict[str, int] = {}
        self._guard = threading.Lock()
        weakref.finalize(self, _close_all, self._held)

    def ensure(self, name: str, fill: Callable[[Path], None], stop: threading.Event) -> Path:
        """The folder called `name`, filled by `fill` if it is not there yet, held from now on.

        However many processes ask, one of them fills it. What is damaged is made anew. Raises `EnvironmentFailed` when
        `stop` is set meanwhile, and OSError when the cache cannot be written.
        """
        target = self.folder / name
        if self.use(name) and is_whole(target):
            return target
        with locked(beside(target, "lock"), stop):
            if not ((target / MARK).is_file() and is_whole(target)):
                began = time.monotonic()
                build(target, fill)
                self.built += 1
                logger.info("environment %s built in %.2f s", name, time.monotonic() - began)
            # Whoever removes it needs the lock that is held here; who only looks at it lets go at once.
            while not self.use(name):
                if stop.wait(_POLL_S):
                    raise EnvironmentFailed("stopped")
        return target

    def use(self, name: str) -> bool:
        """Hold `name` and note the time; False when it is not there, or is being looked at or removed."""
        target = self.folder / name
        with self._guard:
            if name not in self._held and (target / MARK).is_file():
                try:
                    descriptor = take_path(beside(target, "use"), shared=True)
                except OSError:  # a cache that this process can only read
                    return True
                if descriptor is None:
                    return False
                self._held[name] = descriptor
            return _touched(target / MARK)

    def let_go(self, name: str) -> None:
        """Hold `name` no longer."""
        with self._guard:
            descriptor = self._held.pop(name, None)
            if descriptor is not None:
                os.close(descriptor)

    def let_all_go(self) -> None:
        """Hold nothing any more."""
        with self._guard:
            _close_all(self._held)


def build(target: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder aside, mark it, rename it to `target`. To be called under the lock of `target`."""
    for leftover in target.parent.glob(f"{target.name}.*"):
        if leftover.is_dir():  # of a build that was killed
            remove(leftover)
    aside = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        fill(aside)
        for where, folders, names in os.walk(aside):
            for entry in (".", *folders, *names):
                path = Path(where, entry)
                if not path.is_symlink():
                    path.chmod(0o755 if path.is_dir() else 0o644)
        (aside / MARK).write_text(json.dumps(listed(aside)), encoding="utf-8")
        (aside / MARK).chmod(0o644)
        if target.exists():  # an earlier build was cut short
            remove(target)
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


_whole: set[Path] = set()
"""What this process has looked at and found whole."""


def is_whole(target: Path, *, again: bool = False) -> bool:
    """Whether `target` is as it was built, as its mark lists it; looked at once in each process, unless `again`."""
    if again or target not in _whole:
        _whole.discard(target)
        with contextlib.suppress(OSError, ValueError):
            told = (target / MARK).read_text(encoding="utf-8")
            if not told or json.loads(told) == listed(target):  # earlier versions left an empty mark
                _whole.add(target)
    return target in _whole


def listed(folder: Path) -> dict[str, list[int | str]]:
    """Size and digest of each file in `folder` but its mark."""
    found = [path for path in map(Path, _files(folder)) if path != folder / MARK]
    sizes = {path: path.lstat().st_size for path in found}
    by_digest = sum(sizes.values()) <= MOST_DIGESTED
    return {
        str(path.relative_to(folder)): [size, hashlib.sha256(path.read_bytes()).hexdigest()[:16] if by_digest else ""]
        for path, size in sorted(sizes.items())
    }


def _files(folder: Path) -> Iterator[str]:
    for where, _, names in os.walk(folder):
        yield from (path for name in names if not os.path.islink(path := os.path.join(where, name)))  # noqa: PTH114, PTH118


def remove(folder: Path) -> None:
    """Take `folder` out of sight by one rename, then remove it. To be called under its lock."""
    gone = Path(tempfile.mkdtemp(prefix=GONE, dir=folder.parent))
    folder.rename(gone / folder.name)
    shutil.rmtree(gone, ignore_errors=True)


def beside(target: Path, kind: str) -> Path:
    """The lock file of `target`: `lock` for building and removing it, `use` for using it."""
    return target.with_name(f"{target.name}.{kind}")


@contextmanager
def locked(path: Path, stop: threading.Event) -> Iterator[None]:
    """Hold the lock file `path` against all other processes and threads; gives up when `stop` is set."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while (descriptor := take_path(path)) is None:
        if stop.wait(_POLL_S):
            raise EnvironmentFailed("stopped")
    try:
        yield
    finally:
        os.close(descriptor)


def _touched(mark: Path) -> bool:
    try:
        os.utime(mark)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # a cache that this process can only read
    return True


def _close_all(held: dict[str, int]) -> None:
    for descriptor in held.values():
        with contextlib.suppress(OSError):
            os.close(descriptor)
    held.clear()
