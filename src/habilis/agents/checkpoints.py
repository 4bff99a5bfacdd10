"""Checkpoints of one task: the newest of each graph is all that a resume reads, so it is all that is kept."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite import SqliteSaver

from habilis.agents.hushed import HushedSerializer

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


class NewestCheckpoints(SqliteSaver):
    """SQLite checkpoints without history: kept whole, they would grow with the square of the rounds.

    One that is saved takes the place of those before it in the same transaction. All of it is done where it is asked
    for, without a thread: a commit takes less time than waking one.
    """

    @classmethod
    @contextlib.contextmanager
    def at(cls, path: Path) -> Iterator[NewestCheckpoints]:
        """The checkpoints in the file `path`, made if need be. Raises `sqlite3.Error`."""
        with contextlib.closing(sqlite3.connect(path)) as connection:
            saver = cls(connection, serde=HushedSerializer())
            saver.setup()
            connection.executescript(_SETTINGS)
            yield saver

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
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self.put_writes(config, writes, task_id, task_path)
