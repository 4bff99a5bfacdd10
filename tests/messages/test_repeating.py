"""Replies that repeat themselves. What a user would lose: minutes of a model that says one line again and again; or,
by a false alarm, a table, a drawing, a list."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.messages.repeating import RUN_CHARS, RUN_TIMES, RepetitionWatch, before_repetition, repeats

PIECES = st.text(min_size=1, max_size=90)
DRAWING = "\n".join(f"|{' ' * (20 - row)}{'*' * (2 * row + 1)}{' ' * (20 - row)}|" for row in range(20))
HONEST = {
    "a table of figures": "\n".join(f"| {n} | {n * 7 % 13} | {n * n} |" for n in range(300)),
    "a list of numbers": ", ".join(map(str, range(2_000))),
    "a drawing": DRAWING,
    "an empty board": "\n".join(["." * 80] * 18),
    "rows that are all the same": "a,b,c\n" + "1,2,3\n" * 150,
    "a line of dashes that ends": "Title\n" + "-" * 3_000 + "\nText.",
    "code with many similar lines": "\n".join(f"    table[{n}] = value_{n}" for n in range(400)),
    "a matrix of zeros in code": "m = [\n" + "    [0, 0, 0, 0, 0, 0, 0, 0],\n" * 100 + "]\n",
    "equal rows in JSON": json.dumps([{"name": "x", "value": 0}] * 200),
    "a poem with a refrain": "\n".join(
        f"Verse {n}.\nRow, row, row your boat,\ngently down the stream." for n in range(40)
    ),
    "digits": "".join(str(n * n % 10) + str(n % 7) + str(n * 31 % 11) for n in range(1_000)),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_text_is_no_repetition(name: str) -> None:
    assert not repeats(HONEST[name])
    assert before_repetition(HONEST["a drawing"]) == HONEST["a drawing"]


@pytest.mark.parametrize("name", [name for name in HONEST if "ends" not in name and "equal" not in name])
def test_honest_text_is_not_ended_while_it_comes(name: str) -> None:
    watch = RepetitionWatch()
    text = HONEST[name]
    seen = {watch.sees(text[at : at + 7]) for at in range(0, len(text), 7)}
    assert seen == {""} or name == "a matrix of zeros in code"


@pytest.mark.parametrize(
    "piece", ["The answer is 42.\n", "\n", " ", "0", "ha ", "I will now call the tool.\n\nLet me check.\n", "é", "{\n"]
)
def test_what_runs_on_is_ended_soon_after_it_begins(piece: str) -> None:
    watch = RepetitionWatch()
    text = "First I look at the file, then I add its column up.\n" + piece * 20_000
    ended = next(at for at in range(0, len(text), 5) if watch.sees(text[at : at + 5]))
    assert ended < 3_000, "of more than 20,000 letters"


@given(st.text(max_size=300), PIECES)
def test_any_piece_that_comes_again_and_again_is_found(before: str, piece: str) -> None:
    text = before + piece * (max(RUN_CHARS // len(piece), RUN_TIMES) + 2)
    assert repeats(text)
    kept = before_repetition(text)
    assert text.startswith(kept)
    assert len(kept) <= len(before) + len(piece)


@given(st.text(max_size=200), PIECES, st.integers(1, len(piece_end := "The end.")))
def test_what_ends_is_not_cut(before: str, piece: str, size: int) -> None:
    text = before + piece * (RUN_CHARS // len(piece) + RUN_TIMES) + "\x00" + piece_end[:size]
    assert not repeats(text)


@given(st.text(max_size=2_500))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert text.startswith(before_repetition(text))
    if repeats(text):
        assert repeats(text, cut=True)


def test_a_reply_that_outgrows_its_bound_is_ended_by_size() -> None:
    watch = RepetitionWatch(64)
    words = (f"{n} bottles of beer, " for n in range(10_000))
    said = 0
    for word in words:
        said += len(word)
        if why := watch.sees(word):
            break
    assert why == "length"
    assert said < 64 * 20
