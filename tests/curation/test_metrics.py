"""Figures and files of a training run: no key twice, no half row, no division by nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.config import EvolutionSettings
from habilis.core.events import ModelCallEnded
from habilis.core.types import CallOutcome, Invocation, TaskResult, Usage
from habilis.curation.ledger.metrics import step_metrics
from habilis.curation.ledger.reports import Finished
from habilis.rundir import KeyedRows, RunDir
from habilis.testing import FakeClock
from habilis.training.budget import RunBudget


def end(folder: Path, name: str, calls: int = 0, cost: float | None = None) -> Finished:
    task = RunDir.at(folder / "run").task(name)
    invocations = tuple(
        Invocation(call_id=str(n), tool="t", outcome=CallOutcome(output=1), verdict="failure" if n else "success")
        for n in range(calls)
    )
    preset = Invocation(call_id="p", tool="ask_user", outcome=CallOutcome(output=1))
    result = TaskResult(
        task_id=name,
        status="answered",
        question="?",
        invocations=(*invocations, preset),
        usage=Usage(model_calls=1, prompt_tokens=90, completion_tokens=10, cost=cost),
    )
    return Finished(task_id=name, status="answered", folder=str(task.path), result=result)


def test_rates_count_what_there_is_and_are_none_of_nothing(tmp_path: Path) -> None:
    nothing = step_metrics(1, [end(tmp_path, "a")], None, generation=0, library_size=0)
    assert (nothing.egl, nothing.reuse_rate, nothing.tool_success_rate, nothing.accuracy) == (None, None, None, None)
    assert (nothing.tokens_per_task, nothing.cost_per_task) == (100, None)
    row = step_metrics(
        2,
        [end(tmp_path, "b", 3, 0.25), end(tmp_path, "c", 1, 0.25)],
        nothing,
        generation=1,
        library_size=2,
        verdicts=[True, None],
    )
    assert (row.invocations, row.egl, row.reuse_rate, row.tool_success_rate) == (4, 0.0, 1.0, 0.5)
    assert (row.cost_per_task, row.right, row.scored, row.accuracy) == (0.25, 1, 1, 1.0)


def test_a_task_that_left_no_result_counts_with_what_it_made_and_called(tmp_path: Path) -> None:
    task = RunDir.at(tmp_path / "run").task("x")
    started = [{"kind": "started", "key": str(n), "tool": name, "effects": "pure"} for n, name in enumerate("uv")]
    task.tape.write_text("\n".join(json.dumps(row) for row in [{"kind": "tape", "format": 1}, *started]) + "\n{torn")
    dead = Finished(task_id="x", status="crashed", folder=str(task.path))
    row = step_metrics(1, [dead], None, generation=0, library_size=0)
    assert (row.invocations, row.tool_success_rate, row.statuses) == (2, 0.0, {"crashed": 1})


def test_a_run_budget_counts_calls_that_were_paid_and_time_that_was_spent() -> None:
    clock = FakeClock()
    settings = EvolutionSettings(max_tokens=150, max_time_s=60)
    budget = RunBudget(settings, spent=Usage(prompt_tokens=40), spent_s=10, clock=clock)
    call = {"role": "basic", "purpose": "plan", "model": "m", "usage": Usage(prompt_tokens=100)}
    budget.heed(ModelCallEnded(**call, replayed=True))
    assert budget.reached() is None
    budget.heed(ModelCallEnded(**call))
    assert budget.reached() is None
    clock.now = 50
    assert "60 s are over" in (budget.reached() or "")
    budget.heed(ModelCallEnded(**call))
    assert "240 of 150 tokens" in (budget.reached() or "")


# --- rows by key


@given(st.lists(st.tuples(st.integers(0, 5), st.text(max_size=8), st.booleans()), max_size=15))
def test_a_key_is_never_there_twice_and_the_last_word_counts(puts: list[tuple[int, str, bool]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path, told = Path(folder) / "rows.jsonl", {}
        rows = KeyedRows(path, "id")
        for key, text, torn in puts:
            if torn:
                with path.open("ab") as stream:
                    stream.write(b'{"id": 3, "te')
                rows = KeyedRows(path, "id")
            rows.put({"id": key, "text": text})
            told[key] = text
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            assert {row["id"]: row["text"] for row in lines} == told
            assert len(lines) == len(told)
        rows.arrange(sorted(told))
        assert [row["id"] for row in KeyedRows(path, "id").rows()] == sorted(told)


def test_a_row_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    rows = KeyedRows(tmp_path / "nowhere" / "rows.jsonl", "id")
    with pytest.raises(FileNotFoundError):
        rows.put({"id": 1})
    assert rows.rows() == []
