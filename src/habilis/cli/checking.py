"""`habilis runs check`, and the words for what is damaged wherever a command comes across it."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.core.errors import UserError
from habilis.rundir import RunDir, ThreadDir, find_run, list_runs
from habilis.terminal.wording import report_line

if TYPE_CHECKING:
    from argparse import Namespace

    from habilis.checking import Damage

_WORDS = {"mended": "mended", "mendable": "damaged", "broken": "broken"}


def check(args: Namespace) -> int:
    """Check a run, and mend it where that is asked for. 0 when it is whole, or was mended; 1 when something is left."""
    from habilis.checking import check_run

    run = _meant(runs_folder(args), args.run)
    if args.repair and run.mark() is None:
        run.accept(trust=False, tasks=())
    with _held(run) if args.repair else contextlib.nullcontext():
        found = [*_marks(run), *check_run(run, repair=args.repair), *_checkpoints(run, repair=args.repair)]
    left = [one for one in found if one.outcome != "mended"]
    if args.json:
        rows = [
            {
                "file": str(one.path),
                "line": one.line or None,
                "what": one.what,
                "cure": one.cure,
                "outcome": one.outcome,
            }
            for one in found
        ]
        print(json.dumps({"run": str(run.path), "whole": not left, "damages": rows}, ensure_ascii=False, indent=2))
        return 1 if left else 0
    for one in found:
        print(report_line(f"{_WORDS[one.outcome]:<8} {one}"))
    if any(one.outcome == "mendable" for one in found):
        print(report_line(f"'habilis runs check {run.name} --repair' mends what can be mended"))
    print(report_line(f"run {run.name} is whole" if not found else f"run {run.name}: {len(found)} damaged"))
    return 1 if left else 0


def tell_damage(run: RunDir) -> None:
    """Say on standard error what is damaged of a run that is being looked at; nothing is mended."""
    from habilis.checking import check_run

    found = check_run(run, whole=run.training is None)
    if found:
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        told = f"{_WORDS[found[0].outcome]} {found[0].path}: {found[0].what}{more}; see 'habilis runs check {run.name}'"
        print(report_line(told), file=sys.stderr)


def runs_folder(args: Namespace) -> Path:
    """The folder that `args` and the settings keep runs in."""
    from habilis.terminal.choices import load

    return Path(load(args).settings.runs_dir)


def _meant(root: Path, name: str | None) -> RunDir:
    """The run that is named, a conversation too; else the newest. Raises `UserError`."""
    if name is None:
        newest = next(iter(list_runs(root)), None)
        if newest is None:
            raise UserError(f"no runs in {root}")
        return newest
    with contextlib.suppress(UserError):
        if (thread := ThreadDir.named(root, name)).exists() and not (root / name).exists():
            return thread.run
    return find_run(root, name)


@contextlib.contextmanager
def _held(run: RunDir) -> Iterator[None]:
    """The run's locks, so that nobody writes to what is mended. Raises `UserError` while somebody works on it."""
    with contextlib.ExitStack() as locks:
        if run.training is not None:
            locks.enter_context(run.training.lock())
        if (thread := ThreadDir.of(run)) is not None:
            locks.enter_context(thread.lock())
        for task in run.tasks():
            locks.enter_context(task.lock())
        yield


def _marks(run: RunDir) -> Sequence[Damage]:
    """Records that this user did not make, or that were changed since."""
    from habilis.checking import Damage
    from habilis.rundir import marks

    if run.is_ours() or marks.why_none():
        return []
    mark = run.mark()
    changed = [task.task for task in run.tasks() if mark is not None and not task.is_ours(mark)]
    path = changed[0] if changed else run.path / "run.yaml"
    do = "bring it back from a copy; or look at it, then resume with --trust"
    return [Damage(path, "it was not made by you, or was changed since", do, "broken")]


def _checkpoints(run: RunDir, *, repair: bool) -> Sequence[Damage]:
    """Checkpoints that no task can go on from."""
    from habilis.agents.checkpoints import unusable, without_unusable
    from habilis.checking import Damage

    found = []
    for task in run.tasks():
        if why := unusable(task.checkpoints):
            cure = "set aside in damaged/; a resume begins the task again, answered from its tape"
            if repair:
                without_unusable(task.checkpoints, run.path)
            found.append(Damage(task.checkpoints, f"damaged: {why}", cure, "mended" if repair else "mendable"))
    return found
