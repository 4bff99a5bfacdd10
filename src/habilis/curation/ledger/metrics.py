"""Figures of a training run, step by step: what was made, called and reused, what it cost, what was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from habilis.contract.names import RESERVED
from habilis.core.errors import UserError
from habilis.core.types import FORMAT, Frozen, Invocation, Usage
from habilis.core.usage import Money
from habilis.curation.ledger.reports import Finished
from habilis.library import Library
from habilis.models.tape import Tape
from habilis.rundir import TaskDir, read_jsonl
from habilis.rundir.plain import plain_json, read_plain


class StepMetrics(Frozen):
    """One row of `metrics.jsonl`.

    `egl`: tools synthesised so far / tool invocations so far (evolutionary generality loss; None before any call).
    `reuse_rate`: share of the step's calls that went to tools which their task did not have to have written.
    `tool_success_rate`: share of its calls without an error and not judged a failure. `tokens_per_task` and
    `cost_per_task` are means over the step's tasks; what they cost (`cost`, USD) is None where a price is not known.
    `accuracy`: right answers of the `scored` ones, whose answer is known. Rates without anything to count are None.
    """

    format: int = FORMAT
    step: int
    generation: int
    tasks: int
    statuses: dict[str, int] = Field(default_factory=dict)
    synthesised: int = 0
    adopted: int = 0
    invocations: int = 0
    synthesised_so_far: int = 0
    invocations_so_far: int = 0
    egl: float | None = None
    reuse_rate: float | None = None
    tool_success_rate: float | None = None
    library_size: int = 0
    tokens: int = 0
    tokens_per_task: float | None = None
    cost: Money | None = None
    cost_per_task: float | None = None
    right: int = 0
    scored: int = 0
    accuracy: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class TaskFigures:
    """What one task contributes: names of the tools made for it and taken over by it, its calls, its price.

    `calls` counts all tool calls, `good` those that succeeded, `reused` those of tools that were not made for the task.
    """

    made: frozenset[str] = frozenset()
    adopted: frozenset[str] = frozenset()
    calls: int = 0
    good: int = 0
    reused: int = 0
    usage: Usage = field(default_factory=Usage)


def figures_of(finished: Finished) -> TaskFigures:
    """What a finished task's folder tells. A task that left no result still counts with what it made and called."""
    folder = TaskDir(Path(finished.folder))
    made, adopted = _tools_of(folder)
    if finished.result is None:
        names = [row["tool"] for row in read_jsonl(folder.tape) if row.get("kind") == "started" and "tool" in row]
        names = [name for name in names if name not in RESERVED]
        reused = sum(name not in made for name in names)
        return TaskFigures(made, adopted, len(names), 0, reused, usage_of(finished))
    calls = [call for call in finished.result.invocations if call.tool not in RESERVED]
    return TaskFigures(
        made,
        adopted,
        len(calls),
        sum(map(_good, calls)),
        sum(call.tool not in made for call in calls),
        finished.result.usage,
    )


def usage_of(finished: Finished) -> Usage:
    """What a task cost: by its result, else by its tape."""
    return finished.result.usage if finished.result is not None else usage_on(TaskDir(Path(finished.folder)).tape)


def usage_on(tape: Path) -> Usage:
    """What the replies on a tape cost; nothing where none can be read."""
    if not tape.is_file():
        return Usage()
    try:
        opened = Tape(tape)
    except UserError:
        return Usage()
    try:
        return sum(opened.paid().values(), Usage())
    finally:
        opened.close()


def step_metrics(
    step: int,
    finished: Sequence[Finished],
    before: StepMetrics | None,
    *,
    generation: int,
    library_size: int,
    verdicts: Iterable[bool | None] = (),
    seconds: float = 0.0,
) -> StepMetrics:
    """The row of `step`. `before` is the row of the step before, `verdicts` whether each known answer was met."""
    tasks = [figures_of(one) for one in finished]
    usage = sum((task.usage for task in tasks), Usage())
    made, calls = sum(len(task.made) for task in tasks), sum(task.calls for task in tasks)
    made_so_far = made + (before.synthesised_so_far if before else 0)
    calls_so_far = calls + (before.invocations_so_far if before else 0)
    scored = [verdict for verdict in verdicts if verdict is not None]
    return StepMetrics(
        step=step,
        generation=generation,
        tasks=len(finished),
        statuses=dict(sorted(Counter(one.status for one in finished).items())),
        synthesised=made,
        adopted=sum(len(task.adopted) for task in tasks),
        invocations=calls,
        synthesised_so_far=made_so_far,
        invocations_so_far=calls_so_far,
        egl=_rate(made_so_far, calls_so_far),
        reuse_rate=_rate(sum(task.reused for task in tasks), calls),
        tool_success_rate=_rate(sum(task.good for task in tasks), calls),
        library_size=library_size,
        tokens=usage.total_tokens,
        tokens_per_task=_rate(usage.total_tokens, len(finished)),
        cost=usage.cost,
        cost_per_task=None if usage.cost is None else _rate(float(usage.cost), len(finished)),
        right=sum(scored),
        scored=len(scored),
        accuracy=_rate(sum(scored), len(scored)),
        seconds=round(seconds, 3),
    )


def _good(call: Invocation) -> bool:
    return call.outcome.error is None and call.verdict in (None, "success")


def _rate(part: float, whole: float) -> float | None:
    return round(part / whole, 6) if whole else None


def _tools_of(folder: TaskDir) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the private tools that were made for a task, those set aside included, and of those taken over.

    A private fork of a public tool is neither: it was mended, not synthesised.
    """
    origins: dict[str, Mapping[str, object]] = {}
    for path in sorted((folder.tools / "archive").glob("*.json")):
        try:
            manifest = plain_json(read_plain(path))
            origins[manifest["name"]] = manifest["origin"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    if folder.tools.is_dir():
        origins |= {tool.name: tool.origin.model_dump() for tool in Library(folder.tools).tools()}
    adopted = frozenset(name for name, origin in origins.items() if origin.get("shared_by"))
    made = frozenset(name for name, origin in origins.items() if origin.get("how") in ("built", "enhanced"))
    return made - adopted, adopted
