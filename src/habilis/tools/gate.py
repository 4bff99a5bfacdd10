"""The gate that every candidate has to pass before it counts as a tool, cheapest checks first.

Contract, dependencies, loading and its own example in the sandbox, the fields that were asked for, recorded calls: its
own, and those of every tool that it takes the place of, each sent through the alias that leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.types import CallError, CallOutcome
from habilis.models.schemas import fault_of
from habilis.tools.aliases import Alias, alias_between, properties
from habilis.tools.capabilities.grants import Grants
from habilis.tools.capabilities.inference import refused_in
from habilis.tools.capabilities.words import NO_PROGRAMS, Capabilities, Grant
from habilis.tools.contract import Contract, ContractError, Example, declared_aliases, read_contract
from habilis.tools.library import LayeredLibrary, Tool
from habilis.tools.library.tool import digest_of
from habilis.tools.records import RecordedCall, is_empty, set_error
from habilis.tools.replay import Replayer, ReplayReport, compact

if TYPE_CHECKING:
    from habilis.tools.host import ToolHost
    from habilis.tools.runnable import Description, Runnable

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


class Rejected(Exception):
    """A candidate did not pass. The text tells its writer why; it holds nothing that differs from run to run."""


@dataclass(frozen=True)
class Source:
    """A tool whose recorded calls a candidate has to repeat. `alias` leads from it to the candidate, or to the tool
    named by `via`, whose own way is known only when the candidate is."""

    tool: Tool
    records: tuple[RecordedCall, ...] = ()
    alias: Alias | None = None
    via: str = ""


@dataclass(frozen=True)
class Wanted:
    """What a candidate has to be: its name, its input fields, and which recorded calls it has to repeat.

    `old` is the tool that it mends; `merges` that it is to take the place of all `sources`, by aliases of its own.
    `before`: what the versions that it takes the place of need; more than that it gets by the settings' word alone.
    """

    name: str
    fields: tuple[str, ...] = ()
    old: Tool | None = None
    sources: tuple[Source, ...] = ()
    merges: bool = False
    before: Capabilities | None = None


@dataclass(frozen=True)
class Passed:
    """A candidate that passed every gate. `smoke` says what its trial call came to; `contract` holds all its needs,
    those that the trial showed too. `remarks` are constructs that settings only warn of."""

    source: str
    contract: Contract
    description: Description
    smoke: str
    replay: ReplayReport
    remarks: tuple[str, ...] = ()
    aliases: Mapping[str, Alias] = field(default_factory=dict)


class Gate:
    """Tries candidates, each in a folder of its own aside from the library's tools."""

    def __init__(self, host: ToolHost, library: LayeredLibrary, replayer: Replayer, grants: Grants) -> None:
        self._host, self._library, self._replayer, self._grants = host, library, replayer, grants

    def needs_of(self, tool: Tool) -> Capabilities:
        """What a tool of the library needs, read from its source where its manifest does not say."""
        return self._grants.needs_of(tool)

    async def check(self, source: str, wanted: Wanted) -> Passed:
        """The candidate as it passed. Raises `Rejected`, and OSError when there is no place to try it in."""
        from habilis.tools.runnable import Runnable

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
                raise Rejected(f"Its dependencies cannot be had: {refusal.message}")
        version = digest_of(source.encode("utf-8", "surrogatepass"))[:16]
        grant = await self._grants.decide(wanted.name, version, contract.capabilities, description=contract.description)
        with self._library.private.aside() as aside:
            module = aside / f"{wanted.name}.py"
            module.write_bytes(source.encode("utf-8"))
            candidate = Runnable(wanted.name, module, contract.requirements)
            try:
                description, smoke, found = await self._tried(candidate, contract, aside / "trial", grant)
                _check_fields(description, wanted.fields)
                aliases = _aliases(source, description, wanted.sources) if wanted.merges else {}
                replay = await self._replayed(candidate, wanted, aliases, aside / "replay", grant)
            except Rejected as rejected:
                raise Rejected(_scrubbed(str(rejected), module, aside, self._library.private.path)) from None
        contract = contract.model_copy(update={"capabilities": contract.capabilities.with_inferred(found)})
        return Passed(source, contract, description, smoke, replay, remarks, aliases)

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

    async def _tried(
        self, candidate: Runnable, contract: Contract, workspace: Path, grant: Grant
    ) -> tuple[Description, str, Capabilities]:
        """The candidate's schemas, what its own example came to, and what that call was refused; one interpreter."""
        example = contract.examples[0] if contract.examples else None
        _lay_out(example, workspace)
        offline = not self._replayer.live and bool(grant.network or grant.watched)
        arguments = example.arguments if example and not offline else None
        described, outcome = await self._host.try_out(candidate, arguments, workspace=workspace, grant=grant)
        if isinstance(described, CallError):
            raise Rejected(f"It cannot be loaded: {described.message}")
        _check_schemas(described)
        found = refused_in(outcome, arguments) if outcome is not None else Capabilities()
        smoke = "not tried: it reaches hosts, and here nothing may" if offline else _smoke(example, outcome)
        return described, smoke, found

    async def repeats(
        self,
        candidate: Runnable,
        sources: Sequence[Source],
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
        sources = [_led(source, aliases) for source in wanted.sources]
        report = await self.repeats(candidate, sources, scratch, grant=grant, timeout_s=grant.timeout_s)
        if not report.ok:
            raise Rejected("Recorded calls do not pass.\n" + "\n".join(f"- {line}" for line in report.failures))
        if wanted.old is not None and not report.mended:
            raise Rejected("None of the failing calls could be run again, so nothing shows that it is mended.")
        return report


def _aliases(source: str, description: Description, sources: Sequence[Source]) -> dict[str, Alias]:
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


def _led(source: Source, aliases: Mapping[str, Alias]) -> Source:
    """`source` with its whole way to the candidate."""
    if source.via:
        assert source.alias is not None
        return replace(source, alias=source.alias.then(aliases[source.via]) if source.via in aliases else source.alias)
    return replace(source, alias=aliases.get(source.tool.name, source.alias))


def _lay_out(example: Example | None, workspace: Path) -> None:
    workspace.mkdir()
    for name, text in example.files.items() if example else ():
        place = workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))


