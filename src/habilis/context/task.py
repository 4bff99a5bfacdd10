"""Everything that one task works with, handed to the graph as its typed context, and the running of one tool call.

The context decides nothing: it finds tools by name, runs calls so that none is lost or run twice, keeps their records.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.context.standing_in import stood_in, told_of, witnessed
from habilis.contract import taskfiles
from habilis.contract.names import RESERVED
from habilis.contract.needs import Supply
from habilis.contract.pictures import holds_image
from habilis.core.errors import Interrupted
from habilis.core.events import Event, Notice, ToolCallEnded, ToolCallStarted
from habilis.core.masker import MASKER
from habilis.core.parents import under
from habilis.core.place import raise_place
from habilis.core.types import CallError, CallOutcome, Effects, Invocation, Task, ToolCard, ToolSpec
from habilis.runtime.calls import CallSpec
from habilis.runtime.egress.cassette import Recording
from habilis.runtime.grants import Grants
from habilis.sources.bound import ExternalTools

if TYPE_CHECKING:
    from habilis.config import Settings
    from habilis.context.presets import Presets
    from habilis.contract.capabilities import Grant
    from habilis.contract.needs import Need
    from habilis.core.ports import EventSink
    from habilis.library import LayeredLibrary, Tool
    from habilis.messages.calls import Call
    from habilis.models.chat import Models
    from habilis.models.tape import Tape
    from habilis.prompts import Prompts
    from habilis.runtime.host import ToolHost
    from habilis.sources.bound import BoundTool
    from habilis.synthesis.smith import Smith
    from habilis.tool_calling.strategies import Strategies

log = logging.getLogger(__name__)
MOST_BOUND = 20
"""Tools that a model is shown at once, presets included: among more it chooses worse, and each costs tokens."""


class Events:
    """Hands each event, without secrets, to every sink. A sink that raises is left out from then on; the run goes on
    unchanged."""

    def __init__(self, sinks: Iterable[EventSink]) -> None:
        self._sinks = list(sinks)

    def __call__(self, event: Event) -> None:
        event = MASKER.model(event)
        for sink in list(self._sinks):
            try:
                sink.emit(event)
            except Exception as error:  # an observer must never change what it observes
                self._sinks.remove(sink)
                log.warning("event sink %s failed and is left out: %s", type(sink).__name__, error)


@dataclass
class TaskContext:
    """One task's models, tools, files and record. Built by `Team`, closed by it."""

    task: Task
    settings: Settings
    prompts: Prompts
    models: Models
    strategies: Strategies
    host: ToolHost
    library: LayeredLibrary
    smith: Smith
    presets: Presets
    tape: Tape
    emit: Events
    workspace: Path
    grants: Grants = field(default_factory=Grants)
    external: ExternalTools = field(default_factory=ExternalTools)
    may_ask: bool = True
    stopping: bool = False
    _left_out: set[str] = field(default_factory=set, repr=False)
    _view: list[dict[str, object]] | None = field(default=None, repr=False)

    def check_stop(self) -> None:
        """Raises `Interrupted` once the user has asked for an end; called at the start of every step."""
        if self.stopping:
            raise Interrupted("interrupted; continue with --resume")

    @property
    def files_view(self) -> list[dict[str, object]]:
        """The task's files as prompts show them, read once: the files are read-only while the task runs."""
        if self._view is None:
            self._view = taskfiles.view(file for file in self.task.files if file.shown)
        return self._view

    @property
    def system_prompt(self) -> str:
        """The executor's system prompt; it stands in front of every request and in no history."""
        return self.prompts.render("execute", question="", files=[], missing=[], guidance="").system

    def specs(self, names: Sequence[str]) -> list[ToolSpec]:
        """What the model is shown: presets and the tools of `names` in their newest version, at most the limit."""
        presets = self.presets.specs()
        room = MOST_BOUND - len(presets)
        tools = [tool.spec for name in names if (tool := self.tool(name)) is not None]
        return tools[: max(room, 0)] + presets

    def specs_for(self, names: Sequence[str], called: Collection[str]) -> list[ToolSpec]:
        """What calls are checked against: all that the model is shown, and presets that were called without that."""
        return [*self.specs(names), *(spec for spec in self.presets.unshown() if spec.name in called)]

    def tool(self, name: str) -> BoundTool | Tool | None:
        """The external tool or the library's tool called `name`."""
        return self.external.get(name) or self.library.get(name)

    async def open_external(self) -> None:
        """Open the sources of external tools. Raises `UserError` for one that is required and gives none."""
        taken = {*RESERVED, *self.library.names(), *self.library.aliases()} if self.external.sources else ()
        await self.external.open(taken, self.emit)

    def candidates(self, query: str, k: int) -> list[ToolCard]:
        """At most `k` tools that have enough to do with `query`, best first; none where none has.

        A tool of the library that cannot work here, for want of a secret, a package or a grant, is left out and named
        in a notice; one that needs what the task cannot supply, without a word.
        """
        external = self.external.cards()
        found = self.library.fitting(query, k, also=external)
        kept = [card for card in self.external.kept(k) if card not in found]
        general = [card for card in kept if self.external.is_general(card.name)]
        found = [*found[: k - len(general)], *kept][:k]
        missing = {card.name: reasons for card in found if (reasons := self.missing(card.name))}
        new = {name: reasons for name, reasons in missing.items() if name not in self._left_out}
        self._left_out |= new.keys()
        for name, reasons in new.items():
            self.emit(Notice(level="warning", text=f"{name} is left out: {'; '.join(reasons)}"))
        if new and len(missing) == len(found):
            text = "No tool of the library can be used here: each lacks a secret, a package or a grant (named above)."
            self.emit(Notice(level="error", text=text))
        return self._supplied([card for card in found if card.name not in missing], query)

    def _supplied(self, found: Sequence[ToolCard], query: str) -> list[ToolCard]:
        """Those of `found` whose needs the task may meet, now or once another of them has worked."""
        earlier = self.task.earlier
        told = (
            [text for turn in (*earlier.near, *earlier.recent) for text in (turn.question, turn.answer)]
            if earlier
            else []
        )
        made = any(self.workspace.iterdir()) if self.workspace.is_dir() else False
        said = "\n".join([self.task.question, query, *told])
        supply = Supply.of(self.task, said, made=made, seen=holds_image(self.workspace))
        lacking = {card.name: need for card in found if (need := self._lacks(card.name, supply))}
        others = [card.name for card in found if card.name not in lacking]
        if any(self.effects(name) == "writes" for name in others):  # what it makes may be what they need
            lacking = {name: need for name, need in lacking.items() if need == "address"}
        if any(self.external.get(name) or self._goes_out(name) for name in others):
            lacking = {name: need for name, need in lacking.items() if need != "address"}
        return [card for card in found if card.name not in lacking]

    def _lacks(self, name: str, supply: Supply) -> Need | None:
        """What the task cannot give to tool `name` of the library; an external tool has files of its own."""
        tool = None if self.external.get(name) else self.library.get(name)
        return supply.lacks(tool.input_schema) if tool else None

    def _goes_out(self, name: str) -> bool:
        """Whether tool `name` of the library reaches into the network, and may find addresses there."""
        tool = self.library.get(name)
        return tool is not None and bool(tool.manifest.capabilities.network or tool.manifest.capabilities.unknown_host)

    def usable_names(self) -> list[str]:
        """Names of all tools, old ones of the library included, without those that were left out."""
        names = (*self.external.names(), *self.library.names(), *self.library.aliases())
        return [name for name in names if name not in self._left_out]

    def missing(self, name: str) -> tuple[str, ...]:
        """Why tool `name` of the library cannot work here, whatever it is called with."""
        tool = self.library.get(name)
        if tool is None:
            return ()
        refusal = self.host.refusal(tool.requirements)
        return ((refusal,) if refusal else ()) + self.grants.missing(tool)

    def effects(self, name: str) -> Effects:
        """What a call of tool `name` may do; a preset looks, an unknown tool does nothing."""
        if self.presets.has(name):
            return "reads"
        if (external := self.external.get(name)) is not None:
            return external.effects
        tool = self.library.get(name)
        return "pure" if tool is None else tool.effects

    def version(self, name: str) -> str:
        """Digest of the source that a call of `name` would run now; `preset` for presets, empty for unknown names."""
        if self.presets.has(name):
            return "preset"
        tool = self.tool(name)
        return tool.version if tool is not None else ""

    def expect_calls(self) -> None:
        """Have the host get ready for calls, in the background. Called once the task's files lie in the workspace."""
        self.host.start(self.workspace, self._paths)

    async def invoke(self, call: Call, *, attempt: int, ordinal: int) -> Invocation:
        """Run one call of a tool or preset and write down what came of it. Never raises for a tool's failure.

        A call that the tape holds as ended is answered from it. One whose tool may have run, that never ended, and that
        may write is reported as interrupted, since nobody knows what it did; one that only waited to run is run.
        """
        effects, version = self.effects(call.name), self.version(call.name)
        round_ = f"round-{ordinal}"
        self.emit(ToolCallStarted(parent=round_, call_id=call.id, tool=call.name, version=version, arguments=call.args))
        before = self.tape.call_state(call.id)
        if isinstance(before, CallOutcome):
            outcome = before
        elif before == "started" and effects == "writes":
            outcome = CallOutcome(error=INTERRUPTED)
            self.tape.call_ended(call.id, outcome)
        else:
            with under(call.id):
                outcome = await stood_in(call, await self._run(call, effects), self)
            self.tape.call_ended(call.id, outcome)
            if outcome.usage is not None:
                self.models.charge(outcome.usage)
        return await self.finish(call, outcome, version, effects, attempt=attempt, ordinal=ordinal)

    async def finish(
        self,
        call: Call,
        outcome: CallOutcome,
        version: str,
        effects: Effects,
        *,
        attempt: int,
        ordinal: int,
        reused: bool = False,
        note: str = "",
    ) -> Invocation:
        """The invocation that `outcome` makes: the text that the model is shown, the closing event."""
        from habilis.context.results import shown

        text = await shown(call, outcome, self)
        text = f"{text}\n{note}" if note else text
        if outcome.stood_in is not None and not reused:
            self.emit(told_of(call, version, outcome.stood_in))
        self.emit(
            ToolCallEnded(
                parent=f"round-{ordinal}",
                call_id=call.id,
                tool=call.name,
                seconds=outcome.seconds,
                error=outcome.error.message if outcome.error else None,
                text=text,
                made=outcome.made,
                level=outcome.level,
                granted=outcome.granted,
                refused=outcome.refused,
                reused=reused,
            )
        )
        return Invocation(
            call_id=call.id,
            tool=call.name,
            version=version,
            arguments=call.args,
            outcome=outcome,
            effects=effects,
            text=text,
            attempt=attempt,
            ordinal=ordinal,
        )

    def keep_record(self, call: Invocation) -> None:
        """Record a judged call with its tool, so that every later version must pass it. Raises `PlaceError`; what else
        is refused costs the record, not the task."""
        if call.verdict is None or self.library.get(call.tool) is None:
            return
        try:
            for one in witnessed(call):
                self.library.record(one, workspace=self.workspace, files=self._paths)
        except OSError as error:
            raise_place(error, ours=True)
            self.emit(Notice(level="warning", text=f"The call of {call.tool} could not be recorded: {error}"))

    @property
    def _paths(self) -> list[Path]:
        return [Path(file.path) for file in self.task.files]

    async def settle(self, names: Iterable[str]) -> None:
        """Decide what the tools `names` are given, asking where settings say so, one after another.

        Done before any of them starts, so that nothing is running while a person thinks, or ends the run.
        """
        for name in dict.fromkeys(names):
            tool = None if self.presets.has(name) or self.external.get(name) else self.library.get(name)
            if tool is not None and not self.grants.faults_of(tool):
                await self.grants.of(tool)

    def _mark(self, call: Call, effects: Effects, began: bool) -> None:
        """Write down that the tool may run from now on, or that it did not start."""
        if began:
            self.tape.call_started(call.id, call.name, effects)
        else:
            self.tape.call_withdrawn(call.id)

    async def _run(self, call: Call, effects: Effects) -> CallOutcome:
        mark = partial(self._mark, call, effects)
        if self.presets.has(call.name):
            mark(True)
            return await self.presets.run(call.name, call.args)
        if (external := self.external.get(call.name)) is not None:
            mark(True)
            return await self._asked(external, call)
        tool = self.library.get(call.name)
        if tool is None:
            return CallOutcome(error=CallError(kind="unknown_tool", message=f"there is no tool named {call.name}"))
        if faults := self.grants.faults_of(tool):
            text = f"not started, it holds what no tool should: {'; '.join(faults)}"
            return CallOutcome(error=CallError(kind="denied", message=text), refused=faults)
        outcome = await self._granted(tool, call, mark)
        found = self.grants.learn(tool.name, tool.version, outcome, call.args)
        if not found.network or effects == "writes":
            return outcome
        # What it reaches for showed only now; asked for that, it may run once more.
        before, now = set(outcome.granted), set((await self.grants.of(tool)).shown())
        return await self._granted(tool, call, mark) if now - before else outcome

    async def _asked(self, tool: BoundTool, call: Call) -> CallOutcome:
        """A call of an external tool. In a replay the record answers: what was done elsewhere is not done again."""
        voice = self.models.tape
        if not voice.replay_only:
            return await tool.call(call.args, self.workspace)
        before = voice.call_state(call.id)
        return before if isinstance(before, CallOutcome) else CallOutcome(error=NOT_REPEATED)

    async def aclose(self) -> None:
        """End all that runs for the task: sources of tools, the tool host, connections to models."""
        async with AsyncExitStack() as closing:  # each is closed, whatever becomes of the others
            closing.push_async_callback(self.models.aclose)
            closing.push_async_callback(self.host.aclose)
            closing.push_async_callback(self.external.aclose)

    async def _granted(self, tool: Tool, call: Call, mark: Callable[[bool], None]) -> CallOutcome:
        return await self.run(tool, call.args, await self.grants.of(tool), mark)

    async def run(
        self, tool: Tool, arguments: dict[str, Any], grant: Grant, mark: Callable[[bool], None] = lambda began: None
    ) -> CallOutcome:
        """One run of this very tool of a library in the task's workspace, with `grant`. Nothing is written down but
        that it begins, by `mark`."""
        recording = {"network": Recording(self.library.keep)} if grant.network else {}
        return await self.host.call(
            CallSpec(
                tool.runnable,
                arguments,
                workspace=self.workspace,
                files=self._paths,
                timeout_s=grant.timeout_s,
                grant=grant,
                mark=mark,
                **recording,
            )
        )


INTERRUPTED = CallError(
    kind="interrupted",
    message="this call was started before an interruption and may have written something; it was not run again. "
    "Check what it left before you repeat it.",
)
NOT_REPEATED = CallError(kind="denied", message="not run in a replay, and the record holds no result of this call")


def call_key(tool: str, version: str, arguments: dict[str, Any]) -> str:
    """Equal for equal calls: tool, version and arguments, order of keys ignored."""
    return json.dumps([tool, version, arguments], sort_keys=True, ensure_ascii=False)
