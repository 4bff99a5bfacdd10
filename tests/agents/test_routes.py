"""Where the executor goes next, as tables: a wrong turn loses a round, an answer, or never ends."""

import pytest
from langchain_core.messages import AIMessage

from habilis.agents.executor import after_act, after_care, after_tools, is_last_round
from habilis.config import LimitsSettings

CALL = AIMessage("", tool_calls=[{"id": "1", "name": "t", "args": {}}])
TEXT = AIMessage("The answer is 4.")
EMPTY = AIMessage("  ")
CUT = AIMessage("The answer", response_metadata={"finish_reason": "length"})


@pytest.mark.parametrize(
    ("reply", "last", "care_due", "goto"),
    [
        (CALL, False, False, "call_tools"),
        (CALL, False, True, "call_tools"),
        (TEXT, False, False, "__end__"),
        (TEXT, False, True, "enhance"),
        (EMPTY, False, False, "roll_back"),
        (CUT, False, False, "roll_back"),
        (CUT, True, False, "__end__"),
        (EMPTY, False, True, "roll_back"),
        (TEXT, True, True, "enhance"),
        (TEXT, True, False, "__end__"),
        (EMPTY, True, False, "__end__"),
        (CALL, True, False, "__end__"),
    ],
)
def test_after_a_reply(reply: AIMessage, last: bool, care_due: bool, goto: str) -> None:
    assert after_act(reply, last=last, care_due=care_due) == goto


@pytest.mark.parametrize(
    ("state", "asking", "care_due", "goto"),
    [
        ({"rounds": 1}, False, False, "act"),
        ({"rounds": 1}, False, True, "act"),
        ({"rounds": 2}, False, True, "enhance"),
        ({"rounds": 2}, False, False, "act"),
        ({"rounds": 1, "ending": "failing"}, False, True, "enhance"),
        ({"rounds": 1, "too_long": True}, False, False, "summarise"),
        ({"rounds": 2, "too_long": True}, False, True, "enhance"),
        ({"rounds": 2}, True, True, "ask"),
        ({"rounds": 1, "stop": "finished"}, False, False, "__end__"),
        ({"rounds": 1, "stop": "finished"}, False, True, "enhance"),
        ({"rounds": 1, "stop": "finished"}, True, False, "ask"),
    ],
)
def test_after_a_tool_round(state: dict[str, object], asking: bool, care_due: bool, goto: str) -> None:
    assert after_tools(state, LimitsSettings(), asking=asking, care_due=care_due) == goto


@pytest.mark.parametrize(
    ("state", "goto"),
    [({}, "act"), ({"too_long": True}, "summarise"), ({"stop": "answer", "too_long": True}, "__end__")],
)
def test_after_a_look_at_failing_tools(state: dict[str, object], goto: str) -> None:
    assert after_care(state) == goto


@pytest.mark.parametrize(
    ("rounds", "limit", "ending", "last"),
    [
        (0, 1, "", False),
        (1, 1, "", True),
        (9, 10, "", False),
        (10, 10, "", True),
        (500, -1, "", False),
        (1, -1, "failing", True),
    ],
)
def test_n_tool_rounds_then_one_answer_without_tools(rounds: int, limit: int, ending: str, last: bool) -> None:
    assert is_last_round({"rounds": rounds, "ending": ending}, LimitsSettings(max_rounds=limit)) is last
