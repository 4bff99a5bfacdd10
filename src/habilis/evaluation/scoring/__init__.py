"""Scoring: what the answers of a run are worth.

`score` is one answer against one row, `score_all` those of a run, side by side and resumable. Rules decide first; a
model (`open_judge`) is asked only where a benchmark or a rubric wants a judge, and what it does not decide is None.
"""

from habilis.evaluation.scoring.judge import ModelJudge, open_judge
from habilis.evaluation.scoring.runs import Prediction, Scored, matched, needs_judge, predictions_of, rows_of, score_all
from habilis.evaluation.scoring.scorers import Judge, Score, score, scorer_for

__all__ = [
    "Judge",
    "ModelJudge",
    "Prediction",
    "Score",
    "Scored",
    "matched",
    "needs_judge",
    "open_judge",
    "predictions_of",
    "rows_of",
    "score",
    "score_all",
    "scorer_for",
]
