"""What a user would lose in a conversation whose program is killed: earlier turns, the turn itself, or money."""

from __future__ import annotations

import pytest

from habilis.demo import reply
from habilis.rundir import ThreadDir
from habilis.testing import RecordingSink, ScriptedServer, in_plain_text

from ..marks import PROMISE
from .conftest import World

FIRST, SECOND, THIRD = "What is the average price in sales.csv?", "And the maximum?", "times two"


@pytest.mark.parametrize("kill_at", [6, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 14, 24))])
async def test_a_turn_that_is_killed_harms_no_other_and_is_gone_on_with(world: World, kill_at: int) -> None:
    runs = world.home / "runs"
    first = await world.team().run(FIRST, base=world.home, thread="talk")
    assert first.final_answer == "20"
    thread = ThreadDir.named(runs, "talk")
    before = {path: path.read_bytes() for path in thread.turns()[0].path.rglob("*.json*")}
    done = world.start(world.home / "x", SECOND, kill_at, "talk")
    assert done.returncode == -9, done.stderr
    assert {path: path.read_bytes() for path in before} == before
    resumed = await world.team().resume(thread.path, "0002")
    assert (resumed.status, resumed.final_answer) == ("answered", "30")
    assert world.server.repeated() == []
    third = await world.team().run(THIRD, thread="talk")
    assert (third.task_id, third.final_answer) == ("0003", "60")


async def test_the_conversation_goes_on_although_a_turn_was_killed(world: World) -> None:
    await world.team().run(FIRST, base=world.home, thread="talk")
    killed = world.start(world.home / "x", "What is 2+3*4?", 18, "talk")
    assert killed.returncode == -9, killed.stderr
    sink = RecordingSink()
    third = await world.team(sink=sink).run("And the maximum price in sales.csv?", thread="talk")
    assert (third.task_id, third.final_answer) == ("0003", "30")
    earlier = ThreadDir.named(world.home / "runs", "talk").turns()[2].load_task()[0].earlier  # type: ignore[index]
    assert earlier is not None
    assert [turn.answer for turn in earlier.recent] == ["20", "(not answered: it was broken off)"]


@pytest.mark.parametrize("strategy", ["react_text", pytest.param("react_completion", marks=PROMISE)])
async def test_a_model_that_calls_no_functions_holds_a_conversation_too(world: World, strategy: str) -> None:
    with ScriptedServer(in_plain_text(reply)) as plain:
        team = world.team(f"models.basic.base_url={plain.base_url}", f"models.basic.strategy={strategy}")
        answers = [(await team.run(question, base=world.home, thread="talk")) for question in (FIRST, SECOND, THIRD)]
    assert [(one.status, one.final_answer) for one in answers] == [("answered", a) for a in ("20", "30", "60")]
