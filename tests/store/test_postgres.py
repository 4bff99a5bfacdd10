"""What only a server can promise: leases that run out, and the refusal of whoever was cut off and comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from habilis.core.errors import LeaseHeld, LeaseLost, PlaceError, UserError
from habilis.core.ports import Append, Put, RunStore
from habilis.rundir.store import open_store
from habilis.rundir.store.postgres import PostgresStore
from habilis.rundir.store.schema import MIGRATIONS
from habilis.rundir.store.versions import migrate

from .postgres import PASSWORD, POSTGRES, PostgresServer

pytestmark = POSTGRES


@contextmanager
def stores(url: str, number: int, lease_s: float = 60.0) -> Iterator[list[PostgresStore]]:
    with ExitStack() as stack:
        found = [PostgresStore(url, lease_s=lease_s) for _ in range(number)]
        for store in found:
            stack.callback(store.close)
        yield found


def run_out(url: str) -> None:
    """Let time pass for all leases, by the server's clock."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE habilis.lease SET expires = clock_timestamp() - interval '1 second'")


def test_who_was_cut_off_and_comes_back_cannot_write(database: str) -> None:
    with stores(database, 2) as (cut_off, other):
        old = cut_off.lease("run", "cut off")
        cut_off.write(old, [Put("run/state.json", b"mine")])
        run_out(database)
        new = other.lease("run", "other")
        assert new.epoch > old.epoch
        for change in ([Put("run/state.json", b"stale")], [Append("run/tape.jsonl", b"stale\n")]):
            with pytest.raises(LeaseLost, match="taken over"):
                cut_off.write(old, change)
        with pytest.raises(LeaseLost):
            cut_off.keep(old, [b"stale"])
        with pytest.raises(LeaseLost):
            cut_off.renew(old)
        other.write(new, [Append("run/tape.jsonl", b"good\n")])
        assert (other.read("run/state.json"), other.read("run/tape.jsonl")) == (b"mine", b"good\n")


def test_a_takeover_waits_for_the_write_that_began_before_it(database: str) -> None:
    """A write that has shown its lease is whole before anybody else holds one: nobody reads half of what it did."""
    with stores(database, 2) as (writer, other), psycopg.connect(database) as held:
        old = writer.lease("run", "writer")
        run_out(database)
        held.execute("SELECT habilis.fence('run', %s)", (old.epoch,))  # its transaction is open
        taken: list[object] = []
        thread = threading.Thread(target=lambda: taken.append(other.lease("run", "other")))
        thread.start()
        with psycopg.connect(database, autocommit=True) as looking:
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            while not looking.execute(waiting).fetchone()[0]:  # type: ignore[index]
                assert thread.is_alive(), "the takeover went past a write that was under way"
        assert not taken
        held.commit()
        thread.join()
        assert len(taken) == 1


def test_a_lease_that_is_renewed_does_not_run_out(database: str) -> None:
    with stores(database, 2) as (one, other):
        lease = one.lease("run", "one")
        run_out(database)
        one.renew(lease)
        with pytest.raises(LeaseHeld, match="in use by one"):
            other.lease("run", "other")


def test_the_lease_of_an_owner_who_is_dead_is_taken_at_once(database: str) -> None:
    with stores(database, 2) as (dead, other):
        old = dead.lease("run", "dead")
        with pytest.raises(LeaseHeld) as refused:
            other.lease("run", "other", over="somebody else")
        assert refused.value.owner == "dead"
        assert other.lease("run", "other", over="dead").epoch > old.epoch
        with pytest.raises(LeaseLost):
            dead.write(old, [Put("run/a", b"late")])


def test_a_refused_change_takes_those_beside_it_along(database: str) -> None:
    """All of one write or none: a row without what it tells of would be believed."""
    with stores(database, 1) as (store,):
        lease = store.lease("run", "me")
        with pytest.raises((PlaceError, UserError)):
            store.write(lease, [Append("run/a", b"1\n"), Append(None, b"2\n")])  # type: ignore[arg-type]
        assert store.names("") == []
        store.write(lease, [Append("run/a", b"1\n")])
        assert store.read("run/a") == b"1\n"


