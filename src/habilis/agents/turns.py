"""One turn of a conversation as later turns see it: read from its record, in bounds.

What failed is left out: it taught the turn, and is of no use to those after it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from habilis.context.presets import ASK_USER
from habilis.contract.paths import RESULTS
from habilis.core.errors import UserError
from habilis.core.types import PastCall, PastTurn, Task, TaskFile
from habilis.rundir import TaskDir, plain_json, read_jsonl, read_plain

MAX_QUESTION, MAX_ANSWER, MAX_RESULT, MAX_ARGUMENTS = 4_000, 6_000, 4_000, 2_000
"""Characters that later turns may be shown of a question, an answer, a result, and a call's arguments."""


@dataclass(frozen=True)
class TurnRecord:
    """A turn, and the files that it brought or that its tools made."""

    turn: PastTurn
    files: tuple[TaskFile, ...]


def read_turn(task: TaskDir) -> TurnRecord | None:
    """What later turns are shown of the turn in `task`; None where its question cannot be read.

    Read from `turn.json` where the turn has ended, else made of its events: so it is after a kill.
    """
    try:
        stored = plain_json(read_plain(task.turn))
        mark = task.run.mark()
        if mark is None or not task.is_ours(mark, task.turn):  # the files that it names go to tools and models
            return _from_events(task)
        files = tuple(TaskFile.model_validate(file) for file in stored["files"])
        return TurnRecord(PastTurn.model_validate(stored["turn"]), files)
    except (OSError, ValueError, KeyError, TypeError):
        return _from_events(task)


def keep_turn(task: TaskDir) -> None:
    """Write down what later turns are shown of a turn that has ended, for now or for good.

    A disk that refuses costs nothing: it can be made again.
    """
    found = _from_events(task)
    if found is not None:
        with contextlib.suppress(OSError):
            files = [file.model_dump(mode="json") for file in found.files]
            task.save_turn({"turn": found.turn.model_dump(mode="json"), "files": files})


def _from_events(task: TaskDir) -> TurnRecord | None:
    try:
        stored = task.load_task()
    except UserError:
        return None
    if stored is None:
        return None
    rounds: dict[str, list[dict[str, Any]]] = {}
    made: dict[str, None] = {}
    answer = "(not answered: it was broken off)"
    for row in read_jsonl(task.events):
        kind = row.get("kind")
        if kind == "thought" and row.get("stage") == "observed":
            rounds[str(row.get("position"))] = [call for call in row.get("calls") or () if not call.get("error")]
        elif kind == "told":
            said = {"tool": ASK_USER, "arguments": {"question": row.get("question")}, "observation": row.get("answer")}
            rounds[str(row.get("call_id"))] = [said]
        elif kind == "tool_call_ended" and not row.get("error"):
            made |= dict.fromkeys(row.get("made") or ())
        elif kind == "task_ended":
            answer = _answer(row)
    number = int(task.id) if task.id.isdigit() else 0
    there = tuple(name for name in made if _is_own(task.workspace, name))
    turn = PastTurn(
        number=number,
        question=_cut(stored[0].question, MAX_QUESTION),
        rounds=_calls(rounds.values(), number),
        answer=answer,
        made=there,
    )
    return TurnRecord(turn, tuple(_files(task, stored[0], there)))


def _files(task: TaskDir, asked: Task, made: Sequence[str]) -> Iterator[TaskFile]:
    """The files that a turn made or brought. Results that were too long to be shown are there, and in no list."""
    workspace = task.workspace.resolve()
    for name in made:
        yield TaskFile(named=name, path=str(workspace / name))
    before = set(asked.earlier.files) if asked.earlier else set()
    yield from (file for file in asked.files if file.path not in before)
    if task.id.isdigit() and (workspace / RESULTS).is_dir() and not (workspace / RESULTS).is_symlink():
        yield TaskFile(named=results_folder(int(task.id)), path=str(workspace / RESULTS), is_dir=True, shown=False)


def _is_own(workspace: Path, name: str) -> bool:
    """Whether `name` is a plain file of the workspace: a link that a tool has left may lead anywhere."""
    path = workspace.resolve() / name
    return path.is_file() and path.resolve() == path


def _answer(row: Mapping[str, Any]) -> str:
    text = _cut(str(row.get("final_answer") or ""), MAX_ANSWER)
    if row.get("status") == "answered":
        return text or "(an empty answer)"
    why = _cut(str(row.get("error") or row.get("status")), 400)
    return f"(not answered: {why})" + (f"\nNot verified: {text}" if text else "")


def _calls(rounds: Iterable[Sequence[Mapping[str, Any]]], turn: int) -> tuple[tuple[PastCall, ...], ...]:
    """Rounds of calls that succeeded, with ids of their own: those of different turns may be the same."""
    found: list[tuple[PastCall, ...]] = []
    number = 0
    for calls in rounds:
        kept = []
        for call in calls:
            number += 1
            # What was too long was kept whole; that file has another place by now.
            result = str(call.get("observation") or "").replace(
                f" the file {RESULTS}/", f" the file {results_folder(turn)}/"
            )
            kept.append(
                PastCall(
                    id=f"t{turn}_{number}",
                    tool=str(call.get("tool") or "unnamed"),
                    arguments=_short(call.get("arguments") or {}),
                    result=_cut(result, MAX_RESULT),
                )
            )
        if kept:
            found.append(tuple(kept))
    return tuple(found)


def _short(arguments: Mapping[str, Any]) -> dict[str, Any]:
    if len(json.dumps(arguments, ensure_ascii=False, default=str)) <= MAX_ARGUMENTS:
        return dict(arguments)
    share = max(MAX_ARGUMENTS // len(arguments), 40)
    texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in arguments.items()}
    return {name[:80]: _cut(text, share) for name, text in list(texts.items())[:40]}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def results_folder(turn: int) -> str:
    """The name under which later turns find the whole results of a turn, those too long to be shown."""
    return f"turn-{turn:04d}/{RESULTS}"
