"""kill -9 anywhere, then resume: the same answer, and no finished model call is paid twice. On either way."""

from pathlib import Path

import pytest

from habilis.testing import RecordingSink

from .conftest import World

QUESTION = "What is the average price in euro.csv?"
LONG, SHORT = "false", "true"


async def _undisturbed(world: World, short: str) -> tuple[str, list[str], int]:
    """Answer, kinds of events, and number of model calls of a run that nobody kills."""
    sink = RecordingSink()
    team = world.team(f"tools.short_way={short}", sink=sink)
    result = await team.run(QUESTION, base=world.home, run_dir=world.home / "runs" / "whole")
    assert result.status == "answered"
    calls = world.server.finished
    world.server.requests.clear()
    names = [f"{e.kind}:{getattr(e, 'purpose', '')}" for e in sink.events]
    return result.final_answer, names, calls


async def _killed_and_resumed(world: World, number: int, name: str, answer: str, calls: int, short: str) -> None:
    run = world.home / "runs" / f"killed{number}"
    world.server.requests.clear()
    child = world.start(run, QUESTION, kill_at=number, HABILIS_TOOLS__SHORT_WAY=short)
    assert child.returncode == -9, child.stderr
    result = await world.team(f"tools.short_way={short}").resume(run)
    assert (result.status, result.final_answer) == ("answered", answer), name
    assert world.server.finished == calls, name
    assert result.usage.model_calls == calls, name
    if short == SHORT:
        (call,) = result.invocations
        assert call.outcome.opened == (str(world.home / "euro.csv"),), name


PLACES = [
    "task_started:",
    "model_call_ended:plan",
    "tool_built:",
    "tool_call_started:",
    "tool_call_ended:",
    "model_call_ended:verdict",
    "tool_enhanced:",
    "reviewed:",
    "model_call_ended:answer",
]


@pytest.mark.slow
@pytest.mark.promise
async def test_killed_in_every_node_a_task_goes_on_where_it_stood(world: World) -> None:
    answer, names, calls = await _undisturbed(world, LONG)
    for place in PLACES:
        assert place in names, names
        await _killed_and_resumed(world, names.index(place) + 1, place, answer, calls, LONG)


PROMISED = pytest.mark.promise(long=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("short", "share"),
    [
        pytest.param(LONG, 8, marks=PROMISED, id="every eighth of the long way"),
        pytest.param(SHORT, 2, marks=PROMISED, id="every second of the short way"),
        pytest.param(SHORT, 1, id="the short way"),
        pytest.param(LONG, 1, id="the long way"),
    ],
)
async def test_killed_at_every_single_event(world: World, short: str, share: int) -> None:
    answer, names, calls = await _undisturbed(world, short)
    for number, name in list(enumerate(names[:-1], 1))[::share]:
        await _killed_and_resumed(world, number, name, answer, calls, short)


async def test_a_finished_task_is_not_run_again(world: World) -> None:
    first = await world.team().run("What is 2+3*4?", base=world.home)
    asked = len(world.server.requests)
    again = await world.team().resume(Path(first.run_dir))
    assert again == first
    assert len(world.server.requests) == asked


async def test_a_write_that_was_cut_off_is_not_done_twice(world: World) -> None:
    from habilis.core.types import CallOutcome
    from habilis.models.tape import Tape

    run = world.home / "runs" / "r"
    first = await world.team().run("What is 2+3*4?", base=world.home, run_dir=run)
    tape = Tape(Path(first.run_dir) / "tasks" / "task" / "tape.jsonl")
    tape.call_started("cut", "note", "writes")
    tape.close()
    again = Tape(Path(first.run_dir) / "tasks" / "task" / "tape.jsonl")
    assert again.call_state("cut") == "started"
    assert isinstance(again.call_state(first.invocations[0].call_id), CallOutcome)
    again.close()
