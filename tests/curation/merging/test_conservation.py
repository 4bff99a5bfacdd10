"""Every tool that goes into a step comes out of it, whatever a model says of which belong together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from habilis.curation.merging.cluster import ClusterReply, ClustersReply, Joined, checked
from habilis.library import Library
from habilis.runtime.calls import CallSpec

from .conftest import Stage, module

NAMES = ["add", "plus", "sum_up", "take", "minus", "word_count"]
BODIES = {
    "add": "    return OutputModel({o}=input.{a} + input.{b})",
    "take": "    return OutputModel({o}=input.{a} - input.{b})",
    "fail": "    raise ValueError('no')",
}
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
    """What a hostile model says of clusters: names doubled, left out and invented, or no such thing at all."""
    kind = draw(st.sampled_from(["groups", "groups", "rubbish", "empty", "raises"]))
    if kind == "groups":
        names = [f"{name}{suffix}" for name in NAMES for suffix in ("", "_v02", "_v03")]
        groups = draw(st.lists(st.lists(st.sampled_from([*names, *ODD]), max_size=8), max_size=6))
        return json.dumps({"clusters": [{"tools": group} for group in groups]})
    return {"rubbish": "as you wish", "empty": json.dumps({"clusters": []}), "raises": "!"}[kind]


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


@given(names=st.lists(st.text(max_size=4), unique=True, max_size=8), data=st.data())
def test_a_reply_made_sound_names_each_tool_exactly_once_and_nothing_else(names: list[str], data: Any) -> None:
    any_name = st.one_of(st.sampled_from(names), st.text(max_size=4)) if names else st.text(max_size=4)
    groups = data.draw(st.lists(st.lists(any_name, max_size=6), max_size=6))
    reply = ClustersReply(clusters=[ClusterReply(tools=group) for group in groups])
    found = checked(reply, names)
    assert sorted(name for group in found for name in group) == sorted(names)
    first = {name: n for n, group in reversed(list(enumerate(groups))) for name in group if name in names}
    for group in found:
        assert len({first.get(name, name) for name in group}) == 1


@given(pairs=st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=10))
def test_joined_names_are_in_one_group_in_whatever_order_they_were_joined(pairs: list[tuple[str, str]]) -> None:
    one, other = Joined(), Joined()
    for pair in pairs:
        one.join(*pair)
    for pair in reversed(pairs):
        other.join(*reversed(pair))
    assert one.groups() == other.groups()
    assert all(any({*pair} <= {*group} for group in one.groups()) for pair in pairs if pair[0] != pair[1])
