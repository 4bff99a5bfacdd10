"""What the page of a task shows."""

from __future__ import annotations

from typing import Any

from habilis.rundir import RunDir, TaskDir
from habilis.view.flame import flame, spans_of
from habilis.view.log import LogPage, read_page
from habilis.view.records import part, record, tokens
from habilis.view.story import Story, add_mends

LIVE = ("running", "created")
MAX_TASKS = 1_000


def tasks_of(run: RunDir) -> list[tuple[TaskDir, str]]:
    """The tasks of a run with their questions."""
    return [(task, str(part(record(task.task), "task").get("question") or "")) for task in run.tasks()[:MAX_TASKS]]


def is_task(run: RunDir, name: str) -> bool:
    """Whether `run` has a task of this name, in a folder of its own."""
    path = run.path / "tasks" / name
    plain = name not in ("", ".", "..") and "/" not in name and "\0" not in name
    return plain and not any(one.is_symlink() for one in (path.parent, path)) and path.is_dir()


def task_page(task: TaskDir, first: int | None) -> dict[str, Any]:
    """The events from line `first` on; by default the first ones, of a task under way the newest ones."""
    state = task.read_state()
    live = state in LIVE
    result, asked = record(task.result), part(record(task.task), "task")
    try:
        page = read_page(task.events, first or 1, newest=first is None and live)
    except OSError:
        page = LogPage((), 1, 0)
    story = Story(page.events)
    add_mends(story, task)
    used = part(result, "usage")
    return {
        "run": task.run,
        "task": task,
        "state": state,
        "live": live and first is None,
        "question": asked.get("question") or result.get("question") or "",
        "result": result,
        "used": used,
        "tokens": tokens(used),
        "roles": [(role, part(usage), tokens(part(usage))) for role, usage in part(result, "usage_by_role").items()],
        "log": page,
        "entries": story.entries,
        "flame": flame(spans_of(page.events)),
        "begun": page.begun,
        "own": story.anchors(),
        "neighbours": {name for name in _named(page) if is_task(task.run, name)},
    }


def _named(page: LogPage) -> set[str]:
    """The other tasks that it waited for, or took a tool of."""
    return {name for event in page.events for key in ("builder", "origin_task") if (name := event.text(key))}
