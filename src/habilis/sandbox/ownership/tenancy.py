"""Root's answer to the unprivileged uid inside the sandbox: who owns a workspace while tools work in it.

The workspace belongs to a uid of its own while calls run, and goes back to its owners afterwards. Task files that this
uid may not read are given as read-only copies. For an ordinary user there is nothing to do: the tool's uid is theirs.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import stat
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from habilis.config import cache_dir
from habilis.core.errors import PlaceError
from habilis.sandbox.processes.interpreter import python_paths
from habilis.sandbox.processes.process import uncancelled
from habilis.sandbox.processes.temporary import new_folder
from habilis.sandbox.processes.walking import fwalk

_HIGH = (0x7000_0000, 0x0FFF_0000)
_LOW = (40_000, 20_000)
"""First uid and how many: above all that system managers hand out, or inside a container's 65,536."""
COPY_ENTRIES = 20_000
COPY_BYTES = 1 << 30


@dataclass(frozen=True)
class Tenant:
    """Terms of one call. `sharing` calls, this one included, run as `uid` now; `copies` stand in for task files."""

    uid: int | None = None
    sharing: int = 1
    copies: Mapping[Path, Path] = field(default_factory=dict)


@dataclass
class _Lease:
    uid: int
    owner: tuple[int, int]
    before: dict[str, tuple[int, int]] = field(default_factory=dict)
    users: int = 0


class Tenancy:
    """Lends workspaces. `copying=False` for a back end whose tools may read past file permissions."""

    def __init__(self, *, copying: bool = True) -> None:
        self._copying = copying
        self._leases: dict[Path, _Lease] = {}
        self._lock = threading.Lock()

    @asynccontextmanager
    async def lend(self, workspace: Path, files: Sequence[Path]) -> AsyncIterator[Tenant]:
        """The terms for one call in `workspace`. Raises OSError when ownership cannot be changed here, and `PlaceError`
        when it cannot be changed back: by then the call has been made."""
        if os.geteuid() != 0:
            yield Tenant()
            return
        staging: list[Path] = []
        try:
            lease, sharing = await uncancelled(asyncio.to_thread(self._lend, workspace))
            try:
                copies = await uncancelled(asyncio.to_thread(self._copies, files, staging))
                yield Tenant(lease.uid, sharing, copies)
            finally:
                with _back(workspace):
                    await uncancelled(asyncio.to_thread(self._give_back, workspace))
        finally:
            for folder in staging:
                await uncancelled(asyncio.to_thread(shutil.rmtree, folder, True))

    def _lend(self, workspace: Path) -> tuple[_Lease, int]:
        workspace = workspace.resolve()
        with self._lock:
            lease = self._leases.get(workspace)
            if lease is None:
                found = workspace.stat()
                owner = (found.st_uid, found.st_gid)
                if is_tenant(found.st_uid):  # left behind by a killed host
                    above = workspace.parent.stat()
                    owner = (above.st_uid, above.st_gid)
                lease = self._leases[workspace] = _Lease(uid_for(workspace), owner)
            lease.users += 1
            try:
                hand_over(workspace, lease)
            except BaseException:
                self._leave(workspace, lease)
                raise
            return lease, lease.users

    async def refresh(self, workspace: Path) -> None:
        """Hand over what was put into a lent workspace since."""
        await uncancelled(asyncio.to_thread(self._refresh, workspace))

    async def reclaim(self, workspace: Path) -> None:
        """Take back what a lent workspace holds, but not the workspace: what was in it goes elsewhere."""
        with _back(workspace):
            await uncancelled(asyncio.to_thread(self._reclaim, workspace))

    def _reclaim(self, workspace: Path) -> None:
        workspace = workspace.resolve()
        with self._lock:
            lease = self._leases.get(workspace)
            if lease is not None:
                take_back(workspace, lease)
                os.chown(workspace, lease.uid, lease.uid)

    def _refresh(self, workspace: Path) -> None:
        workspace = workspace.resolve()
        with self._lock:
            if workspace in self._leases:
                hand_over(workspace, self._leases[workspace])

    def _give_back(self, workspace: Path) -> None:
        workspace = workspace.resolve()
        with self._lock:
            self._leave(workspace, self._leases[workspace])

    def _leave(self, workspace: Path, lease: _Lease) -> None:
        lease.users -= 1
        if lease.users == 0:
            del self._leases[workspace]
            with suppress(FileNotFoundError):  # whoever removed it has it back
                take_back(workspace, lease)

    def _copies(self, files: Sequence[Path], staging: list[Path]) -> dict[Path, Path]:
        if not self._copying:
            return {}
        ours = (*python_paths(), cache_dir().resolve())
        copies: dict[Path, Path] = {}
        for path in files:
            source = path.resolve()
            if any(source.is_relative_to(known) for known in ours) or open_to_all(source):
                continue
            if not staging:
                staging.append(new_folder("copies"))
                staging[0].chmod(0o755)
            target = staging[0] / str(len(copies))
            copy_open(source, target)
            copies[path] = target
        return copies


