"""Checkpoints of one task: the newest of each graph is all that a resume reads, so it is all that is kept."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_OLDER = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?"


class NewestCheckpoints(AsyncSqliteSaver):
    """SQLite checkpoints without history: kept whole, they would grow with the square of the rounds."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save `checkpoint`, then drop those before it; a kill in between leaves one too many, never one too few."""
        saved = await super().aput(config, checkpoint, metadata, new_versions)
        place = saved["configurable"]
        older = (str(place["thread_id"]), place["checkpoint_ns"], checkpoint["id"])
        async with self.lock:
            await self.conn.execute(f"DELETE FROM checkpoints WHERE {_OLDER}", older)
            await self.conn.execute(f"DELETE FROM writes WHERE {_OLDER}", older)
            await self.conn.commit()
        return saved
