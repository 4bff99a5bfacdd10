"""What a training run may cost holds for all its tasks together, side by side and over resumes."""

from __future__ import annotations

import asyncio
import random
import time
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from habilis.core.errors import BudgetReached, Interrupted, UserError
from habilis.core.usage import Amount, Ceiling
from habilis.demo import reply
from habilis.models.purse import SpendingPurse
from habilis.testing import Fault, ScriptedServer
from habilis.training.runners.drawing import DistantPurse, Till

from ..runners import RUNNERS
from .conftest import World, processes_below
from .doubles import QUESTIONS

EIGHT = ["evolution.batch_size=8", "evolution.concurrency=8"]


class Meter:
    """The offline model behind a server, which says what each reply cost, and keeps it: tokens, and by `PRICED`."""

    def __init__(self, server: ScriptedServer) -> None:
        self.paid: list[int] = []
        self.bills: list[Decimal] = []
        server.answer = self

    def __call__(
        self, messages: list[BaseMessage], tools: list[dict[str, Any]], form: dict[str, Any] | None
    ) -> AIMessage:
        said = reply(messages, tools, form)
        sent, got = sum(len(str(message.content)) for message in messages) // 4, len(str(said.content)) // 4 + 20
        self.paid.append(sent + got)
        self.bills.append(Decimal(sent + 3 * got) / 1_000_000)
        counted = {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}
        return said.model_copy(update={"usage_metadata": counted})

    def overshoot(self, limit: int) -> int:
        return sum(self.paid) - limit


async def test_eight_at_once_overshoot_a_token_budget_by_one_reply_at_most(world: World) -> None:
    meter = Meter(world.server)
    training = await world.evolution(*EIGHT, "evolution.max_tokens=2000").run(
        world.rows(*QUESTIONS), name="first", base=world.home
    )
    assert (training.stopped, training.left) == ("budget", 8), "rows that the run's budget stopped stay open"
    assert "token budget of the run reached" in training.reason
    assert training.tokens == sum(meter.paid)
    assert 0 <= meter.overshoot(2000) < max(meter.paid)
    asked = len(meter.paid)
    training = await world.evolution(*EIGHT, "evolution.max_tokens=2000").resume(world.runs / "first")
    assert (training.stopped, len(meter.paid)) == ("budget", asked), "what was used before counts"
    training = await world.evolution(*EIGHT).resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected(*QUESTIONS))
    assert world.server.repeated() == [], "replies on the tapes cost nothing"
    assert training.tokens == sum(meter.paid)


@pytest.mark.slow
@pytest.mark.promise(long=True)
async def test_of_forty_trainings_with_budgets_by_lot_none_overshoots_by_more_than_a_reply(world: World) -> None:
    lot = random.Random(40)
    names = ["arithmetic", "gcd", *[f"song{n}" for n in range(6)]]
    rows = [*world.rows("arithmetic", "gcd")]
    rows += [rows[0].model_copy(update={"id": name, "question": f"Please sing {name}."}) for name in names[2:]]
    for number in range(40):
        meter, limit = Meter(world.server), lot.randint(200, 4_000)
        budget = f"evolution.max_tokens={limit}"
        training = await world.evolution(*EIGHT, budget).run(rows, name=f"r{number}", base=world.home)
        assert training.stopped == "budget"
        assert training.tokens == sum(meter.paid)
        assert meter.overshoot(limit) < max(meter.paid), limit
        if number % 10 == 0:
            training = await world.evolution(*EIGHT).resume(world.runs / f"r{number}")
            assert (training.stopped, training.left) == ("done", 0)
            assert training.tokens == sum(meter.paid)
        assert world.server.repeated() == []
        world.server.requests.clear()


