"""Checkpoints of one task: the newest of each graph is all that a resume reads, so it is all that is kept.

The file may be a stranger's. It is opened only as what Habilis writes: two tables of known form and nothing that acts
by itself, no link in the place of it or of SQLite's own files, and in its rows what `agents.plainstate` knows.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver

from habilis.agents.plainstate import HushedSerializer
from habilis.core.errors import HabilisError, PlaceError, UserError
from habilis.core.place import place_failure
from habilis.rundir import check_plain_file
from habilis.rundir.damage import is_odd, set_aside
from habilis.rundir.files import place
from habilis.rundir.kept import kept_at

_CHECKPOINTS = """CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT,
    type TEXT,
    checkpoint BLOB,
    metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
)"""
_WRITES = """CREATE TABLE writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,{}
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
)"""
_TASK_PATH = "task_path TEXT NOT NULL DEFAULT ''"
_TABLES = (_CHECKPOINTS, _WRITES.format(f"\n    {_TASK_PATH},"))
"""The tables as LangGraph makes them (langgraph-checkpoint-sqlite 3)."""
_BEFORE = _WRITES.format("")
_ALTERED = (
    _BEFORE.replace("value BLOB,", f"value BLOB, {_TASK_PATH},"),
    f"{_BEFORE.removesuffix(')')}, {_TASK_PATH})",  # where SQLite puts a new column differs by version
)
_KNOWN = frozenset("".join(text.split()) for text in (*_TABLES, *_ALTERED))
"""… and as it left those that are older than their last column."""
_GUARDS = """
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
PRAGMA mmap_size = 0;
"""
"""What SQLite's makers advise for files of unknown origin (sqlite.org/security.html)."""
_OLDER = "thread_id = NEW.thread_id AND checkpoint_ns = NEW.checkpoint_ns AND checkpoint_id < NEW.checkpoint_id"
_SETTINGS = f"""
PRAGMA synchronous = NORMAL;
CREATE TEMP TRIGGER newest AFTER INSERT ON main.checkpoints BEGIN
    DELETE FROM checkpoints WHERE {_OLDER};
    DELETE FROM writes WHERE {_OLDER};
END;
"""
"""In a write-ahead log NORMAL gives each commit to the kernel and leaves the disk to that: a killed process loses
nothing, a machine that dies at most its last steps, whose model calls are on the tape."""
_BESIDE = ("", "-wal", "-shm", "-journal")
_JOURNAL_END = bytes.fromhex("d9d505f920a163d7")
"""How a roll-back journal ends that names another file, which SQLite may then delete (pager.c): never one of ours."""
_MAX_VALUE_BYTES = 256 << 20


class NewestCheckpoints(SqliteSaver):
    """SQLite checkpoints without history: kept whole, they would grow with the square of the rounds.

    One that is saved takes the place of those before it in the same transaction. All of it is done where it is asked
    for, without a thread: a commit takes less time than waking one.
    """

    @classmethod
    @contextlib.contextmanager
    def at(cls, path: Path) -> Iterator[NewestCheckpoints]:
        """The checkpoints in the file `path`, made if need be.

        Raises `PlaceError` for a disk that refuses, `UserError` for a file that Habilis did not write.
        """
        with contextlib.closing(_opened(path)) as connection:
            saver = cls(connection, serde=HushedSerializer())
            saver.is_setup, saver.path = True, path
            yield saver

    path: Path

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with _telling(self.path):
            found = super().get_tuple(config)
            return _sound(found) if found is not None else None

    def list(self, config: RunnableConfig | None, **chosen: Any) -> Iterator[CheckpointTuple]:
        with _telling(self.path):
            rows = [_sound(found) for found in super().list(config, **chosen)]
        yield from rows

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> NewestCheckpoints:
        """Itself: what may be read is in a closed table, whatever types a graph's state names."""
        return self

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.get_tuple(config)

    async def alist(self, config: RunnableConfig | None, **chosen: Any) -> AsyncIterator[CheckpointTuple]:
        for found in self.list(config, **chosen):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        with _telling(self.path):
            saved = self.put(config, checkpoint, metadata, new_versions)
            if (kept := kept_at(self.path)) is not None:
                kept.keep_work(self.path.parent, self.conn.serialize())
            return saved

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        with _telling(self.path):
            self.put_writes(config, writes, task_id, task_path)


_SHAPE: dict[str, Callable[[Any], bool]] = {
    "v": lambda value: isinstance(value, int),
    "id": lambda value: isinstance(value, str),
    "ts": lambda value: isinstance(value, str),
    "channel_values": lambda value: _by_text(value),
    "channel_versions": lambda value: _by_text(value) and all(isinstance(v, str | int | float) for v in value.values()),
    "versions_seen": lambda value: _by_text(value) and all(_by_text(seen) for seen in value.values()),
}


