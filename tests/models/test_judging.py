"""What a user would lose: a judge that accepts everything, believed as if it could tell right from wrong."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from habilis.agents.answering import GROUNDED
from habilis.agents.verdicts import VERDICT
from habilis.config import ModelsSettings, RoleSettings
from habilis.core.errors import BudgetReached, ModelUnreachable
from habilis.core.types import Standing
from habilis.curation.merging.cluster import TWIN
from habilis.demo import OfflineModel
from habilis.evaluation.scoring.judge import ANSWER_TRIAL, SET_TRIAL
from habilis.judging import Case, JudgeTrial, remembered, standing_of, standings_on
from habilis.judging.answers import REVIEW, speaks_against
from habilis.judging.preference import DIFFERING
from habilis.judging.standing import VALID_S
from habilis.models.chat import Models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.prompts import Prompts
from habilis.synthesis.replay import FIXED
from habilis.testing import RecordingSink, ScriptedModel

TRIALS = (REVIEW, GROUNDED, VERDICT, FIXED, DIFFERING, TWIN, ANSWER_TRIAL, SET_TRIAL)
PROMPTS = Prompts()
Words = Callable[[Case], bool]
"""What a scripted judge says of a case."""


def reply_to(trial: JudgeTrial[Any], words: dict[Case, bool], cases: tuple[Case, ...]) -> dict[str, Any]:
    """A reply in the form of `trial` that says `words` of `cases`."""
    said = [words[id(case)] for case in cases]  # type: ignore[index]
    first = said[0]
    match trial.prompt:
        case "review":
            return {"reason": "It rests on the calls.", "status": "FINISH" if first else "RETRY"}
        case "grounded":
            return {"reason": "So it is.", "word": "founded" if first else "invented"}
        case "verdict":
            rows = [
                (case.shown["call_id"], "input_error" if yes else "failure")
                for case, yes in zip(cases, said, strict=True)
            ]
            return {"verdicts": [{"call_id": name, "verdict": word, "reason": "so"} for name, word in rows]}
        case "fixed":
            rows = [(case.shown["record"], yes) for case, yes in zip(cases, said, strict=True)]
            return {"results": [{"record": name, "fixed": yes, "reason": "so"} for name, yes in rows]}
        case "differing":
            rows = [(case.shown["call"], "first" if yes else "second") for case, yes in zip(cases, said, strict=True)]
            return {"results": [{"call": name, "reason": "so", "right": word} for name, word in rows]}
        case "cluster":
            words = ("same" if yes else "different" for yes in said)
            return {"pairs": [{**case.shown, "reason": "so", "word": next(words)} for case in cases]}
        case "judge_answer":
            return {"extracted_answer": "x", "reasoning": "so", "correct": "yes" if first else "no"}
        case _:
            return {"reasoning": "so", "found": ["x"], "missing": [] if first else ["y"], "too_many": []}


def judge(trial: JudgeTrial[Any], word: Words | str) -> ScriptedModel:
    """A judge that says `word` of each planted case, or that text to everything."""

    def says(messages: list[Any], tools: Any, form: Any) -> Any:
        if isinstance(word, str):
            return word
        asked = str(messages[-1].content)
        for question in trial.questions:
            if PROMPTS.render(trial.prompt, **question.shown).user in asked:
                return reply_to(trial, {id(case): word(case) for case in question.cases}, question.cases)  # type: ignore[misc]
        raise AssertionError("asked for something that was not planted")

    return ScriptedModel(script=says, trusted_judge=False)


def by_turns(first: bool) -> Words:
    numbers = count()
    return lambda _: (next(numbers) % 2 == 0) is first


def slip(trial: JudgeTrial[Any], *, right: bool) -> Words:
    """Honest but for the first case that is right, or wrong."""
    cases = [case for question in trial.questions for case in question.cases]
    missed = next(case for case in cases if case.right is right)
    return lambda case: case.right is not (case is missed)


class Bench:
    """Where a judge is tried: a memory on disk, and a tape for each task."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.memory = folder, folder / "judges"
        self.sink = RecordingSink()
        self.tasks = count()

    def models(self, model: Any, tape: Tape | None = None, budget: Budget | None = None) -> Models:
        tape = tape or Tape(self.folder / f"{next(self.tasks)}.jsonl")
        retries = RoleSettings(max_retries=0)
        settings = ModelsSettings(basic=retries, probe_judges=True)
        return Models(settings, tape=tape, emit=self.sink.emit, budget=budget or Budget(), clients=lambda *_: model)

    async def tried(self, trial: JudgeTrial[Any], model: Any, **how: Any) -> Standing:
        return await standing_of(trial, self.models(model, **how), PROMPTS, memory=self.memory)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.prompt)
