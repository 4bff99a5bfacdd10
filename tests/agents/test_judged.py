"""What a user would lose: a wrong claim that an agreeing judge let through, or a right one that rules could settle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from habilis import Team, load_settings
from habilis.core.types import TaskResult
from habilis.judging.answers import REVIEW
from habilis.library import Library
from habilis.prompts import Prompts
from habilis.rundir import RunDir
from habilis.synthesis.replay import FIXED
from habilis.testing import ScriptedModel

from .conftest import Script, Stage, call, calling, tool_source

QUESTION = "What is 6 times 7?"
PRODUCT = tool_source(
    "product_of", "return OutputModel(result=input.a * input.b)", "a: int\n    b: int", effects="pure"
)
REQUEST = {
    "name": "product_of",
    "description": "Multiplies two numbers.",
    "parameters": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer"}],
    "returns": [{"name": "result"}],
}
BUILD = ({"tool_requests": [REQUEST]},)
REUSE = ({"required_tool_names": ["product_of"]},)
PLANTED = {Prompts().render("review", **question.shown).user: question.cases[0].right for question in REVIEW.questions}
Word = Callable[[bool], Any]


class Judged(Script):
    """A script whose reviews of planted answers are what `word` makes of a right and a wrong one; `probes` counts them.

    `word` is told whether the answer is right; of any other it is told that it is.
    """

    word: Word
    probes = 0

    def __call__(self, messages: Any, tools: Any, form: Any) -> Any:
        last = str(messages[-1].content)
        if "<invocations>" in last:
            planted = [right for user, right in PLANTED.items() if user in last]
            self.probes += len(planted)
            said = self.word(planted[0] if planted else True)
            if planted:
                return said
            self.asked.append(("reviews", messages, tools))
            return said
        return super().__call__(messages, tools, form)


def judged(word: Word, *parts: Any, **more: Any) -> Judged:
    script = Judged(*parts, **more)
    script.word = word
    return script


def agreeing(_: bool) -> Any:
    return {"reason": "The answer holds a conclusion.", "status": "FINISH"}


def honest(right: bool) -> Any:
    return {"reason": "By the calls.", "status": "FINISH" if right else "RETRY"}


def refusing(_: bool) -> Any:
    return {"reason": "One never knows.", "status": "RETRY"}


def contradicting(right: bool) -> Any:
    return {"reason": "It does not answer the question.", "status": "FINISH"}


def rubbish(_: bool) -> Any:
    return "well, well"


def built(answer: str = "The product is 42.", **arguments: Any) -> list[Any]:
    return [calling(call("product_of", arguments or {"a": 6, "b": 7}, "c")), answer]


TWO_RESULTS = [
    calling(call("product_of", {"a": 6, "b": 7}, "c")),
    calling(call("product_of", {"a": 7, "b": 7}, "d")),
    "49.",
]


@pytest.fixture
def judges(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The stage for models that are no trusted judges, with a memory of its own."""
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HABILIS_MODELS__PROBE_JUDGES", "true")
    return stage


async def play(stage: Stage, script: Script, *settings: str, run: str = "run", question: str = QUESTION) -> TaskResult:
    return await team(stage, script, *settings).run(question, run_dir=stage.root / run, base=stage.root)


def team(stage: Stage, script: Script, *settings: str) -> Team:
    model = ScriptedModel(script=script, trusted_judge=False)
    loaded = load_settings(
        overrides=[f"runs_dir={stage.root}", "sandbox.warm=false", "tools.short_way=false", *settings]
    )
    return Team(loaded, library=stage.root / "library", sinks=[stage.sink], clients=lambda *_: model)


def code() -> list[str]:
    return [f"```python\n{PRODUCT}```"]


