"""How well and how fast tools are found, beside SQLite FTS5 and plain BM25.

    python benchmarks/retrieval.py FOLDER              quality, on tools and questions of your own
    python benchmarks/retrieval.py FOLDER VECTORS      the same, with other vectors (the setting retrieval.vectors)
    python benchmarks/retrieval.py                     speed alone, on made-up tools (part of `make bench`)

FOLDER holds `tools.jsonl` (id, group, source, name, description, params [{name, description}]) and `queries.jsonl`
(id, source, query, gold: groups). LOCAL searches the query's own source, POOLED all; both are macro-averaged over the
sources of queries, hits of one group counted once. The first table is of the half of the queries that is set aside (by
digest of their id); the other half gives the past queries, and `tune_retrieval.py` chose the weights on it. Word lists
were written earlier by a person who had looked at both halves, so that a set of one's own is the fairer judge.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever
from habilis.library.retrieval.relevance import fitting
from habilis.library.retrieval.vectors import vectors_of
from measure import Figure, machine, table

Search = Callable[[str, int], list[str]]
DEPTH = 60
SHOWN = 20
SAME_TOOLS = {"metatool_multi": "metatool", "bfcl_live": "bfcl"}
"""Sources of queries that ask for another source's tools."""
VERBS = "read count sum sort convert parse list merge check plot filter translate split rank find".split()  # noqa: SIM905
THINGS = "table invoice log image date price city word route sensor email recipe matrix track".split()  # noqa: SIM905
WAYS = ("by month", "of a folder", "as text", "without duplicates", "with a limit", "per user", "in a file")


def ours(cards: Sequence[ToolCard]) -> Search:
    index = BM25Retriever(cards)
    return lambda query, k: [card.name for card in index.search(query, k)]


def meaning(where: str) -> Callable[[Sequence[ToolCard]], Search]:
    """Ours with vectors, those of the extra `vectors` or others."""

    def made(cards: Sequence[ToolCard]) -> Search:
        index = BM25Retriever(cards, vectors=vectors_of(where))
        return lambda query, k: [card.name for card in index.search(query, k)]

    return made


def fts5(cards: Sequence[ToolCard]) -> Search:
    """SQLite's full-text search with Porter stemming, any of the words, fields weighted as names deserve."""
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table t using fts5(name unindexed, a, b, c, tokenize='porter unicode61')")
    rows = [(c.name, _split(c.name), c.description, " ".join((*c.parameters, *c.explained))) for c in cards]
    base.executemany("insert into t values (?, ?, ?, ?)", rows)

    def search(query: str, k: int) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        found = base.execute("select name from t where t match ? order by bm25(t, 0, 2, 1, .5) limit ?", (words, k))
        return [name for (name,) in found] if words else []

    return search


def plain(cards: Sequence[ToolCard]) -> Search:
    """BM25 over one bag of words, none of them stemmed or split."""
    bags = [Counter(re.findall(r"\w+", _text(card).lower())) for card in cards]
    usual = statistics.fmean(sum(bag.values()) for bag in bags)
    where: dict[str, list[int]] = defaultdict(list)
    for place, bag in enumerate(bags):
        for word in bag:
            where[word].append(place)

    def search(query: str, k: int) -> list[str]:
        scores: Counter[int] = Counter()
        for word in set(re.findall(r"\w+", query.lower())):
            rarity = math.log(1 + (len(bags) - len(where[word]) + 0.5) / (len(where[word]) + 0.5))
            for place in where[word]:
                count, length = bags[place][word], sum(bags[place].values())
                scores[place] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / usual))
        return [cards[place].name for place, _ in scores.most_common(k)]

    return search


SYSTEMS = {"Habilis": ours, "SQLite FTS5": fts5, "plain BM25": plain}


