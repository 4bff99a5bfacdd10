"""Merges that what happened has shown to be lossy: a merged tool failed a call, and a member of it answered.

The step after that mends the merged tool by that very call, where a writer is at hand; else, or where no mend passes,
the member comes back. A tool that a writer made of several is taken out of use then, if a member can answer to its name
as well. Nothing is lost by it, and each name leads somewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.contract.aliases import Alias, alias_between, called_by
from habilis.contract.records import RecordedCall
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable
from habilis.core.types import Frozen
from habilis.curation.merging.collect import Collected
from habilis.curation.merging.merge import Made, Merge, Merger, descends, kept_with
from habilis.library import Manifest, Origin, Tool
from habilis.library.outofuse import next_nth
from habilis.synthesis.gate import Gate, Passed, Predecessor
from habilis.synthesis.replay import compact
from habilis.synthesis.smith import EnhanceFailure, Smith

if TYPE_CHECKING:
    from habilis.library.members import Member

_SHOWN = 200


class Witness(Frozen):
    """A call that a merged tool failed and a member of it answered, both as calls of the merged tool."""

    member: str
    failed: RecordedCall
    answered: RecordedCall

    def told(self, tool: str) -> str:
        """In a line of evidence."""
        task, name = self.failed.call_id.partition(".")[0], self.member.partition("@")[0]
        return f"{name} answered for {tool} in task {task}, which failed {compact(self.failed.arguments, _SHOWN)}"


class Split(Frozen):
    """A merge to be undone: `back` are members (`name@identity`) that come back into use. `heir`: the one of them that
    answers to the name of the merged tool too, which is taken out of use; `alias` is the way."""

    name: str
    back: tuple[str, ...]
    reason: str
    heir: str = ""
    alias: Alias | None = None


class Undone(Frozen):
    """What became of merged tools that were found to be lossy: those that were mended, and those that are split."""

    merges: tuple[Merge, ...] = ()
    splits: tuple[Split, ...] = ()
    evidence: tuple[str, ...] = ()


def lossy(collected: Collected) -> dict[str, list[Witness]]:
    """By name, the merged tools of the library that failed a call of this step which a member answered.

    Those that a tool of this step mends are none of them, nor is a pinned tool; and a member that is in use is no news.
    """
    view, found = collected.view, {}
    owners = {tool.manifest.name for name in collected.called if (tool := view.get(name)) is not None}
    new = [tool for name in collected.new if (tool := view.get(name)) is not None]
    for name in sorted(owners & set(collected.catalogue.tools)):
        tool = view.get(name)
        if tool is None or tool.manifest.pinned or any(descends(one, tool) for one in new):
            continue
        if not tool.manifest.aliases and not tool.origin.members:
            continue
        if witnesses := list(_witnesses(tool, collected)):
            found[name] = witnesses
    return found


def _witnesses(tool: Tool, collected: Collected) -> Iterator[Witness]:
    used = {one.label for name in collected.catalogue.tools if (one := collected.view.get(name)) is not None}
    out_of_use = {one.tool.label for one in collected.view.members(tool)} - used
    for name in (tool.name, *sorted(tool.manifest.aliases)):
        calls = collected.staging.records(name)
        answers = {_asked(one): one for one in calls if one.verdict == "success" and one.stood_in in out_of_use}
        for call in calls:
            answer = answers.get(_asked(call))
            if call.version == tool.version and call.verdict == "failure" and answer is not None:
                alias = tool.manifest.aliases.get(name)
                yield Witness(member=answer.stood_in, failed=called_by(alias, call), answered=called_by(alias, answer))


def _asked(call: RecordedCall) -> str:
    return json.dumps([call.arguments, call.files], sort_keys=True)


async def undo(
    collected: Collected,
    lost: Mapping[str, Sequence[Witness]],
    merger: Merger,
    gate: Gate,
    mender: MendsByWriter | None,
) -> Undone:
    """What becomes of the merged tools `lost`: each is mended, where `mender` makes a version that stands; else its
    merge is undone."""
    merges, splits, evidence = [], [], []
    for name, witnesses in lost.items():
        tool = collected.view.get(name)
        assert tool is not None
        made = await mender.mended(tool, witnesses) if mender is not None else ""
        if isinstance(made, Made):
            proved = await merger.prove(made)
            merges += proved.merges
            evidence += proved.evidence
            if proved.merges:
                continue
        elif made:
            evidence.append(f"{name} is not mended: {made}")
        splits.append(await _split(tool, witnesses, collected, gate))
    return Undone(merges=tuple(merges), splits=tuple(splits), evidence=tuple(evidence))


@dataclass(frozen=True)
class MendsByWriter:
    """Who mends merged tools of the library in the folder `library`; `origin` says who writes."""

    smith: Smith
    origin: Origin
    library: Path

    async def mended(self, tool: Tool, witnesses: Sequence[Witness]) -> Made | str:
        """`tool`, mended by what members answered; else why there is no such version."""
        try:
            made = await self.smith.mended(tool, [w.failed for w in witnesses], [w.answered for w in witnesses])
        except (ModelUnreachable, ModelReplyUnusable, BudgetReached) as error:
            return f"the writer cannot be asked: {error}"
        return made.reason if isinstance(made, EnhanceFailure) else self._as_made(tool, made.passed)

    def _as_made(self, tool: Tool, passed: Passed) -> Made:
        update = {"how": "enhanced", "parents": (tool.label,), "smoke": passed.smoke}
        more = {"writer": self.origin.writer, "model": self.origin.model}
        origin = tool.origin.model_copy(update=update | more)
        told = (passed.source, passed.description, passed.contract)
        manifest = Manifest.of(*told, name=tool.name, origin=origin, after=tool)
        nth = next_nth(self.library, tool.name, manifest.version)
        known = {"version": tool.version, "description": tool.description}
        way = Alias(**known, input_schema=tool.input_schema, output_schema=tool.output_schema)
        return Made(
            members=(tool.name,),
            source=passed.source,
            manifest=manifest.model_copy(update={"before": None, "nth": nth}),
            aliases={tool.name: way},
            mends=True,
            **kept_with(passed),
        )


async def _split(tool: Tool, witnesses: Sequence[Witness], collected: Collected, gate: Gate) -> Split:
    """How the merge that made `tool` is undone: the members that answered come back, of what a writer made of several
    all of them."""
    labels = tuple(dict.fromkeys(one.member for one in witnesses))
    calls = "1 call" if len(witnesses) == 1 else f"{len(witnesses)} calls"
    reason = f"{tool.label} failed {calls} that {', '.join(labels)} answered"
    members = {one.tool.label: one for one in collected.view.members(tool)}
    if tool.origin.how != "merged":
        return Split(name=tool.name, back=labels, reason=reason)
    whole = Split(name=tool.name, back=tuple(dict.fromkeys([*labels, *members])), reason=reason)
    for label in whole.back:
        alias = await _answering(members[label], tool, collected, gate)
        if alias is not None:
            return whole.model_copy(update={"heir": label, "alias": alias})
    return whole


async def _answering(member: Member, tool: Tool, collected: Collected, gate: Gate) -> Alias | None:
    """The way from the name of `tool` to a member that repeats all good calls by it; None where that is not so."""
    schemas = [(one.input_schema, one.output_schema) for one in (tool, member.tool)]
    alias = alias_between(schemas[0], schemas[1], version=tool.version, description=tool.description)
    if alias is None:
        return None
    good = tuple(one for one in collected.view.records(tool.name) if one.verdict == "success")
    with collected.staging.aside() as aside:
        new = replace(member.tool.runnable, alias=alias)
        report = await gate.repeats(new, [Predecessor(tool, good, alias)], aside, timeout_s=member.tool.timeout_s)
    return alias if report.ok and (report.replayed or not good) else None
