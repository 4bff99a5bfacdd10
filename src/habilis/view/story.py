"""A task's events as a conversation: each call with its result and verdict, each build with its attempts and mends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from habilis.rundir import TaskDir
from habilis.view.code import DiffLine, changes
from habilis.view.log import LoggedEvent
from habilis.view.records import part
from habilis.view.sources import replies_of, source_of

_PASSED_OVER = ("model_call_started", "task_started", "thought_piece")
_OF_TOOLS = ("tool_built", "tool_enhanced", "tool_given_up")


@dataclass
class Happening:
    """Something that happened, at line `number` of the log. `rows` are the events that belong to it, by kind; `below`
    is what happened inside of it; `mends` are changes of code, each with what it changed; `calls` are those of the tool
    before its mend, which are among the recorded ones that the new version had to pass."""

    kind: str
    number: int
    at: float
    row: dict[str, Any]
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    below: list[Happening] = field(default_factory=list)
    mends: list[tuple[str, list[DiffLine]]] = field(default_factory=list)
    calls: list[Happening] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Its name on the page."""
        return f"e{self.number}"

    @property
    def mark(self) -> tuple[Hashable, ...]:
        """Another one as soon as something was added to it: the lines of the log that tell of it, and when."""
        inside = tuple(one.mark for one in (*self.below, *self.calls))
        return self.at, self.number, *self.lines.values(), *inside, len(self.mends)


class Story:
    """What happened, in order. Old records without ids are told as well, only less is put below builds."""

    def __init__(self, events: Iterable[LoggedEvent]) -> None:
        self.entries: list[Happening] = []
        self._calls: dict[str, Happening] = {}
        self._builds: dict[str, Happening] = {}
        for event in events:
            self._take(event)

    def builds(self) -> list[Happening]:
        """The builds, in order."""
        return [entry for entry in self.entries if entry.kind == "build"]

    def calls(self, tool: str) -> list[Happening]:
        """The calls of a tool, in order, but those that were answered from the record."""
        calls = [entry for entry in self.entries if entry.kind == "call" and entry.row.get("tool") == tool]
        return [one for one in calls if not part(one.rows, "tool_call_ended").get("reused")]

    def anchors(self) -> dict[str, str]:
        """Where the page has each call, by its id."""
        return {call_id: call.anchor for call_id, call in self._calls.items()}

    def _take(self, event: LoggedEvent) -> None:
        kind = event.kind
        if kind in _PASSED_OVER or (kind == "thought" and not self._says(event)):
            return
        if kind == "tool_call_started":
            self._calls[event.text("call_id")] = self._add(event, "call")
        elif kind in ("tool_call_ended", "judged"):
            self._join(self._calls.get(event.text("call_id")), event, "call")
        elif kind == "tool_build_started":
            self._builds[_build(event)] = self._add(event, "build")
        elif kind in _OF_TOOLS:
            self._join(self._builds.get(_build(event)), event, "build")
        elif kind == "tool_rejected" or event.text("parent") in self._builds:
            above = self._builds.get(_build(event) if kind == "tool_rejected" else event.text("parent"))
            self._add(event, kind, above)
        else:
            self._add(event, kind or "broken")

    def _add(self, event: LoggedEvent, kind: str, above: Happening | None = None) -> Happening:
        entry = Happening(kind, event.number, event.at, event.row)
        (self.entries if above is None else above.below).append(entry)
        return entry

    def _join(self, entry: Happening | None, event: LoggedEvent, kind: str) -> None:
        """Put the event to what it belongs to; its begin may be on the page before."""
        found = entry or self._add(event, kind)
        found.rows[event.kind], found.lines[event.kind] = event.row, event.number

    @staticmethod
    def _says(event: LoggedEvent) -> bool:
        return event.text("stage") == "replied" and bool(event.text("thought").strip())


def _build(event: LoggedEvent) -> str:
    return event.text("build_id") or event.text("tool")


def add_mends(story: Story, task: TaskDir) -> None:
    """Give each build what its attempts changed: as the model wrote them, and the new version against the old one."""
    asked = {
        str(below.row.get("call_id"))
        for build in story.builds()
        if any(below.kind == "tool_rejected" for below in build.below)
        for below in build.below
        if below.kind == "model_call_ended"
    }
    replies = replies_of(task, asked) if asked else {}
    for build in story.builds():
        _add_attempts(build, replies)
        better = part(build.rows, "tool_enhanced")
        build.calls = [one for one in story.calls(str(better.get("tool"))) if better and one.number < build.number]
        old = source_of(task, str(better.get("tool")), str(better.get("previous")))
        new = source_of(task, str(better.get("tool")), str(better.get("version")))
        if old and new:
            label = f"version {better.get('previous')} became {better.get('version')}"
            build.mends.append((label, changes(old, new)))


def _add_attempts(build: Happening, replies: dict[str, str]) -> None:
    written = [replies.get(str(one.row.get("call_id")), "") for one in build.below if one.kind == "model_call_ended"]
    codes = [code for code in written if code]
    for number, (before, after) in enumerate(pairwise(codes), 2):
        build.mends.append((f"attempt {number} against attempt {number - 1}", changes(before, after)))
