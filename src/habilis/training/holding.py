"""A training run that is kept in a store: its lease, held and renewed while this process works on it, and its turn at
a library that several such runs feed."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from habilis.config import Settings, masked
from habilis.core.errors import HabilisError, LeaseHeld, UserError
from habilis.core.ports import Lease, RunStore
from habilis.rundir import RunDir
from habilis.rundir.fetching import fetch, fetch_newer, fetch_records, fetch_settings
from habilis.rundir.kept import KeptFolder, as_kept, kept_at
from habilis.rundir.owner import is_dead, this_process
from habilis.rundir.store import open_store
from habilis.rundir.training import fed_by

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
async def held_run(
    settings: Settings, path: Path, told: Callable[[str], None] | None = None, *, shelf: str = ""
) -> AsyncIterator[None]:
    """Hold the run at `path` in the store of the settings, if they name one, and have all of it kept there.

    A new run (`told` None), whose library has the name `shelf` if others feed it too, must not be there already; of one
    to go on with the folder is made what the store says, and the lease of a process that may be dead is waited for.
    Raises `UserError`, `PlaceError`.
    """
    if not settings.store:
        yield
        return
    with contextlib.closing(open_store(settings.store)) as store:
        lease = await _leased(store, path.name, told, WAIT_S if told is not None else 0.0)
        kept = KeptFolder(path, store, lease, path.name, shelf)
        try:
            with _renewing(store, lease, kept.flush):
                if told is not None:
                    await asyncio.to_thread(_fetch, kept)
                elif store.names(f"{path.name}/"):
                    where = masked({"store": settings.store})["store"]
                    raise UserError(f"a run named {path.name} is kept in {where}; continue it with --resume")
                with as_kept(kept):
                    yield
        finally:
            store.release(lease)


@contextlib.asynccontextmanager
async def library_turn(path: Path, told: Callable[[str], None]) -> AsyncIterator[bool]:
    """Be the only one who writes to the library that the run at `path` feeds in its store, with what others made of it
    brought here; gives whether it feeds one. Waits for whoever is at it, however long that takes; `told` hears of it.

    Raises `UserError`, `PlaceError`.
    """
    kept = kept_at(path)
    if kept is None or not kept.shares:
        yield False
        return
    busy = f"{kept.shelf} in the store is being written by another run; waiting for it"
    turn = await _leased(kept.store, kept.shelf, lambda _: told(busy), math.inf)
    try:
        with _renewing(kept.store, turn, kept.flush):
            await asyncio.to_thread(fetch_newer, kept)
            kept.turn = turn
            yield True
    finally:
        kept.turn = None
        kept.store.release(turn)


def _fetch(kept: KeptFolder) -> None:
    """Make the folder of a run to go on with what the store says. What it feeds its settings tell."""
    fetch_settings(kept)
    kept.shelf = fed_by(RunDir.open(kept.root).read_run().get("training") or {}).shelf or kept.name
    fetch(kept)


async def _leased(store: RunStore, name: str, told: Callable[[str], None] | None, wait_s: float) -> Lease:
    """The lease of `name`; one that is held, not by a dead process of this machine, is waited for that long."""
    me, waited, dead = this_process(), 0.0, ""
    while True:
        try:
            return store.lease(name, me, over=dead)
        except LeaseHeld as held:
            if not dead and is_dead(held.owner):
                dead = held.owner
                continue
            if told is None or waited >= wait_s:
                raise
            if not waited:
                told(f"{held}; waiting until its lease has run out")
        await asyncio.sleep(_POLL_S)
        waited += _POLL_S


@contextlib.contextmanager
def _renewing(store: RunStore, lease: Lease, flush: Callable[[], None]) -> Iterator[None]:
    """Renew the lease while the block runs, on a thread: the loop may be busy. What is lost the next write says."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEW_S):
            with contextlib.suppress(HabilisError):
                store.renew(lease)
                flush()

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
