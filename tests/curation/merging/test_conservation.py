"""Every tool that goes into a step comes out of it, whatever a model says of which belong together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from habilis.curation.merging.cluster import Joined, PairReply, PairsReply, word_on
from habilis.library import Library
from habilis.runtime.calls import CallSpec

from .conftest import Stage, module

NAMES = ["add", "plus", "sum_up", "take", "minus", "word_count"]
BODIES = {
    "add": "    return OutputModel({o}=input.{a} + input.{b})",
    "take": "    return OutputModel({o}=input.{a} - input.{b})",
    "fail": "    raise ValueError('no')",
}
WORDS = ["same", "different", "unsure"]
ODD = ["", "../../x", "nosuch", "add", "add", "/etc/passwd", "add\x00", "ADD", "tool_", "records", "日本"]

tools = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "body": st.sampled_from(["add", "add", "take"]),
        "fields": st.sampled_from([("a", "b"), ("x", "y"), ("left", "right")]),
        "out": st.sampled_from(["total", "value"]),
        "verdict": st.sampled_from(["success", "success", "failure", None]),
        "calls": st.integers(0, 2),
    }
)
steps = st.lists(
    st.tuples(st.lists(tools, max_size=3), st.sampled_from(["answered", "gave_up", "timed_out"])),
    min_size=1,
    max_size=3,
)


@st.composite
def said(draw: Any) -> str:
    """What a hostile model says of pairs: doubled, left out and invented ones, or no such thing at all."""
    kind = draw(st.sampled_from(["pairs", "pairs", "rubbish", "empty", "raises"]))
    if kind == "pairs":
        names = [f"{name}{suffix}" for name in NAMES for suffix in ("", "_v02", "_v03")]
        name = st.sampled_from([*names, *ODD])
        row = st.fixed_dictionaries({"one": name, "other": name, "reason": name, "word": st.sampled_from(WORDS[:2])})
        return json.dumps({"pairs": draw(st.lists(row, max_size=24))})
    return {"rubbish": "as you wish", "empty": json.dumps({"pairs": []}), "raises": "!"}[kind]


@pytest.mark.slow
@pytest.mark.promise
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches=st.lists(steps, min_size=1, max_size=3), replies=st.lists(said(), min_size=1, max_size=3))
async def test_whatever_is_said_each_tool_is_accounted_for_once_and_what_is_kept_works(
    batches: list[Any], replies: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    stage = Stage(tmp_path_factory.mktemp("stage"))
    number = 0

    def model(messages: Any, tools: Any, form: Any) -> Any:
        text = replies[number % len(replies)]
        return RuntimeError("no") if text == "!" else text

    for number, batch in enumerate(batches, 1):
        finished = [await _task(stage, f"s{number}t{n}", made, status) for n, (made, status) in enumerate(batch)]
        before = set(stage.names())
        report = await stage.curator(model).step(number, finished)
        absorbed = sum(
            len(Library(Path(task.folder) / "tools").names()) for task in finished if task.status != "timed_out"
        )
        assert report.balanced
        assert len(report.went_in) == len(before) + absorbed
        library = Library(stage.library)
        assert set(library.names()) == {fate.into for fate in report.fates if fate.into is not None}
        assert report.tools == len(library.names())
        assert library.broken() == []
        for name in before:
            assert library.get(name) is not None, f"nothing answers to {name} any more"
        for name in (*library.names(), *library.aliases()):
            for record in library.records(name):
                tool = library.get(name)
                assert tool is not None
                if record.verdict == "success":
                    outcome = await stage.host.call(CallSpec(tool.runnable, record.arguments, workspace=stage.folder))
                    assert outcome.output == record.output, f"{name} does not repeat what it gave"


async def test_a_tool_that_bears_an_old_name_and_is_the_same_adds_no_call_under_that_name(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """What a name leads to repeats each call that is kept under it: a task's tool of that name gave its result in a
    field of another name, and is the tool that took the old one's place."""
    stage = Stage(tmp_path_factory.mktemp("stage"))
    plain = {"name": "word_count", "body": "add", "fields": ("left", "right"), "calls": 1, "verdict": "success"}
    total, value = [{**plain, "out": "total"}], [{**plain, "out": "value"}]
    for step, said in enumerate(([total, value], [value]), 1):
        finished = [await _task(stage, f"s{step}t{n}", made, "answered") for n, made in enumerate(said)]
        await stage.curator(lambda *_: json.dumps({"pairs": []})).step(step, finished)
    library = Library(stage.library)
    assert list(library.aliases()) == ["word_count"]
    owner = library.names()[0]
    assert [set(one.output or {}) for one in library.records("word_count")] == [{"total", "error"}]
    assert [set(one.output or {}) for one in library.records(owner)] == [{"value", "error"}] * 2


async def _task(stage: Stage, task_id: str, made: list[dict[str, Any]], status: str) -> Any:
    sources, calls = {}, {}
    verdict = "success"
    for tool in made:
        one, other = tool["fields"]
        body = BODIES[tool["body"]].format(a=one, b=other, o=tool["out"])
        name = tool["name"]
        sources[name] = module(name, body, f"{one}: int; {other}: int", f"{tool['out']}: int | None")
        calls[name] = [{one: n + 3, other: 1} for n in range(tool["calls"])]
        verdict = tool["verdict"]
    return await stage.task(task_id, sources, calls, status=status, verdict=verdict)


@given(said=st.lists(st.tuples(st.sampled_from("abc../"), st.sampled_from("abc"), st.sampled_from(WORDS)), max_size=8))
def test_a_pair_of_which_two_things_are_said_has_no_word(said: list[tuple[str, str, Any]]) -> None:
    reply = PairsReply(pairs=[PairReply(one=one, other=other, reason="", word=word) for one, other, word in said])
    words = {word for one, other, word in said if {one, other} == {"a", "b"}}
    assert word_on(reply, ("b", "a")) == (words.pop() if len(words) == 1 else None)


@given(
    pairs=st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=10),
    apart=st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=4),
)
def test_no_group_holds_two_that_are_apart(pairs: list[tuple[str, str]], apart: list[tuple[str, str]]) -> None:
    joined = Joined(pair for pair in apart if pair[0] != pair[1])
    for pair in pairs:
        joined.join(*pair)
    assert not any(set(pair) <= {*group} for pair in apart if pair[0] != pair[1] for group in joined.groups())


@given(pairs=st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=10))
def test_joined_names_are_in_one_group_in_whatever_order_they_were_joined(pairs: list[tuple[str, str]]) -> None:
    one, other = Joined(), Joined()
    for pair in pairs:
        one.join(*pair)
    for pair in reversed(pairs):
        other.join(*reversed(pair))
    assert one.groups() == other.groups()
    assert all(any({*pair} <= {*group} for group in one.groups()) for pair in pairs if pair[0] != pair[1])
