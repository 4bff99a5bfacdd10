"""All pages by their paths. The server and `--static` ask the same `Site`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from habilis.core.errors import UserError
from habilis.rundir import RunDir, TaskDir
from habilis.telemetry.exposition import MEDIA_TYPE, exposition
from habilis.telemetry.recorded import Recorded
from habilis.view import library as libraries
from habilis.view.compare import compared, tasks_compared
from habilis.view.lineage import lineage
from habilis.view.log import read_event
from habilis.view.rendering import Parts, render
from habilis.view.runs import PAGE_RUNS, SORTS, Runs
from habilis.view.task import is_task, task_page, tasks_of
from habilis.view.training import step_page, training_page

Query = Mapping[str, str]
NO_QUERY: Query = MappingProxyType({})
ASSETS = {"view.css": "text/css", "view.js": "text/javascript"}
STATUSES = ("answered", "gave_up", "running", "waiting", "stopped", "failed", "finished", "timed_out", "budget")


class NoSuchPage(UserError):
    """Nothing is at this path."""


@dataclass(frozen=True)
class SitePage:
    """What is at a path. A file (`download`) is to be kept, not shown."""

    body: bytes
    media_type: str = "text/html; charset=utf-8"
    download: str = ""


@dataclass
class Site:
    """The pages of these runs, and of the library at `library`. `linked` hears of each path that a page leads to."""

    runs: Runs
    library: Path
    static: bool = False
    linked: Callable[[str], None] = field(default=lambda _: None)
    _recorded: Recorded = field(default_factory=Recorded)
    _parts: Parts = field(default_factory=Parts)

    def page(self, path: str, query: Query = NO_QUERY) -> SitePage:
        """The page at `path`, which counts from the root without a slash. Raises `NoSuchPage`, `UserError`, OSError."""
        match [unquote(part) for part in path.split("/")]:
            case [""]:
                return self._runs(path, 1, query)
            case ["page", number, ""]:
                return self._runs(path, _number(number), query)
            case ["metrics"] if not self.static:
                runs = self.runs.all()
                text = exposition(self._recorded.of(runs), len(runs))
                return SitePage(text.encode("utf-8", "replace"), MEDIA_TYPE)
            case ["assets", name] if name in ASSETS:
                return SitePage(asset(name), f"{ASSETS[name]}; charset=utf-8")
            case ["compare", ""]:
                return self._compare(path, query.get("a", ""), query.get("b", ""))
            case ["compare", one, other, ""]:
                return self._compare(path, one, other)
            case ["compare", one, other, task, same, ""]:
                pair = task_of(self.run(one), task), task_of(self.run(other), same)
                return self._page("beside.html", path, **tasks_compared(*pair))
            case ["library", *rest]:
                return self._library(path, self.library, "library/", rest, query, None)
            case ["runs", name, *rest]:
                return self._run(path, self.run(name), rest, query)
        raise NoSuchPage("there is no such page")

    def run(self, name: str) -> RunDir:
        """The run called `name`. Raises `NoSuchPage`."""
        run = self.runs.get(name)
        if run is None:
            raise NoSuchPage(f"there is no run named {name}")
        return run

    def _run(self, path: str, run: RunDir, rest: list[str], query: Query) -> SitePage:
        match rest:
            case [""] if run.training is not None:
                return self._page("training.html", path, **training_page(run))
            case [""]:
                return self._page("run.html", path, run=run, row=self.runs.row(run), tasks=tasks_of(run))
            case ["steps", number, ""]:
                return self._page("step.html", path, **step_page(run, _number(number)))
            case ["library", *more] if (found := libraries.library_of(run)) is not None:
                return self._library(path, found, f"runs/{run.name}/library/", more, query, run)
            case ["tasks", name, *more]:
                return self._task(path, task_of(run, name), more)
        raise NoSuchPage("there is no such page")

    def _task(self, path: str, task: TaskDir, rest: list[str]) -> SitePage:
        match rest:
            case [""]:
                return self._page("task.html", path, once=self._parts.of(path), **task_page(task, None))
            case ["from", number, ""]:
                shown = task_page(task, _number(number))
                return self._page("task.html", path, once=Parts().of(path), **shown)
            case ["events", file] if file.endswith(".txt"):
                return whole_event(task, _number(file.removesuffix(".txt")))
        raise NoSuchPage("there is no such page")

    def _runs(self, path: str, number: int, query: Query) -> SitePage:
        sort, down = query.get("sort", "created"), query.get("down", "1") != "0"
        said, status = query.get("q", "")[:200], query.get("status", "")
        found = self.runs.listed(said=said, status=status, sort=sort, down=down)
        begin = (number - 1) * PAGE_RUNS
        if begin >= len(found) and number > 1:
            raise NoSuchPage("the list of runs is not that long")
        rows = [self.runs.row(run) for run in found[begin : begin + PAGE_RUNS]]
        pages = -(-len(found) // PAGE_RUNS)
        told = {"said": said, "status": status, "sort": sort if sort in SORTS else "created", "down": down}
        shown = dict.fromkeys((*STATUSES, *(row.status for row in rows)))
        return self._page(
            "runs.html", path, rows=rows, total=len(found), number=number, pages=pages, statuses=list(shown), **told
        )

    def _compare(self, path: str, one: str, other: str) -> SitePage:
        if not (one and other):
            names = [run.name for run in self.runs.all()[:1000]]
            return self._page("choose.html", path, names=names, one=one, other=other)
        return self._page("compare.html", path, **compared(self.runs, self.run(one), self.run(other)))

    def _library(
        self, path: str, folder: Path, base: str, rest: list[str], query: Query, run: RunDir | None
    ) -> SitePage:
        about = {"base": base, "run": run, "folder": folder}
        match rest:
            case [""]:
                return self._tools(path, folder, 1, query, about)
            case ["page", number, ""]:
                return self._tools(path, folder, _number(number), query, about)
            case ["tools", name, ""]:
                tool = libraries.shown(libraries.opened(folder), name)
                events = _or_none(lambda: libraries.history_of(folder, tool.name, 50))
                picture = lineage(folder, tool.lineage)
                return self._page("tool.html", path, tool=tool, events=events, picture=picture, **about)
            case ["generations", ""] if query.get("a") and query.get("b"):
                return self._between(path, folder, query["a"], query["b"], about)
            case ["generations", one, other, ""]:
                return self._between(path, folder, one, other, about)
            case ["generations", ""]:
                events = _or_none(lambda: libraries.history(folder))
                return self._page("generations.html", path, events=events, **about)
            case ["generations", number, ""]:
                wanted = _number(number)
                event = next((one for one in libraries.history(folder) if one.generation == wanted), None)
                if event is None:
                    raise NoSuchPage(f"there is no generation {wanted}")
                changed = libraries.difference(folder, event.parent or None, wanted, code=True) if event.parent else []
                return self._page("generation.html", path, event=event, changed=changed, **about)
        raise NoSuchPage("there is no such page")

    def _between(self, path: str, folder: Path, one: str, other: str, about: dict[str, Any]) -> SitePage:
        changed = libraries.difference(folder, _number(one), _number(other), code=True)
        return self._page("between.html", path, one=one, other=other, changed=changed, **about)

    def _tools(self, path: str, folder: Path, number: int, query: Query, about: dict[str, Any]) -> SitePage:
        said, sort, tag = query.get("q", "").strip()[:500], query.get("sort", "name"), query.get("tag", "")[:50]
        if not folder.is_dir():
            return self._page("nolibrary.html", path, **about)
        if said:
            return self._page("found.html", path, said=said, hits=libraries.found(folder, said), **about)
        rows, total = libraries.listed(folder, sort, number, tag)
        if not rows and number > 1:
            raise NoSuchPage("the list of tools is not that long")
        pages = -(-total // libraries.PAGE_TOOLS)
        about |= {"number": number, "pages": pages, "sort": sort, "tag": tag, "tags": libraries.TAGS}
        return self._page("library.html", path, rows=rows, total=total, **about)

    def _page(self, template: str, path: str, **values: Any) -> SitePage:
        text = render(template, path, static=self.static, linked=self.linked, **values)
        return SitePage(text.encode("utf-8", "replace"))


def asset(name: str) -> bytes:
    """A style sheet or script of ours."""
    return (resources.files("habilis.view") / "assets" / name).read_bytes()


def task_of(run: RunDir, name: str) -> TaskDir:
    """The task `name` of `run`. Raises `NoSuchPage`."""
    if not is_task(run, name):
        raise NoSuchPage(f"run {run.name} has no task {name}")
    return TaskDir(run.path / "tasks" / name)


def whole_event(task: TaskDir, number: int) -> SitePage:
    """One event of the log, whole: its text if it has one, else all that it says."""
    event = read_event(task.events, number) if number else None
    if event is None:
        raise NoSuchPage(f"the log of {task.id} has no line {number}")
    said = event.row.get("text") or event.row.get("thought")
    text = said if isinstance(said, str) else json.dumps(event.row, ensure_ascii=False, indent=1)
    return SitePage(text.encode("utf-8", "backslashreplace"), "text/plain; charset=utf-8", f"event-{number}.txt")


def _number(said: str) -> int:
    """A whole number from 1 on. Raises `NoSuchPage`."""
    if not (said.isascii() and said.isdigit() and 0 < len(said) < 10 and int(said)):
        raise NoSuchPage("there is no such page")
    return int(said)


def _or_none(look: Callable[[], list[Any]]) -> list[Any]:
    """What `look` finds; nothing in a library without generations."""
    try:
        return look()
    except UserError:
        return []
