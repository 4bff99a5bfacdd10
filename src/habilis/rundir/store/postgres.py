"""A store in a PostgreSQL database, for any number of machines: each write is one transaction that proves its lease."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, cast

import psycopg

from habilis.core.errors import LeaseHeld, LeaseLost, StoreConflict, UserError
from habilis.core.ports import Append, Change, Lease, Put, Swap, Unused
from habilis.rundir.store import removing
from habilis.rundir.store.connecting import connect, lost, shown
from habilis.rundir.store.schema import CHANGED, FENCED
from habilis.rundir.store.versions import check_version

LEASE_S = 30.0
"""Seconds for which a lease holds without being renewed, by the server's clock."""
BATCH_BYTES = 8 << 20
"""Of contents that go to the server at once."""
_TAKE = """
INSERT INTO habilis.lease AS held (name, owner, epoch, expires)
VALUES (%(name)s, %(owner)s, nextval('habilis.epoch'), clock_timestamp() + %(term)s * interval '1 second')
ON CONFLICT (name) DO UPDATE
SET owner = excluded.owner, epoch = nextval('habilis.epoch'),
    expires = clock_timestamp() + %(term)s * interval '1 second'
WHERE held.expires < clock_timestamp() OR held.owner = nullif(%(over)s, '')
RETURNING epoch
"""
_RENEW = """
UPDATE habilis.lease SET expires = clock_timestamp() + %s * interval '1 second' WHERE name = %s AND epoch = %s
"""
_RELEASE = (
    "UPDATE habilis.lease SET owner = '', epoch = epoch + 1, expires = '-infinity' WHERE name = %s AND epoch = %s"
)
_WRITE = "SELECT habilis.write(%s, %s, %s::text[], %s::text[], %b::bytea[], %b::bytea[])"
_KEEP = """
INSERT INTO habilis.blob AS before (digest, data, kept) VALUES (%s, %s, %s)
ON CONFLICT (digest) DO UPDATE SET kept = excluded.kept WHERE before.kept < excluded.kept
"""
_UNDER = "SELECT DISTINCT name FROM habilis.chunk WHERE starts_with(name, %s) ORDER BY name"