@pytest.mark.slow
@pytest.mark.promise
async def test_tasks_in_processes_of_their_own_draw_on_the_same_purse(world: World) -> None:
    meter = Meter(world.server)
    options = ("evolution.max_tokens=3000", "evolution.runner=process", "evolution.concurrency=4")
    training = await world.evolution(*options).run(
        world.rows("mean", "sum", "arithmetic", "gcd"), name="first", base=world.home
    )
    assert (training.stopped, training.left) == ("budget", 4)
    assert 0 <= meter.overshoot(3000) < max(meter.paid)
    training = await world.evolution("evolution.runner=process").resume(world.runs / "first")
    assert (training.stopped, training.left) == ("done", 0)
    assert world.server.repeated() == []


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("runner", RUNNERS)
async def test_when_its_time_is_over_a_run_ends_within_the_time_for_replies_on_their_way(
    world: World, runner: str
) -> None:
    world.server.choose = lambda seen: Fault("hang")
    for limit_s in (3.0, 12.0, 48.0, 192.0):  # on a busy machine a process of its own asks nothing within the first
        began = time.monotonic()
        evolution = world.evolution(f"evolution.max_time_s={limit_s}", *RUNNERS[runner])
        name = f"within-{limit_s:g}"
        training = await evolution.run(world.rows("arithmetic", "gcd"), name=name, base=world.home)
        if world.server.requests:
            break
    assert world.server.requests, "nothing hung"
    assert (training.stopped, training.left) == ("budget", 2)
    assert "time budget of the run reached" in training.reason
    assert limit_s < time.monotonic() - began < limit_s + 10 + 60, "ten for replies; the rest is a busy machine's"
    assert processes_below(world.home) == {}
    world.server.choose = lambda seen: None
    training = await world.evolution().resume(world.runs / name)
    assert training.stopped == "done"


async def test_when_its_time_is_over_replies_on_their_way_are_kept(world: World) -> None:
    """The replies come only once the time is over."""
    evolution = world.evolution("evolution.max_time_s=2")
    answer = world.server.answer

    def late(*asked: Any) -> AIMessage:
        over = time.monotonic() + 2.3
        while time.monotonic() < over and not world.server.closing.wait(0.05):
            pass
        return answer(*asked)

    world.server.answer = late
    training = await evolution.run(world.rows("arithmetic", "gcd"), name="first", base=world.home)
    assert (training.stopped, training.left) == ("budget", 2)
    assert world.server.finished == world.replies_on_tapes() >= 1
    world.server.answer = answer
    training = await world.evolution().resume(world.runs / "first")
    assert (training.stopped, world.server.repeated()) == ("done", [])


# --- money

PRICED = "models.prices={scripted: {input: 1, output: 3}}"


@pytest.mark.slow
@pytest.mark.promise
async def test_eight_at_once_overshoot_a_money_budget_by_one_reply_at_most(world: World) -> None:
    meter, limit = Meter(world.server), Decimal("0.002")
    options = (*EIGHT, PRICED, f"evolution.max_cost={limit}")
    training = await world.evolution(*options).run(world.rows(*QUESTIONS), name="first", base=world.home)
    assert (training.stopped, training.left) == ("budget", 8)
    assert "money budget of the run reached" in training.reason
    assert training.cost == sum(meter.bills)
    assert 0 <= sum(meter.bills) - limit < max(meter.bills)
    asked = len(meter.paid)
    training = await world.evolution(*options).resume(world.runs / "first")
    assert (training.stopped, len(meter.paid)) == ("budget", asked), "what was spent before counts"
    training = await world.evolution(*EIGHT, PRICED).resume(world.runs / "first")
    assert (training.stopped, world.answers()) == ("done", world.expected(*QUESTIONS))
    assert training.cost == sum(meter.bills), "replies on the tapes cost nothing"
    assert sum(row.cost or 0 for row in training.steps) == sum(meter.bills)


