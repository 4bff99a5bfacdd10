"""What a user would lose: a call in a local model's own mark-up that passes as the final answer, or runs changed."""

from __future__ import annotations

from collections import Counter

import pytest

from habilis.models.replies import from_body
from habilis.models.streaming import StreamedBody
from habilis.models.thinking import PAIRS
from habilis.tool_calling.markup.marks import BEGIN, NAMED
from habilis.tool_calling.narrator import Narrator
from habilis.tool_calling.textcalls import Written, read_text

from .corpus.families import TOOLS, WRITERS, Reply, development
from .corpus.held import held

DEVELOPMENT, HELD = list(development()), list(held())


def whole(text: str) -> Written:
    """What a reply comes to that a server sends at once."""
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return read_text(str(from_body(body).content), TOOLS)


def streamed(text: str) -> Written:
    """What it comes to where each character is sent for itself."""
    taken = StreamedBody()
    for char in text:
        taken.add({"choices": [{"delta": {"content": char}}]})
    taken.add({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    return read_text(str(from_body(taken.body()).content), TOOLS)


def verdict(reply: Reply, found: Written) -> str:
    """`right`, `doubt` for a whole call that is asked for again, `wrong`, or `silent`: a call taken for an answer."""
    if reply.kind == "plain":
        wanted = reply.text if reply.answer is None else reply.answer
        return "right" if not found.calls and not found.doubt and found.thought == wanted else "wrong"
    if found.doubt:
        return "doubt" if reply.kind == "whole" else "right"
    if not found.calls:
        return "silent"
    return "right" if found.calls == reply.calls else "wrong"


def shown(text: str, size: int) -> str:
    narrator = Narrator(labelled=False)
    return "".join(narrator.feed(text[at : at + size]) for at in range(0, len(text), size)) + narrator.close()


def figures(replies: list[Reply]) -> dict[str, Counter[str]]:
    counted: dict[str, Counter[str]] = {}
    for reply in replies:
        counted.setdefault(reply.kind, Counter())[verdict(reply, whole(reply.text))] += 1
    return counted


@pytest.mark.parametrize("family", [*WRITERS, "plain"])
def test_what_the_reader_was_written_with_is_read_right(family: str) -> None:
    for reply in DEVELOPMENT:
        if reply.family == family:
            found = whole(reply.text)
            assert verdict(reply, found) == "right", (reply.text, found)


def test_a_streamed_reply_comes_to_the_same() -> None:
    for reply in [*DEVELOPMENT, *HELD]:
        assert streamed(reply.text) == whole(reply.text), reply.text
        assert shown(reply.text, 1) == shown(reply.text, 7) == shown(reply.text, 10_000), reply.text


def test_what_was_written_afterwards_is_read_as_well() -> None:
    """At the first reading 88 of 88 whole ones were right, none streamed differently, and no plain answer was a call;
    6 of 132 spoilt ones passed in silence, which are told as doubts since then. Eight ways of writing came later."""
    found = figures(HELD)
    assert found["whole"] == {"right": 2 * len(WRITERS)}
    assert found["spoilt"] == {"right": 3 * len(WRITERS)}
    assert found["plain"] == {"right": 20}


def test_no_mark_of_a_call_is_told_while_it_comes() -> None:
    for reply in [*DEVELOPMENT, *HELD]:
        if reply.kind != "plain" and reply.family not in MARKED_BY_WORDS:
            said = shown(reply.text, 1)
            assert not any(sign.search(said) for sign in (BEGIN, NAMED)), reply.text


UNREAD = (
    "I will look.\n<read_rows>\n<path>a.csv</path>\n<limit>3</limit>\n</read_rows>",
    'Thought: look\nAction: read_rows\nAction Input: {"path": "a.csv"}',
    '<call>read_rows(path="a.csv")</call>',
    '<tool_use>\n<name>read_rows</name>\n<arguments>{"path": "a.csv"}</arguments>\n</tool_use>',
    '```tool_code\nprint(default_api.read_rows(path="a.csv", limit=3))\n```',
    'TOOL_CALL: {"name": "read_rows", "arguments": {"path": "a.csv"}}',
    'to=read_rows\n{"path": "a.csv"}',
    '{"step": {"tool": "read_rows", "with": {"path": "a.csv"}}}',
)
ANSWERS = (
    'I called read_rows(path="a.csv") and it gave 7 rows (see above).',
    "It has 7 rows [read_rows, path: a.csv]",
    'The answer is 7, by `read_rows(path="a.csv")`',
    '{"answer": {"name": "read_rows", "arguments": {"path": "a.csv"}}}',
    "read_rows gave: path, limit (two columns)",
    "def total(path):\n    rows = read_rows(path=path)\n    return sum(rows)",
    "<p>read_rows takes a <b>path</b></p>",
)


@pytest.mark.parametrize("text", UNREAD)
def test_a_call_in_a_form_that_nobody_reads_is_asked_about(text: str) -> None:
    """It would pass as the answer, and the call be lost in silence."""
    for found in (whole(text), streamed(text)):
        assert (found.calls, "read_rows" in found.doubt) == ((), True), found


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_that_speaks_of_a_call_stays_an_answer(text: str) -> None:
    assert verdict(Reply("plain", "plain", text), whole(text)) == "right", whole(text)


MARKED_BY_WORDS = ("phi-4 functools", "command-r", "gpt-oss without tokens", "gigachat without tokens")
"""Their marks are words that are shown before anybody can know that they are marks."""


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_what_a_family_thinks_aloud_is_no_part_of_its_reply(begin: str, end: str) -> None:
    """A call that is only thought of is not made, and the thought is not shown."""
    thought = "I could send <tool_call> with {}."
    text = f"{begin}{thought}{end}It is 7."
    assert whole(text) == Written("It is 7.")
    assert shown(text, 1) == shown(text, 10_000) == "It is 7."


@pytest.mark.parametrize(
    "text",
    [
        "<|begin_of_thought|>hm<|end_of_thought|>\n<|begin_of_solution|>It is 7.<|end_of_solution|>",
        "<|think|>hm<|end|><|begin|>assistant<|content|>It is 7.<|flush|>",
    ],
)
def test_what_surrounds_an_answer_behind_thoughts_is_no_part_of_it(text: str) -> None:
    assert whole(text) == streamed(text) == Written("It is 7.")
