"""What is paid for is kept, whoever reads the output: nobody, a full disk, a reader that left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from habilis.testing import ScriptedServer

from ..marks import PROMISE

QUESTION = "What is the average price in sales.csv?"
FULL = Path("/dev/full")
LOST = "habilis: nothing could be written to standard output "
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="Linux's full device plays the full disk")


@pytest.fixture
def home(tmp_path: Path, sandbox_level: str) -> Path:
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,20\neast,30\n", encoding="utf-8")
    rows = [{"id": str(n), "question": QUESTION, "answer": "20"} for n in range(2)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


def shell(home: Path, server: ScriptedServer, line: str) -> subprocess.CompletedProcess[bytes]:
    """A line of the shell, in which `habilis` is the command."""
    environment = {**os.environ, "OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "scripted"}
    command = f'"{sys.executable}" -m habilis'
    script = "set -o pipefail; " + line.replace("habilis ", f"{command} ")
    return subprocess.run(["bash", "-c", script], cwd=home, env=environment, capture_output=True, check=False)


def absorbed(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "runs" / "library").glob("*.py"))


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize(
    ("listening", "code", "said"),
    [
        ("| true", 0, ""),
        (">&-", 5, f"{LOST}(it is closed); it stands in runs/"),
        ("> /dev/full", 5, f"{LOST}(No space left on device); it stands in runs/"),
        ("2> /dev/full", 0, ""),
        (">&- 2>&- <&-", 5, ""),
    ],
    ids=["left", "closed", "full", "full-errors", "nothing"],
)
def test_an_answer_and_its_tools_are_kept_whoever_listens(
    home: Path, server: ScriptedServer, listening: str, code: int, said: str
) -> None:
    done = shell(home, server, f"habilis run '{QUESTION}' --json --quiet {listening}")
    assert absorbed(home) == ["calculate_average_of_column.py"]
    errors = done.stderr.decode()
    assert (done.returncode, errors.count("\n")) == (code, 1 if said else 0), errors
    assert errors.startswith(said)
    (result,) = home.glob("runs/*/tasks/*/result.json")
    assert json.loads(result.read_text())["final_answer"] == "20"
    if said:
        assert (home / errors.rpartition(" stands in ")[2].strip()).samefile(result)


@pytest.mark.slow
@pytest.mark.parametrize("listening", ["| true", ">&-", pytest.param("> /dev/full 2> /dev/full", marks=PROMISE)])
def test_a_training_is_kept_whoever_listens(home: Path, server: ScriptedServer, listening: str) -> None:
    done = shell(home, server, f"habilis evolve --dataset tasks.jsonl --run-name r --json {listening}")
    assert done.returncode == (0 if "true" in listening else 5), done.stderr
    assert len((home / "runs" / "r" / "predictions.jsonl").read_text().splitlines()) == 2
    assert [path.name for path in (home / "runs" / "r" / "library").glob("*.py")] == ["calculate_average_of_column.py"]
    assert b"internal" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("listening", ["| true", pytest.param(">&-", marks=PROMISE), "> /dev/full"])
def test_a_conversation_is_kept_whoever_listens(home: Path, server: ScriptedServer, listening: str) -> None:
    done = shell(home, server, f"echo '{QUESTION}' | habilis chat {listening}")
    assert done.returncode == (0 if "true" in listening else 5), done.stderr
    assert absorbed(home) == ["calculate_average_of_column.py"]
    assert b"internal" not in done.stderr


@pytest.mark.parametrize("words", [["runs", "list"], ["config", "show"], ["--help"]], ids=" ".join)
@pytest.mark.parametrize("listening", ["", ">&-", "> /dev/full"], ids=["left", "closed", "full"])
def test_every_verb_ends_by_the_same_rule(tmp_path: Path, words: list[str], listening: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = ["bash", "-c", f'exec "$@" {listening}', "sh", sys.executable, "-m", "habilis", *words]
    done = subprocess.run(command, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    errors = done.stderr.decode()
    assert (done.returncode, errors.count(LOST)) == ((5, 1) if listening else (0, 0)), errors
    assert errors.count("\n") == errors.count(LOST), "nothing else is said"
