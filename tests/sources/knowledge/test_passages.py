"""A document in passages: no word of it is lost, what belongs together stays together, each knows its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.messages.truncation import estimated
from habilis.sources.documents.blocks import blocks_of
from habilis.sources.documents.chunks import Chunk, chunks_of

HANDBOOK = """# Handbook

Welcome.

## Leave ##
Thirty days a year. More for shifts.

```py
# no heading
x = 1

y = 2
```

| day | hours |
|-----|------:|
| Mon | 8     |

Notice
------
Three months.
"""
LINES = st.sampled_from(
    ["# One", "## Two", "### Three", "plain words here", "", "```", "~~~py", "| a | b |", "|---|---|", "===", "---"]
) | st.text(max_size=40)


def passages(text: str, size: int = 300, *, markdown: bool = True) -> list[Chunk]:
    return list(chunks_of(blocks_of(text, markdown=markdown), size))


def test_each_passage_has_its_headings_and_lines() -> None:
    found = [(chunk.place, chunk.text.split("\n")[0]) for chunk in passages(HANDBOOK)]
    assert found == [
        ("Handbook, line 3", "Welcome."),
        ("Handbook > Leave, lines 6-17", "Thirty days a year. More for shifts."),
        ("Handbook > Notice, line 21", "Three months."),
    ]


def test_code_and_tables_are_not_torn() -> None:
    texts = [chunk.text for chunk in passages(HANDBOOK, 14)]
    assert "```py\n# no heading\nx = 1\n\ny = 2\n```" in texts
    assert "| day | hours |\n|-----|------:|\n| Mon | 8     |" in texts


def test_what_is_too_long_even_so_keeps_its_head_and_its_fence() -> None:
    rows = "\n".join(f"| row {n} | {n * n} |" for n in range(200))
    found = passages(f"| name | square |\n|---|---|\n{rows}\n", 60)
    assert len(found) > 5
    assert all(chunk.text.startswith("| name | square |\n|---|---|\n| row ") for chunk in found)
    assert [row for chunk in found for row in chunk.text.split("\n")[2:]] == rows.split("\n")
    assert (found[0].first_line, found[-1].last_line) == (3, 202)
    code = "\n".join(f"call_number({n})" for n in range(300))
    parts = passages(f"```py\n{code}\n```\n", 60)
    assert all(chunk.text.startswith("```py\n") and chunk.text.endswith("\n```") for chunk in parts)
    assert [line for chunk in parts for line in chunk.text.split("\n")[1:-1]] == code.split("\n")


def test_neighbours_in_a_section_share_a_border_and_sections_do_not() -> None:
    text = " ".join(f"Sentence number {n} says a little." for n in range(40))
    first, second, *_ = passages(f"# A\n{text}\n\n{text}\n\n# B\nAnother thing.\n", 120)
    assert first.text.rpartition(". ")[2] in second.text
    assert passages(f"# A\n{text}\n# B\nAnother thing.\n", 120)[-1].text == "Another thing."


def test_underlined_lines_are_headings_of_plain_text_and_signs_are_not() -> None:
    text = "Title\n=====\n\n# no heading\n\nPart\n----\n\nwords\n\nlong line here\n--\n"
    assert [chunk.headings for chunk in passages(text, markdown=False)] == [("Title",), ("Title", "Part")]


def test_a_heading_with_nothing_under_it_is_found_too() -> None:
    assert [chunk.text for chunk in passages("# Todo\n## Buy milk\n## Call the plumber\n")] == [
        "Buy milk",
        "Call the plumber",
    ]


def test_a_script_without_spaces_is_cut_at_its_full_stops() -> None:
    found = passages("公司规定员工每年有三十天的假期。" * 60, 100)
    assert len(found) > 5
    assert all(chunk.text.endswith("。") for chunk in found)


@given(st.lists(LINES, max_size=40), st.integers(20, 200), st.booleans())
def test_no_word_is_lost_and_no_passage_is_boundless(lines: list[str], size: int, markdown: bool) -> None:
    text = "\n".join(lines)
    found = passages(text, size, markdown=markdown)
    said = " ".join(" ".join((*chunk.headings, chunk.text)) for chunk in found)
    if found:
        words = {word for line in text.splitlines() for word in line.split() if word.isalnum() and len(word) < 20}
        last = set(text.splitlines()[-1].split())  # a heading of no passage at all, at the end
        assert {word for word in words - last if word not in said} == set()
    assert all(estimated(chunk.text) <= 5 * size for chunk in found)
    assert all(1 <= chunk.first_line <= chunk.last_line <= len(text.splitlines()) for chunk in found)


@pytest.mark.parametrize("size", [20, 50, 500])
@given(st.text(min_size=1, max_size=3_000))
def test_prose_of_any_kind_fits(size: int, text: str) -> None:
    for chunk in passages(text, size, markdown=False):
        assert estimated(chunk.text) <= 2 * size
