"""`habilis evolve` and what `habilis runs` says of training runs, with the offline model and the real curator."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from habilis.cli import main
from habilis.cli.plot import terminal_plot
from habilis.cli.training import lines, table
from habilis.curation.ledger.metrics import StepMetrics
from habilis.rundir import TrainingDir
from habilis.training.outcome import Training

Captured = pytest.CaptureFixture[str]
ROWS = [
    {"id": "a", "question": "What is 2+3*4?", "answer": "14"},
    {"id": "b", "question": "What is the average price in sales.csv?", "answer": 20},
    {"id": "c", "question": "What is 7*8?", "answer": "55"},
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text("region,price\nnorth,10\nsouth,30\n", encoding="utf-8")
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return tmp_path


def evolve(*more: str) -> int:
    return main(["evolve", "--dataset", "tasks.jsonl", "--run-name", "one", "-c", "offline", *more])


@pytest.mark.sandbox
def test_a_data_set_becomes_a_library_and_a_table(here: Path, capsys: Captured) -> None:
    assert evolve("--batch-size", "2") == 0
    out, told = capsys.readouterr()
    first, second = [line.split() for line in out.splitlines()[1:3]]
    assert (first[:5], second[:5]) == (["1", "2", "2", "1.00", "2"], ["2", "1", "1", "0.67", "0"])
    assert "EGL: 1.00 to 0.67" in out
    assert "tasks    3: 3 answered" in out
    assert "outcome  done" in out
    assert "✓ b, " in told
    assert "absorbed: step 2: EGL 0.67 · library 2 tools · reuse 100 % · accuracy 0 %" in told
    assert sorted(path.stem for path in Path("runs/one/library").glob("*.py")) == [
        "calculate_average_of_column",
        "evaluate_arithmetic_expression",
    ]
    assert evolve() == 2
    assert "a run named one exists" in capsys.readouterr().err
    assert evolve("--resume", "--json", "--quiet") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["stopped"], document["statuses"], len(document["steps"])) == ("done", {"answered": 3}, 2)
    assert main(["score", "one"]) == 0
    assert "66.7 %" in capsys.readouterr().out


@pytest.mark.sandbox
def test_runs_know_training(here: Path, capsys: Captured) -> None:
    assert evolve("--batch-size", "1", "--train-steps", "1", "--quiet") == 0
    capsys.readouterr()
    assert main(["runs", "list"]) == 0
    assert "(training, 1 tasks)" in capsys.readouterr().out
    assert main(["runs", "show", "one"]) == 0
    assert "outcome  ended at its number of steps: 1 steps are done" in capsys.readouterr().out
    assert main(["runs", "show", "one", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["training"]["left"] == 2
    assert main(["runs", "show", "one", "--task-id", "a"]) == 0
    assert "answer   14" in capsys.readouterr().out
    assert main(["runs", "resume", "one", "--task-id", "a"]) == 2
    assert "are for single tasks" in capsys.readouterr().err
    with TrainingDir(Path("runs/one")).lock():
        assert main(["runs", "resume", "one"]) == 2
        assert "in use by another process" in capsys.readouterr().err
        assert main(["runs", "clean", "--keep", "0", "--yes"]) == 2
    assert Path("runs/one/predictions.jsonl").exists()
    assert main(["runs", "resume", "one", "--set", "evolution.train_steps=9", "--quiet"]) == 0
    assert "3 answered" in capsys.readouterr().out
    assert main(["runs", "clean", "--keep", "0", "--yes"]) == 0
    assert not Path("runs/one").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no data set"),
        (["--dataset", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["--dataset", "tasks.jsonl", "--library", "nowhere"], "there is no library nowhere"),
        (["--dataset", "tasks.jsonl", "--start", "7"], "no rows after the first 7"),
        (["--dataset", "tasks.jsonl", "--merge-policy", "bets"], "did you mean best?"),
        (["--dataset", "tasks.jsonl", "--batch-size", "0"], "evolution.batch_size"),
        (["--dataset", "tasks.jsonl", "--timeout", "soon"], "--timeout soon"),
        (["--dataset", "tasks.jsonl", "--run-name", "library"], "no run may be called 'library'"),
        (["--resume"], "nothing to resume"),
        (["--resume", "--run-name", "x"], "no run named x"),
    ],
)
def test_bad_usage_is_one_line_and_leaves_nothing(here: Path, capsys: Captured, words: list[str], said: str) -> None:
    assert main(["evolve", "-c", "offline", *words]) == 2
    *notes, told = capsys.readouterr().err.splitlines()
    assert told.startswith("habilis: ")
    assert said in told
    assert all(note.startswith("note ") for note in notes)
    assert not Path("runs/one").exists()
    assert not list(Path("runs").glob("*/rows.jsonl"))


def test_a_plot_without_its_library_is_refused_before_anything_runs(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert evolve("--plot", "x.png") == 2
    assert "pip install 'habilis[plot]'" in capsys.readouterr().err
    assert not Path("runs").exists()


class Stub:
    """An Evolution that ends as it is told."""

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def __call__(self, settings: Any, **options: Any) -> Stub:
        return self

    async def run(self, rows: Any, **options: Any) -> Training:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return Training(run_dir="r", stopped=self.outcome, tasks=3, left=1)

    def interrupt(self) -> None: ...


@pytest.mark.parametrize(
    ("stopped", "code"),
    [
        ("done", 0),
        ("train_steps", 0),
        ("egl_flat", 0),
        ("stop_file", 0),
        ("failed", 1),
        ("unreachable", 3),
        ("budget", 4),
        ("interrupted", 130),
        (asyncio.CancelledError(), 130),
    ],
)
def test_exit_codes_say_whether_every_step_was_absorbed(here: Path, stopped: Any, code: int) -> None:
    from habilis.cli import evolve as command
    from habilis.cli.parser import parse

    args = parse(["evolve", "--dataset", "tasks.jsonl", "--quiet", "-c", "offline"])
    try:
        assert command.evolve(args, Stub(stopped)) == code
    except KeyboardInterrupt:
        assert code == 130


def steps(count: int) -> tuple[StepMetrics, ...]:
    return tuple(
        StepMetrics(step=n, generation=n, tasks=4, egl=1 / n, library_size=n, accuracy=None, cost_per_task=0.5)
        for n in range(1, count + 1)
    )


def test_a_long_run_fits_on_a_terminal_and_says_what_is_not_known() -> None:
    assert max(len(line) for line in terminal_plot(steps(500))) <= 132
    assert table(steps(2))[1].split()[3:] == ["1.00", "0", "0", "–", "–", "1", "–", "$0.5000", "–", "0.0", "s"]
    plain = terminal_plot(steps(3), ascii_only=True)
    assert all(line.isascii() for line in plain)
    assert plain[0] == "EGL: 1.00 to 0.33"
    assert not any(line.startswith("accuracy") for line in plain)
    nothing = lines(Training(run_dir="r", stopped="unreachable", reason="401", tasks=3, left=3))
    assert nothing[:3] == [
        "tasks    3: none ended, 3 left",
        "cost     0 tokens, 0.0 s",
        "outcome  model unreachable: 401",
    ]


@pytest.mark.sandbox
def test_two_runs_feed_one_library(here: Path, capsys: Captured) -> None:
    assert evolve("--feed", "shared/common", "--quiet") == 0
    capsys.readouterr()
    again = ["evolve", "--dataset", "tasks.jsonl", "--run-name", "two", "-c", "offline", "--feed", "shared/common"]
    assert main([*again, "--json", "--quiet"]) == 0
    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["synthesised"] == 0, "what the first run fed was there"
    assert sorted(path.stem for path in Path("shared/common").glob("*.py")) == [
        "calculate_average_of_column",
        "evaluate_arithmetic_expression",
    ]
    assert main(["library", "history", "--library", "shared/common"]) == 0
    assert main(["runs", "check", "two"]) == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--feed", "common", "--library", "other"], "leave out one of them"),
        (["--feed", "common", "--freeze"], "leave out one of them"),
        (["--feed", "tasks.jsonl"], "tasks.jsonl is a file; name the folder of a library"),
        (["--feed", "a/b", "--set", "store=postgresql://localhost/habilis"], "cannot name a library in a store"),
    ],
    ids=["two libraries", "frozen", "a file", "a store"],
)
def test_what_cannot_be_fed_is_said(here: Path, capsys: Captured, more: list[str], said: str) -> None:
    assert evolve(*more) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.strip().splitlines()) == 1
    assert not Path("runs/one").exists()
