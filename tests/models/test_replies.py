"""What a user would lose: an answer hidden by an odd server, or thoughts told as an answer."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from habilis.models.failures import BadReply, ServerSaid
from habilis.models.replies import from_body, normalised, usage_of
from habilis.models.wire import reply_from, reply_part


def body(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}], "model": "m"}


def call(arguments: Any, **more: Any) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": "t", "arguments": arguments}, **more}


@pytest.mark.parametrize("broken", [None, "<html>", [], {}, {"choices": []}, {"choices": [None]}, {"choices": [{}]}])
def test_what_is_no_completion_is_worth_another_try(broken: Any) -> None:
    with pytest.raises(BadReply):
        from_body(broken)


def test_an_error_in_a_good_status_is_an_error() -> None:
    with pytest.raises(ServerSaid) as caught:
        from_body({"error": {"message": "upstream is down", "code": 502}})
    assert caught.value.status_code == 502


def test_content_in_blocks_becomes_text() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    reply = from_body(body(content=blocks))
    assert (reply.content, reply.additional_kwargs["reasoning_content"]) == ("ab", "hm")


def test_no_content_is_empty_text() -> None:
    assert from_body(body(content=None)).content == ""


@pytest.mark.parametrize(("arguments", "args"), [('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("", {}), (None, {})])
def test_arguments_come_as_text_or_object_or_not_at_all(arguments: Any, args: dict[str, Any]) -> None:
    assert from_body(body(tool_calls=[call(arguments)])).tool_calls[0]["args"] == args


def test_unreadable_calls_keep_their_place_through_the_tape() -> None:
    reply = from_body(body(tool_calls=[call('{"a"'), call("{}", id="2"), call("[1]", id="3")]))
    kept = reply_from(reply_part(reply))
    assert [c["id"] for c in kept.invalid_tool_calls] == ["1", "3"]
    assert kept.additional_kwargs["unreadable_at"] == [0, 2]


def test_thoughts_before_the_answer_are_taken_out_and_tags_inside_it_are_not() -> None:
    assert normalised(AIMessage("<think>a</think><think>b</think>x")).content == "x"
    assert normalised(AIMessage("a thought whose start was in the prompt</think>x")).content == "x"
    assert normalised(AIMessage("use the <think> tag")).content == "use the <think> tag"


def test_ids_of_runs_do_not_stay() -> None:
    assert (
        normalised(AIMessage("x", id="run-123", response_metadata={"id": "resp_9", "headers": {}})).response_metadata
        == {}
    )
    assert normalised(AIMessage("x", id="run-123")).id is None


def test_a_reply_comes_back_from_the_tape_as_it_was() -> None:
    reply = from_body(body(content="x", reasoning="r", tool_calls=[call('{"a": "ü"}')]))
    assert reply_from(reply_part(reply)) == reply


def test_usage_is_what_the_server_says_else_by_size() -> None:
    said = from_body({**body(content="x"), "usage": {"prompt_tokens": 3, "completion_tokens": None}})
    assert usage_of(said, lambda: 999).prompt_tokens == 3
    assert usage_of(from_body(body(content="x" * 340)), lambda: 340).prompt_tokens == 100
