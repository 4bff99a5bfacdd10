"""Which runs a person means, by words and by how they ended. Only what tells that is read of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from habilis.core.errors import UserError
from habilis.core.types import Status
from habilis.rundir import RunDir, plain_json, read_jsonl, read_plain

STATES = ("created", "running", "stopped", "finished", "failed")


def matching(runs: Iterable[RunDir], query: str | None, statuses: str | None) -> Iterator[RunDir]:
    """Those of `runs` that hold every word of `query` in name, question or answer, in any case, with or without
    accents, and whose status is one of `statuses` (with commas between). Raises `UserError` for a status that is none.
    """
    from habilis.library.retrieval.terms import folded

    wanted = _statuses(statuses)
    words = folded(query or "").split()
    for run in runs:
        if (wanted is None or status_of(run) in wanted) and all(map(folded(_text(run)).__contains__, words)):
            yield run


def status_of(run: RunDir) -> str:
    """How the run's one task ended, where there is one and it did; else the state of the run."""
    state = run.state()
    if state not in ("finished", "failed") or run.training is not None:
        return state
    ends = {str(task.state_record().get("status") or "") for task in run.tasks()}
    return (ends.pop() if len(ends) == 1 else "") or state


def read_question(run: RunDir) -> str:
    """The question of the run's first task, "" when it cannot be read."""
    return next((said for task in run.tasks() if (said := _part(task.task, "task", "question"))), "")


def _text(run: RunDir) -> str:
    """All that is searched of a run."""
    said = [run.name]
    if (training := run.training) is not None:
        said += [f"{row.get('question')}\n{row.get('prediction')}" for row in read_jsonl(training.predictions)]
        return "\n".join(said)
    for task in run.tasks():
        said += [_part(task.task, "task", "question"), _part(task.result, "final_answer")]
    return "\n".join(said)


def _part(path: Any, *keys: str) -> str:
    """The text that stands in the JSON file `path` under `keys`, "" when it cannot be read."""
    try:
        found = plain_json(read_plain(path))
        for key in keys:
            found = found[key]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return str(found)


def _statuses(said: str | None) -> frozenset[str] | None:
    if said is None:
        return None
    known = (*get_args(Status), *STATES)
    wanted = frozenset(word.strip() for word in said.split(","))
    if unknown := sorted(wanted.difference(known)):
        raise UserError(f"--status {unknown[0]}: no run has that status; it is one of {', '.join(known)}")
    return wanted