def quality(folder: Path, vectors: str) -> str:
    """A table of LOCAL R@5, R@10, nDCG@10 and POOLED nDCG@10 on half of the queries, and what past queries add."""
    tools, queries = rows(folder / "tools.jsonl"), rows(folder / "queries.jsonl")
    held = [query for query in queries if held_out(query)]
    lines = ["| queries | LOCAL R@5 | R@10 | nDCG@10 | POOLED nDCG@10 |", "| --- | --- | --- | --- | --- |"]
    systems = {"Habilis, vectors too": meaning(vectors), **SYSTEMS} if vectors else SYSTEMS
    lines += [_line(name, make, tools, held, {}) for name, make in systems.items()]
    answered = past(query for query in queries if not held_out(query))
    known = [query for query in held if any(group in answered for group in query["gold"])]
    for what, some in (("whose tool has answered before", known), ("the others", [q for q in held if q not in known])):
        lines += [_line(f"Habilis, {what}", ours, tools, some, {})]
        lines += [_line(f"Habilis, {what}, with past queries", ours, tools, some, answered)]
    return "\n".join(lines)


def floor(folder: Path) -> str:
    """What the floor of relevance costs in LOCAL recall@5, and how many of the tools that another source's questions
    would be shown it takes away. It was chosen on the half that is not set aside."""
    tools, queries = rows(folder / "tools.jsonl"), rows(folder / "queries.jsonl")
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for tool in tools:
        by_source[tool["source"]].append(tool)
    indexes = {source: BM25Retriever(_cards(some, {})[0]) for source, some in by_source.items()}
    groups = {source: _cards(some, {})[1] for source, some in by_source.items()}
    lines = [
        "| queries | recall@5 | above the floor | foreign tools taken away | foreign libraries of which none is shown |"
    ]
    lines += ["| --- | --- | --- | --- | --- |"]
    halves = [[query for query in queries if held_out(query) is held] for held in (False, True)]
    for half, some in zip(("chosen on", "set aside"), halves, strict=True):
        plain: dict[str, list[float]] = defaultdict(list)
        above: dict[str, list[float]] = defaultdict(list)
        shown, left, none = 0, 0, []
        for query in some:
            own = SAME_TOOLS.get(query["source"], query["source"])
            for source, index in indexes.items():
                found = index.search(query["query"], DEPTH if source == own else SHOWN)
                kept = fitting(query["query"], found)
                if source == own:
                    for marks, cards in ((plain, found), (above, kept)):
                        hits = list(dict.fromkeys(groups[own][card.name] for card in cards))
                        marks[query["source"]].append(_marks(hits, query["gold"])[0])
                else:
                    shown, left = shown + len(found), left + len(kept)
                    none.append(not kept)
        recalls = [statistics.fmean(map(statistics.fmean, marks.values())) for marks in (plain, above)]
        lines += [
            f"| {half} | {recalls[0]:.3f} | {recalls[1]:.3f} | {1 - left / shown:.0%} | {statistics.fmean(none):.0%} |"
        ]
    return "\n".join(lines)


def _line(
    name: str,
    make: Callable[[Sequence[ToolCard]], Search],
    tools: Sequence[dict[str, Any]],
    queries: Iterable[dict[str, Any]],
    answered: dict[str, list[str]],
) -> str:
    return f"| {name} | {' | '.join(f'{mark:.3f}' for mark in marks(make, tools, queries, answered))} |"


def marks(
    make: Callable[[Sequence[ToolCard]], Search],
    tools: Sequence[dict[str, Any]],
    queries: Iterable[dict[str, Any]],
    answered: dict[str, list[str]],
) -> tuple[float, float, float, float]:
    """LOCAL recall@5, recall@10 and nDCG@10, and POOLED nDCG@10; `answered` are past queries by group."""
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for tool in tools:
        by_source[tool["source"]].append(tool)
    searches = {source: _by_group(make, some, answered) for source, some in by_source.items()}
    pooled = _by_group(make, tools, answered)
    local_marks: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    pooled_marks: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for query in queries:
        local = searches[SAME_TOOLS.get(query["source"], query["source"])]
        local_marks[query["source"]].append(_marks(local(query["query"], DEPTH), query["gold"]))
        pooled_marks[query["source"]].append(_marks(pooled(query["query"], DEPTH), query["gold"]))
    recall5, recall10, ndcg = (_macro(local_marks, n) for n in range(3))
    return recall5, recall10, ndcg, _macro(pooled_marks, 2)


