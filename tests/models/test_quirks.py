"""Servers that differ from one another. What a user would lose: the model that they have, to one word in a request."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel, Field

from habilis.core.errors import ModelUnreachable
from habilis.prompts import Prompts
from habilis.tool_calling.strategies import Step, Strategies

from .conftest import Bench
from .corpus import SPECS
from .providers import Answer, Body, StandIn, call, delta, in_turn, refused, said, stream

ASK: list[BaseMessage] = [SystemMessage("Use tools."), HumanMessage("What is x?")]
CALLED = [{"name": "search", "args": {"query": "x"}, "id": "a", "type": "tool_call"}]
REACTED = said('Thought: I look.\nAction: search\nAction Input: {"query": "x"}')
Serve = Callable[[Answer], StandIn]


class Review(BaseModel):
    status: str = Field(max_length=10)


@pytest.fixture
def serve(bench: Bench, request: pytest.FixtureRequest) -> Serve:
    def start(chat: Answer) -> StandIn:
        server: Any = StandIn(chat)
        server.__enter__()
        request.addfinalizer(server.__exit__)
        bench.server = server
        return server  # type: ignore[no-any-return]

    return start


async def chat(bench: Bench, **role: Any) -> AIMessage:
    say = (lambda: lambda _: None) if role.get("stream") else None
    return await bench.models(**role).chat("basic", ASK, tools=SPECS, purpose="step", say=say)


async def step(bench: Bench, **role: Any) -> Step:
    asking = Strategies(bench.models(**role), Prompts(), bench.sink.emit, bench.folder / "memory")
    return await asking.step(ASK, SPECS, label="step", position=1)


async def review(bench: Bench, **role: Any) -> Review:
    return await bench.models(**role).structured("basic", ASK, Review, purpose="review")


def names_and_args(reply: AIMessage) -> list[tuple[str, Any]]:
    return [(one["name"], one["args"]) for one in reply.tool_calls]


# --- OpenRouter


@pytest.mark.parametrize(
    "broken",
    [
        {"error": {"code": 502, "message": "Provider returned error", "metadata": {"provider_name": "p"}}},
        {
            "choices": [
                {
                    "message": {"role": "assistant", "content": ""},
                    "finish_reason": "error",
                    "error": {"code": 502, "message": "Upstream error"},
                }
            ]
        },
        said("half an ans", finish="error"),
    ],
)
async def test_an_error_inside_a_good_reply_is_tried_again_and_never_taken_for_an_answer(
    bench: Bench, serve: Serve, broken: Body
) -> None:
    serve(in_turn(broken, said("7")))
    assert (await chat(bench)).content == "7"
    assert len(bench.sink.of("model_retry")) == 1


async def test_an_error_inside_a_good_reply_that_nothing_mends_ends_at_once(bench: Bench, serve: Serve) -> None:
    server = serve(in_turn({"error": {"code": 402, "message": "Insufficient credits"}}))
    with pytest.raises(ModelUnreachable, match=r"Insufficient credits.*no credit left"):
        await chat(bench)
    assert len(server.bodies) == 1


async def test_comments_in_a_stream_are_passed_over(bench: Bench, serve: Serve) -> None:
    comment = ": OPENROUTER PROCESSING"
    serve(in_turn(stream(comment, comment, delta(content="It is"), comment, delta("stop", content=" 7"))))
    assert (await chat(bench, stream=True)).content == "It is 7"


@pytest.mark.parametrize("code", ["server_error", 502, 429, None])
async def test_an_error_in_the_middle_of_a_stream_is_tried_again(bench: Bench, serve: Serve, code: Any) -> None:
    event = {"error": {"code": code, "message": "Provider disconnected"}, **delta("error", content="")}
    serve(in_turn(stream(delta(content="It"), event), stream(delta("stop", content="It is 7"))))
    assert (await chat(bench, stream=True)).content == "It is 7"
    assert "Provider disconnected" in bench.sink.of("model_retry")[0].reason


async def test_a_stream_that_ends_in_an_error_without_words_is_tried_again(bench: Bench, serve: Serve) -> None:
    serve(in_turn(stream(delta("error", content="It")), stream(delta("stop", content="It is 7"))))
    assert (await chat(bench, stream=True)).content == "It is 7"


NO_TOOLS = "No endpoints found that support tool use. To learn more about provider routing, visit: the docs"


async def test_a_route_that_knows_no_tools_is_asked_in_plain_text(bench: Bench, serve: Serve) -> None:
    server = serve(lambda body: refused(NO_TOOLS, 404, code=404) if body.get("tools") else REACTED)
    assert names_and_args((await step(bench)).message) == [("search", {"query": "x"})]
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "text",
    [
        "No endpoints found that support the provided 'tool_choice' value.",
        "No endpoints found that can handle the requested parameters.",
    ],
)
async def test_a_route_that_knows_no_forms_is_asked_without(bench: Bench, serve: Serve, text: str) -> None:
    formed = ("response_format", "tool_choice")
    server = serve(lambda body: refused(text, 404) if any(key in body for key in formed) else said('{"status": "ok"}'))
    assert (await review(bench)).status == "ok"
    assert len(server.bodies) == 4


async def test_a_model_that_is_not_there_is_asked_for_once(bench: Bench, serve: Serve) -> None:
    server = serve(in_turn(refused('model "m" not found, try pulling it first', 404)))
    with pytest.raises(ModelUnreachable, match=r"models\.basic\.model"):
        await step(bench)
    assert len(server.bodies) == 1


# --- Ollama


@pytest.mark.parametrize("content", [None, ""])
async def test_arguments_as_an_object_and_calls_without_ids_are_calls(
    bench: Bench, serve: Serve, content: str | None
) -> None:
    serve(in_turn(said(content, tool_calls=[call("search", {"query": "x"}), call("search", {"query": "y"})])))
    reply = await chat(bench)
    assert names_and_args(reply) == [("search", {"query": "x"}), ("search", {"query": "y"})]
    assert reply.content == ""


@pytest.mark.parametrize(
    "more",
    [
        [{"index": 0, "id": "a"}, {"index": 0, "id": "b"}],
        [{"index": 0}, {"index": 0}],
        [{}, {}],
        [{"id": ""}, {"id": ""}],
        [{"index": 0, "id": "a"}, {"index": 1, "id": "a"}],
        [{"id": "a"}, {"id": "b"}],
    ],
)
async def test_streamed_calls_that_share_a_place_stay_apart(bench: Bench, serve: Serve, more: list[Body]) -> None:
    calls = [call("search", '{"query": "x"}', **more[0]), call("search", '{"query": "y"}', **more[1])]
    serve(in_turn(stream(*(delta(tool_calls=[one]) for one in calls), delta("tool_calls"))))
    assert names_and_args(await chat(bench, stream=True)) == [("search", {"query": "x"}), ("search", {"query": "y"})]


async def test_streamed_arguments_may_be_an_object(bench: Bench, serve: Serve) -> None:
    serve(in_turn(stream(delta(tool_calls=[call("search", {"query": "x"}, index=0, id="a")]), delta("tool_calls"))))
    assert (await chat(bench, stream=True)).tool_calls == CALLED


async def test_a_name_that_is_sent_with_every_piece_of_a_call_is_one_call(bench: Bench, serve: Serve) -> None:
    pieces = [call("search", text, index=0, id="a") for text in ('{"que', 'ry": ', '"x"}')]
    serve(in_turn(stream(*(delta(tool_calls=[piece]) for piece in pieces), delta("tool_calls"))))
    assert (await chat(bench, stream=True)).tool_calls == CALLED


async def test_a_piece_of_a_call_without_place_and_id_goes_on_with_the_last_call(bench: Bench, serve: Serve) -> None:
    """The first piece has the id, as some servers send it; the rest was a call without a name."""
    pieces = [call("search", '{"que', id="a"), {"function": {"arguments": 'ry": "x"}'}}]
    serve(in_turn(stream(*(delta(tool_calls=[piece]) for piece in pieces), delta("tool_calls"))))
    assert (await chat(bench, stream=True)).tool_calls == CALLED


async def test_text_that_is_streamed_in_parts_is_text_and_its_thoughts_are_thoughts(bench: Bench, serve: Serve) -> None:
    """Mistral's reasoning models send content as a list of parts; all of it was lost."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Four."}]}
    pieces = [delta(content=[thought]), delta(content=[{"type": "text", "text": "It is "}]), delta(content="4")]
    serve(in_turn(stream(*pieces, delta("stop"))))
    reply = await chat(bench, stream=True)
    assert (reply.content, reply.additional_kwargs["reasoning_content"]) == ("It is 4", "Four.")
    serve(in_turn(said([thought, {"type": "text", "text": "It is 4"}])))
    reply = await chat(bench)
    assert (reply.content, reply.additional_kwargs["reasoning_content"]) == ("It is 4", "Four.")


