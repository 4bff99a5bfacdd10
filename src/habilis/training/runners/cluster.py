"""The tasks of a batch on the nodes of a Ray cluster, each in a process of its own (https://docs.ray.io/).

Ray finds a node and starts an actor there (`node.TaskOnNode`), which runs the program that `ProcessRunner` runs; time
limit, memory limit, orders and the run's purse are that runner's. What a task leaves goes through the run's store: each
attempt writes under a lease of its own, so that a node that was cut off writes nothing more once the next one has it.
Its files go there by the same way, as they are when the task is given out.
Through Ray go jobs, settings without secrets and events; keys and passwords come from the environment of each node.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.config import masked
from habilis.config.variables import set_up_ray
from habilis.core.errors import PlaceError, UserError
from habilis.core.events import Notice
from habilis.core.ports import Lease, Purse
from habilis.curation.ledger.reports import Finished
from habilis.rundir import safe_id
from habilis.rundir.datafiles import FilesInStore
from habilis.rundir.fetching import fetch_task
from habilis.rundir.kept import KeptFolder, kept_at
from habilis.training.runners.actors import PATIENCE_S, Actors, NodeLost, NodeProgram, first_line_of
from habilis.training.runners.head import ClusterHead
from habilis.training.runners.job import Job, Watch, broken_off
from habilis.training.runners.process import ProcessRunner, first_line

if TYPE_CHECKING:
    from habilis.config import Settings

ATTEMPTS = 4
"""Nodes on which a task is tried when they are lost: one that takes its nodes down is to end at last."""
_STORE_BYTES = 80 << 20
"""Of Ray's own memory for objects, where we start it: only lines go through it."""


class ClusterRunner:
    """Runs tasks on the cluster of `head`, which was joined. `run` must lie in a folder that is kept in a store.

    It raises `PlaceError` once the head is lost: what runs is told to stop, and goes on from the store after a resume.
    """

    def __init__(self, settings: Settings, head: ClusterHead, *, purse: Purse | None = None) -> None:
        self._settings, self._head = settings, head
        self._runner = ProcessRunner(settings, start=self._start, purse=purse)
        self._actors = Actors(head)
        self._tell: dict[str, Callable[[str], None]] = {}
        self._files: FilesInStore | None = None

    async def run(self, job: Job, watch: Watch) -> Finished:
        kept = kept_at(Path(job.run))
        assert kept is not None
        tell = self._tell[job.task.id] = lambda text: watch(Notice(level="warning", text=text))
        started = time.monotonic()
        self._files = self._files or FilesInStore(kept)
        try:
            job = job.model_copy(update={"files": await asyncio.to_thread(self._files.put, job.task.files)})
        except UserError as refused:
            return broken_off(job, "crashed", str(refused), time.monotonic() - started, saved=False)
        for _ in range(ATTEMPTS):
            lease = await asyncio.to_thread(_leased, kept, job)
            shelf = kept.shelf if kept.shares else ""
            try:
                return await self._with_head(job.model_copy(update={"lease": lease, "shelf": shelf}), watch)
            except NodeLost as lost:
                tell(f"task {job.task.id} lost its node ({lost}); it continues elsewhere")
            finally:
                await asyncio.to_thread(kept.store.release, lease)
        await asyncio.to_thread(fetch_task, kept, safe_id(job.task.id))
        error = f"the task lost {ATTEMPTS} nodes one after the other"
        return broken_off(job, "crashed", error, time.monotonic() - started, saved=False)

    def interrupt(self) -> None:
        self._runner.interrupt()

    async def _with_head(self, job: Job, watch: Watch) -> Finished:
        work = asyncio.ensure_future(self._runner.run(job, watch))
        lost = asyncio.ensure_future(self._head.lost.wait())
        try:
            await asyncio.wait({work, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise self._head.failure()
            return work.result()
        finally:
            lost.cancel()
            if not work.done():
                work.cancel()  # nodes can still be told, without a head
                await asyncio.wait({work})

    async def _start(self, job: Job) -> NodeProgram:
        kept = kept_at(Path(job.run))
        assert kept is not None
        first = first_line(job, self._settings)
        return await self._actors.begun(first, kept, safe_id(job.task.id), self._tell[job.task.id])


def _leased(kept: KeptFolder, job: Job) -> Lease:
    """The right to write what the task leaves, taken from whichever node had it: only who holds the run may."""
    kept.store.renew(kept.lease)
    owner = f"a node of {kept.name}"
    return kept.store.lease(f"{kept.name}/tasks/{safe_id(job.task.id)}", owner, over=owner)


def check_cluster(settings: Settings) -> None:
    """Raises `UserError` for settings with which no task can run on a node."""
    if not (settings.store or "").startswith("postgresql:"):
        raise UserError("the runner ray needs a store that all nodes reach: --set store=postgresql://…")
    said = settings.model_dump(mode="json")
    for name in _hidden_in(said, masked(said)):
        raise UserError(f"{name} holds a secret, which must not go through Ray: put it into each node's environment")
    if settings.models.basic.provider == "local":
        raise UserError("the runner ray needs a model's server that all nodes reach: set models.basic.base_url")


def _hidden_in(tree: Any, shown: Any, name: str = "") -> Iterator[str]:
    """The names of settings that are not shown as they are."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _hidden_in(value, shown[key], f"{name}.{key}".lstrip("."))
    elif tree != shown:
        yield name


@contextlib.asynccontextmanager
async def joined(address: str | None) -> AsyncIterator[ClusterHead]:
    """Be a driver of the cluster at `address`, or of one of this machine alone that ends with the block: its head.

    Raises `UserError` where Ray is not installed, `PlaceError` where the cluster cannot be reached.
    """
    set_up_ray(joining=address is not None)
    try:
        import ray
    except ImportError as error:
        raise UserError(f"the runner ray needs the package ray ({error}): pip install 'habilis[ray]'") from None
    where = f"the Ray cluster at {address}" if address else "Ray on this machine"
    try:
        if address:
            await _listens(address)
        await asyncio.to_thread(_join, ray, address)  # off the main thread, where it would take signals for itself
    except (ray.exceptions.RayError, RuntimeError, ValueError, OSError) as error:
        raise PlaceError(f"{where} cannot be reached: {first_line_of(error)}; start it with ray start") from None
    try:
        head = ClusterHead(where)
        with contextlib.redirect_stdout(sys.stderr):  # Ray prints what befalls its nodes
            async with head.watched():
                yield head
    finally:
        await asyncio.to_thread(ray.shutdown)


def _join(ray: Any, address: str | None) -> None:
    logging.getLogger("ray").setLevel(logging.ERROR)
    own = {} if address else {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    ray.init(address=address or "local", namespace="habilis", log_to_driver=False, configure_logging=False, **own)


async def _listens(address: str) -> None:
    """Raises OSError where nothing does: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        async with asyncio.timeout(PATIENCE_S):
            _, writer = await asyncio.open_connection(host, int(port))
        writer.transport.abort()
