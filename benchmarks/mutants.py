"""Mutation testing: changes one thing in the code, runs the tests of its room, and names each change that none noticed.

    make mutants ARGS="--place gate --sample 40"

A check that guards a promise and never fires looks like one that does. Here each condition of six such places is
turned round, each step left out, each limit moved by one, one change at a time, in a copy of the project; the project
itself is never touched. Annotations, texts, assertions and what stands in a format string are left alone. A change that
lets the tests run into the time limit counts as noticed. Standard error says, while it runs, which test noticed what.

The general tools were not taken: one changes files in place, another wants its own import scheme around every function,
and both come to thousands of changes of texts and type annotations here.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOUSE = Path("src/habilis")
PLACES: dict[str, tuple[str, tuple[str, ...]]] = {
    "gate": (
        "synthesis/gate.py",
        (
            "tests/synthesis/test_gate.py",
            "tests/synthesis/test_smith.py",
            "tests/synthesis/test_trial.py",
            "tests/synthesis/test_comparing.py",
            "tests/contract/test_old_names.py",
            "tests/runtime/test_grants.py",
            "tests/curation/merging/test_steps.py",
            "tests/context/test_shop.py",
        ),
    ),
    "replay": (
        "synthesis/replay.py",
        (
            "tests/synthesis/test_replay.py",
            "tests/synthesis/test_replay_verdicts.py",
            "tests/synthesis/test_smith.py",
            "tests/curation/merging/test_network_tools.py",
        ),
    ),
    "publish": (
        "curation/merging/publish.py",
        (
            "tests/curation/merging/test_account.py",
            "tests/curation/merging/test_steps.py",
            "tests/curation/merging/test_undo.py",
            "tests/curation/merging/test_confirmed.py",
            "tests/curation/merging/test_descent.py",
            "tests/curation/manual/test_changes.py",
        ),
    ),
    "tape": (
        "models/tape.py",
        (
            "tests/models/test_tape.py",
            "tests/models/test_tape_file.py",
            "tests/models/test_structured.py",
            "tests/models/test_chat.py",
        ),
    ),
    "grants": ("runtime/grants.py", ("tests/runtime/test_grants.py", "tests/agents/test_grants.py")),
    "proxy": (
        "runtime/egress/proxy.py",
        (
            "tests/runtime/egress/test_doors.py",
            "tests/runtime/egress/test_proxy.py",
            "tests/runtime/egress/test_cassette.py",
            "tests/runtime/egress/test_own_addresses.py",
        ),
    ),
}
"""By name: the file, and the tests that are asked, the quickest first."""
EQUIVALENT = {
    ("replay", "AT_ONCE = 4", "5 in place of 4"): "how many calls run at once changes no result",
    ("grants", "return False", "None in place of False"): "whether anyone answered is only asked as a condition",
    ("tape", "LONGEST_REPLY = 1 << 20", "2 in place of 1"): "with twice the room, what is promised holds as well",
    ("tape", "LONGEST_REPLY = 1 << 20", "21 in place of 20"): "the same",
    ("tape", 'self._syncer = ThreadPoolExecutor(1, "tape")', "2 in place of 1"): "a file may be synced by two at once",
    (
        "tape",
        "self._counts[place] = max(self._counts.get(place, 0), entry.n)",
        "1 in place of 0",
    ): "the number of an entry is at least 1",
}
"""By place, line and change: what no test can notice, and why. It is neither tried nor counted."""
SWAPPED: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}
PYTEST = (
    *(sys.executable, "-m", "pytest", "-x", "-m", "not slow", "-p", "no:cacheprovider"),
    *("-p", "no:xdist", "-p", "no:langsmith_plugin"),
)
"""Stops at the first failure, and loads no plugin that these tests do without: one takes longer than most tests."""
LEFT_ALONE = (ast.JoinedStr, ast.Assert, ast.arguments)
Placed = ast.expr | ast.stmt
Change = tuple[Placed, str, str]


@dataclass(frozen=True)
class Mutant:
    """One change: what it is, the line that it is on, and the whole source with it."""

    line: int
    what: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


def mutants(source: str) -> list[Mutant]:
    """Every change of `source`, in the order of its lines."""
    found = []
    for node in _nodes(ast.parse(source)):
        for place, what, text in _changes(node):
            changed = _replaced(source, place, text)
            if changed != source and _compiles(changed):
                found.append(Mutant(place.lineno, what, changed))
    return sorted(found, key=lambda mutant: (mutant.line, mutant.what))


def telling(place: str, source: str) -> list[Mutant]:
    """The changes of `source`, the file of `place`, that can be noticed."""
    lines = source.splitlines()
    return [m for m in mutants(source) if (place, lines[m.line - 1].strip(), m.what) not in EQUIVALENT]


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes whose change somebody should notice."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, LEFT_ALONE) or _only_asserts(child):
                continue
            yield child
            yield from _nodes(child)


def _only_asserts(node: ast.AST) -> bool:
    """Whether `node` is about types alone, or `zip(…, strict=True)`, which is an assertion."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _changes(node: ast.AST) -> Iterator[Change]:
    """What may be changed at `node`: where, in words, and what stands there then."""
    if isinstance(node, ast.stmt):
        yield from _of_step(node)
    for test in _conditions(node):
        yield test, f"condition turned round: {_short(test)}", f"(not ({ast.unparse(test)}))"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        other: ast.expr = ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators)
        yield node, f"border moved: {_short(node)}", f"({ast.unparse(other)})"
    elif isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.Or) else "or"
        yield node, f"{word} in place of its opposite: {_short(node)}", _joined(node, word)
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not _of_text(node):
        other = ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right)
        yield node, f"sign turned round: {_short(node)}", f"({ast.unparse(other)})"
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int):
        value = (not node.value) if isinstance(node.value, bool) else node.value + 1
        yield node, f"{value} in place of {node.value}", repr(value)


