"""Removing contents that nothing refers to from a database, while others write to it.

A content and the document that refers to it come in two transactions: between them nothing shows that the content is
needed. What makes its removal safe is that both are written under one lease:

1. A content may go if no document refers to it, and if its `kept`, the epoch of the youngest lease under which anybody
   kept it, is below the **horizon**: the smallest epoch of all leases that are not over. Whoever keeps a content that
   is there already raises its `kept`. So nothing lies below the horizon that was kept under a lease that is not over.
2. The horizon comes first, then the look at the documents. A lease that was over at the horizon had written all that it
   ever will, since its epoch does not change before its last write ends (`fence` holds the lease's row): the look sees
   that. A lease that begins later has a greater epoch than each one before. The table of leases is locked for the
   instant of the horizon, so that no lease is half taken then.
3. The removal looks at `kept` once more, with the row locked. A row that somebody else has locked stays, so that nobody
   who keeps contents waits for this in a circle. Whoever waits for a row that is being removed then adds it anew.

A lease that ran out is not over: its holder may come back and go on, as long as nobody else took it. Where it ran out
`GONE_S` ago, its epoch is ended here, as by a takeover, so that whoever comes back after all is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Any

import psycopg

from habilis.core.ports import Unused
from habilis.rundir.store.pointing import POINTING, pointed

GONE_S = 3600.0
"""Seconds after which a lease that ran out counts as over: longer than a machine is out of reach that comes back."""
WAIT_MS = 5000
"""How long the lock on the leases is waited for: who waits for it makes everybody wait who renews a lease."""
BATCH = 500
"""Contents that are removed in one transaction."""
_RAN_OUT = "expires > '-infinity' AND expires < clock_timestamp() - %(gone_s)s * interval '1 second'"
_END = f"""
WITH gone AS (SELECT name FROM habilis.lease WHERE {_RAN_OUT} FOR UPDATE SKIP LOCKED)
UPDATE habilis.lease SET owner = '', epoch = epoch + 1, expires = '-infinity'
FROM gone WHERE lease.name = gone.name AND {_RAN_OUT}
"""
_LOCK = f"SET LOCAL lock_timeout = {WAIT_MS}; LOCK TABLE habilis.lease IN SHARE MODE"
_HORIZON = "SELECT coalesce(min(epoch), nextval('habilis.epoch')) FROM habilis.lease WHERE expires > '-infinity'"
_HORIZON_AS_IF = f"{_HORIZON} AND NOT ({_RAN_OUT})"
_DOCUMENTS = "SELECT name, data FROM habilis.chunk WHERE name ~ %s ORDER BY name, at"
_CONTENTS = "SELECT digest, octet_length(data), kept < %s FROM habilis.blob ORDER BY digest"
_REMOVE = """
WITH free AS (
    SELECT digest FROM habilis.blob WHERE digest = ANY(%(digests)s) AND kept < %(horizon)s FOR UPDATE SKIP LOCKED
)
DELETE FROM habilis.blob USING free WHERE blob.digest = free.digest AND kept < %(horizon)s RETURNING blob.digest
"""


def look(connection: psycopg.Connection[Any]) -> Unused:
    """What nothing refers to, as a removal would find it now. It changes nothing. Raises `UserError`, psycopg's."""
    row = connection.execute(_HORIZON_AS_IF, {"gone_s": GONE_S}).fetchone()
    return _below(connection, row[0] if row else 0)


def remove(connection: psycopg.Connection[Any], digests: Collection[str]) -> list[str]:
    """Remove those of these contents that may go; returns which. Raises as `look` does."""
    connection.execute(_END, {"gone_s": GONE_S})
    horizon = _horizon(connection)
    free = sorted(_below(connection, horizon).free.keys() & digests)
    gone: list[str] = []
    for at in range(0, len(free), BATCH):
        which = {"digests": free[at : at + BATCH], "horizon": horizon}
        gone += [digest for (digest,) in connection.execute(_REMOVE, which).fetchall()]
    return sorted(gone)


def _horizon(connection: psycopg.Connection[Any]) -> int:
    """The smallest epoch of those who may still write, taken while nobody is about to begin."""
    with connection.transaction():
        connection.execute(_LOCK)
        row = connection.execute(_HORIZON).fetchone()
    return int(row[0]) if row else 0


def _below(connection: psycopg.Connection[Any], horizon: int) -> Unused:
    free: dict[str, int] = {}
    held: dict[str, int] = {}
    with connection.transaction():
        used = pointed(_documents(connection))
        for digest, size, below in _rows(connection, _CONTENTS, horizon):
            if digest not in used:
                (free if below else held)[digest] = size
    return Unused(free, held)


def _documents(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, bytes]]:
    """The documents that refer to contents, all as of one moment."""
    for name, chunks in groupby(_rows(connection, _DOCUMENTS, POINTING), key=lambda row: str(row[0])):
        yield name, b"".join(data for _, data in chunks)


def _rows(connection: psycopg.Connection[Any], query: str, asked: object) -> Iterator[tuple[Any, ...]]:
    """The rows of a query as they come in: there may be more than fit into memory."""
    with connection.cursor("rows", binary=True) as cursor:
        cursor.execute(query.encode(), (asked,))
        yield from cursor