def _smoke(example: Example | None, outcome: CallOutcome | None) -> str:
    """What a trial call came to: `passed`, or why it was not tried. Raises `Rejected` when the tool failed in it."""
    if example is None or outcome is None:
        return "not tried: the tool brings no example"
    if outcome.error is not None and outcome.error.kind in ("denied", "unavailable"):
        return f"not tried: {outcome.error.message}"
    call = f"Its own example, {compact(example.arguments, 500)},"
    if outcome.error is not None:
        raise Rejected(f"{call} fails: {outcome.error.message}{_printed(outcome)}")
    if error := set_error(outcome.output):
        raise Rejected(f"{call} sets error: {error}")
    if is_empty(outcome.output):
        raise Rejected(f"{call} gives no result: {compact(outcome.output, 500)}")
    return "passed"


def _printed(outcome: CallOutcome) -> str:
    tail = outcome.printed.strip()[-800:]
    return f"\nIt printed:\n{tail}" if tail else ""


def _check_schemas(description: Description) -> None:
    """Whoever calls the tool checks by its schemas, so these must be within bounds."""
    for name, schema in (("InputModel", description.input_schema), ("OutputModel", description.output_schema)):
        if fault := fault_of(schema):
            raise Rejected(f"The JSON schema of {name} {fault}.")


def _check_fields(description: Description, fields: Sequence[str]) -> None:
    """The input fields that were asked for, or that the version before had, must all be there."""
    present = properties(description.input_schema)
    missing = [name for name in fields if name not in present]
    if missing:
        raise Rejected(f"InputModel lacks the fields {', '.join(missing)}; it has {', '.join(present) or 'none'}.")


def _scrubbed(text: str, module: Path, aside: Path, library: Path) -> str:
    """`text` without temporary paths and memory addresses: the candidate by its file, its workspace as `.`."""
    text = text.replace(str(module), module.name)
    text = re.sub(rf"{re.escape(str(aside))}(?:/(?:trial|replay(?:/\d+)+/(?:new|live|old)))?", ".", text)
    return _ADDRESS.sub("0x…", text.replace(str(library), "library"))
