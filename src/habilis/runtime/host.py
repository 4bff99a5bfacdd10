"""Runs tools in the sandbox for the rest of the house: a tool's failure is a value, never an exception."""

from __future__ import annotations

import asyncio
import errno
import importlib.util
import json
import logging
import math
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from habilis.config import SandboxSettings, Settings
from habilis.contract.capabilities import Grant
from habilis.contract.runnable import Description, Runnable
from habilis.core.errors import PlaceError
from habilis.core.locations import all_places
from habilis.core.masker import MASKER
from habilis.core.place import place_error, place_told, raise_place
from habilis.core.ports import Sandbox, SandboxExit, SandboxJob, SandboxLimits
from habilis.core.types import CallError, CallOutcome
from habilis.runtime.calls import CallSpec
from habilis.runtime.enforcing import Doors, Outcomes, request_for, told, under_grant
from habilis.runtime.loading import may_be_loaded_early, repeatable
from habilis.runtime.packages.environments import Environment, EnvironmentFailed, Environments
from habilis.sandbox.backends.probing import choose
from habilis.sandbox.forkserver.early import Early
from habilis.sandbox.forkserver.pool import Servers
from habilis.sandbox.forkserver.room import Room
from habilis.sandbox.forkserver.warm import ServerGone
from habilis.sandbox.inside import program
from habilis.sandbox.outcomes import NotStarted, outcomes_of
from habilis.sandbox.ownership.custody import Custody
from habilis.sandbox.ownership.workspace import Survey, changed
from habilis.sandbox.processes.interpreter import FIXED_VARIABLES, FLAGS, compiled
from habilis.sandbox.processes.process import LOST, uncancelled
from habilis.sandbox.processes.temporary import clear, temporary
from habilis.sandbox.processes.watching import free_space

logger = logging.getLogger(__name__)
_GUEST = program("guest")
_MIB = 1 << 20
_SPARE_BYTES = 1 << 20
"""Less than that is a full disk."""
_TRIAL = """
from pydantic import BaseModel
class InputModel(BaseModel):
    pass
class OutputModel(BaseModel):
    error: str | None = None
def run(input: InputModel) -> OutputModel:
    open("mark", "w").close()
    return OutputModel()
"""
"""A tool that does what any tool does."""
Steps = tuple[str, ...]


@dataclass(frozen=True)
class _Ready:
    """What a call needs beside its job: where it runs, with what, and what may be loaded ahead of its next."""

    sandbox: Sandbox
    found: Environment
    source: str
    steps: Steps
    early: Early | None
    mark: Callable[[bool], None]


