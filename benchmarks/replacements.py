"""Wrong and right replacements of public functions: how many of each the comparison of two versions lets through.

    python benchmarks/replacements.py FOLDER [--half held|tuning] [--problems N] [--real N] [--repairs] [--shown]

FOLDER has HumanEval.jsonl (github.com/openai/human-eval, data/, unpacked), mbpp.jsonl (github.com/google-research/
google-research, mbpp/), in solutions/ files of lines with `task_id` and `solution`: published solutions of either, and
in exercism/ the folders of github.com/exercism/python, exercises/practice/.
Problems are parted in halves by a hash of their names; rules are fitted to the tuning half alone.

Candidates take the place of the right version, which as an enhancement failed one call before, and of wrong versions.
These repairs are tried without a judge, and with stand-ins that know the right solution and say so always, or in 9 or
7 of 10 differences. That bounds what a judge of such a quality brings; it says nothing about any model.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from habilis.config import SandboxSettings
from habilis.contract.records import RecordedCall, equal
from habilis.contract.runnable import Runnable
from habilis.core.types import CallOutcome
from habilis.prompts import Prompts
from habilis.runtime.host import ToolHost
from habilis.synthesis.comparing import Versions, compare
from habilis.synthesis.real_calls import evidence_on
from habilis.synthesis.replay import Replayer
from replacement_child import limit
from replacement_judge import JUDGES, Judged, Solution, Unplaced
from replacement_mends import Tested, mends, raising
from replacement_problems import Called, InProcess, Problem, called, problems
from replacement_report import Role, Verdict, report, shown
from replacement_versions import Version, mutants, rewrites

MUTANTS, PUBLISHED = 8, 4
PATIENCE_S, PATIENCE_REAL_S = 30.0, 600.0
REAL = 2
"""Candidates of a problem that are tried in the sandbox too."""
HOLDS_NOTHING: Any = SimpleNamespace(content=lambda digest: None)


@dataclass(frozen=True)
class Case:
    """A candidate is to take the place of `old`, of which `records` are known, `good` ones and perhaps one that failed.

    `wrong`: it differs from the reference in a call of the tests that is not recorded.
    """

    role: Role
    old: Runnable
    records: list[RecordedCall]
    good: int
    wrong: bool


@dataclass(frozen=True)
class Trying:
    """What is tried of each problem: with how many records, of candidates `only` these (in the sandbox), repairs alone
    or all, and by which judges."""

    numbers: Sequence[int]
    only: Collection[int] | None = None
    repairs_only: bool = False
    judges: Sequence[str] = tuple(JUDGES)


@dataclass
class Bench:
    """The candidates of each problem, tried on `host`."""

    child: InProcess
    host: Any
    folder: Path
    said: Callable[[Verdict | int], None]
    trying: Trying
    skipped: Collection[int] = ()

    async def problem(self, problem: Problem) -> None:
        known = called(problem)
        if known is None:
            return
        old = self._tool(known, problem.source, "old")
        schemas = self.child.schemas(old.module)
        expected = [self.child.run(old, given) for given in known.calls]
        again = [self.child.run(old, given) for given in known.calls]
        same = all(equal(one.output, two.output) for one, two in zip(expected, again, strict=True))
        if schemas is None or not same or any(one.error is not None for one in expected):
            return
        versions = list(enumerate(self._candidates(problem)))
        only = self.trying.only
        for number, (version, sure) in () if self.trying.repairs_only else versions:
            if number in self.skipped or (only is not None and number not in only):
                continue
            self.said(number)
            new = self._tool(known, version.source, f"new_{number}")
            given = [self.child.run(new, call) for call in known.calls]
            agree = [
                one.error is None and equal(one.output, two.output) for one, two in zip(given, expected, strict=True)
            ]
            if sure and not all(agree):
                continue
            verdict = Verdict(problem.name, False, sure, version.kind, 0, number=number, source=version.source)
            for case in self._cases(known, expected, agree):
                told = replace(verdict, wrong=case.wrong, records=case.good, role=case.role)
                self.said(await self._judged(told, case.old, new, schemas, case.records))
        if only is None:
            await self._mends(known, versions, expected, schemas)

    def _cases(self, known: Called, expected: Sequence[CallOutcome], agree: Sequence[bool]) -> Iterator[Case]:
        """What a candidate that does as the reference in the calls of `agree` is tried for. As the enhancement of the
        reference it is tried where that raises in the first call of the tests that is not recorded as good."""
        for count in self.trying.numbers:
            good = [self._record(n, known, expected[n].output) for n in range(count)]
            wrong = not all(agree[count:])
            if count < len(agree) and (wrong or all(agree)):
                yield Case("replaces", self._tool(known, known.problem.source, "old"), good, count, wrong)
            wrong = not all(agree[count + 1 :])
            if count + 1 < len(agree) and agree[count] and (wrong or all(agree)) and self.trying.only is None:
                old = self._tool(known, raising(known, known.calls[count]), f"raising_{count}")
                if self.child.run(old, known.calls[count]).error is None:
                    continue  # what its types make of the arguments is something else
                failed = self._record(count, known, None).model_copy(update={"verdict": "failure"})
                yield Case("enhances", old, [*good, failed], count, wrong)

    async def _mends(
        self,
        known: Called,
        versions: Sequence[tuple[int, tuple[Version, bool]]],
        expected: Sequence[CallOutcome],
        schemas: Any,
    ) -> None:
        """Those that do not hang, in the place of each other; and the reference in the place of all."""
        whole = [*versions, (len(versions), (Version(known.problem.source, "reference"), True))]
        tested, tools = [], {}
        for number, (version, sure) in whole:
            if number in self.skipped:
                continue
            self.said(number)
            tools[number] = (version, self._tool(known, version.source, f"new_{number}"))
            tested.append(Tested(number, [self.child.run(tools[number][1], call) for call in known.calls], sure))
        for one in mends(tested, expected, self.trying.numbers):
            version, new = tools[one.new.number]
            self.said(one.new.number)
            verdict = Verdict(
                known.problem.name,
                one.wrong,
                one.new.sure,
                version.kind,
                len(one.good),
                role="repairs",
                number=one.new.number,
                source=version.source,
            )
            records, old = one.records(known.calls), tools[one.old.number][1]
            right = partial(self.child.run, tools[len(versions)][1])
            for judge in self.trying.judges:
                told = replace(verdict, judge=judge)
                self.said(await self._judged(told, old, new, schemas, records, right))

    def _candidates(self, problem: Problem) -> Iterator[tuple[Version, bool]]:
        for one in mutants(problem.source, problem.entry, MUTANTS, problem.name):
            yield one, False
        for one in rewrites(problem.source, problem.entry):
            yield one, True
        for source in problem.solutions[:PUBLISHED]:
            yield Version(source, "published"), False

    async def _judged(
        self,
        verdict: Verdict,
        old: Runnable,
        new: Runnable,
        schemas: Any,
        records: list[RecordedCall],
        right: Solution | None = None,
    ) -> Verdict:
        """`verdict` with what the replay and the comparison came to. `right` is what its judge knows."""
        tool: Any = SimpleNamespace(
            name=old.name,
            description="",
            version=old.module.stem,
            runnable=old,
            input_schema=schemas[0],
            output_schema=schemas[1],
            source=lambda: old.module.read_text("utf-8"),
        )
        replayer = self._replayer(JUDGES[verdict.judge], right)
        self.child.late.clear()
        mends = verdict.role != "replaces"
        start, before = time.process_time(), self.child.runs
        with tempfile.TemporaryDirectory() as scratch:
            good = [one for one in records if one.verdict == "success"]
            report = await replayer.replay(new, old, good, Path(scratch) / "replay")
            ended = report.failures[0] if report.failures else ""
            lacking = "" if report.replayed else "nothing could be replayed"
            if not ended:
                known = evidence_on(tool, records, new.module.read_text("utf-8"), (), None)
                trial = await compare(
                    Versions(tool, new, mends=mends), known, replayer, HOLDS_NOTHING, Path(scratch) / "trial"
                )
                ended = trial.against
                lacking = "" if mends else lacking or trial.lacking(report.agreed)
        took, runs = time.process_time() - start, self.child.runs - before
        more = {"ended": ended, "lacking": lacking, "seconds": took, "runs": runs}
        return Verdict(**{**vars(verdict), **more})

    def _replayer(self, of_ten: int | None, right: Solution | None) -> Replayer:
        prompts: Any = Prompts()
        if of_ten is not None and right is not None:
            judged = Judged(self.host, HOLDS_NOTHING, None, prompts)
            judged.solution, judged.of_ten = right, of_ten
            return judged
        return (Unplaced if self.host is self.child else Replayer)(self.host, HOLDS_NOTHING, None, prompts)

    def _tool(self, known: Called, source: str, name: str) -> Runnable:
        place = self.folder / known.problem.name.replace("/", "_")
        place.mkdir(exist_ok=True)
        module = place / f"{name}.py"
        module.write_text(known.module(source), "utf-8")
        return Runnable("tool", module)

    def _record(self, number: int, known: Called, output: Any) -> RecordedCall:
        arguments = known.calls[number]
        return RecordedCall(
            call_id=f"c{number}", tool="tool", version="old", arguments=arguments, output=output, verdict="success"
        )


def tried(problem: Problem, trying: Trying, folder: Path) -> list[Verdict]:
    """What became of the candidates of `problem`, tried in a process of its own; of `only` these, in the sandbox. One
    that hangs is left out."""
    found: list[Verdict] = []
    skipped: set[int] = set()
    while True:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_work, args=(problem, trying, folder, skipped, sender)
        )
        process.start()
        sender.close()
        at: int | None = None
        with contextlib.suppress(EOFError):
            while receiver.poll(PATIENCE_S if trying.only is None else PATIENCE_REAL_S):
                said = receiver.recv()
                if isinstance(said, Verdict):
                    found.append(said)
                elif said is None:
                    process.join()
                    return found
                else:
                    at = said
        process.kill()
        process.join()
        if at is None:
            return []
        skipped |= set(range(at + 1))


def _work(problem: Problem, trying: Trying, folder: Path, skipped: set[int], sender: Connection) -> None:
    limit()

    async def work() -> None:
        async with _host(real=trying.only is not None) as (child, host):
            await Bench(child, host, folder, sender.send, trying, skipped).problem(problem)

    asyncio.run(work())
    sender.send(None)


def in_sandbox(
    problem: Problem, said: Sequence[Verdict], numbers: Sequence[int], folder: Path
) -> Iterator[tuple[Verdict, Verdict]]:
    """What became of a few candidates of `problem` in the child process, as `said`, and what in the sandbox."""
    here = {(one.number, one.records): one for one in said if one.role == "replaces"}
    candidates = sorted({number for number, _ in here})
    only = set(random.Random(problem.name).sample(candidates, min(REAL, len(candidates))))
    for there in tried(problem, Trying(numbers, only), folder) if only else ():
        yield here[there.number, there.records], there


@contextlib.asynccontextmanager
async def _host(*, real: bool) -> AsyncIterator[tuple[InProcess, Any]]:
    child = InProcess()
    if not real:
        yield child, child
        return
    host = ToolHost(SandboxSettings())
    await host.level()
    try:
        yield child, host
    finally:
        await host.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("held", "tuning"), default="held")
    parser.add_argument("--problems", type=int, metavar="N", help="only so many, spread over the half")
    parser.add_argument("--records", type=int, nargs="*", default=[5, 1], metavar="N")
    parser.add_argument(
        "--real", type=int, default=0, metavar="N", help="try candidates of N problems in the sandbox as well"
    )
    parser.add_argument("--repairs", action="store_true", help="only repairs")
    parser.add_argument("--judge", action="append", choices=JUDGES, help="of repairs (default: each of them)")
    parser.add_argument("--shown", action="store_true", help="print each that was judged wrongly")
    parser.add_argument("--set", default="", help="only problems whose names begin so")
    options = parser.parse_args()
    wanted = [one for one in problems(options.folder) if one.tuned == (options.half == "tuning")]
    wanted = [one for one in wanted if one.name.startswith(options.set)]
    random.Random(1).shuffle(wanted)
    trying = Trying(options.records, repairs_only=options.repairs, judges=options.judge or tuple(JUDGES))
    verdicts: list[Verdict] = []
    alike: Counter[bool] = Counter()
    differ: list[Verdict] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, problem in enumerate(wanted[: options.problems]):
            said = tried(problem, trying, Path(folder))
            verdicts += said
            if number < options.real:
                for one, two in in_sandbox(problem, said, options.records, Path(folder)):
                    alike.update([one.refused == two.refused])
                    differ += [one, two] * (one.refused != two.refused)
    print(report(verdicts))
    compared = [one for one in verdicts if options.repairs or one.role == "replaces"]
    runs, took = sum(one.runs for one in compared), sum(one.seconds for one in compared)
    print(f"\n{len({one.problem for one in compared})} problems, {len(compared)} comparisons, ", end="")
    print(f"{runs / len(compared):.1f} runs and {1000 * took / len(compared):.0f} ms of processor time each")
    if options.real:
        print(f"In the sandbox {alike[True]} of {alike.total()} comparisons end as in the child process.")
        print("\n".join(f"{one.problem} {one.kind} {one.records}: {one.ended} {one.lacking}" for one in differ))
    if options.shown:
        print(shown(verdicts))


if __name__ == "__main__":
    main()
