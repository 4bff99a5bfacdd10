"""What Habilis adds to the time of a task, and what a task asks of a model: calls and prompt tokens.

Overhead is wall time less the time in which a model request was under way. Imports are excluded, environments ready.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

import bare_loop
from habilis import Team, load_settings
from habilis.core.events import Event
from habilis.core.types import TaskResult
from habilis.curation.absorb import absorb_task
from measure import PYTHON, ROOT, Figure
from timed_model import Interval, LoopingModel, TimedModel, union_s

DATA = ROOT / "examples" / "data"
LATENCY_S = 0.1
FEW, MANY = 2, 10
PYDANTIC = "import pydantic; pydantic.create_model('M', x=(int, 1))()"


@dataclass(frozen=True)
class Run:
    """One measured task."""

    overhead_s: float
    result: TaskResult
    tools: Path
    prompt_tokens: int


class ToolClock:
    """A sink that notes when tool calls were under way."""

    def __init__(self) -> None:
        self.intervals: list[Interval] = []
        self._started: dict[str, float] = {}

    def emit(self, event: Event) -> None:
        if event.kind == "tool_call_started":
            self._started[event.call_id] = time.perf_counter()
        elif event.kind == "tool_call_ended" and event.call_id in self._started:
            self.intervals.append((self._started[event.call_id], time.perf_counter()))


async def task(
    folder: Path,
    question: str,
    file: str | None = None,
    *,
    library: Path | None = None,
    model: TimedModel | None = None,
    without_tools: bool = False,
    short_way: bool = False,
) -> Run:
    """One task over the timed model; `without_tools` takes the time of tool calls out of the overhead as well.
    `short_way`: a rule may plan it, as it does for a user; else a model does."""
    model, clock = model or TimedModel(latency_s=LATENCY_S), ToolClock()
    settings = load_settings(overrides=["limits.max_rounds=30", f"tools.short_way={short_way}"], environ={})
    team = Team(settings, library=library or folder / "none", clients=lambda role, own: model, sinks=[clock])
    run = Path(tempfile.mkdtemp(dir=folder))
    start = time.perf_counter()
    result = await team.run(question, files=[DATA / file] if file else [], run_dir=run)
    wall = time.perf_counter() - start
    busy = model.intervals + (clock.intervals if without_tools else [])
    if result.status != "answered":
        raise RuntimeError(f"{question}: {result.status}: {result.error}")
    return Run(wall - union_s(busy), result, run / "tasks" / "task" / "tools", model.prompt_tokens())


async def bare(
    folder: Path, calls: int, run_tool: Callable[[dict[str, Any]], Awaitable[str]], latency_s: float = LATENCY_S
) -> float:
    """Overhead of a bare LangGraph loop that asks the model `calls` times and runs its tool in between."""
    model = LoopingModel(latency_s=latency_s, tool="t", rounds=calls - 1)

    async def ask(messages: list[Any]) -> AIMessage:
        return await model.ainvoke(messages, tools=[{"type": "function"}])  # type: ignore[return-value]

    wall = await bare_loop.run(ask, run_tool, Path(tempfile.mkdtemp(dir=folder)), "t")
    return wall - union_s(model.intervals)


async def plain_process(_: dict[str, Any]) -> str:
    """A tool as a plain interpreter with Pydantic: nothing confined, nothing checked."""
    process = await asyncio.create_subprocess_exec(PYTHON, "-c", PYDANTIC)
    await process.wait()
    return "1"


async def nothing(_: dict[str, Any]) -> str:
    return "1"


async def overheads(folder: Path, repeats: int) -> list[Figure]:
    """A task with its tool ready, with a new tool, with a tool that has to be mended."""
    price, semicolon = (
        ("What is the average price in sales.csv?", "sales.csv"),
        (
            "What is the average price in sales_semicolon.csv?",
            "sales_semicolon.csv",
        ),
    )
    other_words = ("What is the mean of the price column in sales.csv?", "sales.csv")
    library = folder / "library"
    await absorb_task((await task(folder, *price)).result, library, load_settings(environ={}))
    await plain_process({})
    ready, new, mended, beside = [], [], [], []
    for _ in range(repeats):
        ready.append(await task(folder, *price, library=library))
        new.append(await task(folder, *price))
        mended.append(await task(folder, *semicolon))
        calls = ready[-1].result.usage.model_calls
        beside.append(await bare_task(folder, calls))
    made = "the same model calls in a bare LangGraph loop, the tool run by a plain interpreter"
    return [
        Figure("overhead of a task, its tool ready", "s", [r.overhead_s for r in ready], made, beside),
        Figure("… with one new tool", "s", [r.overhead_s for r in new]),
        Figure("… with a new tool that fails and is mended", "s", [r.overhead_s for r in mended]),
        *_asked("a one-tool task, tool ready, the long way", ready),
        *_asked(
            "a one-tool task, tool ready, planned by a model",
            [await task(folder, *other_words, library=library, short_way=True)],
        ),
        *_asked(
            "a one-tool task, tool ready, the same words asked before",
            [await task(folder, *price, library=library, short_way=True)],
        ),
        *_asked("a one-tool task, tool new, the long way", new),
        *_asked("a one-tool task, tool new, planned by a rule", [await task(folder, *price, short_way=True)]),
    ]


async def bare_task(folder: Path, calls: int, latency_s: float = LATENCY_S) -> float:
    """Overhead of the same model calls in a bare loop, with one tool call by a plain interpreter."""
    done = False

    async def once(arguments: dict[str, Any]) -> str:
        nonlocal done
        if done:
            return "1"
        done = True
        return await plain_process(arguments)

    return await bare(folder, calls, once, latency_s)


def _asked(what: str, runs: Sequence[Run]) -> list[Figure]:
    return [
        Figure(f"model calls of {what}", "", [r.result.usage.model_calls for r in runs]),
        Figure(f"prompt tokens of {what}", "", [r.prompt_tokens for r in runs]),
    ]


async def per_call(folder: Path, repeats: int) -> list[Figure]:
    """What one more round of the executor costs besides its model call and its tool call."""
    first = await task(folder, "What is 2+3*4?")
    library, tool = folder / "arithmetic", first.result.tools_made[0]
    shutil.copytree(first.tools, library)

    async def ours(rounds: int) -> float:
        model = LoopingModel(latency_s=LATENCY_S / 10, tool=tool, rounds=rounds)
        done = await task(folder, "What is 2+3*4?", library=library, model=model, without_tools=True)
        assert done.result.rounds == rounds
        return done.overhead_s

    ms, theirs = [], []
    for _ in range(repeats):
        ms.append(1000 * (await ours(MANY) - await ours(FEW)) / (MANY - FEW))
        theirs.append(
            1000 * (await bare(folder, MANY + 1, nothing) - await bare(folder, FEW + 1, nothing)) / (MANY - FEW)
        )
    return [Figure("overhead of one model call in the executor", "ms", ms, "in a bare LangGraph loop", theirs)]


def figures(repeats: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:

        async def both() -> list[Figure]:
            return [*await overheads(Path(folder), repeats), *await per_call(Path(folder), repeats)]

        return asyncio.run(both())


if __name__ == "__main__":
    from measure import table

    print(table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
