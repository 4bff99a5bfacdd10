"""The examples are the first code that a user reads and copies: each must run, offline, and show what it says."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from . import nursery
from .marks import PROMISE

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
SHOWS = {
    "01": [r"status: answered", r"answer: 22\.5\b", r"tools made: \w+", r"called \w+ with .*price"],
    "02": [r"answered", r"requests that the server saw: [1-9]"],
    "03": [r"built ", r"judged .*: failure", r"mended .*all passed", r"judged .*: success", r"result +answered"],
    "04": [r"killed after 2 finished", r"resumed: answered, 22\.5", r"2 before .*, 2 after it, 4 in all"],
    "05": [r"replayed: answered, 24", r"same answer: True", r"another question: .*was not recorded"],
    "06": [r"d1_1: calculate_expression .* gave .*437", r"answered: .*437", r"asked by: .*text, text"],
    "07": [r"imported as count_words", r"no_tool.py: refused", r"into mine: .*same as count_words", r"LangChain: .*2"],
    "08": [
        r"2\. And the maximum\?  39\.9\b",
        r"3\. times two  79\.8\b",
        r"4\. minus 9\.8  70\b  \(tools made: none\)",
        r"0001, 0002, 0003, 0004, 0005",
    ],
    "11": [r"answered: .*three months.*\[handbook\.md, Handbook > Leaving, line 9\]", r"canteen\.txt", r"gave_up"],
    "12": [r"api_stock \(reads\)", r"called api_stock .*: .*12", r"called in_dozens .*: 1\b", r"answered: 1 dozen"],
}
QUICK = ("03", "05", "07")
STRICTLY = """
import runpy, sys, warnings
warnings.simplefilter("error")
runpy.run_path(sys.argv.pop(), run_name="__main__")
"""


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path.stem[:2] in QUICK else PROMISE) for path in EXAMPLES],
)
def test_an_example_runs_and_shows_what_it_promises(path: Path, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    done = nursery.run([sys.executable, "-c", STRICTLY, path], cwd=tmp_path, env=env, text=True)
    assert done.returncode == 0, done.stderr
    for line in SHOWS[path.stem[:2]]:
        assert re.search(line, done.stdout), f"{line!r} not in:\n{done.stdout}"


def test_every_example_stands_in_their_list() -> None:
    text = (ROOT / "examples" / "README.md").read_text()
    assert [path.name for path in EXAMPLES if path.name not in text] == []
    assert sorted(SHOWS) == [path.stem[:2] for path in EXAMPLES]
