"""Changing a draft of a library: tools put in, taken out of use, given records. Every change is a rename.

A draft shares its files with the generation before; nothing here ever writes into a file that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from habilis.contract.aliases import Alias
from habilis.contract.names import free_name
from habilis.contract.records import RecordedCall, RecordStore, counted
from habilis.library.catalogue import tool_files
from habilis.library.folder import Library, as_kept
from habilis.library.members import Member
from habilis.library.outofuse import Place
from habilis.library.tool import Manifest, Tool
from habilis.library.worth import CARRIED
from habilis.rundir import atomic_write

MAX_QUESTIONS, MAX_QUESTION_CHARS = 8, 300
"""How many questions a tool is found by, and how much of each."""
_STATUS: dict[Place, Literal["merged", "retired", "quarantined"]] = {
    "archive": "merged",
    "retired": "retired",
    "quarantine": "quarantined",
}
Contents = Callable[[str], bytes | None]
"""From the digest of a recorded file to its content."""


def newest(known: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """The newest of questions that a tool helped to answer, each once: as many as a manifest holds."""
    return tuple(dict.fromkeys([*known, *more]))[-MAX_QUESTIONS:]


class DraftLibrary:
    """The library in the folder of a draft. `contents` finds the files of records that are brought in."""

    def __init__(self, folder: Path, contents: Contents) -> None:
        self.folder, self._contents = folder, contents
        self._library = Library(folder)
        self._store = self._library.store

    def get(self, name: str) -> Tool | None:
        """The tool whose file bears this name."""
        tool = self._library.entry(name)
        return tool if isinstance(tool, Tool) else None

    def names(self) -> set[str]:
        """Names of all tool files, usable or not."""
        return set(tool_files(self.folder))

    def records(self, name: str) -> list[RecordedCall]:
        """The recorded calls that lie here under `name`."""
        return self._store.read(name)

    def put(self, source: bytes, manifest: Manifest) -> None:
        """Put a tool in, in the place of one of the same name."""
        atomic_write(self.folder / f"{manifest.name}.json", as_kept(manifest), durable=False)
        atomic_write(self.folder / f"{manifest.name}.py", source, durable=False)

    def describe(self, manifest: Manifest) -> None:
        """Change what stands beside a tool's source."""
        atomic_write(self.folder / f"{manifest.name}.json", as_kept(manifest), durable=False)

    def add_records(self, name: str, records: Iterable[RecordedCall]) -> bool:
        """Add to the records of `name` those that are not there yet, with their files; whether there were any."""
        return self._add(self._store, name, (call.model_copy(update={"tool": name}) for call in records))

    def count(self, name: str) -> None:
        """Write into the manifest of `name` how the calls of its present version went, old names included."""
        tool = self.get(name)
        if tool is None:
            return
        names = (name, *sorted(tool.manifest.aliases))
        calls = [call for known in names for call in self._store.read(known) if call.version == tool.version]
        carried = {kind: tool.counters[kind] for kind in CARRIED if kind in tool.counters}
        self._recount(tool, counted(calls) | carried)

    def offered(self, name: str, times: int) -> None:
        """Note that plans were shown tool `name`, as long as nobody has called it."""
        tool = self.get(name)
        if tool is not None and not tool.counters.get("calls"):
            self._recount(tool, tool.counters | {"offered": tool.counters.get("offered", 0) + times})

    def answered(self, name: str, questions: Sequence[str]) -> bool:
        """Note questions of tasks that ended well with tool `name`, the newest last, long ones cut; whether any was
        new."""
        tool = self.get(name)
        if tool is None:
            return False
        known = tool.manifest.answered
        kept = newest(known, [question[:MAX_QUESTION_CHARS] for question in questions])
        counters = tool.counters | {"tasks": tool.counters.get("tasks", 0) + len(questions)}
        self.describe(tool.manifest.model_copy(update={"answered": kept, "counters": counters, "before": None}))
        return kept != known

    def _recount(self, tool: Tool, counters: dict[str, int]) -> None:
        self.describe(tool.manifest.model_copy(update={"counters": counters, "before": None}))

    def take_out(self, name: str, place: Place, reason: str) -> None:
        """Take a tool out of use. A retired or quarantined one takes its records along; those of its old names are
        archived, so that the names are free."""
        tool = self.get(name)
        if tool is None:
            return
        self.keep(tool.path.read_bytes(), tool.manifest, place, reason)
        tool.path.unlink()
        (self.folder / f"{name}.json").unlink(missing_ok=True)
        if place == "archive":
            return
        self._move_records(name, self.folder / place / f"{name}.{tool.manifest.identity}.jsonl")
        for alias in sorted(tool.manifest.aliases):
            self._move_records(alias, self.folder / "archive" / f"{alias}.{tool.manifest.identity}.jsonl")

    def keep(
        self, source: bytes, manifest: Manifest, place: Place, reason: str, records: Iterable[RecordedCall] = ()
    ) -> None:
        """Put a tool among those that are out of use, with the reason."""
        folder = self.folder / place
        folder.mkdir(exist_ok=True)
        told = manifest.model_copy(update={"status": _STATUS[place], "reason": reason, "before": None})
        stem = f"{manifest.name}.{manifest.identity}"
        atomic_write(folder / f"{stem}.py", source, durable=False)
        atomic_write(folder / f"{stem}.json", as_kept(told), durable=False)
        self.unite(place, stem, records)

    def bring_in(self, member: Member, merged: Tool) -> str:
        """Put a member of `merged` back into use, with its old names and calls; returns the name that it has now. What
        `merged` fails, it can still be asked for."""
        tool, heir = member.tool, self.get(merged.name) or merged
        name = free_name(tool.name, self.names().__contains__)
        own = {tool.name, *tool.manifest.aliases} if name == tool.name else set()
        taken = {old: alias for old, alias in tool.manifest.aliases.items() if old in heir.manifest.aliases}
        left = {old: alias for old, alias in heir.manifest.aliases.items() if old not in own}
        self.describe(heir.manifest.model_copy(update={"aliases": left, "before": None}))
        update = {"name": name, "status": "public", "reason": None, "before": None, "aliases": taken if own else {}}
        self.put(tool.path.read_bytes(), tool.manifest.model_copy(update=update))
        answered = [call for call in self.records(merged.name) if call.version == tool.version]
        self.add_records(name, [call for one in answered if (call := member.own(one)) is not None])
        self.count(name)
        return name

    def rename(self, gone: Tool, name: str, alias: Alias, records: Iterable[RecordedCall]) -> None:
        """Have tool `name` answer to the name of `gone` too, with the calls that were made by it, and be found by the
        questions that it helped to answer."""
        tool = self.get(name)
        assert tool is not None
        aliases = {**tool.manifest.aliases, gone.name: alias}
        answered = newest(gone.manifest.answered, tool.manifest.answered)
        update = {"aliases": aliases, "answered": answered, "before": None}
        self.describe(tool.manifest.model_copy(update=update))
        self.add_records(gone.name, records)
        self.count(name)

    def bring_back(self, manifest: Manifest) -> list[RecordedCall]:
        """Move what a revived tool was retired with into the archive; returns its recorded calls."""
        found: list[RecordedCall] = []
        for tool, records in self._library.retired():
            if tool.label in manifest.origin.parents:
                found += records
                self.to_archive("retired", tool)
        return found

    def to_archive(self, place: Place, tool: Tool) -> None:
        """Move what lies in `place` of a tool (source, manifest, calls) into the archive."""
        for suffix in (".py", ".json", ".jsonl"):
            path = self.folder / place / f"{tool.manifest.name}.{tool.manifest.identity}{suffix}"
            if path.exists():
                self._moved(path, self.folder / "archive" / path.name)

    def taken_up(self, name: str, identity: str) -> list[RecordedCall]:
        """The calls of an old name that were archived when a tool of this identity went out of use."""
        return RecordStore(self.folder / "archive").read(f"{name}.{identity}")

    def unite(self, place: Place, stem: str, records: Iterable[RecordedCall]) -> None:
        """Add recorded calls to those that lie in `place` under `stem`, each call id once."""
        self._add(RecordStore(self.folder / place), stem, records)

    def _add(self, store: RecordStore, stem: str, records: Iterable[RecordedCall]) -> bool:
        known = {call.call_id for call in store.read(stem)}
        new = [self._kept(call) for call in records if call.call_id not in known]
        if new:
            store.extend(stem, new)
        return bool(new)

    def _move_records(self, name: str, target: Path) -> None:
        path = self._store.path(name)
        if path.exists():
            self._moved(path, target)

    def _moved(self, path: Path, target: Path) -> None:
        """Move a file; calls that lie at `target` already stay."""
        target.parent.mkdir(exist_ok=True)
        if target.suffix == ".jsonl" and target.exists():
            place: Any = target.parent.name
            self.unite(place, target.stem, RecordStore(path.parent).read(path.stem))
            path.unlink()
        else:
            path.replace(target)

    def _kept(self, call: RecordedCall) -> RecordedCall:
        """`call` with its files here, or with the reason why a replay must do without."""
        return self._store.bring(call, self._contents)
