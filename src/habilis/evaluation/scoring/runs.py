"""The scores of a run: its predictions against the data set, each judged once.

A score is kept with a digest of what its judgement depends on (`key`) and the `model` that judged, so that a ruling is
paid for again only when the answer, the rubric or the judge is another. Rulings are put by as they come, and known
answers are not written down.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from habilis.core.errors import UserError
from habilis.core.types import FORMAT, Frozen
from habilis.curation.ledger.reports import Row, Scorer
from habilis.evaluation.scoring.judge import ModelJudge, digest_of, question_to
from habilis.evaluation.scoring.scorers import Score, certain, score, scorer_for
from habilis.prompts import Prompts
from habilis.rundir import RunDir, ScoresDir, read_jsonl


class Prediction(Frozen):
    """What one task of a run answered."""

    task_id: str
    question: str = ""
    prediction: str = ""
    status: str = ""


class Scored(Score):
    """A score as it is kept, a line of `scores.jsonl`."""

    format: int = FORMAT
    task_id: str
    category: str = ""
    status: str = ""
    key: str = ""
    model: str = ""


def predictions_of(run: RunDir) -> list[Prediction]:
    """What the tasks of `run` answered, one per task, the last word of each: from its predictions, else its results.

    Raises `UserError` when there are neither.
    """
    found: dict[str, Prediction] = {}
    for row in read_jsonl(ScoresDir(run.path).predictions):
        if "task_id" in row:
            text = {key: _text(row.get(key)) for key in ("task_id", "question", "prediction", "status")}
            found[text["task_id"]] = Prediction(**text)
    if not found:
        results = [(task, task.load_result()) for task in run.tasks()]
        found = {
            task.id: Prediction(
                task_id=task.id, question=result.question, prediction=result.final_answer, status=result.status
            )
            for task, result in results
            if result is not None
        }
    if not found:
        raise UserError(f"run {run.name} has nothing to score: no predictions.jsonl and no finished task")
    return list(found.values())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def rows_of(run: RunDir) -> list[Row]:
    """The rows that a training run kept of its data set; none where it kept none. Raises `UserError`."""
    try:
        return [Row.model_validate(row) for row in read_jsonl(ScoresDir(run.path).rows)]
    except ValueError:
        raise UserError(f"run {run.name} has rows of another version; name its data set with --dataset") from None


def matched(predictions: Sequence[Prediction], rows: Sequence[Row]) -> list[tuple[Prediction, Row | None]]:
    """Each prediction with its row: by id; else, for tasks run alone under a name of their own, by the question."""
    by_id = {row.id: row for row in rows}
    by_question = {row.question.strip(): row for row in reversed(rows)}
    return [(p, by_id.get(p.task_id) or by_question.get(p.question.strip())) for p in predictions]


async def score_all(
    folder: Path,
    pairs: Sequence[tuple[Prediction, Row | None]],
    judge: ModelJudge | None,
    prompts: Prompts,
    *,
    scorer: Scorer = "auto",
    concurrency: int = 8,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Scored]:
    """The scores of `pairs`, in their order, written to `folder`. `progress` hears how many are done, of how many.

    Rulings that stand in the folder are taken over; cancelled, it keeps those that were made.
    """
    kept = ScoresDir(folder)
    known = {(old.task_id, old.key): old for old in _usable(kept.read()) if old.right is not None}
    done: list[Scored | None] = [None] * len(pairs)
    gate = asyncio.Semaphore(concurrency)
    with kept.adding() as add:

        async def one(place: int, prediction: Prediction, row: Row | None) -> None:
            async with gate:
                done[place] = await _scored(prediction, row, judge, prompts, scorer, known, add)
            progress(sum(each is not None for each in done), len(pairs))

        await _side_by_side(one(place, *pair) for place, pair in enumerate(pairs))
    scored = [each for each in done if each is not None]
    kept.write(each.model_dump(mode="json") for each in scored)
    return scored


async def _side_by_side(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All of `work` at once; the first failure ends the rest and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _scored(
    prediction: Prediction,
    row: Row | None,
    judge: ModelJudge | None,
    prompts: Prompts,
    scorer: Scorer,
    known: Mapping[tuple[str, str], Scored],
    add: Callable[[Mapping[str, Any]], None],
) -> Scored:
    about: dict[str, Any] = {"task_id": prediction.task_id, "status": prediction.status}
    if row is None:
        return Scored(right=None, scorer="none", reason="the data set has no such task", **about)
    about["category"] = str(row.extra.get("category") or "")
    row = row if scorer == "auto" else row.model_copy(update={"scorer": scorer})
    key = _key(row, prediction.prediction, prompts)
    old = known.get((prediction.task_id, key)) if key else None
    if old is not None and (judge is None or judge.model == old.model):
        return old.model_copy(update=about)
    found = await score(row, prediction.prediction, judge)
    model = judge.model if judge is not None and found.scorer == "judge" and found.right is not None else ""
    scored = Scored(**found.model_dump(), key=key if model else "", model=model, **about)
    if model:
        add(scored.model_dump(mode="json"))
    return scored


def _key(row: Row, prediction: str, prompts: Prompts) -> str:
    """What a judgement of this row depends on; "" where no judge is needed."""
    return digest_of(question_to(prompts, row, prediction)) if needs_judge(row, prediction) else ""


def needs_judge(row: Row, prediction: str, scorer: Scorer = "auto") -> bool:
    """Whether nothing but a judge can score this."""
    wanted = scorer if scorer != "auto" else row.scorer
    used = scorer_for(row) if wanted == "auto" else wanted
    return used == "judge" and certain(row, prediction, used) is None


def _usable(lines: Iterable[Mapping[str, Any]]) -> list[Scored]:
    """The scores among `lines`; what is of another make is left out, and so judged again."""
    found = []
    for line in lines:
        try:
            found.append(Scored.model_validate(line))
        except ValueError:
            continue
    return found