@pytest.mark.parametrize(
    "word",
    [agreeing, *(pytest.param(word, marks=pytest.mark.slow) for word in (refusing, contradicting, rubbish))],
    ids=lambda word: word.__name__,
)
async def test_where_the_judge_tells_nothing_rules_settle_what_they_can(judges: Stage, word: Word) -> None:
    result = await play(judges, judged(word, built(), BUILD, codes=code(), answers=[{"final_answer": "42"}]))
    assert (result.status, result.final_answer, result.review.by) == ("answered", "42", "rules")  # type: ignore[union-attr]
    assert result.review is not None
    assert result.review.judge is not None
    assert not result.review.judge.tells


@pytest.mark.parametrize(
    "steps",
    [
        built("The product is 36.", a=6, b=6),
        ["Six times seven is forty-two, as everybody knows."],
        pytest.param(TWO_RESULTS, marks=pytest.mark.slow),
    ],
    ids=["not all of the question", "no call", "two results"],
)
async def test_what_no_rule_settles_ends_as_not_verified(judges: Stage, steps: list[Any]) -> None:
    script = judged(agreeing, steps * 2, BUILD * 2, codes=code(), answers=[{"final_answer": "42"}])
    result = await play(judges, script, "limits.max_attempts=2")
    assert result.status == "gave_up"
    assert result.final_answer
    assert script.of("reviews") == []


