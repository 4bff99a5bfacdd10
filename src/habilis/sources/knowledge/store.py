"""Passages of a folder's documents and their index, in one SQLite file of the cache.

SQLite gives what an index on disk needs: a change is there whole or not at all, a reader sees the state that it began
with, and only the rows that a question meets are read. The scores are those of tool retrieval (`retrieval.formula`):
a passage's part of a score depends on it alone, so an index that grew finds what one built at once would.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from habilis.library.retrieval.formula import Field, impacts_of, rarity
from habilis.library.retrieval.terms import faint_terms, shared_beginning, terms
from habilis.sources.documents.chunks import Chunk
from habilis.sources.knowledge import sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Posting = tuple[NDArray[np.int32], NDArray[np.float32]]

_FORMAT = 1
_FIELDS = (Field(1.5, 8.0, 0.3), Field(1.0, 110.0, 0.6))
"""Of a passage's headings, the name of its document among them, and of its text."""
_K1 = 1.0
_FAINT = 0.5
_KIN, _KIN_PREFIX, _KIN_SHARE, _KIN_MOST = 0.4, 4, 0.6, 200
"""A word that no passage has counts as this much of words with the same beginning (letters, share of the longer)."""
_MOST_FRESH = 200_000
"""Terms of new passages that are held in memory before they are written; a document may be all different words."""
_MOST_SEGMENTS, _MOST_DEAD = 100, 500
_SCHEMA = """
create table if not exists about (key text primary key, value);
create table if not exists documents (
  id integer primary key, name text unique, size integer, changed integer, digest text, problem text, note text
);
create table if not exists chunks (
  id integer primary key autoincrement, document integer, headings text, first integer, last integer, page integer,
  text text
);
create index if not exists chunks_by_document on chunks (document);
create table if not exists postings (
  term text, segment integer, chunks blob, impacts blob, primary key (term, segment)
) without rowid;
"""


@dataclass(frozen=True)
class IndexedDocument:
    """What is known of a document: its name below the folder, how the file looked, why it has no passages if so."""

    name: str
    size: int
    changed: int
    digest: str
    problem: str = ""
    note: str = ""


@dataclass(frozen=True)
class Hit:
    """A passage that was found. `score`: 0 to 1."""

    document: str
    chunk: Chunk
    score: float