def test_threads_of_one_process_write_side_by_side(database: str) -> None:
    with stores(database, 1) as (store,):
        lease = store.lease("run", "me")

        def write(number: int) -> None:
            for at in range(20):
                store.write(lease, [Append(f"run/{number}", b"%d\n" % at)])

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(store.read(f"run/{n}") == b"".join(b"%d\n" % at for at in range(20)) for n in range(4))


def test_tables_are_made_once_and_checked_by_whoever_opens_them(server: PostgresServer) -> None:
    url = server.fresh()
    with pytest.raises(UserError, match="habilis store init"):
        PostgresStore(url)
    with pytest.raises(UserError, match="habilis store init"):
        migrate(url)
    assert migrate(url, fresh=True) == (0, len(MIGRATIONS))
    assert migrate(url, fresh=True) == (len(MIGRATIONS), len(MIGRATIONS))
    with stores(url, 1) as (store,):
        store.lease("run", "me")


def test_a_user_with_the_rights_that_the_guide_names_can_train_and_prune(database: str) -> None:
    """Who owns the tables can do anything; a team gives its workers less, by what the page says."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "keep-runs-in-postgresql.md").read_text("utf-8")
    rights = page.partition("```sql\n")[2].partition("```")[0]
    role = f"worker_{database.partition('///')[2].partition('?')[0]}"  # roles are the whole server's
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute(rights.replace("worker", role).encode())
    url = database.replace("user=habilis", f"user={role}")
    with psycopg.connect(url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("DROP TABLE habilis.lease")
    with stores(url, 1) as (store,):
        lease = store.lease("run", "me")
        (kept,) = store.keep(lease, [b"content"])
        store.write(lease, [Put("run/state.json", b"mine"), Append("run/tape.jsonl", b"good\n")])
        store.renew(lease)
        store.release(lease)
        assert (store.read("run/state.json"), store.blob(kept)) == (b"mine", b"content")
        assert list(store.unused().free) == [kept]
        assert store.remove([kept]) == [kept]


def test_tables_of_another_version_are_left_alone(database: str) -> None:
    later = (*MIGRATIONS, "CREATE TABLE habilis.more (x int)")
    assert migrate(database, steps=later) == (len(MIGRATIONS), len(later))
    with pytest.raises(UserError, match="use a newer one"):
        PostgresStore(database)
    with pytest.raises(UserError, match="use a newer one"):
        migrate(database)


def test_a_migration_that_fails_leaves_the_tables_as_they_were(database: str) -> None:
    broken = (*MIGRATIONS, "CREATE TABLE habilis.more (x int)", "SELECT 1 / 0")
    with pytest.raises(PlaceError, match="division"):
        migrate(database, steps=broken)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT to_regclass('habilis.more')").fetchone() == (None,)
    with stores(database, 1) as (store,):
        store.lease("run", "me")


def opened(url: str) -> RunStore:
    return open_store(url)


def test_what_is_wrong_with_the_way_there_is_one_line_that_says_what_to_do(server: PostgresServer) -> None:
    at = f"127.0.0.1:{server.port}"
    for url, kind, words in (
        (f"postgresql://habilis:wrong-one-4711@{at}/postgres", UserError, "PGPASSWORD"),
        (f"postgresql://habilis@{at}/postgres", UserError, "PGPASSWORD"),
        (server.url("no_such_database"), UserError, "createdb"),
        ("postgresql://localhost/x?colour=red", UserError, "is not the address"),
        ("postgresql://127.0.0.1:1/x", PlaceError, "cannot be reached"),
    ):
        with pytest.raises(kind, match=words) as told:
            opened(url)
        text = str(told.value)
        assert "\n" not in text
        assert "wrong-one-4711" not in text
    with pytest.raises(UserError, match="habilis store init"):  # the password is right; the tables are not there
        opened(f"postgresql://habilis:{PASSWORD}@{at}/postgres")
