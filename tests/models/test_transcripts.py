"""What a user would lose: a conversation of another program that comes in with a call or a result too few."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.core.errors import UserError
from habilis.messages.history import pending_calls, repair_history
from habilis.tool_calling.transcripts import read_transcript, write_anthropic, write_openai

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "count", "arguments": '{"path": "x"}'}},
            {"id": "b", "type": "function", "function": {"name": "count", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "b", "content": "2"},
    {"role": "tool", "tool_call_id": "a", "content": "1"},
    {"role": "assistant", "content": "3"},
]
ANTHROPIC = [
    {"role": "user", "content": "How many?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Count both.", "signature": "s"},
            {"type": "text", "text": "I count."},
            {"type": "tool_use", "id": "toolu_a", "name": "count", "input": {"path": "x"}},
            {"type": "tool_use", "id": "toolu_b", "name": "count", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_b", "content": [{"type": "text", "text": "2"}]},
            {"type": "tool_result", "tool_use_id": "toolu_a", "content": "no such file", "is_error": True},
            {"type": "text", "text": "Go on."},
        ],
    },
]


def test_an_openai_conversation_is_read() -> None:
    messages = read_transcript(OPENAI)
    assert [message.type for message in messages] == ["system", "human", "ai", "tool", "tool", "ai"]
    reply = messages[2]
    assert isinstance(reply, AIMessage)
    assert [(call["id"], call["args"]) for call in reply.tool_calls] == [("a", {"path": "x"}), ("b", {})]
    assert pending_calls(messages) == {}
    assert pending_calls(messages[:4]) == {"a": 1}


def test_an_anthropic_conversation_is_read_and_results_pair_by_tool_use_id() -> None:
    messages = read_transcript(ANTHROPIC)
    assert [message.type for message in messages] == ["human", "ai", "tool", "tool", "human"]
    assert messages[1].additional_kwargs["reasoning_content"] == "Count both."
    first, second = messages[2], messages[3]
    assert isinstance(first, ToolMessage)
    assert isinstance(second, ToolMessage)
    assert (first.tool_call_id, first.content, first.status) == ("toolu_b", "2", "success")
    assert (second.tool_call_id, second.status) == ("toolu_a", "error")
    assert pending_calls(messages[:2]) == {"toolu_a": 1, "toolu_b": 1}


def test_all_results_of_a_reply_stand_in_one_user_message_in_the_order_of_its_calls() -> None:
    system, rows = write_anthropic([SystemMessage("Be brief."), *read_transcript(ANTHROPIC)])
    assert system == "Be brief."
    assert [row["role"] for row in rows] == ["user", "assistant", "user", "user"]
    assert [block["tool_use_id"] for block in rows[2]["content"]] == ["toolu_a", "toolu_b"]
    assert rows[2]["content"][0]["is_error"] is True
    assert not any(block["type"] == "thinking" for block in rows[1]["content"])


def test_either_shape_can_be_written_from_the_other() -> None:
    rows = write_openai(read_transcript(ANTHROPIC))
    assert [row["role"] for row in rows] == ["user", "assistant", "tool", "tool", "user"]
    assert json.loads(rows[1]["tool_calls"][0]["function"]["arguments"]) == {"path": "x"}


def test_a_bare_text_and_an_object_of_a_client_library_are_replies() -> None:
    class Said:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "assistant", "content": "yes"}

    assert [str(message.content) for message in read_transcript(["no", Said()])] == ["no", "yes"]


def test_an_image_goes_through_both_shapes() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    row = {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "What?"}]}
    messages = read_transcript([row])
    assert write_openai(messages)[0]["content"][0]["image_url"]["url"] == "data:image/png;base64,QUJD"
    assert write_anthropic(messages)[1] == [row]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"role": "user", "content": "x"}, 7], "message 2 of the conversation must be an object"),
        ([{"role": "judge", "content": "x"}], "role 'judge', which is not known"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "a"}]}],
            "message 1 of the conversation .assistant. cannot be read",
        ),
        ([{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}], "tool_use_id"),
    ],
)
def test_what_cannot_be_read_is_named(rows: list[Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_transcript(rows)


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=9), st.integers(), st.none()), max_size=3)


@st.composite
def conversations(draw: st.DrawFn) -> list[BaseMessage]:
    """Histories in order and complete, as a provider takes them."""
    messages: list[BaseMessage] = [HumanMessage("Go.")]
    for turn in range(draw(st.integers(0, 4))):
        calls: list[Any] = [
            {"name": draw(st.sampled_from(["count", "read"])), "args": args, "id": f"c{turn}_{n}", "type": "tool_call"}
            for n, args in enumerate(draw(st.lists(ARGUMENTS, max_size=3)))
        ]
        messages.append(AIMessage(draw(st.sampled_from(["", "I look.", " "])) if calls else "So.", tool_calls=calls))
        for call in calls:
            status: Any = draw(st.sampled_from(["success", "error"]))
            messages.append(ToolMessage(draw(st.text(max_size=9)), tool_call_id=call["id"], status=status))
        if draw(st.booleans()):
            messages.append(HumanMessage(draw(st.text(min_size=1, max_size=9))))
    return messages


def essence(messages: list[BaseMessage], *, status: bool) -> list[Any]:
    rows: list[Any] = []
    for message in messages:
        row = [message.type, str(message.content).strip() if message.type == "ai" else message.content]
        if isinstance(message, AIMessage):
            row.append([(call["id"], call["name"], call["args"]) for call in message.tool_calls])
        if isinstance(message, ToolMessage):
            row += [message.tool_call_id, message.status if status else ""]
        rows.append(row)
    return rows


@given(conversations())
def test_what_is_written_is_read_back_as_it_was(messages: list[BaseMessage]) -> None:
    assert repair_history(messages) == messages
    assert essence(read_transcript(write_openai(messages)), status=False) == essence(messages, status=False)
    assert essence(read_transcript(write_anthropic(messages)[1]), status=True) == essence(messages, status=True)


@given(conversations(), st.randoms(use_true_random=False))
def test_what_is_written_is_in_order_whatever_it_came_from(messages: list[BaseMessage], lot: Any) -> None:
    lot.shuffle(messages)
    rows = write_openai(messages)
    for number, row in enumerate(rows):
        ids = [call["id"] for call in row.get("tool_calls", ())]
        assert [after["tool_call_id"] for after in rows[number + 1 : number + 1 + len(ids)]] == ids


def test_two_calls_that_share_an_id_are_two() -> None:
    def call(path: str) -> dict[str, Any]:
        return {"id": "a", "type": "function", "function": {"name": "count", "arguments": json.dumps({"path": path})}}

    rows = [
        {"role": "assistant", "content": None, "tool_calls": [call("x"), call("y")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "a", "content": "2"},
    ]
    asked, first, second = repair_history(read_transcript(rows))
    assert isinstance(asked, AIMessage)
    assert [call["args"] for call in asked.tool_calls] == [{"path": "x"}, {"path": "y"}]
    assert len({call["id"] for call in asked.tool_calls}) == 2
    assert (first.content, second.content) == ("1", "2")


def test_a_call_told_in_both_shapes_is_one() -> None:
    block = {"type": "tool_use", "id": "a", "name": "count", "input": {}}
    call = {"id": "a", "type": "function", "function": {"name": "count", "arguments": "{}"}}
    (message,) = read_transcript([{"role": "assistant", "content": [block], "tool_calls": [call]}])
    assert isinstance(message, AIMessage)
    assert len(message.tool_calls) == 1


def test_an_image_that_a_tool_gave_stays_one() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    said = [{"type": "text", "text": "The plot:"}, image]
    rows = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "draw", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": said}]},
    ]
    messages = read_transcript(rows)
    assert write_anthropic(messages)[1] == rows
    assert write_openai(messages)[1]["content"] == "The plot:[image_url]"
