"""Searching the user's documents: 10,000 passages of 1,000 files, beside SQLite FTS5 over the same passages.

    python benchmarks/knowledge.py

Wall time, writing to disk included. FTS5 keeps its index on disk too, and is told which passages changed.
"""

from __future__ import annotations

import asyncio
import random
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from habilis.config import SandboxSettings
from habilis.sources.documents import Extractor
from habilis.sources.knowledge.collection import Collection
from habilis.sources.knowledge.store import Store
from measure import Figure, machine, table

FILES, SECTIONS = 1_000, 10
STEMS = "ba be bi bo bu da de di do du fa fe ga ge ka ke la le ma me na ne pa pe ra re sa se ta te va ve".split()  # noqa: SIM905
COMMON = "the of and a to in is for on with as by that be from at it this are or an not have has".split()  # noqa: SIM905


def words(chance: random.Random, count: int) -> str:
    """A text in which few words are common and many are rare, as in any language."""
    made = []
    for _ in range(count):
        rank = int(chance.paretovariate(0.6))
        made.append(COMMON[rank % len(COMMON)] if rank < 6 else word(rank % 30_000))
    return " ".join(made)


def word(rank: int) -> str:
    first, rest = rank % len(STEMS), rank // len(STEMS)
    return STEMS[first] + STEMS[rest % len(STEMS)] + STEMS[rest // len(STEMS) % len(STEMS)]


def page(number: int, version: int = 0) -> str:
    chance = random.Random(number * 31 + version)
    sections = (f"## {n} {words(chance, 3)}\n\n{words(chance, 120)}.\n" for n in range(SECTIONS))
    return f"# {words(chance, 3)}\n\n" + "\n".join(sections)


@dataclass
class Library:
    """A folder of made-up documents, followed by a collection."""

    folder: Path
    collection: Collection
    built_s: float

    @property
    def store(self) -> Store:
        return self.collection._store

    def queries(self, count: int) -> list[str]:
        chance = random.Random(5)
        return [words(chance, 6) for _ in range(count)]


@contextmanager
def library(files: int = FILES) -> Iterator[Library]:
    with tempfile.TemporaryDirectory(prefix="habilis-bench-") as home:
        folder = Path(home) / "documents"
        folder.mkdir()
        for number in range(files):
            (folder / f"document_{number}.md").write_text(page(number), encoding="utf-8")
        collection = Collection(folder, Path(home) / "cache", Extractor(SandboxSettings(), print), most_bytes=1 << 20)
        began = time.perf_counter()
        asyncio.run(collection.refresh())
        built = time.perf_counter() - began
        if collection._store.passages() != files * SECTIONS:
            raise RuntimeError(f"{collection._store.passages()} passages were made, not {files * SECTIONS}")
        yield Library(folder, collection, built)
        collection.close()


class FullText:
    """SQLite's full-text search with Porter stemming over the same passages, any of the words."""

    def __init__(self, path: Path, store: Store) -> None:
        rows = store._base.execute("select name, headings, text from chunks join documents on documents.id = document")
        began = time.perf_counter()
        self.base = sqlite3.connect(path)
        self.base.execute("create virtual table t using fts5(name unindexed, a, b, tokenize='porter unicode61')")
        self.base.executemany("insert into t values (?, ?, ?)", rows.fetchall())
        self.base.commit()
        self.built_s = time.perf_counter() - began

    def search(self, query: str) -> list[str]:
        asked = " OR ".join(f'"{one}"' for one in re.findall(r"\w+", query))
        found = self.base.execute("select b from t where t match ? order by bm25(t, 0, 1.5, 1) limit 5", (asked,))
        return [text for (text,) in found]

    def replace(self, name: str, sections: list[str]) -> None:
        self.base.execute("delete from t where rowid in (select rowid from t where name = ?)", (name,))
        self.base.executemany("insert into t values (?, '', ?)", [(name, section) for section in sections])
        self.base.commit()


def querying(made: Library, beside: FullText, count: int = 200) -> Figure:
    """A query, the five best passages read, p95."""
    ours, theirs = [], []
    for query in made.queries(count):
        ours.append(milliseconds(lambda q=query: made.store.search(q, 5, 0.15)))
        theirs.append(milliseconds(lambda q=query: beside.search(q)))
    passages = f"{made.store.passages():,}"
    return Figure(f"query among {passages} passages, p95", "ms", [p95(ours)], "SQLite FTS5", [p95(theirs)])


def changing(made: Library, beside: FullText, count: int = 20) -> Figure:
    """One changed file: the folder looked through, the file read, its passages replaced on disk."""
    ours, theirs = [], []
    for number in range(count):
        name, text = f"document_{number}.md", page(number, version=1)
        (made.folder / name).write_text(text, encoding="utf-8")
        ours.append(milliseconds(lambda: asyncio.run(made.collection.refresh())))
        sections = text.split("## ")[1:]
        theirs.append(milliseconds(lambda n=name, s=sections: beside.replace(n, s)))
    return Figure("one changed file indexed again", "ms", ours, "SQLite FTS5, told which", theirs)


def unchanged(made: Library, count: int = 20) -> Figure:
    """What a task waits at its start where nothing changed."""
    asyncio.run(made.collection.refresh())
    spent = [milliseconds(lambda: asyncio.run(made.collection.refresh())) for _ in range(count)]
    return Figure(f"{FILES:,} documents looked through, none changed", "ms", spent)


def figures(repeats: int) -> list[Figure]:
    """All rows. `repeats` counts nothing here: each row has its own repetitions."""
    with library() as made, tempfile.TemporaryDirectory() as home:
        beside = FullText(Path(home) / "fts.sqlite", made.store)
        built = Figure("10,000 passages indexed", "s", [made.built_s], "SQLite FTS5", [beside.built_s])
        return [built, querying(made, beside), changing(made, beside), unchanged(made)]


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


if __name__ == "__main__":
    print(f"{machine()}\n\n{table(figures(1))}")
