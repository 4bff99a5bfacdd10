"""What a user would lose: a call that the model made and nobody ran, one that it never made, or a reply left to end in
silence. Hundreds of replies, good and bad, in every syntax and many chunkings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from habilis.core.types import ToolSpec
from habilis.messages.calls import check_calls, with_unique_ids
from habilis.tool_calling.narrator import Narrator
from habilis.tool_calling.react import as_message, parse_react
from habilis.tool_calling.textcalls import read_text

from .corpus import SPECS, Sample, samples

CORPUS = samples()


def test_the_corpus_is_large_and_has_every_kind() -> None:
    assert len(CORPUS) >= 500
    for way in ("text", "react"):
        mine = [sample for sample in CORPUS if sample.way == way]
        assert sum(bool(sample.calls) for sample in mine) > 100
        assert sum(sample.bad for sample in mine) > 60
        assert sum(sample.answer is not None for sample in mine) > 20


def outcome(sample: Sample) -> tuple[tuple[tuple[str, object], ...], str, str]:
    """What a reply comes to: calls that may run, feedback to the model, answer."""
    if sample.way == "text":
        written = read_text(sample.text, SPECS)
        message = AIMessage(written.thought, tool_calls=[{"name": n, "args": a, "id": None} for n, a in written.calls])
        doubt = written.doubt
    else:
        parsed = parse_react(sample.text, SPECS)
        message, doubt = as_message(parsed, SPECS), parsed.doubt
    checked = check_calls(with_unique_ids(message, "c1", ()), SPECS)
    feedback = "; ".join([doubt, *(problem.text for problem in checked.problems)]).strip("; ")
    made = () if feedback else tuple((call.name, call.args) for call in checked.calls)
    return made, feedback, "" if made or feedback else str(message.content)


def test_a_reply_runs_what_it_calls_and_nothing_else() -> None:
    for sample in CORPUS:
        made, feedback, answer = outcome(sample)
        assert made == sample.calls, sample
        assert bool(feedback) == sample.bad, (sample, feedback)
        assert all(word in feedback for word in sample.says), (sample, feedback)
        assert not sample.bad or len(feedback) > 20, sample  # words to act on, no bare "invalid"
        if sample.answer is not None and sample.way == "react":
            assert answer, sample
            assert not sample.answer or answer == sample.answer, sample


def shown_in_pieces(text: str, size: int) -> str:
    narrator = Narrator()
    pieces = [narrator.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join(pieces) + narrator.close()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40])
def test_what_is_shown_is_the_same_however_the_reply_is_cut(size: int) -> None:
    for sample in CORPUS:
        assert shown_in_pieces(sample.text, size) == shown_in_pieces(sample.text, 10_000), sample


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Thought: I look.\nAction: search\nAction Input: {}", "I look.\n"),
        ("<think>deep {x}</think>Thought: I look.\nFinal Answer: It is 7.\n- {a}", "I look.\nIt is 7.\n- {a}"),
        ('I look.\n{"action": "search", "action_input": {}}', "I look.\n"),
        ("a < b, <b>, <thin", "a < b, <b>, <thin"),
        ("Thoughtful words: yes", "Thoughtful words: yes"),
        ("<think>never ends", ""),
    ],
)
def test_thoughts_and_answers_are_shown_and_actions_are_not(text: str, shown: str) -> None:
    assert shown_in_pieces(text, 1) == shown


ALPHABET = st.sampled_from(
    [
        "Thought:",
        "Action:",
        "Action Input:",
        "Final Answer:",
        "Observation:",
        "\n",
        " ",
        "{",
        "}",
        '"',
        "<think>",
        "</think>",
        "```",
        "```json\n",
        "search",
        "read_rows(",
        ")",
        '{"action": "search", "action_input": {"query": "x"}}',
        "x",
        "<",
        "'",
        '{"name": "search", "arguments": {"query": "x"}}',
        "<tool_call>",
        "</tool_call>",
        "[",
        "]",
        ",",
        "\\",
        "é",
        "\x00",
        "�",
    ]
)


@given(st.lists(ALPHABET, max_size=40).map("".join), st.randoms(use_true_random=False))
def test_any_chunking_shows_the_same_and_no_thinking(text: str, lot) -> None:
    narrator, whole, single = Narrator(), Narrator(), Narrator()
    shown, at = "", 0
    while at < len(text):
        size = lot.randint(1, 9)
        shown += narrator.feed(text[at : at + size])
        at += size
    shown += narrator.close()
    assert shown == whole.feed(text) + whole.close() == "".join(map(single.feed, text)) + single.close()


@given(st.lists(ALPHABET, max_size=40).map("".join))
def test_no_text_raises_and_none_ends_in_silence(text: str) -> None:
    for way in ("text", "react"):
        made, feedback, answer = outcome(Sample(way, text))
        assert made or feedback or answer or not text.strip()
        for name, args in made:
            assert name in text
            assert name != "search" or args["query"] in text or "\\" in text


@given(
    st.lists(st.sampled_from(["lies ", "über ", "search ", "rows, ", "7. ", "(see above) ", "\n", "a=1 "])).map("".join)
)
def test_prose_is_never_a_call(text: str) -> None:
    assert read_text(text, SPECS).calls == ()
    assert read_text(text, SPECS).doubt == ""


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ANYTHING = ToolSpec(
    name="take",
    description="",
    parameters={"type": "object", "properties": {name: {} for name in "abc"}, "required": []},
)


@given(st.dictionaries(st.sampled_from("abc"), VALUES), st.sampled_from([repr, json.dumps, as_json]), st.booleans())
def test_whatever_is_written_as_a_call_is_read_as_it_was_written(
    args: dict[str, Any], write: Any, thought: bool
) -> None:
    before = "It's so (I think):\n" if thought else ""
    named = f"take({', '.join(f'{name}={write(value)}' for name, value in args.items())})"
    assert read_text(before + named, [ANYTHING]).calls == (("take", args),)
    placed = {name: args[name] for name in "abc" if name in args}
    if list(placed) == list("abc")[: len(placed)] and not (len(placed) == 1 and isinstance(placed["a"], dict)):
        text = f"take({', '.join(write(value) for value in placed.values())})"
        assert read_text(before + text, [ANYTHING]).calls == (("take", placed),)
    row = json.dumps({"name": "take", "arguments": args}, ensure_ascii=thought, indent=2 if thought else None)
    assert read_text(before + row, [ANYTHING]).calls == (("take", args),)
    action = f"{before}Action: take\nAction Input: {json.dumps(args)}"
    assert [(call["name"], call["args"]) for call in as_message(parse_react(action, [ANYTHING]), []).tool_calls] == [
        ("take", args)
    ]
