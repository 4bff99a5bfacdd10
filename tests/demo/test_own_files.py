"""Questions about small files, worded before anybody looked at how the model reads them.

`own_questions.json` has their answers, worked out from the rows by scripts of their own. One half tuned the model,
the other was held back, but for its counts of right, wrong and given up. The four sets of strangers were worded
without knowledge of the program and used to improve it, the fourth after it had been counted: 54 right, none wrong.
Of a fifth, in freer words, the counts were looked at, and its five wrong answers, which are given up now. The
sixth, seventh and eighth are about files of every usual form, half of them no tables; the first two of these were
used to improve the model, the eighth was held back, but for its counts, one wrong answer and, last, one calculation
that it explains. The ninth to the eleventh are plain ones; the first and the last of these were used to improve the
model, which got 11 and 15 of them before. So are the twelfth and the thirteenth, with more said around what is asked:
the model got 36 and 23 of their 115 each before, and 2 and 4 wrongly. The twelfth was used to improve it, the
thirteenth was held back, but for its counts and its wrong answers, until the five after it. Of these the model got
54, 36, 25, 44 and 13 of 115 before, and 2, 2, 0, 2 and 1 wrongly; what they need as a class was made, the seventeenth
and the eighteenth counted again before they were looked at: 56 and 28. The nineteenth was held back: 25 before, 36 now,
none wrong. Of the twentieth and the twenty-first the model got 29 and 28 of 115 before, and 2 and 1 wrongly. The
twentieth was used to improve it, and the twenty-first counted again before anybody looked at more of it than its
wrong answers: 37. The twenty-second was held back but for its one wrong answer: 26 before, 38 now. Of the
twenty-third, in the freest words so far, the model got 20 before, and 1 wrongly; it was used to improve it.
The six after it are plain again: questions of one sentence, without a story around them. Before anybody looked at
them the model got 76, 84, 75, 76, 69 and 62 of 115, and 1, 1, 5, 1, 0 and 4 wrongly. The twenty-fourth to the
twenty-seventh were used to improve it; the last two of these, counted when the two before them had been used: 76 and
78. The twenty-eighth and the twenty-ninth were held back but for their wrong answers: 70 and 64 now.
An answer is null where the file cannot give it.
"""

from __future__ import annotations

import contextlib
import json
import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from habilis.contract.taskfiles import gather, view
from habilis.questions.prompts import SeenFile

from ..marks import promised
from .test_queries import answered_in

HERE = Path(__file__).parent
FILES, STRANGERS_FILES = HERE / "own_files", HERE / "strangers_files"
TWO_FILES, THREE_FILES = HERE / "strangers_two_files", HERE / "strangers_three_files"
FOUR_FILES = HERE / "strangers_four_files"
QUESTIONS: list[dict[str, Any]] = json.loads((HERE / "own_questions.json").read_text("utf-8"))
STRANGERS: list[dict[str, Any]] = json.loads((HERE / "strangers_questions.json").read_text("utf-8"))
RIGHT = {"tune": 52, "held": 44, "strangers": 75, "strangers_two": 79, "strangers_three": 75, "strangers_four": 74}
RIGHT |= {"strangers_five": 50, "strangers_six": 187, "strangers_seven": 166, "strangers_eight": 50}
RIGHT |= {"strangers_nine": 35, "strangers_ten": 34, "strangers_eleven": 36}
RIGHT |= {"strangers_twelve": 78, "strangers_thirteen": 50, "strangers_fourteen": 80, "strangers_fifteen": 68}
RIGHT |= {"strangers_sixteen": 50, "strangers_seventeen": 72, "strangers_eighteen": 35}
RIGHT |= {"strangers_nineteen": 36, "strangers_twenty": 63, "strangers_twentyone": 54}
RIGHT |= {"strangers_twentytwo": 38, "strangers_twentythree": 38}
RIGHT |= {
    "strangers_twentyfour": 103,
    "strangers_twentyfive": 99,
    "strangers_twentysix": 88,
    "strangers_twentyseven": 88,
}
"""How many of the 60, 60, 80 each, and 120 questions that can be answered were, when the model was last improved."""
SIZES = {"strangers_five": 132, "strangers_six": 240, "strangers_seven": 240, "strangers_eight": 120}
SIZES |= {"strangers_nine": 60, "strangers_ten": 60, "strangers_eleven": 60}
SIZES |= {f"strangers_{name}": 120 for name in ("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen")}
SIZES |= {
    f"strangers_{name}": 120 for name in ("eighteen", "nineteen", "twenty", "twentyone", "twentytwo", "twentythree")
}
SIZES |= {f"strangers_twenty{name}": 120 for name in ("four", "five", "six", "seven", "eight", "nine")}
TOLERANCE = 2
"""Three in a hundred of them."""


@cache
def seen(name: str, folder: Path | None = None) -> SeenFile:
    folder = folder or FILES
    shown = view(gather("", [folder / name], folder)[0])[0]
    begins = "\n".join(line[4:] for line in str(shown["begins"]).splitlines())
    return SeenFile(name, begins, bool(shown.get("nameless")))


def outcome(asked: dict[str, Any], folder: Path | None = None) -> str:
    answer = answered_in(folder or FILES, asked["question"], seen(asked["file"], folder))
    if answer is None:
        return "given up"
    return "right" if asked["answer"] is not None and is_right(answer, asked["answer"]) else "wrong"


