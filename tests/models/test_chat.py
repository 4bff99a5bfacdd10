"""The real client against a server that fails in every way. What a user would lose: a task to a hiccup, or money."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.config import ModelsSettings, RoleSettings
from habilis.core.errors import BudgetReached, ModelReplyUnusable, ModelUnreachable, ReplayMismatch, UserError
from habilis.core.types import ToolSpec
from habilis.models.chat import Models
from habilis.models.tape import Tape
from habilis.models.usage import Budget
from habilis.testing import Fault, FaultKind, RecordingSink, ScriptedModel, seeded, when

TOOL = ToolSpec(
    name="add",
    description="Adds",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
ASK = [SystemMessage("You add."), HumanMessage("What is 2+2?")]


def four(messages: list[BaseMessage], tools: list[dict[str, Any]], form: Any) -> AIMessage:
    if tools and not isinstance(messages[-1], ToolMessage):
        return AIMessage("I add.", tool_calls=[{"name": "add", "args": {"a": 2}, "id": "c1"}])
    return AIMessage("4", usage_metadata={"input_tokens": 11, "output_tokens": 1, "total_tokens": 12})


async def test_a_reply_is_text_with_its_usage_on_record(bench: Any) -> None:
    bench.serve(four)
    models = bench.models()
    reply = await models.chat("basic", ASK, purpose="step")
    assert reply.content == "4"
    assert reply.id is None
    assert (models.usage.model_calls, models.usage.prompt_tokens, models.usage.completion_tokens) == (1, 11, 1)
    started, ended = bench.sink.events
    assert (started.kind, started.model, ended.kind, ended.replayed, ended.error) == (
        "model_call_started",
        "m",
        "model_call_ended",
        False,
        None,
    )
    assert ended.usage == models.usage


async def test_tools_go_out_and_calls_come_back(bench: Any) -> None:
    server = bench.serve(four)
    reply = await bench.models(parallel_tool_calls=False).chat("basic", ASK, tools=[TOOL], purpose="step")
    assert reply.tool_calls == [{"name": "add", "args": {"a": 2}, "id": "c1", "type": "tool_call"}]
    body = server.requests[0].body
    assert body["tools"][0]["function"]["parameters"] == TOOL.parameters
    assert body["parallel_tool_calls"] is False


async def test_settings_reach_the_server(bench: Any) -> None:
    server = bench.serve(four)
    models = bench.models(
        temperature=0.5, max_tokens=77, options={"seed": 7, "cache_prompt": True}, headers={"X-Team": "a"}
    )
    await models.chat("basic", ASK, purpose="step")
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["max_tokens"], body["seed"]) == ("m", 0.5, 77, 7)
    assert body["cache_prompt"] is True
    assert not {"stream", "extra_body", "max_completion_tokens", "tools"} & set(body)
    assert server.requests[0].headers["x-team"] == "a"


@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "drop", "drop_body", "malformed_json"])
async def test_a_passing_fault_costs_a_retry_and_nothing_else(bench: Any, kind: FaultKind) -> None:
    bench.serve(four, faults=[kind])
    models = bench.models()
    assert (await models.chat("basic", ASK, purpose="step")).content == "4"
    assert models.usage.model_calls == 2
    (retry,) = bench.sink.of("model_retry")
    assert retry.reason
    assert bench.clock.slept == [retry.wait_s]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_these_statuses_are_tried_again(bench: Any, status: int) -> None:
    bench.serve(four, faults=[Fault("server_error", status=status)])
    assert (await bench.models().chat("basic", ASK, purpose="step")).content == "4"


async def test_retry_after_is_honoured(bench: Any) -> None:
    bench.serve(four, faults=[Fault("rate_limit", retry_after=17), Fault("rate_limit", retry_after=9_999)])
    await bench.models().chat("basic", ASK, purpose="step")
    assert bench.clock.slept == [17, 120]


async def test_waits_double(bench: Any) -> None:
    bench.serve(four, faults=["server_error"] * 5)
    await bench.models(max_retries=5).chat("basic", ASK, purpose="step")
    waits = bench.clock.slept
    assert all(1.9 < later / sooner < 2.1 for sooner, later in itertools.pairwise(waits))


async def test_a_hang_ends_at_its_time_limit_and_is_tried_again(bench: Any) -> None:
    bench.serve(four, faults=["hang"])
    assert (await bench.models(timeout_s=0.2).chat("basic", ASK, purpose="step")).content == "4"


async def test_when_nothing_helps_one_line_says_what_was_tried(bench: Any) -> None:
    bench.serve(four, faults=["server_error"] * 9)
    models = bench.models(max_retries=2)
    with pytest.raises(ModelUnreachable) as caught:
        await models.chat("basic", ASK, purpose="step")
    said = str(caught.value)
    assert "\n" not in said
    assert all(part in said for part in ("model m", bench.server.base_url, "HTTP 500", "after 3 attempts"))
    assert models.usage.model_calls == 3
    assert bench.sink.of("model_call_ended")[0].error == said


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("unauthorized", "OPENAI_API_KEY"),
        ("forbidden", "OPENAI_API_KEY"),
        ("not_found", "models.basic.model"),
        ("bad_request", "refuses"),
        (Fault("bad_request", status=422), "refuses"),
    ],
)
async def test_what_cannot_succeed_is_not_tried_again(bench: Any, kind: Any, hint: str) -> None:
    server = bench.serve(four, faults=[kind] * 5)
    with pytest.raises(ModelUnreachable, match=hint):
        await bench.models().chat("basic", ASK, purpose="step")
    assert len(server.requests) == 1
    assert bench.clock.slept == []


async def test_a_server_that_is_not_there_is_named(bench: Any) -> None:
    server = bench.serve(four)
    models = bench.models(max_retries=1)
    server.close()
    bench.opened.remove(server)
    with pytest.raises(ModelUnreachable, match="start the server"):
        await models.chat("basic", ASK, purpose="step")


@pytest.mark.parametrize("kind", ["refusal", "content_filter"])
async def test_a_refusal_is_told_as_one(bench: Any, kind: FaultKind) -> None:
    bench.serve(four, faults=[kind])
    with pytest.raises(ModelReplyUnusable, match=r"refuses to answer|content filter"):
        await bench.models().chat("basic", ASK, purpose="step")


async def test_an_empty_reply_is_handed_on_as_it_is(bench: Any) -> None:
    bench.serve(four, faults=["empty"])
    assert (await bench.models().chat("basic", ASK, purpose="step")).content == ""


async def test_a_server_that_counts_nothing_is_counted_by_size(bench: Any) -> None:
    bench.serve(four, usage=False)
    models = bench.models()
    await models.chat("basic", ASK, tools=[TOOL], purpose="step")
    assert 20 < models.usage.prompt_tokens < 200
    assert models.usage.completion_tokens > 0


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_odd_calls_reach_the_checks_as_they_were_sent(bench: Any, kind: FaultKind) -> None:
    bench.serve(four, faults=[kind])
    reply = await bench.models().chat("basic", ASK, tools=[TOOL], purpose="step")
    if kind == "unknown_tool":
        assert reply.tool_calls[0]["name"] == "no_such_tool"
    else:
        assert reply.invalid_tool_calls[0]["args"] == '{"a": '


async def test_arguments_that_are_no_object_are_no_crash(bench: Any) -> None:
    odd: Any = {"name": "add", "args": "[1, 2]", "id": "x", "error": None, "type": "invalid_tool_call"}
    bench.serve(lambda *_: AIMessage("", invalid_tool_calls=[odd]))
    reply = await bench.models().chat("basic", ASK, tools=[TOOL], purpose="step")
    assert reply.invalid_tool_calls[0]["args"] == "[1, 2]"


async def test_reasoning_stays_out_of_the_text(bench: Any) -> None:
    said = iter(
        [
            AIMessage("<think>two and two</think>\n4"),
            AIMessage("4", additional_kwargs={"reasoning_content": "two and two"}),
            AIMessage("<think>never ends"),
        ]
    )
    bench.serve(lambda *_: next(said))
    models = bench.models()
    for text in ("4", "4", ""):
        reply = await models.chat("basic", ASK, purpose="step")
        assert reply.content == text
        assert reply.additional_kwargs["reasoning_content"]


async def test_a_broken_history_is_put_right_before_it_is_sent(bench: Any) -> None:
    server = bench.serve(four)
    calls = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1}, "id": "c1"}])
    await bench.models().chat("basic", [*ASK, calls, HumanMessage("and?")], tools=[TOOL], purpose="step")
    assert [m["role"] for m in server.requests[0].body["messages"]] == ["system", "user", "assistant", "tool", "user"]


# --- tape


async def test_a_resumed_task_pays_nothing_twice_and_counts_what_was_paid(bench: Any) -> None:
    server = bench.serve(four, faults=["server_error"])
    first = bench.models()
    reply = await first.chat("basic", ASK, tools=[TOOL], purpose="step")
    bench.fresh_process()
    second = bench.models()
    assert await second.chat("basic", ASK, tools=[TOOL], purpose="step") == reply
    assert server.finished == 1
    assert second.usage == first.usage
    assert bench.sink.of("model_call_ended")[0].replayed


async def test_a_replay_needs_no_server_and_names_what_differs(bench: Any) -> None:
    server = bench.serve(four)
    await bench.models().chat("basic", ASK, purpose="step")
    server.close()
    bench.opened.remove(server)
    replay = bench.models(replay_only=True, model=None)
    assert (await replay.chat("basic", ASK, purpose="step")).content == "4"
    assert replay.name("basic") == "m"
    with pytest.raises(ReplayMismatch, match=r"model call 2 \(basic, step\)"):
        await replay.chat("basic", [*ASK, HumanMessage("sure?")], purpose="step")


async def test_a_key_that_was_wrong_can_be_mended_and_the_task_resumed(bench: Any) -> None:
    bench.serve(four, faults=["unauthorized"])
    with pytest.raises(ModelUnreachable):
        await bench.models().chat("basic", ASK, purpose="step")
    assert (await bench.models().chat("basic", ASK, purpose="step")).content == "4"


async def test_a_call_cut_off_by_a_kill_is_asked_again(bench: Any) -> None:
    server = bench.serve(four, faults=["hang"])
    asking = asyncio.create_task(bench.models().chat("basic", ASK, purpose="step"))
    assert await asyncio.to_thread(server.wait_for, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    ended = bench.sink.of("model_call_ended")[0]
    assert (ended.error, ended.usage.model_calls) == ("interrupted", 1)
    assert (await bench.models().chat("basic", ASK, purpose="step")).content == "4"


async def test_equal_requests_side_by_side_are_each_paid_and_each_replayed(bench: Any) -> None:
    server = bench.serve(four)
    first = bench.models()
    replies = await asyncio.gather(*(first.chat("basic", ASK, purpose="step") for _ in range(4)))
    assert server.finished == 4
    again = bench.models()
    assert await asyncio.gather(*(again.chat("basic", ASK, purpose="step") for _ in range(4))) == replies
    assert server.finished == 4
    assert again.usage == first.usage


@pytest.mark.parametrize("seed", range(4))
async def test_any_weather_gives_the_same_answers(bench: Any, seed: int) -> None:
    bench.serve(four, faults=seeded(seed, rate=0.4))
    models = bench.models(max_retries=12)
    for n in range(6):
        assert (await models.chat("basic", [*ASK, HumanMessage(str(n))], purpose="step")).content == "4"


# --- budgets


async def test_a_token_budget_ends_before_the_next_call(bench: Any) -> None:
    server = bench.serve(four)
    models = bench.models(budget=Budget(max_tokens=12))
    await models.chat("basic", ASK, purpose="step")
    with pytest.raises(BudgetReached, match="12 of 12 tokens"):
        await models.chat("basic", ASK, purpose="step")
    assert len(server.requests) == 1


async def test_a_wait_longer_than_the_time_left_is_not_begun(bench: Any) -> None:
    bench.serve(four, faults=[Fault("rate_limit", retry_after=50)])
    with pytest.raises(BudgetReached, match="wait 50 s"):
        await bench.models(budget=Budget(None, 40, clock=bench.clock)).chat("basic", ASK, purpose="step")
    assert bench.clock.slept == []


async def test_a_hang_ends_with_the_time_of_the_task(bench: Any) -> None:
    bench.serve(four, faults=["hang"] * 9)
    with pytest.raises(BudgetReached, match="time budget"):
        await bench.models(budget=Budget(None, 0.2), timeout_s=60.0).chat("basic", ASK, purpose="step")
    assert len(bench.server.requests) == 1


# --- which model


async def test_without_a_name_the_first_listed_model_is_used_and_said(bench: Any) -> None:
    server = bench.serve(four, models=["qwen", "other"])
    models = bench.models(model=None)
    await models.chat("basic", ASK, purpose="step")
    assert server.requests[0].model == models.name("basic") == "qwen"
    assert "qwen" in bench.sink.of("notice")[0].text


async def test_a_server_that_lists_nothing_is_told(bench: Any) -> None:
    bench.serve(four, models=[])
    with pytest.raises(ModelUnreachable, match=r"set models\.basic\.model"):
        await bench.models(model=None).chat("basic", ASK, purpose="step")


async def test_roles_have_models_of_their_own_and_fall_back_to_basic(bench: Any) -> None:
    server = bench.serve(four)
    settings = ModelsSettings(
        basic=RoleSettings(base_url=server.base_url, model="small"), judge=RoleSettings(model="big", token_limit=9000)
    )
    models = Models(settings, tape=Tape(bench.folder / "t"), emit=bench.sink.emit, budget=Budget())
    bench.opened.append(models)
    await models.chat("judge", ASK, purpose="step")
    await models.chat("builder", ASK, purpose="step")
    assert [seen.model for seen in server.requests] == ["big", "small"]
    assert (models.token_limit("judge"), models.token_limit("basic")) == (9000, None)
    assert set(models.usage_by_role) == {"judge", "builder"}


async def test_the_key_named_in_the_settings_is_sent(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.serve(four, key="s3cret")
    monkeypatch.setenv("MY_KEY", "s3cret")
    assert (await bench.models(api_key_env="MY_KEY").chat("basic", ASK, purpose="step")).content == "4"


async def test_surprises_of_the_environment_change_nothing(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    bench.serve(four)
    assert (await bench.models().chat("basic", ASK, purpose="step")).content == "4"


async def test_without_key_and_address_the_offline_model_plays_and_says_so(bench: Any) -> None:
    sink = RecordingSink()
    models = Models(ModelsSettings(), tape=Tape(bench.folder / "t"), emit=sink.emit, budget=Budget())
    assert models.is_offline()
    assert models.name("basic") == "offline demonstration model"
    assert (await models.chat("basic", ASK, purpose="step")).content is not None
    assert "offline demonstration model" in sink.of("notice")[0].text


def test_a_key_without_a_model_is_a_clear_error(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(UserError, match="OPENAI_MODEL"):
        Models(ModelsSettings(), tape=Tape(bench.folder / "t"), emit=bench.sink.emit, budget=Budget())


async def test_a_chat_model_of_the_users_own_is_asked(bench: Any) -> None:
    own = ScriptedModel(script=["hello", TimeoutError("slow"), "again"])
    models = Models(
        ModelsSettings(),
        tape=Tape(bench.folder / "t"),
        emit=bench.sink.emit,
        budget=Budget(),
        clients=lambda role, settings: own,
        sleep=bench.clock.sleep,
    )
    assert (await models.chat("basic", ASK, tools=[TOOL], purpose="step")).content == "hello"
    assert (await models.chat("basic", ASK, purpose="step")).content == "again"
    assert own.asked[0][1]["tools"][0]["function"]["name"] == "add"
    assert models.name("basic") == "scripted"
    assert not models.is_offline()


async def test_a_fault_can_be_aimed_at_one_role(bench: Any) -> None:
    bench.serve(four, faults=when("What is 2+2?", [None, "unauthorized"]))
    models = bench.models()
    await models.chat("basic", ASK, purpose="step")
    await models.chat("basic", [HumanMessage("other")], purpose="step")
    with pytest.raises(ModelUnreachable):
        await models.chat("basic", ASK, purpose="step")


async def test_a_reply_gets_the_room_that_the_request_leaves(bench: Any) -> None:
    server = bench.serve(four)
    models = bench.models(max_tokens=300, token_limit=500)
    for words in (10, 300, 900):
        await models.chat("basic", [HumanMessage("word " * words)], purpose="step")
    plenty, little, none = [seen.body["max_tokens"] for seen in server.requests]
    assert plenty == 300
    assert 150 < little < 200, "what the window leaves"
    assert none == 64, "never nothing: the server may know better"
