"""Tools that fail are mended; a bad mending destroys nothing, a good one is never lost."""

import re
from typing import Any

from habilis.core.errors import ModelUnreachable

from .conftest import Script, Stage, call, calling, tool_source

PICKY = tool_source("parse", "return OutputModel(result=int(input.x))", inputs="x: str", effects="pure")
BETTER = PICKY.replace("int(input.x)", "int(input.x.replace(',', ''))")
WORSE = PICKY.replace("int(input.x)", "7")
PLAN = ({"required_tool_names": ["parse"]},)
FIXED = ({"results": [{"record": "r1", "fixed": True, "reason": "a number"}]},)


def code(source: str) -> str:
    return f"Here it is.\n```python\n{source}```"


async def test_a_mended_tool_runs_next_and_the_failing_call_leaves_the_history(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [
        calling(call("parse", {"x": "7"}, "good")),
        calling(call("parse", {"x": "1,000"}, "bad"), text="Now the large one."),
        calling(call("parse", {"x": "1,000"}, "again")),
        "1000.",
    ]
    script = Script(steps, PLAN, codes=[code(BETTER)], fixed=FIXED)
    result = await stage.play(script)
    messages, _ = script.of("steps")[2]
    assert "bad" not in str([m.model_dump() for m in messages])
    assert "Now the large one." in str([m.content for m in messages])
    assert result.invocations[-1].outcome.output == {"result": 1000, "error": None}
    assert [i.verdict for i in result.invocations] == ["success", "failure", "success"]
    (enhanced,) = stage.sink.of("tool_enhanced")
    assert enhanced.records >= 1
    public = (stage.root / "library" / "parse.py").read_text(encoding="utf-8")
    assert public == PICKY


async def test_a_candidate_that_breaks_a_passed_call_never_replaces_the_tool(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [calling(call("parse", {"x": "8"}, "good")), calling(call("parse", {"x": "1,000"}, "bad")), "It failed."]
    script = Script(steps, PLAN, codes=[code(WORSE)], fixed=FIXED)
    await stage.play(script)
    assert stage.sink.of("tool_enhanced") == []
    assert len(stage.sink.of("tool_rejected")) == 3
    messages, _ = script.of("steps")[-1]
    assert "bad" in str([m.model_dump() for m in messages])


async def test_a_success_does_not_trust_a_tool_for_ever(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [calling(call("parse", {"x": str(n)}, f"c{n}")) for n in range(3)]
    steps.append(calling(call("parse", {"x": "1,000"}, "bad")))
    script = Script(
        [*steps, calling(call("parse", {"x": "1,000"}, "again")), "Done."], PLAN, codes=[code(BETTER)], fixed=FIXED
    )
    result = await stage.play(script)
    assert len(stage.sink.of("tool_enhanced")) == 1
    assert result.invocations[-1].verdict == "success"


async def test_mending_after_the_answer_asks_for_the_answer_again_and_the_tool_is_kept(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [
        calling(call("parse", {"x": "1,000"}, "bad")),
        "The tool failed.",
        calling(call("parse", {"x": "1,000"}, "again")),
        "1000.",
    ]
    script = Script(steps, PLAN, codes=[code(BETTER)], fixed=FIXED)
    result = await stage.play(script)
    assert result.attempts == 1
    assert "The tool failed." not in str([m.content for m in script.of("steps")[2][0]])
    assert (stage.root / "run" / "tasks" / "task" / "tools" / "parse.py").read_text(
        encoding="utf-8"
    ) == BETTER.strip() + "\n"
    assert result.status == "answered"


async def test_what_was_asked_before_a_mend_is_not_asked_again_behind_it(stage: Stage) -> None:
    """Without the failed call the history is the one before it: the same request, and the same reply paid twice."""
    stage.add("parse", PICKY)
    steps = [calling(call("parse", {"x": "1,000"}, "bad")), "The tool failed.", "1000."]
    script = Script(steps, PLAN, codes=[code(BETTER)], fixed=FIXED)
    result = await stage.play(script)
    asked = [[(message.type, str(message.content)) for message in messages] for messages, _ in script.of("steps")]
    assert all(asked.count(one) == 1 for one in asked)
    assert len(asked) == 3
    assert [(one.verdict, one.outcome.output) for one in result.invocations] == [
        ("failure", None),
        ("success", {"result": 1000, "error": None}),
    ]
    assert result.status == "answered"
    assert len({one.call_id for one in result.invocations}) == 2


async def test_a_tool_mended_in_the_last_step_is_not_cleaned_away(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [calling(call("parse", {"x": "1,000"}, "bad")), "The tool failed.", "Still no number."]
    script = Script(steps, PLAN, codes=[code(BETTER)], fixed=FIXED)
    await stage.play(script)
    assert stage.sink.of("tool_archived") == []
    assert (stage.root / "run" / "tasks" / "task" / "tools" / "parse.py").exists()


async def test_one_kind_of_failure_is_tried_once_not_at_every_look(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [calling(call("parse", {"x": f"{n},000"}, f"c{n}")) for n in range(6)]
    script = Script([*steps, "I could not."], PLAN, codes=[code(PICKY)])
    await stage.play(script, "limits.enhance_interval=1")
    assert len(stage.sink.of("tool_given_up")) == 1


async def test_verdicts_that_rules_leave_open_are_asked_for_by_call_id(stage: Stage) -> None:
    body = "return OutputModel(result={'price': 1}[input.x])"
    stage.add("pick", tool_source("pick", body, inputs="x: str", effects="pure"))
    steps = [calling(call("pick", {"x": "prize"}, "one"), call("pick", {"x": "cost"}, "two")), "No such column."]
    verdicts = [
        {
            "verdicts": [
                {"call_id": "two", "verdict": "input_error", "reason": "no such column"},
                {"call_id": "one", "verdict": "input_error", "reason": "no such column"},
            ]
        }
    ]
    script = Script(steps, ({"required_tool_names": ["pick"]},), verdicts=verdicts)
    result = await stage.play(script)
    assert [(i.call_id, i.verdict) for i in result.invocations] == [("one", "input_error"), ("two", "input_error")]
    assert stage.sink.of("tool_given_up") == []


async def test_two_kinds_of_failure_in_one_look_are_one_enhancement_and_there_are_two_in_a_task(stage: Stage) -> None:
    negative, five = (
        "if input.x < 0:\n    raise ValueError('negative')\n",
        "if input.x == 5:\n    raise OSError('five')\n",
    )
    large, six = "if input.x > 9:\n    raise TypeError('large')\n", "if input.x == 6:\n    raise OSError('six')\n"
    first = tool_source("parse", f"{negative}{large}{five}{six}return OutputModel(result=1)")
    second = tool_source("parse", f"{five}{six}return OutputModel(result=1)")
    third = tool_source("parse", f"{six}return OutputModel(result=1)")
    stage.add("parse", first)
    steps = [
        calling(call("parse", {"x": -1}, "a"), call("parse", {"x": 10}, "b")),
        calling(call("parse", {"x": 5}, "c")),
        calling(call("parse", {"x": 6}, "d")),
        "Done.",
    ]
    fixed = ({"results": [{"record": f"r{n}", "fixed": True, "reason": "a number"} for n in (1, 2, 3)]},)
    script = Script(steps, PLAN, codes=[code(second), code(third), code(BETTER)], fixed=fixed)
    await stage.play(script, "limits.enhance_interval=1")
    assert len(stage.sink.of("tool_enhanced")) == 2
    assert len(script.of("codes")) == 2, "a third enhancement is over the limit"


SIGNLESS = tool_source("parse", "return OutputModel(result=float(input.x.strip('-')))", inputs="x: str", effects="pure")
SIGNED = SIGNLESS.replace("strip('-')", "rstrip('-').replace(',', '')")


async def test_a_word_on_where_a_mend_differs_is_asked_for_once_also_over_a_resume(stage: Stage) -> None:
    stage.add("parse", SIGNLESS)
    steps = [
        calling(call("parse", {"x": "7"}, "good")),
        calling(call("parse", {"x": "1,000"}, "bad")),
        ModelUnreachable("down"),
        calling(call("parse", {"x": "1,000"}, "again")),
        "1000.",
    ]
    script = Script(steps, PLAN, codes=[code(SIGNED)], fixed=FIXED)
    assert (await stage.play(script)).status == "unreachable"
    assert (await stage.team(script).resume(stage.root / "run")).status == "answered"
    assert len(script.of("differing")) == 1
    (messages, _) = script.of("differing")[0]
    assert '"-' in str(messages[-1].content), "what differs has a sign"
    assert "differing" in (await stage.team(script).resume(stage.root / "run")).judges


async def test_a_mend_that_a_judge_finds_worse_is_not_taken(stage: Stage) -> None:
    stage.add("parse", SIGNED.replace("replace(',', '')", "replace(' ', '')"))
    steps = [calling(call("parse", {"x": "7"}, "good")), calling(call("parse", {"x": "1,000"}, "bad")), "It failed."]

    class Knowing(Script):
        """A judge that wants signs kept."""

        def __call__(self, messages: Any, tools: Any, form: Any) -> Any:
            said = super().__call__(messages, tools, form)
            if self.asked[-1][0] != "differing":
                return said
            shown = re.findall(r"- call: (\S+)\n.*\n  first: (.*)\n", str(messages[-1].content))
            words = [(name, "first" if '": -' in first else "second") for name, first in shown]
            return {"results": [{"call": name, "reason": "signs", "right": right} for name, right in words]}

    lossy = SIGNLESS.replace("strip('-')", "strip('-').replace(',', '')")
    script = Knowing(steps, PLAN, codes=[code(lossy)], fixed=FIXED)
    await stage.play(script)
    assert len(script.of("differing")) >= 1
    assert stage.sink.of("tool_enhanced") == []
    assert "goes wrong where the version before was right" in stage.sink.of("tool_rejected")[0].reason


async def test_the_last_round_is_looked_at_as_well(stage: Stage) -> None:
    stage.add("parse", PICKY)
    steps = [calling(call("parse", {"x": "1,000"}, "bad")), "It failed."]
    script = Script(steps, PLAN, codes=[code(BETTER)], fixed=FIXED)
    await stage.play(script, "limits.max_rounds=1")
    assert len(stage.sink.of("tool_enhanced")) == 1
