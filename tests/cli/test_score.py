"""`habilis score`: one command says what a run was worth, and one line what keeps it from saying so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage

from habilis.cli import main
from habilis.cli.parser import SCORERS
from habilis.curation.ledger.reports import Scorer
from habilis.rundir import RunDir
from habilis.testing import ScriptedServer

Captured = pytest.CaptureFixture[str]
ROWS = [
    {"id": "a", "question": "How far?", "answer": "3 km", "category": "units"},
    {"id": "b", "question": "Who?", "answer": "The Beatles", "category": "people"},
    {"id": "c", "question": "Why?", "answer": "because", "category": "people", "rubric": "be kind"},
    {"id": "d", "question": "Not run", "answer": "1"},
]
ANSWERS = {"a": "3,000 m", "b": "the Stones", "c": "just so"}


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    monkeypatch.chdir(tmp_path)
    Path("tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    made = RunDir.create(Path("runs"), "r1")
    made.write_run(dataset={"path": str(tmp_path / "tasks.jsonl"), "format": "auto", "fields": {}})
    rows = [{"task_id": i, "question": "", "prediction": text, "status": "answered"} for i, text in ANSWERS.items()]
    (made.path / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return made


def document(out: Captured, *words: str) -> dict[str, Any]:
    assert main(["score", "r1", "--json", *words]) == 0
    data: dict[str, Any] = json.loads(out.readouterr().out)
    return data


def test_a_run_is_scored_against_the_set_that_it_answered(capsys: Captured, run: RunDir) -> None:
    assert main(["score", "r1", "--no-judge"]) == 0
    out = capsys.readouterr().out
    assert "run r1: 3 of the 4 tasks of " in out
    table = {line.split()[0]: line.split()[1:4] for line in out.splitlines() if line and line[0].isalpha()}
    assert table["units"] == ["1", "0", "0"]
    assert table["people"] == ["0", "1", "1"]
    assert table["all"] == ["1", "1", "1"]
    assert "unscored: 1 × it takes a judge, and none was asked" in out
    assert max(len(line) for line in out.splitlines() if not line.startswith("run ")) <= 80
    kept = [json.loads(line) for line in (run.path / "scores.jsonl").read_text().splitlines()]
    assert [(row["task_id"], row["right"]) for row in kept] == [("a", True), ("b", False), ("c", None)]


def test_json_is_one_document_with_every_score(capsys: Captured) -> None:
    data = document(capsys, "--no-judge")
    assert (data["right"], data["wrong"], data["unscored"], data["accuracy"]) == (1, 1, 1, 0.5)
    assert data["categories"]["units"]["right"] == 1
    assert [one["task_id"] for one in data["scores"]] == ["a", "b", "c"]


def test_the_offline_model_does_not_pretend_to_judge(capsys: Captured) -> None:
    data = document(capsys)
    assert data["unscored"] == 1
    assert "offline demonstration model" in data["scores"][2]["reason"]


def test_a_judge_is_paid_once(capsys: Captured) -> None:
    with ScriptedServer(lambda *_: AIMessage('{"correct": "yes", "reasoning": "Kind enough."}')) as server:
        reach = ["--set", f"models.basic.base_url={server.base_url}", "--set", "models.eval.model=scripted"]
        assert document(capsys, *reach)["right"] == 2
        paid = len(server.requests)
        assert paid == 1
        assert document(capsys, *reach)["right"] == 2
        assert len(server.requests) == paid


def test_a_judge_that_is_away_is_exit_3_and_the_rest_is_scored(capsys: Captured, run: RunDir) -> None:
    away = ["--set", "models.basic.base_url=http://127.0.0.1:9/v1", "--set", "models.basic.model=m"]
    assert main(["score", "r1", *away, "--set", "models.basic.max_retries=0"]) == 3
    said = capsys.readouterr()
    assert "no judge could be asked: model m" in said.err
    assert len((run.path / "scores.jsonl").read_text().splitlines()) == 3


def test_another_set_other_columns_another_scorer(capsys: Captured) -> None:
    Path("mine.csv").write_text("nr;text;gold\na;How far?;3,000 m\nb;Who?;The Stones\nc;Why?;x\n")
    data = document(
        capsys,
        "--dataset",
        "mine.csv",
        "--fields",
        "id=nr,question=text",
        "--fields",
        "answer=gold",
        "--scorer",
        "exact",
    )
    assert [one["right"] for one in data["scores"]] == [True, False, False]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "no run named nosuch"),
        (["r1", "--dataset", "nosuch.csv"], "data set nosuch.csv: no such file or folder"),
        (["r1", "--scorer", "fuzzy"], "--scorer fuzzy; known: auto, exact"),
        (["r1", "--format", "gai"], "format gai: did you mean gaia?"),
        (["r1", "--fields", "question"], "--fields question: expected MEANING=COLUMN"),
        (["r1", "--fields", "qestion=x"], "did you mean question?"),
        (["r1", "--dataset", "other.jsonl"], "no task of run r1 is in other.jsonl; ids there are like 'zz'"),
        (["r1", "--dataset", "torn.jsonl"], "torn.jsonl, line 2: not JSON"),
        ([], "required: RUN"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(words: list[str], said: str, capsys: Captured, run: RunDir) -> None:
    Path("other.jsonl").write_text('{"id": "zz", "question": "q"}\n')
    Path("torn.jsonl").write_text('{"id": "a", "question": "q"}\n{"id"\n')
    assert main(["score", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) <= 2, "one line, and at most one note before it"
    assert not (run.path / "scores.jsonl").exists()


def test_a_run_that_names_no_set_asks_for_it(capsys: Captured) -> None:
    RunDir.create(Path("runs"), "r2").path.joinpath("predictions.jsonl").write_text('{"task_id": "a"}\n')
    assert main(["score", "r2"]) == 2
    assert "run r2 does not say which data set it answered; name it with --dataset FILE" in capsys.readouterr().err


def test_a_training_run_is_scored_by_the_rows_that_it_kept(capsys: Captured) -> None:
    run = RunDir.create(Path("runs"), "r2")
    (run.path / "predictions.jsonl").write_text('{"task_id": "a", "prediction": "3 km"}\n')
    (run.path / "rows.jsonl").write_text('{"id": "a", "question": "q", "answer": 3, "extra": {"category": "units"}}\n')
    assert main(["score", "r2"]) == 0
    assert "1 of the 1 tasks of the run" in capsys.readouterr().out
    (run.path / "rows.jsonl").write_text('{"id": "a"}\n')
    assert main(["score", "r2"]) == 2
    assert "run r2 has rows of another version" in capsys.readouterr().err


def test_broken_rows_can_be_passed_over(capsys: Captured) -> None:
    Path("torn.jsonl").write_text('{"id": "a", "question": "q", "answer": "3 km"}\n{"id"\n')
    assert main(["score", "r1", "--dataset", "torn.jsonl", "--skip-broken"]) == 0
    assert "passed over torn.jsonl, line 2: not JSON" in capsys.readouterr().err


def test_the_command_line_offers_every_scorer() -> None:
    assert get_args(Scorer) == SCORERS
