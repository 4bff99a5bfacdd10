"""All figures as one Markdown table: `make bench`, or `python benchmarks/run.py [REPEATS]`. About ten minutes."""

from __future__ import annotations

import sys

import calls
import conversation
import curator
import evolution
import first_call
import host
import knowledge
import library
import retrieval
import start
import tasks
from measure import machine, table


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rooms = (tasks, start, host, first_call, retrieval, knowledge, curator, calls, conversation)
    found = [figure for room in rooms for figure in room.figures(repeats)]
    found += library.figures(1)
    found += evolution.figures(max(1, repeats // 5))
    print(f"Medians of {repeats} repeats, their range in brackets; {machine()}.\n")
    print(table(found))


if __name__ == "__main__":
    main()