@pytest.mark.slow
@pytest.mark.promise
async def test_tasks_in_processes_of_their_own_draw_on_the_same_money(world: World) -> None:
    meter, limit = Meter(world.server), Decimal("0.003")
    options = (PRICED, f"evolution.max_cost={limit}", "evolution.runner=process", "evolution.concurrency=4")
    rows = world.rows("mean", "sum", "arithmetic", "gcd")
    training = await world.evolution(*options).run(rows, name="first", base=world.home)
    assert (training.stopped, training.left) == ("budget", 4)
    assert 0 <= sum(meter.bills) - limit < max(meter.bills)


async def test_a_training_with_a_money_budget_and_an_unknown_price_is_not_begun(world: World) -> None:
    for setting in ("evolution.max_cost", "limits.max_cost"):
        with pytest.raises(UserError, match=f"{setting} is set, but the price of scripted is unknown"):
            await world.evolution(f"{setting}=1").run(world.rows("arithmetic"), name="first", base=world.home)
        assert (world.server.requests, (world.runs / "first").exists()) == ([], False)


# --- the purse by itself


async def test_a_purse_never_lets_out_more_than_fits_beside_what_is_on_its_way() -> None:
    lot = random.Random(7)
    for limit in (1, 90, 1_000, 12_345):
        purse, used, largest = SpendingPurse(Ceiling(limit)), 0, 0

        async def ask(purse: SpendingPurse = purse) -> None:
            nonlocal used, largest
            while True:
                most = lot.randint(1, 400)
                await purse.reserve(Amount(most))
                for _ in range(lot.randint(0, 3)):
                    await asyncio.sleep(0)
                took = lot.randint(0, most)
                used, largest = used + took, max(largest, most)
                purse.settle(Amount(most), Amount(took))

        ends = await asyncio.gather(*(ask() for _ in range(8)), return_exceptions=True)
        assert all(isinstance(end, BudgetReached) for end in ends)
        assert limit <= used < limit + largest
        assert purse.is_idle


async def test_a_closed_purse_interrupts_who_waits_and_who_comes_and_takes_in_what_is_out() -> None:
    purse = SpendingPurse(Ceiling(100))
    await purse.reserve(Amount(100))
    waiting = asyncio.ensure_future(purse.reserve(Amount(50)))
    idle = asyncio.ensure_future(purse.idle())
    await asyncio.sleep(0)
    assert not waiting.done()
    purse.close("enough")
    with pytest.raises(Interrupted, match="enough"):
        await waiting
    with pytest.raises(Interrupted, match="enough"):
        await purse.reserve(Amount())
    assert not idle.done()
    purse.settle(Amount(100), Amount(30))
    await idle
    assert purse.spent == Amount(30)


class Wire:
    """The two ends of a purse without a process between them."""

    def __init__(self, purse: SpendingPurse) -> None:
        self.far = DistantPurse(purse.limits, lambda **said: self.till.heard(said))
        self.till = Till(purse, lambda answer: self.far.heard(answer))


async def test_a_process_that_dies_gives_back_what_it_had_set_aside() -> None:
    purse = SpendingPurse(Ceiling(100))
    dying, living = Wire(purse), Wire(purse)
    await dying.far.reserve(Amount(90))
    waiting = asyncio.ensure_future(living.far.reserve(Amount(90)))
    queued = asyncio.ensure_future(dying.far.reserve(Amount(20)))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    dying.till.close()
    await waiting
    queued.cancel()
    living.far.settle(Amount(90), Amount(100))
    assert (purse.spent, purse.is_idle) == (Amount(100), True)
    with pytest.raises(Interrupted, match="reached"):
        await living.far.reserve(Amount(1))


async def test_who_waits_no_more_is_granted_nothing() -> None:
    purse = SpendingPurse(Ceiling(100))
    wire = Wire(purse)
    await wire.far.reserve(Amount(90))
    waiting = asyncio.ensure_future(wire.far.reserve(Amount(90)))
    for _ in range(3):
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    wire.far.settle(Amount(90), Amount(10))
    for _ in range(3):
        await asyncio.sleep(0)
    assert (purse.spent, purse.is_idle) == (Amount(10), True)
