"""Which runner the settings ask for. What runs tasks is loaded where it is asked for."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from habilis.core.errors import UserError
from habilis.training.runners.program import LocalProgram

if TYPE_CHECKING:
    from habilis.agents.wiring import Clients
    from habilis.config import Settings
    from habilis.core.ports import Purse
    from habilis.training.runners.job import BatchRunner


def check_runner(settings: Settings, clients: Clients | None) -> None:
    """Raises `UserError` where the runner that is set cannot run the tasks of these settings."""
    evolution = settings.evolution
    if clients is not None and evolution.runner != "local":
        raise UserError("your own chat models work only with the local runner; set evolution.runner=local")
    if clients is not None and evolution.workers > 1:
        raise UserError("your own chat models work only in this process; set evolution.workers=1")
    if evolution.runner == "ray":
        from habilis.training.runners.cluster import check_cluster

        check_cluster(settings)


def apart(settings: Settings, clients: Clients | None) -> bool:
    """Whether tasks run in other processes of this machine."""
    evolution = settings.evolution
    spread = evolution.runner == "local" and clients is None and evolution.workers > 1
    return spread or evolution.runner == "process"


def prepare(settings: Settings, clients: Clients | None = None) -> None:
    """Where tasks run in other processes of this machine, have those begin to load what they need."""
    if apart(settings, clients):
        LocalProgram.prepare()


async def load_ahead(settings: Settings, clients: Clients | None) -> None:
    """Import what the first task would wait for, wherever it runs."""
    prepare(settings, clients)
    if settings.evolution.runner == "local" and not apart(settings, clients):
        importlib.import_module("habilis.agents.team")
        await asyncio.to_thread(importlib.import_module, "numpy")


@contextlib.asynccontextmanager
async def running(settings: Settings, clients: Clients | None, purse: Purse) -> AsyncIterator[BatchRunner]:
    """Who runs the tasks; on `purse` they draw."""
    if settings.evolution.runner == "ray":
        from habilis.training.runners.cluster import ClusterRunner, joined

        async with joined(settings.evolution.ray_address) as head:
            yield ClusterRunner(settings, head, purse=purse)
    elif settings.evolution.runner == "process":
        from habilis.training.runners.process import ProcessRunner

        yield ProcessRunner(settings, purse=purse)
    elif apart(settings, clients):
        from habilis.training.runners.workers import working

        async with working(settings, settings.evolution.workers, purse) as runner:
            yield runner
    else:
        from habilis.training.runners.local import LocalRunner

        yield LocalRunner(settings, clients=clients, purse=purse)
