"""Single tasks evolve the library: what one question proved, the next one of its kind finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from habilis.library import Library

from .. import nursery

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path, sandbox_level: str) -> Path:
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,20\neast,30\n", encoding="utf-8")
    return tmp_path


def start(home: Path, *words: str) -> subprocess.Popen[str]:
    """The program with the offline model."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    command = [sys.executable, str(ROOT / "main.py"), *words, "--json"]
    return nursery.Program(command, cwd=home, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ask(home: Path, *words: str) -> tuple[dict[str, Any], str]:
    with start(home, *words) as process:
        out, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return json.loads(out), said


@pytest.mark.slow
@pytest.mark.promise
def test_the_second_question_of_a_kind_in_other_words_needs_no_new_tool(home: Path) -> None:
    first, said = ask(home, "What is the average price in sales.csv?")
    (tool,) = first["tools_made"]
    assert f"{tool} went into the library, generation 1" in said
    assert (home / "runs" / "library").is_symlink()
    second, said = ask(home, "Give me the mean of the price column of sales.csv")
    assert (second["final_answer"], second["tools_made"], second["tools_used"]) == ("20", [], [tool])
    assert "went into the library" not in said
    records = Library(home / "runs" / "library").records(tool)
    assert len([record for record in records if record.used]) == 1, "the very same call proves nothing more"


def test_a_run_may_keep_its_tools_to_itself(home: Path) -> None:
    result, _ = ask(home, "What is 2+3*4?", "--no-absorb")
    assert result["tools_made"]
    assert not (home / "runs" / "library").exists()


@pytest.mark.slow
def test_a_library_that_takes_nothing_costs_a_line_and_not_the_answer(home: Path) -> None:
    ask(home, "What is the average price in sales.csv?")
    result, said = ask(home, "What is the gcd of 12 and 18?", "--library", "runs/generations/0001")
    assert result["final_answer"] == "6"
    assert [line for line in said.splitlines() if "the library is as it was" in line and "one generation" in line]
    assert Library(home / "runs" / "library").names() == Library(home / "runs" / "generations" / "0001").names()


@pytest.mark.slow
def test_runs_side_by_side_take_turns_and_neither_loses_a_tool(home: Path) -> None:
    questions = ["What is the average price in sales.csv?", "What is the gcd of 12 and 18?", "What is 2+3*4?"]
    running = [start(home, question, "--run-dir", f"run{n}") for n, question in enumerate(questions)]
    made = set()
    for process in running:
        out, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        made |= set(json.loads(out)["tools_made"])
    assert set(Library(home / "runs" / "library").names()) == made
    assert len(made) == 3
