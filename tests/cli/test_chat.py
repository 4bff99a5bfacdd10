"""What a user would lose: a conversation that forgets, that one bad question ends, or that cannot be taken up again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path, sandbox_level: str) -> Path:
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,20\neast,30\n", encoding="utf-8")
    return tmp_path


def chat(home: Path, text: str, *words: str, command: str = "chat") -> subprocess.CompletedProcess[str]:
    """The program with the offline model, `text` piped into it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return subprocess.run(
        [sys.executable, "-m", "habilis", command, *words],
        cwd=home,
        env={**env, "PYTHONPATH": str(ROOT / "src"), "HABILIS_CACHE_DIR": str(home / "cache")},
        input=text,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def results(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_whole_story(home: Path) -> None:
    """Numbers, a file, follow-ups on both; then the same conversation again, from another process."""
    story = "What is 2+3*4?\nand times two?\n\nWhat is the average price in sales.csv?\nAnd the maximum?\n"
    done = chat(home, story, "--thread", "story")
    assert (done.returncode, done.stdout) == (0, "14\n28\n20\n30\n"), done.stderr
    assert "went into the library" in done.stderr
    again = chat(home, "and the minimum?\nminus 1\nWhat is 5*5?\n", "--thread", "story", "--json", "--quiet")
    rows = results(again)
    assert [row["final_answer"] for row in rows] == ["10", "9", "25"], again.stderr
    assert [row["task_id"] for row in rows] == ["0005", "0006", "0007"]
    assert rows[2]["tools_made"] == [], "the library has that tool by now"
    listed = json.loads(chat(home, "", "list", "--json", command="threads").stdout)
    assert [(row["name"], row["turns"], row["last"]) for row in listed] == [("story", 7, "What is 5*5?")]
    shown = chat(home, "", "show", "story", command="threads").stdout
    assert "2. and times two?" in shown
    assert "\n   28\n" in shown
    assert json.loads(chat(home, "", "list", "--json", command="runs").stdout) == []
    asked = chat(home, "", "--thread", "story", "--quiet", "plus 5", command="run")
    assert (asked.returncode, asked.stdout) == (0, "30\n"), asked.stderr


def test_a_question_without_an_answer_ends_nothing(home: Path) -> None:
    done = chat(home, "What is the meaning of life?\nWhat is 6*7?\n", "--quiet")
    assert done.stdout == "42\n"
    assert done.returncode == 1, "a script can tell that one was not answered"
    assert "could not be answered" in done.stderr


def test_tools_of_a_conversation_that_keeps_them_serve_it(home: Path) -> None:
    done = chat(home, "What is 2+3?\nplus 4\n", "--no-absorb", "--json", "--quiet")
    first, second = results(done)
    assert (first["final_answer"], second["final_answer"]) == ("5", "9")
    assert first["tools_made"]
    assert (second["tools_made"], second["tools_used"]) == ([], first["tools_made"])
    assert not (home / "runs" / "library").exists()


def test_what_is_typed_behind_a_slash(home: Path) -> None:
    text = (
        "/help\n/file sales.csv\n/files\nHow many rows are in the file?\n/files\n/tools\n/nonsense\n/file nowhere.csv\n"
    )
    done = chat(home, text + "/new other\n/files\n/quit\nWhat is 1+1?\n", "--thread", "one")
    assert (done.returncode, done.stdout) == (2, "3\n"), "a file that is not there is told by the exit code"
    told = done.stderr
    assert "/continue" in told
    assert "goes with the next question" in told
    assert f"sales.csv  ({home / 'sales.csv'})" in told
    assert "there is no /nonsense" in told
    assert "nowhere.csv: no such file" in told
    assert "no files yet" in told, "another conversation has files of its own"


def test_bad_names_and_wrong_company_are_usage_errors(home: Path) -> None:
    for words in (["--thread", "../x"], ["--thread", ""]):
        done = chat(home, "Hi\n", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot name a thread" in done.stderr
    done = chat(home, "", "--thread", "a", "--run-dir", "b", "Hi", command="run")
    assert done.returncode == 2
    assert "--run-dir" in done.stderr
    done = chat(home, "", "--thread", "a", "--resume", command="run")
    assert done.returncode == 2
    assert "there is no thread a" in done.stderr
    assert not (home / "runs").exists()


def test_a_conversation_is_removed_when_it_is_said_twice(home: Path) -> None:
    chat(home, "What is 1+1?\n", "--thread", "gone", "--quiet")
    refused = chat(home, "", "remove", "gone", command="threads")
    assert (refused.returncode, (home / "runs" / "threads" / "gone").exists()) == (2, True)
    assert chat(home, "", "remove", "gone", "--yes", command="threads").returncode == 0
    assert not (home / "runs" / "threads" / "gone").exists()
    assert chat(home, "", "show", "gone", command="threads").returncode == 2


def test_input_that_is_no_text_is_one_clear_line(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "habilis", "chat"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        input=b"\xff\xfe\n",
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert b"not UTF-8" in done.stderr
