"""Removing contents from a database while others write to it: the moments at which that could go wrong, and all of them
at random."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from habilis.core.errors import LeaseLost, PlaceError, UserError
from habilis.core.ports import Put
from habilis.rundir.store import removing
from habilis.rundir.store.postgres import PostgresStore
from habilis.rundir.store.schema import MIGRATIONS
from habilis.rundir.store.versions import migrate

from .postgres import POSTGRES, PostgresServer
from .test_pruning import digest, tree

pytestmark = POSTGRES
OLD = digest(b"old")
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@contextmanager
def opened(url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(url)) as store:
        yield store


def left_over(url: str, *contents: bytes) -> None:
    """Contents that a training kept which is over, and that nothing refers to."""
    with opened(url) as store:
        lease = store.lease("over", "me")
        store.keep(lease, contents)
        store.release(lease)


def removed(url: str, *digests: str) -> list[str]:
    with opened(f"{url}&options=-c%20lock_timeout%3D20s") as store:  # where it waits for this test, it waits in vain
        return store.remove(digests)


def passed_since(url: str, seconds: float) -> None:
    """Have all leases that are held run out so long ago."""
    with psycopg.connect(url, autocommit=True) as connection:
        ago = "UPDATE habilis.lease SET expires = clock_timestamp() - %s * interval '1 second' WHERE owner <> ''"
        connection.execute(ago, (seconds,))


def begun(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_for_a_lock(url: str, thread: threading.Thread) -> None:
    with psycopg.connect(url, autocommit=True) as looking:
        while not looking.execute(_WAITING).fetchone()[0]:  # type: ignore[index]
            assert thread.is_alive(), "it waited for nobody"


def test_a_content_that_is_being_kept_right_now_stays_and_nobody_waits(database: str) -> None:
    left_over(database, b"old")
    with opened(database) as store, psycopg.connect(database) as keeping:
        lease = store.lease("run", "me")
        keeping.execute("SELECT habilis.fence('run', %s)", (lease.epoch,))
        keeping.execute("UPDATE habilis.blob SET kept = %s WHERE digest = %s", (lease.epoch, OLD))  # not committed
        assert removed(database, OLD) == []
        keeping.commit()
        store.write(lease, [Put("run/tasks/a/tree.json", tree(b"old"))])
        store.release(lease)
        assert removed(database, OLD) == []
        assert store.blob(OLD) == b"old"


def test_a_content_that_is_kept_while_it_is_removed_is_there_afterwards(database: str) -> None:
    left_over(database, b"old")
    with opened(database) as store, psycopg.connect(database) as removal:
        lease = store.lease("run", "me")
        which = {"digests": [OLD], "horizon": lease.epoch}
        assert removal.execute(removing._REMOVE, which).fetchall() == [(OLD,)]  # not committed
        thread = begun(lambda: store.keep(lease, [b"old"]))
        wait_for_a_lock(database, thread)
        removal.commit()
        thread.join()
        assert store.blob(OLD) == b"old"
        assert removed(database, OLD) == [], "it is kept under a lease that is not over"


def test_who_begins_while_the_horizon_is_taken_is_waited_for(database: str) -> None:
    """A lease whose epoch is drawn but not yet seen: what is kept under it must not lie below the horizon."""
    left_over(database, b"old")
    with opened(database) as store, psycopg.connect(database) as beginning:
        taking = "INSERT INTO habilis.lease VALUES ('run', 'me', nextval('habilis.epoch'), 'infinity') RETURNING epoch"
        row = beginning.execute(taking).fetchone()  # not committed
        assert row is not None
        horizons: list[int] = []
        thread = begun(lambda: horizons.append(removing._horizon(store._connection)))
        wait_for_a_lock(database, thread)
        beginning.commit()
        thread.join()
        assert horizons == [row[0]]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_who_tells_of_a_content_and_ends_while_it_is_looked_for_loses_nothing(
    database: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Right before the horizon or right after it: the documents are looked at later than both."""
    taken = removing._horizon
    with opened(database) as store:
        lease = store.lease("run", "me")
        store.keep(lease, [b"old"])

        def told_of(connection: psycopg.Connection[Any]) -> int:
            horizon = taken(connection) if moment == "after" else 0
            store.write(lease, [Put("run/tasks/a/tree.json", tree(b"old"))])
            store.release(lease)
            return horizon or taken(connection)

        monkeypatch.setattr(removing, "_horizon", told_of)
        assert removed(database, OLD) == []
        assert store.blob(OLD) == b"old"


def test_who_holds_the_leases_for_long_is_not_waited_for_for_ever(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removing, "_LOCK", removing._LOCK.replace(str(removing.WAIT_MS), "50"))
    with psycopg.connect(database) as stuck:
        stuck.execute("LOCK TABLE habilis.lease IN ROW EXCLUSIVE MODE")
        with pytest.raises(PlaceError, match="try again"):
            removed(database, OLD)


def test_a_training_that_is_out_of_reach_for_a_while_keeps_what_it_kept(database: str) -> None:
    with opened(database) as store:
        lease = store.lease("run", "out of reach")
        store.keep(lease, [b"old"])
        passed_since(database, removing.GONE_S - 60)
        with opened(database) as other:
            assert (other.unused().free, list(other.unused().held)) == ({}, [OLD])
        assert removed(database, OLD) == []
        store.renew(lease)
        store.write(lease, [Put("run/tasks/a/tree.json", tree(b"old"))])
        assert store.blob(OLD) == b"old"