def uid_for(workspace: Path) -> int:
    """An unprivileged uid for `workspace`: the same each time, of its own with all likelihood."""
    number = int.from_bytes(hashlib.sha256(os.fsencode(workspace)).digest()[:8], "big")
    first, count = _HIGH if _mapped(sum(_HIGH)) else _LOW
    return first + number % count


def is_tenant(uid: int) -> bool:
    """Whether `uid` is one that `uid_for` gives."""
    return any(first <= uid < first + count for first, count in (_HIGH, _LOW))


def _mapped(uid: int) -> bool:
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/uid_map").read_text().splitlines():
            inside, _, count = map(int, line.split())
            if inside <= uid < inside + count:
                return True
    return False


def hand_over(workspace: Path, lease: _Lease) -> None:
    """Make all of `workspace` the lease's. Links stay; so do files that have a further name elsewhere."""
    for where, _, names, folder in fwalk(workspace):
        relative = os.path.relpath(where, workspace)
        for name in (".", *names):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            shared = stat.S_ISREG(found.st_mode) and found.st_nlink > 1
            if found.st_uid == lease.uid or stat.S_ISLNK(found.st_mode) or shared:
                continue
            if not is_tenant(found.st_uid):
                key = os.path.normpath(f"{relative}/{name}")
                lease.before.setdefault(key, (found.st_uid, found.st_gid))
            os.chown(name, lease.uid, lease.uid, dir_fd=folder, follow_symlinks=False)


@contextmanager
def _back(workspace: Path) -> Iterator[None]:
    """Tell a failure after a call from one before it: what cannot be given back was lent, and the tool may have run."""
    try:
        yield
    except OSError as error:
        raise PlaceError(f"{workspace}: its owners cannot be put back: {error.strerror or error}") from error


def take_back(workspace: Path, lease: _Lease) -> None:
    """Give what the lease's uid owns to whoever owned it before, what is new to the workspace's owner."""
    for where, folders, names, folder in fwalk(workspace):
        relative = os.path.relpath(where, workspace)
        links = [name for name in folders if Path(where, name).is_symlink()]
        for name in (".", *names, *links):
            with suppress(FileNotFoundError):
                if os.stat(name, dir_fd=folder, follow_symlinks=False).st_uid == lease.uid:
                    uid, gid = lease.before.get(os.path.normpath(f"{relative}/{name}"), lease.owner)
                    os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)


def open_to_all(path: Path) -> bool:
    """Whether any uid may read `path` and, for a folder, all that lies in it."""
    try:
        found = path.stat()
    except OSError:
        return True
    if not stat.S_ISDIR(found.st_mode):
        return bool(found.st_mode & 0o004)
    if found.st_mode & 0o005 != 0o005:
        return False
    with os.scandir(path) as entries:
        return all(open_to_all(Path(entry.path)) for entry in entries if not entry.is_symlink())


def copy_open(source: Path, target: Path) -> None:
    """Copy `source` so that any uid may read it: files, folders and links, up to COPY_ENTRIES and COPY_BYTES."""
    left = [COPY_ENTRIES, COPY_BYTES]

    def copy(here: Path, there: Path) -> None:
        found = here.lstat()
        left[0] -= 1
        left[1] -= found.st_size
        if min(left) < 0:
            return
        if stat.S_ISLNK(found.st_mode):
            there.symlink_to(os.readlink(here))  # noqa: PTH115
        elif stat.S_ISDIR(found.st_mode):
            there.mkdir()
            for entry in sorted(here.iterdir()):
                copy(entry, there / entry.name)
            there.chmod(0o755)
        elif stat.S_ISREG(found.st_mode):
            shutil.copyfile(here, there)
            there.chmod(0o644)

    copy(source, target)
