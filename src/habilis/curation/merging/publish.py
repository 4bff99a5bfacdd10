"""From what was decided to the next generation: the draft is filled, every tool's fate written down, both compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from habilis.contract.records import RecordedCall
from habilis.core.errors import HabilisError
from habilis.curation.ledger.reports import Ending, Fate, Lineage, StepReport
from habilis.curation.merging.collect import Collected
from habilis.curation.merging.merge import Merge, descends, keep_files, plain
from habilis.curation.merging.undo import Split
from habilis.library import Manifest, Tool
from habilis.library.catalogue import tool_files
from habilis.library.drafting import DraftLibrary, newest
from habilis.library.members import members_of


class NotConserved(HabilisError):
    """A step's account does not agree with what its draft holds. Nothing is published."""


@dataclass(frozen=True)
class Decisions:
    """What a step decided. `quarantined` are new tools, `retired` tools of the library, each with the reason; `splits`
    are merges that are undone."""

    quarantined: Mapping[str, str] = field(default_factory=dict)
    retired: Mapping[str, str] = field(default_factory=dict)
    merges: Sequence[Merge] = ()
    splits: Sequence[Split] = ()


@dataclass(frozen=True)
class Filled:
    """What filling a draft came to: the fate of every tool that went in and of those that came back, the lineage of the
    new ones, and whether the draft holds anything that the generation before does not."""

    fates: tuple[Fate, ...]
    came_back: tuple[Fate, ...]
    lineage: tuple[Lineage, ...]
    changed: bool


def fill(draft: Path, collected: Collected, decisions: Decisions) -> Filled:
    """Make `draft` what was decided."""
    return _Filler(draft, collected, decisions).fill()


def check_conserved(report: StepReport, draft: Path) -> None:
    """Raises `NotConserved` unless each tool is accounted for once, and what remains is what the account says."""
    if not report.balanced:
        odd = set(report.went_in) ^ {fate.tool for fate in report.fates}
        raise NotConserved(f"the step does not account for each tool once: {', '.join(sorted(odd)[:5]) or 'one twice'}")
    names = [line.tool.split("@")[0] for line in report.lineage]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise NotConserved(f"two tools of the step have one name: {', '.join(twice[:5])}")
    there = set(tool_files(draft))
    said = {fate.into for fate in (*report.fates, *report.came_back) if fate.into is not None}
    if there != said or len(there) != report.tools:
        odd = there ^ said
        raise NotConserved(f"the draft does not hold what the step says: {', '.join(sorted(odd)[:5])}")