def test_a_training_that_was_gone_for_long_is_over_before_its_contents_go(database: str) -> None:
    """Should it come back all the same, it cannot write a tree whose contents are gone."""
    with opened(database) as store, opened(database) as other:
        lease = store.lease("run", "killed")
        store.keep(lease, [b"old"])
        passed_since(database, removing.GONE_S + 60)
        assert list(other.unused().free) == [OLD]
        store.renew(lease)  # looking has changed nothing
        passed_since(database, removing.GONE_S + 60)
        assert other.remove([OLD]) == [OLD]
        with pytest.raises(LeaseLost):
            store.write(lease, [Put("run/tasks/a/tree.json", tree(b"old"))])
        with pytest.raises(LeaseLost):
            store.renew(lease)
        assert other.lease("run", "goes on").epoch > lease.epoch


def test_who_has_a_write_under_way_is_not_gone(database: str) -> None:
    """Its lease ran out long ago by the clock, but its transaction is open: it is neither waited for nor ended."""
    with opened(database) as store, psycopg.connect(database) as writing:
        lease = store.lease("run", "slow")
        store.keep(lease, [b"old"])
        passed_since(database, removing.GONE_S + 60)
        writing.execute("SELECT habilis.fence('run', %s)", (lease.epoch,))
        assert removed(database, OLD) == []
        writing.execute("INSERT INTO habilis.chunk (name, data) VALUES ('run/tasks/a/tree.json', %s)", (tree(b"old"),))
        writing.commit()
        assert removed(database, OLD) == []


def test_of_two_leases_the_later_one_has_the_greater_epoch_whatever_their_names(database: str) -> None:
    with opened(database) as store:
        epochs = []
        for name in ("a", "b", "a", "c", "b"):
            lease = store.lease(name, "me")
            epochs.append(lease.epoch)
            store.release(lease)
        assert epochs == sorted(set(epochs))


def test_tables_of_before_are_migrated_when_nobody_is_at_work(server: PostgresServer) -> None:
    """A training of an older version would not say what it keeps anew."""
    url = server.fresh()
    migrate(url, fresh=True, steps=MIGRATIONS[:1])
    with psycopg.connect(url, autocommit=True) as connection:
        taking = "INSERT INTO habilis.lease VALUES ('run', 'of before', 41, clock_timestamp() + interval '9 minutes')"
        connection.execute(taking)
        connection.execute("INSERT INTO habilis.blob VALUES (%s, 'old'), (%s, 'used')", (OLD, digest(b"used")))
        connection.execute(
            "INSERT INTO habilis.chunk (name, data) VALUES ('run/tasks/a/tree.json', %s)", (tree(b"used"),)
        )
        with pytest.raises(UserError, match="at work"):
            migrate(url)
        passed_since(url, 1)
        assert migrate(url) == (1, len(MIGRATIONS))
        with pytest.raises(psycopg.Error, match="is over"):
            connection.execute("SELECT habilis.fence('run', 41)")
    with opened(url) as store:
        assert store.lease("run", "me").epoch > 41
        assert removed(url, OLD, digest(b"used")) == [OLD]
        assert store.blob(digest(b"used")) == b"used"


WRITERS, ROUNDS = 4, 40


def test_whatever_the_moments_nothing_goes_that_a_tree_names(database: str) -> None:
    """Trainings that keep the same few contents again and again and tell of them later, each with its own connection,
    and two that prune without a pause."""
    over, kept, gone = threading.Event(), [0] * WRITERS, [0, 0]
    failures: list[BaseException] = []

    def write(number: int) -> None:
        chance = random.Random(number)
        with opened(database) as store:
            for at in range(ROUNDS):
                lease = store.lease(f"run{number}-{at % 3}", f"writer {number}")
                contents = [b"content %d" % one for one in chance.sample(range(40), 3)]
                store.keep(lease, contents)
                for _ in range(chance.randrange(3)):
                    store.renew(lease)  # time passes
                kept[number] += len(contents)
                store.write(lease, [Put(f"run{number}/tasks/a/tree.json", tree(*contents))])
                if chance.random() < 0.8:
                    for content in contents:
                        store.blob(digest(content))  # it would raise
                store.release(lease)

    def prune(number: int) -> None:
        with opened(database) as store:
            while not over.is_set():
                gone[number] += len(store.remove(store.unused().free))

    def guarded(work: Callable[[int], None], number: int) -> threading.Thread:
        def run() -> None:
            try:
                work(number)
            except BaseException as error:
                failures.append(error)

        return begun(run)

    pruners = [guarded(prune, number) for number in range(2)]
    writers = [guarded(write, number) for number in range(WRITERS)]
    for thread in writers:
        thread.join()
    over.set()
    for thread in pruners:
        thread.join()
    assert not failures
    assert kept == [3 * ROUNDS] * WRITERS
    assert sum(gone) > ROUNDS, "hardly anything was removed while they wrote"
    with opened(database) as store:
        for name in store.names("run"):
            for _, pieces in json.loads(store.read(name) or b"")["files"].values():
                assert sha256(store.blob(pieces[0])).hexdigest() == pieces[0]
