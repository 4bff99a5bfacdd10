"""Reaching the database: what can be wrong with that, each in one line that says what to do."""

from __future__ import annotations

import re
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from habilis.config import masked
from habilis.core.errors import HabilisError, PlaceError, UserError

_WAY = {
    "application_name": "habilis",
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""A server that is gone without a word is noticed within half a minute (seconds; the last: milliseconds)."""
_MEND = {
    "28P01": "the password is wrong; set PGPASSWORD, or keep it in ~/.pgpass",
    "28000": "this user may not connect; name another one with PGUSER, or let it in (pg_hba.conf)",
    "3D000": "there is no such database; make it with createdb",
    "42501": "this user may not use the tables of Habilis; grant that, or name another one with PGUSER",
}
"""What to do about a state (SQLSTATE, PostgreSQL's appendix A) that a person must mend."""
_WORDS = (
    (r"no password supplied|password authentication failed|authentication failed", "28P01"),
    (r'database ".*" does not exist', "3D000"),
    (r'role ".*" does not exist|no pg_hba.conf entry|not permitted to log in', "28000"),
)
"""While a connection is made libpq hands on the server's words without their state."""


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection to the database at `url`, each statement a transaction of its own.

    Raises `UserError`, `PlaceError`.
    """
    try:
        known = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise UserError(f"store: {shown(url)} is not the address of a database: {_first(error)}") from None
    options: dict[str, Any] = {name: value for name, value in _WAY.items() if name not in known}
    try:
        return psycopg.connect(url, autocommit=True, **options)
    except psycopg.Error as error:
        raise _refused(error, url) from None


def shown(url: str) -> str:
    """The address as it may be shown: without user and password."""
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1***", str(masked({"store": url})["store"]))


def lost(error: psycopg.Error, url: str) -> HabilisError:
    """What a statement that failed is for a person."""
    state = error.sqlstate or ""
    if state in _MEND:
        return UserError(f"store {shown(url)}: {_first(error)}; {_MEND[state]}")
    if state.startswith("53"):  # insufficient resources
        return PlaceError(f"store {shown(url)}: {_first(error)}; make room on the server")
    if state == "55P03":
        return PlaceError(f"store {shown(url)}: another connection has locked the leases; try again when it is done")
    if state == "25006":
        return PlaceError(f"store {shown(url)}: the server takes no writes now; name the one that does")
    return PlaceError(f"store {shown(url)}: the connection was lost ({_first(error)}); check the server")


def _refused(error: psycopg.Error, url: str) -> HabilisError:
    text = _first(error)
    state = error.sqlstate or next((state for words, state in _WORDS if re.search(words, str(error))), "")
    if state in _MEND:
        return UserError(f"store {shown(url)}: {text}; {_MEND[state]}")
    return PlaceError(f"store {shown(url)} cannot be reached: {text}; start the server, or set store to where it is")


def _first(error: psycopg.Error) -> str:
    """What the server said, in one short line."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    fatal = next((line.partition("FATAL:")[2].strip() for line in said if "FATAL:" in line), "")
    return (fatal or (said[0] if said else type(error).__name__))[:200]
