"""Whose a run is: made here, as its marks say, or taken over by a person who trusts it.

The mark covers `run.yaml` (settings, data set, library) and what each task asks (`task.json`: question, files,
library), in a training run also the rows. It does not cover what a task came to (tape, checkpoints, tools, events):
that is read as data, and its tools run in the sandbox alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from habilis.core.errors import UserError
from habilis.rundir import marks
from habilis.rundir.files import atomic_write, read_json, write_json
from habilis.rundir.parts import as_yaml, check_parts

if TYPE_CHECKING:
    from habilis.rundir.layout import RunDir, TaskDir


def is_ours(run: RunDir, tasks: Iterable[TaskDir] | None) -> bool:
    """Whether this user made `run` and what its `tasks` (None: all) ask, and nobody changed them since."""
    mark = run.mark()
    return mark is not None and all(task.is_ours(mark) for task in (run.tasks() if tasks is None else tasks))


def accept(run: RunDir, trust: bool, tasks: Iterable[TaskDir] | None) -> None:
    """Let `run` go on if it is ours, or if a person trusts it: then it is marked. Raises `UserError`."""
    if trust and (run.training is not None or not is_ours(run, None)):
        check_parts(run.path)
        _take_over(run)
    elif not trust and not is_ours(run, tasks):
        raise UserError(_refusal(run, tasks))


def _take_over(run: RunDir) -> None:
    mark = marks.new()
    record = run.read_run()
    training = record.get("training")
    if isinstance(training, dict):
        record["training"] = training | {"rows": marks.digest_of_file(run.path / "rows.jsonl")}
    tasks = [(task, task.load_task()) for task in run.tasks()]
    atomic_write(run.path / "run.yaml", marks.marked(as_yaml(record), mark))
    for task, stored in tasks:
        if stored is not None:
            task.save_task(*stored)


def _refusal(run: RunDir, tasks: Iterable[TaskDir] | None) -> str:
    """Why the run cannot go on, what it would set, and what to do."""
    chosen = run.read_run().get("chosen_settings")
    named = chosen if isinstance(chosen, dict) else {}
    names = [str(name) for name in named if re.fullmatch(r"[a-z_.]{1,60}", str(name))]
    would = f", and it would set {', '.join(names[:5])}{' …' if len(names) > 5 else ''}" if names else ""
    none = f" (your mark cannot be told: {why})" if (why := marks.why_none()) else ""
    return (
        f"{run.path} was not made by you, or was changed since ({_unmarked(run, tasks)}){none}{would}; look at it with "
        "'habilis runs show', "
        "then use --trust to continue it as your own"
    )


def _unmarked(run: RunDir, tasks: Iterable[TaskDir] | None) -> str:
    """The first file that bears no mark of ours: of the run, and of its `tasks` (None: all)."""
    mark = run.mark()
    if mark is None:
        return "run.yaml"
    looked = run.tasks() if tasks is None else tasks
    return next((f"tasks/{task.id}/task.json" for task in looked if not task.is_ours(mark)), "run.yaml")


def save_marked(run: RunDir, path: Path, record: dict[str, Any], *, durable: bool = True) -> None:
    """Write a record of one of the tasks of `run`, marked as made here where the run is."""
    if (mark := run.mark()) is not None:
        record = record | {marks.FIELD: marks.mark_of(_what(path, mark), marks.record_bytes(record))}
    write_json(path, record, durable=durable)


def is_marked(path: Path, mark: str) -> bool:
    """Whether `save_marked` wrote `path`, for the run marked `mark`. What is not there holds nothing to go on with."""
    try:
        record = read_json(path)
    except UserError:
        return False
    return record is None or marks.fits(_what(path, mark), marks.record_bytes(record), record.get(marks.FIELD))


def _what(path: Path, mark: str) -> str:
    return f"{path.name} {path.parent.name} {mark}"