def _conditions(node: ast.AST) -> Sequence[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _of_step(node: ast.stmt) -> Iterator[Change]:
    """`node` left out, or its result."""
    if isinstance(node, ast.Return):
        if node.value is not None and ast.unparse(node.value) != "None":
            yield node, f"None in place of {_short(node.value)}", "return None"
    elif _does_something(node):
        yield node, f"left out: {_short(node)}", "pass"


def _does_something(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant | ast.Yield)
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.Raise | ast.AugAssign | ast.Delete | ast.Continue | ast.Break)


def _joined(node: ast.BoolOp, word: str) -> str:
    return "(" + f" {word} ".join(f"({ast.unparse(value)})" for value in node.values) + ")"


def _of_text(node: ast.BinOp) -> bool:
    """Whether texts or lists are put together: the other sign would be an error, noticed by any test that comes by."""
    parts = (node.left, node.right)
    made = any(isinstance(part, ast.JoinedStr | ast.List | ast.Tuple) for part in parts)
    return made or any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def _replaced(source: str, node: Placed, text: str) -> str:
    """`source` with `text` in the place of `node`. Its columns count bytes."""
    lines = source.encode("utf-8").splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
    whole = b"".join(lines)
    return (whole[:begin] + text.encode("utf-8") + whole[end:]).decode("utf-8")


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _short(node: ast.AST, width: int = 90) -> str:
    text = ast.unparse(node)
    return text if len(text) <= width else text[: width - 1] + "…"


# ---- running the tests