def is_right(answer: str, truth: Any) -> bool:
    if isinstance(truth, dict):
        found = dict(part.rsplit(": ", 1) for part in answer.split(", ") if ": " in part)
        return found.keys() == truth.keys() and all(is_right(found[key], truth[key]) for key in truth)
    if isinstance(truth, list) and truth[0] == "set":
        told = all(one in answer for one in truth[1]) and len(answer) == len(
            ", ".join(truth[1])
        )  # a cell has commas too
        found = answer.split(", ")
        return told or any(sorted(map(form, found)) == sorted(truth[1]) for form in (str, _as_day, _as_month))
    if isinstance(truth, list) and truth[0] == "has":
        wanted = truth[1] if isinstance(truth[1], list) else [truth[1]]
        return all(one in answer for one in wanted)
    if isinstance(truth, list):
        truth = truth[1] if truth[0] == "list" else truth
        found = re.findall(r"[A-Z][a-z]+ \d\d?, \d{4}", answer) or answer.split(", ")
        return answer == ", ".join(truth) or [*map(_as_day, found)] == [*map(_as_day, truth)]
    if isinstance(truth, str):
        return _as_said(answer, truth) or truth in (_as_day(answer), _as_month(answer))
    cell = re.sub(r"^[€$£]", "", re.sub(r"(?<=\d),(?=\d{2}$)", ".", answer))  # as it is written in the file
    return re.fullmatch(r"-?[\d.]+", cell) is not None and abs(float(cell) - truth) <= 1e-5 * max(1, abs(truth))


DAYS = (
    "%d/%m/%Y", "%d/%m/%y", "%d-%b-%y", "%d-%b-%Y", "%d-%m-%Y", "%a %d %b %Y", "%d %b %Y", "%d %B %Y", "%b %d %Y",
    "%b %d, %Y", "%B %d, %Y", "%a %d/%m/%Y", "%d.%m.%Y", "%m/%d/%Y", "%m/%d/%y", "%Y/%m/%d",
)  # fmt: skip
"""How the files write days. Which of two is meant is not looked at."""


def _as_day(answer: str) -> str:
    """A day as a file writes it, as the truths do; anything else as it is."""
    for form in DAYS:
        with contextlib.suppress(ValueError):
            return datetime.strptime(answer, form).strftime("%Y-%m-%d")
    return answer


def _as_month(answer: str) -> str:
    """The name of a month that is said with its year."""
    with contextlib.suppress(ValueError):
        return datetime.strptime(answer, "%Y-%m").strftime("%B")
    return answer


def _as_said(answer: str, truth: str) -> bool:
    """Whether an answer is a text but for upper case and a full stop, or a number to as many decimals."""
    if answer.lower().rstrip(".") == truth.lower().rstrip("."):
        return True
    found, wanted = (re.sub(r"[€$£%, ]", "", text) for text in (re.sub(r"(?<=\d),(?=\d$)", ".", answer), truth))
    if not all(re.fullmatch(r"-?\d+(?:\.\d+)?", text) for text in (found, wanted)):
        return False
    return abs(float(found) - float(wanted)) <= 0.5 * 10 ** -len(wanted.partition(".")[2]) + 1e-9


def test_a_sample_of_them_gets_no_wrong_answer() -> None:
    sample = [*QUESTIONS[::14], *STRANGERS[::14]]
    outcomes = [outcome(one, None if one in QUESTIONS else STRANGERS_FILES) for one in sample]
    assert "wrong" not in outcomes
    assert outcomes.count("right") >= len(sample) // 3


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("half", ["tune", "held"])
def test_most_are_answered_and_none_wrongly(half: str) -> None:
    asked = [one for one in QUESTIONS if one["half"] == half]
    outcomes = [outcome(one) for one in asked]
    wrong = [one["question"] for one, came in zip(asked, outcomes, strict=True) if came == "wrong"]
    assert (len(asked), wrong) == (70, [])
    assert outcomes.count("right") >= RIGHT[half] - TOLERANCE


@pytest.mark.parametrize("name", promised(name for name in RIGHT if name.startswith("strangers")))
def test_most_questions_of_strangers_are_answered_and_none_wrongly(name: str) -> None:
    asked = json.loads((HERE / f"{name}_questions.json").read_text("utf-8"))
    outcomes = [outcome(one, HERE / f"{name}_files") for one in asked]
    wrong = [one["question"] for one, came in zip(asked, outcomes, strict=True) if came == "wrong"]
    assert (len(asked), wrong) == (SIZES.get(name, 90), [])
    assert outcomes.count("right") >= RIGHT[name] - TOLERANCE


def test_a_table_without_a_header_is_said_with_what_to_do() -> None:
    from habilis.demo.understanding import Unclear, understand

    found = understand("What is the average temperature in the kitchen?", [seen("readings.csv")])
    assert isinstance(found, Unclear)
    assert "put a line with names above it" in found.reason


NAMED = (
    "What is the highest unit price according to sales.csv?",
    "Based on sales.csv, what is the highest unit price?",
    "What is the highest unit price, as listed in sales.csv?",
    "Judging by sales.csv, what is the highest unit price?",
    "What is the highest unit price, going by sales.csv?",
)


@pytest.mark.parametrize("question", NAMED)
def test_a_file_may_be_named_in_any_usual_words(question: str) -> None:
    said = "What is the highest unit price in sales.csv?"
    wanted = answered_in(FILES, said, seen("sales.csv"))
    assert wanted is not None
    assert answered_in(FILES, question, seen("sales.csv")) == wanted