class ToolHost:
    """Runs tools. One per run of the program; safe for any number of concurrent calls.

    What fails is sorted: what the tool, its arguments or its limits come to is a value, as is what this one call was
    given and cannot be had. Where no tool at all could be run, it is the place that fails: each method that runs or
    prepares tools raises `PlaceError` then.
    """

    def __init__(
        self,
        settings: SandboxSettings,
        *,
        notice: Callable[[str], None] = logger.warning,
        sandbox: Sandbox | None = None,
        environments: Environments | None = None,
        doors: Doors | None = None,
        upstream: str | None = None,
        inspect_https: bool = False,
        limits: SandboxLimits | None = None,
    ) -> None:
        """`environments` are the host's own from now on. `doors` lead to granted hosts (default: a proxy of its own, by
        way of the user's `upstream` if given, which looks into https if asked for). `limits` hold for each call where
        the settings have none of their own."""
        self._settings, self._notice = settings, notice
        self._base = limits or SandboxLimits(cpu_s=max(SandboxLimits.cpu_s, math.ceil(settings.tool_timeout_s)))
        self._doors = doors or Doors(upstream, inspect=inspect_https)
        self._environments = environments or Environments()
        self._sandbox = sandbox
        self._choosing = asyncio.Lock()
        self._custody = Custody()
        self._servers: Servers | None = None
        self._announced: dict[Path, tuple[Path, ...]] = {}
        self._starting: set[asyncio.Task[None]] = set()
        self._room: Room | None = None
        self._cold = False

    @classmethod
    def of(
        cls, settings: Settings, *, notice: Callable[[str], None] = logger.warning, inspect_https: bool = False
    ) -> ToolHost:
        """A host as `settings` say: its sandbox, the packages that tools may name, the user's own proxy."""
        return cls(
            settings.sandbox,
            notice=notice,
            environments=Environments.of(settings.tools),
            upstream=settings.capabilities.proxy,
            inspect_https=inspect_https,
        )

    async def level(self) -> str:
        """The sandbox level that holds tools here. Raises `SandboxUnavailable` when it is required and none works."""
        clear()  # what a killed process left in temporary folders
        return (await self._chosen()).level

    async def prepare(self, requirements: Sequence[str]) -> CallError | None:
        """Make the environment for `requirements` ready; an error of kind unavailable says why that is not possible."""
        found = await self._environment(requirements)
        return found if isinstance(found, CallError) else None

    def refusal(self, requirements: Sequence[str]) -> str | None:
        """Why tools with `requirements` cannot be run here, as far as settings alone say; costs no process."""
        return self._environments.refusal(requirements)

    async def describe(self, tool: Runnable, *, grant: Grant | None = None) -> Description | CallError:
        """Load `tool` and read its schemas, in a workspace of its own that is thrown away."""
        with place_told(), temporary("describe") as folder:
            description, _ = await self.try_out(CallSpec(tool, None, folder, grant=grant))
        return description

    async def call(self, spec: CallSpec) -> CallOutcome:
        """Run a tool once. Cancellation kills all of its processes and goes on; nothing else is raised for a tool."""
        outcomes = await self._outcomes(spec, ("call",))
        return spec.tool.seen(outcomes["call"])

    async def try_out(self, spec: CallSpec) -> tuple[Description | CallError, CallOutcome | None]:
        """Describe a tool and, given arguments, call it, in one interpreter. No call is made when that fails."""
        outcomes = await self._outcomes(spec, ("describe",) if spec.arguments is None else ("describe", "call"))
        told = outcomes["describe"]
        if told.error is not None:
            return told.error, None
        try:
            description = Description(name=spec.tool.name, **told.output)
        except (ValidationError, TypeError):
            return CallError(kind="bad_output", message="the tool's description of itself is not usable"), None
        return description, outcomes.get("call")

    def start(self, workspace: Path, files: Sequence[Path]) -> None:
        """Expect calls in `workspace` with `files`: a server that makes them quick is started in the background."""
        if not self._settings.warm:
            return
        workspace = placed(workspace)
        self._custody.expect(workspace)
        self._expect(workspace, files)

    def _expect(self, workspace: Path, files: Sequence[Path]) -> None:
        self._announced[workspace] = tuple(files)
        task = asyncio.create_task(self._start(workspace))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    def start_trials(self, beside: Path) -> None:
        """Expect calls in workspaces that are thrown away, on the file system of the folder `beside`."""
        if not self._settings.warm or (self._room is not None and self._room.folder.is_dir()):
            return
        try:
            self._room = Room(placed(beside))
        except OSError:  # then each trial starts an interpreter
            return
        self._expect(self._room.folder, ())

    async def aclose(self) -> None:
        """End what is kept running between calls. Workspaces go back to their owners."""
        for task in self._starting:
            task.cancel()
        if self._servers is not None:
            await self._servers.aclose()
        self._announced.clear()
        self._custody.forget()
        if self._room is not None:
            self._room.close()
            self._room = None
        self._environments.close()
        await self._doors.aclose()

    async def _start(self, workspace: Path) -> None:
        try:
            found = await self._environment(())
            if isinstance(found, Environment):
                job = self._job(found, b"", workspace, self._announced[workspace], self._limits(None))
                (await self._warm()).expect(job, found.paths)
        except PlaceError:  # whoever calls a tool is told so
            return

    async def _warm(self) -> Servers:
        sandbox = await self._chosen()
        if self._servers is None:
            self._servers = Servers(sandbox)
        return self._servers

    async def _chosen(self) -> Sandbox:
        async with self._choosing:
            if self._sandbox is None:
                self._sandbox = await choose(self._settings, self._notice)
            return self._sandbox

    async def _environment(self, requirements: Sequence[str]) -> Environment | CallError:
        try:
            return await self._environments.ready(requirements)
        except EnvironmentFailed as error:
            return CallError(kind="unavailable", message=str(error))

    async def _outcomes(self, spec: CallSpec, steps: Steps) -> Outcomes:
        """The outcome of each step. Steps after a failed one are missing."""
        spec = replace(spec, workspace=placed(spec.workspace))
        with place_told():
            try:
                return await self._placed(spec, steps)
            except NotStarted as error:
                spec.mark(False)
                return await self._again(spec, steps, error)

    async def _placed(self, spec: CallSpec, steps: Steps) -> Outcomes:
        if self._room is None or spec.files or spec.workspace in self._announced or spec.wider:
            return await self._run(spec, steps)
        async with self._room.instead_of(spec.workspace) as place:
            return await self._run(replace(spec, workspace=place), steps)

    async def _again(self, spec: CallSpec, steps: Steps, error: NotStarted) -> Outcomes:
        """What becomes of a call that did not start: made again where a damaged cache was to blame; raised where no
        call at all can be started here; else a failure of this call alone."""
        compiled.cache_clear()  # they are looked at again, and made anew
        await self._environments.mended(spec.tool.requirements)
        if (problem := await self.trial()) is not None:
            raise PlaceError(f"{problem}; 'habilis doctor' tries what a tool needs") from error
        self._cold = True  # a warm server may lack what an interpreter of its own has
        try:
            return await self._placed(spec, steps)
        except NotStarted as still:
            spec.mark(False)
            error = still
        lacks = CallOutcome(error=CallError(kind="unavailable", message=str(error)), level=await self.level())
        return {steps[0]: MASKER.outcome(told(lacks, spec.grant) if spec.grant else lacks)}

    async def trial(self) -> str | None:
        """Why not even the plainest tool can be run here, in an interpreter of its own; None where it can."""
        sandbox = await self._chosen()
        found = await self._environments.ready(())
        with place_told(), tempfile.TemporaryDirectory(prefix="habilis-trial-") as folder:
            spec = CallSpec(Runnable("trial", Path("trial.py")), {}, workspace=Path(folder))
            request = request_for(spec, ("call",), _TRIAL, found, level=sandbox.level)
            job = self._job(found, _dumped(request), spec.workspace, (), self._limits(None))
            try:
                ended = await sandbox.run(job)
                outcome = outcomes_of(ended, job, ("call",), (), shared=False, level=sandbox.level)["call"]
            except (OSError, NotStarted) as error:
                return f"no tool can be run: {error}"
        return f"no tool can be run: {outcome.error.message}" if outcome.error is not None else None

    async def _run(self, spec: CallSpec, steps: Steps) -> Outcomes:
        sandbox = await self._chosen()
        found = await self._environment(spec.tool.requirements)
        if isinstance(found, CallError):
            return {steps[0]: CallOutcome(error=found, level=sandbox.level)}
        try:
            source = importlib.util.decode_source(spec.tool.module.read_bytes())
            request = request_for(spec, steps, source, found, level=sandbox.level)
        except (OSError, SyntaxError, UnicodeDecodeError) as error:
            raise_place(error)
            text = f"the tool's module cannot be read: {getattr(error, 'strerror', None) or error}"
            return {steps[0]: CallOutcome(error=CallError(kind="unavailable", message=text), level=sandbox.level)}
        limits = self._limits(spec.timeout_s, spec.grant.timeout_s if spec.grant else None)
        job = self._job(found, _dumped(request), spec.workspace, spec.files, limits)
        early = _early(request, source) if steps == ("call",) else None
        ready = _Ready(sandbox, found, source, steps, early, spec.mark)
        outcomes = await under_grant(
            spec, job, steps, partial(self._confined, ready), level=sandbox.level, doors=self._doors
        )
        return {step: MASKER.outcome(outcome) for step, outcome in outcomes.items()}

    def _job(
        self, found: Environment, body: bytes, workspace: Path, files: Sequence[Path], limits: SandboxLimits
    ) -> SandboxJob:
        return SandboxJob(
            argv=[str(found.python), *FLAGS, str(compiled(_GUEST))],
            request=body,
            workspace=workspace,
            read_only=(*found.paths, compiled(_GUEST), *all_places(files)),
            env=FIXED_VARIABLES,
            limits=limits,
            packages=found.paths,
        )

    async def _confined(self, ready: _Ready, job: SandboxJob, cold: bool) -> Outcomes:
        """Run `job`, and see what it left in its workspace. `cold`: by an interpreter of its own."""
        level, use = ready.sandbox.level, self._custody.enter(job.workspace)
        ended: SandboxExit | None = None
        try:
            try:
                before = await self._custody.look(use, job.read_only)
                ended = await (_alone(ready, job) if cold else self._ended(ready, job, before))
            finally:
                after = self._custody.leave_at_once(use)
                if after is None:
                    after = await uncancelled(self._custody.leave(use))
            made = changed(before.files, after.files)
        except OSError as error:
            raise_place(error)
            if ended is None:
                raise NotStarted(f"the sandbox did not start: {error.strerror or error}") from error
            text = f"it ran, but its working folder cannot be looked through: {error.strerror or error}"
            return {ready.steps[0]: CallOutcome(error=CallError(kind="crashed", message=text), level=level)}
        outcomes = outcomes_of(ended, job, ready.steps, made, shared=use.most > 1, level=level)
        if any(_no_space(outcome) for outcome in outcomes.values()) and free_space(job.workspace) < _SPARE_BYTES:
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(job.workspace))
            raise place_error(full) or full
        return outcomes

    async def _ended(self, ready: _Ready, job: SandboxJob, before: Survey) -> SandboxExit:
        """How the call ended: done by a warm server where there is one, else by an interpreter of its own.

        A call whose server was killed under it is made again when that can do no harm.
        """
        if job.workspace in self._announced and not self._cold:
            server = await (await self._warm()).server(job, ready.found.paths)
            if server is not None:
                await server.adopt(before.owners)
                trial = self._room is not None and job.workspace == self._room.folder
                with suppress(ServerGone):
                    ready.mark(True)
                    try:
                        ended = await server.call(job.request, job.limits, None if trial else ready.early)
                    finally:
                        if trial:
                            await server.give_back()
                    if ended.stopped != LOST or not repeatable(ended, ready.source):
                        return ended
        return await _alone(ready, job)

    def _limits(self, timeout_s: float | None, granted_s: float | None = None) -> SandboxLimits:
        """`granted_s`: who is given that much time may compute all of it."""
        return replace(
            self._base,
            wall_s=timeout_s or granted_s or self._settings.tool_timeout_s,
            cpu_s=max(self._base.cpu_s, math.ceil(granted_s or 0)),
            memory_bytes=self._settings.memory_mb * _MIB,
            file_bytes=self._settings.file_mb * _MIB,
            processes=self._settings.processes,
            disk_bytes=4 * self._settings.file_mb * _MIB,
        )


def _no_space(outcome: CallOutcome) -> bool:
    """Whether a tool failed since a disk was full, as it says: its own, of which it has so much, or the host's."""
    return outcome.error is not None and f"[Errno {errno.ENOSPC}]" in outcome.error.message


def placed(folder: Path) -> Path:
    """`folder` by its whole name: inside the sandbox relative names begin elsewhere."""
    return folder.absolute()


async def _alone(ready: _Ready, job: SandboxJob) -> SandboxExit:
    """How a call ended that has a sandbox of its own. Raises OSError where that cannot be started."""
    ready.mark(True)
    try:
        ended = await ready.sandbox.run(job)
        again = ended.stopped == LOST and repeatable(ended, ready.source)
        return await ready.sandbox.run(job) if again else ended
    except OSError:
        ready.mark(False)
        raise


def _early(request: dict[str, Any], source: str) -> Early:
    """The same call for a server that may load its tool ahead: what the tool is, apart from what it is given."""
    about = _dumped({**request, "arguments": {}})
    return Early(about, _dumped(request["arguments"]), lambda: may_be_loaded_early(source))


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode("ascii")
