"""The gate that every candidate has to pass before it counts as a tool, cheapest checks first.

Contract, dependencies, loading and a trial call in the sandbox (`trial.py`), the fields that were asked for, recorded
calls: its own, and those of every tool that it takes the place of, each sent through the alias that leads to it. What
mends a tool must also answer as before what was not wrong, on calls that nobody has made yet (`comparing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.contract.aliases import Alias, alias_between, properties
from habilis.contract.capabilities import NO_PROGRAMS, Capabilities, Grant
from habilis.contract.contract import Contract, ContractError, declared_aliases, read_contract
from habilis.contract.records import RecordedCall
from habilis.library import LayeredLibrary, Tool
from habilis.library.tool import digest_of
from habilis.runtime.grants import Grants
from habilis.synthesis.binding import binding
from habilis.synthesis.calls_by_rule import NO_GROUND, TaskGround
from habilis.synthesis.real_calls import evidence_on
from habilis.synthesis.replay import Replayer
from habilis.synthesis.replay_report import ReplayReport
from habilis.synthesis.trial import FirstCall, Trials
from habilis.synthesis.trial import Rejected as Rejected

if TYPE_CHECKING:
    from habilis.contract.runnable import Description, Runnable
    from habilis.runtime.host import ToolHost

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


class ExampleDoubted(Rejected):
    """A candidate failed its own example, and what failed may be the example. `flaw` says what is wrong with that."""

    def __init__(self, text: str, flaw: str, description: Description) -> None:
        super().__init__(text)
        self.flaw, self.description = flaw, description


@dataclass(frozen=True)
class Predecessor:
    """A tool whose recorded calls a candidate has to repeat. `alias` leads from it to the candidate, or to the tool
    named by `via`, whose own way is known only when the candidate is."""

    tool: Tool
    records: tuple[RecordedCall, ...] = ()
    alias: Alias | None = None
    via: str = ""


def old_names(tool: Tool, library: LayeredLibrary) -> tuple[Predecessor, ...]:
    """What a new version of `tool` has to repeat besides its own calls: the good ones by old names that lead to it."""
    return tuple(
        Predecessor(tool.known_as(name), tuple(r for r in library.records(name) if r.verdict == "success"), alias)
        for name, alias in sorted(tool.manifest.aliases.items())
    )


@dataclass(frozen=True)
class Wanted:
    """What a candidate has to be: its name, its input fields, and which recorded calls it has to repeat.

    `old` is the tool that it mends; `merges` that it is to take the place of all `sources`, by aliases of its own.
    `before`: what the versions that it takes the place of need; more than that it gets by the settings' word alone.
    `ground` is what a task gives to try it on, `first` the arguments of the call that it is made for.
    """

    name: str
    fields: tuple[str, ...] = ()
    old: Tool | None = None
    sources: tuple[Predecessor, ...] = ()
    merges: bool = False
    before: Capabilities | None = None
    ground: TaskGround = NO_GROUND
    first: dict[str, Any] | None = None


@dataclass(frozen=True)
class KeptCalls:
    """Calls that no task made and that are kept with a tool, with the contents of their files by digest."""

    calls: tuple[RecordedCall, ...] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.calls)


@dataclass(frozen=True)
class Passed:
    """A candidate that passed every gate. `smoke` says what its trial call came to; `contract` holds all its needs,
    those that the trial showed too. `remarks` are constructs that settings only warn of. `flaw` says what is wrong with
    its example where it was not tried for that. `first` is the call that it was made for, where it was tried by it.
    `confirmed` gave what the writer expected beforehand; of `judged` ones a judge said that they are mended."""

    source: str
    contract: Contract
    description: Description
    smoke: str
    replay: ReplayReport
    remarks: tuple[str, ...] = ()
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    flaw: str = ""
    confirmed: KeptCalls = KeptCalls()
    judged: KeptCalls = KeptCalls()
    first: FirstCall | None = None


class Gate:
    """Tries candidates, each in a folder of its own aside from the library's tools."""

    def __init__(self, host: ToolHost, library: LayeredLibrary, replayer: Replayer, grants: Grants) -> None:
        self._host, self._library, self._replayer, self._grants = host, library, replayer, grants
        self._trials = Trials(host, live=replayer.live)

    def needs_of(self, tool: Tool) -> Capabilities:
        """What a tool of the library needs, read from its source where its manifest does not say."""
        return self._grants.needs_of(tool)

    async def check(self, source: str, wanted: Wanted) -> Passed:
        """The candidate as it passed. Raises `Rejected`, OSError when there is no place to try it in, and what asking a
        judge raises where a call has to be judged."""
        from habilis.contract.runnable import Runnable

        if wanted.old is not None and source.strip() == wanted.old.source().strip():
            raise Rejected("The code is unchanged.")
        try:
            contract = read_contract(source)
        except ContractError as error:
            raise Rejected(str(error)) from None
        remarks = self._looked_through(source, contract, wanted)
        if contract.requirements:
            refusal = await self._host.prepare(contract.requirements)
            if refusal is not None:
                raise Rejected(f"Its dependencies cannot be installed: {refusal.message}")
        version = digest_of(source.encode("utf-8", "surrogatepass"))[:16]
        grant = await self._grants.decide(wanted.name, version, contract.capabilities, description=contract.description)
        with self._library.private.aside() as aside:
            module = aside / f"{wanted.name}.py"
            module.write_bytes(source.encode("utf-8"))
            candidate = Runnable(wanted.name, module, contract.requirements)
            try:
                trial = await self._trials.run(
                    candidate, contract, wanted.ground, aside / "trial", grant, first=wanted.first
                )
                _check_fields(trial.description, wanted.fields)
                aliases = _aliases(source, trial.description, wanted.sources) if wanted.merges else {}
                replay = await self._replayed(candidate, wanted, aliases, aside / "replay", grant)
                judged = await self._agrees(candidate, wanted, contract, aside / "replay")
            except Rejected as rejected:
                raise Rejected(scrubbed(str(rejected), module, aside, self._library.private.path)) from None
        smoke, flaw, failure = (
            scrubbed(text, module, aside, self._library.private.path)
            for text in (trial.smoke, trial.flaw, trial.failure)
        )
        if failure and not replay.replayed:
            raise ExampleDoubted(failure, flaw, trial.description)
        smoke = f"its own example fails, its recorded calls pass; {flaw}" if failure else smoke
        first = trial.first if trial.first and str(aside) not in trial.first.outcome.model_dump_json() else None
        contract = contract.model_copy(update={"capabilities": contract.capabilities.with_inferred(trial.found)})
        return Passed(
            source, contract, trial.description, smoke, replay, remarks, aliases, flaw, first=first, judged=judged
        )

    def _looked_through(self, source: str, contract: Contract, wanted: Wanted) -> tuple[str, ...]:
        """Constructs that settings only warn of. Raises `Rejected` for what they refuse, and for needs that grew."""
        faults = self._grants.faults(source, contract.capabilities)
        if faults and self._grants.settings.constructs == "refuse":
            raise Rejected("\n".join(("It holds what no tool should:", *(f"- {fault}" for fault in faults))))
        if contract.capabilities.subprocess and self._grants.settings.subprocess == "deny":
            raise Rejected(f"It starts programs, and settings do not allow that ({NO_PROGRAMS}); do without.")
        if wanted.before is not None:
            more = self._grants.widened(wanted.name, contract.capabilities, wanted.before)
            if more:
                told = "It needs more than the version before, and settings do not give that; do without:"
                raise Rejected("\n".join((told, *(f"- {reason}" for reason in more))))
        return faults

    async def repeats(
        self,
        candidate: Runnable,
        sources: Sequence[Predecessor],
        scratch: Path,
        *,
        grant: Grant | None = None,
        timeout_s: float | None = None,
    ) -> ReplayReport:
        """What `candidate`, with `grant`, makes of the recorded calls of `sources`, each through its alias, in one
        report."""
        total = ReplayReport(0, 0, 0)
        for number, source in enumerate(sources):
            report = await self._replayer.replay(
                replace(candidate, alias=source.alias),
                source.tool.runnable,
                source.records,
                scratch / f"{number}",
                timeout_s=timeout_s,
                grant=grant,
                old_grant=await self._grants.of(source.tool),
            )
            total = total.plus(report, named=source.tool.name if len(sources) > 1 else "")
        return total

    async def _replayed(
        self, candidate: Runnable, wanted: Wanted, aliases: Mapping[str, Alias], scratch: Path, grant: Grant
    ) -> ReplayReport:
        sources = [self._bound(_led(source, aliases), wanted) for source in wanted.sources]
        report = await self.repeats(candidate, sources, scratch, grant=grant, timeout_s=grant.timeout_s)
        if not report.ok:
            raise Rejected("Recorded calls do not pass.\n" + "\n".join(f"- {line}" for line in report.failures))
        if wanted.old is not None and not report.mended:
            raise Rejected("None of the failing calls could be run again, so nothing shows that it is mended.")
        return report

    def _bound(self, source: Predecessor, wanted: Wanted) -> Predecessor:
        """`source` with the calls that the candidate has to repeat."""
        if source.tool is not wanted.old:
            return source
        return replace(source, records=binding(source.records, source.records, self._library.content))

    async def _agrees(self, candidate: Runnable, wanted: Wanted, contract: Contract, scratch: Path) -> KeptCalls:
        """The calls on which a judge preferred a mended version to the one before.

        Raises `Rejected` where it goes wrong on what was right before. How much was told does not matter here: the
        version before is kept, and a step asks for enough before this one replaces a public tool.
        """
        old = wanted.old
        if old is None or "writes" in (old.effects, contract.effects):
            return KeptCalls()  # what may write is not run to see
        records = next((one.records for one in wanted.sources if one.tool is old), ())
        kept = [one.source() for one in self._library.line(old)]
        source = candidate.module.read_text("utf-8")
        known = evidence_on(old, [*self._library.calls_before(old), *records], source, (), None, kept)
        from habilis.synthesis.comparing import Versions, compare

        versions = Versions(old, candidate, mends=True)
        trial = await compare(versions, known, self._replayer, self._library, scratch / "generated")
        if trial.against:
            raise Rejected(f"It goes wrong where the version before was right: {trial.against}")
        version = digest_of(source.encode("utf-8", "surrogatepass"))[:16]
        calls = tuple(one.settled(wanted.name, version, contract.effects) for one in trial.settled)
        contents = {digest: data for one in trial.settled for digest, data in one.contents.items()}
        return KeptCalls(calls, contents)


