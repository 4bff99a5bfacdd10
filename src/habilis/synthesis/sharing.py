"""Sharing of builds: tasks that run side by side and ask for the same tool wait for one build instead of making two.

A folder holds one entry per request under way or built: `<id>.json` (the request and, once built, where its tool lies)
and `<id>.lock`, held by the task that builds. The kernel lets go of a lock when its holder dies, so that a crashed
builder never keeps the others waiting; the same files serve tasks of one process and of many.

Whether two requests mean the same is decided by a rule that would rather miss a pair than join two (`same_request`).
What matches is only offered: the smith has it pass the gate in its own task before it takes it over.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from habilis.contract.names import safe_name
from habilis.core.events import BuildAwaited, Event
from habilis.core.masker import MASKER
from habilis.core.place import raise_place
from habilis.core.types import ToolRequest
from habilis.library import Tool
from habilis.rundir import atomic_write
from habilis.rundir.files import row_of
from habilis.rundir.locks import alone, is_held, take
from habilis.rundir.plain import open_plain, read_plain
from habilis.rundir.seals import sealed
from habilis.synthesis.sameness import same_request

log = logging.getLogger(__name__)

POLL_S = 0.03
ENTRY = frozenset({"id", "task", "request"})
"""What stands in every entry."""


@dataclass(frozen=True)
class Offer:
    """A tool that another task built for nearly the same request: its source as it is now, and who made it."""

    task: str
    tool: str
    version: str
    source: str


@dataclass
class Turn:
    """One request's turn to build: what others have to offer, and the place to say what was built."""

    offers: tuple[Offer, ...] = ()
    made: Tool | None = field(default=None)

    def built(self, tool: Tool) -> None:
        self.made = tool


class BuildFolder:
    """The builds of one step, seen by task `task_id`. Any number of tasks and processes may share `folder`."""

    def __init__(
        self, folder: Path, task_id: str, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._folder, self._task, self._sleep = folder, task_id, sleep

    @contextlib.asynccontextmanager
    async def turn(
        self, request: ToolRequest, emit: Callable[[Event], None] = lambda event: None
    ) -> AsyncIterator[Turn]:
        """Wait until no other task builds what `request` asks for; then the request is this task's to build. `emit`
        hears of each task that is waited for.

        An entry without a tool means nothing once its lock is free: its builder failed or died. What else is refused
        costs the sharing, never the build; raises `PlaceError` before anything is paid.
        """
        try:
            near, own = await self._entered(request, emit)
        except OSError as error:
            raise_place(error)
            log.warning("builds are not shared by task %s: %s", self._task, error.strerror or error)
            yield Turn()
            return
        turn = Turn(tuple(offer for entry in near if (offer := _offer(entry)) is not None))
        try:
            yield turn
        finally:
            self._settle(own, request, turn.made)

    async def _entered(self, request: ToolRequest, emit: Callable[[Event], None]) -> tuple[list[dict[str, Any]], int]:
        """The finished builds that are near, and the lock of this task's own entry, once nobody near is building."""
        self._folder.mkdir(parents=True, exist_ok=True)
        while True:
            with self._registry():
                near = [entry for entry in self._entries() if self._is_near(entry, request)]
                busy = [entry for entry in near if "tool" not in entry and self._is_held(entry["id"])]
                if not busy:
                    return near, self._claim(request)
            emit(BuildAwaited(tool=safe_name(request.name), builder=busy[0]["task"]))
            while self._is_held(busy[0]["id"]):
                await self._sleep(POLL_S)

    def _is_near(self, entry: Mapping[str, Any], request: ToolRequest) -> bool:
        return entry["task"] != self._task and same_request(ToolRequest.model_validate(entry["request"]), request)

    @contextlib.contextmanager
    def _registry(self) -> Iterator[None]:
        """One comer at a time; held for the reading and writing of a few small files."""
        with alone(self._folder / ".lock"):
            yield

    def _entries(self) -> list[dict[str, Any]]:
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with contextlib.suppress(OSError, ValueError):
                entry = row_of(read_plain(path))
                if entry.keys() >= ENTRY:
                    found.append(entry)
        return found

    def _claim(self, request: ToolRequest) -> int:
        """Enter `request` as being built by this task; the descriptor holds its lock."""
        name = _id(self._task, request)
        descriptor = open_plain(self._folder / f"{name}.lock", os.O_RDWR | os.O_CREAT)
        try:
            assert take(descriptor), "nobody else builds it under this name"
            self._write(request, None)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _settle(self, own: int, request: ToolRequest, tool: Tool | None) -> None:
        """Say what was built, or take the entry away; then let the others go on."""
        try:
            with contextlib.suppress(OSError):  # a full disk costs the sharing, not the tool
                if tool is None:
                    (self._folder / f"{_id(self._task, request)}.json").unlink(missing_ok=True)
                else:
                    self._write(request, tool)
        finally:
            os.close(own)

    def _write(self, request: ToolRequest, tool: Tool | None) -> None:
        name = _id(self._task, request)
        entry: dict[str, Any] = {"id": name, "task": self._task, "request": request.model_dump(mode="json")}
        if tool is not None:
            entry |= {"tool": tool.name, "path": str(tool.path)}
        text = json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass")
        atomic_write(self._folder / f"{name}.json", sealed(MASKER.document(text)), durable=False)

    def _is_held(self, name: str) -> bool:
        return is_held(self._folder / f"{name}.lock")


def _id(task: str, request: ToolRequest) -> str:
    said = json.dumps([task, request.model_dump(mode="json")], sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _offer(entry: Mapping[str, Any]) -> Offer | None:
    """The tool of a finished entry as it lies with its maker now, None when it was set aside or never built."""
    if "tool" not in entry:
        return None
    try:
        source = read_plain(Path(entry["path"]))
        text = source.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    version = hashlib.sha256(source).hexdigest()[:16]
    return Offer(entry["task"], entry["tool"], version, text)
