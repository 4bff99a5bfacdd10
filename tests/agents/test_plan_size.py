"""A plan costs the same whether its library holds twenty tools or ten thousand."""

from __future__ import annotations

import random

import pytest

from habilis.config import load_settings
from habilis.contract.contract import MAX_DESCRIPTION_CHARS
from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever
from habilis.models.tokens import TokenCounter
from habilis.prompts import Prompts

VERBS = ("count", "sum", "sort", "merge", "parse", "split", "filter", "compare", "convert", "average")
THINGS = ("rows", "dates", "prices", "words", "columns", "tables", "lines", "fields", "texts", "units")
QUESTION = "How many rows of the price table are of the month with the largest sum of prices?"


def cards(count: int, *, words: int = 12) -> list[ToolCard]:
    """Tools whose words overlap as those of a grown library do."""
    lot = random.Random(5)
    found = []
    for number in range(count):
        verb, thing, other = lot.choice(VERBS), lot.choice(THINGS), lot.choice(THINGS)
        text = f"{verb.title()} the {thing} of {' '.join(lot.choice(THINGS) for _ in range(words))}."
        name = f"{verb}_{thing}_{10_000 + number}"
        found.append(ToolCard(name=name, description=text[:MAX_DESCRIPTION_CHARS], parameters=(thing, other)))
    return found


def tokens(library: list[ToolCard]) -> int:
    found = BM25Retriever(library).search(QUESTION, load_settings(environ={}).retrieval.candidates)
    prompt = Prompts().render(
        "plan",
        conversation=[],
        question=QUESTION,
        files=[],
        missing=(),
        candidates=found,
        tried=[],
        failure_report="",
        build_failures="",
        capabilities="",
        frozen=False,
        web=False,
    )
    counter = TokenCounter("gpt-4o")
    assert len(found) == 20
    return counter.text(prompt.system).tokens + counter.text(prompt.user).tokens


def test_the_prompt_of_a_plan_does_not_grow_with_the_library() -> None:
    known = [card for card in cards(400) if "rows" in card.name or "prices" in card.name][:20]
    sizes = [tokens(library) for library in (known, cards(1000), cards(10_000))]
    assert max(sizes) <= 3000
    assert max(sizes) <= 1.05 * min(sizes)


@pytest.mark.parametrize("count", [20, 1000])
def test_tools_that_talk_at_length_do_not_fill_it(count: int) -> None:
    library = [card.model_copy(update={"name": f"{card.name}_rows"}) for card in cards(count, words=400)]
    assert all(len(card.description) == MAX_DESCRIPTION_CHARS for card in library)
    assert tokens(library) <= 3000
