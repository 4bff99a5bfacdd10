"""Stores for tests: one of files, and one in a PostgreSQL server that the tests start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from habilis.core.ports import RunStore
from habilis.rundir.store import FileStore
from habilis.rundir.store.versions import migrate

from .postgres import POSTGRES, PostgresServer, programs


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A running server; skips, with the reason, where PostgreSQL is not installed."""
    found = programs()
    if found is None:
        pytest.skip("PostgreSQL is not installed here (initdb): apt-get install postgresql")
    running = PostgresServer(found)
    try:
        running.begin()
        yield running
    finally:
        running.end()


@pytest.fixture(scope="session")
def template(server: PostgresServer) -> str:
    """The name of a database with the tables, to be copied."""
    url = server.fresh()
    migrate(url, fresh=True)
    return url.partition("///")[2].partition("?")[0]


@pytest.fixture
def database(server: PostgresServer, template: str) -> str:
    """The address of a database that is this test's own, with tables."""
    return server.fresh(template)


@pytest.fixture(params=["files", pytest.param("postgres", marks=POSTGRES)])
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], RunStore]]:
    """Opens the store of this test once more, as another process would."""
    opened: list[RunStore] = []

    def open_it() -> RunStore:
        if request.param == "files":
            opened.append(FileStore(tmp_path / "store"))
        else:
            from habilis.rundir.store.postgres import PostgresStore

            opened.append(PostgresStore(request.getfixturevalue("database")))
        return opened[-1]

    yield open_it
    for store in opened:
        store.close()