class Store:
    """One folder's passages. Any number of threads and processes may use one file; who writes waits for the other."""

    def __init__(self, path: Path | None) -> None:
        """`path`: the file; None keeps all of it in memory. Raises OSError, sqlite3.Error."""
        self._guard, self._path = threading.RLock(), path
        self._base = _opened(path)
        self._seen: tuple[int, int] | None = None
        self._alive: NDArray[np.bool_] | None = None

    def close(self) -> None:
        with self._guard:
            self._base.close()
            if self._path is not None:
                sums.put_down(self._path)

    # --- what is there -------------------------------------------------------------------------------------------

    def documents(self) -> dict[str, IndexedDocument]:
        """Every document by name."""
        with self._guard:
            rows = self._base.execute("select name, size, changed, digest, problem, note from documents order by name")
            return {row[0]: IndexedDocument(*row) for row in rows}

    def passages(self) -> int:
        """How many passages there are."""
        with self._guard:
            return int(self._base.execute("select count(*) from chunks").fetchone()[0])

    def search(self, query: str, k: int, threshold: float) -> list[Hit]:
        """The at most `k` passages nearest to `query` that score `threshold` or more, best first.

        1 would be a passage that is about nothing but the query's words; each once in a passage of usual length is 0.5.
        """
        import numpy as np

        asked = sorted(set(terms(query)))
        with self._guard, _Step(self._base, "begin"):
            alive = self._living()
            total = int(alive.sum())
            if not asked or not total or k <= 0:
                return []
            scores = np.zeros(len(alive))
            most = 0.0
            for term in asked:
                weight = _FAINT if term in faint_terms() else 1.0
                most += weight * self._add(scores, term, weight, alive, total)
            scores /= most
            near = np.nonzero(scores >= max(threshold, 1e-9))[0]
            if len(near) > 4 * k:  # enough for any order among equals
                least = np.partition(scores[near], len(near) - 4 * k)[len(near) - 4 * k]
                near = near[scores[near] >= least]
            hits = [self._hit(int(number), float(scores[number])) for number in near]
        hits.sort(key=lambda hit: (-round(hit.score, 9), hit.document, hit.chunk.page or 0, hit.chunk.first_line))
        return hits[:k]

    def _add(
        self, scores: NDArray[np.float64], term: str, weight: float, alive: NDArray[np.bool_], total: int
    ) -> float:
        """Add what `term` gives to `scores`; how much it could have given."""
        numbers, given = self._posting(term, alive)
        if len(numbers):
            rare = rarity(len(numbers), total)
            scores[numbers] += weight * rare * given
            return rare
        for kin, share in self._kin(term):
            numbers, given = self._posting(kin, alive)
            if len(numbers):
                scores[numbers] += weight * _KIN * share * rarity(len(numbers), total) * given
        return rarity(1, total)

    def _posting(self, term: str, alive: NDArray[np.bool_]) -> Posting:
        import numpy as np

        rows = self._base.execute("select chunks, impacts from postings where term = ?", (term,)).fetchall()
        numbers = np.frombuffer(b"".join(row[0] for row in rows), np.int32)
        given = np.frombuffer(b"".join(row[1] for row in rows), np.float32)
        living = alive[numbers]
        return numbers[living], given[living]

    def _kin(self, term: str) -> Iterator[tuple[str, float]]:
        """Terms with the same beginning, and the share of the longer one that they have in common."""
        if len(term) <= _KIN_PREFIX:
            return
        begin = term[:_KIN_PREFIX]
        rows = self._base.execute(
            "select distinct term from postings where term >= ? and term < ? limit ?",
            (begin, begin[:-1] + chr(ord(begin[-1]) + 1), _KIN_MOST),
        )
        for (other,) in rows.fetchall():
            share = shared_beginning(term, other) / max(len(term), len(other))
            if share >= _KIN_SHARE:
                yield other, share

    def _living(self) -> NDArray[np.bool_]:
        """Which numbers of passages are in use; kept until someone changes the file."""
        import numpy as np

        now = (self._base.execute("pragma data_version").fetchone()[0], self._base.total_changes)
        if self._alive is None or self._seen != now:
            numbers = [row[0] for row in self._base.execute("select id from chunks indexed by chunks_by_document")]
            self._alive = np.zeros(self._highest() + 1, np.bool_)
            self._alive[numbers] = True
            self._seen = now
        return self._alive

    def _highest(self) -> int:
        row = self._base.execute("select seq from sqlite_sequence where name = 'chunks'").fetchone()
        return int(row[0]) if row else 0

    def _hit(self, number: int, score: float) -> Hit:
        name, headings, first, last, page, text = self._base.execute(
            "select name, headings, first, last, page, text from chunks join documents on documents.id = document"
            " where chunks.id = ?",
            (number,),
        ).fetchone()
        return Hit(name, Chunk(text, tuple(json.loads(headings)), first, last, page), score)

    # --- change --------------------------------------------------------------------------------------------------

    def put(self, documents: Iterable[tuple[IndexedDocument, Iterable[Chunk]]], gone: Iterable[str] = ()) -> None:
        """Put documents in, in place of those of the same name, and take `gone` out, all in one step."""
        with self._guard, self._change():
            fresh: dict[str, tuple[array[int], array[float]]] = {}
            for name in gone:
                self._remove(name)
            for document, chunks in documents:
                self._remove(document.name)
                self._insert(document, chunks, fresh)
            self._write(fresh)
            if self._told("segments") > _MOST_SEGMENTS or self._told("dead") > max(_MOST_DEAD, self.passages()):
                self._compact()

    def _write(self, fresh: dict[str, tuple[array[int], array[float]]]) -> None:
        """Put the postings of new passages in, as a segment of their own."""
        if fresh:
            segment = 1 + (self._base.execute("select max(segment) from postings").fetchone()[0] or 0)
            rows = ((t, segment, n.tobytes(), i.tobytes()) for t, (n, i) in sorted(fresh.items()))
            self._base.executemany("insert into postings values (?, ?, ?, ?)", rows)
            self._tell("segments", self._told("segments") + 1)
            fresh.clear()

    def touch(self, documents: Iterable[IndexedDocument]) -> None:
        """Note how the files of documents look now whose content is as it was."""
        with self._guard, self._change():
            rows = [(d.size, d.changed, d.name) for d in documents]
            self._base.executemany("update documents set size = ?, changed = ? where name = ?", rows)

    def _insert(
        self, document: IndexedDocument, chunks: Iterable[Chunk], fresh: dict[str, tuple[array[int], array[float]]]
    ) -> None:
        row = (*(getattr(document, key) for key in ("name", "size", "changed", "digest", "problem", "note")),)
        cursor = self._base.execute(
            "insert into documents (name, size, changed, digest, problem, note) values (?, ?, ?, ?, ?, ?)", row
        )
        key = cursor.lastrowid
        for chunk in chunks:
            values = (key, json.dumps(chunk.headings), chunk.first_line, chunk.last_line, chunk.page, chunk.text)
            added = self._base.execute(
                "insert into chunks (document, headings, first, last, page, text) values (?, ?, ?, ?, ?, ?)", values
            ).lastrowid
            about = " ".join((Path(document.name).stem, *chunk.headings))
            for term, impact in impacts_of((about, chunk.text), _FIELDS, _K1).items():
                numbers, given = fresh.setdefault(term, (array("i"), array("f")))
                numbers.append(added or 0)
                given.append(impact)
            if len(fresh) > _MOST_FRESH:
                self._write(fresh)

    def _remove(self, name: str) -> None:
        row = self._base.execute("select id from documents where name = ?", (name,)).fetchone()
        if row is None:
            return
        dead = self._base.execute("delete from chunks where document = ?", row).rowcount
        self._base.execute("delete from documents where id = ?", row)
        self._tell("dead", self._told("dead") + dead)

    def _compact(self) -> None:
        """Put the postings of each term into one row, without passages that are gone."""
        self._seen = None
        alive = self._living()
        names = [row[0] for row in self._base.execute("select distinct term from postings")]
        rows = [(name, *self._posting(name, alive)) for name in names]
        self._base.execute("delete from postings")
        kept = ((name, 1, numbers.tobytes(), given.tobytes()) for name, numbers, given in rows if len(numbers))
        self._base.executemany("insert into postings values (?, ?, ?, ?)", kept)
        self._tell("segments", 1)
        self._tell("dead", 0)

    def _change(self) -> _Step:
        if self._path is not None:
            sums.take_away(self._path)
        return _Step(self._base, "begin immediate")

    def _told(self, key: str) -> int:
        row = self._base.execute("select value from about where key = ?", (key,)).fetchone()
        return int(row[0]) if row else 0

    def _tell(self, key: str, value: int) -> None:
        self._base.execute("insert or replace into about values (?, ?)", (key, value))


