"""`habilis runs list --query --status`: a run is found again by what a person remembers of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from habilis.cli import main
from habilis.core.types import Task, TaskResult
from habilis.rundir import RunDir, TrainingDir

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(name: str, question: str, answer: str = "", status: Any = "answered") -> RunDir:
    run = RunDir.create(Path("runs"), name)
    task = run.task("task")
    task.save_task(Task(id="task", question=question))
    task.save_result(TaskResult(task_id="task", status=status, question=question, final_answer=answer))
    return run


@pytest.fixture
def runs() -> None:
    asked("first", "Quel est le prix moyen du café à Zürich ?", "12,50 Franken")
    asked("second", "What is the average price?", "It is STRASSE 7", "gave_up")
    asked("third", "平均价格是多少？", "12")
    (Path("runs/third/tasks/task/result.json")).write_text("{torn")
    training = TrainingDir(RunDir.create(Path("runs"), "trained").path)
    training.set_state("finished")
    training.predictions.write_text(json.dumps({"task_id": "a", "question": "Count the berths", "prediction": "41"}))


def found(capsys: Captured, *words: str) -> list[str]:
    assert main(["runs", "list", "--json", *words]) == 0
    return sorted(row["name"] for row in json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("CAFE zurich", ["first"]),
        ("café 12,50", ["first"]),
        ("prix second", []),
        ("price", ["second"]),
        ("straße", ["second"]),
        ("second", ["second"]),
        ("平均", ["third"]),
        ("berths 41", ["trained"]),
        ("", ["first", "second", "third", "trained"]),
    ],
)
def test_every_word_stands_in_question_answer_or_name(
    runs: None, capsys: Captured, query: str, names: list[str]
) -> None:
    assert found(capsys, "--query", query) == names


def test_status_query_and_limit_together(runs: None, capsys: Captured) -> None:
    assert found(capsys, "--status", "gave_up") == ["second"]
    assert found(capsys, "--status", "gave_up, finished") == ["second", "trained"]
    assert found(capsys, "--status", "answered", "--query", "prix") == ["first"]
    assert len(found(capsys, "--status", "answered", "--limit", "1")) == 1
    assert main(["runs", "list", "--status", "answered", "--limit", "1"]) == 0
    assert "… and 1 older ones" in capsys.readouterr().out
    assert main(["runs", "list", "--query", "nowhere"]) == 0
    assert capsys.readouterr().out == "none of 4 runs fits\n"


def test_a_status_that_no_run_can_have_is_refused(runs: None, capsys: Captured) -> None:
    assert main(["runs", "list", "--status", "answerd"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("habilis: --status answerd: no run has that status; it is one of answered, gave_up")
    assert said.count("\n") == 1
