"""Single tasks evolve the library too: what one proved goes into the library that it ran with, without a model call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from habilis.config import Settings
from habilis.core.errors import UserError
from habilis.core.events import TaskAbsorbed
from habilis.core.types import TaskResult
from habilis.curation.curator import UNVERIFIED, Curator
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished, StepReport
from habilis.library import Library
from habilis.rundir import JsonlSink, RunDir, TaskDir
from habilis.runtime.host import ToolHost
from habilis.runtime.packages.environments import Environments

WAIT_S, VERIFY_S = 60.0, 20.0
"""Seconds to wait for another run that writes to the library, and to try the tools again: somebody has an answer and
waits for the prompt."""


async def absorb_task(
    result: TaskResult,
    library: Path,
    settings: Settings,
    *,
    host: ToolHost | None = None,
    told: Callable[[str], None] | None = None,
) -> StepReport | None:
    """Take the proven tools of an answered task, and its calls of the library's own, into `library`.

    None where there is nothing to take: the task has no answer, or made and called no tool. The merge policy is `best`
    whatever is set, and names decide what belongs together. A tool that cannot be tried again within
    `VERIFY_S` stays with the task (`unverified`). Called again for a task that was absorbed, it says
    so. Runs side by side take turns; `told` hears whom this one waits for. Raises what `Curator.step` does.
    """
    if result.status != "answered":
        return None
    check_grows(library)
    task = RunDir.open(Path(result.run_dir)).task(result.task_id)
    private = Library(task.tools)
    if not private.names() and not any(private.store.path("x").parent.glob("*.jsonl")):
        return None
    own = host or _host(settings)
    best = settings.evolution.model_copy(update={"merge_policy": "best"})
    try:
        curator = Curator(
            library,
            task.path,
            settings=settings.model_copy(update={"evolution": best}),
            host=own,
            models=False,
            journal=Journal(task.path / "absorbed.jsonl"),
            told=told,
            wait_s=WAIT_S,
            verify_s=VERIFY_S,
        )
        finished = Finished(task_id=task.id, status=result.status, folder=str(task.path), result=result)
        first = task.absorbed_into() is None
        report = await curator.step(1, [finished])
        if first:
            _tell(task, report.generation)
        return report
    finally:
        if host is None:
            await own.aclose()


def check_grows(library: Path) -> None:
    """Raises `UserError` for a folder of tools that is no library, and stays as it is."""
    if (library.absolute().parent / "task.json").exists():
        raise UserError(f"{library} holds the tools of one task, which do not change; copy the folder to build on it")


def _tell(task: TaskDir, generation: int) -> None:
    """The account of the task says it too, so that a lost file of points is known to have been there."""
    events = JsonlSink(task.events)
    events.emit(TaskAbsorbed(task_id=task.id, generation=generation))
    events.close()


def unverified(report: StepReport) -> list[str]:
    """Names of tools that stay with their task since there was no time to try them again."""
    late = (fate.tool for fate in report.fates if fate.reason.startswith(UNVERIFIED))
    return [label.split(":", 1)[-1].split("@")[0] for label in late]


def _host(settings: Settings) -> ToolHost:
    return ToolHost(settings.sandbox, environments=Environments.of(settings.tools))
