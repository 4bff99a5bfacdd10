"""A draft at work: what a change by hand does to a library, and the account of every tool that went in."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from habilis.contract.names import RESERVED, is_plain, safe_name
from habilis.contract.records import RecordedCall, RecordStore
from habilis.core.errors import HabilisError, UserError
from habilis.curation.ledger.reports import Ending, Fate, Lineage, StepReport
from habilis.library import Library, Tool
from habilis.library.catalogue import Catalogue, tool_files
from habilis.library.drafting import DraftLibrary
from habilis.library.outofuse import PLACES, Place, SetAside, listed, set_aside


class ChangeRefused(HabilisError):
    """A change that its gate does not let through; the library is as it was. `evidence` says in lines what failed."""

    def __init__(self, text: str, evidence: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.evidence = tuple(evidence)


class HandReport(StepReport):
    """One change by hand: every tool that went in is accounted for, as in a step of the curator.

    `asked` is what was asked for, in words, `reason` why, where a person said so. `notes` are lines on what else came
    with it. `changed` is False where the library was so already; then no generation was published. `dry_run`: nothing
    was published, this is what would have been.
    """

    step: int = 0
    by: Literal["hand"] = "hand"
    asked: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    changed: bool = True
    dry_run: bool = False


class Change:
    """The draft in `folder`, begun from the library `current` with what `catalogue` knows of it."""

    def __init__(self, folder: Path, current: Library, catalogue: Catalogue) -> None:
        self.folder, self.current, self.catalogue = folder, current, catalogue
        self.draft = DraftLibrary(folder, current.content)
        self.notes: list[str] = []
        self.evidence: list[str] = []
        self.changed = False
        self._went_in = [self.label(name) for name in sorted(catalogue.tools)]
        self._fates: dict[str, Fate] = {}
        self._lineage: list[Lineage] = []

    def label(self, name: str) -> str:
        """How the account names a tool of the library."""
        return f"{name}@{self.catalogue.tools[name].version or 'unread'}"

    def tool(self, name: str) -> Tool:
        """The tool in use under this very name. Raises `UserError` when there is none."""
        tool = self.draft.get(name)
        if tool is None:
            raise UserError(unknown(name, self.catalogue))
        return tool

    def end(self, name: str, ending: Ending, into: str | None = None, reason: str = "") -> None:
        """Write down what becomes of a tool of the library; those of which nothing is said are kept."""
        label = self.label(name)
        self._fates[label] = Fate(tool=label, ending=ending, into=into, reason=reason)
        self.changed = True

    def came(self, label: str, into: str, reason: str, lineage: Lineage | None = None) -> None:
        """Write down a tool that was out of use and is in use now, under the name `into`."""
        self._went_in.append(label)
        self._fates[label] = Fate(tool=label, ending="kept", into=into, reason=reason)
        self._lineage += [lineage] if lineage else []
        self.changed = True

    def take_out(self, name: str, place: Place, ending: Ending, reason: str) -> None:
        """Take a tool out of use, its calls along. Raises `UserError` for one that is pinned, or not there."""
        tool = self.tool(name)
        if tool.manifest.pinned:
            raise UserError(f"{name} is pinned; 'habilis library unpin {name}' unpins it")
        self.draft.take_out(name, place, reason)
        self.end(name, ending, None, reason)

    def pin(self, name: str, pinned: bool) -> None:
        """Say that a tool stays whatever the curator thinks, or no longer."""
        tool = self.tool(name)
        if tool.manifest.pinned != pinned:
            self.draft.describe(tool.manifest.model_copy(update={"pinned": pinned, "before": None}))
            self.changed = True

    def keep_calls(self, name: str, calls: Sequence[RecordedCall], contents: Mapping[str, bytes]) -> None:
        """Add recorded calls to a tool that is still of their version; `contents` are their files by digest."""
        tool = self.draft.get(name)
        calls = [call for call in calls if tool is not None and call.version == tool.version]
        draft = DraftLibrary(self.folder, lambda digest: contents.get(digest) or self.current.content(digest))
        if calls and draft.add_records(name, calls):
            draft.count(name)
            kept = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
            self.evidence.append(f"{name}: {kept} kept, {'tried' if calls[0].kind == 'tried' else 'made by hand'}")
            self.changed = True

    def revive(self, tool: Tool, place: Place, name: str, records: Sequence[RecordedCall], heir: str) -> None:
        """Put a tool that lies in `place` back into use under `name`; `heir` does its work until now, if any does."""
        source, manifest = tool.path.read_bytes(), tool.manifest
        if heir:
            self._without_alias(heir, name)
        taken = self.draft.names() | {
            alias for known in self.catalogue.tools.values() for alias in known.aliases if known.name != name
        }
        aliases = {old: alias for old, alias in manifest.aliases.items() if old not in taken}
        for old in sorted(manifest.aliases.keys() - aliases.keys()):
            self.notes.append(f"its old name {old} belongs to another tool now")
        for old in aliases:
            self.draft.add_records(old, self.draft.taken_up(old, tool.manifest.identity))
        self.draft.to_archive(place, tool)
        origin = manifest.origin.model_copy(update={"how": "revived"})
        update = {"name": name, "status": "public", "reason": None, "before": None, "pinned": False}
        self.draft.put(source, manifest.model_copy(update={**update, "origin": origin, "aliases": aliases}))
        self.draft.add_records(name, records)
        self.draft.count(name)
        tasks = (manifest.origin.task,) if manifest.origin.task else ()
        line = Lineage(tool=f"{name}@{tool.version}", parents=origin.parents, tasks=tasks, writer=origin.writer)
        line = line.model_copy(update={"model": origin.model, "replays": sum(r.verdict == "success" for r in records)})
        self.came(f"{place}:{tool.name}@{tool.version}", name, f"it was {manifest.status}: {manifest.reason}", line)

    def _without_alias(self, heir: str, name: str) -> None:
        manifest = self.tool(heir).manifest
        aliases = {old: alias for old, alias in manifest.aliases.items() if old != name}
        self.draft.describe(manifest.model_copy(update={"aliases": aliases, "before": None}))
        self.notes.append(f"{name} was an old name of {heir}, and is a tool of its own again")

    def report(self, asked: str, reason: str, generation: int) -> HandReport:
        """The account as it stands."""
        for name in self.catalogue.tools:
            label = self.label(name)
            self._fates.setdefault(label, Fate(tool=label, ending="kept", into=name))
        return HandReport(
            generation=generation,
            parent=generation or None,
            went_in=tuple(self._went_in),
            fates=tuple(self._fates[label] for label in self._went_in),
            lineage=tuple(self._lineage),
            tools=len(tool_files(self.folder)),
            asked=asked,
            reason=reason,
            notes=tuple(self.notes),
            evidence=tuple(self.evidence),
            changed=self.changed,
        )


def unknown(name: str, catalogue: Catalogue) -> str:
    """Why there is no tool to be had under this name, and what was perhaps meant."""
    owner = next((one.name for one in catalogue.tools.values() if name in one.aliases), None)
    if owner is not None:
        return f"{name} is an old name of {owner}; say {owner}"
    listed = catalogue.tools.get(name)
    if listed is not None:
        return f"{name}.py is not a usable tool: {listed.problem or 'it changed just now'}"
    near = difflib.get_close_matches(name, catalogue.tools, 3, 0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "'habilis library list' shows what there is"
    return f"no tool {name} in the library; {hint}"


@dataclass(frozen=True)
class Back:
    """A tool on its way back under `name`. `heir` is the tool that this is an old name of; empty when none is."""

    tool: Tool
    place: Place
    name: str
    records: tuple[RecordedCall, ...]
    heir: str = ""


def revivable(library: Library, catalogue: Catalogue, said: str, under: str) -> Back:
    """The tool out of use that `said` (`name` or `name@version`) means. Raises `UserError` for none, or for several."""
    found = _out_of_use(library, catalogue, said)
    name = under or found.tool.name
    if not is_plain(name) or name != safe_name(name) or name in RESERVED:
        raise UserError(f"{name} cannot be a tool's name; letters, digits and underscores can")
    heir = next((one.name for one in catalogue.tools.values() if name in one.aliases), "")
    if name in catalogue.tools:
        raise UserError(f"a tool {name} is in use; revive this one under another name with --as NAME")
    if heir and name != found.tool.name:
        raise UserError(f"{name} is an old name of {heir}; choose another one")
    records = {record.call_id: record for record in _calls_of(library, found.tool, heir)}
    records |= {record.call_id: record for record in found.records()}
    return Back(found.tool, found.place, name, tuple(records.values()), heir)


def _out_of_use(library: Library, catalogue: Catalogue, said: str) -> SetAside:
    name, _, version = said.partition("@")
    used = catalogue.tools[name].version if name in catalogue.tools else ""
    there = [one for one in set_aside(library.path, name) if one.tool.manifest.identity.startswith(version)]
    found = [one for one in there if one.tool.version != used]
    if not found and used and (there or not version):
        raise UserError(f"{said} is in use")
    if not found:
        raise UserError(f"no tool {said} is out of use; {unknown(name, catalogue).rpartition('; ')[2]}")
    first = next(place for place in PLACES if any(one.place == place for one in found))
    best = {one.tool.version: one for one in found if version or one.place == first}
    if len(best) > 1:
        labels = ", ".join(f"{one.label} ({one.reason})" for one in best.values())
        raise UserError(f"several tools {name} are out of use; say which: {labels}")
    return next(iter(best.values()))


def _calls_of(library: Library, tool: Tool, heir: str) -> list[RecordedCall]:
    """Calls of `tool` wherever they are filed: under its name while that is an old one, its very own among those of the
    tool that does its work, and in the archive where that one went out of use itself."""
    store = RecordStore(library.path / "archive")
    archived = [stem for stem in listed(library.path / "archive", ".jsonl") if stem.rpartition(".")[0] == tool.name]
    found = [record for stem in archived for record in store.read(stem)]
    if not heir:
        return found
    own = [record for record in library.records(heir) if record.version == tool.version]
    return [*found, *library.records(tool.name), *own]
