"""Choose the weights of the search for tools: a walk along one number at a time, on one half of a set of questions.

    python benchmarks/tune_retrieval.py FOLDER [ROUNDS]

FOLDER is that of `retrieval.py`. The half that is set aside there is not looked at. Within the other half the questions
of one quarter are the past questions for those of the other, and the other way round. Each number is tried a third
smaller and a third larger; a change stays when the sum of what is measured gains more than GAIN. Nothing is drawn at
random: the same set gives the same weights. About five minutes a round on one core.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever
from habilis.library.retrieval.weights import FIELDS, WEIGHTS, Weights
from retrieval import Search, held_out, marks, past, rows

GAIN = 0.0015
STEPS = (1.35, 0.7)
Rows = Sequence[dict[str, Any]]


def measured(weights: Weights, tools: Rows, queries: Rows) -> float:
    """The sum of LOCAL and POOLED nDCG@10 without past questions, and of those with them, weighing half."""

    def searching(cards: Sequence[ToolCard]) -> Search:
        index = BM25Retriever(cards, weights=weights)
        return lambda query, k: [card.name for card in index.search(query, k)]

    _, _, local, pooled = marks(searching, tools, queries, {})
    total = local + pooled
    quarters = [[query for query in queries if _quarter(query) == number] for number in (0, 1)]
    for asked, before in (quarters, quarters[::-1]):
        _, _, local, pooled = marks(searching, tools, asked, past(before))
        total += 0.25 * (local + pooled)
    return total


def nearby(weights: Weights) -> Iterator[tuple[str, Weights]]:
    """Each single change, with its name. How small worth is, is no matter of measuring."""
    for step in STEPS:
        for place, (name, field) in enumerate(zip(FIELDS, weights.fields, strict=True)):
            for part in ("weight", "usual", "b"):
                value = round(getattr(field, part) * step, 3)
                changed = field._replace(**{part: min(value, 1.0) if part == "b" else value})
                some = (*weights.fields[:place], changed, *weights.fields[place + 1 :])
                yield f"{name}: {part} {value}", replace(weights, fields=some)
        for one in fields(weights):
            if one.name not in ("fields", "worth"):
                value = round(getattr(weights, one.name) * step, 3)
                yield f"{one.name} {value}", replace(weights, **{one.name: value})


def main(folder: Path, rounds: int) -> None:
    """Print each change that stays."""
    tools, everything = rows(folder / "tools.jsonl"), rows(folder / "queries.jsonl")
    queries = [query for query in everything if not held_out(query)]
    best = measured(WEIGHTS, tools, queries)
    weights = WEIGHTS
    print(f"{best:.4f}  as it is", flush=True)
    for _ in range(rounds):
        before = best
        for number in range(len(list(nearby(weights)))):
            name, changed = list(nearby(weights))[number]
            value = measured(changed, tools, queries)
            if value > best + GAIN:
                best, weights = value, changed
                print(f"{best:.4f}  {name}", flush=True)
        if best == before:
            break
    print(weights)


def _quarter(query: dict[str, Any]) -> int:
    return hashlib.sha256(f"quarter {query['id']}".encode()).digest()[0] % 2


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2)
