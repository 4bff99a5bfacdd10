"""What a user would lose: the first promise. Of a model that agrees with everything no wrong answer gets through.

Every task runs in a team of its own, with real tools in the real sandbox. The model judges itself and is always
content. Where its judge is taken for a good one, rules alone decide; a user's is tried first, and this one is found
out. A claim is right where it is the right answer word for word, or its number.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.rules.settling import as_it_came
from habilis.testing import ScriptedModel

from ..marks import PROMISE
from .agreeing.cases import FILES, Case, lay_out
from .agreeing.fresh import FRESH
from .agreeing.fresh_jobs import FRESH_FILES
from .agreeing.held import HELD, HELD_FILES
from .agreeing.model import SPOILT, Agreeing, Temperament
from .agreeing.tuned import TUNED
from .agreeing.unseen import UNSEEN
from .agreeing.unseen_jobs import UNSEEN_FILES

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("empty", "one unrelated", "30 unrelated", "30 look-alikes")
SETS = {"tuned": TUNED, "held": HELD, "fresh": FRESH, "unseen": UNSEEN}
OTHERS = ("fresh", "unseen")
"""Sets that were written without a look at the rules. Of each, few rules were mended after it was played."""
CASES: tuple[Case, ...] = (*TUNED, *HELD)
SAMPLE = CASES[3::27]
QUICK = "limits.max_attempts=1"
AT_ONCE = 4
MOST_WRONG = 0.05
MOST_LOST = 0.02
MOST_WRONG_UNSEEN = 0.22
"""What was counted with such questions by rules alone. It is no aim: it may only fall."""
MOST_LOST_UNSEEN = 2 / 18
_ALONE = re.compile(r"The answer is ([\d,.]*\d)\.|([\d,.]*\d)")


@dataclass(frozen=True)
class Played:
    """One task: what was asked, and what came of it. `good` are the texts that are right."""

    case: Case
    result: TaskResult
    good: tuple[str, ...]

    @property
    def claimed(self) -> bool:
        return self.result.status == "answered"

    @property
    def right(self) -> bool:
        said = self.result.final_answer
        if not self.claimed or said in self.good:
            return self.claimed
        alone = _ALONE.fullmatch(said)
        return bool(alone and self.good and _number(alone[1] or alone[2]) == _number(self.good[0]))

    @property
    def wrong(self) -> bool:
        return self.claimed and not self.right

    @property
    def rests_on_nothing(self) -> bool:
        calls = self.result.invocations
        return bool(calls) and not any(call.outcome.error is None and call.verdict == "success" for call in calls)

    def __str__(self) -> str:
        part = next(name for name, cases in SETS.items() if self.case in cases)
        return f"{part}: {self.case.question} -> {self.result.final_answer} ({self.result.error})"


def _number(text: str) -> float | None:
    """The number that a text begins with; a comma without three digits behind it is a decimal one."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text).replace(",", ".")
    found = re.match(r"-?\d+(?:\.\d+)?", text)
    return float(found[0]) if found else None


def make_library(kind: str, folder: Path) -> None:
    """One of the four libraries that `benchmarks/claims.py` asks with."""
    place = ROOT / "benchmarks" / "claim_cases" / "libraries.py"
    spec = importlib.util.spec_from_file_location("claim_libraries", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(kind, folder)


def good_texts(case: Case, folder: Path) -> tuple[str, ...]:
    """The right answer, the findings that the right call leads to, and its result as it came.

    The call is made here: the tool is the test's own.
    """
    if case.final is None:
        return ()
    space: dict[str, Any] = {"__name__": f"job_{case.job.name}"}
    exec(compile(case.job.source, case.job.name, "exec", dont_inherit=True), space)
    space["InputModel"].model_rebuild(_types_namespace=space)
    given = {name: str(folder / value) if "path" in name else value for name, value in case.arguments.items()}
    result = space["run"](space["InputModel"](**given)).model_dump()
    return case.final, case.told(result), as_it_came(result)


async def play(
    cases: Sequence[Case], temper: Temperament, library: str, folder: Path, *settings: str, trusted: bool = True
) -> list[Played]:
    """Each question in a team of its own over `library`, a few side by side. The model's judge is `trusted`, or tried
    as a user's is."""
    lay_out(folder, FILES | HELD_FILES | FRESH_FILES | UNSEEN_FILES)
    gate, public = asyncio.Semaphore(AT_ONCE), folder / "library"
    make_library(library, public)
    tried = f"models.probe_judges={not trusted}".lower()
    loaded = load_settings(overrides=[f"runs_dir={folder}", "evolution.absorb=false", tried, *settings])

    async def one(case: Case) -> Played:
        number = (*CASES, *FRESH, *UNSEEN).index(case)
        if temper == "told wrongly":
            number += 2 * LIBRARIES.index(library)  # each lie is the first that is told, over one library or another
        model = ScriptedModel(script=Agreeing(case, temper, number), trusted_judge=trusted)
        async with gate:
            team = Team(loaded, library=public, clients=lambda *_: model)
            run = folder / "runs" / f"{temper}-{number}".replace(" ", "-")
            result = await team.run(case.question, files=case.files, run_dir=run, base=folder)
        return Played(case, result, good_texts(case, folder))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(case)) for case in cases]
    return [task.result() for task in tasks]


