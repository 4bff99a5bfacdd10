"""The words of evolution as frozen data, JSON-plain: what its rooms hand to each other and write to disk."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from habilis.core.types import FORMAT, Frozen, Status, TaskResult, Usage

Scorer = Literal["auto", "exact", "text", "numeric", "list", "set", "judge"]
MergePolicy = Literal["best", "model", "naive"]
Point = Literal["tasks", "collected", "clustered", "merged", "verified", "undone", "published"]
"""Where a step stands in its journal, in this order."""
Ending = Literal["kept", "merged", "retired", "quarantined"]


_NOT_ABSORBED = frozenset({"timed_out", "crashed", "interrupted", "waiting", "environment_error"})


class Row(Frozen):
    """One task of a data set. `answer` (any JSON) is known to scorers alone; no agent ever sees it.

    `files` are absolute paths. `rubric` is what a judge goes by where the benchmark has one.
    """

    id: str
    question: str
    answer: Any = None
    files: tuple[str, ...] = ()
    scorer: Scorer = "auto"
    rubric: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class Finished(Frozen):
    """One task of a batch as it ended, by itself or ended by its runner. `folder` is the task's (see `runs/README.md`).

    `result` is None when the task left none: killed, crashed with its interpreter, or timed out beyond saving.
    """

    task_id: str
    status: Status
    folder: str
    result: TaskResult | None = None
    error: str | None = None
    seconds: float = 0.0

    @property
    def absorbable(self) -> bool:
        """Whether the task came to an end of its own, so that its tools may be collected."""
        return self.result is not None and self.status not in _NOT_ABSORBED


class Fate(Frozen):
    """What became of one tool that went into a step. `tool` is `name@version`, with `task:` before it when private.

    `into` is the tool of the new generation that does its work now (itself, when kept), None when it is out of use.
    """

    tool: str
    ending: Ending
    into: str | None = None
    reason: str = ""


class Lineage(Frozen):
    """Where a tool that is new in a generation comes from: its parents (`name@version`), the tasks that proved it, who
    wrote it by which model, and how many recorded calls of others it repeated to get there.

    `told` counts all comparisons with those others that told something, `distinct` the distinct results on which it and
    the one of them that showed least agreed.
    """

    tool: str
    parents: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    writer: str = ""
    model: str = ""
    replays: int = 0
    told: int = 0
    distinct: int = 0


class StepReport(Frozen):
    """One step of the curator: every tool that went in is accounted for, once (`balanced`).

    `model_calls` counts finished requests; `usage` is what they cost, failed attempts included. `evidence` says in
    lines what merges were tried on, and what spoke against others. `came_back` are members of merges that were undone:
    out of use before, in use since. `run` tells apart the steps of runs that feed one library; it is empty in a
    library of the run's own.
    """

    format: int = FORMAT
    run: str = ""
    step: int
    generation: int
    parent: int | None = None
    went_in: tuple[str, ...] = ()
    fates: tuple[Fate, ...] = ()
    came_back: tuple[Fate, ...] = ()
    lineage: tuple[Lineage, ...] = ()
    evidence: tuple[str, ...] = ()
    tools: int = 0
    model_calls: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0

    @property
    def balanced(self) -> bool:
        """Whether the fates name exactly the tools that went in, each once."""
        return sorted(self.went_in) == sorted(fate.tool for fate in self.fates)
