"""Are the tools of a library what they say? Checked without running them, loaded, and their recorded calls repeated."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from habilis.config import Settings
from habilis.contract.capabilities import Grant
from habilis.contract.contract import ContractError, read_contract
from habilis.contract.records import RecordedCall, equal
from habilis.core.gathering import side_by_side
from habilis.core.types import CallError, Frozen
from habilis.curation.manual.gates import Gates, gates
from habilis.library import Library, Tool
from habilis.library.folder import UNDESCRIBED
from habilis.runtime.host import ToolHost
from habilis.sandbox.processes.temporary import new_folder
from habilis.synthesis.replay import compact, distinct
from habilis.synthesis.trial import UNUSABLE

AT_ONCE = 4
"""Tools that are looked at side by side."""
SHOWN = 300
_NOT_TRIED = ("denied", "unavailable")


class Checked(Frozen):
    """What checking a tool came to. `problems`: it is no sound tool. `missing`: it is, and cannot work here."""

    name: str
    version: str = ""
    problems: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems


class Tested(Frozen):
    """What repeating the recorded calls of a tool came to, its old names' among them. `not_repeatable` could not be
    run as they were, or give no equal result twice: evidence neither way. Calls that had failed are left out."""

    name: str
    version: str = ""
    passed: int = 0
    failed: int = 0
    not_repeatable: int = 0
    failures: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failed


One = TypeVar("One", Checked, Tested)


async def check(
    library: Library,
    names: Sequence[str],
    settings: Settings,
    *,
    host: ToolHost | None = None,
    load: bool = True,
    told: Callable[[Checked], None] = lambda one: None,
) -> list[Checked]:
    """Look at tools: contract, source, what they need, packages; with `load` they are loaded in the sandbox too."""
    work = partial(_checked, load=load)
    return await _each(library, names, settings, host, work, told)


async def repeat(
    library: Library,
    names: Sequence[str],
    settings: Settings,
    *,
    host: ToolHost | None = None,
    told: Callable[[Tested], None] = lambda one: None,
) -> list[Tested]:
    """Repeat the recorded good calls of tools in the sandbox and compare what they give with what they gave."""
    return await _each(library, names, settings, host, _tested, told)


async def _each(
    library: Library,
    names: Sequence[str],
    settings: Settings,
    host: ToolHost | None,
    work: Callable[[Gates, Library, str], Awaitable[One]],
    told: Callable[[One], None],
) -> list[One]:
    """`work` on each of `names`, a few at once; the library is only read."""
    folder = new_folder("tend")
    try:
        async with gates(library, folder / "bench", settings, host) as tried:

            async def one(_: int, name: str) -> One:
                done = await work(tried, library, name)
                told(done)
                return done

            return await side_by_side(names, one, AT_ONCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _checked(tried: Gates, library: Library, name: str, *, load: bool) -> Checked:
    tool = library.entry(name)
    if not isinstance(tool, Tool):
        reason = tool.reason if tool is not None else "there is no such file"
        return Checked(name=name, problems=() if reason == UNDESCRIBED else (reason,), remarks=_undescribed(reason))
    try:
        source = tool.source()
        contract = read_contract(source)
    except (OSError, UnicodeDecodeError, ContractError) as error:
        return Checked(name=name, version=tool.version, problems=tuple(str(error).splitlines()))
    faults = tried.grants.faults(source, tried.grants.needs_of(tool))
    refused = faults if tried.grants.settings.constructs == "refuse" else ()
    missing = () if faults else tried.grants.missing(tool)
    if refusal := tried.host.refusal(tool.requirements):
        missing = (*missing, refusal)
    problems: tuple[str, ...] = refused
    if load and not refused:
        more, lost = await _loaded(tried, tool)
        problems, missing = (*problems, *more), tuple(dict.fromkeys([*missing, *lost]))
    remarks = () if refused else faults
    remarks = (*remarks, *(f"{UNUSABLE}{flaw.reason}" for flaw in contract.flaws))
    return Checked(name=name, version=tool.version, problems=problems, missing=missing, remarks=remarks)


def _undescribed(reason: str) -> tuple[str, ...]:
    return (reason,) if reason == UNDESCRIBED else ()


async def _loaded(tried: Gates, tool: Tool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wrong with a tool once it is loaded, and what it lacks here."""
    described = await tried.host.describe(tool.runnable)
    if isinstance(described, CallError):
        return ((), (described.message,)) if described.kind in _NOT_TRIED else ((described.message,), ())
    manifest = tool.manifest
    if (described.input_schema, described.output_schema) != (manifest.input_schema, manifest.output_schema):
        return ("loaded, it says other schemas of itself than its manifest does",), ()
    return (), ()


@dataclass(frozen=True)
class _Calls:
    """Recorded calls by one name of a tool."""

    tool: Tool
    records: list[RecordedCall]
    times: list[int]


async def _tested(tried: Gates, library: Library, name: str) -> Tested:
    tool = library.entry(name)
    if not isinstance(tool, Tool):
        reason = tool.reason if tool is not None else "there is no such file"
        return Tested(name=name, failed=1, failures=(reason,))
    if tool.effects == "writes":
        return Tested(name=name, version=tool.version, remarks=("it may write, and is not run again to see",))
    known = [tool, *(tool.known_as(old) for old in sorted(tool.manifest.aliases))]
    lots = [_Calls(one, *distinct([r for r in library.records(one.name) if r.verdict == "success"])) for one in known]
    total = sum(len(lot.records) for lot in lots)
    grant = await tried.grants.of(tool)
    counts, failures, remarks = {"passed": 0, "failed": 0, "not_repeatable": 0}, [], set()
    scratch = tried.staging.parent / "scratch" / tool.version
    try:
        for lot in lots:
            for number, record in enumerate(lot.records):
                kind, why = await _repeated(tried, lot.tool, record, scratch / lot.tool.name / f"{number}", grant)
                counts[kind] += lot.times[number]
                failures += [f"{lot.tool.name} {why}"] if kind == "failed" else []
                remarks |= {why} if kind == "not_repeatable" else set()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not total:
        remarks.add("no good call of it is recorded")
    return Tested(name=name, version=tool.version, failures=tuple(failures), remarks=tuple(sorted(remarks)), **counts)


async def _repeated(tried: Gates, tool: Tool, record: RecordedCall, scratch: Path, grant: Grant) -> tuple[str, str]:
    """How one call went, and why. What differs is run once more: a tool that does not agree with itself proves
    nothing."""
    if record.why_not is not None:
        return "not_repeatable", record.why_not
    if record.online and (record.traffic is None or not record.traffic.digest):
        return "not_repeatable", "it reached hosts, and what they answered was not recorded"
    now = await tried.replayer.run(tool.runnable, record, scratch / "one", tool.timeout_s, grant)
    if now is None:
        return "not_repeatable", "its files are not there any more"
    if now.error is not None and now.error.kind in _NOT_TRIED:
        return "not_repeatable", now.error.message
    if now.error is None and equal(now.output, record.output):
        return "passed", ""
    if now.error is None:
        again = await tried.replayer.run(tool.runnable, record, scratch / "two", tool.timeout_s, grant)
        if again is not None and again.error is None and not equal(again.output, now.output):
            return "not_repeatable", "it gives something else each time"
    gives = now.error.message if now.error is not None else compact(now.output, SHOWN)
    given = compact(record.arguments, SHOWN)
    return (
        "failed",
        f"{given} gave {compact(record.output, SHOWN)} and gives {gives.splitlines()[0] if gives else gives}",
    )
