"""Tasks of a run once more, without one tool of the library: what they came to with it is on their record.

The tape of a task answers all that is asked as it was asked then. So a model is paid from where the two part, and
nowhere else; without leave to pay, that place is all that is told. Tools run again, in a folder of their own, and reach
nothing else: what was done elsewhere is not done twice. Neither the run nor the library changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from habilis.agents.team import Team
from habilis.agents.wiring import Clients
from habilis.config import Settings
from habilis.core.errors import UserError
from habilis.core.events import Event
from habilis.core.types import Frozen, Task, TaskResult, Usage
from habilis.library import Library
from habilis.library.generations import as_of
from habilis.rundir import RunDir, TaskDir, atomic_write, plain_json, read_jsonl
from habilis.rundir.plain import lines_of
from habilis.rundir.seals import unsealed
from habilis.sandbox.processes.temporary import temporary

_OF_MODELS = {"tape", "message", "reply", "refusal", "answered", "noted"}
"""What models and people said, and choices that later requests depend on; calls of tools are made again."""
_MISMATCH = "replay: "
"""How the error of a task begins whose tape does not go on."""


class TaskTotals(Frozen):
    """What a task came to: `status` as in its result, `tokens` of all model calls, `calls` of tools."""

    status: str
    answered: bool
    tokens: int
    calls: int


class Rerun(Frozen):
    """One task with a tool and without it. `parted` says at which request the two part, and is empty where they never
    do. `without_it` is None where that was not paid for; `paid_tokens` is what it cost."""

    task_id: str
    tool: str
    question: str
    with_it: TaskTotals
    without_it: TaskTotals | None
    parted: str
    paid_tokens: int


@dataclass(frozen=True)
class Taped:
    """A task that ended, with the library folder that it worked with."""

    folder: TaskDir
    task: Task
    result: TaskResult
    library: Path


def taped_tasks(run: RunDir, library: Path) -> list[Taped]:
    """The tasks of `run` that can be rerun. Raises `UserError` where there is none, and for a run of somebody else."""
    run.accept(trust=False)
    ended = [(task, task.load_task(), task.load_result()) for task in run.tasks()]
    kept = [(task, stored, result) for task, stored, result in ended if stored and result and task.tape.is_file()]
    if not kept:
        raise UserError(f"run {run.name} has no task that ended with a tape; see 'habilis runs show {run.name}'")
    own = [one for one in kept if _same(Path(str(one[1][1].get("library") or "")), library)]
    if not own:
        other = kept[0][1][1].get("library") or "no library"
        raise UserError(f"run {run.name} worked with {other}, not with {library}; name its library with --library")
    return [
        Taped(task, stored[0], result, as_of(library.absolute(), int(stored[1].get("generation", 0))))
        for task, stored, result in own
    ]


def concerned(tasks: Sequence[Taped], name: str) -> list[Taped]:
    """Those of `tasks` that were shown the tool `name` of their library, or called it."""
    return [one for one in tasks if _names(one.library, name) & _met(one)]


async def rerun(
    tasks: Sequence[Taped],
    name: str,
    settings: Settings,
    *,
    pay: bool,
    clients: Clients | None = None,
    told: Callable[[Rerun], None] = lambda one: None,
) -> list[Rerun]:
    """Each of `tasks` without the tool `name`; `told` hears of each as it ends. Raises what `Team.run` does."""
    found = []
    with temporary("rerun") as place:
        for number, one in enumerate(tasks):
            library = place / f"without-{one.library.name}"
            if not library.exists():
                shutil.copytree(one.library, library, ignore=shutil.ignore_patterns(f"{name}.*", ".*"))
            found.append(await _without(one, name, library, place / f"{number}", settings, pay, clients))
            told(found[-1])
    return found


async def _without(
    one: Taped, name: str, library: Path, place: Path, settings: Settings, pay: bool, clients: Clients | None
) -> Rerun:
    heard = _Heard()
    team = Team(_enclosed(_roomier(settings, one.result.usage)), library=library, sinks=[heard], clients=clients)
    if pay:
        run = RunDir.at(place / "run")
        _take_along(one.folder.tape, run.task(one.task.id).tape)
        result = await team.run(one.task, run_dir=run.path)
        parted = heard.parted
    else:
        taped = RunDir.at(place / "taped")
        _take_along(one.folder.tape, taped.task(one.task.id).tape)
        result = await team.run(one.task, run_dir=place / "run", replay=taped.path)
        told = result.error or ""
        parted = told.removeprefix(_MISMATCH) if told.startswith(_MISMATCH) else ""
    side = TaskTotals(
        status=result.status,
        answered=result.status == "answered",
        tokens=heard.all.total_tokens,
        calls=result.tool_calls,
    )
    before = one.result
    return Rerun(
        task_id=one.task.id,
        tool=name,
        question=before.question,
        with_it=TaskTotals(
            status=before.status,
            answered=before.status == "answered",
            tokens=before.usage.total_tokens,
            calls=before.tool_calls,
        ),
        without_it=side if pay or not parted else None,
        parted=parted,
        paid_tokens=heard.paid.total_tokens,
    )


def _roomier(settings: Settings, taped: Usage) -> Settings:
    """Settings whose limits of tokens and money are for what is new: the tape's own count against it too."""
    limits = settings.limits
    more = limits.model_copy(
        update={
            "max_tokens": limits.max_tokens and limits.max_tokens + taped.total_tokens,
            "max_cost": limits.max_cost and limits.max_cost + taped.amount.cost,
        }
    )
    return settings.model_copy(update={"limits": more})


def _enclosed(settings: Settings) -> Settings:
    """Settings by which tools reach no host and no other program, whatever the task was given then."""
    capabilities = settings.capabilities.model_copy(update={"network": "deny", "network_list": (), "read_list": ()})
    tools = settings.tools.model_copy(update={"use": ()})
    return settings.model_copy(update={"capabilities": capabilities, "tools": tools})


class _Heard:
    """Adds up what models cost, and notes the first request that the tape did not answer."""

    def __init__(self) -> None:
        self.all, self.paid, self.parted, self._asked = Usage(), Usage(), "", 0

    def emit(self, event: Event) -> None:
        if event.kind != "model_call_ended":
            return
        self._asked += 1
        self.all += event.usage
        if event.replayed:
            return
        self.paid += event.usage
        self.parted = self.parted or f"model call {self._asked} ({event.role}, {event.purpose}) was not recorded"


def _take_along(tape: Path, to: Path) -> None:
    """Copy what models said, and nothing of tools."""
    atomic_write(to, b"".join(_of_models(tape)), durable=False)


def _of_models(tape: Path) -> Iterator[bytes]:
    for line in lines_of(tape):
        try:
            kind = plain_json(unsealed(line).decode("utf-8", "surrogatepass")).get("kind")
        except (ValueError, AttributeError):
            return  # a torn end; a tape that is damaged elsewhere is refused when it is opened
        if kind in _OF_MODELS:
            yield line


def _names(folder: Path, name: str) -> set[str]:
    tool = Library(folder).get(name)
    return {name, *tool.manifest.aliases} if tool is not None else set()


def _met(one: Taped) -> set[str]:
    plans = (row for row in read_jsonl(one.folder.events) if row.get("kind") == "planned")
    return {*one.result.tools_used, *(str(name) for plan in plans for name in plan.get("offered", ()))}


def _same(one: Path, other: Path) -> bool:
    return one.absolute() == other.absolute() or one.resolve() == other.resolve()
