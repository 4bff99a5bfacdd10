"""A step of the curator: what tasks proved goes into the library, what does the same becomes one, nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from habilis.core.types import CallError, CallOutcome, Invocation, TaskResult, ToolRequest
from habilis.curation.ledger.reports import Finished
from habilis.library import LayeredLibrary, Library, Manifest, Origin, Tool
from habilis.rundir.seals import sealed, unsealed

from ...toolshop import Shop, put
from .conftest import Stage, adding, clusters, endings, module


def with_question(task: Finished, question: str, tool: str) -> Finished:
    """`task`, which was answered with one call of `tool`."""
    call = Invocation(call_id="c", tool=tool, outcome=CallOutcome(), verdict="success")
    result = TaskResult(task_id=task.task_id, status="answered", question=question, invocations=(call,))
    return task.model_copy(update={"result": result})


async def test_a_proven_tool_goes_into_the_library_with_the_calls_that_prove_it(stage: Stage) -> None:
    task = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    report = await stage.curator().step(1, [task])
    assert (report.generation, report.parent, report.tools, report.model_calls) == (1, None, 1, 0)
    assert endings(report) == {"t1:add_numbers": "kept"}
    assert report.balanced
    assert stage.manifest("add_numbers").status == "public"
    assert stage.manifest("add_numbers").counters == {"calls": 1, "success": 1, "failure": 0, "input_error": 0}
    assert (await stage.call("add_numbers", a=4, b=5))["total"] == 9
    assert stage.asked == []
    (made,) = report.lineage
    assert (made.replays, made.told, made.distinct, made.tasks) == (0, 0, 0, ("t1",)), "nothing was merged"


async def test_two_that_do_the_same_become_one_and_both_names_work(stage: Stage) -> None:
    calls = {"add_numbers": [{"a": 2, "b": 3}, {"a": 0, "b": 3}]}
    await stage.curator().step(1, [await stage.task("t1", {"add_numbers": adding()}, calls)])
    source = adding("sum_of_two", "a: int; b: int", "value: int | None")
    second = await stage.task("t2", {"sum_of_two": source}, {"sum_of_two": [{"a": 1, "b": 1}]})
    report = await stage.curator(clusters(["add_numbers", "sum_of_two"])).step(2, [second])
    assert endings(report) == {"add_numbers": "kept", "t2:sum_of_two": "merged"}, report.evidence
    assert stage.names() == ["add_numbers"]
    assert (await stage.call("sum_of_two", a=4, b=5)) == {"value": 9, "error": None}
    assert (await stage.call("add_numbers", a=4, b=5)) == {"total": 9, "error": None}
    assert "merged" in [fate.ending for fate in report.fates]
    assert [member.split("@")[0] for member in stage.manifest("add_numbers").origin.members] == ["sum_of_two"]


async def test_the_writer_may_make_one_of_several(stage: Stage) -> None:
    tools = {
        "count_errors": module(
            "count_errors", "    return OutputModel(n=input.text.count('e'))", "text: str", "n: int | None"
        ),
        "count_spaces": module(
            "count_spaces", "    return OutputModel(n=input.text.count(' '))", "text: str", "n: int | None"
        ),
    }
    calls = {name: [{"text": "see me be"}, {"text": "e e"}] for name in tools}
    task = with_question(await stage.task("t1", tools, calls), "How many of that letter?", "count_errors")
    merged = module(
        "count_part",
        "    return OutputModel(found=input.text.count(input.part))",
        "text: str; part: str",
        "found: int | None",
        aliases={
            "count_errors": {"constants": {"part": "e"}, "fields": {"found": "n"}},
            "count_spaces": {"constants": {"part": " "}, "fields": {"found": "n"}},
        },
    )
    said = [clusters(["count_errors", "count_spaces"]), f"```python\n{merged}```", "no calls"]
    report = await stage.curator(*said, policy="model").step(1, [task])
    assert stage.names() == ["count_part"], report.evidence
    assert endings(report) == {"t1:count_errors": "merged", "t1:count_spaces": "merged"}
    assert (await stage.call("count_spaces", text="a b c")) == {"n": 2, "error": None}
    assert (await stage.call("count_errors", text="eel")) == {"n": 2, "error": None}
    assert report.model_calls == 3, "what belongs together, the code, calls that would tell a wrong one"
    (made,) = report.lineage
    assert [parent.split("@")[0] for parent in made.parents] == ["count_errors", "count_spaces"]
    assert (made.replays, made.tasks, made.writer) == (4, ("t1",), "model")
    assert stage.manifest("count_part").answered == ("How many of that letter?",)
    asked = LayeredLibrary(Library(stage.library)).members(stage.get("count_part"))
    assert [member.tool.name for member in asked] == ["count_errors", "count_spaces"], "where the new one fails"


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ({"constants": 5}, "The alias of count_errors must hold arguments, constants and fields by name."),
        ({"constants": {"part": "e"}, "fields": {"gone": "n"}}, "The alias of count_errors leads nowhere"),
        (None, "aliases do not say how calls of count_errors become calls of this tool."),
    ],
    ids=["malformed", "to a field that is not there", "not said"],
)
async def test_a_merge_whose_writer_does_not_say_how_old_calls_go_on_is_refused(
    stage: Stage, way: dict[str, Any] | None, said: str
) -> None:
    tools = {
        name: module(name, f"    return OutputModel(n=input.text.count({part!r}))", "text: str", "n: int | None")
        for name, part in (("count_errors", "e"), ("count_spaces", " "))
    }
    task = await stage.task("t1", tools, {name: [{"text": "see me be"}] for name in tools})
    ways = {"count_spaces": {"constants": {"part": " "}, "fields": {"found": "n"}}}
    body = "    return OutputModel(found=input.text.count(input.part))"
    merged = module(
        "count_part",
        body,
        "text: str; part: str",
        "found: int | None",
        aliases=ways if way is None else ways | {"count_errors": way},
    )
    replies = [clusters(["count_errors", "count_spaces"]), *[f"```python\n{merged}```"] * 3]
    report = await stage.curator(*replies, policy="model").step(1, [task])
    assert stage.names() == ["count_errors", "count_spaces"]
    assert any(said in line for line in report.evidence), report.evidence
    assert (await stage.call("count_errors", text="eel")) == {"n": 2, "error": None}


# --- what is collected


async def test_only_what_proved_itself_is_collected_and_the_rest_is_said(stage: Stage) -> None:
    calls = {"good": [{"a": 1, "b": 2}]}
    task = await stage.task("t1", {"good": adding("good"), "idle": adding("idle", "x: int; y: int")}, calls)
    failing = await stage.task(
        "t2", {"bad": adding("bad", "p: int; q: int")}, {"bad": [{"p": 1, "q": 2}]}, verdict="failure"
    )
    hung = await stage.task("t3", {"hung": adding("hung")}, {"hung": [{"a": 1, "b": 2}]}, status="crashed")
    report = await stage.curator(models=False).step(1, [hung, failing, task])
    assert endings(report) == {"t1:good": "kept", "t1:idle": "retired", "t2:bad": "retired"}
    assert stage.names() == ["good"]
    assert {fate.reason for fate in report.fates if fate.ending == "retired"} == {
        "no call of it was judged; it stays with its task",
        "no call of it succeeded; it stays with its task",
    }
    assert report.evidence == ("task t3 crashed: hung stay with it",)


async def test_the_same_source_is_the_same_tool_and_brings_its_calls(stage: Stage) -> None:
    one = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    await stage.curator(models=False).step(1, [one])
    two = await stage.task("t2", {"add_v02": adding()}, {"add_v02": [{"a": 7, "b": 3}]})
    three = await stage.task("t3", {}, {"add_numbers": [{"a": 9, "b": 3}]})
    report = await stage.curator(models=False).step(2, [two, three])
    assert endings(report) == {"add_numbers": "kept", "t2:add_v02": "merged"}
    assert stage.names() == ["add_numbers"]
    library = Library(stage.library)
    assert [record.arguments["a"] for record in library.records("add_numbers")] == [2, 7, 9]
    assert stage.manifest("add_numbers").counters["success"] == 3


async def test_two_different_tools_of_one_name_both_survive(stage: Stage) -> None:
    other = module("add_numbers", "    return OutputModel(word=input.text)", "text: str", "word: str | None")
    tasks = [
        await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]}),
        await stage.task("t2", {"add_numbers": other}, {"add_numbers": [{"text": "x"}]}),
    ]
    report = await stage.curator(models=False).step(1, tasks)
    assert {fate.into for fate in report.fates} == {"add_numbers", "add_numbers_v02"} == set(stage.names())
    assert stage.manifest("add_numbers_v02").origin.our_suffix
    assert "no one way leads from its fields" in report.evidence[0]


def _adding_and(number: int, name: str) -> str:
    """A tool whose code no other has."""
    return module(name, f"    return OutputModel(total=input.a + input.b + {number})")


async def test_equal_code_becomes_one_without_a_model_or_a_name_that_says_so(stage: Stage) -> None:
    again = (
        adding("tool_0123abcd")
        .replace("(input: ", "(given: ")
        .replace("=input.", "=given.")
        .replace("+ input.", "+ given.")
    )
    assert again != adding("tool_0123abcd")
    calls: list[dict[str, object]] = [{"a": n, "b": 3} for n in range(6)]
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": calls})
    second = await stage.task("t2", {"tool_0123abcd": again}, {"tool_0123abcd": calls})
    report = await stage.curator().step(1, [first, second])
    assert len(stage.names()) == 1, report.evidence
    assert sorted(endings(report).values()) == ["kept", "merged"]
    assert stage.asked == []


async def test_a_suffix_that_is_not_ours_stays_and_hashed_names_are_never_grouped(stage: Stage) -> None:
    names = ["parse_v02", "parse", "tool_0123abcd", "tool_0123abce"]
    tasks = [
        await stage.task(f"t{n}", {name: _adding_and(n, name)}, {name: [{"a": n, "b": 3}]})
        for n, name in enumerate(names)
    ]
    await stage.curator(models=False).step(1, tasks)
    assert stage.names() == sorted(names)


async def test_names_of_the_same_words_need_no_model(stage: Stage) -> None:
    tasks = [
        await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]}),
        await stage.task("t2", {"numbers_add": adding("numbers_add")}, {"numbers_add": [{"a": 2, "b": 4}]}),
    ]
    report = await stage.curator(policy="model").step(1, tasks)
    assert (len(stage.names()), report.model_calls, stage.asked) == (1, 0, [])
    assert await stage.call("add_numbers", a=1, b=1) == await stage.call("numbers_add", a=1, b=1)


async def test_what_breaks_the_gate_drops_out_of_its_group_and_the_others_of_it_are_merged(stage: Stage) -> None:
    names = ["add_numbers", "sum_of_two", "total_of_pair"]
    task = await stage.task(
        "t1", {name: adding(name) for name in names}, {name: [{"a": 2, "b": 3}, {"a": 0, "b": 1}] for name in names}
    )
    stage.host.refuse = lambda tool: (
        CallError(kind="crashed", message="it fell over") if tool.name == "add_numbers" else None
    )
    report = await stage.curator(clusters(names)).step(1, [task])
    assert {ending: list(endings(report).values()).count(ending) for ending in ("quarantined", "kept", "merged")} == {
        "quarantined": 1, "kept": 1, "merged": 1,
    }, report.evidence  # fmt: skip
    assert (endings(report)["t1:add_numbers"], report.balanced) == ("quarantined", True)
    for name in names[1:]:
        assert (await stage.call(name, a=4, b=5))["total"] == 9


async def test_a_tool_that_breaks_the_gate_when_it_is_tried_again_is_quarantined_with_the_reason(stage: Stage) -> None:
    tools = {"add_numbers": adding(), "good": adding("good", "p: int; q: int")}
    task = await stage.task("t1", tools, {"add_numbers": [{"a": 2, "b": 3}], "good": [{"p": 1, "q": 1}]})
    stage.host.refuse = lambda tool: (
        CallError(kind="crashed", message="it fell over") if tool.name == "add_numbers" else None
    )
    report = await stage.curator(models=False).step(1, [task])
    assert endings(report) == {"t1:add_numbers": "quarantined", "t1:good": "kept"}
    assert stage.names() == ["good"]
    (kept,) = (stage.library / "quarantine").glob("*.json")
    manifest = Manifest.model_validate_json(unsealed(kept.read_bytes()))
    assert manifest.status == "quarantined"
    assert "it fell over" in str(manifest.reason)
    assert kept.with_suffix(".py").is_file()
    assert kept.with_suffix(".jsonl").read_text().count("\n") == 1


async def test_a_step_that_brings_nothing_new_publishes_nothing(stage: Stage) -> None:
    one = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    await stage.curator(models=False).step(1, [one])
    report = await stage.curator(models=False).step(2, [one, await stage.task("t2")])
    assert (report.generation, report.parent, report.tools) == (1, 1, 1)
    assert endings(report) == {"add_numbers": "kept", "t1:add_numbers": "merged"}
    assert stage.generations.current() == 1


# --- what is merged, and what is not


async def test_a_better_version_takes_the_place_of_the_public_one_and_loses_none_of_its_calls(stage: Stage) -> None:
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    await stage.curator(models=False).step(1, [first])
    old = stage.get("add_numbers")
    better = adding().replace("input.a + input.b", "int(input.a) + int(input.b)")
    origin = Origin(how="forked", parents=(f"add_numbers@{old.version}",))
    second = await stage.task(
        "t2", {"add_numbers": better}, {"add_numbers": [{"a": 4, "b": 3}]}, origins={"add_numbers": origin}
    )
    report = await stage.curator(models=False).step(2, [second])
    assert endings(report) == {"add_numbers": "merged", "t2:add_numbers": "kept"}, report.evidence
    assert {fate.into for fate in report.fates} == {"add_numbers"}
    assert stage.get("add_numbers").source() == better
    assert [record.arguments["a"] for record in Library(stage.library).records("add_numbers")] == [2, 4]
    assert (stage.library / "archive" / f"add_numbers.{old.version}.py").read_text() == adding()
    assert stage.manifest("add_numbers").aliases == {}
    assert stage.manifest("add_numbers").origin.members == (), "what was mended is not asked where the new one fails"
    assert stage.manifest("add_numbers").counters["calls"] == 1, "of the new version; those before were the old one's"


async def test_calls_of_a_second_tool_of_one_name_lie_under_that_name_alone(stage: Stage) -> None:
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}, {"a": 0, "b": 3}]})
    await stage.curator(models=False).step(1, [first])
    other = adding().replace("input.a + input.b", "sum([input.a, input.b])")
    second = await stage.task("t2", {"add_numbers": other}, {"add_numbers": [{"a": 4, "b": 3}]})
    report = await stage.curator(models=False).step(2, [second])
    assert stage.names() == ["add_numbers"], report.evidence
    records = {path.stem: Library(stage.library).records(path.stem) for path in stage.library.rglob("*.jsonl")}
    assert {name: [call.arguments["a"] for call in calls] for name, calls in records.items()} == {
        "add_numbers": [2, 0, 4]
    }


async def test_a_better_version_that_forgot_something_stands_beside_the_public_one(stage: Stage) -> None:
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": -2, "b": 3}]})
    await stage.curator(models=False).step(1, [first])
    forgetful = adding().replace("input.a + input.b", "abs(input.a) + input.b")
    origin = Origin(how="forked", parents=(f"add_numbers@{stage.get('add_numbers').version}",))
    second = await stage.task(
        "t2", {"add_numbers": forgetful}, {"add_numbers": [{"a": 4, "b": 3}]}, origins={"add_numbers": origin}
    )
    report = await stage.curator(models=False).step(2, [second])
    assert stage.names() == ["add_numbers", "add_numbers_v02"]
    assert (await stage.call("add_numbers", a=-2, b=3))["total"] == 1
    assert any('{"a": -2, "b": 3}' in line for line in report.evidence)


async def test_a_counter_example_on_a_generated_call_is_told_in_one_line_and_stops_the_merge(stage: Stage) -> None:
    odd = adding("plus").replace("input.a + input.b", "input.a + input.b if input.a < 3 else 0")
    tasks = [
        await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}, {"a": 1, "b": 1}]}),
        await stage.task("t2", {"plus": odd}, {"plus": [{"a": 2, "b": 3}]}),
    ]
    report = await stage.curator(clusters(["add_numbers", "plus"])).step(1, tasks)
    assert stage.names() == ["add_numbers", "plus"]
    lines = [line for line in report.evidence if "on a generated call" in line]
    assert lines
    assert all("\n" not in line and "would give" in line for line in lines)


async def test_without_calls_that_can_be_run_again_nothing_is_merged(stage: Stage) -> None:
    asking = adding("ask_web")
    tasks = [
        await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}, {"a": 1, "b": 1}]}),
        await stage.task("t2", {"ask_web": asking}, {"ask_web": [{"a": 2, "b": 3}]}),
    ]
    stage.host.refuse = lambda tool: CallError(kind="denied", message="no network") if tool.name == "ask_web" else None
    records = Library(stage.folder / "run" / "tasks" / "t2" / "tools").store.path("ask_web")
    (line,) = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(sealed(unsealed(line).replace(b'"why_not":null', b'"why_not":"it used the network"')))
    report = await stage.curator(clusters(["add_numbers", "ask_web"])).step(1, tasks)
    assert stage.names() == ["add_numbers", "ask_web"]
    assert any("none of its calls can be run again" in line for line in report.evidence)


async def test_old_names_stay_when_what_they_led_to_is_replaced_itself(stage: Stage) -> None:
    one = await stage.task(
        "t1", {"alpha": adding("alpha", "x: int; y: int", "n: int | None")}, {"alpha": [{"x": 1, "y": 2}]}
    )
    await stage.curator(models=False).step(1, [one])
    for step, name in enumerate(("beta", "gamma"), 2):
        source = adding(name, "x: int; y: int", f"out{step}: int | None")
        task = await stage.task(f"t{step}", {name: source}, {name: [{"x": n, "y": step} for n in range(step)]})
        before = stage.names()[0]
        await stage.curator(clusters([before, name])).step(step, [task])
    assert stage.names() == ["gamma"]
    assert await stage.call("alpha", x=2, y=3) == {"n": 5, "error": None}
    assert await stage.call("beta", x=2, y=3) == {"out2": 5, "error": None}
    assert await stage.call("gamma", x=2, y=3) == {"out3": 5, "error": None}
    assert Library(stage.library).aliases() == ["alpha", "beta"]
    assert [card.name for card in Library(stage.library).cards()] == ["gamma"]
    called = await stage.task("t9", {}, {"alpha": [{"x": 8, "y": 8}]})
    await stage.curator(models=False).step(4, [called])
    assert len(Library(stage.library).records("alpha")) == 2


async def test_old_names_stay_when_a_writer_makes_one_of_what_they_led_to_and_another(stage: Stage) -> None:
    alpha = adding("alpha", "x: int; y: int", "n: int | None")
    await stage.curator(models=False).step(1, [await stage.task("t1", {"alpha": alpha}, {"alpha": [{"x": 1, "y": 2}]})])
    for step, name in enumerate(("beta", "gamma"), 2):
        source = adding(name, "x: int; y: int", f"out{step}: int | None")
        calls = [{"x": n, "y": step} for n in range(step)]
        task = await stage.task(f"t{step}", {name: source}, {name: calls})
        if step == 2:
            await stage.curator(clusters(["alpha", "beta"])).step(2, [task])
            assert stage.names() == ["beta"]
    ways = {
        name: {"arguments": {"x": "a", "y": "b"}, "fields": {"total": f"out{step}"}}
        for step, name in enumerate(("beta", "gamma"), 2)
    }
    said = (clusters(["beta", "gamma"]), f"```python\n{adding('delta', aliases=ways)}```", "no calls")
    report = await stage.curator(*said, policy="model").step(3, [task])
    assert stage.names() == ["delta"], report.evidence
    assert await stage.call("alpha", x=2, y=3) == {"n": 5, "error": None}
    assert await stage.call("beta", x=2, y=3) == {"out2": 5, "error": None}


async def test_the_naive_policy_takes_the_smallest_file_and_still_has_to_prove_it(stage: Stage) -> None:
    small = adding("tiny", description="S").replace("input.a + input.b", "input.a")
    tasks = [
        await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]}),
        await stage.task("t2", {"tiny": small}, {"tiny": [{"a": 2, "b": 0}]}),
    ]
    report = await stage.curator(clusters(["add_numbers", "tiny"]), policy="naive").step(1, tasks)
    assert stage.names() == ["add_numbers", "tiny"]
    assert "add_numbers stays beside tiny" in report.evidence[0]


# --- out of use, and back


async def test_a_tool_that_keeps_failing_is_retired_with_the_reason_and_its_calls(stage: Stage) -> None:
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    await stage.curator(models=False).step(1, [first])
    calls = [{"a": n, "b": 0} for n in range(10)]
    second = await stage.task("t2", {}, {"add_numbers": calls}, verdict="failure")
    report = await stage.curator(models=False).step(2, [second])
    assert endings(report) == {"add_numbers": "retired"}
    assert report.fates[0].reason == "10 of its last 10 calls failed"
    assert (stage.names(), report.tools) == ([], 0)
    ((tool, records),) = Library(stage.library).retired()
    assert (tool.name, len(records)) == ("add_numbers", 11)


async def test_the_same_source_shares_the_fate_of_what_is_quarantined_or_retired(stage: Stage) -> None:
    """Else the account would say that its work is done by a tool that is not there."""
    tools = {"good": adding("good", "p: int; q: int")}
    first = await stage.task("t1", tools, {"good": [{"p": 1, "q": 1}]})
    await stage.curator(models=False).step(1, [first])
    bad = {"add_numbers": adding()}
    tasks = [await stage.task(f"t{n}", bad, {"add_numbers": [{"a": 2, "b": n}]}) for n in (2, 3)]
    tasks.append(await stage.task("t4", {"well": tools["good"]}, {"well": [{"p": 1, "q": 9}]}))
    tasks.append(await stage.task("t5", {}, {"good": [{"p": n, "q": 0} for n in range(10)]}, verdict="failure"))
    stage.host.refuse = lambda tool: (
        CallError(kind="crashed", message="it fell over") if tool.name == "add_numbers" else None
    )
    report = await stage.curator(models=False).step(2, tasks)
    assert stage.names() == []
    assert report.balanced
    told = {fate.tool.split("@")[0]: (fate.ending, fate.into, fate.reason) for fate in report.fates}
    assert told.pop("t3:add_numbers") == ("quarantined", None, "the same source as add_numbers, which is")
    assert told.pop("t4:well") == ("retired", None, "the same source as good, which is")
    assert {name: ending for name, (ending, _, _) in told.items()} == {
        "good": "retired",
        "t2:add_numbers": "quarantined",
    }


async def test_a_request_close_to_a_retired_tool_brings_it_back_unwritten(stage: Stage) -> None:
    await test_a_tool_that_keeps_failing_is_retired_with_the_reason_and_its_calls(stage)
    shop = Shop(stage.folder / "task", public=False)
    shop.library.public = Library(stage.library)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    wanted = ToolRequest(
        name="add_numbers",
        description="Add.",
        input_schema=schema,
        output_schema={"type": "object", "properties": {"total": {"type": "integer"}}},
    )
    tool = await shop.smith.build(wanted, question="?", files=[])
    assert isinstance(tool, Tool)
    assert (tool.origin.how, shop.writer.asked) == ("revived", [])
    assert tool.source() == adding()
    shop.writer.replies = [adding("other")]
    unlike = wanted.model_copy(update={"output_schema": schema})
    fresh = await shop.smith.build(unlike, question="?", files=[])
    assert isinstance(fresh, Tool)
    assert (fresh.origin.how, len(shop.writer.asked)) == ("built", 1)


async def test_a_revived_tool_that_proves_itself_is_public_again(stage: Stage) -> None:
    await test_a_tool_that_keeps_failing_is_retired_with_the_reason_and_its_calls(stage)
    origin = Origin(how="revived", parents=(f"add_numbers@{Library(stage.library).retired()[0][0].version}",))
    back = await stage.task(
        "t3", {"add_numbers": adding()}, {"add_numbers": [{"a": 4, "b": 4}]}, origins={"add_numbers": origin}
    )
    report = await stage.curator(models=False).step(3, [back])
    assert endings(report) == {"t3:add_numbers": "kept"}
    library = Library(stage.library)
    assert (library.names(), library.retired()) == (["add_numbers"], [])
    assert len(library.records("add_numbers")) == 12


async def test_a_tool_is_found_by_the_questions_that_it_helped_to_answer(stage: Stage) -> None:
    for number, (question, status) in enumerate(
        [("How much is it together?", "answered"), ("How much is it together?", "answered"), ("And now?", "gave_up")], 1
    ):
        tools = {"add_numbers": adding()} if number == 1 else {}
        task = await stage.task(f"t{number}", tools, {"add_numbers": [{"a": number, "b": 3}]}, status=status)
        call = Invocation(call_id="c", tool="add_numbers", outcome=CallOutcome(), verdict="success")
        result = TaskResult(task_id=task.task_id, status=task.status, question=question, invocations=(call,))
        await stage.curator(models=False).step(number, [task.model_copy(update={"result": result})])
    assert stage.manifest("add_numbers").answered == ("How much is it together?",)
    assert stage.manifest("add_numbers").counters["tasks"] == 2
    assert [card.name for card in Library(stage.library).index().search("together", 1)] == ["add_numbers"]


async def test_what_a_tool_answered_in_the_step_that_replaces_it_is_known_of_the_one_that_goes_on(stage: Stage) -> None:
    await stage.curator(models=False).step(
        1, [await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})]
    )
    source = adding("sum_of_two", "x: int; y: int", "value: int | None")
    calls = {"sum_of_two": [{"x": n, "y": 3} for n in range(6)], "add_numbers": [{"a": 7, "b": 3}]}
    task = await stage.task("t2", {"sum_of_two": source}, calls)
    call = Invocation(call_id="c", tool="add_numbers", outcome=CallOutcome(), verdict="success")
    result = TaskResult(task_id="t2", status="answered", question="How much together?", invocations=(call,))
    report = await stage.curator(clusters(["add_numbers", "sum_of_two"])).step(
        2, [task.model_copy(update={"result": result})]
    )
    assert stage.names() == ["sum_of_two"], report.evidence
    assert stage.manifest("sum_of_two").answered == ("How much together?",)


async def test_a_tool_that_replaces_another_is_found_by_the_questions_that_it_helped_to_answer(stage: Stage) -> None:
    first = await stage.task("t1", {"add_numbers": adding()}, {"add_numbers": [{"a": 2, "b": 3}]})
    await stage.curator(models=False).step(1, [with_question(first, "How many pears and plums?", "add_numbers")])
    source = adding("sum_of_two", "x: int; y: int", "value: int | None")
    second = await stage.task("t2", {"sum_of_two": source}, {"sum_of_two": [{"x": n, "y": 3} for n in range(6)]})
    second = with_question(second, "What is it together?", "sum_of_two")
    report = await stage.curator(clusters(["add_numbers", "sum_of_two"])).step(2, [second])
    assert stage.names() == ["sum_of_two"], report.evidence
    assert stage.manifest("sum_of_two").answered == ("How many pears and plums?", "What is it together?")
    assert [card.name for card in Library(stage.library).index().search("pears", 1)] == ["sum_of_two"]


async def test_offers_that_nobody_took_are_counted_until_somebody_calls(stage: Stage) -> None:
    await put(Library(stage.library), adding(), "add_numbers", stage.host)
    text = module("say_word", "    return OutputModel(word=input.text)", "text: str", "word: str | None")
    made = await stage.task("t1", {"say_word": text}, {"say_word": [{"text": "x"}]})
    calling = await stage.task("t2", {}, {"add_numbers": [{"a": 2, "b": 3}]})
    for task in (made, calling):
        row = json.dumps({"kind": "planned", "offered": ["add_numbers", "gone"]})
        (Path(task.folder) / "events.jsonl").write_text(f"{row}\n", encoding="utf-8")
    await stage.curator(models=False).step(1, [made])
    assert stage.manifest("add_numbers").counters["offered"] == 1
    await stage.curator(models=False).step(2, [calling])
    counters = stage.manifest("add_numbers").counters
    assert (counters["calls"], counters["offered"]) == (1, 1)
