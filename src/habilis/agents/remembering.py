"""A conversation's earlier turns: read from the record, kept within the limit of memory, found again when they are old.

Nothing of a turn is remembered anywhere but in its own record. What a new turn is told of them is written down with
its question, so that a resumed or replayed turn is told the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage

from habilis.agents.turns import TurnRecord, read_turn
from habilis.core.types import Earlier, PastTurn, Task, TaskFile, ToolCard
from habilis.models.memory import Size, answer_of, conversation, messages_of, within
from habilis.rundir import TaskDir, ThreadDir

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from habilis.config import Settings
    from habilis.context.task import TaskContext

MAX_MADE = 50
"""Files made in earlier turns that a turn is given, the newest."""
NEAR = 3
"""Older turns that are looked up for a question."""


def earlier_of(
    thread: ThreadDir, question: str, given: Sequence[TaskFile], settings: Settings
) -> tuple[Earlier | None, tuple[TaskFile, ...]]:
    """What a turn that asks `question` is told of those before it, and all its files; None for the first turn.

    `given` are the files that this turn brings; those of earlier turns, and what their tools made, come along.
    """
    records = [record for folder in thread.turns() if (record := read_turn(folder)) is not None]
    turns = [record.turn for record in records]
    if not turns:
        return None, tuple(given)
    size = _size(settings)
    limit = memory_limit(settings)
    recent = tuple(turns) if _surely_fits(turns, limit) else within(turns, limit, size)
    older = turns[: len(turns) - len(recent)]
    near: tuple[PastTurn, ...] = ()
    if older:  # their place is taken from the oldest of those that would have fitted
        near = _fitting(nearest(older, question, NEAR), limit // 4, size)
        taken = sum(size(messages_of(turn)) for turn in near)
        recent = within(turns, limit - taken, size)
    files = _files(records, given, thread.path.resolve())
    brought = {file.path for file in given}
    used = (call.tool for turn in reversed(turns) for calls in turn.rounds for call in calls)
    earlier = Earlier(
        thread=str(thread.path.absolute()),
        turn=int(thread.next_id()),
        recent=recent,
        near=near,
        left_out=len(turns) - len(recent) - len(near),
        files=tuple(file.path for file in files if file.path not in brought),
        tools=tuple(dict.fromkeys(used))[:20],
    )
    return earlier, files


def exchanges(task: Task) -> list[dict[str, Any]]:
    """The questions and answers of earlier turns that prompts show, oldest first."""
    if task.earlier is None:
        return []
    turns = [*task.earlier.near, *task.earlier.recent]
    return [{"number": turn.number, "question": turn.question, "answer": answer_of(turn)} for turn in turns]


def earlier_messages(ctx: TaskContext) -> list[BaseMessage]:
    """Earlier turns as the executor's requests begin: older ones as one note, the newest as they were, tools and all.

    They stand in front of every request and in no history, so that no summary and no roll-back touches them.
    """
    earlier = ctx.task.earlier
    if earlier is None:
        return []
    found = conversation(earlier.recent)
    if not earlier.near and not earlier.left_out:
        return found
    turns = [{"number": t.number, "question": t.question, "answer": answer_of(t)} for t in earlier.near]
    note = ctx.prompts.render("earlier", turns=turns, left_out=earlier.left_out)
    return [HumanMessage(note.user), *found]


def memory_limit(settings: Settings) -> int:
    """Tokens of earlier turns that a request may hold: the setting, and no more than half of what the model takes."""
    window = settings.models.role("basic").token_limit
    limit = settings.memory.max_tokens
    return min(limit, window // 2) if window is not None else limit


def nearest(turns: Sequence[PastTurn], query: str, count: int) -> list[PastTurn]:
    """The at most `count` of `turns` that share most with `query`, in their order; none that shares nothing."""
    from habilis.library.retrieval import BM25Retriever

    by_name = {f"turn{turn.number}": turn for turn in turns}
    index = BM25Retriever(ToolCard(name=name, description=_said(turn)) for name, turn in by_name.items())
    found = [by_name[card.name] for card in index.search(query, count)]
    return sorted(found, key=lambda turn: turn.number)


def _said(turn: PastTurn) -> str:
    """All words of a turn that it can be found by."""
    work = " ".join(f"{call.tool} {call.result[:1_000]}" for calls in turn.rounds for call in calls)
    return f"{turn.question}\n{answer_of(turn)}\n{work}"


def _fitting(turns: Sequence[PastTurn], limit: int, size: Size) -> tuple[PastTurn, ...]:
    """Questions and answers of `turns`, as many as fit in `limit`, the newest first."""
    return within([turn.model_copy(update={"rounds": ()}) for turn in turns], limit, size)


def _surely_fits(turns: Sequence[PastTurn], limit: int) -> bool:
    """Whether `turns` fit without being counted, which takes tables: a token is at least one byte."""
    return sum(len(json.dumps(turn.model_dump())) for turn in turns) <= limit // 2


def _files(records: Sequence[TurnRecord], given: Sequence[TaskFile], thread: Path) -> tuple[TaskFile, ...]:
    """`given`, then the files of earlier turns, the newest first, as far as they are still there.

    All that were brought, and the newest that were made, which lie below `thread`. A name that stands for another
    file by now is kept by the newer one; the older goes by its whole path.
    """
    found = {file.path: file for file in given}
    names = {file.named for file in given}
    made = 0
    for file in (file for record in reversed(records) for file in record.files):
        path = Path(file.path)
        made += path.is_relative_to(thread)
        if file.path in found or (made > MAX_MADE and path.is_relative_to(thread)) or not path.exists():
            continue
        found[file.path] = file if file.named not in names else file.model_copy(update={"named": file.path})
        names.add(file.named)
    return tuple(found.values())


def _size(settings: Settings) -> Size:
    """Counts as the executor's model does."""
    from habilis.models.tokens import TokenCounter

    counter = TokenCounter(settings.models.role("basic").model or "")
    return lambda messages: counter.count(messages).tokens


# --- what older turns hold


def recalled(task: Task, query: str) -> str:
    """The earlier turns nearest to `query`, tool work included, as text for a model; says so where there is none."""
    if task.earlier is None:
        return "This is the first question of the conversation."
    thread = ThreadDir(Path(task.earlier.thread))
    before = [folder for folder in thread.turns() if int(folder.id) < task.earlier.turn]
    records = [record for folder in before if (record := read_turn(folder)) is not None]
    found = nearest([record.turn for record in records], query, NEAR)
    return "\n\n".join(map(_as_text, found)) or "No earlier turn shares a word with that; ask in other words."


def _as_text(turn: PastTurn) -> str:
    lines = [f"Question {turn.number}: {turn.question}"]
    for calls in turn.rounds:
        lines += [f"- {c.tool} {json.dumps(c.arguments, ensure_ascii=False)} gave: {c.result}" for c in calls]
    return "\n".join([*lines, f"Answer {turn.number}: {answer_of(turn)}"])


def earlier_tools(task: Task, folder: TaskDir) -> list[Path]:
    """Folders of tools that earlier turns made and that the library in use has not taken in, the newest first."""
    if task.earlier is None:
        return []
    here = folder.extra()
    found = []
    for turn in reversed(ThreadDir(Path(task.earlier.thread)).turns()):
        if int(turn.id) >= task.earlier.turn or not any(turn.tools.glob("*.py")):
            continue
        taken = turn.absorbed_into()
        if (
            taken is None
            or taken > int(here.get("generation", 0))
            or turn.extra().get("library") != here.get("library")
        ):
            found.append(turn.tools)
    return found
