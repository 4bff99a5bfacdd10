"""A store of files: each log and document in the file of its name, as in the folder of a run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from habilis.core.errors import LeaseHeld, LeaseLost, StoreConflict, UserError
from habilis.core.place import place_told
from habilis.core.ports import Append, Change, Lease, Swap, Unused
from habilis.rundir.files import append_line, atomic_write
from habilis.rundir.locks import is_held, take_path
from habilis.rundir.plain import read_plain
from habilis.rundir.store.pointing import POINTING, pointed

_LEASES, _BLOBS = ".leases", ".blobs"
_ANY = ".any"
"""The lock that each lease has a share in: whoever has all of it knows that nobody writes."""


class FileStore:
    """The store in the folder `root`, for processes of one machine.

    A lease is a lock of the kernel, which ends with its holder. What nothing refers to can be removed only while there
    is none: whoever holds one may have kept it for a document that is yet to come. Changes of one `write` are made one
    by one, each of them whole; a kill between two leaves the first.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._held: dict[Lease, tuple[int, int]] = {}

    def lease(self, name: str, owner: str, *, over: str = "") -> Lease:
        with place_told():
            path = self._root / _LEASES / (_checked(name).replace("/", "~") + ".lock")
            path.parent.mkdir(parents=True, exist_ok=True)
            share = take_path(path.with_name(_ANY), shared=True)
            if share is None:
                raise LeaseHeld(f"the store {self._root} is being pruned; wait until that has ended")
            try:
                descriptor = take_path(path)
            except BaseException:
                os.close(share)
                raise
        if descriptor is None:
            os.close(share)
            raise LeaseHeld(f"{name} in the store {self._root} is in use by another process; wait until it has ended")
        lease = Lease(name, owner, time.time_ns())
        self._held[lease] = descriptor, share
        return lease

    def renew(self, lease: Lease) -> None:
        if lease not in self._held:
            raise LeaseLost(f"{lease.name}: the lease of {lease.owner} is over; nothing more is written")

    def release(self, lease: Lease) -> None:
        for descriptor in self._held.pop(lease, ()):
            os.close(descriptor)

    def write(self, lease: Lease, changes: Sequence[Change]) -> None:
        self.renew(lease)
        with place_told():
            for change in changes:
                self._change(change)

    def read(self, name: str) -> bytes | None:
        with place_told(), contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return read_plain(self._path(name))
        return None

    def names(self, under: str) -> list[str]:
        with place_told():
            return sorted(name for name in self._all(under.rpartition("/")[0]) if name.startswith(under))

    def keep(self, lease: Lease, contents: Iterable[bytes]) -> list[str]:
        self.renew(lease)
        with place_told():
            return [self._kept(content) for content in contents]

    def blob(self, digest: str) -> bytes:
        content = None
        with place_told(), contextlib.suppress(FileNotFoundError):
            content = read_plain(self._blob(digest))
        if content is None:
            raise UserError(f"the store {self._root} has lost the content {digest[:16]}…")
        if hashlib.sha256(content).hexdigest() != digest:
            raise UserError(f"the store {self._root} is damaged: the content {digest[:16]}… does not fit its name")
        return content

    def unused(self) -> Unused:
        with place_told(), self._nobody_writes() as alone:
            found = self._unused()
        return Unused(found, {}) if alone else Unused({}, found)

    def remove(self, digests: Collection[str]) -> list[str]:
        with place_told(), self._nobody_writes() as alone:
            gone = sorted(self._unused().keys() & digests) if alone else []
            for digest in gone:
                self._blob(digest).unlink()
        return gone

    def close(self) -> None:
        for lease in list(self._held):
            self.release(lease)

    # --- inside

    @contextlib.contextmanager
    def _nobody_writes(self) -> Iterator[bool]:
        """Whether there is no lease; if so, there is none until the block ends."""
        (self._root / _LEASES).mkdir(parents=True, exist_ok=True)
        descriptor = take_path(self._root / _LEASES / _ANY)
        try:
            # An older Habilis holds the lock of its lease alone.
            yield descriptor is not None and not any(map(is_held, (self._root / _LEASES).glob("*.lock")))
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _unused(self) -> Mapping[str, int]:
        kept: dict[str, int] = {}
        for path in sorted((self._root / _BLOBS).glob("*/[!.]*")):
            with contextlib.suppress(FileNotFoundError):  # it was unused, and another one removed it just now
                kept[path.name] = path.stat().st_size
        names = [name for name in self.names("") if re.search(POINTING, name)]
        used = pointed((name, content) for name in names if (content := self.read(name)) is not None)
        return {digest: size for digest, size in kept.items() if digest not in used}

    def _change(self, change: Change) -> None:
        path = self._path(change.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(change, Append):
            append_line(path, change.lines)
            return
        if isinstance(change, Swap) and self.read(change.name) != change.before:
            raise StoreConflict(f"{change.name} in the store {self._root} was changed by another process")
        content = change.after if isinstance(change, Swap) else change.content
        if content is None:
            with contextlib.suppress(IsADirectoryError):  # a folder is no document
                path.unlink(missing_ok=True)
        else:
            atomic_write(path, content)

    def _kept(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        path = self._blob(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            aside = path.with_name(f".{digest}.{os.getpid()}")
            aside.write_bytes(content)  # of a blob not one byte may change: whoever gives it has masked it
            aside.replace(path)
        return digest

    def _blob(self, digest: str) -> Path:
        return self._root / _BLOBS / digest[:2] / digest

    def _path(self, name: str) -> Path:
        return self._root / _checked(name)

    def _all(self, folder: str) -> Iterator[str]:
        for where, folders, files in os.walk(self._root / folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            place = Path(where).relative_to(self._root).as_posix()
            yield from (f"{place}/{name}".removeprefix("./") for name in files if not name.startswith("."))


def _checked(name: str) -> str:
    """A name as a path below the store. Raises `UserError` for one that leads elsewhere."""
    parts = PurePosixPath(name).parts
    if not parts or name != "/".join(parts) or any(part.startswith(".") for part in parts) or "\0" in name:
        raise UserError(f"{name!r} is not a name in a store")
    return name
