"""What became of a library over its generations, and how two of them differ, in words for a person."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from habilis.contract.aliases import kinds
from habilis.core.errors import UserError
from habilis.core.types import Frozen
from habilis.library import Library
from habilis.library.catalogue import Catalogue
from habilis.library.generations import REPORT, Generations
from habilis.rundir.plain import plain_json, read_plain

LOOKED_BACK, SHOWN_LINES = 20, 8
"""Generations that are asked for evidence on a tool, and lines of it that are shown."""


class Event(Frozen):
    """One generation, or what it meant for one tool. `when` is the time of its publication in seconds since 1970.

    `asked` is who made it and for what; `lines` say what it changed. `tools` is how many it holds.
    """

    generation: int
    parent: int | None = None
    when: float = 0.0
    asked: str = ""
    reason: str = ""
    tools: int | None = None
    new: int = 0
    merged: int = 0
    retired: int = 0
    quarantined: int = 0
    current: bool = False
    lines: tuple[str, ...] = ()


class Difference(Frozen):
    """One tool that is not the same in two generations. `change` is `new`, `gone` or `changed`."""

    tool: str
    change: str
    text: str
    before: str = ""
    after: str = ""
    code: tuple[str, ...] = ()


def history(path: Path, limit: int | None = None) -> list[Event]:
    """The generations of the library at `path`, the newest first."""
    generations = _generations(path)
    current = generations.current()
    numbers = generations.numbers()[::-1][:limit]
    return [_event(generations, number, current) for number in numbers]


def history_of(path: Path, name: str, limit: int | None = None) -> list[Event]:
    """The generations in which something happened to the tool `name`, the newest first."""
    generations = _generations(path)
    current = generations.current()
    found = []
    for number in generations.numbers()[::-1]:
        report = _told_of(generations, number, name)
        if report is None:
            continue
        lines = tuple(_lines_of(report, name))
        if lines:
            found.append(_event(generations, number, current).model_copy(update={"lines": lines}))
        if limit is not None and len(found) >= limit:
            break
    return found


def difference(path: Path, before: int | None, after: int | None, *, code: bool = False) -> list[Difference]:
    """What is not the same in generation `after` (the one in force) as in `before` (its parent)."""
    generations = _generations(path)
    last = after if after is not None else generations.current()
    first = before if before is not None else (generations.report(last) or {}).get("parent")
    if first is None:
        raise UserError(f"generation {last} is the first one; there is nothing to compare it with")
    for number in (first, last):
        if not generations.path(number).is_dir():
            raise UserError(f"no generation {number} of {path}; 'habilis library history' lists them")
    one, other = generations.path(first), generations.path(last)
    old, new = Catalogue.of(one), Catalogue.of(other)
    gone = [name for name in old.tools if name not in new.tools]
    fates = _fates(generations, gone, first, last) if first < last else {}
    rows = []
    for name in sorted({*old.tools, *new.tools}):
        if name not in new.tools:
            version = old.tools[name].version
            rows.append(Difference(tool=name, change="gone", text=fates.get(name, "not there"), before=version))
        elif name not in old.tools:
            text = _came(Library(other), name)
            rows.append(Difference(tool=name, change="new", text=text, after=new.tools[name].version))
        elif old.tools[name] != new.tools[name] or old.tools[name].version != new.tools[name].version:
            rows.append(_changed(one, other, name, code=code))
    return [row for row in rows if row.text]


def births(path: Path, labels: Collection[str]) -> dict[str, int]:
    """In which generation each of `labels` (`name@identity`) is told of first; those that none tells of are left out.

    A library without generations tells of none.
    """
    generations = Generations(path)
    names, found = {label.rpartition("@")[0] for label in labels}, dict[str, int]()
    for number in generations.numbers():
        if len(found) == len(labels):
            break
        report = _told_of(generations, number, *names) or {}
        told = [*report.get("lineage", ()), *report.get("fates", ())]
        for label in {str(line.get("tool", "")).rpartition(":")[2] for line in told if isinstance(line, dict)}:
            if label in labels:
                found.setdefault(label, number)
    return found


def _generations(path: Path) -> Generations:
    generations = Generations(path)
    if not generations.library.is_dir():
        raise UserError(f"no library at {path}; name one with --library")
    if not generations.current():
        raise UserError(f"{path} has no generations yet: it is a plain folder, until something changes it")
    return generations


def _event(generations: Generations, number: int, current: int) -> Event:
    report = generations.report(number) or {}
    fates = [fate for fate in report.get("fates", ()) if isinstance(fate, dict)]
    endings = [fate.get("ending") for fate in fates]
    new = len(report.get("lineage", ()))
    return Event(
        generation=number,
        parent=report.get("parent"),
        when=_when(generations.path(number)),
        asked=_asked(report),
        reason=str(report.get("reason", "")),
        tools=report.get("tools"),
        new=new,
        merged=endings.count("merged"),
        retired=endings.count("retired"),
        quarantined=endings.count("quarantined"),
        current=number == current,
        lines=tuple(str(note) for note in report.get("notes", ())),
    )


def _when(folder: Path) -> float:
    for path in (folder / REPORT, folder):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return 0.0


def _asked(report: dict[str, Any]) -> str:
    if report.get("by") == "hand":
        return f"by hand: {report.get('asked', '')}"
    if "forked_from" in report:
        return f"copied from {report['forked_from']}"
    if "step" in report:
        return f"step {report['step']} of a run"
    if isinstance(sources := report.get("import"), list):
        return f"imported from {', '.join(map(str, sources))}"
    return "unknown"


def _told_of(generations: Generations, number: int, *names: str) -> dict[str, Any] | None:
    """The report of a generation if it may tell of one of `names`; most do not, and are not read as JSON."""
    try:
        raw = read_plain(generations.path(number) / REPORT)
    except OSError:
        return None
    return generations.report(number) if any(name.encode() in raw for name in names) else None


def _lines_of(report: dict[str, Any], name: str) -> Iterator[str]:
    imported = {str(line.get("source")) for line in report.get("lineage", ())}
    for fate in report.get("fates", ()):
        tool, into, ending = str(fate.get("tool", "")), fate.get("into"), fate.get("ending")
        called = tool.rpartition("@")[0]
        plain = called.rpartition(":")[2]
        reason = f": {fate['reason']}" if fate.get("reason") else ""
        if plain == name and ending != "kept":
            yield f"{tool} {ending}{f' into {into}' if into and ending == 'merged' else ''}{reason}"
        elif plain == name and (called != name or into != name):
            yield f"{tool} taken into use as {into}{reason}"
        elif into == name and plain != name and tool not in imported:
            yield f"does the work of {tool}{reason}" if ending == "merged" else f"{tool} goes on as {name}"
    for fate in report.get("came_back", ()):
        if name in (str(fate.get("tool", "")).rpartition("@")[0], fate.get("into")):
            yield f"{fate['tool']} came back as {fate['into']}: {fate.get('reason', '')}"
    for line in report.get("lineage", ()):
        if str(line.get("tool", "")).rpartition("@")[0] == name:
            yield _descent(line)
    if report.get("by") == "hand" and name in str(report.get("asked", "")).replace(",", " ").split():
        yield str(report["asked"])
    yield from (str(line) for line in report.get("evidence", ()) if name in re.split(r"[\s,:]+", str(line)))


def _descent(line: dict[str, Any]) -> str:
    parts = [str(line["tool"])]
    if line.get("source"):
        parts.append(f"imported from {line['source']}")
    if line.get("parents"):
        parts.append(f"from {', '.join(map(str, line['parents']))}")
    if line.get("tasks"):
        parts.append(f"proved by {', '.join(map(str, line['tasks']))}")
    if line.get("model"):
        parts.append(f"written by {line['model']}")
    if line.get("replays"):
        parts.append(f"{line['replays']} recorded calls repeated")
    if line.get("told"):
        parts.append(f"{line['told']} comparisons told something, with {line.get('distinct', 0)} distinct results")
    return ", ".join(parts)


def evidence(generation: Path, name: str) -> tuple[str, ...]:
    """What the newest of the last `LOOKED_BACK` generations that tried `name` beside others says of that.

    `generation` is the folder of the one to begin with; a plain folder of tools has nothing to say.
    """
    if not (generation / REPORT).is_file():
        return ()
    folders = sorted(one for one in generation.parent.iterdir() if one.name <= generation.name and one.is_dir())
    for folder in folders[: -LOOKED_BACK - 1 : -1]:
        lines = [line for line in _evidence_in(folder, name) if name in re.findall(r"\w+", line)]
        if lines:
            return tuple(lines[:SHOWN_LINES])
    return ()


def _evidence_in(folder: Path, name: str) -> list[str]:
    """The evidence of a generation if it may tell of `name`; most do not, and are not read as JSON."""
    try:
        raw = read_plain(folder / REPORT)
        report = plain_json(raw) if name.encode() in raw else None
    except (OSError, ValueError, RecursionError):
        return []
    lines = report.get("evidence") if isinstance(report, dict) else None
    return [str(line) for line in lines] if isinstance(lines, list) else []


def _fates(generations: Generations, gone: Sequence[str], first: int, last: int) -> dict[str, str]:
    """What the reports between two generations say of tools that are gone, the last word counting."""
    said: dict[str, str] = {}
    left = set(gone)
    for number in [n for n in generations.numbers() if first < n <= last][::-1]:
        if not left:
            break
        for fate in (generations.report(number) or {}).get("fates", ()):
            name = str(fate.get("tool", "")).rpartition("@")[0]
            if name in left and fate.get("into") != name:
                into = f" into {fate['into']}" if fate.get("into") else ""
                reason = f": {fate['reason']}" if fate.get("reason") else ""
                said[name] = f"{fate.get('ending')}{into}{reason}"
                left.discard(name)
    return said


def _came(library: Library, name: str) -> str:
    tool = library.get(name)
    if tool is None:
        return "no usable tool"
    origin = tool.origin
    parts = [origin.how, *([f"for task {origin.task}"] if origin.task else [])]
    parts += [f"by {origin.model}"] if origin.model else []
    return f"{' '.join(parts)}: {tool.description}"


def _changed(one: Path, other: Path, name: str, *, code: bool) -> Difference:
    old, new = Library(one).get(name), Library(other).get(name)
    if old is None or new is None:
        text = "is now a usable tool" if new else "is no longer a usable tool" if old else ""
        return Difference(tool=name, change="changed", text=text)
    was, now = old.manifest, new.manifest
    parts = []
    if was.digest != now.digest:
        parts.append(f"new version, {now.origin.how}" + (f" for task {now.origin.task}" if now.origin.task else ""))
    if was.description != now.description:
        parts.append(f"described as {now.description!r}")
    if was.input_schema != now.input_schema:
        parts.append(_fields("takes", was.input_schema, now.input_schema))
    if was.output_schema != now.output_schema:
        parts.append(_fields("gives", was.output_schema, now.output_schema))
    if more := sorted(now.aliases.keys() - was.aliases.keys()):
        parts.append(f"does the work of {', '.join(more)}")
    if less := sorted(was.aliases.keys() - now.aliases.keys()):
        parts.append(f"no longer does the work of {', '.join(less)}")
    if was.pinned != now.pinned:
        parts.append("pinned" if now.pinned else "no longer pinned")
    if was.answered != now.answered:
        parts.append(f"helped with {len(set(now.answered) - set(was.answered))} more questions")
    if not parts and was.counters.get("calls", 0) != now.counters.get("calls", 0):
        parts.append(f"{now.counters.get('calls', 0)} recorded calls, were {was.counters.get('calls', 0)}")
    lines: tuple[str, ...] = ()
    if code and was.digest != now.digest:
        texts = old.source().splitlines(), new.source().splitlines()
        names = (f"{name}@{was.version}", f"{name}@{now.version}")
        lines = tuple(difflib.unified_diff(*texts, *names, lineterm=""))
    text = "; ".join(part for part in parts if part)
    return Difference(tool=name, change="changed", text=text, before=was.version, after=now.version, code=lines)


def _fields(verb: str, was: dict[str, Any], now: dict[str, Any]) -> str:
    old, new = kinds(was), kinds(now)
    parts = [f"{name} too" for name in new if name not in old]
    parts += [f"no {name}" for name in old if name not in new]
    parts += [f"{name} as {new[name]}, was {old[name]}" for name in new if name in old and old[name] != new[name]]
    return f"{verb} {', '.join(parts)}" if parts else ""
