"""A library of 10,000 tools in a person's hands: what each command costs, and how long a plan's prompt grows.

Every command runs in a process of its own, as typed, on one generation after the other of the same library. Those that
run tools (`check`, `test`) are given one.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from curator import described, large_library, schemas, source
from habilis.core.types import ToolCard
from habilis.models.tokens import TokenCounter
from habilis.prompts import Prompts
from habilis.tools.library import Library
from habilis.tools.library.catalogue import Catalogue
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
    "dedupe of one, 5 pairs tried": ("dedupe", ONE, "--limit", "5"),
    "pin": ("pin", ONE),
    "retire": ("retire", OTHER, "--reason", "no need"),
    "search among those out of use too": ("search", "sum the prices of a table", "--unused"),
    "revive": ("revive", OTHER),
    "merge that is refused": ("merge", described(9)[0], described(10)[0]),
    "promote": ("promote", "mine.py"),
    "retire --dry-run": ("retire", OTHER, "--reason", "no need", "--dry-run"),
    "history": ("history",),
    "history of one": ("history", OTHER),
    "diff": ("diff", "1", "3"),
    "rollback": ("rollback", "2"),
}
REFUSED = {"merge that is refused"}


def figures(repeats: int) -> list[Figure]:
    """Seconds of each command, from the key to the prompt, and tokens of a plan's prompt by the size of the library."""
    spent: dict[str, list[float]] = {what: [] for what in COMMANDS}
    with tempfile.TemporaryDirectory(prefix="habilis-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "library").mkdir()
        large_library(folder / "library", schemas(folder))
        cards = Library(folder / "library").cards()
        for number in range(repeats):
            (folder / "mine.py").write_text(source("mine", "My own sum.", ("left", "right"), -1 - number))
            for what, words in COMMANDS.items():
                spent[what].append(_timed(folder, words, refused=what in REFUSED))
        (folder / "mine.py").unlink()
        if not Catalogue.of((folder / "library").resolve()).tools:
            raise RuntimeError("the library is empty")
    found = [Figure(f"library of {len(cards):,} tools: {what}", "s", times) for what, times in spent.items()]
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
    from habilis.tools.retrieval import BM25Retriever

    shown = BM25Retriever(cards).search(QUESTION, CANDIDATES)
    prompt = Prompts().render(
        "plan",
        question=QUESTION,
        files=[],
        missing=(),
        candidates=shown,
        failure_report="",
        build_failures="",
        capabilities="",
        frozen=False,
    )
    counter = TokenCounter("gpt-4o")
    return counter.text(prompt.system).tokens + counter.text(prompt.user).tokens


def _timed(folder: Path, words: tuple[str, ...], *, refused: bool) -> float:
    command = [sys.executable, "-m", "habilis", "library", *words, "--library", str(folder / "library")]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=dict(os.environ), check=False)
    spent = time.perf_counter() - began
    if done.returncode != (1 if refused else 0):
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-500:]}")
    return spent


if __name__ == "__main__":
    print(f"{machine()}\n\n{table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 1))}")