def _by_text(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


def _sound(found: CheckpointTuple) -> CheckpointTuple:
    """`found`, if it has the form of a checkpoint. Raises ValueError."""
    checkpoint: Any = found.checkpoint
    if not isinstance(checkpoint, dict) or not isinstance(found.metadata, dict):
        raise ValueError("no checkpoint")
    for name, fits in _SHAPE.items():
        if not fits(checkpoint.get(name)):
            raise ValueError(f"a checkpoint without {name}")
    return found


def unusable(path: Path) -> str:
    """Why no task can go on from the checkpoints in `path`; "" where one can, and where there are none."""
    if not os.path.lexists(path):
        return ""
    if is_odd(path):
        return "a folder or a link lies in its place"
    try:
        with NewestCheckpoints.at(path) as saver:
            list(saver.list(None))
    except (sqlite3.Error, UserError) as error:
        return " ".join(str(error).removeprefix(f"{path} ").split())
    return ""


def without_unusable(path: Path, root: Path) -> list[str]:
    """Set a file of checkpoints aside that no task can go on from, in the run at `root`, and say so: then it begins at
    its start again, answered from its tape. Raises OSError."""
    if why := unusable(path):
        for ending in _BESIDE:
            if os.path.lexists(beside := path.with_name(path.name + ending)):
                set_aside(beside, root)
    return [f"{path}: damaged: {why}; set aside in damaged/, the task is told again from its tape"] if why else []


def _opened(path: Path) -> sqlite3.Connection:
    with _telling(path):
        _check_files(path)
        if not any(os.path.lexists(path.with_name(path.name + ending)) for ending in _BESIDE):
            place(path, _fresh(), durable=False)  # a log that lies there alone would be played back into it
        connection = sqlite3.connect(path)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
            connection.executescript(_GUARDS)
            if not _is_known(connection, path):
                connection.executescript(";".join(("PRAGMA journal_mode = WAL", *_TABLES)))
            connection.executescript(_SETTINGS)
        except BaseException:
            connection.close()
            raise
    return connection


@lru_cache(maxsize=1)
def _fresh() -> bytes:
    """A file of no checkpoints yet, its journal a write-ahead log (bytes 18 and 19: sqlite.org/fileformat.html, 1.3).

    SQLite would wait for the disk to make one; until the first step is saved it holds nothing that could be lost.
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(";".join(_TABLES))
        made = bytearray(connection.serialize())
    made[18:20] = bytes((2, 2))
    return bytes(made)


def _check_files(path: Path) -> None:
    """Raises `UserError` where a link, a pipe or a journal that leads elsewhere lies in the place of a file."""
    for ending in _BESIDE:
        check_plain_file(path.with_name(path.name + ending))
    try:
        with path.with_name(path.name + "-journal").open("rb") as journal:
            journal.seek(-min(len(_JOURNAL_END), journal.seek(0, 2)), 2)
            if journal.read() == _JOURNAL_END:
                raise _foreign(path, "a journal that leads to other files")
    except FileNotFoundError:
        return


def _is_known(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; False for a fresh file. Raises `UserError` for one that holds anything else."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    made = [(kind, name, sql) for kind, name, sql in rows if not (kind == "index" and sql is None)]
    if not made:
        return False
    for kind, name, sql in made:
        if kind != "table" or not isinstance(sql, str) or "".join(sql.split()) not in _KNOWN:
            raise _foreign(path, f"the {str(kind)[:20]} {str(name)[:40]!r}")
    if {name for _, name, _ in made} != {"checkpoints", "writes"}:
        raise _foreign(path, "other tables")
    whole = connection.execute("PRAGMA quick_check(1)").fetchone()
    if whole is None or whole[0] != "ok":
        raise _foreign(path, "damaged pages")
    return True


@contextlib.contextmanager
def _telling(path: Path) -> Iterator[None]:
    """What cannot be read of a file of checkpoints, or what a disk refuses, as one line for a person."""
    try:
        yield
    except HabilisError:
        raise
    except sqlite3.OperationalError as error:
        if (place := place_failure(error)) is None:
            raise
        raise PlaceError(f"{path}: {place}") from error
    except (sqlite3.DatabaseError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise _foreign(path, " ".join(str(error).split())[:120] or type(error).__name__) from None


def _foreign(path: Path, what: str) -> UserError:
    return UserError(
        f"{path} holds something that Habilis never writes ({what}); the task cannot go on from it: ask again"
    )
