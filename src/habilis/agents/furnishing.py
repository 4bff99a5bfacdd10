"""Puts a task's workshop together: every room's object, handed what it needs and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.config import Settings, cache_dir
from habilis.core.events import Notice
from habilis.core.ports import Granter
from habilis.core.types import Role, Task
from habilis.models.chat import Models
from habilis.models.strategies import Strategies
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.rundir import TaskDir
from habilis.tools.capabilities.grants import Grants
from habilis.tools.host import ToolHost
from habilis.tools.library import LayeredLibrary, Library
from habilis.tools.packages.environments import Environments
from habilis.tools.presets import Presets
from habilis.tools.smith import Smith
from habilis.tools.workshop import Events, Workshop
from habilis.tools.writers import make_writer

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from habilis.config import RoleSettings
    from habilis.tools.sharing import SharedBuilds

Clients = Callable[[Role, "RoleSettings"], "BaseChatModel"]


def furnished(
    task: Task,
    folder: TaskDir,
    public: Path,
    emit: Events,
    settings: Settings,
    *,
    voice: Path | None = None,
    clients: Clients | None = None,
    granter: Granter | None = None,
    shared: SharedBuilds | None = None,
    may_ask: bool = True,
) -> Workshop:
    """The workshop of `task` over the library at `public`. `voice`: the tape that answers instead of a model; the
    task's own keeps its tool calls then. Raises `UserError` for settings that cannot be followed."""
    tape = Tape(folder.tape)
    models = Models(
        settings.models,
        tape=Tape(voice, replay_only=True) if voice else tape,
        emit=emit,
        budget=Budget(settings.limits.max_tokens, settings.limits.max_time_s),
        clients=clients,
        folder=folder.run.path,
    )
    host = ToolHost(
        settings.sandbox,
        notice=lambda text: emit(Notice(level="warning", text=text)),
        environments=Environments.of(settings.tools),
        upstream=settings.capabilities.proxy,
    )
    grants = Grants(
        settings.capabilities,
        env_allow=settings.sandbox.env_allow,
        files=[Path(file.path) for file in task.files],
        granter=granter,
        tape=tape,
        emit=emit,
    )
    prompts = Prompts(Path(settings.prompts_dir) if settings.prompts_dir else None)
    library = LayeredLibrary(Library(folder.tools), Library(public))
    smith = Smith(
        host,
        library,
        make_writer(settings.writer, models, folder.path),
        models,
        prompts,
        emit,
        settings.tools,
        task_id=task.id,
        grants=grants,
        shared=shared,
    )
    return Workshop(
        task=task,
        settings=settings,
        prompts=prompts,
        models=models,
        strategies=Strategies(models, prompts, emit, cache_dir() / "strategies"),
        host=host,
        library=library,
        smith=smith,
        presets=Presets(models, prompts, task, folder.workspace, settings.tools),
        tape=tape,
        emit=emit,
        workspace=folder.workspace,
        grants=grants,
        may_ask=may_ask,
    )
