"""One task of a batch as a runner gets it, the team that works on it, and how its end is put on record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import Field

from habilis.core.errors import PlaceError, UserError
from habilis.core.events import Event
from habilis.core.place import place_failure
from habilis.core.ports import Lease
from habilis.core.types import Frozen, Status, Task, TaskResult
from habilis.curation.ledger.reports import Finished
from habilis.rundir import RunDir, TaskDir, safe_id
from habilis.synthesis.sharing import BuildFolder

if TYPE_CHECKING:
    from habilis.agents.team import Team
    from habilis.agents.wiring import Clients
    from habilis.config import Settings
    from habilis.core.ports import EventSink, Purse

Watch = Callable[[Event], None]
GRACE_S = 10.0
"""Seconds that a task which is told to stop has for writing down what it came to."""


class Job(Frozen):
    """A task to run. `run` is the run's folder, `library` the public one, `builds` where builds are shared, if at all,
    with the tasks that come `before` this one.

    `timeout_s` is the task's time limit in seconds. `trusted`: the run bears no mark and was looked at already.
    `trace` is what the task's spans go on from (`traceparent`), empty where nothing is traced. `lease` is the right to
    write to the store that the run is kept in, if it is, and `shelf` the name that its library has there, if other runs
    feed it too. `files` are for a task that runs on another machine: by the path of each of its files, the digest that
    the store has it under, and once it is there, the place where it lies.
    """

    task: Task
    run: str
    library: str
    builds: str | None = None
    before: tuple[str, ...] = ()
    timeout_s: float
    trusted: bool = False
    trace: str = ""
    lease: Lease | None = None
    shelf: str = ""
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def folder(self) -> TaskDir:
        """The task's folder, made if it is not there."""
        return RunDir(Path(self.run)).task(self.task.id)


class BatchRunner(Protocol):
    """Runs tasks, any number side by side. `LocalRunner` and `ProcessRunner`."""

    async def run(self, job: Job, watch: Watch) -> Finished:
        """Run the task, or go on with it where it stood. Whatever it does, this returns; `watch` hears its events.

        Cancellation stops the task at once, leaves it fit for a resume, and is passed on.
        """
        ...

    def interrupt(self) -> None:
        """Ask all running tasks to finish their step and to end as `interrupted`."""
        ...


def team_of(
    job: Job,
    settings: Settings,
    sinks: Sequence[EventSink],
    clients: Clients | None = None,
    purse: Purse | None = None,
) -> Team:
    """The team that works on `job`; nobody is there to be asked. `purse` is that of the run."""
    from habilis.agents.team import Team

    shared = BuildFolder(Path(job.builds), job.task.id, job.before) if job.builds else None
    library = Path(job.library)
    return Team(
        settings,
        library=library,
        sinks=sinks,
        clients=clients,
        alone=True,
        shared=shared,
        purse=purse,
        part_of=job.trace,
    )


async def carry_out(team: Team, job: Job) -> TaskResult:
    """The task's result: run from its start, or from where an earlier run of it stopped.

    Of the run only its own record and this task are looked at: with all the others, the work would grow with the square
    of the tasks.
    """
    run, folder = RunDir.open(Path(job.run)), job.folder
    if not job.trusted:
        run.accept(trust=False, tasks=[folder])
    if folder.load_task() is None:
        return await team.run(job.task, run_dir=run)
    return await team.resume(run, job.task.id)


def ended(job: Job, result: TaskResult, seconds: float) -> Finished:
    """The end of a task that came to a result of its own."""
    return Finished(
        task_id=job.task.id,
        status=result.status,
        folder=str(job.folder.path),
        result=result,
        error=result.error,
        seconds=round(seconds, 3),
    )


def broken_off(job: Job, status: Status, error: str, seconds: float, *, saved: bool) -> Finished:
    """The end of a task that its runner ended, or that died. `saved`: it still wrote down what it had come to.

    Raises `PlaceError` where that cannot be written; of a failure of the place itself nothing need be.
    """
    result: TaskResult | None = None
    try:
        folder = job.folder
        result = saved_result(job) if saved else None
        if result is not None:
            result = result.model_copy(update={"status": status, "error": error})
            folder.save_result(result)
        else:
            folder.set_state("failed", status=status)
    except (OSError, PlaceError) as refused:
        if status != "environment_error":
            raise place_failure(refused) or refused from None
    return Finished(
        task_id=job.task.id,
        status=status,
        folder=str(Path(job.run) / "tasks" / safe_id(job.task.id)),
        result=result,
        error=error,
        seconds=round(seconds, 3),
    )


def saved_result(job: Job) -> TaskResult | None:
    """The result in the task's folder; None when there is none that can be read."""
    try:
        return job.folder.load_result()
    except UserError:
        return None


def too_long(job: Job) -> str:
    """Why a task was ended at its time limit."""
    return f"the task was ended at its time limit of {job.timeout_s:g} s"