async def test_a_library_tools_result_is_not_settled_and_one_built_for_the_question_is(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    other = json.loads(json.dumps(BUILD[0]).replace("product_of", "product_of_two"))
    steps = [*built(), calling(call("product_of_two", {"a": 6, "b": 7}, "d")), "The product is 42."]
    codes = [text.replace('"product_of"', '"product_of_two"') for text in code()]
    script = judged(agreeing, steps, [*REUSE, other], codes=codes)
    result = await play(judges, script)
    reviews = [event.review for event in judges.sink.of("reviewed")]
    assert [review.by for review in reviews] == ["not verified", "rules"]
    assert reviews[0].reason.startswith(
        "not verified: no rule settles this answer, and the judge, scripted, tells nothing"
    )
    assert (result.status, result.attempts) == ("answered", 2)


@pytest.mark.parametrize(
    ("word", "offered"), [(agreeing, ()), (honest, ("product_of",))], ids=["tells nothing", "tells right from wrong"]
)
async def test_a_library_tool_is_offered_where_its_result_can_be_accepted(
    judges: Stage, word: Word, offered: tuple[str, ...]
) -> None:
    judges.add("product_of", PRODUCT)
    await play(judges, judged(word, built(), BUILD, codes=code()), "limits.max_attempts=1")
    assert judges.sink.of("planned")[0].offered == offered


async def test_a_tool_that_answered_a_question_of_the_same_words_is_offered_and_its_result_settled(
    judges: Stage,
) -> None:
    judges.add("product_of", PRODUCT)
    await play(judges, judged(honest, built(), REUSE), run="first")  # describes the tool
    for file in (judges.root / "cache" / "judges").iterdir():
        file.unlink()
    tool = Library(judges.root / "library").get("product_of")
    assert tool is not None
    answered = tool.manifest.model_copy(update={"answered": ("What is 12 times 13?",)})
    tool.path.with_suffix(".json").write_text(answered.model_dump_json(), encoding="utf-8")
    result = await play(judges, judged(agreeing, built(), REUSE))
    assert [plan.offered for plan in judges.sink.of("planned")] == [("product_of",), ("product_of",)]
    assert (result.status, result.review.by if result.review else "") == ("answered", "rules")
    assert result.review is not None
    assert "answered a question of the same words" in result.review.reason


async def test_a_run_that_may_build_nothing_is_offered_what_there_is(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    await play(judges, judged(agreeing, built(), REUSE), "limits.max_attempts=1", "tools.synthesis=false")
    assert judges.sink.of("planned")[0].offered == ("product_of",)


@pytest.mark.parametrize(
    ("told", "by"),
    [("It is 42, at 0.0 m/s.", "not verified"), ("The product is 43.", "values from nowhere")],
    ids=["more than was asked", "wrongly"],
)
async def test_a_result_that_rules_settle_is_told_as_it_came_by_a_model_that_nobody_can_trust(
    judges: Stage, told: str, by: str
) -> None:
    script = judged(agreeing, built(told), BUILD, codes=code(), answers=[{"final_answer": "42"}])
    result = await play(judges, script)
    reviews = [event.review for event in judges.sink.of("reviewed")]
    assert [review.by for review in reviews] == [by, "rules"]
    assert (result.status, result.final_answer, result.attempts) == ("answered", "42", 1)
    assert not script.of("answers"), "what stands is not put into words again"
    assert result.reasoning_summary == '`product_of` with {"a": 6, "b": 7} gave {"result": 42}'


ECHO = "Do you want to find the product of 6 and 7? (yes/no)"
TASK = "What is the product of the numbers 6 and 7?"


@pytest.mark.parametrize(
    ("word", "question", "status"),
    [(agreeing, ECHO, "answered"), (honest, ECHO, "waiting"), (agreeing, "In which base?", "waiting")],
    ids=["says the task again", "asked by a model that can be trusted", "asks for more"],
)
async def test_a_model_that_tells_nothing_does_not_hand_the_task_back_to_the_user(
    judges: Stage, word: Word, question: str, status: str
) -> None:
    steps = [calling(call("ask_user", {"question": question}, "q")), *built()]
    result = await play(judges, judged(word, steps, BUILD, codes=code()), question=TASK)
    assert result.status == status


async def test_who_does_nothing_but_ask_for_the_task_gives_up(judges: Stage) -> None:
    steps = [calling(call("ask_user", {"question": ECHO}, f"q{n}")) for n in range(3)]
    script = judged(agreeing, [*steps, "I do not know."], BUILD, codes=code())
    result = await play(judges, script, "limits.max_attempts=1", question=TASK)
    assert (result.status, result.question_asked) == ("gave_up", None)


async def test_a_second_answer_that_nobody_can_verify_is_the_last(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    script = judged(agreeing, [*built(), "Still 42, I think."], REUSE)
    result = await play(judges, script)
    assert (result.status, result.attempts) == ("gave_up", 2)
    assert result.error is not None
    assert result.error.startswith("not verified")


async def test_an_honest_judge_is_asked_as_before(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    script = judged(honest, built(), REUSE)
    result = await play(judges, script)
    assert (result.status, len(script.of("reviews")), script.probes) == ("answered", 1, len(REVIEW.questions))
    assert result.review is not None
    assert result.review.whose == "judge (tried on planted cases)"
    assert result.judges["review"] == result.review.judge


async def test_the_second_task_asks_no_planted_case(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    await play(judges, judged(honest, built(), REUSE))
    script = judged(honest, built(), REUSE)
    result = await play(judges, script, run="second")
    assert (script.probes, result.usage.model_calls) == (0, 5)
    assert result.review is not None
    assert result.review.judge is not None
    assert result.review.judge.refused == (6, 6)


async def test_a_replay_asks_nothing_and_comes_to_the_same(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    script = judged(agreeing, built(), BUILD, codes=code())
    first = await play(judges, script, "limits.max_attempts=1")
    for file in (judges.root / "cache" / "judges").iterdir():
        file.unlink()
    unasked = Script([])
    again = await team(judges, unasked, "limits.max_attempts=1").run(
        QUESTION, run_dir=judges.root / "again", replay=judges.root / "run", base=judges.root
    )
    assert unasked.asked == []
    assert (again.status, again.review, again.judges) == (first.status, first.review, first.judges)


async def test_broken_off_in_the_probe_it_goes_on_with_the_next_case(judges: Stage) -> None:
    from habilis.core.errors import ModelUnreachable

    judges.add("product_of", PRODUCT)

    def failing(right: bool) -> Any:
        return ModelUnreachable("down") if script.probes > 3 else honest(right)

    script = judged(failing, built(), REUSE)
    first = await play(judges, script)
    assert (first.status, script.probes) == ("unreachable", 4)
    script = judged(honest, built(), REUSE)
    result = await team(judges, script).resume(judges.root / "run")
    assert (result.status, script.probes) == ("answered", len(REVIEW.questions) - 3)


async def test_whose_word_it_was_is_shown(judges: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    from habilis.cli import main

    await play(judges, judged(agreeing, built(), BUILD, codes=code(), answers=[{"final_answer": "42"}]))
    stored = RunDir.open(judges.root / "run").task("task").result
    review = json.loads(stored.read_text(encoding="utf-8"))["review"]
    assert (review["by"], review["judge"]["tells"]) == ("rules", False)
    main(["runs", "show", str(judges.root / "run")])
    assert "accepted by rules (the judge tells nothing)" in capsys.readouterr().out


async def test_a_mend_is_not_accepted_on_the_word_of_one_that_calls_everything_fixed(judges: Stage) -> None:
    """The judge of mended results says yes to all of its planted cases: what it says of this one proves nothing."""
    judges.add("halve", tool_source("halve", "raise ValueError('no')", effects="pure"))
    mended = tool_source("halve", "return OutputModel(result='mended')", effects="pure")

    def everything(messages: Any) -> Any:
        numbers = [line.split(": ")[1] for line in messages.splitlines() if line.startswith("- record: ")]
        return {"results": [{"record": name, "fixed": True, "reason": "fine"} for name in numbers]}

    class Agreeing(Judged):
        def __call__(self, messages: Any, tools: Any, form: Any) -> Any:
            last = str(messages[-1].content)
            if "<records" in last:
                self.asked.append(("fixed", messages, tools))
                return everything(last)
            return super().__call__(messages, tools, form)

    script = Agreeing(
        [calling(call("halve", {"x": 4}, "c")), "It is 2."],
        [{"required_tool_names": ["halve"]}],
        codes=[f"```python\n{mended}```"],
    )
    script.word = honest
    result = await play(judges, script, "limits.max_attempts=1", question="What is half of 4?")
    assert len(script.of("fixed")) == 1
    assert not result.judges["fixed"].tells
    assert result.judges["fixed"].role == FIXED.prompt
    assert judges.sink.of("tool_enhanced") == []


async def test_a_name_from_nowhere_does_not_stand_on_the_word_of_one_that_founds_all(judges: Stage) -> None:
    question = "The largest city is Ōsaka-shi. Which city is the largest?"
    everything = {"reason": "The findings say it.", "word": "founded"}
    answers = [{"final_answer": "Kyoto", "reasoning_summary": "so"}]
    script = judged(honest, ["The largest city is Ōsaka-shi."], answers=answers, grounded=[everything])
    result = await play(judges, script, question=question)
    assert len(script.of("grounded")) == 1
    assert not result.judges["grounded"].tells
    assert (result.status, result.final_answer) == ("answered", "The largest city is Ōsaka-shi.")


async def test_a_right_result_that_the_model_cannot_tell_is_told_as_it_came(judges: Stage) -> None:
    answers = ["The product is 42, and the row with the highest value is 4711."] * 2
    script = judged(honest, [*built()[:-1], *answers], BUILD, codes=code())
    result = await play(judges, script)
    reviews = [event.review for event in judges.sink.of("reviewed")]
    assert [review.by for review in reviews] == ["values from nowhere", "values from nowhere", "rules"]
    assert (result.status, result.attempts) == ("answered", 2)
    assert "42" in str(result.final_answer)
    assert "4711" not in str(result.final_answer)


async def test_a_result_of_the_librarys_is_not_told_for_a_model_that_cannot(judges: Stage) -> None:
    judges.add("product_of", PRODUCT)
    script = judged(agreeing, [*built()[:-1], *["The product is 42, or 4711."] * 2], REUSE)
    result = await play(judges, script)
    assert result.status == "gave_up"
