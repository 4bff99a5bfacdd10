"""One answer against the known one: `score` picks the scorer and says right, wrong, or why it cannot tell."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from habilis.core.types import Frozen
from habilis.curation.ledger.reports import Row, Scorer
from habilis.evaluation.scoring.dabench import differing, is_named
from habilis.evaluation.scoring.dates import when
from habilis.evaluation.scoring.gaia import quasi_exact_match
from habilis.evaluation.scoring.lists import as_text, compare_ordered, compare_sets, readings
from habilis.evaluation.scoring.qualified import qualifier
from habilis.evaluation.scoring.quantities import Quantity, placed_in, plain, quantity, same_quantity
from habilis.evaluation.scoring.texts import bare_answer, led_in, same_text
from habilis.evaluation.scoring.wikitables import same_values
from habilis.rules.phrases import UNDONE

Used = Literal["none", "exact", "text", "numeric", "list", "set", "gaia", "dabench", "wikitables", "judge"]
JUDGED = ("hle", "xbench", "finsearchcomp", "deepsearchqa")
"""Benchmarks whose own rule is a model as judge."""
SET_ANSWER = "Set Answer"
MAX_PREDICTION = 20_000
"""Characters of a prediction that rules look at; more is no answer, unless a judge finds one in it."""


class Score(Frozen):
    """What an answer is worth. `right` is None when that cannot be told, and `reason` says why.

    `partial` (0 to 1) is the share that is right of a list, or F1 of a set. No reason quotes the answer of a row that
    is `guarded` (`datasets.published`): scores are kept in the run's folder.
    """

    right: bool | None
    scorer: Used
    reason: str = ""
    partial: float | None = None


class Judge(Protocol):
    """A model that judges answers. See `judge.ModelJudge`."""

    async def rule(self, row: Row, prediction: str) -> Score:
        """The score of `prediction`; right=None with the reason when the model could not be asked."""


def scorer_for(row: Row) -> Used:
    """What `auto` means for a row: the benchmark's own rule, a judge where there is a rubric, else by the answer.

    An answer that is nothing but `@name[value]` is DABench's, in whatever file it stands.
    """
    benchmark = row.extra.get("benchmark")
    if benchmark == "gaia":
        return "gaia"
    if benchmark == "wikitables":
        return "wikitables"
    if isinstance(row.answer, str) and is_named(row.answer):
        return "dabench"
    if row.rubric or benchmark in JUDGED:
        return "judge"
    if isinstance(row.answer, list):
        return "list"
    if isinstance(row.answer, int | float) and not isinstance(row.answer, bool):
        return "numeric"
    if isinstance(row.answer, dict):
        return "exact"
    text = as_text(row.answer).strip()
    named = re.fullmatch(r"0\d+", text) is not None  # 007 is a name
    return "numeric" if not named and when(text) is None and quantity(text) is not None else "text"


async def score(row: Row, prediction: str, judge: Judge | None, scorer: Scorer = "auto") -> Score:
    """The score of `prediction` for `row`. `scorer` goes before the row's own, unless it is `auto`. Never raises for
    what answers hold; without a judge, or when it fails, what needs one has right=None.
    """
    wanted = scorer if scorer != "auto" else row.scorer
    used = scorer_for(row) if wanted == "auto" else wanted
    known = certain(row, prediction, used)
    if known is not None:
        return known
    if used != "judge":
        return _BY_NAME[used](row, prediction)
    if judge is None:
        return Score(right=None, scorer="judge", reason="it takes a judge, and none was asked")
    return await judge.rule(row, prediction)


def certain(row: Row, prediction: str, used: Used) -> Score | None:
    """What needs no comparison and no model: no known answer, no prediction, and for a judge the very same answer."""
    if row.answer is None or row.answer == "":
        return Score(right=None, scorer="none", reason="the data set has no answer for it")
    if not prediction.strip():
        return Score(right=False, scorer="none", reason="no answer was given")
    if len(prediction) > MAX_PREDICTION and used != "judge":
        return Score(right=False, scorer="none", reason=f"longer than {MAX_PREDICTION:,} characters")
    if len(prediction) > MAX_PREDICTION or used != "judge":
        return None
    if row.extra.get("answer_type") == SET_ANSWER:
        found = _set(row, prediction)
        return found if found.right else None
    return Score(right=True, scorer="text") if same_text(as_text(row.answer), prediction) else None


def _exact(row: Row, prediction: str) -> Score:
    """Character by character, but for spaces around and the form of Unicode (NFC); JSON data by value."""
    if isinstance(row.answer, str):
        right = _nfc(row.answer) == _nfc(prediction)
    else:
        try:
            given = json.loads(prediction)
        except (ValueError, RecursionError):
            given = prediction
        right = _json(given) == _json(row.answer) or _nfc(prediction) == _nfc(as_text(row.answer))
    return Score(right=right, scorer="exact", reason="" if right else "it is not the same, character by character")


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _text(row: Row, prediction: str) -> Score:
    right = same_text(as_text(row.answer), prediction)
    return Score(right=right, scorer="text", reason="" if right else "another text, normalised")


def _numeric(row: Row, prediction: str) -> Score:
    expected = quantity(as_text(row.answer))
    if expected is None:
        return Score(right=None, scorer="numeric", reason="the known answer is not a number")
    given, problem = _given(prediction)
    if given is None:
        return Score(right=False, scorer="numeric", reason=problem)
    right, reason = same_quantity(expected, given, row.extra.get("tolerance"))
    return Score(right=right, scorer="numeric", reason=reason)


def _given(prediction: str) -> tuple[Quantity | None, str]:
    """The one number that a prediction gives: all of it, or the only one in its words."""
    whole = quantity(bare_answer(prediction))
    if whole is not None:
        return whole, ""
    line = plain(prediction)
    if UNDONE.search(line) and not led_in(line):
        return None, "it says that it has no answer"
    placed = list(placed_in(line))
    found = list(dict.fromkeys(one.quantity for one in placed))
    if len(found) == 1:
        changed = next(filter(None, (qualifier(line, one.start, one.end) for one in placed)), "")
        return (None, f'it says "{changed}", which is another value') if changed else (found[0], "")
    return None, "no number in it" if not found else f"{len(found)} numbers in it, and no word which is the answer"


def _list(row: Row, prediction: str) -> Score:
    tolerance = row.extra.get("tolerance")
    pairs = [(wanted, got) for wanted in readings(row.answer) for got in readings(prediction)]
    partial = max(compare_ordered(wanted, got, tolerance) for wanted, got in pairs)
    if partial == 1.0:
        return Score(right=True, scorer="list", partial=1.0)
    shuffled = any(compare_sets(wanted, got, tolerance) == 1.0 for wanted, got in pairs)
    reason = "the right items in another order" if shuffled else "other items"
    return Score(right=False, scorer="list", reason=reason, partial=round(partial, 4))


def _set(row: Row, prediction: str) -> Score:
    tolerance = row.extra.get("tolerance")
    pairs = ((wanted, got) for wanted in readings(row.answer) for got in readings(prediction))
    partial = max(compare_sets(wanted, got, tolerance) for wanted, got in pairs)
    right = partial == 1.0
    return Score(right=right, scorer="set", reason="" if right else "not the same items", partial=round(partial, 4))


def _gaia(row: Row, prediction: str) -> Score:
    right = quasi_exact_match(as_text(row.answer), prediction)
    return Score(right=right, scorer="gaia", reason="" if right else "no match by the rules of GAIA")


def _dabench(row: Row, prediction: str) -> Score:
    wrong, names = differing(as_text(row.answer), prediction)
    reason = f"missing or another value: {', '.join(wrong)}" if wrong else ""
    return Score(right=not wrong, scorer="dabench", reason=reason, partial=round(1 - len(wrong) / names, 4))


def _wikitables(row: Row, prediction: str) -> Score:
    answers = row.answer if isinstance(row.answer, list) else [row.answer]
    expected, canonical = [as_text(item) for item in answers], row.extra.get("canonical") or ()
    read = [
        re.split(r"\s*[|\t\n]\s*", prediction.strip()),
        *([as_text(i) for i in one] for one in readings(prediction)),
    ]
    right = any(same_values(expected, canonical, items) for items in read)
    return Score(right=right, scorer="wikitables", reason="" if right else "not the same values")


_BY_NAME: Mapping[str, Callable[[Row, str], Score]] = {
    "exact": _exact,
    "text": _text,
    "numeric": _numeric,
    "list": _list,
    "set": _set,
    "gaia": _gaia,
    "dabench": _dabench,
    "wikitables": _wikitables,
}
