"""The index on disk: what grew finds what one built at once would, and nobody disturbs a reader."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from habilis.sources.documents.chunks import Chunk
from habilis.sources.knowledge.store import IndexedDocument, Store

WORD = st.sampled_from(["alpha", "beta", "gamma", "delta", "leave", "notice", "month", "假期"])
WORDS = st.lists(WORD, min_size=1, max_size=8)


def document(name: str, *texts: str) -> tuple[IndexedDocument, list[Chunk]]:
    return IndexedDocument(name, 1, 1, texts[0] if texts else ""), [
        Chunk(t, ("H",), n, n) for n, t in enumerate(texts, 1)
    ]


def found(store: Store, query: str, k: int = 10, threshold: float = 0.0) -> list[tuple[str, int, float]]:
    return [(hit.document, hit.chunk.first_line, round(hit.score, 6)) for hit in store.search(query, k, threshold)]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), WORDS), max_size=12), st.sets(st.sampled_from("abc")), WORDS)
def test_an_index_that_grew_equals_one_built_at_once(
    changes: list[tuple[str, list[str]]], gone: set[str], query: list[str]
) -> None:
    grown, built = Store(None), Store(None)
    for name, words in changes:
        grown.put([document(name, *words)])
    grown.put((), gone)
    last = {name: words for name, words in changes if name not in gone}
    built.put([document(name, *words) for name, words in last.items()])
    assert found(grown, " ".join(query)) == found(built, " ".join(query))
    assert grown.documents() == built.documents()
    grown.close()
    built.close()


def test_many_changes_leave_no_heap_of_rows(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    for n in range(150):
        store.put([document("a", f"word{n} common"), document(f"b{n}", "common other")])
    assert len(found(store, "common", 1_000)) == 151
    assert found(store, "word148") != found(store, "word149")
    store.close()
    rows = sqlite3.connect(tmp_path / "s.sqlite")
    assert rows.execute("select count(*) from postings where term = 'common'").fetchone()[0] <= 101
    rows.close()


def test_scores_say_how_much_of_the_question_is_there() -> None:
    store = Store(None)
    store.put([document("a", "the notice period is three months", "lunch is at noon", "parking is free")])
    (best, *rest) = found(store, "notice period")
    assert best[2] > 0.4
    assert rest == []
    assert found(store, "notice of a football match in 1998 in Paris", threshold=0.2) == []
    assert found(store, "the of and") == found(store, "") == found(store, "zzz") == []
    store.close()


def test_a_word_that_nobody_used_meets_its_relatives() -> None:
    store = Store(None)
    store.put([document("a", "Die Kündigungsfristen betragen drei Monate", "Parkplätze sind frei")])
    assert [hit[1] for hit in found(store, "Kündigungsfrist")] == [1]
    store.close()


def test_a_reader_sees_one_state_while_another_writes(tmp_path: Path) -> None:
    writer, reader = Store(tmp_path / "s.sqlite"), Store(tmp_path / "s.sqlite")
    writer.put([document("a", "first words")])
    assert found(reader, "words")
    with writer._change():
        writer._remove("a")
        assert [hit[0] for hit in found(reader, "words")] == ["a"]
    assert found(reader, "words") == []
    writer.close()
    reader.close()


def test_a_change_that_breaks_off_leaves_what_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    store.put([document("a", "first words")])

    def torn():  # type: ignore[no-untyped-def]
        yield document("a", "second words")
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        store.put(torn(), gone=["a"])
    assert [hit.chunk.text for hit in store.search("words", 5, 0.0)] == ["first words"]
    store.close()


def test_a_broken_file_or_one_of_another_format_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(b"no data base at all" * 100)
    Store(path).close()
    base = sqlite3.connect(path)
    base.execute("update about set value = 99 where key = 'format'")
    base.commit()
    base.close()
    store = Store(path)
    store.put([document("a", "words")])
    assert found(store, "words")
    store.close()
