"""Which tools may do the same: of equal code or near in words, alike in signature, equal in what they give.

A proposal, never a merge.
Outputs that are equal support a proposal and one that differs ends it; neither is a proof. Merging is left to `merge`
and its gate.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from habilis.config import Settings
from habilis.contract.aliases import Alias, kinds, ways_between
from habilis.contract.likeness import code_digest
from habilis.core.errors import UserError
from habilis.core.types import Frozen
from habilis.curation.manual.change import unknown
from habilis.curation.manual.gates import Gates, gates
from habilis.library import Library, Tool
from habilis.library.catalogue import Catalogue
from habilis.rundir.plain import read_plain
from habilis.runtime.host import ToolHost
from habilis.sandbox.processes.temporary import new_folder
from habilis.synthesis.comparing import Versions, compare
from habilis.synthesis.gate import Predecessor
from habilis.synthesis.real_calls import evidence_on

NEIGHBOURS = 5
"""Near neighbours of one tool that are looked at."""
LEAST_ALIKE = 0.25
"""Share of a tool's own words, weighted, that another must have to be a neighbour at all."""
EQUAL, LESS_ALIKE = 1.0, 0.999
"""How alike tools of equal code are, and how alike others can be by their words."""
MAX_RECORDS = 20


class Proposal(Frozen):
    """Two tools and what speaks for them being one. `verdict`: `same` (one may take the place of the other), `equal`
    (their code is equal, and too little could be compared), `differ`, `unclear` (too little could be compared),
    `untried`. `same` counts equal outputs, on recorded and on generated
    inputs; `against` is the first that differs; `why` says why nothing was tried, or what is lacking."""

    tools: tuple[str, str]
    alike: float
    verdict: Literal["same", "equal", "differ", "unclear", "untried"] = "untried"
    recorded: int = 0
    generated: int = 0
    against: str = ""
    why: str = ""

    @property
    def same(self) -> int:
        return self.recorded + self.generated


async def duplicates(
    library: Library,
    settings: Settings,
    *,
    names: Sequence[str] = (),
    limit: int = 20,
    host: ToolHost | None = None,
    told: Callable[[Proposal], None] = lambda one: None,
) -> tuple[list[Proposal], int]:
    """The `limit` likeliest pairs (each with one of `names`, where any are given), tried; and how many were not.
    Pairs of equal code are proposed beyond that number too, without being tried.

    Raises `UserError` for a name that no tool has.
    """
    pairs = candidates(library, names)
    folder = new_folder("tend")
    found = []
    try:
        async with gates(library, folder / "bench", settings, host) as tried:
            for number, (one, other, alike) in enumerate(pairs[:limit]):
                place = tried.staging.parent / f"{number}"
                found.append(await _tried(tried, one, other, alike, place))
                shutil.rmtree(place, ignore_errors=True)
                told(found[-1])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    more = [_by_code(one, other) for one, other, alike in pairs[limit:] if alike == EQUAL]
    found += more
    order = ("same", "equal", "unclear", "untried", "differ")
    found.sort(key=lambda pair: (order.index(pair.verdict), -pair.same, -pair.alike, pair.tools))
    return found, max(0, len(pairs) - limit - len(more))


def candidates(library: Library, names: Sequence[str] = ()) -> list[tuple[Tool, Tool, float]]:
    """Pairs of equal code or near neighbours, of one signature, the likeliest first."""
    catalogue = Catalogue.of(library.path)
    index = catalogue.index()
    for name in names:
        if name not in catalogue.tools or catalogue.tools[name].problem:
            raise UserError(unknown(name, catalogue))
    found: dict[tuple[str, str], float] = {}
    for pair in _equal(library, catalogue, names):
        found[pair] = EQUAL
    for name in names or [name for name, one in catalogue.tools.items() if not one.problem]:
        for other, alike in index.near(name, NEIGHBOURS):
            if alike >= LEAST_ALIKE:
                key = (name, other) if name < other else (other, name)
                found[key] = max(min(alike, LESS_ALIKE), found.get(key, 0.0))
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    tools = {tool.name: tool for tool in library.tools()} if not names else {}
    for pair, _ in ordered if names else ():
        tools |= {name: tool for name in pair if name not in tools and (tool := library.get(name)) is not None}
    signatures = {name: _signature(tool) for name, tool in tools.items()}
    return [
        (tools[one], tools[other], alike)
        for (one, other), alike in ordered
        if one in tools and other in tools and signatures[one] == signatures[other]
    ]


