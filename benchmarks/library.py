"""A library of 10,000 tools in a person's hands: what each command costs, and how long a plan's prompt grows.

Every command runs in a process of its own, as typed, on one generation after the other of the same library, which is
built once. Those that run tools (`check`, `test`) are given one. Seconds are of the processor, of the command and its
children; those on the clock stand beside them.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from curator import described, large_library, schemas, source
from habilis.core.types import ToolCard
from habilis.library import Library
from habilis.library.catalogue import Catalogue
from habilis.models.tokens import TokenCounter
from habilis.prompts import Prompts
from measure import Figure, machine, table

QUESTION = "How many rows of the price table in data.csv are of the month with the largest net sum?"
CANDIDATES = 20
ONE, OTHER = described(7)[0], described(8)[0]
COMMANDS: dict[str, tuple[str, ...]] = {
    "list, all of them": ("list",),
    "list --json, the most called first": ("list", "--json", "--sort", "calls"),
    "list --names (completion)": ("list", "--names"),
    "show": ("show", ONE),
    "search --why": ("search", "sum the prices of a table by month", "--why"),
    "stats": ("stats",),
    "doctor": ("doctor",),
    "check of one": ("check", ONE),
    "test of one": ("test", ONE),
    "check of all, looked at only": ("check", "--no-load"),
    "dedupe of one, 5 pairs tried": ("dedupe", ONE, "--limit", "5"),
    "dedupe of all, 5 pairs tried": ("dedupe", "--limit", "5"),
    "verify": ("verify",),
    "import --dry-run of one": ("import", "theirs.py", "--dry-run"),
    "import of one": ("import", "theirs.py"),
    "export of three": ("export", "--to", "folder", "out", "--tools", ONE, OTHER, described(11)[0]),
    "pin": ("pin", ONE),
    "retire": ("retire", OTHER, "--reason", "no need"),
    "search among those out of use too": ("search", "sum the prices of a table", "--unused"),
    "revive": ("revive", OTHER),
    "merge that is refused": ("merge", described(9)[0], described(10)[0]),
    "promote": ("promote", "mine.py"),
    "pin --dry-run": ("pin", OTHER, "--dry-run"),
    "retire --dry-run": ("retire", OTHER, "--reason", "no need", "--dry-run"),
    "history": ("history",),
    "history of one": ("history", OTHER),
    "diff": ("diff", "1", "3"),
    "rollback --dry-run": ("rollback", "2", "--dry-run"),
    "rollback": ("rollback", "2"),
    "prune": ("prune", "--keep", "3"),
}
REFUSED = {"merge that is refused"}


def figures(repeats: int) -> list[Figure]:
    """Seconds of each command, from the key to the prompt, and tokens of a plan's prompt by the size of the library."""
    spent: dict[str, list[tuple[float, float]]] = {what: [] for what in COMMANDS}
    with tempfile.TemporaryDirectory(prefix="habilis-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        began = time.perf_counter(), time.process_time()
        (folder / "library").mkdir()
        large_library(folder / "library", schemas(folder))
        built = time.perf_counter() - began[0], time.process_time() - began[1]
        cards = Library(folder / "library").cards()
        for number in range(repeats):
            (folder / "mine.py").write_text(source("mine", "My own sum.", ("left", "right"), -1 - number))
            (folder / "theirs.py").write_text(source("theirs", "Their sum.", ("left", "right"), -1000 - number))
            shutil.rmtree(folder / "out", ignore_errors=True)
            for what, words in COMMANDS.items():
                spent[what].append(_timed(folder, words, refused=what in REFUSED))
        if not Catalogue.of((folder / "library").resolve()).tools:
            raise RuntimeError("the library is empty")
    spent = {"built, published": [built], **spent}
    found = [
        Figure(
            f"library of {len(cards):,} tools: {what}, on the processor",
            "s",
            [computed for _, computed in times],
            "on the clock",
            [waited for waited, _ in times],
        )
        for what, times in spent.items()
    ]
    return [*found, *prompts(cards)]


def prompts(cards: list[ToolCard]) -> list[Figure]:
    """Tokens of a plan's prompt with 20, 1,000 and all tools to choose from, drawn by lot."""
    lot = random.Random(11)
    lots = [lot.sample(cards, count) for count in (20, 1000)]
    return [
        Figure(f"plan's prompt with {len(some):,} tools in the library", "tokens", [plan_tokens(some)])
        for some in (*lots, cards)
    ]


def plan_tokens(cards: list[ToolCard]) -> int:
    """Tokens of the prompt that asks for a plan, with the candidates that the retriever gives."""
    from habilis.library.retrieval import BM25Retriever

    shown = BM25Retriever(cards).search(QUESTION, CANDIDATES)
    if len(cards) <= CANDIDATES:  # as `Workshop.candidates` does: a library that fits is shown whole
        shown += [card for card in cards if card not in shown]
    prompt = Prompts().render(
        "plan",
        conversation=[],
        question=QUESTION,
        files=[],
        missing=(),
        candidates=shown,
        tried=[],
        failure_report="",
        build_failures="",
        capabilities="",
        frozen=False,
    )
    counter = TokenCounter("gpt-4o")
    return counter.text(prompt.system).tokens + counter.text(prompt.user).tokens


def _timed(folder: Path, words: tuple[str, ...], *, refused: bool) -> tuple[float, float]:
    """Seconds on the clock and of the processor."""
    command = [sys.executable, "-m", "habilis", "library", *words, "--library", str(folder / "library")]
    began, before = time.perf_counter(), _children()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=dict(os.environ), check=False)
    spent = time.perf_counter() - began, _children() - before
    if done.returncode != (1 if refused else 0):
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-500:]}")
    return spent


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    print(f"{machine()}\n\n{table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 1))}")