async def test_a_stream_of_one_whole_message_is_that_message(bench: Bench, serve: Serve) -> None:
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "7"}, "finish_reason": "stop"}]}
    serve(in_turn(stream(whole)))
    assert (await chat(bench, stream=True)).content == "7"


@pytest.mark.parametrize("odd", [{"tool_calls": ["x"]}, {"tool_calls": {"a": 1}}, {"tool_calls": [{"function": 1}]}])
async def test_odd_pieces_of_a_stream_are_tried_again_and_break_nothing(bench: Bench, serve: Serve, odd: Body) -> None:
    serve(in_turn(stream(delta(**odd), delta("stop")), stream(delta("stop", content="7"))))
    assert (await chat(bench, stream=True)).content in ("7", "")


async def test_a_server_that_passes_over_the_form_is_asked_in_another(bench: Bench, serve: Serve) -> None:
    def answer(body: Body) -> Body:
        if body.get("tools"):
            return said("", tool_calls=[call("Review", {"status": "ok"})])
        return said("I think it is fine.")

    server = serve(answer)
    assert (await review(bench)).status == "ok"
    assert (await review(bench)).status == "ok"
    assert bool(server.bodies[-1].get("tools"))
    assert sum("response_format" in body for body in server.bodies) == 1, "one reply shows it"


