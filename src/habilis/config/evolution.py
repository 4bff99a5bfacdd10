"""How many tasks become one library."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from habilis.core.types import Frozen
from habilis.core.usage import Money


class EvolutionSettings(Frozen):
    """How tools of many tasks become one library, step by step, and when to stop."""

    batch_size: int = Field(16, ge=1, le=10_000, description="tasks of one step; after each the library is published")
    concurrency: int = Field(8, ge=1, le=1_000, description="tasks that run at once")
    task_timeout_s: float = Field(5400.0, gt=0, description="seconds that one task may take before it is ended")
    train_steps: int | None = Field(None, ge=1, description="steps to run; unset: the whole data set")
    merge_policy: Literal["best", "model", "naive"] = Field(
        "best",
        description="how tools that do the same thing are merged; best: keep the one with the best record; model: "
        "the writer makes one from all; naive: keep the smallest file",
    )
    runner: Literal["local", "process", "ray"] = Field(
        "local",
        description="local: many tasks in one process; process: each task in its own process; ray: the same, on the "
        "nodes of a Ray cluster",
    )
    workers: int = Field(1, ge=1, le=1_000, description="processes that share the tasks of a batch (runner local)")
    ray_address: str | None = Field(
        None, description="Ray cluster, as for ray.init (host:port, auto); unset: a new one on this machine"
    )
    task_memory_mb: int | None = Field(
        None, ge=128, description="memory of one task with all its processes, MiB (PSS; runners process and ray, Linux)"
    )
    max_tokens: int | None = Field(None, ge=1, description="tokens that the whole run may use")
    max_cost: Money | None = Field(
        None, gt=0, description="USD that the whole run may cost; every model needs a known price"
    )
    max_time_s: float | None = Field(None, gt=0, description="seconds that the whole run may take, resumes included")
    stop_file: str | None = Field(None, description="end the run after the current step once this file exists")
    absorb: bool = Field(True, description="take the proven tools of an answered single task into the library")