class PostgresStore:
    """The store at `url`, a connection address as libpq reads it. Safe for threads of one process.

    A lease holds `lease_s` seconds by the server's clock; whoever holds one renews it in time. After a connection is
    lost, calls fail with `PlaceError`: whether the last write arrived, only the store itself can tell.
    """

    def __init__(self, url: str, *, lease_s: float = LEASE_S) -> None:
        """Connects. Raises `UserError` for what a person must mend (password, database, tables), `PlaceError` for a
        server that cannot be reached."""
        self._url, self._lease_s = url, lease_s
        self._lock = threading.RLock()
        self._connection = connect(url)
        try:
            check_version(self._connection, url)
        except BaseException:
            self._connection.close()
            raise

    def lease(self, name: str, owner: str, *, over: str = "") -> Lease:
        asked = {"name": name, "owner": owner, "over": over, "term": self._lease_s}
        with self._asking() as cursor:
            taken = cursor.execute(_TAKE, asked).fetchone()
            if taken is not None:
                return Lease(name, owner, taken[0])
            held = cursor.execute("SELECT owner FROM habilis.lease WHERE name = %s", (name,)).fetchone()
        by = held[0] if held else ""
        raise LeaseHeld(f"{name} in the store {shown(self._url)} is in use by {by or 'another process'}", by)

    def renew(self, lease: Lease) -> None:
        with self._asking() as cursor:
            if cursor.execute(_RENEW, (self._lease_s, lease.name, lease.epoch)).rowcount == 0:
                raise self._over(lease)

    def release(self, lease: Lease) -> None:
        with contextlib.suppress(Exception), self._asking() as cursor:  # an end without one runs out by itself
            cursor.execute(_RELEASE, (lease.name, lease.epoch))

    def write(self, lease: Lease, changes: Sequence[Change]) -> None:
        kinds = [type(change).__name__ for change in changes]
        olds = [change.before if isinstance(change, Swap) else None for change in changes]
        rows = [change.name for change in changes], olds, [_after(change) for change in changes]
        with self._asking(lease) as cursor:
            cursor.execute(_WRITE, (lease.name, lease.epoch, kinds, *rows))

    def read(self, name: str) -> bytes | None:
        with self._asking() as cursor:
            rows = cursor.execute("SELECT data FROM habilis.chunk WHERE name = %s ORDER BY at", (name,)).fetchall()
        return b"".join(data for (data,) in rows) if rows else None

    def names(self, under: str) -> list[str]:
        with self._asking() as cursor:
            return [name for (name,) in cursor.execute(_UNDER, (under,)).fetchall()]

    def keep(self, lease: Lease, contents: Iterable[bytes]) -> list[str]:
        names: list[str] = []
        for batch in _batches(contents):
            digests = [hashlib.sha256(content).hexdigest() for content in batch]
            with self._proving(lease) as cursor:
                rows = [(digest, content, lease.epoch) for digest, content in zip(digests, batch, strict=True)]
                cursor.executemany(_KEEP, sorted(rows))  # one order: no two wait in a circle
            names += digests
        return names

    def blob(self, digest: str) -> bytes:
        with self._asking() as cursor:
            row = cursor.execute("SELECT data FROM habilis.blob WHERE digest = %s", (digest,), binary=True).fetchone()
        if row is None:
            raise UserError(f"the store {shown(self._url)} has lost the content {digest[:16]}…")
        content = cast(bytes, row[0])
        if hashlib.sha256(content).hexdigest() != digest:
            raise UserError(
                f"the store {shown(self._url)} is damaged: the content {digest[:16]}… does not fit its name"
            )
        return content

    def unused(self) -> Unused:
        with self._lock, self._telling():
            return removing.look(self._connection)

    def remove(self, digests: Collection[str]) -> list[str]:
        with self._lock, self._telling():
            return removing.remove(self._connection, digests)

    def close(self) -> None:
        self._connection.close()

    # --- inside

    @contextlib.contextmanager
    def _asking(self, lease: Lease | None = None) -> Iterator[psycopg.Cursor[Any]]:
        """A cursor for statements that each stand for themselves."""
        with self._lock, self._telling(lease), self._connection.cursor() as cursor:
            yield cursor

    @contextlib.contextmanager
    def _proving(self, lease: Lease) -> Iterator[psycopg.Cursor[Any]]:
        """A cursor in one transaction, sent in one go, that comes to nothing where the lease is over."""
        with contextlib.ExitStack() as stack:
            for one in (self._lock, self._telling(lease), self._connection.pipeline(), self._connection.transaction()):
                stack.enter_context(one)
            cursor = stack.enter_context(self._connection.cursor())
            cursor.execute("SELECT habilis.fence(%s, %s)", (lease.name, lease.epoch))
            yield cursor

    @contextlib.contextmanager
    def _telling(self, lease: Lease | None = None) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            if lease is not None and error.sqlstate == FENCED:
                raise self._over(lease) from None
            if error.sqlstate == CHANGED:
                raise StoreConflict(f"{shown(self._url)}: {error.diag.message_primary} by another process") from None
            raise lost(error, self._url) from None

    def _over(self, lease: Lease) -> LeaseLost:
        return LeaseLost(
            f"{lease.name} in the store {shown(self._url)} was taken over by another process; "
            "this one writes nothing more"
        )


def _after(change: Change) -> bytes | None:
    """What a change brings."""
    if isinstance(change, Append):
        return change.lines
    return change.content if isinstance(change, Put) else change.after


def _batches(contents: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The contents in groups of about `BATCH_BYTES`."""
    batch: list[bytes] = []
    for content in contents:
        batch.append(content)
        if sum(map(len, batch)) >= BATCH_BYTES or len(batch) == 500:
            yield batch
            batch = []
    if batch:
        yield batch