def past(queries: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """The questions that tools of each group have answered."""
    answered: dict[str, list[str]] = defaultdict(list)
    for query in queries:
        for group in query["gold"]:
            answered[group].append(query["query"])
    return answered


def _by_group(
    make: Callable[[Sequence[ToolCard]], Search], tools: Sequence[dict[str, Any]], answered: dict[str, list[str]]
) -> Search:
    cards, groups = _cards(tools, answered)
    search = make(cards)
    return lambda query, k: list(dict.fromkeys(groups[name] for name in search(query, k)))


def _cards(tools: Sequence[dict[str, Any]], answered: dict[str, list[str]]) -> tuple[list[ToolCard], dict[str, str]]:
    """Cards under names of their own, and the group of each."""
    groups: dict[str, str] = {}
    cards = []
    for tool in tools:
        name = tool["name"]
        while name in groups:
            name += "_"
        groups[name] = tool["group"]
        cards.append(
            ToolCard(
                name=name,
                description=tool["description"],
                parameters=tuple(p["name"] for p in tool["params"]),
                explained=tuple(p.get("description") or "" for p in tool["params"]),
                answered=tuple(answered.get(tool["group"], ())),
            )
        )
    return cards, groups


def _marks(found: Sequence[str], gold: Sequence[str]) -> tuple[float, float, float]:
    wanted = set(gold)
    gain = sum(1 / math.log2(place + 2) for place, group in enumerate(found[:10]) if group in wanted)
    best = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    return len(wanted & set(found[:5])) / len(wanted), len(wanted & set(found[:10])) / len(wanted), gain / best


def _macro(marks: dict[str, list[tuple[float, float, float]]], which: int) -> float:
    return statistics.fmean(statistics.fmean(mark[which] for mark in some) for some in marks.values())


def held_out(query: dict[str, Any]) -> bool:
    """Whether a query is set aside: no weight is chosen on it."""
    return hashlib.sha256(str(query["id"]).encode()).digest()[0] % 2 == 1


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def made_up(count: int) -> list[ToolCard]:
    """`count` tools with names and descriptions that overlap as those of a grown library do."""
    chance = random.Random(7)
    cards = []
    for number in range(count):
        verb, thing, other, way = (chance.choice(words) for words in (VERBS, THINGS, THINGS, WAYS))
        text = f"{verb.title()} each {thing} {way} and give the {other} of series {number % 997}."
        cards.append(ToolCard(name=f"{verb}_{thing}_{number}", description=text, parameters=(thing, other)))
    return cards


def figures(repeats: int) -> list[Figure]:
    """Processor time of queries, of building, of opening a saved index, and of adding one tool."""
    found = []
    for count in (10_000, 50_000):
        cards, queries = made_up(count), [card.description for card in made_up(200)]
        began = time.process_time()
        index = BM25Retriever(cards)
        built = time.process_time() - began
        beside = fts5(cards)
        us, them = (_milliseconds(search, queries) for search in (index.search, beside))
        found.append(Figure(f"query among {count:,} tools, p95", "ms", [_p95(us)], "SQLite FTS5", [_p95(them)]))
        with tempfile.TemporaryDirectory() as folder:
            index.save(Path(folder))
            began = time.process_time()
            BM25Retriever.open(Path(folder), cards)
            opened = time.process_time() - began
        began = time.process_time()
        index.add(ToolCard(name="one_more", description="One more tool for the index to hold."))
        added = (time.process_time() - began) * 1000
        fit = _milliseconds(lambda query, k, index=index: fitting(query, index.search(query, 3 * k)), queries)
        found += [
            Figure(f"query among {count:,} tools, floor too, p95", "ms", [_p95(fit)]),
            Figure(f"index of {count:,} tools: built", "s", [built]),
            Figure(f"index of {count:,} tools: opened", "s", [opened]),
            Figure(f"index of {count:,} tools: one added", "ms", [added]),
        ]
    return found


def _milliseconds(search: Callable[[str, int], object], queries: Sequence[str]) -> list[float]:
    spent = []
    for query in queries:
        began = time.process_time()
        search(query, 20)
        spent.append((time.process_time() - began) * 1000)
    return spent


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def _split(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name)


def _text(card: ToolCard) -> str:
    return " ".join((card.name, card.description, *card.parameters, *card.explained))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        installed = "wordllama" if find_spec("wordllama") else ""
        print(quality(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else installed))
        print(f"\n{floor(Path(sys.argv[1]))}")
    else:
        print(f"{machine()}\n\n{table(figures(1))}")
