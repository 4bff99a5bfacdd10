"""What the tasks of a step bring along: proven new tools, and recorded calls of tools that the library has.

All of it is staged: copied into a library of the step's own, each new tool under the name that it is to have. Nothing
in the tasks' folders is changed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from habilis.contract.names import RESERVED, free_name, safe_name
from habilis.contract.records import RecordedCall
from habilis.curation.ledger.reports import Fate, Finished
from habilis.library import LayeredLibrary, Library, Tool
from habilis.library.catalogue import Catalogue
from habilis.library.folder import as_kept
from habilis.library.outofuse import next_nth, set_aside
from habilis.rundir import atomic_write, read_jsonl

MENDED = ("enhanced", "forked")
JUDGED = ("success", "failure")


@dataclass
class Collected:
    """What goes into a step, staged. `view` shows the staged tools over the library's.

    `new` are names of staged tools with the label of each; `called` are names of the library's tools (or old names of
    them) whose recorded calls became more. `answered` are, by name, questions that the tool helped to answer, `offered`
    how many tasks' plans were shown a tool of the library. `fates` are those that are settled already.
    """

    view: LayeredLibrary
    catalogue: Catalogue
    new: dict[str, str] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    answered: dict[str, list[str]] = field(default_factory=dict)
    offered: Counter[str] = field(default_factory=Counter)
    went_in: list[str] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)

    @property
    def staging(self) -> Library:
        return self.view.private

    def leave(self, name: str, reason: str) -> None:
        """A new tool stays with its task after all, with all that is of the same source."""
        label = self.new.pop(name)
        self.answered.pop(name, None)
        why = f"{reason}; it stays with its task"
        self.fates = [
            fate.model_copy(update={"ending": "retired", "into": None, "reason": why}) if fate.into == name else fate
            for fate in self.fates
        ]
        self.fates.append(Fate(tool=label, ending="retired", reason=why))
        for suffix in (".json", ".py"):
            (self.staging.path / f"{name}{suffix}").unlink(missing_ok=True)

    def label(self, name: str) -> str:
        """How reports name what stands under `name` in the view."""
        if name in self.new:
            return self.new[name]
        return f"{name}@{self.catalogue.tools[name].version or 'unread'}"


def collect(
    finished: Sequence[Finished], public: Library, catalogue: Catalogue, staging: Path, run: str = ""
) -> Collected:
    """Stage what `finished` tasks of `run` bring along, in the order of their ids. Raises OSError."""
    staging.mkdir(parents=True, exist_ok=True)
    found = Collected(LayeredLibrary(Library(staging), public), catalogue)
    found.went_in += [found.label(name) for name in sorted(catalogue.tools)]
    collector = _Collector(found, run)
    for task in sorted(finished, key=lambda task: task.task_id):
        tools = Path(task.folder) / "tools"
        if not tools.is_dir():
            continue
        private = Library(tools)
        if task.absorbable:
            collector.task(task, private)
        elif names := private.names():
            found.evidence.append(f"task {task.task_id} {task.status}: {', '.join(names)} stay with it")
    return found


def _shown(folder: Path) -> set[str]:
    """The tools that plans of the task in `folder` were shown."""
    plans = (row for row in read_jsonl(folder / "events.jsonl") if row.get("kind") == "planned")
    return {name for plan in plans for name in plan.get("offered", ()) if isinstance(name, str)}


def unproven(tool: Tool, records: Sequence[RecordedCall]) -> str:
    """Why a private tool is not to be absorbed; empty when it has proved itself.

    A better version that was not called since passed the replay of every call before it, which is proof as good.
    """
    verdicts = [r.verdict for r in records if r.version == tool.version and r.used and r.verdict in JUDGED]
    if not verdicts:
        return "" if tool.origin.how in MENDED else "no call of it was judged"
    if "success" not in verdicts:
        return "no call of it succeeded"
    return "its last call failed" if verdicts[-1] == "failure" else ""


def _line(tool: Tool, private: Library) -> tuple[str, ...]:
    """What `tool` was made from, by way of versions that its task alone has had."""
    found = dict.fromkeys(tool.origin.parents)
    kept = {one.label: one.tool for one in set_aside(private.path, tool.name, ("archive",))} if found else {}
    waiting = list(found)
    while waiting:
        before = kept.pop(waiting.pop(0), None)
        if before is not None and before.origin.how in MENDED:
            waiting += before.origin.parents
            found |= dict.fromkeys(before.origin.parents)
    return tuple(found)


class _Collector:
    def __init__(self, found: Collected, run: str) -> None:
        self._found, self._run = found, run
        tools = found.catalogue.tools.values()
        self._by_version = {listed.version: listed.name for listed in tools if listed.version}
        self._known = found.catalogue.taken()  # asked before the library, which reads itself whole for an unknown name
        self._taken = self._known | RESERVED

    def task(self, task: Finished, private: Library) -> None:
        found, task_id = self._found, task.task_id
        names = {}
        for tool in private.tools():
            label = f"{task_id}:{tool.name}@{tool.version}"
            found.went_in.append(label)
            records = private.records(tool.name)
            if reason := unproven(tool, records):
                found.fates.append(Fate(tool=label, ending="retired", reason=f"{reason}; it stays with its task"))
                continue
            names[tool.name] = self._place(tool, label, task_id, private)
            self._stage_records(names[tool.name], records, task_id, private)
        for broken in private.broken():
            found.evidence.append(f"task {task_id}: {broken.file} is not a usable tool: {broken.reason}")
        self._calls_of_others(task_id, private)
        self._found.offered.update(_shown(Path(task.folder)) & self._found.catalogue.tools.keys())
        if task.status == "answered" and task.result is not None:
            for call in task.result.invocations:
                if call.verdict == "success":
                    self._answered(names.get(call.tool, call.tool), task.result.question)

    def _answered(self, name: str, question: str) -> None:
        known = name in self._known or name in self._found.new
        tool = self._found.view.get(name) if known else None
        if tool is not None:
            questions = self._found.answered.setdefault(tool.manifest.name, [])
            if question not in questions:
                questions.append(question)

    def _place(self, tool: Tool, label: str, task_id: str, private: Library) -> str:
        """The name in the view of what `tool` is: of the tool of the same source, else a free one of its own."""
        same = self._by_version.get(tool.version)
        if same is not None:
            self._found.fates.append(Fate(tool=label, ending="merged", into=same, reason="the same source"))
            return same
        base = safe_name(tool.called.stem)
        name = free_name(base, self._taken.__contains__)
        self._taken.add(name)
        self._by_version[tool.version] = name
        self._found.new[name] = label
        origin = tool.origin.model_copy(
            update={
                "task": tool.origin.task or task_id,
                "our_suffix": tool.origin.our_suffix or name != tool.name,
                "parents": _line(tool, private),
            }
        )
        public = self._found.view.public
        nth = next_nth(public.path, base, tool.version) if public is not None else 1
        update = {"name": name, "origin": origin, "status": "candidate", "counters": {}, "before": None, "nth": nth}
        staged = self._found.staging.path
        atomic_write(staged / f"{name}.json", as_kept(tool.manifest.model_copy(update=update)), durable=False)
        atomic_write(staged / f"{name}.py", tool.path.read_bytes(), durable=False)
        return name

    def _calls_of_others(self, task_id: str, private: Library) -> None:
        """Recorded calls of the library's own tools; a task keeps them with its private ones.

        Of a tool that the task has mended, the calls before that are the library's; the mended one has them too.
        """
        for path in sorted(private.store.path("x").parent.glob("*.jsonl")):
            public = self._found.view.public
            tool = public.get(path.stem) if public is not None and path.stem in self._known else None
            if tool is None or tool.name != path.stem:
                continue
            own = private.get(path.stem)
            if own is not None and own.version == tool.version and tool.manifest.name != path.stem:
                continue  # the task's own tool, which bears an old name of the same one: its calls are that one's
            records = [r for r in private.records(path.stem) if own is None or r.version == tool.version]
            self._stage_records(path.stem, records, task_id, private)

    def _stage_records(self, name: str, records: Sequence[RecordedCall], task_id: str, private: Library) -> None:
        """Stage records under `name`, with ids that are theirs alone: calls of different tasks are numbered alike, and
        tasks of different runs that feed one library may have one id."""
        store = self._found.staging.store
        known = {call.call_id for call in store.read(name)}
        if records and name not in self._found.new:
            self._found.called[name] = None
        for record in records:
            said = json.dumps(record.model_dump(exclude={"call_id", "tool"}), sort_keys=True)
            call_id = f"{task_id}.{hashlib.sha256((self._run + said).encode()).hexdigest()[:12]}"
            if call_id in known:
                continue
            known.add(call_id)
            kept = store.bring(record, private.content)
            store.append(kept.model_copy(update={"call_id": call_id, "tool": name}))
