"""A run as a whole: a single task, a conversation, a training run."""

from __future__ import annotations

from habilis.checking.damages import Damage, Mender, said
from habilis.checking.tasks import check_task, check_thread, check_turn
from habilis.checking.training import check_training
from habilis.core.errors import UserError
from habilis.rundir import RunDir, TaskDir, ThreadDir

MUST = ("rows.jsonl", "run.yaml")
"""Files without which no training run goes on."""


def check_run(run: RunDir, *, repair: bool = False, whole: bool = True) -> list[Damage]:
    """What is damaged in `run`, mended with `repair`. `whole` looks at everything, else at what a resume builds on.

    The caller holds the run's lock where it repairs. Raises OSError where a folder cannot be read.
    """
    mend, record = Mender(run.path, repair), run.path / "run.yaml"
    try:
        run.read_run()
    except UserError as error:
        do = "bring it back from a copy; what was answered stays where it is"
        mend.broken(record, said(error).removeprefix(f"{record} "), do)
        return mend.found
    if run.training is not None:
        return check_training(run, repair=repair, whole=whole)
    if (thread := ThreadDir.of(run)) is not None:
        check_thread(thread, mend)
    for task in run.tasks():
        check_task(task, mend)
        check_turn(task, mend)
    return mend.found


def mend_run(run: RunDir) -> list[Damage]:
    """Mend what a resume of the training run `run` builds on, before it begins; the caller holds the run.

    Raises `UserError` for what only a person can mend, where going on would lose or miscount something.
    """
    found = check_run(run, repair=True, whole=False)
    stop = next((one for one in found if one.outcome == "broken" and one.path.name in MUST), None)
    if stop is not None:
        raise UserError(str(stop))
    return found


def mend_task(task: TaskDir) -> list[Damage]:
    """Mend what a resume of `task` builds on, before it begins; the caller holds it."""
    mend = Mender(task.run.path, repair=True)
    if (thread := ThreadDir.of(task.run)) is not None:
        check_thread(thread, mend)
    check_task(task, mend, alone=task.run.training is None)
    return mend.found


def mend_thread(thread: ThreadDir) -> list[Damage]:
    """Mend what the next turn of a conversation needs besides its turns, which are read as far as they can be."""
    mend = Mender(thread.path, repair=True)
    check_thread(thread, mend)
    return mend.found
