"""What a user would lose: a bill that is not the provider's, a budget that does not hold, or an unknown price as 0."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from habilis.config import PriceSettings
from habilis.core.errors import BudgetReached, ModelMisconfigured, UserError
from habilis.core.types import TaskResult, Usage
from habilis.core.usage import money_text
from habilis.models.prices import Price, listed, own_cost
from habilis.models.replies import from_body, usage_of
from habilis.models.usage import Budget

OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
OWN = {"m": {"input": 1, "output": "2.5", "cached_input": "0.1"}}
ASK = [HumanMessage("2 + 2?")]


def used(prompt: int, completion: int, cached: int = 0, written: int = 0) -> Usage:
    return Usage(
        model_calls=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        written_tokens=written,
    )


# Each by hand, from the provider's list: USD for a million tokens, times tokens.
BILLS = [
    ("gpt-4o", OPENAI, used(1_000, 100), "0.0035"),  # 1000 x 2.5 + 100 x 10
    ("gpt-4o", OPENAI, used(1_000, 100, cached=600), "0.00275"),  # 400 x 2.5 + 600 x 1.25 + 100 x 10
    ("gpt-4.1-mini", OPENAI, used(10_000, 500, cached=10_000), "0.0018"),  # 10000 x 0.1 + 500 x 1.6
    ("gpt-5", OPENAI, used(3_000, 7), "0.00382"),  # 3000 x 1.25 + 7 x 10
    ("o3", OPENAI, used(123, 456, cached=23), "0.0038595"),  # 100 x 2 + 23 x 0.5 + 456 x 8
    ("claude-3-5-haiku-latest", ANTHROPIC, used(543, 2, 40, 500), "0.0005136"),  # 3 x 0.8 + 40 x 0.08 + 500 x 1 + 2 x 4
    ("claude-opus-4-1", ANTHROPIC, used(1_000, 10, written=1_000), "0.0195"),  # 1000 x 18.75 + 10 x 75
    ("claude-sonnet-4-5", ANTHROPIC, used(200_000, 1_000), "0.615"),  # 200000 x 3 + 1000 x 15
    # Beyond 200,000 tokens of prompt all of them cost more: 99000 x 6 + 201000 x 0.6 + 1000 x 22.5
    ("claude-sonnet-4-5", ANTHROPIC, used(300_000, 1_000, cached=201_000), "0.7371"),
    (
        "gemini-2.5-pro",
        GOOGLE,
        used(199_999, 10, cached=99_999),
        "0.137599875",
    ),  # 100000 x 1.25 + 99999 x 0.125 + 10 x 10
    ("gemini-2.5-pro", GOOGLE, used(250_000, 100), "0.6265"),  # 250000 x 2.5 + 100 x 15
    ("gemini-2.0-flash", GOOGLE, used(1_000_000, 1_000_000), "0.5"),
    ("mistral-large-latest", "https://api.mistral.ai/v1", used(500, 50, cached=500), "0.0013"),  # no price of its own
    ("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", used(1_000, 1_000), "0.00138"),
]


@pytest.mark.parametrize(("model", "where", "usage", "bill"), BILLS)
def test_a_bill_is_the_one_worked_out_by_hand(model: str, where: str, usage: Usage, bill: str) -> None:
    price = listed(model, where)
    assert price is not None
    priced = price.priced(usage)
    assert priced.cost == Decimal(bill)
    assert priced.prices[0].startswith("genai-prices "), "with the version of the table"
    assert price.most(usage) >= priced.cost
    assert Usage.model_validate(json.loads(priced.model_dump_json())) == priced, "and reads back exactly"


@pytest.mark.parametrize(
    ("model", "where"),
    [
        ("gpt-4o", "https://models.example.org/v1"),  # others ask what they like
        ("gpt-4o", "http://127.0.0.1:8000/v1"),
        ("a-model-of-nobody", OPENAI),
        ("text-embedding-3-small", OPENAI),  # its replies have no price
    ],
)
def test_what_the_table_does_not_have_is_unknown(model: str, where: str) -> None:
    assert listed(model, where) is None


def test_own_prices_count_what_a_cache_gave_by_its_own_price_or_as_any_other() -> None:
    three = PriceSettings.model_validate(OWN["m"])
    assert own_cost(three)(used(1_000, 100, cached=900)) == Decimal("0.00044")  # 100 x 1 + 900 x 0.1 + 100 x 2.5
    two = PriceSettings(input=Decimal(1), output=Decimal(2))
    assert own_cost(two)(used(1_000, 100, cached=900, written=50)) == Decimal("0.0012")


def test_a_sum_with_an_unknown_price_is_unknown_and_a_failed_attempt_changes_nothing() -> None:
    known = Price("settings", lambda usage: Decimal("0.1")).priced(used(1, 1))
    assert (known + known + known).cost == Decimal("0.3"), "no binary fractions"
    assert (known + used(1, 1)).cost is None
    assert (Usage() + known + Usage(model_calls=1)).cost == Decimal("0.1")
    assert (known + known).since(known).cost == Decimal("0.1")


def test_what_is_less_than_a_hundredth_of_a_cent_is_not_shown_as_nothing() -> None:
    assert [money_text(Decimal(one)) for one in ("0", "0.00001", "1234.5")] == [
        "$0.0000",
        "under $0.0001",
        "$1,234.5000",
    ]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6},
    ],
)
def test_tokens_out_of_a_cache_are_read_from_a_reply(usage: dict[str, Any]) -> None:
    body = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}], "usage": usage}
    read = usage_of(from_body(body), lambda: 0)
    assert (read.prompt_tokens, read.cached_tokens, read.total_tokens) == (10, 4, 12)


def test_more_out_of_a_cache_than_was_sent_is_never_believed() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 400}}
    body = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}], "usage": usage}
    assert usage_of(from_body(body), lambda: 0).cached_tokens == 10


def test_a_result_from_before_prices_still_opens_and_its_cost_is_unknown() -> None:
    old = {"format": 1, "task_id": "t", "status": "answered", "question": "?", "seconds": 1.0}
    old["usage"] = {"model_calls": 1, "prompt_tokens": 3, "completion_tokens": 1, "cost": None}
    result = TaskResult.model_validate(old)
    assert (result.cost, result.usage.unpriced) == (None, True)


def test_nothing_is_imported_for_prices_before_they_are_needed() -> None:
    code = "import sys, habilis, habilis.cli, habilis.models.chat; print('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# --- calls


def four(*_: Any) -> AIMessage:
    return AIMessage("4", usage_metadata={"input_tokens": 1_000, "output_tokens": 100, "total_tokens": 1_100})


async def test_each_call_says_what_it_cost_and_a_replay_costs_nothing(bench: Any) -> None:
    bench.serve(four)
    models = bench.models(prices=OWN)
    await models.chat("basic", ASK, purpose="step")
    assert models.usage.cost == Decimal("0.00125")
    assert bench.sink.events[-1].usage.cost == Decimal("0.00125")
    assert models.usage_by_role["basic"].prices == ("settings",)
    await models.aclose()
    resumed = bench.models(prices=OWN)
    assert resumed.usage.cost == Decimal("0.00125"), "what was paid before a resume counts"
    await resumed.chat("basic", ASK, purpose="step")
    assert resumed.usage.cost == Decimal("0.00125")
    assert bench.sink.events[-1].replayed
    assert bench.sink.events[-1].usage.cost == 0


async def test_a_call_without_a_known_price_is_unknown_and_goes_on(bench: Any) -> None:
    bench.serve(four)
    models = bench.models()
    await models.chat("basic", ASK, purpose="step")
    assert models.usage.unpriced


async def test_money_ends_a_task_before_the_next_call_and_after_a_resume(bench: Any) -> None:
    server = bench.serve(four)
    budget = {"max_cost": Decimal("0.00125")}
    models = bench.models(budget=Budget(**budget), prices=OWN)
    await models.chat("basic", ASK, purpose="step")
    with pytest.raises(BudgetReached, match="money budget reached"):
        await models.chat("basic", [HumanMessage("another")], purpose="step")
    await models.aclose()
    resumed = bench.models(budget=Budget(**budget), prices=OWN)
    with pytest.raises(BudgetReached, match="money budget reached"):
        await resumed.chat("basic", [HumanMessage("another")], purpose="step")
    assert len(server.requests) == 1


async def test_side_by_side_money_is_overshot_by_one_reply_at_most(bench: Any) -> None:
    server = bench.serve(four)
    limit = Decimal("0.02")
    models = bench.models(budget=Budget(max_cost=limit), prices=OWN)
    asked = [models.chat("basic", [HumanMessage(f"{n}")], purpose="step") for n in range(40)]
    ends = await asyncio.gather(*asked, return_exceptions=True)
    assert any(isinstance(end, BudgetReached) for end in ends)
    cost = len(server.requests) * Decimal("0.00125")
    assert models.usage.cost == cost
    assert limit <= cost < limit + Decimal("0.00125")


def test_a_money_budget_with_an_unknown_price_is_refused_at_once(bench: Any) -> None:
    server = bench.serve(four)
    with pytest.raises(UserError, match=r"limits\.max_cost is set, but the price of m is unknown: set models\.prices"):
        bench.models(budget=Budget(max_cost=Decimal(1)))
    assert server.requests == []


async def test_so_is_one_whose_model_the_server_names(bench: Any) -> None:
    server = bench.serve(four)
    models = bench.models(budget=Budget(max_cost=Decimal(1)), model=None)
    with pytest.raises(ModelMisconfigured, match="the price of scripted is unknown"):
        await models.chat("basic", ASK, purpose="step")
    assert server.requests == []


async def test_what_was_spent_unpriced_keeps_a_money_budget_from_being_believed(bench: Any) -> None:
    server = bench.serve(four)
    models = bench.models()
    await models.chat("basic", ASK, purpose="step")
    await models.aclose()
    resumed = bench.models(budget=Budget(max_cost=Decimal(1)), prices=OWN)
    with pytest.raises(BudgetReached, match="was not priced"):
        await resumed.chat("basic", [HumanMessage("another")], purpose="step")
    assert len(server.requests) == 1


async def test_nobody_asks_money_for_what_this_machine_computes(bench: Any) -> None:
    bench.serve(four)
    models = bench.models(budget=Budget(max_cost=Decimal(1)), provider="offline", base_url=None, model=None)
    await models.chat("basic", ASK, purpose="step")
    assert models.usage.total_tokens > 0
    assert models.usage.cost == 0
