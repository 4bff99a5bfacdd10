"""What a call costs beside the start of a plain interpreter with Pydantic, measured in the same round; two checkouts
side by side.

    python benchmarks/ratios.py [--rounds N] [--beside CHECKOUT]

Each figure is a quotient: at 1.00 a call takes as long as that interpreter, which is not sandboxed. So a machine that
is slow or busy today says the same. With `--beside` a process for each checkout measures a round in turn (A B, B A,
A B, …), both with the interpreter and the benchmarks of this one; the rounds of both are compared. On a busy machine
take more rounds: the range says how far to believe a median.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from habilis.contract.runnable import Runnable
from habilis.runtime.host import ToolHost
from host import PAUSE_S, SMALL, host_at_work, interpreter_ms, one
from measure import PYTHON, ROOT, machine

Quotients = dict[str, list[float]]
Place = tuple[ToolHost, Runnable, Path]
MOST_SLOWER = 1.10
"""What a median may be of the other checkout's: no test asserts it, the table says it."""
AS_WORKER = "--worker"


class Bench:
    """Hosts that wait for calls: one with a server, one without."""

    def __init__(self, warm: Place, cold: Place) -> None:
        self._warm, self._cold, self._made = warm, cold, 0

    async def loaded_ahead(self) -> float:
        """Milliseconds of a call of the same tool as before, which was loaded in the pause."""
        await asyncio.sleep(PAUSE_S)
        return await one(*self._warm, 1)

    async def first_of_its_tool(self) -> float:
        """Milliseconds of a call of a tool that the server has not seen."""
        host, _, workspace = self._warm
        self._made += 1
        module = workspace.parent / f"tool_{self._made}.py"
        module.write_text(f"{SMALL}\nNUMBER = {self._made}\n")
        await asyncio.sleep(PAUSE_S)
        return await one(host, Runnable(module.stem, module), workspace, 1)

    async def cold(self) -> float:
        """Milliseconds of a call that has an interpreter and walls made for it."""
        return await one(*self._cold, 1)


ROWS: dict[str, tuple[int, Callable[[Bench], Awaitable[float]]]] = {
    "a warm call, its tool loaded ahead": (5, Bench.loaded_ahead),
    "a warm call, the first of its tool": (5, Bench.first_of_its_tool),
    "a cold call": (5, Bench.cold),
}
"""How often in a round, and what takes the milliseconds."""


async def round_of(bench: Bench) -> Quotients:
    """One round: every row, and interpreters before and behind it."""
    await bench.loaded_ahead()  # what was done before may have had another tool loaded
    beside = [interpreter_ms()]
    taken = {}
    for name, (times, row) in ROWS.items():
        taken[name] = [await row(bench) for _ in range(times)]
        beside.append(interpreter_ms())
    plain = statistics.median(beside)
    return {name: [ms / plain for ms in all_ms] for name, all_ms in taken.items()}


async def work() -> None:
    """Measure a round for each line that is read."""
    async with AsyncExitStack() as opened:
        warm = await opened.enter_async_context(host_at_work(SMALL))
        cold = await opened.enter_async_context(host_at_work(SMALL, warm=False))
        warm[0].start(warm[2], ())
        await one(*warm, 0)
        await one(*cold, 0)
        bench = Bench(warm, cold)
        print(json.dumps("ready"), flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await round_of(bench)), flush=True)


class Checkout:
    """A process that measures the source in one folder."""

    def __init__(self, folder: Path) -> None:
        self.found: Quotients = {name: [] for name in ROWS}
        self._process = subprocess.Popen(
            [PYTHON, str(Path(__file__).resolve()), AS_WORKER],
            env={**os.environ, "PYTHONPATH": str(folder / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def measure(self) -> None:
        """One round."""
        assert self._process.stdin is not None
        print("round", file=self._process.stdin, flush=True)
        for name, quotients in self._answer().items():
            self.found[name] += quotients

    def close(self) -> None:
        self._process.communicate()

    def _answer(self) -> Quotients:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the measuring process ended; its error stands above")
        answer: Quotients = json.loads(line)
        return answer


def measured(folders: Sequence[Path], rounds: int) -> list[Quotients]:
    """The quotients of each checkout; who begins a round changes from one to the next."""
    checkouts: list[Checkout] = []
    try:
        for folder in folders:
            checkouts.append(Checkout(folder))
        for number in range(rounds):
            for checkout in checkouts[:: 1 if number % 2 else -1]:
                checkout.measure()
    finally:
        for checkout in checkouts:
            checkout.close()
    return [checkout.found for checkout in checkouts]


def table(found: Sequence[Quotients]) -> str:
    """A Markdown table: minimum, median and maximum of each quotient; with two checkouts, how the medians compare."""
    beside = len(found) > 1
    head = ["of a plain interpreter with Pydantic", "here: min", "median", "max", "n"]
    head += ["there: min", "median", "max", "here / there", ""] if beside else []
    rows = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for name in ROWS:
        cells = [name, *_spread(found[0][name]), str(len(found[0][name]))]
        if beside:
            quotient = statistics.median(found[0][name]) / statistics.median(found[1][name])
            cells += [*_spread(found[1][name]), f"{quotient:.2f}"]
            cells += ["no slower" if quotient <= 1 else "within 10 %" if quotient <= MOST_SLOWER else "SLOWER"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _spread(quotients: Sequence[float]) -> list[str]:
    return [f"{value:.3f}" for value in (min(quotients), statistics.median(quotients), max(quotients))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="how often all is measured")
    parser.add_argument("--beside", type=Path, help="another checkout, measured in alternation")
    said = parser.parse_args()
    folders = [ROOT, *([said.beside.resolve()] if said.beside else [])]
    for folder in folders:
        if not (folder / "src" / "habilis").is_dir():
            parser.error(f"{folder} is no checkout of Habilis: it holds no src/habilis")
    print(f"{said.rounds} rounds; {machine()}.\n\n{table(measured(folders, said.rounds))}")


if __name__ == "__main__":
    asyncio.run(work()) if sys.argv[1:] == [AS_WORKER] else main()
