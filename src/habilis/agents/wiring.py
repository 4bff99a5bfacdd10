"""Puts a task's context together: every room's object, handed what it needs and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.agents.remembering import earlier_tools, recalled
from habilis.config import LimitsSettings, Settings, cache_dir
from habilis.context.presets import Presets
from habilis.context.task import Events, TaskContext
from habilis.core.errors import UserError
from habilis.core.events import Notice
from habilis.core.locations import all_places
from habilis.core.ports import Granter, Purse
from habilis.core.types import Role, Task
from habilis.library import LayeredLibrary, Library, public_library
from habilis.library.earlier import WithEarlier
from habilis.library.retrieval.vectors import vectors_of
from habilis.models.chat import Models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.rundir import TaskDir
from habilis.runtime.egress import inspecting
from habilis.runtime.grants import Grants
from habilis.runtime.host import ToolHost
from habilis.sources.bound import ExternalTools, NamedSource
from habilis.sources.making import sources_of
from habilis.synthesis.smith import Smith
from habilis.synthesis.writers import make_writer
from habilis.tool_calling.strategies import Strategies

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from habilis.config import RoleSettings
    from habilis.synthesis.sharing import BuildFolder

INDEXING_S = 3_600.0
"""Seconds that a task may wait for its folders of documents to be read for the first time."""
Clients = Callable[[Role, "RoleSettings"], "BaseChatModel"]


def _public(task: Task, folder: TaskDir, public: Path) -> Library:
    """The library, and before it what earlier turns of a conversation made and it has not taken in."""
    earlier = [Library(tools) for tools in earlier_tools(task, folder)]
    return WithEarlier(public, earlier) if earlier else public_library(public)


def _recall(task: Task) -> Callable[[str], str] | None:
    """How earlier turns are looked up, where not all of them are shown."""
    hidden = task.earlier is not None and (task.earlier.near or task.earlier.left_out)
    return (lambda query: recalled(task, query)) if hidden else None


def build_context(
    task: Task,
    folder: TaskDir,
    public: Path,
    emit: Events,
    settings: Settings,
    *,
    voice: Path | None = None,
    clients: Clients | None = None,
    granter: Granter | None = None,
    shared: BuildFolder | None = None,
    may_ask: bool = True,
    sources: Sequence[NamedSource] = (),
    purse: Purse | None = None,
) -> TaskContext:
    """The context of `task` over the library at `public`.

    `voice`: the tape that answers instead of a model; the task's own keeps its tool calls then. `sources` give tools
    besides those that settings name. On `purse` draw all tasks of a run. Raises `UserError` for settings that cannot be
    followed.
    """
    tape = Tape(folder.tape)
    models = Models(
        settings.models,
        limits=settings.limits,
        tape=Tape(voice, replay_only=True) if voice else tape,
        emit=emit,
        budget=_budget(settings.limits, purse),
        clients=clients,
        folder=folder.run.path,
    )
    host = _host(settings, emit)
    grants = Grants(
        settings.capabilities,
        env_allow=settings.sandbox.env_allow,
        files=all_places(Path(file.path) for file in task.files),
        granter=granter,
        tape=tape,
        emit=emit,
    )
    prompts = Prompts(settings.prompts_dir)
    vectors = vectors_of(settings.retrieval.vectors)
    library = LayeredLibrary(Library(folder.tools), _public(task, folder, public), vectors=vectors)
    writer = make_writer(settings.writer, models)
    smith = Smith(host, library, writer, models, prompts, emit, task_id=task.id, grants=grants, shared=shared)
    return TaskContext(
        task=task,
        settings=settings,
        prompts=prompts,
        models=models,
        strategies=Strategies(models, prompts, emit, cache_dir() / "strategies"),
        host=host,
        library=library,
        smith=smith,
        presets=Presets(models, prompts, task, folder.workspace, settings.tools, recall=_recall(task), may_ask=may_ask),
        tape=tape,
        emit=emit,
        workspace=folder.workspace,
        grants=grants,
        external=ExternalTools([*sources_of(settings), *_own_sources(settings, grants, emit), *sources]),
        may_ask=may_ask,
    )


def _budget(limits: LimitsSettings, purse: Purse | None) -> Budget:
    return Budget(limits.max_tokens, limits.max_time_s, max_calls=limits.max_calls, max_cost=limits.max_cost, run=purse)


def _host(settings: Settings, emit: Events) -> ToolHost:
    """Raises `UserError` where https is to be looked into and cannot be."""
    inspect = settings.capabilities.inspect_https
    if inspect and (reason := inspecting.lacks()):
        raise UserError(reason)
    return ToolHost.of(settings, notice=_warner(emit), inspect_https=inspect)


def _warner(emit: Events) -> Callable[[str], None]:
    return lambda text: emit(Notice(level="warning", text=text))


def _own_sources(settings: Settings, grants: Grants, emit: Events) -> list[NamedSource]:
    """The tools of the house that settings turn on: search in documents, and the web."""
    found: list[NamedSource] = []
    if settings.knowledge.folders:
        from habilis.sources.knowledge import Knowledge

        documents = Knowledge(settings.knowledge, settings.sandbox, _warner(emit))
        found.append(
            NamedSource("knowledge", documents, prefix=False, required=True, general=True, open_timeout_s=INDEXING_S)
        )
    if settings.web.read_page or settings.web.search.service:
        from habilis.sources.web import Web

        web = Web(settings.web, grants, settings.sandbox, _warner(emit))
        found.append(NamedSource("web", web, prefix=False, general=True))
    return found
