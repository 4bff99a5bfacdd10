"""What a user would lose: an answer that is not the one that the model wrote, or an action that it made in vain."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from habilis.core.types import ToolSpec
from habilis.messages.calls import check_calls, with_unique_ids
from habilis.tool_calling.react import as_message, parse_react

from .corpus import READ, SEARCH, TIME

WRITE = ToolSpec(
    name="write_note",
    description="Write a note.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
SPECS = [READ, SEARCH, TIME, WRITE]


def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a reply that may run."""
    parsed = parse_react(text, SPECS)
    checked = check_calls(with_unique_ids(as_message(parsed, SPECS), "c", ()), SPECS)
    assert not parsed.doubt, parsed.doubt
    assert not checked.problems, checked.problems
    return [(call.name, call.args) for call in checked.calls]


EXACT = [
    "1234567890123456789.10",
    "1.50",
    "1e3",
    "007",
    "```python\nprint(1)\n```",
    '{"total": 1.50, "n": 10.0}',
    "[1.0]",
]


@pytest.mark.parametrize("answer", EXACT)
@pytest.mark.parametrize(
    "form",
    [
        "Thought: done\nFinal Answer: {}",
        "Action: Final Answer\nAction Input: {}",
        "Thought: done\n\nAction 3: Final Answer\nAction Input 3: {}\nObservation: done",
        "Final Answer: {}\nObservation: It is 8.\nThought: Well.",
        "**Final Answer**：{}",
    ],
)
def test_an_answer_is_handed_on_as_its_characters(form: str, answer: str) -> None:
    assert parse_react(form.format(answer), SPECS).answer == answer


@pytest.mark.parametrize("value", ["1234567890123456789.10", "1.50", '{"total": 1.50}', "[1.0, 2]"])
@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "```{}```", "Action: ```json\n{}\n```"])
def test_an_answer_in_an_object_is_handed_on_as_its_characters(fence: str, value: str) -> None:
    written = f'{{"action": "Final Answer", "action_input": {value}}}'
    assert parse_react(fence.format(written), SPECS).answer == value


def test_an_answer_in_a_string_of_json_is_its_text() -> None:
    written = '{"action": "Final Answer", "action_input": "a\\n```\\nb\\n```"}'
    assert parse_react(f"Action:\n```json\n{written}\n```", SPECS).answer == "a\n```\nb\n```"


ROWS = ("read_rows", {"path": "a.csv", "limit": 3})
GIVEN = '{"path": "a.csv", "limit": 3}'
BOTH = f'{{"action": "read_rows", "action_input": {GIVEN}}}'


@pytest.mark.parametrize(
    "text",
    [
        f"Action: ```{BOTH}```",
        f"Action: ```json {BOTH}```",
        f"Thought: I look.\nAction: ```json\n{BOTH}\n```\nThat will do.",
        f"Action: read_rows\nAction Input: ```json {GIVEN} ```",
        f"Action: read_rows\nAction Input: ```json\n{GIVEN}\n```\nI wait.",
        f"Thought 1: I look.\nAction 1: read_rows\nAction Input 1: {GIVEN}",
        f"Action #2: read_rows\nAction Input: {GIVEN}",
        f"Thought: I look. Action: read_rows\nAction Input: {GIVEN}",
        f"Thought: I look. Action: read_rows Action Input: {GIVEN}",
        f"Thought： I look.\nAction： read_rows\nAction Input： {GIVEN}",
        f"Action: read_rows\nAction Input: {GIVEN}<|im_end|>",
        f'I look.\n<tool_call>\n{{"name": "read_rows", "arguments": {GIVEN}}}\n</tool_call>',
        "<function=read_rows>\n<parameter=path>\na.csv\n</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>",
    ],
)
def test_an_action_is_read_however_it_is_set(text: str) -> None:
    assert calls(text) == [ROWS]


