"""What Habilis itself takes of the processor and of the clock, beside the libraries that it stands on.

    python benchmarks/host_cost.py [--only client|loop|fresh] [REPEATS]

`client`: one model call over HTTP, asked as a task asks, beside `ChatOpenAI.ainvoke` with equal messages. `loop`: one
more round of the executor (graph, checkpoint, tape, events, tool call), beside a LangGraph loop over `ChatOpenAI` with
checkpoints. Both are processor time of the asking process, threads included; the server is another process. `fresh`: a
task in a new process, its tool ready, less the time in which requests were under way, beside importing what an agent of
LangChain and LangGraph needs. Ours and theirs alternate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

import bare_loop
from habilis import Team, load_settings
from habilis.core.types import ToolSpec
from habilis.demo import reply
from habilis.models.chat import Models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.rundir import JsonlSink
from habilis.testing import ScriptedServer
from measure import PYTHON, ROOT, Figure
from start import IMPORTS, environment, timed
from timed_model import Interval, next_step, union_s

CALLS = 40
FEW, MANY = 2, 22
THINKING_S = 0.5
"""Seconds that the server of `fresh` takes for a reply: the plan of a small model on a fast machine."""
QUESTION = "What is 2+3*4?"
OF_A_FILE = ("--file", str(ROOT / "examples" / "data" / "sales.csv"), "What is the average price in sales.csv?")
SPEC = ToolSpec(
    name="calculate",
    description="Computes an expression.",
    parameters={"type": "object", "properties": {"calculation": {"type": "string"}}, "required": ["calculation"]},
)
FUNCTION = {"type": "function", "function": SPEC.model_dump(include={"name", "description", "parameters"})}


class LoopServer(ScriptedServer):
    """Calls the tool that is offered in so many rounds as `rounds` says; else it is the offline model."""

    def __init__(self) -> None:
        super().__init__(self._next)
        self.rounds = FEW

    def _next(self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        return next_step(messages, tools[0]["function"]["name"], self.rounds) if tools else reply(messages, tools, form)


class SlowServer(ScriptedServer):
    """The offline model behind a delay.

    `intervals` are the seconds in which requests were under way, `client_cpu_s` what its client computed in them.
    """

    def __init__(self) -> None:
        super().__init__(self._late)
        self.intervals: list[Interval] = []
        self.client: psutil.Process | None = None
        self.client_cpu_s = 0.0

    def _late(self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        start, before = time.perf_counter(), own_cpu_s(self.client)
        self.closing.wait(THINKING_S)
        said = reply(messages, tools, form)
        self.client_cpu_s += own_cpu_s(self.client) - before
        self.intervals.append((start, time.perf_counter()))
        return said


def own_cpu_s(process: psutil.Process | None) -> float:
    """Processor seconds of `process` itself, so far; of one that has ended too, until somebody waits for it."""
    return sum(process.cpu_times()[:2]) if process else 0.0


def conversation(number: int) -> list[BaseMessage]:
    """What a task asks in the middle of its work; no two are alike."""
    messages: list[BaseMessage] = [SystemMessage("Work with the tools. " * 60), HumanMessage(f"{QUESTION} ({number})")]
    for turn in range(6):
        call: Any = {"name": "calculate", "args": {"calculation": f"{turn}+1"}, "id": f"c{turn}", "type": "tool_call"}
        messages += [
            AIMessage("I compute.", tool_calls=[call]),
            ToolMessage(f"{turn + 1} " * 40, tool_call_id=f"c{turn}"),
        ]
    return messages


def chat_openai(url: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="scripted", base_url=url, api_key="none", max_retries=0)  # type: ignore[arg-type]


async def cpu_ms(work: Callable[[], Awaitable[object]], times: int) -> float:
    """Processor milliseconds of this process for one of `times` times `work`."""
    start = time.process_time()
    for _ in range(times):
        await work()
    return 1000 * (time.process_time() - start) / times


def settings_for(url: str) -> Any:
    return load_settings(
        overrides=["limits.max_rounds=60", "tools.short_way=false", "models.probe_judges=false"],
        environ={"OPENAI_BASE_URL": url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": "none"},
    )


async def client_child(url: str, repeats: int) -> dict[str, list[float]]:
    """Processor milliseconds of a call: our client's, LangChain's."""
    settings, asked = settings_for(url), iter(range(10**9))
    with tempfile.TemporaryDirectory() as folder:
        sink = JsonlSink(Path(folder) / "events.jsonl")
        budget = Budget(settings.limits.max_tokens, settings.limits.max_time_s)
        tape = Tape(Path(folder) / "tape.jsonl")
        models = Models(settings.models, limits=settings.limits, tape=tape, emit=sink.emit, budget=budget)
        bare = chat_openai(url).bind_tools([FUNCTION])

        async def ours() -> None:
            await models.chat("basic", conversation(next(asked)), tools=[SPEC], purpose="step")

        async def theirs() -> None:
            await bare.ainvoke(conversation(next(asked)))

        found: dict[str, list[float]] = {"ours": [], "theirs": []}
        for work in (ours, theirs):
            await cpu_ms(work, 5)
        for _ in range(repeats):
            found["ours"].append(await cpu_ms(ours, CALLS))
            found["theirs"].append(await cpu_ms(theirs, CALLS))
        await models.aclose()
    return found


async def loop_child(url: str, repeats: int) -> dict[str, list[float]]:
    """Processor milliseconds of one whole task of ours, or of one bare loop; told by the server to be short or long."""
    settings, bare = settings_for(url), chat_openai(url)
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = await Team(settings, library=folder / "none").run(QUESTION, run_dir=folder / "first")
        library = folder / "library"
        shutil.copytree(folder / "first" / "tasks" / "task" / "tools", library)

        async def ours() -> None:
            run = Path(tempfile.mkdtemp(dir=folder))
            result = await Team(settings, library=library).run(QUESTION, run_dir=run)
            assert result.status == "answered", result.error

        async def theirs() -> None:
            bound = bare.bind_tools([{**FUNCTION, "function": {**FUNCTION["function"], "name": made.tools_made[0]}}])
            await bare_loop.run(bound.ainvoke, _nothing, Path(tempfile.mkdtemp(dir=folder)), "t")

        for turn in range(repeats + 1):
            for what, work in (("ours", ours), ("theirs", theirs)):
                for rounds in (FEW, MANY):
                    ask = bare.root_client.with_options(timeout=60)
                    ask.chat.completions.create(model=f"rounds={rounds}", messages=[{"role": "user", "content": "x"}])
                    took = await cpu_ms(work, 1)
                    if turn:
                        found[what].append(took)
    return found


async def _nothing(_: dict[str, Any]) -> str:
    return "1"


class ToldServer(LoopServer):
    """Told by the name of a model how many rounds the next task is to take."""

    def _next(self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None) -> AIMessage:
        told = str(self.requests[-1].body.get("model"))
        if told.startswith("rounds="):
            self.rounds = int(told.removeprefix("rounds="))
            return AIMessage("yes")
        return super()._next(messages, tools, form)


def child(kind: str, repeats: int) -> dict[str, list[float]]:
    """What a child process measured."""
    with ToldServer() as server, tempfile.TemporaryDirectory() as folder:
        command = [PYTHON, __file__, "--child", kind, "--url", server.base_url, str(repeats)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=folder, env=environment())
        found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
        return found


def client(repeats: int) -> list[Figure]:
    found = child("client", repeats)
    beside = "`ChatOpenAI.ainvoke`, same messages and tool"
    return [Figure("processor time of a model call over HTTP", "ms", found["ours"], beside, found["theirs"])]


def loop(repeats: int) -> list[Figure]:
    """The slope between short and long tasks: what one more round takes."""
    found = child("loop", repeats)
    slopes = {
        who: [(long - short) / (MANY - FEW) for short, long in zip(ms[::2], ms[1::2], strict=True)]
        for who, ms in found.items()
    }
    short = {who: ms[::2] for who, ms in found.items()}
    beside = "a LangGraph loop over `ChatOpenAI`, with checkpoints"
    return [
        Figure("processor time of one round of a task over HTTP", "ms", slopes["ours"], beside, slopes["theirs"]),
        Figure(f"… of a whole task of {FEW} rounds, imports excluded", "ms", short["ours"], beside, short["theirs"]),
    ]


@dataclass(frozen=True)
class Fresh:
    """A task in a new process: seconds on the clock and of its own processor time while no request was under way,
    seconds until the first request, and processor time of all its processes."""

    wall_s: float
    own_cpu_s: float
    first_s: float
    cpu_s: float


def fresh_task(folder: Path, library: Path) -> Fresh:
    with SlowServer() as server:
        run = tempfile.mkdtemp(dir=folder)
        words = [PYTHON, str(ROOT / "main.py"), "--quiet", "--run-dir", run, "--library", str(library), *OF_A_FILE]
        env = environment(
            OPENAI_BASE_URL=server.base_url,
            OPENAI_MODEL="scripted",
            OPENAI_API_KEY="none",
            HABILIS_MODELS__PROBE_JUDGES="false",
        )
        start = time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=folder, env=env)
        server.client = psutil.Process(process.pid)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall, own = time.perf_counter() - start, own_cpu_s(server.client)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError("the task did not come to an answer")
        return Fresh(
            wall - union_s(server.intervals),
            own - server.client_cpu_s,
            min(began for began, _ in server.intervals) - start,
            used.ru_utime + used.ru_stime,
        )


def fresh(repeats: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "library"
        fresh_task(folder, library)
        timed([PYTHON, "-c", IMPORTS])
        tasks, imports = [], []
        for _ in range(repeats):
            tasks.append(fresh_task(folder, library))
            imports.append(timed([PYTHON, "-c", IMPORTS]))
    alone = "`import langchain_openai, langgraph.graph` alone"
    walls, cpus = [wall for wall, _ in imports], [cpu for _, cpu in imports]
    what = "a task in a new process, tool ready, less what is done while a request is under way"
    return [
        Figure(f"{what}: processor time", "s", [task.own_cpu_s for task in tasks], alone, cpus),
        Figure("… wall", "s", [task.wall_s for task in tasks], alone, walls),
        Figure("… until the first request arrives, wall", "s", [task.first_s for task in tasks], alone, walls),
        Figure("… processor time of all its processes, requests included", "s", [t.cpu_s for t in tasks], alone, cpus),
    ]


ROWS = {"client": client, "loop": loop, "fresh": fresh}


def figures(repeats: int, only: str = "") -> list[Figure]:
    return [figure for name, row in ROWS.items() if only in ("", name) for figure in row(repeats)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repeats", nargs="?", type=int, default=5)
    parser.add_argument("--only", choices=ROWS, default="")
    parser.add_argument("--child", choices=("client", "loop"), help=argparse.SUPPRESS)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        measured = (client_child if given.child == "client" else loop_child)(given.url, given.repeats)
        print(json.dumps(asyncio.run(measured)))
        return
    from measure import machine, table

    print(f"{machine()}\n\n{table(figures(given.repeats, given.only))}")


if __name__ == "__main__":
    sys.exit(main())
