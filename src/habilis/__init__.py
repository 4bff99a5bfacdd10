"""Habilis: an agent system that writes the tools its tasks need, proves each by running it, and keeps the best.

The door is lazy: naming something here imports its room, `import habilis` alone imports nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from habilis.agents.team import Team as Team
    from habilis.config import Settings as Settings
    from habilis.config import load_settings as load_settings
    from habilis.core.errors import HabilisError as HabilisError
    from habilis.core.types import Decision as Decision
    from habilis.core.types import Task as Task
    from habilis.core.types import TaskResult as TaskResult
    from habilis.curation.curator import Curator as Curator
    from habilis.exchange.callable import CallableLibrary
    from habilis.library import Tool as Tool
    from habilis.training.trainer import Evolution as Evolution

    Library = CallableLibrary

__version__ = "0.2.0"

_DOOR = {
    "Team": "habilis.agents.team",
    "Curator": "habilis.curation.curator",
    "Settings": "habilis.config",
    "load_settings": "habilis.config",
    "HabilisError": "habilis.core.errors",
    "Decision": "habilis.core.types",
    "Task": "habilis.core.types",
    "TaskResult": "habilis.core.types",
    "Evolution": "habilis.training.trainer",
    "Library": "habilis.exchange.callable:CallableLibrary",
    "Tool": "habilis.library",
}
__all__ = [*_DOOR, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _DOOR:
        raise AttributeError(f"module 'habilis' has no attribute '{name}'")
    module, _, behind = _DOOR[name].partition(":")
    return getattr(import_module(module), behind or name)