def _aliases(source: str, description: Description, sources: Sequence[Predecessor]) -> dict[str, Alias]:
    """The way from each source to a merged candidate: as its writer says, else the one there is. Raises `Rejected`."""
    declared = declared_aliases(source)
    found = {}
    for old in (source.tool for source in sources if not source.via):
        schemas = (old.input_schema, old.output_schema)
        new = (description.input_schema, description.output_schema)
        known = {"version": old.version, "description": old.description}
        if old.name in declared:
            try:
                alias = Alias(**declared[old.name], **known, input_schema=schemas[0], output_schema=schemas[1])
            except (ValueError, TypeError):
                raise Rejected(f"The alias of {old.name} must hold arguments, constants and fields by name.") from None
            if problem := alias.problem(*new):
                raise Rejected(f"The alias of {old.name} leads nowhere: {problem}.")
            found[old.name] = alias
        elif (only := alias_between(schemas, new, **known)) is not None:
            found[old.name] = only
        else:
            raise Rejected(f"aliases do not say how calls of {old.name} become calls of this tool.")
    return found


def _led(source: Predecessor, aliases: Mapping[str, Alias]) -> Predecessor:
    """`source` with its whole way to the candidate."""
    if source.via:
        assert source.alias is not None
        return replace(source, alias=source.alias.then(aliases[source.via]) if source.via in aliases else source.alias)
    return replace(source, alias=aliases.get(source.tool.name, source.alias))


def _check_fields(description: Description, fields: Sequence[str]) -> None:
    """The input fields that were asked for, or that the version before had, must all be there."""
    present = properties(description.input_schema)
    missing = [name for name in fields if name not in present]
    if missing:
        raise Rejected(f"InputModel lacks the fields {', '.join(missing)}; it has {', '.join(present) or 'none'}.")


def scrubbed(text: str, module: Path, aside: Path, library: Path) -> str:
    """`text` without temporary paths and memory addresses: the candidate by its file, its workspace as `.`."""
    text = text.replace(str(module), module.name)
    text = re.sub(
        rf"{re.escape(str(aside))}(?:/(?:trial(?:-task)?|replay(?:/generated)?(?:/\d+)+/(?:new|live|old)))?", ".", text
    )
    return _ADDRESS.sub("0x…", text.replace(str(library), "library"))
