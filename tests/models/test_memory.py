"""What a user would lose: a conversation that a provider refuses, that outgrows its limit, or forgets what it holds."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from habilis.core.types import PastCall, PastTurn
from habilis.messages.history import pending_calls, repair_history
from habilis.models.memory import conversation, messages_of, within
from habilis.models.tokens import TokenCounter

COUNTER = TokenCounter()
TEXT = st.text(max_size=60)


def size(messages: Sequence[BaseMessage]) -> int:
    return COUNTER.count(messages).tokens


@st.composite
def histories(draw: st.DrawFn) -> list[PastTurn]:
    turns = []
    for number in range(1, draw(st.integers(0, 8)) + 1):
        rounds = draw(st.lists(st.lists(st.tuples(TEXT, st.booleans()), min_size=1, max_size=3), max_size=4))
        made = 0
        calls: list[tuple[PastCall, ...]] = []
        for one in rounds:
            row = []
            for result, error in one:
                made += 1
                row.append(
                    PastCall(id=f"t{number}_{made}", tool="look", arguments={"x": result}, result=result, error=error)
                )
            calls.append(tuple(row))
        turns.append(PastTurn(number=number, question=draw(TEXT), rounds=tuple(calls), answer=draw(TEXT)))
    return turns


@given(histories(), st.integers(0, 600))
def test_any_history_and_any_limit_give_a_request_that_is_whole_and_within_it(
    turns: list[PastTurn], limit: int
) -> None:
    kept = within(turns, limit, size)
    messages = conversation(kept)
    assert size(messages) <= limit
    assert not pending_calls(messages)
    asked = {call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls}
    assert all(m.tool_call_id in asked for m in messages if isinstance(m, ToolMessage)), "no orphan"
    filled = [m for m in messages if not isinstance(m, AIMessage) or m.tool_calls or str(m.content).strip()]
    assert [m for m in repair_history(messages) if m in filled] == filled, "nothing that a provider would refuse"


@given(histories(), st.integers(0, 600))
def test_the_newest_turns_are_kept_in_their_order(turns: list[PastTurn], limit: int) -> None:
    kept = within(turns, limit, size)
    assert [turn.number for turn in kept] == [turn.number for turn in turns[len(turns) - len(kept) :]]
    for turn, whole in zip(kept, turns[len(turns) - len(kept) :], strict=True):
        assert (turn.question, turn.answer) == (whole.question, whole.answer)
        assert turn.rounds == whole.rounds[len(whole.rounds) - len(turn.rounds) :], "the newest rounds, each whole"
    if len(kept) < len(turns):
        left_out = turns[-len(kept) - 1].model_copy(update={"rounds": ()})
        bare = [turn.model_copy(update={"rounds": ()}) for turn in kept]
        assert size(conversation([left_out])) + size(conversation(bare)) > limit - limit // 2, "room was not wasted"


@given(histories(), st.integers(0, 300), st.integers(0, 300))
def test_more_room_never_keeps_fewer_turns_of_plain_talk(turns: list[PastTurn], small: int, more: int) -> None:
    plain = [turn.model_copy(update={"rounds": ()}) for turn in turns]
    assert len(within(plain, small, size)) <= len(within(plain, small + more, size))


def test_a_turn_stands_as_it_was_held() -> None:
    calls = (PastCall(id="t1_1", tool="mean", arguments={"c": "price"}, result="20"),)
    turn = PastTurn(number=1, question="The mean?", rounds=(calls,), answer="20", made=("out.csv",))
    question, asked, result, answer = messages_of(turn)
    assert isinstance(question, HumanMessage)
    assert isinstance(asked, AIMessage)
    assert asked.tool_calls[0]["args"] == {"c": "price"}
    assert isinstance(result, ToolMessage)
    assert (result.content, result.tool_call_id) == ("20", "t1_1")
    assert str(answer.content) == "20\n[Files made: out.csv]"


def test_a_turn_with_much_tool_work_does_not_push_the_talk_before_it_out() -> None:
    talk = [PastTurn(number=n, question=f"Question {n}", answer=f"Answer {n}") for n in range(1, 11)]
    work = tuple((PastCall(id=f"t11_{n}", tool="read", result="word " * 100),) for n in range(20))
    kept = within([*talk, PastTurn(number=11, question="Read it all", rounds=work, answer="Done")], 1_000, size)
    assert len(kept) == 11
    assert 0 < len(kept[-1].rounds) < 20
