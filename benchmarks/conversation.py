"""What a long conversation costs us before a turn begins: reading its record, choosing what the turn is told, counting.

Processor time: nothing here waits for anything but the disk's cache. All rows are measured, or those named:
`python benchmarks/conversation.py [REPEATS [ROW…]]`, of `told`, `longer`, `buffer`, `counting`, `repair`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from calls import counting as count_again
from calls import disordered, milliseconds
from habilis.agents.remembering import earlier_of
from habilis.config import load_settings
from habilis.core.types import PastCall, PastTurn, Task
from habilis.messages.history import repair_history
from habilis.models.memory import within
from habilis.models.tokens import TokenCounter
from habilis.rundir import ThreadDir
from measure import Figure

TURNS = 200
LIMIT = 4_000


def turn(number: int) -> PastTurn:
    """A turn with two rounds of tool work and some words."""
    result = json.dumps({"mean": number * 1.5, "error": None, "rows": list(range(20))})
    calls = [PastCall(id=f"t{number}_{n}", tool="mean", arguments={"column": "price"}, result=result) for n in (1, 2)]
    question = f"What is the average price of lot {number} in sales.csv, and how many rows does it rest on?"
    answer = f"The average price of lot {number} is {number * 1.5}, from 20 rows."
    return PastTurn(number=number, question=question, rounds=tuple((call,) for call in calls), answer=answer)


def recorded(root: Path, turns: int) -> ThreadDir:
    """A conversation of so many turns, on disk as they leave it."""
    thread = ThreadDir.named(root, f"talk-{turns}")
    thread.begin()
    for number in range(1, turns + 1):
        folder = thread.run.task(f"{number:04d}")
        past = turn(number)
        folder.save_task(Task(id=folder.id, question=past.question), {"library": "", "generation": 0})
        folder.save_turn({"turn": past.model_dump(mode="json"), "files": []})
    return thread


def _told(repeats: int, turns: int) -> Figure:
    settings = load_settings(overrides=[f"memory.max_tokens={LIMIT}"])
    with tempfile.TemporaryDirectory() as folder:
        thread = recorded(Path(folder), turns)

        def choose() -> None:
            earlier, _ = earlier_of(thread, "What was the average price of lot 7?", (), settings)
            if earlier is None or not earlier.recent or not any(one.number == 7 for one in earlier.near):
                raise RuntimeError("lot 7 is not remembered")

        choose()
        times = [milliseconds(choose) for _ in range(repeats)]
    return Figure(f"what a turn is told of {turns} earlier ones, read from their record", "ms", times)


def told(repeats: int) -> Figure:
    """All that a turn of a long conversation waits for before it begins."""
    return _told(repeats, TURNS)


def longer(repeats: int) -> Figure:
    """The same, five times as long a conversation."""
    return _told(repeats, 5 * TURNS)


def buffer(repeats: int) -> Figure:
    """Choosing the newest turns within the limit."""
    counter = TokenCounter("gpt-4o")
    turns = [turn(number) for number in range(1, TURNS + 1)]

    def choose() -> None:
        if not within(turns, LIMIT, lambda messages: counter.count(messages).tokens):
            raise RuntimeError("nothing is kept")

    choose()
    what = f"the newest of {TURNS} turns within {LIMIT:,} tokens"
    return Figure(what, "ms", [milliseconds(choose) for _ in range(repeats)])


def counting(repeats: int) -> Figure:
    """Counting a long history again after one more message."""
    return Figure("counting a history of 100,000 tokens after one more message", "ms", count_again(repeats))


def repair(repeats: int) -> Figure:
    """Putting a disordered history in order."""
    history = disordered(1_000)
    times = [milliseconds(lambda: repair_history(history)) for _ in range(repeats)]
    return Figure("putting a history of 1,000 messages in order", "ms", times)


ROWS: dict[str, Callable[[int], Figure]] = {
    "told": told,
    "longer": longer,
    "buffer": buffer,
    "counting": counting,
    "repair": repair,
}


def figures(repeats: int) -> list[Figure]:
    """The rows that no other room measures."""
    return [told(repeats), longer(repeats), buffer(repeats)]


if __name__ == "__main__":
    from measure import table

    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    names = sys.argv[2:] or list(ROWS)
    print(table(ROWS[name](repeats) for name in names))
