"""Tools that nobody has called yet get calls: made, run twice in the sandbox, and kept where both runs give the same.

They are made from what the tool says itself; a model is asked for some where none of these gives a result.

Such a call says what a tool does, not that this is right. It binds what would replace the tool, and proves no use.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from habilis.config import Settings
from habilis.contract.capabilities import Grant
from habilis.contract.needs import need_of
from habilis.contract.records import RecordedCall, equal, is_empty, set_error
from habilis.core.gathering import side_by_side
from habilis.core.types import CallOutcome, Frozen, Usage
from habilis.curation.manual.asking import CallAsker
from habilis.curation.manual.gates import Gates, gates
from habilis.inputs.constants import constants
from habilis.inputs.domain import Domain
from habilis.inputs.relations import Given
from habilis.inputs.search import Search
from habilis.library import Library, Tool
from habilis.library.folder import UNDESCRIBED
from habilis.runtime.host import ToolHost
from habilis.sandbox.processes.temporary import new_folder
from habilis.synthesis.first_calls import first_calls

if TYPE_CHECKING:
    from habilis.models.client import Factory

AT_ONCE = 2
"""Tools that are tried side by side."""
ENOUGH, RESULTS = 5, 3
"""A tool has enough calls with so many, of so many distinct results: as many as a replacement has to agree on."""
MOST_TRIES = 12
TIMEOUT_S = 10.0
NO_ARGUMENTS = "its schema gives no arguments to call it with"
_NOT_TRIED = ("denied", "unavailable")
Way = Literal["proved", "network", "files", "lacks", "writes", "failed"]


class Proved(Frozen):
    """What proving a tool came to. `calls` are new, `known` were there before; `tries` were made.

    `network`: it reaches hosts, and here nothing may. `files`: it wants files that nobody gave. `lacks`: a grant, a
    secret or a package. `writes`: it may write, and is not called to see. `why` says more.
    """

    name: str
    version: str = ""
    ending: Way = "failed"
    calls: int = 0
    known: int = 0
    tries: int = 0
    why: str = ""

    @property
    def ok(self) -> bool:
        return self.ending == "proved"


@dataclass(frozen=True)
class TriedTools:
    """Calls that held, by tool, with the contents of their files by digest; and a line on each tool.

    `asked`: for so many tools a model was asked, at the cost of `usage`; `not_asked`: why it could not be any more.
    """

    proved: list[Proved] = field(default_factory=list)
    calls: dict[str, list[RecordedCall]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    asked: int = 0
    usage: Usage = field(default_factory=Usage)
    not_asked: str = ""


async def try_tools(
    library: Library,
    names: Sequence[str],
    settings: Settings,
    *,
    host: ToolHost | None = None,
    clients: Factory | None = None,
    told: Callable[[Proved], None] = lambda one: None,
    stopped: Callable[[], bool] = lambda: False,
) -> TriedTools:
    """Make calls for tools that have too few; the library is only read. What is not begun once it is `stopped` is left
    out. `clients` makes the chat model in place of the one that is set. Raises OSError."""
    folder, found = new_folder("prove"), TriedTools()
    asker = CallAsker(settings, folder, clients)
    try:
        async with gates(library, folder / "bench", settings, host) as tried:

            async def one(number: int, name: str) -> None:
                if stopped():
                    return
                place = folder / "tries" / f"{number}"
                try:
                    proved = await _Trying(tried, library, found, asker, place).run(name)
                finally:
                    shutil.rmtree(place, ignore_errors=True)
                found.proved.append(proved)
                told(proved)

            await side_by_side(names, one, AT_ONCE)
    finally:
        await asker.aclose()
        shutil.rmtree(folder, ignore_errors=True)
    found.proved.sort(key=lambda one: one.name)
    return replace(found, asked=asker.asked, usage=asker.usage, not_asked=asker.problem)


@dataclass
class _Trying:
    """One tool at work."""

    gates: Gates
    library: Library
    found: TriedTools
    asker: CallAsker
    place: Path
    _tries: int = 0

    async def run(self, name: str) -> Proved:
        tool = self.library.entry(name)
        if not isinstance(tool, Tool):
            reason = tool.reason if tool is not None else "there is no such file"
            return Proved(name=name, why=f"it cannot be described yet: {reason}" if reason == UNDESCRIBED else reason)
        known = [record for record in self.library.records(name) if record.verdict == "success" and record.replayable]
        line = Proved(name=name, version=tool.version, known=len(known))
        if _enough(known):
            return line.model_copy(update={"ending": "proved"})
        if barred := self._barred(tool):
            return line.model_copy(update={"ending": barred[0], "why": barred[1]})
        kept, why = await self._calls(tool, known)
        self.found.calls[name] = kept
        update = {"calls": len(kept), "tries": self._tries}
        if kept or known:
            return line.model_copy(update={**update, "ending": "proved"})
        return line.model_copy(update={**update, "ending": "files" if _wants_files(tool) else "failed", "why": why})

    def _barred(self, tool: Tool) -> tuple[Way, str] | None:
        """Why a tool is not called at all."""
        needs = self.gates.grants.needs_of(tool)
        if needs.network or needs.unknown_host:
            return "network", f"it reaches {', '.join(needs.network) or 'hosts'}"
        if tool.effects == "writes":
            return "writes", "it may write, and is not called to see"
        refusal = self.gates.host.refusal(tool.requirements)
        missing = (*((refusal,) if refusal else ()), *self.gates.grants.missing(tool))
        return ("lacks", "; ".join(missing)) if missing else None

    async def _calls(self, tool: Tool, known: Sequence[RecordedCall]) -> tuple[list[RecordedCall], str]:
        """New calls that hold, and why the first that does not failed. Once one holds, others are made from it."""
        source = tool.source()
        grant = await self.gates.grants.of(tool)
        kept: list[RecordedCall] = []
        whys: list[str] = []
        for given in first_calls(source, tool.input_schema, tool.version):
            if self._settled([*known, *kept]) or self._tries >= MOST_TRIES:
                break
            whys += await self._one(tool, given, grant, kept)
        if not kept and not known:
            why = whys[0] if whys else NO_ARGUMENTS
            for given in await self.asker.calls(tool, source, why):
                await self._one(tool, given, grant, kept)
        if kept and not self._settled([*known, *kept]):
            calls = [Given(one.arguments, self._files(one)) for one in kept]
            search = Search(Domain(calls), tool.input_schema, tool.version, constants(source))
            while self._tries < MOST_TRIES and not self._settled([*known, *kept]) and (more := search.next(1)):
                await self._one(tool, more[0].given, grant, kept)
        return kept, whys[0] if whys else NO_ARGUMENTS

    def _settled(self, calls: Sequence[RecordedCall]) -> bool:
        """Whether more calls would tell nothing more."""
        return _enough(calls) or len(calls) >= ENOUGH + RESULTS

    def _files(self, call: RecordedCall) -> dict[str, bytes]:
        return {name: self.found.contents[digest] for name, digest in call.files.items()}

    async def _one(self, tool: Tool, given: Given, grant: Grant, kept: list[RecordedCall]) -> list[str]:
        """Make a call, and keep it where it holds; else why it does not."""
        self._tries += 1
        call, contents = _call_of(tool, given)
        first = await self._ran(tool, call, grant, contents, "one")
        if why := _problem(first):
            return [why]
        again = await self._ran(tool, call, grant, contents, "two")
        if _problem(again) or not equal(first.output, again.output):
            return ["it gives something else each time"]
        if any(one.arguments == call.arguments and one.files == call.files for one in kept):
            return []
        kept.append(call.model_copy(update={"output": first.output}))
        self.found.contents.update(contents)
        return []

    async def _ran(
        self, tool: Tool, call: RecordedCall, grant: Grant, contents: Mapping[str, bytes], turn: str
    ) -> CallOutcome:
        place = self.place / f"{self._tries}-{turn}"
        outcome = await self.gates.replayer.run(tool.runnable, call, place, TIMEOUT_S, grant, contents=contents)
        assert outcome is not None, "its files are at hand"
        return outcome


def _call_of(tool: Tool, given: Given) -> tuple[RecordedCall, dict[str, bytes]]:
    """The call as it will stand in the records, without its result, and the contents of its files by digest."""
    contents = {hashlib.sha256(content).hexdigest(): content for content in given.files.values()}
    files = {name: hashlib.sha256(content).hexdigest() for name, content in given.files.items()}
    said = json.dumps([tool.version, given.arguments, files], sort_keys=True)
    call = RecordedCall(
        call_id=f"tried-{hashlib.sha256(said.encode()).hexdigest()[:12]}",
        tool=tool.name,
        version=tool.version,
        arguments=given.arguments,
        verdict="success",
        effects=tool.effects,
        files=files,
        kind="tried",
    )
    return call, contents


def _enough(calls: Sequence[RecordedCall]) -> bool:
    """Whether calls are as many, and their results as distinct, as a replacement has to agree on."""
    results = {json.dumps(call.output, sort_keys=True) for call in calls}
    return len(calls) >= ENOUGH and len(results) >= RESULTS


def _problem(outcome: CallOutcome) -> str:
    """Why a call gave nothing; empty where it did."""
    if outcome.error is not None:
        return outcome.error.message
    if error := set_error(outcome.output):
        return f"it sets error: {error}"
    return "it gives no result" if is_empty(outcome.output) else ""


def _wants_files(tool: Tool) -> bool:
    fields = tool.input_schema.get("properties")
    rows = fields.items() if isinstance(fields, dict) else ()
    return any(isinstance(said, dict) and need_of(name, said) in ("file", "image") for name, said in rows)
