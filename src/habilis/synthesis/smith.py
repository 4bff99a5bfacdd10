"""The smith makes tools, mends them, makes one of several. All are one loop: write → check → try → replay → accept,
or tell why not.

`build`, `enhance` and `merge` differ in the prompt and in the recorded calls that a candidate has to pass. A candidate
lives aside; nothing replaces a tool before every gate has passed, and then one rename does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from habilis.contract.aliases import called_by, properties
from habilis.contract.capabilities import together
from habilis.contract.names import ToolName
from habilis.contract.records import RecordedCall
from habilis.core.errors import BudgetReached, ModelUnreachable, WriterFailed
from habilis.core.events import (
    Event,
    NeedsFound,
    Notice,
    ToolBuildStarted,
    ToolBuilt,
    ToolEnhanced,
    ToolGivenUp,
    ToolRejected,
)
from habilis.core.parents import as_build
from habilis.core.place import raise_place
from habilis.core.types import ToolRequest
from habilis.library import LayeredLibrary, Origin, Tool
from habilis.prompts import Prompts, Rendered
from habilis.runtime.grants import Grants
from habilis.synthesis.adopting import adopted
from habilis.synthesis.calls_by_rule import TaskGround
from habilis.synthesis.codeblocks import fed_back
from habilis.synthesis.confirming import Confirmer
from habilis.synthesis.gate import Gate, Passed, Predecessor, Rejected, Wanted, old_names
from habilis.synthesis.jobs import SAME_AGAIN as SAME_AGAIN
from habilis.synthesis.jobs import BuildFailure as BuildFailure
from habilis.synthesis.jobs import EnhanceFailure as EnhanceFailure
from habilis.synthesis.jobs import Failed, Forged, NotOneTool, SmithJob, disk_told, request_key
from habilis.synthesis.jobs import MergeFailure as MergeFailure
from habilis.synthesis.new_example import NewExample, checked
from habilis.synthesis.outright import AT_MOST, first_call_in, request_of
from habilis.synthesis.replay import Replayer
from habilis.synthesis.reviving import revived
from habilis.synthesis.shown_calls import failure_row, merge_row
from habilis.synthesis.skeleton import as_asked, skeleton, without_strangers

if TYPE_CHECKING:
    from habilis.core.ports import CodeWriter
    from habilis.models.chat import Models
    from habilis.runtime.host import ToolHost
    from habilis.synthesis.sharing import BuildFolder
    from habilis.synthesis.trial import FirstCall


class Smith:
    """Builds and mends the tools of one task, in its private library."""

    def __init__(
        self,
        host: ToolHost,
        library: LayeredLibrary,
        writer: CodeWriter,
        models: Models,
        prompts: Prompts,
        emit: Callable[[Event], None],
        *,
        task_id: str = "",
        grants: Grants | None = None,
        shared: BuildFolder | None = None,
        live: bool = True,
    ) -> None:
        """`shared`: builds that tasks of one step share; None for a task of its own. `live`: see `Replayer`."""
        self._host, self._library, self._writer = host, library, writer
        self._models, self._prompts, self._emit = models, prompts, emit
        self._task_id, self._shared = task_id, shared
        replayer = Replayer(host, library, models, prompts, live=live)
        self._gate = Gate(host, library, replayer, grants or Grants())
        self._confirmer = Confirmer(writer, prompts, self._gate, replayer, library.private, models)
        self._building: dict[str, asyncio.Future[Tool | BuildFailure]] = {}
        self._mending: dict[str, asyncio.Lock] = {}

    @property
    def builds_alone(self) -> bool:
        """Whether no other task waits for what this one builds, to be told by what was asked for."""
        return self._shared is None

    def announce(self, requests: Sequence[ToolRequest]) -> None:
        """Say to the other tasks of the step what the first plan has built. Raises `PlaceError`."""
        if self._shared is not None:
            self._shared.announce(requests)

    @as_build
    async def build(
        self, request: ToolRequest, *, question: str, files: Sequence[Mapping[str, Any]]
    ) -> Tool | BuildFailure:
        """Build the tool that `request` asks for. `files` are the task's as prompts show them (`taskfiles.view`).

        The very same request is built once: asked again, here or after a resume, it gives the tool that there is.
        Raises `ModelUnreachable`, `BudgetReached` and `PlaceError`; everything else is a `BuildFailure`.
        """
        key = request_key(request)
        existing = self._library.private.find_request(key)
        if existing is not None:
            self._settle(request, existing)
            return existing
        if key in self._building:
            return await asyncio.shield(self._building[key])
        shared = self._building[key] = asyncio.get_running_loop().create_future()
        try:
            result = await self._in_turn(request, key, question, files)
            shared.set_result(result)
            return result
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                shared.cancel()
            else:
                shared.set_exception(error)
                shared.exception()  # read, so that nobody is told of it twice when nobody waits
            raise
        finally:
            del self._building[key]

    async def _in_turn(
        self, request: ToolRequest, key: str, question: str, files: Sequence[Mapping[str, Any]]
    ) -> Tool | BuildFailure:
        """Build, unless an earlier task of the step has built the same and that passes the gate here. The name is taken
        first: who waits must not find it given to another build of the same plan."""
        with disk_told(request.name, self._emit) as refused, self._library.private.reserve(request.name) as name:
            for offer in await self._shared.offers(request, self._emit) if self._shared else ():
                ground = TaskGround.of(question, files)
                told = {"name": name, "key": key, "task": self._task_id}
                taken = await adopted(self._gate, self._library.private, offer, request, self._emit, ground, **told)
                if taken is not None:
                    self._settle(request, taken)
                    return taken
            made = await self._build(request, name, key, question, files)
            self._settle(request, made)
            return made
        self._settle(request, refused[0])
        return refused[0]

    def _settle(self, request: ToolRequest, made: Tool | BuildFailure) -> None:
        """Say to tasks that wait what came of it. What was taken over is offered by its maker."""
        if self._shared is not None:
            self._shared.settle(request, made if isinstance(made, Tool) and made.origin.how != "adopted" else None)

    async def _build(
        self, request: ToolRequest, name: str, key: str, question: str, files: Sequence[Mapping[str, Any]]
    ) -> Tool | BuildFailure:
        def prompt(failure: str) -> Rendered:
            return self._prompts.render(
                "build",
                name=request.name,
                description=request.description,
                input_schema=json.dumps(request.input_schema, ensure_ascii=False),
                output_schema=json.dumps(request.output_schema, ensure_ascii=False),
                question=question,
                files=list(files),
                skeleton=skeleton(request, files),
                failure=failure,
            )

        self._emit(ToolBuildStarted(tool=name, purpose="build"))
        wanted = Wanted(name, properties(request.input_schema), ground=TaskGround.of(question, files))
        whole = partial(as_asked, request=request, files=files)
        example = NewExample(self._writer, self._prompts, request, question, files)
        job = SmithJob("build", prompt, wanted, whole, example)
        back = await revived(self._gate, self._library, request, key, wanted)
        made = Forged(0, back.passed) if back else await self._forge(job)
        if isinstance(made, str):
            return self._given_up(job, made, BuildFailure(name=request.name, reason=made))
        made = made if back else await self._confirmed(job, made)
        origin = self._origin(request.name, name, key, made)
        return self._added(name, made, origin.model_copy(update=back.origin) if back else origin)

    @as_build
    async def build_outright(
        self, question: str, files: Sequence[Mapping[str, Any]], keep: Callable[[str, FirstCall], None]
    ) -> Tool | BuildFailure:
        """Build the one tool that `question` asks for, as its writer sees fit, tried by its first call over the task's
        own files; `keep` is told its name and that call before the tool is there.

        A writer who says that one tool does not do it is not asked again. Asked again after a resume, it gives the tool
        that there is. Raises as `build` does.
        """
        request = request_of(question)
        key = request_key(request)
        if (existing := self._library.private.find_request(key)) is not None:
            return existing

        def prompt(failure: str) -> Rendered:
            return self._prompts.render("outright", question=question, files=list(files), failure=failure)

        wanted = Wanted(request.name, ground=TaskGround.of(question, files))
        job = SmithJob("build", prompt, wanted, without_strangers, attempts=AT_MOST, wanted_of=first_call_in)
        self._emit(ToolBuildStarted(tool=request.name, purpose="build"))
        with disk_told(request.name, self._emit) as refused:
            try:
                made = await self._forge(job)
            except NotOneTool as word:
                made = str(word)
            if isinstance(made, str):
                return self._given_up(job, made, BuildFailure(name=request.name, reason=made))
            asked = made.passed.contract.name
            with self._library.private.reserve(asked) as name:
                first = made.passed.first
                wanted = replace(wanted, name=name, first=first.arguments if first else None)
                made = await self._confirmed(replace(job, wanted=wanted), made)
                if made.passed.first is not None:
                    keep(name, made.passed.first)
                return self._added(name, made, self._origin(asked, name, key, made))
        return refused[0]

    def _origin(self, asked: str, name: str, key: str, made: Forged) -> Origin:
        return Origin(
            task=self._task_id,
            writer=self._writer.name,
            model=self._models.name("builder"),
            asked_name=asked,
            our_suffix=ToolName.given(name, asked).our_suffix,
            request_key=key,
            smoke=made.passed.smoke,
        )

    def _added(self, name: str, made: Forged, origin: Origin) -> Tool:
        """What was made, as a tool of this task, and the word that it is there."""
        self._keep_confirmed(name, made.passed)
        private, passed = self._library.private, made.passed
        tool = private.add(passed.source, passed.description, passed.contract, name=name, origin=origin)
        of = {"tool": tool.name, "version": tool.version, "path": str(tool.path)}
        smoke, confirmed = passed.smoke, passed.confirmed.count
        self._emit(ToolBuilt(**of, attempts=made.attempts, smoke=smoke, confirmed=confirmed))
        self._tell(tool, passed)
        return tool

    async def enhance(self, tool: Tool, failures: Sequence[RecordedCall]) -> Tool | EnhanceFailure:
        """Make a better version of `tool` that mends `failures` and repeats every recorded call it ever passed.

        A public tool's better version becomes a private fork. Raises `ModelUnreachable`, `BudgetReached`, `PlaceError`.
        """
        async with self._mending.setdefault(tool.name, asyncio.Lock()):
            current = self._library.get(tool.name) or tool
            if current.alias is not None:  # its failures are those of the tool that does its work now
                failures = [called_by(current.alias, record) for record in failures]
                current = self._library.get(current.manifest.name) or current
            try:
                return await self._enhance(current, failures)
            except OSError as error:
                raise_place(error, ours=True)
                reason = f"a file could not be written: {error.strerror or error}"
                self._emit(ToolGivenUp(tool=tool.name, purpose="enhance", reason=reason))
                return EnhanceFailure(reason=reason)

    async def mended(
        self, tool: Tool, failures: Sequence[RecordedCall], right: Sequence[RecordedCall] = ()
    ) -> Forged | EnhanceFailure:
        """A better version of `tool`, put nowhere. `right` are calls of `failures` with their right results, where
        these are known. Raises `ModelUnreachable`, `BudgetReached`, and OSError when the disk refuses."""
        job = self._enhancing(tool, failures, right)
        self._emit(ToolBuildStarted(tool=tool.name, purpose="enhance"))
        if not any(record.replayable for record in failures):
            why = failures[0].why_not if failures else "no failing call was given"
            reason = f"none of the failing calls can be run again: {why}"
            return self._given_up(job, reason, EnhanceFailure(reason=reason))
        made = await self._forge(job)
        return self._given_up(job, made, EnhanceFailure(reason=made)) if isinstance(made, str) else made

    def _enhancing(self, tool: Tool, failures: Sequence[RecordedCall], right: Sequence[RecordedCall] = ()) -> SmithJob:
        source = tool.source()
        records = {record.call_id: record for record in self._library.records(tool.name)}
        records |= {record.call_id: record for record in (*failures, *right)}
        rows = [failure_row(record, self._library.content, right) for record in failures]

        def prompt(failure: str) -> Rendered:
            return self._prompts.render("enhance", name=tool.name, code=source, failures=rows, failure=failure)

        sources = (Predecessor(tool, tuple(records.values())), *old_names(tool, self._library))
        needs = self._gate.needs_of(tool)
        return SmithJob(
            "enhance", prompt, Wanted(tool.name, properties(tool.input_schema), tool, sources, before=needs)
        )

    @as_build
    async def _enhance(self, tool: Tool, failures: Sequence[RecordedCall]) -> Tool | EnhanceFailure:
        made = await self.mended(tool, failures)
        if isinstance(made, EnhanceFailure):
            return made
        job = self._enhancing(tool, failures)
        made = await self._confirmed(job, made, job.wanted.sources[0].records)
        origin = tool.origin.model_copy(
            update={
                "how": "enhanced",
                "parents": (tool.label,),
                "task": self._task_id,
                "writer": self._writer.name,
                "model": self._models.name("builder"),
                "smoke": made.passed.smoke,
            }
        )
        self._keep_confirmed(tool.name, made.passed)
        better = self._library.improve(tool, made.passed.source, made.passed.description, made.passed.contract, origin)
        self._emit(
            ToolEnhanced(
                tool=better.name,
                version=better.version,
                previous=tool.version,
                attempts=made.attempts,
                replayed=made.passed.replay.replayed,
                records=made.passed.replay.records,
                confirmed=made.passed.confirmed.count,
                judged=made.passed.judged.count,
                calls=made.passed.replay.calls,
            )
        )
        self._tell(better, made.passed)
        return better

    def _tell(self, tool: Tool, passed: Passed) -> None:
        """Say what a new version needs, and what stands in it that settings only warn of."""
        if needs := passed.contract.capabilities.shown():
            self._emit(NeedsFound(tool=tool.name, version=tool.version, needs=needs))
        for remark in passed.remarks:
            self._emit(Notice(level="warning", text=f"{tool.name}, {remark}"))

    @as_build
    async def merge(self, name: str, sources: Sequence[Predecessor]) -> Passed | MergeFailure:
        """Make one tool of those in `sources`, which repeats the recorded calls of all of them through its aliases.

        Nothing is put into a library. Raises `ModelUnreachable`, `BudgetReached`, and OSError when the disk refuses.
        """
        self._emit(ToolBuildStarted(tool=name, purpose="merge"))
        job = self._merging(name, sources)
        made = await self._forge(job)
        if isinstance(made, str):
            return self._given_up(job, made, MergeFailure(reason=made))
        return made.passed

    async def confirm(self, name: str, sources: Sequence[Predecessor], passed: Passed) -> Passed:
        """What `merge` made, with the calls that its writer confirms, asked last of all. Raises as `merge` does."""
        known = tuple(record for source in sources for record in source.records)
        return (await self._confirmed(self._merging(name, sources), Forged(0, passed), known)).passed

    def _merging(self, name: str, sources: Sequence[Predecessor]) -> SmithJob:
        rows = [merge_row(source) for source in sources if not source.via]
        needs = together(*(self._gate.needs_of(source.tool) for source in sources))
        wanted = Wanted(name, sources=tuple(sources), merges=True, before=needs)
        return SmithJob("merge", lambda failure: self._prompts.render("merge", tools=rows, failure=failure), wanted)

    async def _confirmed(self, job: SmithJob, made: Forged, known: Sequence[RecordedCall] = ()) -> Forged:
        """What was made, with the calls that its writer confirms; it stands without them where nobody can be asked."""
        with contextlib.suppress(BudgetReached, ModelUnreachable):  # the next request says so again
            made = replace(made, passed=await self._confirmer.confirmed(made.passed, job.wanted, known, job.module))
        return made

    def _keep_confirmed(self, name: str, passed: Passed) -> None:
        """Before the tool itself: killed in between, it is made again from the tape, and so are these."""
        for kept in (passed.confirmed, passed.judged):
            self._library.private.keep_confirmed(name, kept.calls, kept.contents)

    async def _forge(self, job: SmithJob) -> Forged | str:
        """The loop: a candidate that passed every gate, or the reason why the last attempt did not."""
        self._host.start_trials(self._library.private.aside_root())
        reason = failure = ""
        first: dict[str, Any] | None = None
        refused: dict[str, str] = {}
        for attempt in range(1, job.attempts + 1):
            source = ""
            prompt = job.prompt(failure)
            try:
                reply = await self._writer.write(prompt.system, prompt.user)
                wanted = job.wanted_of(reply, job.wanted)
                source = job.module(reply)
                if source in refused and wanted.first in (None, first):
                    again, source = source, ""  # a small model copies what it is shown: it is not shown a second time
                    raise WriterFailed(f"{SAME_AGAIN} {refused[again]}")
                first = wanted.first
                return Forged(attempt, await checked(self._gate, source, wanted, job.example))
            except (WriterFailed, Rejected) as rejected:
                reason = str(rejected)
                if source:
                    refused.setdefault(source, reason)
                self._emit(ToolRejected(tool=job.wanted.name, purpose=job.purpose, attempt=attempt, reason=reason))
                failure = fed_back(reason, source)
        return f"{job.attempts} attempts failed; the last one: {reason}"

    def _given_up(self, job: SmithJob, reason: str, failure: Failed) -> Failed:
        self._emit(ToolGivenUp(tool=job.wanted.name, purpose=job.purpose, reason=reason))
        return failure
