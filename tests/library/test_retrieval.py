"""Retrieval finds the tool that a person would look for, in any script, in any order of coming and going."""

from __future__ import annotations

import string
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever, sums
from habilis.library.retrieval.relevance import fitting
from habilis.library.retrieval.terms import parts, stem, terms

CARDS = [
    ToolCard(name="count_csv_rows", description="Count the rows of a CSV file.", parameters=("path", "delimiter")),
    ToolCard(name="averageColumn", description="Mean of one column of a table.", parameters=("path", "column")),
    ToolCard(name="parse_iso_8601", description="Read a date and time.", parameters=("text",)),
    ToolCard(name="find_primes", description="Prime factors of an integer.", parameters=("number",)),
    ToolCard(name="计算平均值", description="计算一组数字的平均值", parameters=("数字",)),
    ToolCard(name="tool_1", description="文字数を数える関数です", parameters=("text",)),
    ToolCard(name="tool_2", description="두 날짜 사이의 일수를 계산합니다", parameters=("from_date",)),
    ToolCard(name="tool_3", description="Größe einer Datei bestimmen", parameters=("pfad",)),
]


def names(query: str, k: int = 3) -> list[str]:
    return [card.name for card in BM25Retriever(CARDS).search(query, k)]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("How many rows does sales.csv have?", "count_csv_rows"),
        ("counting row", "count_csv_rows"),
        ("the average of the column price", "averageColumn"),
        ("What are the prime factors of 360?", "find_primes"),
        ("iso 8601", "parse_iso_8601"),
        ("请计算这些数字的平均值", "计算平均值"),
        ("文字数はいくつですか", "tool_1"),
        ("날짜 계산", "tool_2"),
        ("grosse der datei", "tool_3"),
        ("GRÖSSE DATEI", "tool_3"),
        ("delimiter", "count_csv_rows"),
    ],
)
def test_the_first_hit_is_the_one_that_is_meant(query: str, name: str) -> None:
    assert names(query)[0] == name


def test_nothing_in_common_is_no_hit() -> None:
    assert names("zzz") == []
    assert names("") == []
    assert names("the of and a") == []
    assert names("rows", 0) == []


def test_a_hit_in_the_name_counts_most() -> None:
    cards = [
        ToolCard(name="a", description="merge", parameters=()),
        ToolCard(name="merge", description="other thing", parameters=()),
        ToolCard(name="c", description="thing", parameters=("merge",)),
    ]
    assert [card.name for card in BM25Retriever(cards).search("merge", 3)] == ["merge", "a", "c"]


def test_the_order_is_the_same_in_every_run() -> None:
    cards = [ToolCard(name=f"tool_{n}", description="same words", parameters=()) for n in (3, 1, 2)]
    assert [card.name for card in BM25Retriever(cards).search("same words", 3)] == ["tool_1", "tool_2", "tool_3"]


@given(st.lists(st.tuples(st.sampled_from(CARDS), st.booleans()), max_size=20), st.sampled_from(CARDS))
def test_an_index_that_grew_and_shrank_finds_what_a_new_one_finds(
    steps: list[tuple[ToolCard, bool]], probe: ToolCard
) -> None:
    index, there = BM25Retriever(), dict[str, ToolCard]()
    for card, added in steps:
        if added:
            changed = card.model_copy(update={"description": card.description[::-1]})
            index.add(changed)
            index.add(card)
            there[card.name] = card
        else:
            index.remove(card.name)
            there.pop(card.name, None)
    assert index.search(probe.description, 8) == BM25Retriever(there.values()).search(probe.description, 8)


@given(st.text(), st.integers(0, 10))
def test_any_query_is_answered(query: str, k: int) -> None:
    assert len(BM25Retriever(CARDS).search(query, k)) <= k


def test_identifiers_are_split_and_words_stemmed() -> None:
    assert list(terms("parseHTTPResponse_v2")) == ["pars", "http", "respons", "v", "2"]
    assert stem("counting") == stem("counts") == stem("counted") == "count"
    assert stem("queries") == stem("query")
    assert stem("sorting") == stem("sorted") == stem("sort") == "sort"
    assert stem("class") == "class"
    assert stem("gas") == "gas"
    assert list(terms("平均值")) == ["平均", "均值"]


def test_a_saved_index_finds_what_a_new_one_finds(tmp_path: Path) -> None:
    BM25Retriever(CARDS).save(tmp_path)
    changed = [CARDS[0].model_copy(update={"description": "Sum of a column."}), *CARDS[2:]]
    opened, fresh = BM25Retriever.open(tmp_path, changed), BM25Retriever(changed)
    assert opened.made_anew == 1
    for query in ("sum column", "count rows csv", "prime factors", "計算", "average"):
        assert opened.scored(query, 8) == fresh.scored(query, 8)