async def test_a_model_without_a_template_for_tools_is_asked_in_plain_text(bench: Bench, serve: Serve) -> None:
    serve(lambda body: refused("m does not support tools", type="api_error") if body.get("tools") else REACTED)
    assert names_and_args((await step(bench)).message) == [("search", {"query": "x"})]


# --- vLLM

AUTO = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


async def test_a_server_without_a_tool_parser_is_asked_in_plain_text(bench: Bench, serve: Serve) -> None:
    from habilis.testing import Said

    bare = Said(400, {"object": "error", "message": AUTO, "type": "BadRequestError", "param": None, "code": 400})
    serve(lambda body: bare if body.get("tools") else REACTED)
    assert names_and_args((await step(bench)).message) == [("search", {"query": "x"})]
    assert "--enable-auto-tool-choice" in bench.sink.of("notice")[-1].text


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_reasoning_beside_a_call_is_reasoning(bench: Bench, serve: Serve, key: str, streamed: bool) -> None:
    one = call("search", '{"query": "x"}', id="a")
    whole: Any = said(None, tool_calls=[one], finish="tool_calls", **{key: "I look."})
    if streamed:
        whole = stream(delta(**{key: "I "}), delta(**{key: "look."}), delta("tool_calls", tool_calls=[one]))
    serve(in_turn(whole))
    reply = await chat(bench, stream=streamed)
    assert (reply.content, reply.additional_kwargs["reasoning_content"]) == ("", "I look.")
    assert reply.tool_calls == CALLED