class TestEachRole:
    async def test_who_tells_right_from_wrong_counts(self, trial: JudgeTrial[Any], bench: Bench) -> None:
        found = await bench.tried(trial, judge(trial, lambda case: case.right))
        assert found.tells
        assert (found.by, found.accepted[0], found.refused[0]) == ("probe", found.accepted[1], found.refused[1])

    @pytest.mark.parametrize(
        "word",
        [lambda _: True, lambda _: False, by_turns(True), by_turns(False), lambda case: not case.right, "hm, perhaps"],
        ids=["always yes", "always no", "yes and no", "no and yes", "the contrary", "rubbish"],
    )
    async def test_whoever_says_the_same_whatever_is_shown_tells_nothing(
        self, trial: JudgeTrial[Any], bench: Bench, word: Words | str
    ) -> None:
        model = judge(trial, word)
        found = await bench.tried(trial, model)
        assert model.asked
        assert not found.tells
        assert [event.level for event in bench.sink.of("notice")] == ["info", "warning"]

    async def test_one_slip_on_a_right_one_is_forgiven(self, trial: JudgeTrial[Any], bench: Bench) -> None:
        assert (await bench.tried(trial, judge(trial, slip(trial, right=True)))).tells

    async def test_no_planted_case_is_one_sided(self, trial: JudgeTrial[Any], bench: Bench) -> None:
        cases = [case for question in trial.questions for case in question.cases]
        assert (sum(case.right for case in cases), len(cases) in (8, 10)) == (4, True)


async def test_a_reason_against_its_own_word_is_a_refusal(bench: Bench) -> None:
    model = ScriptedModel(
        script=lambda *_: {"reason": "It does not answer the question.", "status": "FINISH"}, trusted_judge=False
    )
    found = await bench.tried(REVIEW, model)
    assert not found.tells
    assert found.accepted[0] == 0


@pytest.mark.parametrize(
    "reason",
    [
        "The answer does not address the question, but gives an average.",
        "The tool failed to provide the result.",
        "The result is incorrect.",
        "No conclusion was reached.",
        "Nothing was found in the file.",
        "The answer seems fine, however the tool call failed with an error.",
        "The answer isn't supported by the tool results.",
    ],
)
def test_a_reason_that_speaks_against_the_answer_is_heard(reason: str) -> None:
    assert speaks_against(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "The answer has a conclusion that the tool results bear out.",
        "fine",
        "The maximum of the column wind was computed by a tool, which is what was asked.",
        "The mean was computed from 12 rows, without missing values.",
        "It rests on average_column, and gives the number that was asked for.",
        "The answer names the file that was not found, as the question asks.",
    ],
)
def test_a_reason_that_speaks_for_it_is_no_contradiction(reason: str) -> None:
    assert not speaks_against(reason)


async def test_one_that_tells_nothing_is_asked_no_longer_than_needed(bench: Bench) -> None:
    model = judge(REVIEW, lambda _: True)
    await bench.tried(REVIEW, model)
    assert len(model.asked) == 2 < len(REVIEW.questions)


async def test_the_next_task_and_the_next_process_ask_nothing(bench: Bench) -> None:
    first = await bench.tried(REVIEW, judge(REVIEW, lambda case: case.right))
    unasked = judge(REVIEW, "never said")
    assert await bench.tried(REVIEW, unasked) == first
    assert unasked.asked == []
    assert remembered(REVIEW, PROMPTS, "ScriptedModel", "scripted", bench.memory)[0] == first  # type: ignore[index]


@pytest.mark.parametrize("what", ["another model", "another prompt", "too old", "torn", "one bit", "another role"])
async def test_what_was_found_out_of_another_does_not_count(bench: Bench, what: str, tmp_path: Path) -> None:
    await bench.tried(REVIEW, judge(REVIEW, lambda case: case.right))
    (file,) = bench.memory.glob("*.json")
    trial: JudgeTrial[Any] = GROUNDED if what == "another role" else REVIEW
    model, prompts = judge(trial, lambda case: case.right), PROMPTS
    if what == "another model":
        model = model.model_copy(update={"model_name": "another"})
    if what == "too old":
        row = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**row, "at": time.time() - VALID_S - 1, "digest": None}), encoding="utf-8")
    if what == "one bit":
        said = file.read_text(encoding="utf-8")
        assert "scripted" in said
        file.write_text(said.replace("scripted", "ccripted"), encoding="utf-8")
    if what == "torn":
        file.write_text('{"standing": {"tel', encoding="utf-8")
    if what == "another prompt":
        text = (Path(__file__).parents[2] / "prompts" / "review.md").read_text(encoding="utf-8")
        (tmp_path / "review.md").write_text(text.replace("Check an", "Look through an"), encoding="utf-8")
        prompts = Prompts(tmp_path)
    await standing_of(trial, bench.models(model), prompts, memory=bench.memory)
    assert model.asked


