"""What a reader of a record loses without ids: which model call wrote which of two tools built side by side."""

from __future__ import annotations

import asyncio

from pydantic import TypeAdapter

from habilis.core.events import Event, ModelCallEnded, ModelCallStarted, ToolBuildStarted, ToolRejected
from habilis.core.parents import as_build, parent_id, under


async def test_events_of_builds_side_by_side_tell_which_build_they_belong_to():
    met = asyncio.Barrier(2)

    @as_build
    async def build(name: str) -> list[str]:
        first = ToolBuildStarted(tool=name)
        await met.wait()  # both are under way now
        asked = ModelCallStarted(role="builder", purpose="code", model="m")
        await met.wait()
        last = ToolRejected(tool=name, purpose="build", attempt=1, reason="r")
        return [first.build_id, asked.parent, last.build_id]

    one, other = await asyncio.gather(build("a"), build("b"))
    assert len(set(one)) == len(set(other)) == 1
    assert one[0] != other[0]
    assert all([*one, *other])
    assert parent_id() == ""


def test_an_event_belongs_to_the_innermost_thing_that_is_under_way():
    with under("round-1"):
        with under("call-7"):
            assert ModelCallStarted(role="basic", purpose="step", model="m").parent == "call-7"
        assert ModelCallEnded(role="basic", purpose="step", model="m").parent == "round-1"


def test_a_record_from_before_ids_still_opens():
    old = [
        {"kind": "model_call_started", "role": "basic", "purpose": "plan", "model": "m"},
        {"kind": "tool_build_started", "tool": "t", "purpose": "build"},
        {"kind": "tool_call_ended", "call_id": "c", "tool": "t", "seconds": 1.0},
    ]
    opened = [TypeAdapter(Event).validate_python(row) for row in old]
    assert [getattr(one, "parent", getattr(one, "build_id", None)) for one in opened] == ["", "", ""]
