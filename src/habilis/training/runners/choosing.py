"""Which runner the settings ask for."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from habilis.core.errors import UserError
from habilis.training.runners.job import BatchRunner
from habilis.training.runners.local import LocalRunner
from habilis.training.runners.process import ProcessRunner
from habilis.training.runners.program import LocalProgram
from habilis.training.runners.workers import workers_of, working

if TYPE_CHECKING:
    from habilis.agents.wiring import Clients
    from habilis.config import Settings
    from habilis.core.ports import Purse


def check_runner(settings: Settings, clients: Clients | None) -> None:
    """Raises `UserError` where the runner that is set cannot run the tasks of these settings."""
    evolution = settings.evolution
    if clients is not None and evolution.runner != "local":
        raise UserError("your own chat models work only with the local runner; set evolution.runner=local")
    if clients is not None and (evolution.workers or 1) > 1:
        raise UserError("your own chat models work only in this process; set evolution.workers=1")
    if evolution.runner == "ray":
        from habilis.training.runners.cluster import check_cluster

        check_cluster(settings)


def apart(settings: Settings, clients: Clients | None) -> bool:
    """Whether tasks run in other processes of this machine."""
    evolution = settings.evolution
    spread = evolution.runner == "local" and clients is None and workers_of(evolution) > 1
    return spread or evolution.runner == "process"


async def load_ahead(settings: Settings, clients: Clients | None) -> None:
    """Import what the first task would wait for; where tasks run in other processes of this machine, those begin to."""
    if apart(settings, clients):
        LocalProgram.prepare()
    elif settings.evolution.runner == "local":
        await asyncio.to_thread(importlib.import_module, "numpy")


@contextlib.asynccontextmanager
async def running(settings: Settings, clients: Clients | None, purse: Purse) -> AsyncIterator[BatchRunner]:
    """Who runs the tasks; on `purse` they draw."""
    if settings.evolution.runner == "ray":
        from habilis.training.runners.cluster import ClusterRunner, joined

        async with joined(settings.evolution.ray_address) as head:
            yield ClusterRunner(settings, head, purse=purse)
    elif settings.evolution.runner == "process":
        yield ProcessRunner(settings, purse=purse)
    elif apart(settings, clients):
        async with working(settings, workers_of(settings.evolution), purse) as runner:
            yield runner
    else:
        yield LocalRunner(settings, clients=clients, purse=purse)