async def test_a_replay_asks_nothing_and_says_the_same(bench: Bench) -> None:
    tape = Tape(bench.folder / "tape.jsonl")
    found = await bench.tried(REVIEW, judge(REVIEW, lambda _: False), tape=tape)
    tape.close()
    for file in bench.memory.iterdir():
        file.unlink()
    unasked = judge(REVIEW, "never said")
    again = Tape(tape.path, replay_only=True)
    assert await bench.tried(REVIEW, unasked, tape=again) == found
    assert (unasked.asked, standings_on(again)) == ([], {"review": found})


async def test_a_record_from_before_there_were_probes_is_replayed_as_it_was(bench: Bench) -> None:
    tape = Tape(bench.folder / "tape.jsonl")
    model = ScriptedModel(script=["yes"])
    await bench.models(model, tape=tape).chat("judge", [], purpose="review")
    tape.close()
    found = await bench.tried(REVIEW, model, tape=Tape(tape.path, replay_only=True))
    assert (found.by, found.tells) == ("record", True)


async def test_killed_between_two_cases_it_goes_on_with_the_next(bench: Bench) -> None:
    honest = judge(REVIEW, lambda case: case.right)
    said = honest.script

    class Killed(BaseException):
        pass

    def dying(*request: Any) -> Any:
        if len(model.asked) == 4:
            raise Killed
        return said(*request)

    model = ScriptedModel(script=dying, trusted_judge=False)
    tape = Tape(bench.folder / "tape.jsonl")
    with pytest.raises(Killed):
        await bench.tried(REVIEW, model, tape=tape)
    tape.close()
    assert list(bench.memory.glob("*.json")) == []
    found = await bench.tried(REVIEW, honest, tape=Tape(tape.path))
    assert found.tells
    assert len(honest.asked) == len(REVIEW.questions) - 3


@pytest.mark.parametrize("error", [ModelUnreachable("down"), BudgetReached("over")])
async def test_a_probe_that_cannot_be_made_is_no_verdict(bench: Bench, error: Exception) -> None:
    with pytest.raises(type(error)):
        await bench.tried(REVIEW, ScriptedModel(script=[error], trusted_judge=False))
    assert list(bench.memory.glob("*.json")) == []
    assert (await bench.tried(REVIEW, judge(REVIEW, lambda case: case.right))).tells


async def test_tasks_side_by_side_pay_once(bench: Bench) -> None:
    at_work: list[int] = []

    class Slow(ScriptedModel):
        async def _agenerate(self, *request: Any, **more: Any) -> Any:
            at_work.append(len(tasks) - sum(task.done() for task in tasks))
            for _ in range(20):
                await asyncio.sleep(0)
            return self._generate(*request, **more)

    model = Slow(script=judge(REVIEW, lambda case: case.right).script, trusted_judge=False)
    tasks = [asyncio.ensure_future(bench.tried(REVIEW, model)) for _ in range(3)]
    found = await asyncio.gather(*tasks)
    assert at_work[0] == 3
    assert len(model.asked) == len(REVIEW.questions)
    assert len(set(map(repr, found))) == 1


async def test_a_folder_that_cannot_be_written_costs_the_memory_alone(bench: Bench) -> None:
    bench.memory.write_text("no folder", encoding="utf-8")
    assert (await bench.tried(REVIEW, judge(REVIEW, lambda case: case.right))).tells


async def test_what_a_probe_costs_is_the_tasks(bench: Bench) -> None:
    models = bench.models(judge(REVIEW, lambda case: case.right))
    await standing_of(REVIEW, models, PROMPTS, memory=bench.memory)
    assert models.usage_by_role["judge"].model_calls == len(REVIEW.questions)


async def test_who_is_known_without_asking(bench: Bench) -> None:
    offline = await bench.tried(REVIEW, OfflineModel())
    vouched = ScriptedModel(script=[])
    declared = await bench.tried(REVIEW, vouched)
    assert [(one.by, one.tells) for one in (offline, declared)] == [("own rules", True), ("declared", True)]
    assert vouched.asked == []
    assert not bench.memory.exists()


async def test_settings_may_believe_a_model_untried(bench: Bench) -> None:
    model = judge(REVIEW, "never said")
    settings = ModelsSettings(probe_judges=False)
    tape = Tape(bench.folder / "t.jsonl")
    models = Models(settings, tape=tape, emit=bench.sink.emit, budget=Budget(), clients=lambda *_: model)
    found = await standing_of(REVIEW, models, PROMPTS, memory=bench.memory)
    assert (found.by, found.tells, model.asked) == ("settings", True, [])
    assert ModelsSettings().probe_judges


def test_no_planted_case_stands_in_a_benchmark_or_a_test() -> None:
    root = Path(__file__).parents[2]
    questions = {str(q.shown.get("question")) for trial in TRIALS for q in trial.questions} - {"None"}
    assert len(questions) > 20
    texts = [
        path.read_text(encoding="utf-8") for name in ("benchmarks", "tests") for path in (root / name).rglob("*.py")
    ]
    assert [question for question in questions if any(question in text for text in texts)] == []
