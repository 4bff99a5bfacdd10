"""How long a person waits before anything happens: `--help`, and from the command to the first model request."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence

from measure import PYTHON, ROOT, Figure

IMPORTS = "import langchain_openai, langgraph.graph"


def _timed(command: Sequence[str]) -> tuple[float, float]:
    """Wall and processor seconds of one run of `command`."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=_environment())
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and not k.startswith("OPENAI_")}


def figures(repeats: int) -> list[Figure]:
    """`habilis --help` beside importing the libraries that an agent needs."""
    ours, theirs = [PYTHON, "-m", "habilis", "--help"], [PYTHON, "-c", IMPORTS]
    for command in (ours, theirs):
        _timed(command)  # bytecode and file cache
    pairs = [(_timed(ours)[0], _timed(theirs)[0]) for _ in range(repeats)]
    return [
        Figure(
            "`habilis --help`, wall", "s", [a for a, _ in pairs], "the imports of an agent alone", [b for _, b in pairs]
        )
    ]


if __name__ == "__main__":
    from measure import table

    print(table(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 7)))
