"""The runs in a folder: listing, finding, cleaning."""

from __future__ import annotations

import contextlib
import difflib
from dataclasses import dataclass
from pathlib import Path

from habilis.core.errors import UserError
from habilis.rundir.files import remove_tree
from habilis.rundir.kept import kept_at
from habilis.rundir.layout import REMOVING, UNFINISHED, RunDir, TaskDir
from habilis.rundir.names import safe_id
from habilis.rundir.training import TrainingDir

NEVER_BEGAN_S = 3600.0
"""Age from which a run without any task is taken for one that was killed at its start, in seconds."""


def list_runs(root: Path) -> list[RunDir]:
    """The runs in `root`, newest first; none when there is no such folder. Raises `UserError` if it cannot be read."""
    try:
        found = [RunDir(p) for p in root.iterdir() if not p.name.startswith(".") and (p / "run.yaml").is_file()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot read {root}: {error.strerror}") from None
    return sorted(found, key=lambda run: (run.created, run.name), reverse=True)


def find_run(root: Path, name: str) -> RunDir:
    """The run that `name` means: a path, a name in `root`, or the start of just one. Raises `UserError` otherwise."""
    for path in (root / name, Path(name)):
        if name and (path / "run.yaml").is_file():
            return RunDir(path)
    runs = list_runs(root)
    starts = [run for run in runs if name and run.name.startswith(name)]
    if len(starts) == 1:
        return starts[0]
    if starts:
        raise UserError(f"{name} could be any of {len(starts)} runs: {', '.join(r.name for r in starts[:3])} …")
    near = difflib.get_close_matches(name, [run.name for run in runs], 1, 0.5)
    if name and ((root / name / "tasks").is_dir() or TrainingDir(root / name).exists()):
        lost = root / name / "run.yaml"
        raise UserError(f"{lost} is gone: bring it back from a copy; answers and tools still lie in {root / name}")
    hint = f"did you mean {near[0]}?" if near else "see 'habilis runs list'"
    raise UserError(f"no run named {name} in {root}; {hint}")


def begin_anew(run: RunDir, task_id: str) -> None:
    """Move the folder of a task of `run` into `earlier/`, so that it begins from nothing. Raises OSError."""
    folder, number = run.path / "tasks" / safe_id(task_id), 1
    while (kept := run.path / "earlier" / f"{folder.name}.{number}").exists():
        number += 1
    if folder.is_dir():
        kept.parent.mkdir(exist_ok=True)
        if (stored := kept_at(folder)) is not None:
            stored.move(folder, kept)
        folder.rename(kept)


def newest_unfinished(root: Path) -> TaskDir | None:
    """The task to resume when none is named: the newest in `root` that nobody runs and that can still be answered.

    That is one that was killed, interrupted or waits, and one that failed: out of budget or time, model unreachable.
    """
    for run in list_runs(root):
        for task in run.tasks() if run.training is None else ():  # a training run goes on as a whole
            if task.read_state() in (UNFINISHED | {"failed"}) - {"running"}:
                return task
    return None


@dataclass(frozen=True)
class Cleaning:
    """What to clean: runs older than `older_than_s` seconds; the oldest while all together exceed `max_bytes`;
    and, where neither is set, all but the `keep` newest. The `keep` newest stay in any case."""

    older_than_s: float | None = None
    max_bytes: int | None = None
    keep: int | None = None
    force: bool = False


def cleanable(root: Path, rule: Cleaning, now: float) -> tuple[list[tuple[RunDir, int]], list[tuple[RunDir, str]]]:
    """Runs to remove with their sizes in bytes, and runs that the rule names but that stay, with their state.

    A running run always stays, one with an unfinished task unless `rule.force`.
    """
    runs = [(run, run.size()) for run in list_runs(root)]
    total = sum(size for _, size in runs)
    alone = rule.older_than_s is None and rule.max_bytes is None
    go: list[tuple[RunDir, int]] = []
    stay: list[tuple[RunDir, str]] = []
    for run, size in reversed(runs[rule.keep or 0 :]):
        old = rule.older_than_s is not None and now - run.created > rule.older_than_s
        over = rule.max_bytes is not None and total > rule.max_bytes
        if not (old or over or alone):
            continue
        state = run.state()
        never_began = not run.tasks() and run.training is None and now - run.created > NEVER_BEGAN_S
        if state == "running" or (state in UNFINISHED and not rule.force and not never_began):
            stay.append((run, state))
            continue
        go.append((run, size))
        total -= size
    return go, stay


def finish_removals(root: Path) -> None:
    """Finish what a killed `RunDir.remove` left out of sight."""
    for path in root.glob(f"{REMOVING}*") if root.is_dir() else ():
        with contextlib.suppress(OSError):
            remove_tree(path)
