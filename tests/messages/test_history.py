"""What a user would lose: a task that dies because a provider rejects its history."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from habilis.messages.history import (
    NO_RESULT,
    call_ids,
    drop_calls,
    is_empty_reply,
    pending_calls,
    repair_history,
    roll_back,
)


def ai(*ids: str | None, text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": "t", "args": {}, "id": i, "type": "tool_call"} for i in ids])


def result(call_id: str, text: str = "r") -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id)


def broken(call_id: str) -> AIMessage:
    bad: Any = {"name": "t", "args": '{"a":', "id": call_id, "error": None, "type": "invalid_tool_call"}
    return AIMessage("", invalid_tool_calls=[bad])


message = st.one_of(
    st.builds(HumanMessage, st.sampled_from(["hi", "and?"])),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(lambda ids: ai(*ids)),
    st.sampled_from(["a", "b", "c", "d"]).map(result),
    st.just(AIMessage("text")),
    st.sampled_from(["a", "d"]).map(broken),
)
histories = st.lists(message, max_size=12)


@given(histories)
def test_after_repair_no_call_and_no_result_stands_alone(history: list[BaseMessage]) -> None:
    fixed = repair_history(history)
    at = 0
    while at < len(fixed):
        ids = call_ids(fixed[at])
        assert len(set(ids)) == len(ids)
        answers = [m.tool_call_id for m in fixed[at + 1 : at + 1 + len(ids)] if isinstance(m, ToolMessage)]
        assert answers == ids
        assert not isinstance(fixed[at], ToolMessage)
        assert not isinstance(fixed[at], AIMessage) or not fixed[at].invalid_tool_calls  # type: ignore[attr-defined]
        at += 1 + len(ids)
    assert pending_calls(fixed) == {}


@given(histories)
def test_repair_changes_nothing_the_second_time_and_keeps_the_order(history: list[BaseMessage]) -> None:
    fixed = repair_history(history)
    assert repair_history(fixed) == fixed
    kept = [m for m in fixed if isinstance(m, HumanMessage) and not str(m.content).startswith("Result of")]
    assert kept == [m for m in history if isinstance(m, HumanMessage)]


def test_a_history_in_order_is_untouched() -> None:
    history = [SystemMessage("s"), HumanMessage("q"), ai("a", "b"), result("a"), result("b"), AIMessage("done")]
    assert repair_history(history) == history


def test_results_move_behind_their_calls_and_missing_ones_are_answered() -> None:
    fixed = repair_history([ai("a", "b"), HumanMessage("go on"), result("b", "two")])
    assert [m.type for m in fixed] == ["ai", "tool", "tool", "human"]
    assert [m.content for m in fixed] == ["", NO_RESULT, "two", "go on"]


def test_names_that_no_provider_takes_are_rewritten() -> None:
    wild = AIMessage("", tool_calls=[{"name": n, "args": {}, "id": n} for n in ("functions.add it", "", "x" * 99)])
    fixed = repair_history([wild])[0]
    assert isinstance(fixed, AIMessage)
    assert [call["name"] for call in fixed.tool_calls] == ["functions_add_it", "unnamed", "x" * 64]


def test_a_result_without_a_call_is_kept_as_a_note() -> None:
    (note,) = repair_history([result("gone", "42")])
    assert isinstance(note, HumanMessage)
    assert "42" in str(note.content)


def test_the_newest_of_two_results_counts() -> None:
    assert repair_history([ai("a"), result("a", "old"), result("a", "new")])[1].content == "new"


def test_ids_used_again_in_a_later_reply_keep_their_own_results() -> None:
    history = [ai("a"), result("a", "one"), ai("a"), result("a", "two")]
    assert [m.content for m in repair_history(history)] == ["", "one", "", "two"]


@pytest.mark.parametrize("text", ["", " \n", "<think>what now</think>", "<thinking>cut", "\u200b"])
def test_thinking_alone_is_empty(text: str) -> None:
    assert is_empty_reply(AIMessage(text))


def test_a_call_or_a_word_is_not_empty() -> None:
    assert not is_empty_reply(ai("a"))
    assert not is_empty_reply(broken("a"))
    assert not is_empty_reply(AIMessage("<think>x</think> 4"))
    assert is_empty_reply(AIMessage([{"type": "thinking", "thinking": "x"}]))


def test_a_dropped_call_goes_with_its_result_and_leaves_the_text() -> None:
    history = [HumanMessage("q"), ai("a", "b", text="I try both"), result("a"), result("b"), ai("c"), result("c")]
    left = drop_calls(history, {"a", "c"})
    assert [m.type for m in left] == ["human", "ai", "tool"]
    assert left[1].content == "I try both"
    assert call_ids(left[1]) == ["b"]


@given(histories, st.sets(st.sampled_from(["a", "b", "c"])))
def test_dropping_never_orphans(history: list[BaseMessage], ids: set[str]) -> None:
    left = drop_calls(repair_history(history), ids)
    assert pending_calls(left) == {}
    assert not any(call_id in ids for m in left for call_id in call_ids(m))


def test_rolling_back_takes_the_last_reply_and_its_results_but_no_word_of_the_user() -> None:
    history = [HumanMessage("q"), ai("a"), result("a"), ai("b"), result("b"), HumanMessage("failure report")]
    left, rounds = roll_back(history)
    assert [m.content for m in left] == ["q", "", "r", "failure report"]
    assert rounds == 1


def test_what_was_written_is_never_rolled_away() -> None:
    history = [HumanMessage("q"), ai("w"), result("w")]
    assert roll_back(history, {"w"}) == (history, 0)


def test_rolling_back_a_plain_text_costs_no_round() -> None:
    assert roll_back([HumanMessage("q"), AIMessage("hm")]) == ([HumanMessage("q")], 0)
    assert roll_back([HumanMessage("q")]) == ([HumanMessage("q")], 0)


def test_pending_calls_count_like_a_ledger() -> None:
    assert pending_calls([ai("a", "b"), result("a"), result("z")]) == {"b": 1}
    assert pending_calls([]) == {}


@pytest.mark.parametrize(
    "echo", ["<question>\nHow many rows?\n</question>", "  <failure_report>\nno\n</failure_report>"]
)
def test_a_prompt_given_back_is_no_answer(echo: str) -> None:
    assert is_empty_reply(AIMessage(echo))
    assert not is_empty_reply(AIMessage(f"The answer to {echo} is 3."))
