"""A run's library: its own, forked from the one to start from, or one that it feeds together with other runs; then one
generation per step, by way of the curator."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from habilis.agents.wiring import Clients
from habilis.config import Settings
from habilis.context.task import Events
from habilis.core.errors import UserError
from habilis.core.events import Event, Notice
from habilis.core.ports import Purse
from habilis.core.types import Frozen
from habilis.curation.absorb import check_grows
from habilis.curation.curator import Curator
from habilis.curation.ledger.journal import Journal
from habilis.curation.ledger.reports import Finished
from habilis.library import Library
from habilis.library.generations import Generations
from habilis.rundir import TrainingDir
from habilis.rundir.training import shelf
from habilis.runtime.host import ToolHost
from habilis.training.holding import library_turn


class Absorbed(Frozen):
    """What a step made of the library: the generation in force, and how many tools it holds."""

    generation: int
    tools: int


class StepAbsorber(Protocol):
    """Takes what the tasks of a step made into the library. Called again for a step that is absorbed, it says so."""

    async def absorb(self, step: int, finished: Sequence[Finished]) -> Absorbed: ...


Absorbing = Callable[[TrainingDir], StepAbsorber]


class Shelf:
    """The run's library `training.library`, curated step by step by its own curator, with a host of its own.

    `frozen`: the library stays as it is. Its models draw on `purse`, that of the run. `run`: see `Curator`.
    """

    def __init__(
        self,
        training: TrainingDir,
        settings: Settings,
        host: ToolHost,
        *,
        frozen: bool = False,
        clients: Clients | None = None,
        emit: Callable[[Event], None] = lambda event: None,
        journal: Journal | None = None,
        purse: Purse | None = None,
        run: str = "",
    ) -> None:
        self._training, self._frozen = training, frozen
        self._journal = journal or Journal(training.journal)
        self._emit = emit
        self._curator = Curator(
            training.library,
            training.path,
            settings=settings,
            host=host,
            journal=self._journal,
            clients=clients,
            emit=emit,
            told=self._told,
            purse=purse,
            run=run,
        )

    async def absorb(self, step: int, finished: Sequence[Finished]) -> Absorbed:
        if self._journal.entry(step, "tasks") is None:
            self._journal.write(step, "tasks", {"tasks": {end.task_id: end.status for end in finished}})
        if self._frozen:
            library = Library(self._training.library)
            return Absorbed(generation=Generations(self._training.library).current(), tools=len(library.names()))
        async with library_turn(self._training.path, self._told):
            report = await self._curator.step(step, finished)
        return Absorbed(generation=report.generation, tools=report.tools)

    def _told(self, text: str) -> None:
        self._emit(Notice(text=text))


def _ignored(folder: str, names: list[str]) -> set[str]:
    """What a fork leaves behind: hidden files, the account of another library, what is no plain file or folder."""
    modes = {name: Path(folder, name).lstat().st_mode for name in names}
    odd = {name for name, mode in modes.items() if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)}
    return odd | shutil.ignore_patterns(".*", "report.json", "__pycache__")(folder, names)


async def fork(source: Path, training: TrainingDir, host: ToolHost, emit: Events) -> None:
    """Make the first generation of the run's library from the library or generation at `source`, which is only read.

    A folder of plain tool files is as good; its tools are described here. What is no usable tool is left out, and
    said so. Does nothing when the run has a library already.
    """
    generations, given = Generations(training.library), Library(source)
    if generations.current():
        return
    with generations.draft() as draft:
        shutil.copytree(given.path, draft, ignore=_ignored, dirs_exist_ok=True)
        library = Library(draft)
        await library.describe_missing(host)
        for broken in library.broken():
            emit(Notice(level="warning", text=f"{broken.file} of {source} is left out: {broken.reason}"))
            for name in (broken.file, f"{broken.file.removesuffix('.py')}.json"):
                (draft / name).unlink(missing_ok=True)
        generations.publish(draft, {"forked_from": str(given.path), "tools": len(library.names())})


def check_feed(library: Path | None, settings: Settings) -> str:
    """The name in the store of the library to feed, empty for a folder. Raises `UserError` for what no run can feed."""
    if library is None:
        return ""
    if settings.store:
        return shelf(str(library))
    check_grows(library)
    if library.exists() and not library.is_dir():
        raise UserError(f"{library} is a file; name the folder of a library")
    Generations(library)
    return ""


async def join(feed: Path | None, training: TrainingDir, emit: Events) -> None:
    """Have the run's library be the one that it feeds, if it does: the folder `feed`, or the one in its store, which
    begins empty where there is none. Raises `UserError`, `PlaceError`, OSError.
    """
    if feed is not None:
        await asyncio.to_thread(_lead_to, feed, training)
    async with library_turn(training.path, lambda text: emit(Notice(text=text))) as shared:
        generations = Generations(training.library)
        if shared and not generations.current():
            with generations.draft() as draft:
                generations.publish(draft, {"tools": 0})


def _lead_to(library: Path, training: TrainingDir) -> None:
    generations = Generations(library)
    if not library.is_dir():
        with generations.draft() as draft:
            if not library.is_dir():  # another run may have been first
                generations.publish(draft, {"tools": 0})
    if not os.path.lexists(training.library):
        training.library.symlink_to(library.absolute())
