"""What the machine refuses is told from what a tool or a person did wrong."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from habilis.core.errors import PlaceError, UserError
from habilis.core.place import ADVICE, place_error, place_failure, place_told, scarcity


@pytest.mark.parametrize("number", ADVICE)
def test_what_the_machine_refuses_says_what_to_do(number: int) -> None:
    found = place_error(OSError(number, os.strerror(number), "/some/run/events.jsonl"))
    assert found is not None
    assert str(found).startswith("/some/run/events.jsonl: ")
    assert ADVICE[number] in str(found)


def test_a_copy_that_finds_no_room_names_the_disk_that_is_full_and_not_what_is_copied() -> None:
    refused = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/usr/lib/module.py", None, "/some/cache/module.py")
    assert str(place_error(refused)) == "/some/cache/module.py: No space left on device; free space on this disk"


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOTDIR, errno.ENOENT])
def test_a_folder_of_the_users_is_the_users_one_of_ours_the_places(number: int) -> None:
    refused = OSError(number, os.strerror(number), "/some/cache")
    assert place_error(refused) is None
    ours = place_error(refused, ours=True)
    assert ours is not None
    assert str(ours).startswith("/some/cache ")


def test_a_refusal_without_a_name_still_says_what_to_do() -> None:
    assert str(place_error(OSError(errno.EMFILE, "Too many open files"))).startswith("Too many open files; allow more")


def _sqlite(folder: Path) -> sqlite3.Error:
    """What SQLite says of a base that may not grow."""
    with sqlite3.connect(folder / "base") as base:
        base.execute("create table rows (text)")
        base.execute("pragma max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as refused:
            base.execute("insert into rows values (?)", ("x" * 100_000,))
    base.close()
    return refused.value


def test_whatever_says_that_this_machine_fails_is_known_for_it(tmp_path: Path) -> None:
    found = {
        str(place_failure(error))
        for error in (MemoryError(), RuntimeError("can't start new thread"), _sqlite(tmp_path), PlaceError("as it is"))
    }
    assert found == {
        "out of memory; free memory on this machine, or run fewer tasks at once",
        ADVICE[errno.EAGAIN],
        "database or disk is full; free space on this disk",
        "as it is",
    }


@pytest.mark.parametrize("error", [UserError("a setting"), ValueError("x"), RuntimeError("y"), sqlite3.Error("z")])
def test_what_says_nothing_of_the_machine_stays_what_it_is(error: Exception) -> None:
    assert place_failure(error) is None
    with pytest.raises(type(error)), place_told():
        raise error


def test_a_connection_that_lacks_a_descriptor_is_no_servers_fault() -> None:
    lacking, refused = ConnectionError("no connection"), ConnectionError("no connection")
    lacking.__cause__ = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    refused.__cause__ = OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    assert "ulimit -n" in str(scarcity(lacking))
    assert scarcity(refused) is None


def test_what_stands_in_the_way_is_named_and_not_what_was_to_lie_below_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PlaceError, match=r"/file stands where a folder is needed"), place_told():
        (tmp_path / "file" / "below" / "far").mkdir(parents=True)


def test_a_machine_without_a_temporary_folder_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/no/such/folder"])
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(PlaceError, match="set TMPDIR to another"), place_told():
        tempfile.gettempdir()
