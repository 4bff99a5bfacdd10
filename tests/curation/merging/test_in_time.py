"""A step that has only so much time: what cannot be tried again stays where it is, and nothing is left running."""

from __future__ import annotations

import asyncio

import pytest

from habilis.core.types import CallOutcome
from habilis.curation.absorb import unverified
from habilis.runtime.calls import CallSpec

from ...toolshop import InProcessHost
from .conftest import Stage, adding, endings


class Hanging(InProcessHost):
    """A host on which one tool never comes to an end."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.ended = asyncio.Event(), False

    async def call(self, spec: CallSpec) -> CallOutcome:
        if not spec.tool.name.startswith("endless"):
            return await super().call(spec)
        self.began.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.ended = True


async def test_what_cannot_be_tried_again_in_time_stays_with_its_task_and_the_rest_goes_in(stage: Stage) -> None:
    endless = adding("endless", "p: int; q: int")
    tools = {"add_numbers": adding(), "endless": endless}
    task = await stage.task("t1", tools, {"add_numbers": [{"a": 2, "b": 3}], "endless": [{"p": 1, "q": 1}]})
    twin = await stage.task("t2", {"endless_too": endless}, {"endless_too": [{"p": 3, "q": 1}]})
    stage.host = host = Hanging()
    report = await stage.curator(models=False, verify_s=2.0).step(1, [task, twin])
    assert host.ended, "what was being tried is not left running"
    assert endings(report) == {"t1:add_numbers": "kept", "t1:endless": "retired", "t2:endless_too": "retired"}
    assert {fate.reason for fate in report.fates if fate.ending == "retired"} == {
        "it could not be verified within 2 s; it stays with its task"
    }
    assert unverified(report) == ["endless", "endless_too"]
    assert stage.names() == ["add_numbers"]
    assert (await stage.curator(models=False, verify_s=2.0).step(1, [task, twin])).fates == report.fates


async def test_stopped_while_a_tool_is_tried_again_nothing_is_lost(stage: Stage) -> None:
    task = await stage.task("t1", {"endless": adding("endless")}, {"endless": [{"a": 1, "b": 1}]})
    stage.host = host = Hanging()
    step = asyncio.create_task(stage.curator(models=False).step(1, [task]))
    await host.began.wait()
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert host.ended
    assert stage.generations.current() == 0
    stage.host = InProcessHost()
    report = await stage.curator(models=False).step(1, [task])
    assert endings(report) == {"t1:endless": "kept"}