class _Filler:
    def __init__(self, draft: Path, collected: Collected, decisions: Decisions) -> None:
        self._collected, self._view, self._decisions = collected, collected.view, decisions
        self._draft = DraftLibrary(draft, collected.view.content)
        self._fates: dict[str, Fate] = {fate.tool: fate for fate in collected.fates}
        self._now: dict[str, str] = {}
        self._lineage: list[Lineage] = []
        self._came_back: list[Fate] = []

    def fill(self) -> Filled:
        changed = [self._draft.add_records(name, self._staged(name)) for name in self._collected.called]
        for name, reason in sorted(self._decisions.quarantined.items()):
            tool = self._new(name)
            manifest = tool.manifest
            self._draft.keep(tool.path.read_bytes(), manifest, "quarantine", reason, self._staged(name))
            self._end(name, "quarantined", None, reason)
        for merge in self._decisions.merges:
            self._merge(merge)
        for name in self._collected.new:
            if self._collected.label(name) not in self._fates:
                self._keep(name)
        for split in self._decisions.splits:
            self._split(split)
        for name, reason in sorted(self._decisions.retired.items()):
            if self._collected.label(name) not in self._fates:
                self._draft.take_out(name, "retired", reason)
                self._end(name, "retired", None, reason)
        for name in self._collected.catalogue.tools:
            if self._collected.label(name) not in self._fates:
                self._end(name, "kept", name)
        for name in sorted({self._owner(called) for called in self._collected.called} & self._draft.names()):
            self._draft.count(name)
        changed += [self._draft.answered(self._owner(name), asked) for name, asked in self._collected.answered.items()]
        for name, times in sorted(self._collected.offered.items()):
            self._draft.offered(name, times)
        lineage = sorted(self._lineage, key=lambda line: line.tool)
        more = any(changed) or bool(
            self._collected.new or self._decisions.retired or self._decisions.merges or self._came_back
        )
        return Filled(tuple(self._settled()), tuple(self._came_back), tuple(lineage), more)

    # --- one tool

    def _keep(self, name: str) -> None:
        """A new tool goes into the library as it is."""
        tool = self._new(name)
        back = self._draft.bring_back(tool.manifest)
        self._draft.put(tool.path.read_bytes(), _public(tool.manifest, name))
        self._draft.add_records(name, [*back, *self._staged(name)])
        self._draft.count(name)
        self._end(name, "kept", name)
        self._descent(name, tool.manifest, tool.manifest.origin.parents)

    def _merge(self, merge: Merge) -> None:
        replaced = self._replaced(merge)
        winner = self._view.get(merge.winner) if merge.winner else None
        if merge.made is not None:
            source, manifest = merge.made.source.encode("utf-8"), merge.made.manifest
            keep_files(merge.made, self._view)
            self._draft.add_records(merge.name, merge.made.confirmed)
        else:
            assert winner is not None
            source, manifest = winner.path.read_bytes(), winner.manifest
        for tool in replaced:
            self._set_aside(tool, merge)
        if winner is not None and winner.name in self._collected.new:
            self._draft.add_records(merge.name, [*self._draft.bring_back(manifest), *self._staged(winner.name)])
        aliases = dict(manifest.aliases) | {
            name: alias for name, alias in merge.aliases.items() if self._filed_under(name, merge) == name
        }
        aliases.pop(merge.name, None)
        parents = tuple(dict.fromkeys([*manifest.origin.parents, *(tool.label for tool in replaced)]))
        members = tuple(dict.fromkeys([*manifest.origin.members, *_members(replaced, winner, merge)]))
        origin = manifest.origin.model_copy(update={"parents": parents, "members": members})
        answered = newest([question for tool in replaced for question in tool.manifest.answered], manifest.answered)
        update = {"origin": origin, "aliases": aliases, "answered": answered}
        named = _public(manifest.model_copy(update=update), merge.name)
        self._draft.put(source, named)
        self._draft.count(merge.name)
        if winner is not None:
            self._end(winner.name, "kept", merge.name)
        self._descent(merge.name, manifest, parents, merge, [*replaced, *([winner] if winner else [])])

    def _set_aside(self, tool: Tool, merge: Merge) -> None:
        """Put a tool that another replaces into the archive, and its recorded calls where they are asked for."""
        reason = f"its work is done by {merge.name}"
        if tool.name in self._collected.new:
            self._draft.keep(tool.path.read_bytes(), tool.manifest, "archive", reason)
            records = [*self._draft.bring_back(tool.manifest), *self._staged(tool.name)]
        else:
            records = self._draft.records(tool.name)
            self._draft.take_out(tool.name, "archive", reason)
        self._draft.add_records(self._filed_under(tool.name, merge), records)
        self._end(tool.name, "merged", merge.name, reason)

    def _split(self, split: Split) -> None:
        """Undo a merge: members come back, and what was made of them goes where a member answers to its name too."""
        merged = self._draft.get(split.name)
        assert merged is not None
        there = {one.tool.label: one for one in members_of([self._draft.folder], merged)}
        names = {}
        for label in split.back:
            names[label] = self._draft.bring_in(there[label], merged)
            back = there[label].tool
            self._came_back.append(Fate(tool=label, ending="kept", into=names[label], reason=split.reason))
            self._descent(names[label], back.manifest, back.origin.parents)
        if split.alias is not None:
            calls = self._draft.records(split.name)
            self._draft.take_out(split.name, "retired", split.reason)
            self._draft.rename(merged, names[split.heir], split.alias, calls)
            self._end(split.name, "retired", names[split.heir], split.reason)

    def _filed_under(self, name: str, merge: Merge) -> str:
        """Where the calls of a replaced tool lie: under its own name, which becomes an old name of the other; or under
        the other's, where they are calls of that as they stand and nobody ever knew the name."""
        alias = merge.aliases[name]
        known_as = self._new(name).called.stem if name in self._collected.new else name
        if plain(alias) and merge.name in (name, known_as):
            return merge.name
        return name

    # --- the account

    def _end(self, name: str, ending: Ending, into: str | None, reason: str = "") -> None:
        label = self._collected.label(name)
        self._fates[label] = Fate(tool=label, ending=ending, into=into, reason=reason)
        if into is not None:
            self._now[name] = into

    def _settled(self) -> list[Fate]:
        """All fates in the order in which the tools went in, each with the tool that does the work at the end."""
        last = []
        for label in self._collected.went_in:
            fate = self._fates[label]
            into = self._now.get(fate.into, fate.into) if fate.into is not None else None
            if fate.into is not None and fate.into in self._decisions.quarantined:
                fate = fate.model_copy(
                    update={"ending": "quarantined", "reason": f"the same source as {fate.into}, which is"}
                )
                into = None
            elif fate.into is not None and self._is_retired(fate.into):
                fate = fate.model_copy(
                    update={"ending": "retired", "reason": f"the same source as {fate.into}, which is"}
                )
                into = None
            last.append(fate if fate.into == into else fate.model_copy(update={"into": into}))
        return last

    def _is_retired(self, name: str) -> bool:
        return name in self._decisions.retired and name not in self._now

    def _descent(
        self,
        name: str,
        manifest: Manifest,
        parents: Sequence[str],
        merge: Merge | None = None,
        proved: Sequence[Tool] = (),
    ) -> None:
        tasks = {tool.origin.task for tool in proved} | {manifest.origin.task}
        line = Lineage(
            tool=f"{name}@{manifest.identity}",
            parents=tuple(parents),
            tasks=tuple(sorted(task for task in tasks if task)),
            writer=manifest.origin.writer,
            model=manifest.origin.model,
            replays=merge.replays if merge else 0,
            told=merge.told if merge else 0,
            distinct=merge.distinct if merge else 0,
        )
        self._lineage.append(line)

    # --- looking up

    def _replaced(self, merge: Merge) -> list[Tool]:
        """The tools that `merge` puts out of use; older names in its aliases have none any more."""
        names = [*self._collected.new, *self._collected.catalogue.tools]
        found = (self._view.get(name) for name in sorted(merge.aliases) if name in names)
        return [tool for tool in found if tool is not None and tool.alias is None]

    def _owner(self, name: str) -> str:
        """The tool that has `name`, be it an old one."""
        tool = self._view.get(name)
        return self._now.get(tool.manifest.name, tool.manifest.name) if tool is not None else name

    def _new(self, name: str) -> Tool:
        tool = self._collected.staging.get(name)
        assert tool is not None
        return tool

    def _staged(self, name: str) -> list[RecordedCall]:
        return self._collected.staging.records(name)


def _members(replaced: Sequence[Tool], winner: Tool | None, merge: Merge) -> list[str]:
    """The tools that a merge puts out of use and that can be asked where it fails, their own members among them. What
    the winner mends is known to be wrong, and is none."""
    mended = merge.made is not None and merge.made.mends
    mends = [tool for tool in replaced if mended or (winner is not None and descends(winner, tool))]
    asked = [tool.label for tool in replaced if tool not in mends]
    return [*asked, *(label for tool in replaced for label in tool.origin.members)]


def _public(manifest: Manifest, name: str) -> Manifest:
    return manifest.model_copy(update={"name": name, "status": "public", "reason": None, "before": None})