def _equal(library: Library, catalogue: Catalogue, names: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of tools whose code is equal but for names and the like, each with one of `names`, where any are given."""
    buckets: dict[str, list[str]] = {}
    for name, one in sorted(catalogue.tools.items()):
        if not one.problem and (likeness := one.likeness or _likeness(library, name)):
            buckets.setdefault(likeness, []).append(name)
    return [
        (one, other)
        for bucket in buckets.values()
        for one, other in pairwise(bucket)
        if not names or one in names or other in names
    ]


def _likeness(library: Library, name: str) -> str:
    """That of a tool whose manifest is older than this."""
    tool = library.get(name)
    return code_digest(read_plain(tool.path).decode("utf-8", "replace")) if tool else ""


def _signature(tool: Tool) -> str:
    """The types that a tool takes and gives, whatever the names of its fields."""
    takes = sorted(kinds(tool.input_schema).values())
    gives = sorted(kind for name, kind in kinds(tool.output_schema).items() if name != "error")
    return f"{takes} -> {gives}"


async def _tried(tried: Gates, one: Tool, other: Tool, alike: float, place: Path) -> Proposal:
    """The pair as its runs show it, each tool's calls sent through the other."""
    pair = Proposal(tools=(one.name, other.name), alike=round(alike, 3))
    by_code = alike == EQUAL
    if writing := [tool.name for tool in (one, other) if tool.effects == "writes"]:
        why = f"{', '.join(writing)} may write, and is not run again to see"
        return _by_code(one, other, why) if by_code else pair.model_copy(update={"why": why})
    there = await _likeliest(tried, one, other, place / "there")
    back = await _likeliest(tried, other, one, place / "back")
    sent = [one for one in (there, back) if one is not None]
    if not sent:
        return pair.model_copy(update={"why": "no way leads from the fields of one to those of the other"})
    recorded, generated = (sum(one.recorded for one in sent), sum(one.generated for one in sent))
    pair = pair.model_copy(update={"recorded": recorded, "generated": generated})
    agreed = by_code and pair.same > 0
    # the curator lets the one go on that does for both
    if any(one.holds or (agreed and not one.against) for one in sent):
        return pair.model_copy(update={"verdict": "same"})
    against = next((one.against for one in sent if one.against), "")
    if against:
        return pair.model_copy(update={"verdict": "differ", "against": against})
    verdict = "equal" if by_code else "unclear"
    return pair.model_copy(update={"verdict": verdict, "why": sent[0].lacking})


def _by_code(one: Tool, other: Tool, why: str = "not tried (--limit)") -> Proposal:
    """A pair that is proposed for its equal code alone."""
    return Proposal(tools=(one.name, other.name), alike=EQUAL, verdict="equal", why=why)


@dataclass(frozen=True)
class _Sent:
    """One tool's calls sent through the other: outputs that were equal, what differed, what is lacking."""

    recorded: int = 0
    generated: int = 0
    against: str = ""
    lacking: str = ""

    @property
    def holds(self) -> bool:
        return not self.against and not self.lacking


async def _likeliest(tried: Gates, old: Tool, new: Tool, place: Path) -> _Sent | None:
    """The first way from `old` to `new` that holds; where none does, the likeliest one; None where there is no way."""
    schemas = (old.input_schema, old.output_schema), (new.input_schema, new.output_schema)
    first = None
    for number, alias in enumerate(ways_between(*schemas, version=old.version, description=old.description)):
        sent = await _sent(tried, old, new, alias, place / f"{number}")
        if sent.holds:
            return sent
        first = first or sent
    return first


async def _sent(tried: Gates, old: Tool, new: Tool, alias: Alias, place: Path) -> _Sent:
    """The calls of `old` sent through `new`."""
    view = tried.view
    records = [record for record in view.records(old.name) if record.verdict == "success"][-MAX_RECORDS:]
    grant = await tried.grants.of(new)
    report = await tried.gate.repeats(
        new.runnable, [Predecessor(old, tuple(records), alias)], place / "own", grant=grant, timeout_s=new.timeout_s
    )
    if not report.ok:
        return _Sent(against=f"{new.name} does not repeat {old.name}: {report.failures[0]}")
    known = evidence_on(old, view.records(old.name), new.source(), view.records(new.name), alias)
    trial = await compare(Versions(old, new.runnable, alias), known, tried.replayer, view, place / "trial")
    against = f"{new.name} differs from {old.name}: {trial.against}" if trial.against else ""
    return _Sent(report.replayed, len(trial.agreed), against, trial.lacking(report.agreed))
