"""Anthropic's client against a server that keeps the rules of the Messages API. What a user would lose: a task to a
busy service, a call to a stream that broke off, and the thinking that the service wants back."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from habilis.config import RoleSettings
from habilis.core.errors import ModelReplyUnusable, ModelUnreachable, UserError
from habilis.core.types import ToolSpec
from habilis.models.chat import Models
from habilis.models.replies import THINKING_BLOCKS, usage_of
from habilis.prompts import Prompts
from habilis.testing import Fault, FaultKind, SeenRequest
from habilis.testing.messages_api import events_of
from habilis.tool_calling.strategies import Strategies

# It takes two seconds to import, in each worker: whoever tests it pays for that.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("langchain_anthropic") is None, reason="the extra anthropic is not installed"
)

ADD = ToolSpec(
    name="add",
    description="Adds",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)
ASK: list[BaseMessage] = [SystemMessage("You add."), HumanMessage("What is 2+2?")]
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


class Review(BaseModel):
    status: str
    reasons: list[str] = []


def models(bench: Any, **role: Any) -> Models:
    made: Models = bench.models(provider="anthropic", base_url=bench.server.anthropic_url, **role)
    return made


@pytest.mark.parametrize("stream", [False, True])
async def test_a_temperature_that_a_model_no_longer_takes_is_left_out_and_remembered(bench: Any, stream: bool) -> None:
    def deprecated(seen: SeenRequest) -> Fault | None:
        text = "`temperature` is deprecated for this model."
        return Fault("bad_request", text=text) if "temperature" in seen.body else None

    server = bench.serve(lambda *_: AIMessage("4"), faults=deprecated)
    for _ in range(2):
        asked = models(bench, temperature=0.5, stream=stream)
        assert (await asked.chat("basic", ASK, purpose="step", say=lambda: lambda _: None)).content == "4"
        (bench.folder / "tape.jsonl").unlink()
    assert ["temperature" in seen.body for seen in server.requests] == [True, False, False]
    assert "temperature" in bench.sink.of("notice")[0].text


def adding(messages: list[BaseMessage], tools: list[dict[str, Any]], form: Any) -> AIMessage:
    if tools and not isinstance(messages[-1], ToolMessage):
        calls: list[Any] = [{"name": "add", "args": {"a": n}, "id": f"toolu_{n}"} for n in (1, 2)]
        return AIMessage("I add.", tool_calls=calls, additional_kwargs={"reasoning_content": "Two numbers."})
    return AIMessage("4", usage_metadata={"input_tokens": 11, "output_tokens": 1, "total_tokens": 12})


async def test_a_reply_is_text_with_its_usage_on_record(bench: Any) -> None:
    server = bench.serve(adding)
    asked = models(bench, max_tokens=77, temperature=0.5, options={"metadata": {"user_id": "u"}}, headers={"X-T": "a"})
    reply = await asked.chat("basic", ASK, purpose="step")
    assert (reply.content, reply.response_metadata["finish_reason"]) == ("4", "stop")
    assert (asked.usage.prompt_tokens, asked.usage.completion_tokens) == (11, 1)
    (seen,) = server.requests
    assert (seen.path, seen.headers["x-t"]) == ("/v1/messages", "a")
    assert {name: seen.body[name] for name in ("max_tokens", "temperature", "system", "metadata")} == {
        "max_tokens": 77,
        "temperature": 0.5,
        "system": "You add.",
        "metadata": {"user_id": "u"},
    }
    again = bench.models(replay_only=True, provider="anthropic")
    assert (await again.chat("basic", ASK, purpose="step")).content == "4"


def test_tokens_that_the_service_had_in_its_cache_count_as_sent() -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 500, "output_tokens": 2}
    from habilis.models.anthropic import read_message

    reply = read_message({"content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn", "usage": usage})
    used = usage_of(reply, lambda: 0)
    assert (used.prompt_tokens, used.completion_tokens) == (543, 2)
    assert (used.cached_tokens, used.written_tokens) == (40, 500), "each has a price of its own"


@pytest.mark.parametrize("stream", [False, True])
async def test_calls_and_all_their_results_go_back_in_one_message(bench: Any, stream: bool) -> None:
    server = bench.serve(adding)
    asked = models(bench, stream=stream, parallel_tool_calls=False)
    heard: list[str] = []
    first = await asked.chat("basic", ASK, tools=[ADD], purpose="step", say=lambda: heard.append)
    assert [(call["id"], call["args"]) for call in first.tool_calls] == [("toolu_1", {"a": 1}), ("toolu_2", {"a": 2})]
    assert (first.content, first.additional_kwargs["reasoning_content"]) == ("I add.", "Two numbers.")
    assert "".join(heard) == ("I add." if stream else "")
    results = [ToolMessage("2", tool_call_id="toolu_2"), ToolMessage("no", tool_call_id="toolu_1", status="error")]
    assert (await asked.chat("basic", [*ASK, first, *results], tools=[ADD], purpose="step")).content == "4"
    sent = server.requests[-1].body["messages"][-1]
    assert [(block["tool_use_id"], block.get("is_error", False)) for block in sent["content"]] == [
        ("toolu_1", True),
        ("toolu_2", False),
    ]
    assert server.requests[0].body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


@pytest.mark.parametrize("stream", [False, True])
async def test_signed_thinking_is_sent_back_with_its_calls(bench: Any, stream: bool) -> None:
    server = bench.serve(adding)
    asked = models(bench, stream=stream, options=THINKING)
    first = await asked.chat("basic", ASK, tools=[ADD], purpose="step", say=lambda: lambda text: None)
    results = [ToolMessage("2", tool_call_id=call["id"]) for call in first.tool_calls]
    # The server refuses calls without the thinking before them, and thinking without its signature.
    assert (await asked.chat("basic", [*ASK, first, *results], tools=[ADD], purpose="step")).content == "4"
    kinds = [block["type"] for block in server.requests[-1].body["messages"][1]["content"]]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    again = bench.models(replay_only=True, provider="anthropic", options=THINKING)
    replayed = await again.chat("basic", ASK, tools=[ADD], purpose="step")
    assert replayed.additional_kwargs[THINKING_BLOCKS] == first.additional_kwargs[THINKING_BLOCKS]


async def test_what_one_service_thought_is_not_sent_to_another(bench: Any) -> None:
    server = bench.serve(adding)
    thought = AIMessage("Hm.", additional_kwargs={THINKING_BLOCKS: [{"type": "thinking", "signature": "s"}]})
    await bench.models().chat("basic", [*ASK, thought, HumanMessage("And?")], purpose="step")
    assert "signature" not in str(server.requests[-1].body)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "kind", ["rate_limit", "server_error", "overloaded", "overloaded_stream", "drop", "drop_body", "malformed_json"]
)
async def test_a_passing_fault_costs_a_retry_and_nothing_else(bench: Any, kind: FaultKind, stream: bool) -> None:
    bench.serve(adding, faults=[kind])
    asked = models(bench, stream=stream)
    assert (await asked.chat("basic", ASK, purpose="step", say=lambda: lambda text: None)).content == "4"
    assert asked.usage.model_calls == 2
    assert len(bench.sink.of("model_retry")) == 1


async def test_retry_after_is_honoured(bench: Any) -> None:
    bench.serve(adding, faults=[Fault("rate_limit", retry_after=17)])
    await models(bench).chat("basic", ASK, purpose="step")
    assert bench.clock.slept == [17]


async def test_a_hang_ends_at_its_time_limit(bench: Any) -> None:
    bench.serve(adding, faults=["hang"])
    assert (await models(bench, timeout_s=0.2).chat("basic", ASK, purpose="step")).content == "4"


@pytest.mark.parametrize(
    ("fault", "hint"),
    [
        ("unauthorized", "ANTHROPIC_API_KEY"),
        ("not_found", "models.basic.model"),
        ("bad_request", "refuses"),
        (Fault("bad_request", text="prompt is too long: 9 tokens > 8 maximum"), "models.basic.token_limit"),
    ],
)
async def test_what_cannot_succeed_is_not_tried_again(bench: Any, fault: Any, hint: str) -> None:
    server = bench.serve(adding, faults=[fault] * 3)
    with pytest.raises(ModelUnreachable, match=hint) as caught:
        await models(bench).chat("basic", ASK, purpose="step")
    assert len(server.requests) == 1
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_cut_reply_and_a_refusal_are_told_apart(bench: Any, stream: bool) -> None:
    bench.serve(lambda *_: AIMessage("A long reply."), faults=["cut", "refusal"])
    asked = models(bench, stream=stream)
    cut = await asked.chat("basic", ASK, purpose="step", say=lambda: lambda text: None)
    assert cut.response_metadata["finish_reason"] == "length"
    with pytest.raises(ModelReplyUnusable):
        await asked.chat("basic", ASK, purpose="step", say=lambda: lambda text: None)


async def test_arguments_that_a_stream_cut_off_are_never_completed(bench: Any) -> None:
    bench.serve(adding, faults=["malformed_arguments"])
    reply = await models(bench, stream=True).chat(
        "basic", ASK, tools=[ADD], purpose="step", say=lambda: lambda text: None
    )
    assert [call["args"] for call in reply.invalid_tool_calls] == ['{"a": ']
    assert [call["args"] for call in reply.tool_calls] == [{"a": 2}]


def answering(messages: list[BaseMessage], tools: list[dict[str, Any]], form: Any) -> AIMessage:
    return AIMessage('{"status": "FINISH", "reasons": ["it is so"]}')


async def test_a_fixed_form_is_asked_for_as_a_schema_that_the_service_takes(bench: Any) -> None:
    server = bench.serve(answering)
    found = await models(bench).structured("basic", ASK, Review, purpose="review")
    assert (found.status, found.reasons, [seen.mode for seen in server.requests]) == (
        "FINISH",
        ["it is so"],
        ["json_schema"],
    )


async def test_an_older_model_is_asked_by_a_call_and_remembered(bench: Any) -> None:
    server = bench.serve(answering, refuse={"json_schema"})
    asked = models(bench)
    for label in ("one", "two"):
        assert (await asked.structured("basic", ASK, Review, purpose="review", label=label)).status == "FINISH"
    assert [seen.mode for seen in server.requests] == ["json_schema", "function_calling", "function_calling"]


async def test_thinking_that_bears_no_forced_call_leads_to_plain_text(bench: Any) -> None:
    server = bench.serve(answering, refuse={"json_schema"})
    asked = models(bench, options=THINKING)
    assert (await asked.structured("basic", ASK, Review, purpose="review")).status == "FINISH"
    assert [seen.mode for seen in server.requests] == ["json_schema", "function_calling", ""]


async def test_reasoning_as_text_stops_at_its_word(bench: Any) -> None:
    text = 'Thought: I add.\nAction: add\nAction Input: {"a": 2}\nObservation: 9'
    server = bench.serve(lambda *_: AIMessage(text))
    asked = models(bench, strategy="react_text")
    strategies = Strategies(asked, Prompts(), bench.sink.emit, bench.folder / "memory")
    step = await strategies.step(ASK, [ADD], label="step", position=1)
    assert [(call["name"], call["args"]) for call in step.message.tool_calls] == [("add", {"a": 2})]
    assert server.requests[0].body["stop_sequences"] == ["\nObservation"]
    assert "tools" not in server.requests[0].body


async def test_what_the_model_can_is_probed_and_remembered(bench: Any) -> None:
    server = bench.serve(lambda *_: AIMessage("It is 4."))
    for _ in range(2):
        strategies = Strategies(models(bench), Prompts(), bench.sink.emit, bench.folder / "memory")
        await strategies.step(ASK, [ADD], label=f"step {len(server.requests)}", position=1)
    assert ["127 * 39" in seen.prompt for seen in server.requests] == [False, True, False]
    assert not server.requests[-1].body.get("tools")


async def test_the_first_model_that_the_service_lists_is_taken_with_an_address_alone(bench: Any) -> None:
    bench.serve(adding)
    asked = models(bench, model=None)
    await asked.chat("basic", ASK, purpose="step")
    assert asked.name("basic") == "scripted"


async def test_no_model_named_is_said_in_one_line(bench: Any) -> None:
    bench.serve(adding)
    with pytest.raises(UserError, match=r"set models\.basic\.model"):
        bench.models(provider="anthropic", base_url=None, model=None)


async def test_a_missing_extra_is_said_in_one_line(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.serve(adding)
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    with pytest.raises(UserError, match=r"pip install 'habilis\[anthropic\]'"):
        models(bench)


def test_the_key_of_another_provider_is_never_sent() -> None:
    from habilis.config import ModelsSettings

    settings = ModelsSettings(
        basic=RoleSettings(provider="openai", base_url="http://127.0.0.1:1/v1", model="m", headers={"X": "y"}),
        builder=RoleSettings(provider="anthropic", model="c"),
    ).role("builder")
    assert (settings.base_url, settings.api_key_env, settings.headers) == (None, "ANTHROPIC_API_KEY", None)


_TEXT = some.text(some.characters(codec="utf-8"), min_size=1, max_size=40)
_BLOCKS = some.one_of(
    some.builds(lambda t: {"type": "text", "text": t}, _TEXT),
    some.builds(lambda t: {"type": "thinking", "thinking": t, "signature": "s"}, _TEXT),
    some.builds(lambda a: {"type": "tool_use", "id": "i", "name": "f", "input": a}, some.dictionaries(_TEXT, _TEXT)),
    some.just({"type": "redacted_thinking", "data": "x"}),
)


@given(some.lists(_BLOCKS, max_size=5))
def test_a_streamed_reply_is_the_one_that_would_have_come_whole(blocks: list[dict[str, Any]]) -> None:
    import json

    usage = {"input_tokens": 5, "output_tokens": 7}
    message = {"model": "m", "content": blocks, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    from habilis.models.anthropic import StreamedMessage, read_message

    whole = StreamedMessage()
    said = ""
    for event in events_of(message):
        said += whole.add(json.loads(event.split(b"data: ", 1)[1]))
    assert whole.body()["content"] == blocks
    assert read_message(whole.body()) == read_message(message)
    assert said == "".join(block["text"] for block in blocks if block["type"] == "text")
