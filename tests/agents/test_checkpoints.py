"""The file of a task's checkpoints: laid down ready-made, and the same file as SQLite would have made."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

from habilis.agents.checkpoints import NewestCheckpoints

CONFIG: Any = {"configurable": {"thread_id": "task", "checkpoint_ns": ""}}


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
    return ["".join(sql.split()).replace("IFNOTEXISTS", "") for (sql,) in rows]


def asked(connection: sqlite3.Connection, pragma: str) -> Any:
    return connection.execute(f"PRAGMA {pragma}").fetchone()[0]


def test_a_new_file_has_the_tables_that_langgraph_makes_and_a_log_to_write_ahead(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "theirs")) as connection:
        SqliteSaver(connection).setup()
        theirs = tables(connection)
    with NewestCheckpoints.at(tmp_path / "ours") as saver:
        assert tables(saver.conn) == theirs
        assert (asked(saver.conn, "journal_mode"), asked(saver.conn, "integrity_check")) == ("wal", "ok")


async def test_what_is_saved_is_there_when_the_file_is_opened_again_even_where_it_began_empty(tmp_path: Path) -> None:
    for name in ("new", "empty"):
        path = tmp_path / name
        if name == "empty":
            path.touch()
        with NewestCheckpoints.at(path) as saver:
            await saver.aput(CONFIG, empty_checkpoint(), {}, {})
        with NewestCheckpoints.at(path) as saver:
            assert await saver.aget_tuple(CONFIG) is not None
            assert asked(saver.conn, "journal_mode") == "wal"


async def test_a_log_whose_file_is_gone_is_no_part_of_the_next_one(tmp_path: Path) -> None:
    """SQLite itself drops a log beside an empty file; beside one that was laid down it would play it back."""
    path, log = tmp_path / "checkpoints", tmp_path / "checkpoints-wal"
    with NewestCheckpoints.at(path) as saver:
        await saver.aput(CONFIG, empty_checkpoint(), {}, {})
        left = log.read_bytes()
    assert left
    path.unlink()
    log.write_bytes(left)
    with NewestCheckpoints.at(path) as saver:
        assert await saver.aget_tuple(CONFIG) is None
        assert asked(saver.conn, "integrity_check") == "ok"
