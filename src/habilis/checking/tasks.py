"""One task's folder: what was asked, what it came to, and the records between."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from habilis.checking.damages import Mender
from habilis.checking.libraries import check_calls, check_tools
from habilis.core.errors import UserError
from habilis.core.types import Task, TaskResult
from habilis.rundir import TaskDir, ThreadDir

ENDED = frozenset({"answered", "gave_up"})
"""Statuses of tasks that no resume goes on with."""


def check_task(task: TaskDir, mend: Mender, *, alone: bool = True) -> TaskResult | None:
    """Look at the folder of `task`; returns its result. `alone`: no row of a data set asks the same."""
    mend.odd(task.path / ".lock")
    mend.odd(task.tools / ".lock")
    _asked(task, mend, alone)
    result = _result(task, mend)
    rows = mend.log(task.events, lambda row: row["kind"])
    _tape(task, mend, rows, over=result is not None and result.status in ENDED)
    _absorbed(task, mend, rows)
    _state(task, mend, result)
    goes_on = result is None or result.status not in ENDED
    if goes_on and rows and (lost := _lost(task.checkpoints)):
        mend.mend(task.checkpoints, lost, "a resume begins the task again, answered from its tape")
    if not rows and task.tape.exists():
        mend.mend(task.events, "it is gone", "its account of the past is lost; what comes is written anew")
    generations = sorted(task.run.path.glob("generations/[0-9]*"), reverse=True)
    check_tools(task.tools, generations, mend, ours=True)
    check_calls(task.tools, generations, mend, _confirmed(rows))
    return result


def _lost(path: Path) -> str:
    """What is wrong with a file of which nothing is left."""
    if not os.path.lexists(path):
        return "it is gone"
    return "" if path.is_dir() or path.lstat().st_size else "it is empty"


def _confirmed(events: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How many calls of each tool were kept when one of its versions was made."""
    made = {
        (str(row.get("tool")), row.get("version")): int(row.get("confirmed") or 0) + int(row.get("judged") or 0)
        for row in events
        if row["kind"] in ("tool_built", "tool_enhanced")
    }
    found: Counter[str] = Counter()
    for (tool, _), count in made.items():
        found[tool] += count
    return found


def _asked(task: TaskDir, mend: Mender, alone: bool) -> None:
    if not alone:
        if not os.path.lexists(task.task) and task.tape.exists():
            mend.mend(task.task, "it is gone", "written anew from its row")
        mend.document(task.task, "written anew from its row", lambda record: Task.model_validate(record["task"]))
    elif not task.task.exists() and (task.tape.exists() or task.result.exists()):
        mend.broken(task.task, "it is gone, and with it the question", "bring it back from a copy, or ask again")
    else:
        try:
            task.load_task()
        except UserError as error:
            mend.broken(task.task, str(error), "bring it back from a copy, or ask again")


def _result(task: TaskDir, mend: Mender) -> TaskResult | None:
    again = "and made anew from the tape by the next resume"
    if not os.path.lexists(task.result) and task.state_record().get("status") not in (None, "crashed", "timed_out"):
        mend.mend(task.result, "it is gone", again.removeprefix("and "))
    record = mend.document(task.result, again, lambda found: found.get("task_id") or TaskResult.model_validate(found))
    if record is None:
        return None
    try:
        return TaskResult.model_validate(record)
    except ValueError:
        mend.aside(task.result, "it is not a task's result", again)
        return None


def _tape(task: TaskDir, mend: Mender, events: list[dict[str, Any]], *, over: bool) -> None:
    """The tape against the account of events: what is not on it any more would be paid again."""
    rows = mend.log(task.tape, lambda row: row["kind"])
    ended = [row for row in events if row["kind"] == "model_call_ended" and not row.get("replayed")]
    lost = len(ended) - sum(row["kind"] in ("reply", "refusal") for row in rows)
    if lost <= 0:
        return
    what = f"{lost} finished model call{'s are' if lost > 1 else ' is'} not on it any more"
    after = "the task has ended and needs them no more, but it cannot be replayed"
    mend.mend(task.tape, what, after if over else "a resume pays them again where it needs them")


def _absorbed(task: TaskDir, mend: Mender, events: list[dict[str, Any]]) -> None:
    """How the tools came into the library. Lost, later turns of a conversation find them with the turn itself."""
    path = task.path / "absorbed.jsonl"
    points = [row["point"] for row in mend.log(path, lambda row: row["point"])]
    told = next((row.get("generation") for row in events if row["kind"] == "task_absorbed"), None)
    if told is not None and "published" not in points:
        mend.mend(path, "its end is gone", f"generation {told} of the library holds the tools; nothing is done again")


def _state(task: TaskDir, mend: Mender, result: TaskResult | None) -> None:
    damaged = os.path.lexists(task.state)
    if mend.document(task.state, "and made anew", lambda record: record["state"]) is not None or result is None:
        return
    if not damaged:
        mend.mend(task.state, "it is gone", "restored from result.json", lambda: task.save_state_of(result))
    elif mend.repair:
        task.save_state_of(result)


def check_thread(thread: ThreadDir, mend: Mender) -> None:
    """The record of a conversation, which says nothing that its folder does not."""
    path = thread.path / "thread.json"
    damaged = os.path.lexists(path)
    if mend.document(path, "and written anew", lambda record: record["created"]) is not None:
        return
    if not damaged:
        mend.mend(path, "it is gone", "written anew", thread.write_record)
    elif mend.repair:
        thread.write_record()


def check_turn(task: TaskDir, mend: Mender) -> None:
    """What later turns read of a turn; without it they read its events."""
    if ThreadDir.of(task.run) is None or not task.result.exists():
        return
    if not os.path.lexists(task.turn):
        mend.mend(task.turn, "it is gone", "made anew from the turn's events")
    mend.document(task.turn, "and made anew from the turn's events", lambda record: record["turn"])
