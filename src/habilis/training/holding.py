"""A training run that is kept in a store: its lease, held and renewed while this process works on it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from habilis.config import Settings, masked
from habilis.core.errors import HabilisError, LeaseHeld, UserError
from habilis.core.ports import Lease, RunStore
from habilis.rundir.fetching import fetch, fetch_records
from habilis.rundir.kept import KeptFolder, as_kept
from habilis.rundir.owner import is_dead, this_process
from habilis.rundir.store import open_store

RENEW_S = 8.0
"""Seconds between two renewals: three of them may fail before a lease runs out."""
WAIT_S = 40.0
"""How long a resume waits for the lease of a process that may have died elsewhere: longer than a lease holds."""
_POLL_S = 1.0


def stored(settings: Settings) -> dict[str, Any]:
    """What `run.yaml` says of where the run is kept."""
    return masked({"store": settings.store}) if settings.store else {}


def check_store(settings: Settings, fixed: Mapping[str, Any], name: str) -> None:
    """Raises `UserError` where a run that is kept in a store is to go on without it."""
    if fixed.get("store") and not settings.store:
        raise UserError(f"run {name} is kept in {fixed['store']}; name it: --set store=…, or HABILIS_STORE")


def bring_records(settings: Settings, path: Path) -> None:
    """Where the run at `path` is not on this disk, and kept in a store, put its records there.

    Raises `UserError`, `PlaceError`.
    """
    if settings.store and not (path / "run.yaml").exists():
        with contextlib.closing(open_store(settings.store)) as store:
            fetch_records(store, path.name, path)


@contextlib.asynccontextmanager
async def held_run(settings: Settings, path: Path, told: Callable[[str], None] | None = None) -> AsyncIterator[None]:
    """Hold the run at `path` in the store of the settings, if they name one, and have all of it kept there.

    A new run (`told` None) must not be there already; of one to go on with the folder is made what the store says, and
    the lease of a process that may be dead is waited for. Raises `UserError`, `PlaceError`.
    """
    if not settings.store:
        yield
        return
    with contextlib.closing(open_store(settings.store)) as store:
        lease = await _leased(store, path.name, told)
        kept = KeptFolder(path, store, lease, path.name)
        try:
            with _renewing(kept):
                if told is not None:
                    await asyncio.to_thread(fetch, kept)
                elif store.names(f"{path.name}/"):
                    where = masked({"store": settings.store})["store"]
                    raise UserError(f"a run named {path.name} is kept in {where}; continue it with --resume")
                with as_kept(kept):
                    yield
        finally:
            store.release(lease)


async def _leased(store: RunStore, name: str, told: Callable[[str], None] | None) -> Lease:
    me, waited, dead = this_process(), 0.0, ""
    while True:
        try:
            return store.lease(name, me, over=dead)
        except LeaseHeld as held:
            if not dead and is_dead(held.owner):
                dead = held.owner
                continue
            if told is None or waited >= WAIT_S:
                raise
            if not waited:
                told(f"{held}; waiting until its lease has run out")
        await asyncio.sleep(_POLL_S)
        waited += _POLL_S


@contextlib.contextmanager
def _renewing(kept: KeptFolder) -> Iterator[None]:
    """Renew the lease while the block runs, on a thread: the loop may be busy. What is lost the next write says."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEW_S):
            with contextlib.suppress(HabilisError):
                kept.store.renew(kept.lease)
                kept.flush()

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