def listed(played: Sequence[Played]) -> str:
    return "\n".join(str(one) for one in played)


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("temper", SPOILT)
async def test_a_model_that_agrees_with_everything_gets_no_wrong_answer_through(
    tmp_path: Path, sandbox_level: str, temper: Temperament, library: str
) -> None:
    played = await play(CASES, temper, library, tmp_path)
    wrong = [one for one in played if one.wrong]
    assert len(wrong) <= MOST_WRONG * len(played), listed(wrong)
    assert not [one for one in wrong if one.rests_on_nothing], listed(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
async def test_an_honest_model_loses_none_of_its_right_answers(
    tmp_path: Path, sandbox_level: str, library: str
) -> None:
    played = await play(CASES, "honest", library, tmp_path)
    assert not [one for one in played if one.wrong]
    lost = [one for one in played if one.good and not one.right]
    assert len(lost) <= MOST_LOST * len(played), listed(lost)
    calls = [one.result.usage.model_calls for one in played if one.right]
    assert max(calls) <= 6 + 1, "no more than one call more than a plan, a tool, a step, findings, a review, an answer"


@pytest.mark.slow
@pytest.mark.parametrize("library", ["empty", "30 look-alikes"])
async def test_of_questions_that_few_rules_were_mended_with_rules_alone_refuse_most_wrong_answers(
    tmp_path: Path, sandbox_level: str, library: str
) -> None:
    played: list[Played] = []
    for temper in SPOILT:
        (folder := tmp_path / temper.replace(" ", "-")).mkdir()
        played += await play(FRESH, temper, library, folder)
    wrong = [one for one in played if one.wrong]
    assert len(wrong) <= MOST_WRONG_UNSEEN * len(played), listed(wrong)
    assert not [one for one in wrong if one.rests_on_nothing], listed(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["empty", "30 look-alikes"])
@pytest.mark.parametrize("part", OTHERS)
async def test_of_such_questions_an_honest_model_keeps_most_right_answers(
    tmp_path: Path, sandbox_level: str, part: str, library: str
) -> None:
    played = await play(SETS[part], "honest", library, tmp_path)
    lost = [one for one in played if one.good and not one.right]
    assert len(lost) <= MOST_LOST_UNSEEN * len([one for one in played if one.good]), listed(lost)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["empty", "30 look-alikes"])
@pytest.mark.parametrize("part", OTHERS)
@pytest.mark.parametrize("temper", SPOILT)
async def test_a_judge_that_agrees_with_everything_is_found_out_and_then_no_wrong_answer_gets_through(
    tmp_path: Path, sandbox_level: str, temper: Temperament, part: str, library: str
) -> None:
    played = await play(SETS[part], temper, library, tmp_path, trusted=False)
    assert not [one for one in played if (review := one.result.review) and review.judge and review.judge.tells]
    wrong = [one for one in played if one.wrong]
    assert len(wrong) <= MOST_WRONG * len(played), listed(wrong)
    assert not [one for one in wrong if one.rests_on_nothing], listed(wrong)


@pytest.mark.parametrize(
    "temper", ["told wrongly", *(pytest.param(one, marks=PROMISE) for one in SPOILT if one != "told wrongly")]
)
async def test_some_wrong_answers_of_each_temperament_are_refused(
    tmp_path: Path, sandbox_level: str, temper: Temperament
) -> None:
    played = await play(SAMPLE, temper, "30 look-alikes", tmp_path, QUICK)
    assert not [one for one in played if one.wrong], listed(played)


async def test_some_right_answers_of_an_honest_model_are_kept(tmp_path: Path, sandbox_level: str) -> None:
    played = await play(SAMPLE, "honest", "30 look-alikes", tmp_path, QUICK)
    assert all(one.right for one in played if one.good), listed(played)
    assert any(one.right for one in played)
