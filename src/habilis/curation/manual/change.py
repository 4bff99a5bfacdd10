"""A draft at work: what a change by hand does to a library, and the account of every tool that went in."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from habilis.contract.records import RecordedCall
from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Ending, Fate, Lineage
from habilis.curation.manual.account import HandReport
from habilis.library import Library, Tool
from habilis.library.catalogue import Catalogue, tool_files
from habilis.library.drafting import DraftLibrary, Place


class Change:
    """The draft in `folder`, begun from the library `current` with what `catalogue` knows of it."""

    def __init__(self, folder: Path, current: Library, catalogue: Catalogue) -> None:
        self.folder, self.current, self.catalogue = folder, current, catalogue
        self.draft = DraftLibrary(folder, current.content)
        self.notes: list[str] = []
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
            self.draft.add_records(old, self.draft.taken_up(old, tool.version))
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
            changed=self.changed,
        )


def unknown(name: str, catalogue: Catalogue) -> str:
    """Why there is no tool to be had under this name, and what was perhaps meant."""
    owner = next((one.name for one in catalogue.tools.values() if name in one.aliases), None)
    if owner is not None:
        return f"{name} is an old name of {owner}; say {owner}"
    listed = catalogue.tools.get(name)
    if listed is not None:
        return f"{name}.py is no usable tool: {listed.problem or 'it changed just now'}"
    near = difflib.get_close_matches(name, catalogue.tools, 3, 0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "'habilis library list' shows what there is"
    return f"no tool {name} in the library; {hint}"