def test_fences_and_labels_inside_of_a_value_are_part_of_it() -> None:
    code = "```python\\nprint(1)\\n```\\nAction: none\\nObservation: none"
    given = f'{{"text": "{code}"}}'
    wanted = [("write_note", {"text": code.replace("\\n", "\n")})]
    assert calls(f"Action: write_note\nAction Input: {given}") == wanted
    raw = given.replace("\\n", "\n")
    assert calls(f"Action: write_note\nAction Input: ```json\n{raw}\n```") == wanted
    both = f'{{"action": "write_note", "action_input": {raw}}}'
    assert calls(f"Thought: I write.\nAction:\n```json\n{both}\n```") == wanted


@pytest.mark.parametrize("text", ['{"a": 1.50}', "[1, 2]", '{"rows": [{"n": 1}]}'])
def test_fenced_json_is_the_text_of_a_tool_that_takes_one(text: str) -> None:
    assert calls(f"Action: write_note\nAction Input:\n```json\n{text}\n```") == [("write_note", {"text": text})]


def test_bare_json_with_a_wrong_name_is_no_text() -> None:
    parsed = parse_react('Action: search\nAction Input: {"querry": "x"}', SPECS)
    checked = check_calls(with_unique_ids(as_message(parsed, SPECS), "c", ()), SPECS)
    assert "did you mean query?" in checked.problems[0].text


@pytest.mark.parametrize(
    "text",
    [
        'Final Answer: It is 7.\n<tool_call>\n{"name": "tell_time", "arguments": {}}\n</tool_call>',
        'Thought: I look.\n<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"query": ',
    ],
)
def test_marks_of_a_call_are_never_an_answer(text: str) -> None:
    parsed = parse_react(text, SPECS)
    assert parsed.answer is None
    assert parsed.doubt


def test_what_is_sent_again_reads_the_same() -> None:
    message = as_message(parse_react(f"Action: read_rows\nAction Input: {GIVEN}", SPECS), SPECS)
    assert isinstance(message, AIMessage)
    assert message.tool_calls[0]["args"] == ROWS[1]


FIVE = [("read_rows", {"path": "a.csv", "limit": 5})]
WRITTEN = (
    ('Action: `read_rows`\nAction Input: `{"path": "a.csv", "limit": 5}`', FIVE),
    ('Action: read_rows[{"path": "a.csv", "limit": 5}]', FIVE),
    ("Thought 1: t\nAction 1: search[rows of Oslo]", [("search", {"query": "rows of Oslo"})]),
    ('Action: read_rows Action Input: {"path": "a.csv", "limit": 5}', FIVE),
    ('Action: read_rows\nInput: {"path": "a.csv", "limit": 5}', FIVE),
    ('Action: read_rows\nArguments: {"path": "a.csv", "limit": 5}', FIVE),
    ('Action: read_rows\nAction Input: path="a.csv", limit=5', FIVE),
    ('Action: write_note\nAction Input: name="Bob" and more', [("write_note", {"text": 'name="Bob" and more'})]),
    ('Action: write_note\nAction Input: name="Bob"', [("write_note", {"text": 'name="Bob"'})]),
    ("Action: search[a[0] of b]", [("search", {"query": "a[0] of b"})]),
)


@pytest.mark.parametrize(("text", "wanted"), WRITTEN)
def test_an_action_in_another_usual_form_is_made(text: str, wanted: list[tuple[str, dict[str, Any]]]) -> None:
    assert calls(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Thought: done\nAction: None\nFinal Answer: 42",
        "Thought: done\nAction: No action needed.\nFinal Answer: 42",
        "Thought: done\nAction: N/A\n\nFinal Answer: 42",
        "Thought: done\nAction: Finish[42]",
    ],
)
def test_an_answer_after_no_action_is_the_answer(text: str) -> None:
    """It was taken for a call of a tool named None, and cost a round."""
    assert parse_react(text, SPECS).answer == "42"


def test_no_action_and_no_answer_is_told() -> None:
    assert parse_react("Action: None", SPECS).answer is None
