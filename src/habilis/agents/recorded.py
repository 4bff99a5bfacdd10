"""What a task knows besides its findings: its conversation, its files, the results of its recorded calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from habilis.agents.remembering import exchanges
from habilis.agents.state import unpacked
from habilis.context.results import as_text
from habilis.core.types import Task
from habilis.models.tape import Tape


def results_of(calls: Sequence[dict[str, Any]], tape: Tape) -> list[str]:
    """What each call that gave a result gave: as the model was shown it, and whole. An error founds nothing."""
    found: dict[str, None] = {}
    for raw in calls:
        call = unpacked(raw, tape)
        if call.outcome.error is None:
            found |= dict.fromkeys((call.text, as_text(call.outcome.output)))
    return [text for text in found if text]


def folders_of(task: Task) -> list[str]:
    """The folders that the task's files lie in, whose names say nothing of what is asked."""
    folders = {str(Path(file.path).parent) for file in task.files}
    return sorted(folder for folder in folders if len(folder) > 1)


def told_with(task: Task) -> list[str]:
    """What came with the question: the turns before it, and the names of its files."""
    turns = [str(text) for turn in exchanges(task) for text in turn.values()]
    return [*turns, *(name for file in task.files for name in dict.fromkeys((file.named, file.path)))]