class Copy:
    """A copy of the project in which one file is changed at a time."""

    def __init__(self, folder: Path, file: Path) -> None:
        self.folder, self._file = folder, folder / HOUSE / file

    @classmethod
    def of_project(cls, folder: Path, file: Path) -> Copy:
        """A first copy, of what git knows."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode("utf-8").split("\0")):
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place, follow_symlinks=False)
        (ROOT / ".test_cache").mkdir(exist_ok=True)
        (folder / ".test_cache").symlink_to(ROOT / ".test_cache")
        return cls(folder, file)

    def again(self, folder: Path) -> Copy:
        """One more copy, with the bytecode that is there."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Copy(folder, self._file.relative_to(self.folder / HOUSE))

    def compiled_by(self, tests: Sequence[str], limit_s: float) -> bool:
        """Whether the tests pass as things are. Leaves bytecode behind, which saves each further run seconds; none of
        the file that changes, whose bytecode could pass for that of a change of the same size and second."""
        failed = self._run({}, tests, limit_s)
        for stale in self._file.parent.glob(f"__pycache__/{self._file.stem}.*"):
            stale.unlink()
        return failed is None

    def noticed_by(self, source: str, tests: Sequence[str], limit_s: float) -> str | None:
        """The test that fails with `source` as the file, or what else happens; None when all pass."""
        before = self._file.read_text(encoding="utf-8")
        self._file.write_text(source, encoding="utf-8")
        try:
            return self._run({"PYTHONDONTWRITEBYTECODE": "1"}, tests, limit_s)
        finally:
            self._file.write_text(before, encoding="utf-8")

    def _run(self, more: Mapping[str, str], tests: Sequence[str], limit_s: float) -> str | None:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        env |= {"PYTHONPATH": str(self.folder / "src"), **more}
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [*PYTEST, *tests], cwd=self.folder, env=env, stdout=said, stderr=said, start_new_session=True
            )
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                return "the time limit"
            finally:
                _end(process)
            said.seek(0)
            return _first_failure(said.read().decode("utf-8", "replace"), code)


def _first_failure(said: str, code: int) -> str | None:
    failed = (line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    return next(failed, f"exit code {code}").partition(" - ")[0] if code else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a run of the tests, its own session of processes and no other."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
    process.wait()


def survivors(place: str, chosen: Sequence[Mutant], jobs: int) -> list[Mutant]:
    """Those of `chosen` that no test of the place notices. Ends the program when the tests fail without any change."""
    file, tests = PLACES[place]
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        first = Copy.of_project(Path(name) / "0", Path(file))
        started = time.monotonic()
        if not first.compiled_by(tests, 1800):
            raise SystemExit(f"{place}: its tests fail without any change")
        limit_s = 30 + 4 * (time.monotonic() - started)
        copies: Queue[Copy] = Queue()
        for copy in (first, *(first.again(Path(name) / f"{number}") for number in range(1, jobs))):
            copies.put(copy)
        print(f"{place}: {len(chosen)} changes, {limit_s:.0f} s at most for each", file=sys.stderr)

        def tried(mutant: Mutant) -> str | None:
            copy = copies.get()
            try:
                found = copy.noticed_by(mutant.source, tests, limit_s)
            finally:
                copies.put(copy)
            print(f"{mutant}\n    {found or 'unnoticed'}", file=sys.stderr, flush=True)
            return found

        with ThreadPoolExecutor(jobs) as pool:
            noticed = list(pool.map(tried, chosen))
    return [mutant for mutant, found in zip(chosen, noticed, strict=True) if found is None]


def main(words: Sequence[str] | None = None) -> int:
    """Print what survived, place by place, and the score; exit code 1 below `--least` percent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", action="append", choices=PLACES, help="one place (repeatable; default: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="N changes of each place, the same each time")
    parser.add_argument("--seed", type=int, default=0, help="another sample (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at once (default: one per core)")
    parser.add_argument("--least", type=float, default=0, metavar="PERCENT", help="exit code 1 below this score")
    args = parser.parse_args(words)
    total = left = 0
    for place in args.place or PLACES:
        chosen = telling(place, (ROOT / HOUSE / PLACES[place][0]).read_text(encoding="utf-8"))
        if args.sample and args.sample < len(chosen):
            picked = random.Random(args.seed).sample(range(len(chosen)), args.sample)
            chosen = [chosen[number] for number in sorted(picked)]
        survived = survivors(place, chosen, args.jobs)
        total, left = total + len(chosen), left + len(survived)
        print(f"{place}: {len(chosen) - len(survived)} of {len(chosen)} changes noticed")
        for mutant in survived:
            print(f"  {PLACES[place][0]}, {mutant}")
    score = 100 * (total - left) / total if total else 100.0
    print(f"score: {score:.1f} % of {total} changes")
    return int(score < args.least)


if __name__ == "__main__":
    raise SystemExit(main())
