"""Scores of a run: every task once, no ruling paid for twice, and nothing of what was paid for lost by a kill."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from habilis.config import load_settings
from habilis.core.errors import UserError
from habilis.core.types import Task, TaskResult
from habilis.curation.ledger.reports import Row
from habilis.evaluation.scoring import Prediction, Scored, matched, open_judge, predictions_of, score_all
from habilis.prompts import Prompts
from habilis.rundir import RunDir
from habilis.testing import ScriptedModel

ROWS = [Row(id=f"t{n}", question=f"Question {n}?", answer=f"gold {n}", scorer="judge") for n in range(6)]


def said(prediction: str = "other", rows: Sequence[Row] = ROWS) -> list[tuple[Prediction, Row | None]]:
    return [(Prediction(task_id=row.id, prediction=f"{prediction} {row.id}", status="answered"), row) for row in rows]


class Asked:
    """Scores through a judge that always agrees, and counts what it was asked."""

    def __init__(self, folder: Path, model: str = "judge-1") -> None:
        self.folder, self.questions = folder, list[str]()
        self._settings = load_settings(overrides=[f"models.basic.model={model}"], environ={})

    def _reply(self, messages: Sequence[BaseMessage], *_: Any) -> Any:
        self.questions.append(str(messages[-1].content))
        return {"correct": "yes", "reasoning": "It is the same."}

    async def score(self, pairs: Sequence[tuple[Prediction, Row | None]], **options: Any) -> list[Scored]:
        self.questions.clear()
        model = ScriptedModel(script=self._reply)
        async with open_judge(self._settings, print, clients=lambda role, settings: model) as judge:
            return await score_all(self.folder, pairs, judge, Prompts(), **options)


def kept(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]


async def test_a_second_time_nothing_is_asked(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    first = await asked.score(said())
    assert len(asked.questions) == 6
    assert await asked.score(said()) == first
    assert asked.questions == []
    assert [row["task_id"] for row in kept(tmp_path)] == [row.id for row in ROWS]
    assert not (tmp_path / ".scores.part.jsonl").exists()


async def test_only_what_changed_is_judged_again(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    await asked.score(said())
    changed = [*said()[:4], *said("new")[4:5], *said(rows=[ROWS[5].model_copy(update={"rubric": "be strict"})])]
    await asked.score(changed)
    assert len(asked.questions) == 2
    assert "new t4" in "".join(asked.questions)
    assert "be strict" in "".join(asked.questions)
    await Asked(tmp_path, "judge-1").score(changed)
    other = Asked(tmp_path, "judge-2")
    await other.score(changed)
    assert len(other.questions) == 6, "another judge is another ruling"


async def test_without_a_judge_earlier_rulings_stay(tmp_path: Path) -> None:
    await Asked(tmp_path).score(said())
    scored = await score_all(tmp_path, said(), None, Prompts())
    assert [one.right for one in scored] == [True] * 6


async def test_rulings_before_a_kill_are_kept(tmp_path: Path) -> None:
    asked = Asked(tmp_path)

    def stop(done: int, of: int) -> None:
        if done == 4:
            running.cancel()

    running = asyncio.create_task(asked.score(said(), concurrency=1, progress=stop))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not (tmp_path / "scores.jsonl").exists()
    with (tmp_path / ".scores.part.jsonl").open("a") as part:
        part.write('{"task_id": "t5", "torn')
    scored = await asked.score(said())
    assert len(asked.questions) == 2
    assert [one.right for one in scored] == [True] * 6
    assert len(kept(tmp_path)) == 6


async def test_never_more_at_once_than_was_set(tmp_path: Path) -> None:
    class Counting(ScriptedModel):
        async def _agenerate(self, *arguments: Any, **options: Any) -> Any:
            running.append(len(running))
            most.append(len(running))
            for _ in range(5):
                await asyncio.sleep(0)
            running.pop()
            return self._generate(*arguments, **options)

    running: list[int] = []
    most: list[int] = []
    model = Counting(script=lambda *_: {"correct": "no"})
    settings = load_settings(overrides=["models.basic.model=m"], environ={})
    async with open_judge(settings, print, clients=lambda role, settings: model) as judge:
        await score_all(tmp_path, said(), judge, Prompts(), concurrency=2)
    assert max(most) == 2


async def test_no_known_answer_is_written_into_the_run(tmp_path: Path) -> None:
    rows = [row.model_copy(update={"extra": {"guarded": True}}) for row in ROWS]
    await Asked(tmp_path).score(said(rows=rows))
    assert "gold" not in (tmp_path / "scores.jsonl").read_text()


async def test_a_disk_that_refuses_is_named_and_not_a_group_of_errors(tmp_path: Path) -> None:
    (tmp_path / ".scores.part.jsonl").mkdir()
    with pytest.raises(OSError, match=r"scores\.part\.jsonl"):
        await Asked(tmp_path).score(said())


async def test_settings_that_name_no_key_end_in_one_error(tmp_path: Path) -> None:
    class Refusing:
        model = "m"

        async def rule(self, row: Row, prediction: str) -> Any:
            raise UserError("no key")

    judge: Any = Refusing()
    with pytest.raises(UserError, match="no key"):
        await score_all(tmp_path, said(), judge, Prompts())


async def test_every_prediction_has_a_line_even_without_a_row(tmp_path: Path) -> None:
    scored = await score_all(tmp_path, [(Prediction(task_id="x"), None), *said("gold")[:1]], None, Prompts())
    assert [(one.task_id, one.right) for one in scored] == [("x", None), ("t0", None)]


# ---- what a run answered


def test_the_last_row_of_a_task_counts_and_torn_ones_do_not(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, "r")
    rows = [
        {"task_id": "a", "prediction": "1"},
        {"task_id": "b", "prediction": {"x": 1}},
        {"task_id": "a", "prediction": None},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows) + '{"task_id": "c", "pred'
    (run.path / "predictions.jsonl").write_text(text)
    assert [(p.task_id, p.prediction) for p in predictions_of(run)] == [("a", ""), ("b", '{"x": 1}')]


def test_a_single_task_is_found_by_its_question(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path, "r")
    with pytest.raises(UserError, match=r"run r has nothing to score: no predictions.jsonl and no finished task"):
        predictions_of(run)
    task = run.task("task")
    task.save_task(Task(id="task", question="Question 2?"))
    task.save_result(TaskResult(task_id="task", status="answered", question="Question 2?", final_answer="gold 2"))
    [(prediction, row)] = matched(predictions_of(run), ROWS)
    assert (prediction.prediction, row) == ("gold 2", ROWS[2])
