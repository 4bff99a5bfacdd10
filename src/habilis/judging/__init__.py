"""The judge is judged: whether a model's word tells right from wrong, found out once by planted cases.

A role that judges is described by its `JudgeTrial`: its prompt, its form, cases of which we know the right word.
What came of it is a `Standing`: on the tape for this task, on disk for all others. A judge that tells nothing
decides nothing; what happens in place of its word is said where it is asked.
"""

from habilis.judging.standing import remembered, standing_of, standing_or_away, standings_on, word_of
from habilis.judging.trials import Case, JudgeTrial, Question, at_once, one_by_one

__all__ = [
    "Case",
    "JudgeTrial",
    "Question",
    "at_once",
    "one_by_one",
    "remembered",
    "standing_of",
    "standing_or_away",
    "standings_on",
    "word_of",
]