async def test_an_answer_in_a_form_that_was_filed_under_reasoning_is_found(bench: Bench, serve: Serve) -> None:
    server = serve(in_turn(said(None, reasoning_content='{"status": "ok"}')))
    assert (await review(bench)).status == "ok"
    assert len(server.bodies) == 1


async def test_a_draft_in_the_middle_of_reasoning_is_no_answer(bench: Bench, serve: Serve) -> None:
    server = serve(in_turn(said(None, reasoning='Maybe {"status": "no"}?'), said('{"status": "ok"}')))
    assert (await review(bench)).status == "ok"
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "text",
    [
        "The provided JSON schema contains features not supported by xgrammar.",
        'Grammar error: Unimplemented keys: ["maxLength"]',
        "Invalid grammar specification.",
    ],
)
async def test_a_schema_that_cannot_be_decoded_by_is_said_in_words(bench: Bench, serve: Serve, text: str) -> None:
    def answer(body: Body) -> Any:
        form = (body.get("response_format") or {}).get("json_schema") or body.get("tools")
        return refused(text, type="BadRequestError", code=400) if form else said('{"status": "ok"}')

    serve(answer)
    assert (await review(bench)).status == "ok"


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    "text",
    [
        "System role not supported",
        "Only user, assistant and tool roles are supported, got system.",
        "Only user and assistant roles are supported!",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
async def test_a_template_without_a_system_role_gets_its_words_from_the_user(
    bench: Bench, serve: Serve, text: str, status: int
) -> None:
    def answer(body: Body) -> Any:
        return refused(text, status) if body["messages"][0]["role"] == "system" else said("7")

    server = serve(answer)
    for _ in range(2):
        assert (await chat(bench)).content == "7"
        (bench.folder / "tape.jsonl").unlink()
    assert server.bodies[-1]["messages"] == [{"role": "user", "content": "Use tools.\n\nWhat is x?"}]
    refusals = len(server.bodies) - 2
    assert refusals in (1, 2), "found out once, then remembered"


async def test_a_template_that_wants_turns_gets_turns(bench: Bench, serve: Serve) -> None:
    def answer(body: Body) -> Any:
        roles = [message["role"] for message in body["messages"]]
        doubled = any(one == other for one, other in itertools.pairwise(roles))
        text = "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
        return refused(text) if doubled else said("7")

    server = serve(answer)
    asked = [*ASK, HumanMessage("And y?"), AIMessage("8"), HumanMessage("And z?")]
    assert (await bench.models().chat("basic", asked, purpose="step")).content == "7"
    roles = [message["role"] for message in server.bodies[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert server.bodies[-1]["messages"][1]["content"] == "What is x?\n\nAnd y?"


# --- llama.cpp's server


@pytest.mark.parametrize("text", ["tools param requires --jinja flag", "Unsupported param: tools"])
async def test_a_server_started_without_templates_is_asked_in_plain_text(bench: Bench, serve: Serve, text: str) -> None:
    server = serve(lambda body: refused(text, 500, type="server_error") if body.get("tools") else REACTED)
    assert names_and_args((await step(bench)).message) == [("search", {"query": "x"})]
    assert len(server.bodies) == 2, "said once is enough"


async def test_a_reply_that_its_own_server_cannot_read_ends_in_plain_text(bench: Bench, serve: Serve) -> None:
    text = "Failed to parse input at pos 12: <tool_call>{"
    serve(lambda body: refused(text, 500, type="server_error") if body.get("tools") else REACTED)
    assert names_and_args((await step(bench)).message) == [("search", {"query": "x"})]
    assert len(bench.sink.of("model_retry")) == 3, "the next reply may be a better one"


async def test_what_a_server_has_not_built_is_asked_for_otherwise(bench: Bench, serve: Serve) -> None:
    text = "This feature is not available."
    serve(lambda body: refused(text, 501) if body.get("response_format") else said('{"status": "ok"}'))
    assert (await review(bench)).status == "ok"
    assert bench.sink.of("model_retry") == []


# --- DeepSeek, Kimi, Qwen while they think


@pytest.mark.parametrize(
    "text",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "Missing `reasoning_content` field in the assistant message at message index 2.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    ],
)
async def test_a_model_that_wants_its_thoughts_back_gets_them(bench: Bench, serve: Serve, text: str) -> None:
    def answer(body: Body) -> Any:
        replies = [message for message in body["messages"] if message["role"] == "assistant"]
        return said("7") if all(reply.get("reasoning_content") for reply in replies) else refused(text)

    server = serve(answer)
    thought = AIMessage("", tool_calls=CALLED, additional_kwargs={"reasoning_content": "I look."})
    history = [*ASK, thought, ToolMessage("seen", tool_call_id="a"), AIMessage("Not yet."), HumanMessage("And now?")]
    for _ in range(2):
        assert (await bench.models().chat("basic", history, tools=SPECS, purpose="step")).content == "7"
        (bench.folder / "tape.jsonl").unlink()
    thoughts = [[message.get("reasoning_content") for message in body["messages"]] for body in server.bodies]
    assert thoughts == [[None] * 6, *[[None, None, "I look.", None, " ", None]] * 2]


# --- Mistral, Groq


async def test_ids_of_calls_are_written_as_a_server_wants_them(bench: Bench, serve: Serve) -> None:
    def answer(body: Body) -> Any:
        ids = [row["tool_call_id"] for row in body["messages"] if "tool_call_id" in row]
        ids += [one["id"] for row in body["messages"] for one in row.get("tool_calls", ())]
        wrong = next((one for one in ids if not re.fullmatch("[a-zA-Z0-9]{9}", one)), None)
        text = f"Tool call id was {wrong} but must be a-z, A-Z, 0-9, with a length of 9."
        return refused(text, type="invalid_request_message_order") if wrong else said("7")

    server = serve(answer)
    two = AIMessage("", tool_calls=[{**CALLED[0], "id": "c1_1"}, {**CALLED[0], "id": "c1_2"}])
    history = [*ASK, two, ToolMessage("one", tool_call_id="c1_1"), ToolMessage("two", tool_call_id="c1_2")]
    assert (await bench.models().chat("basic", history, tools=SPECS, purpose="step")).content == "7"
    asked, *given = [row for row in server.bodies[-1]["messages"] if row["role"] in ("assistant", "tool")]
    ids = [one["id"] for one in asked["tool_calls"]]
    assert [row["tool_call_id"] for row in given] == ids
    assert len(set(ids)) == 2
    assert len(server.bodies) == 2


async def test_a_call_that_a_model_failed_to_write_is_asked_for_again(bench: Bench, serve: Serve) -> None:
    failed = refused(
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        code="tool_use_failed",
        failed_generation="<function=search{",
    )
    serve(in_turn(failed, said(None, tool_calls=[call("search", '{"query": "x"}', id="a")])))
    assert (await step(bench)).message.tool_calls == CALLED
    assert len(bench.sink.of("model_retry")) == 1


async def test_a_model_that_always_fails_to_write_calls_is_asked_in_plain_text(bench: Bench, serve: Serve) -> None:
    failed = refused("Failed to call a function.", code="tool_use_failed")
    serve(lambda body: failed if body.get("tools") else REACTED)
    assert names_and_args((await step(bench)).message) == [("search", {"query": "x"})]


# --- OpenAI


@pytest.mark.parametrize(("known", "unknown"), [("max_completion_tokens", "max_tokens")])
async def test_the_limit_of_a_reply_goes_by_the_name_that_the_model_knows(
    bench: Bench, serve: Serve, known: str, unknown: str
) -> None:
    text = f"Unsupported parameter: '{unknown}' is not supported with this model. Use '{known}' instead."
    more = {"param": unknown, "code": "unsupported_parameter"}
    server = serve(lambda body: refused(text, **more) if unknown in body else said("7"))
    for _ in range(2):
        assert (await chat(bench, max_tokens=99)).content == "7"
        (bench.folder / "tape.jsonl").unlink()
    assert [(body.get(unknown), body.get(known)) for body in server.bodies] == [(99, None), (None, 99), (None, 99)]


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("temperature", 0.2, "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default"),
        ("temperature", 0.0, "`temperature` is deprecated for this model."),
        ("parallel_tool_calls", True, "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."),
        ("parallel_tool_calls", False, "[{'type': 'extra_forbidden', 'loc': ('body', 'parallel_tool_calls')}]"),
        ("max_tokens", 99, "Unrecognized request argument supplied: max_tokens"),
    ],
)
async def test_a_setting_that_a_model_does_not_take_is_left_out_remembered_and_told(
    bench: Bench, serve: Serve, field: str, value: Any, text: str
) -> None:
    names = ["max_tokens", "max_completion_tokens"] if field == "max_tokens" else [field]

    def answer(body: Body) -> Any:
        sent = next((name for name in names if name in body), None)
        return refused(text.replace(field, sent)) if sent else said("7")

    server = serve(answer)
    for _ in range(2):
        assert (await chat(bench, **{field: value})).content == "7"
        (bench.folder / "tape.jsonl").unlink()
    assert not set(names) & set(server.bodies[-1])
    assert not set(names) & set(server.bodies[-2])
    assert field in " ".join(notice.text for notice in bench.sink.of("notice"))


@pytest.mark.parametrize(
    "text",
    [
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
        "max_tokens is too large: 90000. This model supports at most 16384 completion tokens.",
        "The model is not supported.",
    ],
)
async def test_a_setting_with_a_wrong_value_is_the_user_s_to_mend(bench: Bench, serve: Serve, text: str) -> None:
    server = serve(in_turn(refused(text)))
    with pytest.raises(ModelUnreachable, match="HTTP 400"):
        await chat(bench, temperature=1.5, max_tokens=90_000)
    assert len(server.bodies) == 1


async def test_a_server_that_does_not_count_while_it_streams_is_asked_without_once(bench: Bench, serve: Serve) -> None:
    def answer(body: Body) -> Any:
        if "stream_options" in body:
            return refused("Unrecognized request argument supplied: stream_options")
        return stream(delta("stop", content="7"))

    server = serve(answer)
    for _ in range(2):
        assert (await chat(bench, stream=True)).content == "7"
        (bench.folder / "tape.jsonl").unlink()
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]


