"""Sharing of builds: of the tasks of one step that ask for the same tool, the first one builds it, the others wait.

Who is first is told by the order of the tasks, never by time, so that side by side and one by one give the same
library. A task says what its first plan has built; whoever comes later in the step and has something to build first
hears those before it, and waits for what is near. What later plans have built is offered to nobody: to know of it, the
tasks behind would have to wait for a task's end. An offer is the source as it was built, whatever became of it since.

Each task writes one file, `<task>.json`, and whoever runs it says in `<task>.end` that it works no more; so the tasks
may be of one process or of many, and nobody waits for one that died. A task waits for earlier ones alone, and these are
begun before it: there is no circle.

Whether two requests mean the same is decided by a rule that would rather miss a pair than join two (`same_request`).
What matches is only offered: the smith has it pass the gate in its own task before it takes it over.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from pathlib import Path

from pydantic import Field

from habilis.contract.names import safe_name
from habilis.core.errors import Interrupted
from habilis.core.events import BuildAwaited, Event
from habilis.core.masker import MASKER
from habilis.core.place import raise_place
from habilis.core.types import Frozen, ToolRequest
from habilis.library import Tool
from habilis.rundir import atomic_write, safe_id
from habilis.rundir.kept import kept_at
from habilis.rundir.plain import plain_json, read_plain
from habilis.rundir.seals import sealed, unsealed
from habilis.synthesis.sameness import same_request

log = logging.getLogger(__name__)

POLL_S = 0.03
OVER, OPEN = "over", "open"
"""How a task ended: for good, or to be gone on with later."""


class Offer(Frozen):
    """A tool that another task built for nearly the same request: its source as it was built, and who made it."""

    task: str
    tool: str
    version: str
    source: str


class Announced(Frozen):
    """What a task's first plan has built. `settled` has each request, by its place, whose build came to an end, with
    what may be offered, if anything."""

    task: str
    requests: tuple[ToolRequest, ...]
    settled: dict[int, Offer | None] = Field(default_factory=dict)


class BuildFolder:
    """The builds of one step, seen by task `task_id`. `before` are the tasks that come before it in the step."""

    def __init__(
        self,
        folder: Path,
        task_id: str,
        before: Sequence[str] = (),
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._folder, self._task, self._before, self._sleep = folder, task_id, tuple(before), sleep
        self._known: dict[str, tuple[tuple[int, int], Announced | None]] = {}
        self._stopped = False

    def stop(self) -> None:
        """This task was asked to end: it waits for nobody any more, who may never say another word."""
        self._stopped = True

    def announce(self, requests: Sequence[ToolRequest]) -> None:
        """Say what the first plan has built, nothing too: others wait for that word. Said again after a resume, what is
        settled stays. Raises `PlaceError`; what else is refused costs the sharing."""
        said, before = tuple(map(MASKER.model, requests)), self._read(self._task)
        if before is None or before.requests != said:
            self._write(Announced(task=self._task, requests=said))

    async def offers(
        self, request: ToolRequest, emit: Callable[[Event], None] = lambda event: None
    ) -> tuple[Offer, ...]:
        """What the tasks before this one have built by their first plans for nearly `request`, in their order, once all
        of it is built. `emit` hears of each task whose build is waited for.

        Raises `Interrupted` where one of them was stopped before that was known: so is this task, to go on behind it.
        It also does where this task was asked to end (`stop`).
        """
        found: list[Offer] = []
        request = MASKER.model(request)
        for task in self._before if self._folder.is_dir() else ():
            said = await self._until(task)
            for place, near in enumerate(said.requests if said else ()):
                if not same_request(near, request):
                    continue
                if said is not None and place not in said.settled:
                    emit(BuildAwaited(tool=safe_name(request.name), builder=task))
                    said = await self._until(task, place)
                offer = said.settled.get(place) if said else None
                found += [offer] if offer else []
        return tuple(found)

    def settle(self, request: ToolRequest, tool: Tool | None) -> None:
        """Say what came of the build of `request`: a tool made for it, or nothing that others could take over.

        The first word stands; of what was not announced none is needed. Raises as `announce` does.
        """
        said, request = self._read(self._task), MASKER.model(request)
        if said is None or request not in said.requests or said.requests.index(request) in said.settled:
            return
        offer = None
        if tool is not None:
            offer = Offer(task=self._task, tool=tool.name, version=tool.version, source=tool.source())
        settled = {**said.settled, said.requests.index(request): offer}
        self._write(said.model_copy(update={"settled": settled}))

    async def _until(self, task: str, place: int | None = None) -> Announced | None:
        """What `task` said, once its request at `place` is settled, if that is given; when the task works no more, what
        it said till then, None where that is nothing."""
        while True:
            end = _end_of(self._folder, task)  # looked at first: what it said last, it said before
            said = self._read(task)
            if said is not None and (place is None or place in said.settled):
                return said
            if end == OPEN:
                raise Interrupted(f"stopped, as task {task} was, which comes first; continue with --resume")
            if end is not None:
                return said
            if self._stopped:
                raise Interrupted(f"stopped while it waited for task {task}; continue with --resume")
            await self._sleep(POLL_S)

    def _read(self, task: str) -> Announced | None:
        """What `task` said so far; None where that is nothing, or cannot be read."""
        path = _path(self._folder, task)
        try:
            found = path.stat()
            stamp = (found.st_ino, found.st_mtime_ns)
            if task not in self._known or self._known[task][0] != stamp:
                self._known[task] = (stamp, announced_in(read_plain(path)))
        except OSError:
            return None
        return self._known[task][1]

    def _write(self, said: Announced) -> None:
        text = sealed(MASKER.document(json.dumps(said.model_dump(mode="json"), ensure_ascii=True).encode()))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            atomic_write(_path(self._folder, said.task), text, durable=False)
        except OSError as error:
            raise_place(error)
            log.warning("builds are not shared by task %s: %s", self._task, error.strerror or error)


def announced_in(record: bytes) -> Announced | None:
    """What one `<task>.json` says; None where it is none."""
    try:
        return Announced.model_validate(plain_json(unsealed(record)))
    except ValueError:
        return None


def open_builds(folder: Path, tasks: Iterable[str], left: Collection[str], begun: Callable[[str], bool]) -> None:
    """Make the builds of a step ready for its `tasks`, before those that are `left` run. What a task said that is to
    begin from nothing means nothing. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        if task not in left:
            end_builds(folder, task, OVER)
            continue
        for suffix in (".end",) if begun(task) else (".end", ".json"):
            _forget(_path(folder, task, suffix))


def end_builds(folder: Path, task: str, how: str) -> None:
    """Say that `task` works no more: for good (`OVER`), or until it is gone on with (`OPEN`). Raises OSError."""
    if _end_of(folder, task) != how:
        atomic_write(_path(folder, task, ".end"), how, durable=False)


def _end_of(folder: Path, task: str) -> str | None:
    """How `task` ended; None while it may be at work."""
    try:
        said = read_plain(_path(folder, task, ".end"), 16)
    except OSError:
        return None
    return OPEN if said == OPEN.encode() else OVER


def _forget(path: Path) -> None:
    if path.exists() and (kept := kept_at(path)) is not None:
        kept.forget(path)
    path.unlink(missing_ok=True)


def _path(folder: Path, task: str, suffix: str = ".json") -> Path:
    return folder / f"{safe_id(task)}{suffix}"
