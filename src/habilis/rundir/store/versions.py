"""The version of the tables in a database: looked at by whoever opens it, changed by `habilis store` alone."""

from __future__ import annotations

from typing import Any

import psycopg

from habilis.core.errors import UserError
from habilis.rundir.store.connecting import connect, lost, shown
from habilis.rundir.store.schema import AT_WORK, MIGRATIONS

_THERE = "SELECT to_regclass('habilis.version') IS NOT NULL"


def version_of(connection: psycopg.Connection[Any], url: str) -> int:
    """The version of the tables; 0 where there are none. Raises `UserError`, `PlaceError`."""
    try:
        there = connection.execute(_THERE).fetchone()
        if there is None or not there[0]:
            return 0
        row = connection.execute("SELECT max(number) FROM habilis.version").fetchone()
    except psycopg.Error as error:
        raise lost(error, url) from None
    return int(row[0] or 0) if row else 0


def check_version(connection: psycopg.Connection[Any], url: str, steps: tuple[str, ...] = MIGRATIONS) -> None:
    """Raises `UserError` unless the tables are those of this version of Habilis, with what to do about it."""
    found = version_of(connection, url)
    if found == 0:
        raise UserError(f"store {shown(url)} has no tables of Habilis yet; make them with 'habilis store init'")
    if found < len(steps):
        raise UserError(f"store {shown(url)} has tables of version {found}, {len(steps)} is needed; {_MIGRATE}")
    if found > len(steps):
        raise UserError(
            f"store {shown(url)} has tables of version {found}; this version of habilis knows them up to "
            f"{len(steps)}: use a newer one"
        )


_MIGRATE = "bring them up to it with 'habilis store migrate'"


def migrate(url: str, *, fresh: bool = False, steps: tuple[str, ...] = MIGRATIONS) -> tuple[int, int]:
    """Bring the tables to the newest version, all steps or none; `fresh` makes them where there are none.

    Returns the versions before and after. Raises `UserError`, `PlaceError`.
    """
    with connect(url) as connection:
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('habilis.version', 0))")
                before = version_of(connection, url)
                if before == 0 and not fresh:
                    check_version(connection, url, steps)
                if before == 0:
                    connection.execute("CREATE SCHEMA IF NOT EXISTS habilis")
                    connection.execute("CREATE TABLE habilis.version (number int PRIMARY KEY, made timestamptz)")
                if before > len(steps):
                    check_version(connection, url, steps)
                for number, step in enumerate(steps[before:], before + 1):
                    connection.execute(step.encode())
                    connection.execute("INSERT INTO habilis.version VALUES (%s, clock_timestamp())", (number,))
        except psycopg.Error as error:
            if error.sqlstate == AT_WORK:
                raise UserError(
                    f"store {shown(url)}: trainings are at work in it; migrate when they have ended"
                ) from None
            raise lost(error, url) from None
    return before, len(steps)
