"""How many tasks become one library, where their questions come from, and how answers are scored."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from habilis.core.types import Frozen


class EvolutionSettings(Frozen):
    """How tools of many tasks become one library, step by step, and when to stop."""

    batch_size: int = Field(16, ge=1, le=10_000, description="tasks of one step; after each the library is published")
    concurrency: int = Field(8, ge=1, le=1_000, description="tasks that run side by side")
    task_timeout_s: float = Field(5400.0, gt=0, description="seconds that one task may take before it is ended")
    train_steps: int | None = Field(None, ge=1, description="steps to run; unset: the whole data set")
    merge_policy: Literal["best", "model", "naive"] = Field(
        "best",
        description="how tools that do the same are merged; best: the one with the best record, model: the writer "
        "makes one of all, naive: the smallest file",
    )
    trial_calls: int = Field(
        6, ge=0, le=100, description="generated calls on which a tool is compared with each that it is to replace"
    )
    retire_calls: int = Field(10, ge=2, le=1_000, description="last calls of a tool by which it is judged")
    retire_below: float = Field(
        0.3, ge=0, le=1, description="share of these that must succeed; a tool below it is retired"
    )
    runner: Literal["local", "process"] = Field(
        "local", description="local: all tasks in one process; process: each task in a process of its own"
    )
    share_builds: bool = Field(
        True, description="tasks of one step that ask for the same tool wait for one build, and share it"
    )
    task_memory_mb: int | None = Field(
        None, ge=128, description="memory of one task with all its processes, MiB (PSS; runner process, Linux)"
    )
    egl_flat_steps: int | None = Field(
        None,
        ge=1,
        description="stop when EGL (tools written per tool call) moved by less than 0.01 over this many steps",
    )
    max_tokens: int | None = Field(None, ge=1, description="tokens that the whole run may cost")
    max_time_s: float | None = Field(None, gt=0, description="seconds that the whole run may take, resumes included")
    stop_file: str | None = Field(None, description="file whose appearance ends the run after the step under way")
    absorb: bool = Field(True, description="take the proven tools of an answered single task into the library")
    absorb_timeout_s: float = Field(
        20.0, gt=0, description="seconds for trying them again first; a tool that takes longer stays with its task"
    )


class DatasetsSettings(Frozen):
    """Where published data sets come from."""

    hub_url: str | None = Field(None, description="address of the hub; unset: the public one of Hugging Face")
    hub_token_env: str = Field(
        "HF_TOKEN", description="name of the environment variable that holds the token for sets that ask for one"
    )


class ScoringSettings(Frozen):
    """How answers are scored."""

    concurrency: int = Field(8, ge=1, le=256, description="answers that models judge at once")
