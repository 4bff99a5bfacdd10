"""A node's part in a training run: a task, from what the store has of it to its end.

The node knows the address of the store from the run and everything secret from its own environment. It makes the task's
folder from the store, starts the task's program (`child`) there and hands on its lines. Everything that the program
writes goes to the store first, under a lease of this one attempt; so the folder is thrown away afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from habilis.config import cache_dir
from habilis.core.errors import HabilisError, PlaceError
from habilis.core.ports import RunStore
from habilis.rundir import safe_id
from habilis.rundir.datafiles import FILES, lay_out
from habilis.rundir.fetching import fetch_library, fetch_settings, fetch_task
from habilis.rundir.files import place
from habilis.rundir.kept import KeptFolder
from habilis.rundir.locks import alone
from habilis.rundir.plain import own_folder
from habilis.rundir.store import open_store
from habilis.training.runners.job import Job
from habilis.training.runners.program import LocalProgram

LOOK_S = 0.3
"""Seconds between two looks at what neighbours have built."""
SHARED = "shared"
KEPT_S = 7 * 86_400.0
"""Seconds after which the folder of a run that nobody worked on is thrown away."""


@dataclass
class _Work:
    """A task that was given to the actor, and its program, once that is there."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    program: LocalProgram | None = None


class TaskOnNode:
    """An actor: one attempt at one task, then the next. Each has a number; they grow, and what is said of one that is
    over is said to nobody."""

    def __init__(self) -> None:
        self._works: defaultdict[int, _Work] = defaultdict(_Work)
        self._over = 0

    async def is_free(self) -> bool:
        return not self._works

    async def run(self, number: int, first: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Work on the task that the first line for its program names: what the program says, and at last how it
        ended, as {"died": [code, text]}."""
        work = self._works[number]
        yield _line(taken=True)
        try:
            job = Job.model_validate(first["job"])
            kept = await asyncio.to_thread(_opened, str(first["settings"]["store"]), job)
            with contextlib.closing(kept.store):
                async for line in self._work(work, kept, first, job):
                    yield line
        except HabilisError as error:
            yield _line(failed=" ".join(str(error).split()), place=isinstance(error, PlaceError))
            yield _line(died=[1, ""])
        finally:
            self._over = number
            del self._works[number]
            work.begun.set()

    async def say(self, number: int, said: Mapping[str, Any]) -> None:
        """Send a line to the program, once it is there."""
        if number > self._over:
            work = self._works[number]
            await work.begun.wait()
            if work.program is not None:
                work.program.say(said)

    async def memory_bytes(self, number: int) -> int:
        program = self._works[number].program if number in self._works else None
        return await program.memory_bytes() if program is not None else 0

    async def kill(self, number: int) -> None:
        """End the program with its whole tree."""
        if number in self._works and (program := self._works[number].program) is not None:
            await program.kill()

    async def _work(self, work: _Work, kept: KeptFolder, first: Mapping[str, Any], job: Job) -> AsyncIterator[bytes]:
        program = await LocalProgram.start({**first, "job": _here(kept, job).model_dump(mode="json")})
        work.program = program
        work.begun.set()
        neighbours = asyncio.ensure_future(_follow(kept, job))
        try:
            async for line in program.lines():
                yield line
            death = await program.death()
            yield _line(died=[death.code, death.printed.decode("utf-8", "replace")])
        finally:
            neighbours.cancel()
            await program.kill()
            shutil.rmtree(kept.root.parent, ignore_errors=True)


def _line(**said: Any) -> bytes:
    return json.dumps(said).encode() + b"\n"


def _opened(url: str, job: Job) -> KeptFolder:
    """The run as the store has it, in a folder of this one attempt: what the task needs of it is here.

    Raises `HabilisError`.
    """
    assert job.lease is not None
    name = Path(job.run).name
    store = open_store(url)
    try:
        node = _folder_of(store, name)
        shared = node / SHARED / name
        shared.mkdir(parents=True, exist_ok=True)
        with alone(node / ".lock"):  # of several tasks on this node one fetches the library
            fetch_library(KeptFolder(shared, store, job.lease, name, job.shelf))
        kept = KeptFolder(node / f"{job.lease.epoch}-{safe_id(job.task.id)}" / name, store, job.lease, name)
        kept.root.mkdir(parents=True, exist_ok=True)
        fetch_settings(kept)
        fetch_task(kept, safe_id(job.task.id))
        for digest in job.files.values():
            lay_out(store, name, digest, node / FILES)
    except BaseException:
        store.close()
        raise
    return kept


def _folder_of(store: RunStore, name: str) -> Path:
    """Where this node keeps what it has of a run: of this one, and of no other that ever had its name."""
    nodes = cache_dir() / "nodes"
    begun = hashlib.sha256(store.read(f"{name}/run.yaml") or b"").hexdigest()
    folder = nodes / begun[:16]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    _sweep(nodes, folder)
    return folder


def _sweep(runs: Path, ours: Path) -> None:
    """Throw folders away that runs of old left here."""
    for folder in runs.iterdir():
        with contextlib.suppress(OSError):
            if folder != ours and time.time() - folder.stat().st_mtime > KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)


def _here(kept: KeptFolder, job: Job) -> Job:
    """The job with the places of this node."""
    builds = str(kept.root / Path(job.builds).relative_to(job.run)) if job.builds else None
    library = kept.root.parents[1] / SHARED / kept.name / Path(job.library).relative_to(job.run)
    laid = kept.root.parents[1] / FILES
    files = {named: str(laid / digest / Path(named).name) for named, digest in job.files.items()}
    return job.model_copy(update={"run": str(kept.root), "library": str(library), "builds": builds, "files": files})


async def _follow(kept: KeptFolder, job: Job) -> None:
    """Bring here what tasks before this one built on other nodes, until all of them have ended."""
    if not job.builds:
        return
    waiting = list(map(safe_id, job.before))
    relative = Path(job.builds).relative_to(job.run)
    while waiting:
        with contextlib.suppress(HabilisError, OSError):  # the program itself is told of a store that is gone
            waiting = await asyncio.to_thread(_brought, kept, relative, waiting)
        await asyncio.sleep(LOOK_S)


def _brought(kept: KeptFolder, relative: Path, tasks: list[str]) -> list[str]:
    """Bring the builds of `tasks` here; those are left that may still say more."""
    folder, there = own_folder(kept.root / relative), f"{kept.name}/{relative.as_posix()}"
    left = []
    for task in tasks:
        end = kept.store.read(f"{there}/{task}.end")  # looked at first, written last: what a task said, it said before
        _put(folder / f"{task}.json", kept.store.read(f"{there}/{task}.json"))
        _put(folder / f"{task}.end", end)
        left += [task] if end is None else []
    return left


def _put(path: Path, content: bytes | None) -> None:
    if content is not None and not (path.exists() and path.read_bytes() == content):
        place(path, content, durable=False)
