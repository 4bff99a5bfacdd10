"""What lies in the folder of environments, and the removal of what nobody uses any more.

An environment that some process holds is never removed, nor the base of this installation. What killed builds and
removals left behind goes whenever anything is pruned.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from habilis.rundir.locks import take_path
from habilis.runtime.packages.cache import GONE, MARK, beside, remove
from habilis.runtime.packages.environments import LEADS_TO, base_name

_NAME = re.compile(r"(base|lock|set)-[0-9a-f]{16}")


@dataclass(frozen=True)
class Kept:
    """One environment: the packages in it, the requirement sets that lead to it, bytes, time of its last use.

    `stays` says why it cannot go: it is `in use`, or the `base` of this installation.
    """

    path: Path
    packages: tuple[str, ...]
    asked: tuple[str, ...]
    bytes: int
    used: float
    stays: str = ""

    @property
    def name(self) -> str:
        return self.path.name


@dataclass(frozen=True)
class PruningRule:
    """What goes: environments last used more than `older_than_s` seconds ago; the longest unused ones until the rest
    fits into `max_bytes`. With neither only leftovers go."""

    older_than_s: float | None = None
    max_bytes: int | None = None


@dataclass(frozen=True)
class Going:
    """Something to remove, and why: `age`, `size` or `leftover`."""

    path: Path
    bytes: int
    why: str


def kept(folder: Path) -> list[Kept]:
    """The whole environments below `folder`, the last used first."""
    asked = _asked(folder)
    found = []
    for path in _built(folder, "base", "set"):
        with suppress(FileNotFoundError):  # pruned meanwhile
            reason = "in use" if in_use(path) else "base" if path.name == base_name() else ""
            used = (path / MARK).stat().st_mtime
            found.append(Kept(path, packages_in(path), tuple(asked.get(path.name, ())), size_of(path), used, reason))
    return sorted(found, key=lambda one: (-one.used, one.name))


def going(folder: Path, rule: PruningRule, now: float) -> list[Going]:
    """What `rule` removes below `folder` at the time `now`. Removes nothing."""
    whole = kept(folder)
    found = []
    room = sum(one.bytes for one in whole)
    for one in reversed(whole):
        old = rule.older_than_s is not None and now - one.used > rule.older_than_s
        large = rule.max_bytes is not None and room > rule.max_bytes
        if (old or large) and not one.stays:
            found.append(Going(one.path, one.bytes, "age" if old else "size"))
            room -= one.bytes
    if rule.older_than_s is not None:
        found += [
            Going(lock, size_of(lock), "age")
            for lock in _built(folder, "lock")
            if now - (lock / MARK).stat().st_mtime > rule.older_than_s and not in_use(lock)
        ]
    return found + [Going(path, size_of(path), "leftover") for path in leftovers(folder)]


def take_away(gone: Going) -> bool:
    """Remove it; False when a process has begun to use it, or builds it just now."""
    path = gone.path
    if path.name.startswith(GONE):
        shutil.rmtree(path, ignore_errors=True)
        return True
    target = _target(path)
    with _alone(target, "lock") as idle:
        if not idle:
            return False
        if path == target and gone.why != "leftover":
            return _remove_whole(target)
        if path.is_dir() and not (path == target and (path / MARK).is_file()):
            remove(path)
        if not target.exists():
            _remove_locks(target)
    return True


def _remove_whole(target: Path) -> bool:
    """Remove an environment whose building lock is held, unless somebody uses it."""
    with _alone(target, "use") as idle:
        if idle:
            if target.exists():
                remove(target)
            _remove_locks(target)
        return idle


def _remove_locks(target: Path) -> None:
    """Remove the lock files of what is no more; who waits for one sees that, and makes another."""
    beside(target, "use").unlink(missing_ok=True)
    beside(target, "lock").unlink(missing_ok=True)


def leftovers(folder: Path) -> list[Path]:
    """What killed builds and removals left: unmarked or half-made folders, lock files of what is no more."""
    found = []
    for path in _entries(folder):
        if path.name.startswith(GONE):
            found.append(path)
            continue
        target = _target(path)
        if not _NAME.fullmatch(target.name) or _is_locked(beside(target, "lock")):
            continue
        if path.is_dir():
            torn = path != target or not (path / MARK).is_file()
        else:
            torn = path.suffix in (".lock", ".use") and not target.exists() and not _is_locked(path)
        if torn:
            found.append(path)
    return found


def in_use(path: Path) -> bool:
    """Whether some process holds or builds the environment `path`."""
    return _is_locked(beside(path, "use")) or _is_locked(beside(path, "lock"))


def packages_in(path: Path) -> tuple[str, ...]:
    """`name==version` of each package that is installed in the environment `path`, sorted."""
    infos = [entry.name.removesuffix(".dist-info") for entry in path.glob("*.dist-info")]
    return tuple(sorted("==".join(info.rsplit("-", 1)).replace("_", "-") for info in infos))


def size_of(path: Path) -> int:
    """Bytes of all files below `path`, or of the file itself."""
    total = 0
    with suppress(OSError):
        if not path.is_dir():
            return path.lstat().st_size
    for where, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                about = Path(where, name).lstat()
                total += about.st_size if stat.S_ISREG(about.st_mode) else 0
    return total


def _asked(folder: Path) -> dict[str, list[str]]:
    """The requirement sets that were resolved, by the environment that they lead to."""
    found: dict[str, list[str]] = {}
    for lock in _built(folder, "lock"):
        with suppress(OSError, UnicodeDecodeError):
            leads_to = (lock / LEADS_TO).read_text(encoding="utf-8")
            needs = (lock / "lock.in").read_text(encoding="utf-8").split("\n")
            found.setdefault(leads_to, []).append(", ".join(filter(None, needs)))
    return found


def _built(folder: Path, *kinds: str) -> list[Path]:
    whole = [path for path in _entries(folder) if _NAME.fullmatch(path.name) and (path / MARK).is_file()]
    return [path for path in whole if path.name.partition("-")[0] in kinds]


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.is_symlink())
    except FileNotFoundError:
        return []


def _target(path: Path) -> Path:
    """The environment that a folder or lock file belongs to."""
    return path.with_name(path.name.partition(".")[0] or path.name)


def _is_locked(path: Path) -> bool:
    """Whether somebody holds the lock file `path`; one that is not there is not made."""
    if not path.exists():
        return False
    try:
        descriptor = take_path(path)
    except OSError:  # a cache that this process can only read
        return True
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@contextmanager
def _alone(target: Path, kind: str) -> Iterator[bool]:
    """Holds a lock file of `target`, unless somebody else does."""
    descriptor = take_path(beside(target, kind))
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)