class _Step:
    """Reading that sees one state, or with `begin immediate` a change that is made whole or not at all."""

    def __init__(self, base: sqlite3.Connection, begin: str) -> None:
        self._base, self._begin = base, begin

    def __enter__(self) -> None:
        self._base.execute(self._begin)
        self._base.execute("select count(*) from about").fetchone()  # from here on this state is seen

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._base.execute("rollback" if kind else "commit")


def _opened(path: Path | None) -> sqlite3.Connection:
    """The file, made if need be. One that is broken or of another format is made anew: all of it can be."""
    if path is None:
        return _connected(":memory:")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if path.is_file() and not sums.fits(path):
            raise sqlite3.DatabaseError("changed since it was closed")
        if path.is_dir() or (path.is_symlink() and not path.exists()):
            raise sqlite3.DatabaseError("no file")
        return _connected(str(path))
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}.sum"):
            with contextlib.suppress(FileNotFoundError):
                path.with_name(name).replace(path.with_name(f"{name}.broken"))
        return _connected(str(path))


def _connected(name: str) -> sqlite3.Connection:
    base = sqlite3.connect(name, timeout=60, isolation_level=None, check_same_thread=False)
    try:
        base.execute("pragma journal_mode = wal")
        base.execute("pragma synchronous = normal")
        base.executescript(_SCHEMA)
        made = base.execute("select value from about where key = 'format'").fetchone()
        if made is None:
            base.execute("insert or replace into about values ('format', ?)", (_FORMAT,))
        elif made[0] != _FORMAT:
            raise sqlite3.DatabaseError(f"format {made[0]}")
    except BaseException:
        base.close()
        raise
    return base