@given(
    st.lists(st.sampled_from(CARDS), unique_by=lambda card: card.name),
    st.lists(st.sampled_from(CARDS)),
    st.lists(st.sampled_from([card.description for card in CARDS])).map(". ".join),
)
def test_a_small_index_and_a_large_one_add_up_to_the_same_numbers(
    cards: list[ToolCard], gone: list[ToolCard], query: str
) -> None:
    found = []
    for few in (0, 1000):
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            patch.setattr(sums, "FEW", few)
            BM25Retriever(cards[1:]).save(Path(folder))
            index = BM25Retriever.open(Path(folder), cards)
            for card in gone:
                index.remove(card.name)
            found.append(index.scored(query, 3))
    assert found[0] == found[1]


SEARCHED = """
import sys
from pathlib import Path
from habilis.core.types import ToolCard
from habilis.library.retrieval import BM25Retriever

cards = [ToolCard(name=f"tool_{n}", description="same words", parameters=()) for n in range(100)]
BM25Retriever(cards).save(Path("index"))
index = BM25Retriever.open(Path("index"), cards[5:])
print(len(index.search("the same words, and others", 5)), index.made_anew, "numpy" in sys.modules)
"""


def test_a_search_in_a_library_of_a_hundred_tools_waits_for_no_numpy(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SEARCHED], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "0", "False"]


@pytest.mark.parametrize("damage", ["index.bin", "index.json"])
def test_a_torn_index_is_made_anew(tmp_path: Path, damage: str) -> None:
    BM25Retriever(CARDS).save(tmp_path)
    whole = (tmp_path / damage).read_bytes()
    (tmp_path / damage).write_bytes(whole[: len(whole) // 2])
    opened = BM25Retriever.open(tmp_path, CARDS)
    assert opened.made_anew == len(CARDS)
    assert opened.search("rows", 3) == BM25Retriever(CARDS).search("rows", 3)


def test_parameter_descriptions_and_answered_questions_are_found() -> None:
    explained = ToolCard(name="convert", description="Convert.", parameters=("x",), explained=("length in furlongs",))
    answered = ToolCard(name="tool", description="Does it.", answered=("How tall is the Eiffel tower?",))
    index = BM25Retriever([explained, answered])
    assert [card.name for card in index.search("furlongs", 2)] == ["convert"]
    assert [card.name for card in index.search("the tower in Paris: how tall?", 2)] == ["tool"]


def test_each_wish_of_a_question_finds_its_tool() -> None:
    cards = [ToolCard(name=f"weather_{n}", description="weather forecast temperature rain wind") for n in range(6)]
    cards.append(ToolCard(name="send_parcel", description="Post a box."))
    found = BM25Retriever(cards).search(
        "Give me the weather forecast with temperature, rain and wind for Monday. Send a parcel to my aunt.", 3
    )
    assert "send_parcel" in [card.name for card in found]


def test_words_of_the_same_subject_and_of_the_same_beginning_count_for_less_than_the_word_itself() -> None:
    cards = [ToolCard(name="a", description="film"), ToolCard(name="b", description="movie")]
    assert [card.name for card in BM25Retriever(cards).search("movie", 2)] == ["b", "a"]
    cards = [ToolCard(name="a", description="astronomer"), ToolCard(name="b", description="astronomy")]
    assert [card.name for card in BM25Retriever(cards).search("astronomy", 2)] == ["b", "a"]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("I have a rash on my arm, what could it be?", "look_up_symptoms"),
        ("Will I need an umbrella in Bergen?", "get_forecast"),
        ("Which trails are good for hiking there?", "plan_trip"),
    ],
)
def test_a_word_finds_the_subject_that_it_speaks_of_and_passes_the_floor(query: str, name: str) -> None:
    cards = [
        ToolCard(name="look_up_symptoms", description="Possible diseases of a symptom.", parameters=("symptom",)),
        ToolCard(name="get_forecast", description="The weather of a place.", parameters=("place",)),
        ToolCard(name="plan_trip", description="Suggest what to see in a region.", parameters=("region",)),
        ToolCard(name="join_columns", description="Two columns of a table as one.", parameters=("path",)),
    ]
    found = BM25Retriever(cards).search(query, 5)
    assert found[0].name == name
    assert name in [card.name for card in fitting(query, found)]


def test_why_names_the_words_that_speak_for_a_tool() -> None:
    why = BM25Retriever(CARDS).why("how many rows of films", "count_csv_rows")
    assert why.name == "count_csv_rows"
    assert (why.terms[0].asked, why.terms[0].met) == ("row", "row")
    assert why.terms[0].fields[0] == "name"
    assert why.score > 0


@given(st.text(alphabet=string.printable))
def test_the_wishes_of_a_query_hold_nothing_that_it_does_not_say(text: str) -> None:
    assert all(part <= frozenset(terms(text)) for part in parts(text))


def test_wishes_are_sentences_and_clauses() -> None:
    assert parts("Sort the list, then count its words. OK?") == [{"sort", "list"}, {"count", "word"}]