async def test_a_template_that_knows_no_results_of_tools_gets_them_as_text(bench: Bench, serve: Serve) -> None:
    def answer(body: Body) -> Any:
        if {"tool", "system"} & {message["role"] for message in body["messages"]}:
            return refused("Only user and assistant roles are supported!")
        return said("Thought: Seen.\nFinal Answer: 7")

    server = serve(answer)
    done: list[BaseMessage] = [AIMessage("", tool_calls=CALLED), ToolMessage("x is 7", tool_call_id="a")]
    asking = Strategies(bench.models(), Prompts(), bench.sink.emit, bench.folder / "memory")
    reply = await asking.step([*ASK, *done], SPECS, label="step", position=1)
    assert reply.message.content == "7"
    assert "Observation: x is 7" in str(server.bodies[-1]["messages"])


async def test_a_stop_word_is_refused_once_and_not_once_a_task(bench: Bench, serve: Serve) -> None:
    text = "Unsupported parameter: 'stop' is not supported with this model."
    server = serve(lambda body: refused(text, param="stop") if body.get("stop") else REACTED)
    for _ in range(2):
        assert names_and_args((await step(bench, strategy="react_text")).message) == [("search", {"query": "x"})]
        (bench.folder / "tape.jsonl").unlink()
    assert ["stop" in body for body in server.bodies] == [True, False, False]
