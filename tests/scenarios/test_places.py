"""When this machine fails: nobody is blamed for it, nothing is paid twice, and the task goes on after the mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from habilis.core.errors import PlaceError
from habilis.core.types import TaskResult

from ..fulldisk import FullDisk
from .conftest import World

QUESTION = "What is the average price in euro.csv?"
"""Answered with a tool that is written, fails, and is mended."""


async def _whole(world: World) -> tuple[TaskResult, int]:
    """The result of a run that nothing disturbs, and how many times it writes."""
    with FullDisk(world.home) as disk:
        result = await world.team().run(QUESTION, base=world.home, run_dir=world.home / "runs" / "whole")
    assert result.status == "answered"
    return result, disk.writes


async def _filled(world: World, at: int, whole: TaskResult) -> bool:
    """A run whose disk is full from write `at` on, and which goes on when there is room again; whether it was ended.

    The last writes find the room that was kept for replies, or are observers' alone.
    """
    run = world.home / "runs" / f"full{at}"
    world.server.requests.clear()
    with FullDisk(world.home, at) as disk:
        try:
            result = await world.team().run(QUESTION, base=world.home, run_dir=run)
        except PlaceError as error:  # not even the question could be kept
            assert "No space left" in str(error), at
            assert world.server.finished == 0, at
            result = None
    assert disk.refused or (result is not None and result.status == "answered"), at
    if result is not None and result.status != "answered":
        assert (result.status, "free space" in str(result.error)) == ("environment_error", True), (at, result.error)
        assert not [e for e in result.invocations if e.outcome.error and "space" in e.outcome.error.message], at
    if (run / "tasks" / "task" / "task.json").is_file():
        again = await world.team().resume(run)
    else:
        again = await world.team().run(QUESTION, base=world.home, run_dir=run)
    assert (again.status, again.final_answer) == ("answered", whole.final_answer), (at, again.error)
    assert world.server.finished == whole.usage.model_calls, (at, "a call was paid again, or a tool was blamed")
    assert again.usage.total_tokens == whole.usage.total_tokens, at
    assert again.tools_made == whole.tools_made, at
    return result is None or result.status != "answered"


async def test_on_a_full_disk_a_task_says_so_and_goes_on_when_there_is_room(world: World) -> None:
    whole, writes = await _whole(world)
    for at in (writes // 3, writes // 2):
        assert await _filled(world, at, whole)


@pytest.mark.slow
@pytest.mark.promise
async def test_a_disk_may_be_full_at_any_write_of_a_task(world: World) -> None:
    whole, writes = await _whole(world)
    assert writes > 80, "the layer sees the writes"
    places = range(1, writes, max(writes // 50, 1))
    ended = [await _filled(world, at, whole) for at in places]
    assert sum(ended) > 0.9 * len(places), "the disk was full"
