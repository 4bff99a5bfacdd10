"""DABench and WikiTableQuestions: their files are read as they are given out, and answers judged by their own rules.

All rows and tables here are our own; none is of a benchmark.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.cli import main
from habilis.core.errors import UserError
from habilis.curation.ledger.reports import Row
from habilis.evaluation.datasets import load
from habilis.evaluation.datasets.tabular import unescaped
from habilis.evaluation.scoring import score, scorer_for
from habilis.evaluation.scoring.dabench import differing, is_named
from habilis.evaluation.scoring.wikitables import normalised, same_values

QUESTION = {
    "id": 0,
    "question": "What is the mean price?",
    "concepts": ["Summary Statistics"],
    "constraints": "Round it to two decimal places.",
    "format": "@mean_price[mean] where mean is a number",
    "file_name": "prices, 2020;old.csv",
    "level": "easy",
}
HEAD = "id\tutterance\tcontext\ttargetValue\n"
TAGGED = "id\tutterance\tcontext\ttargetValue\ttokens\ttargetCanon\ttargetCanonType\n"


def dabench(folder: Path, labels: str = '{"id": 0, "common_answers": [["mean_price", "2.50"]]}\n') -> Path:
    """A copy of DABench with one question, as its repository has it."""
    path = folder / "da-dev-questions.jsonl"
    (folder / "da-dev-tables").mkdir()
    (folder / "da-dev-tables" / str(QUESTION["file_name"])).write_text("price\n2\n3\n")
    path.write_text(json.dumps(QUESTION) + "\n")
    if labels:
        (folder / "da-dev-labels.jsonl").write_text(labels)
    return path


def wikitables(folder: Path, *rows: str, tagged: str = "") -> Path:
    """A copy of WikiTableQuestions with `rows`, as its repository has it."""
    for place in ("data", "csv/7-csv", *(["tagged/data"] if tagged else [])):
        (folder / place).mkdir(parents=True)
    (folder / "csv/7-csv/1.csv").write_text('"Year","Title"\n"1999","a \\"b\\""\n')
    (folder / "data/training.tsv").write_text(HEAD + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    if tagged:
        (folder / "tagged/data/training.tagged").write_text(TAGGED + tagged, encoding="utf-8")
    return folder / "data/training.tsv"


async def right(row: Row, prediction: str) -> bool | None:
    return (await score(row, prediction, None)).right


# ---- DABench


async def test_dabench_as_its_repository_has_it(tmp_path: Path) -> None:
    said: list[str] = []
    (row,) = load(str(dabench(tmp_path)), notice=said.append)
    assert "read as dabench" in said[0]
    assert (row.id, row.answer, row.extra["category"]) == ("0", "@mean_price[2.50]", "easy")
    assert Path(row.files[0]).read_text() == "price\n2\n3\n"
    assert all(part in row.question for part in ("mean price", "two decimal", "@mean_price[mean]", "2020;old.csv"))
    assert scorer_for(row) == "dabench"
    assert await right(row, "The mean is @mean_price[2.5].")
    assert await right(row, "It is 2.5") is False


async def test_an_answer_of_named_values_is_judged_by_that_rule_in_any_file(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "q", "answer": "@low[1], @high[9 km]"}) + "\n")
    (row,) = load(str(path))
    judged = await score(row, "@high[9 km] and @low[2]", None)
    assert (judged.scorer, judged.right, judged.partial) == ("dabench", False, 0.5)
    assert judged.reason == "missing or another value: low"


@pytest.mark.parametrize(
    ("expected", "said", "wrong"),
    [
        ("@a[1.0]", "@a[1]", []),
        ("@a[1]", "@a[1.0000009]", []),
        ("@a[1]", "@a[1.00001]", ["a"]),
        ("@a[No]", "@a[no]", ["a"]),
        ("@a[1]", "@a[1] @b[7] and more", []),
        ("@a[1], @b[2]", "@a[1]", ["b"]),
        ("@a[1]", "@a[2] then @a[1]", []),
        ("@a[1]", "@a[nan]", ["a"]),
        ("@a[]", "@a[]", []),
        ("@a[1, 2]", "@a[1,2]", ["a"]),
        ("@a[1,000]", "@a[1000]", ["a"]),
    ],
)
def test_the_rule_of_dabench(expected: str, said: str, wrong: list[str]) -> None:
    assert differing(expected, said)[0] == wrong


NAMES = st.text("abcXYZ_0189", min_size=1, max_size=8)
PLAIN = st.text(st.characters(blacklist_characters="]\n", blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12)


@given(st.dictionaries(NAMES, PLAIN, min_size=1, max_size=5), st.randoms(), PLAIN)
def test_named_values_are_right_in_any_order_and_wrong_without_one(
    values: dict[str, str], lot: object, other: str
) -> None:
    parts = [f"@{name}[{value}]" for name, value in values.items()]
    answer = ", ".join(parts)
    assert is_named(answer)
    lot.shuffle(parts)  # type: ignore[attr-defined]
    assert differing(answer, " and ".join(parts)) == ([], len(values))
    missing, _ = differing(answer, " ".join(parts[1:]))
    assert missing == [parts[0][1:].partition("[")[0]]


@given(st.text("@ab[]1, \n", max_size=40), st.text("@ab[]1, \n", max_size=40))
def test_no_text_breaks_the_rule_of_dabench(expected: str, said: str) -> None:
    wrong, names = differing(expected, said)
    assert 0 <= len(wrong) <= names
    assert not is_named(expected) or names


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("", "put da-dev-labels.jsonl beside it"),
        ("{", "da-dev-labels.jsonl, line 1: not JSON"),
        ('{"id": 0, "common_answers": [["a"]]}', "da-dev-labels.jsonl, line 1: common_answers is not a list of pairs"),
    ],
)
def test_labels_that_cannot_be_read_are_one_line_and_exit_code_2(
    labels: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = dabench(tmp_path, labels)
    code = main(["evolve", "--dataset", str(path), "--output", str(tmp_path / "runs")])
    assert code == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert told in line


def test_a_question_without_its_label_has_no_known_answer(tmp_path: Path) -> None:
    (row,) = load(str(dabench(tmp_path, '{"id": 1, "common_answers": [["a", "1"]]}')))
    assert row.answer is None


def test_a_table_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = dabench(tmp_path)
    (tmp_path / "da-dev-tables" / str(QUESTION["file_name"])).unlink()
    with pytest.raises(UserError, match=r"line 1: .*2020;old.csv' is not there"):
        load(str(path))


def test_questions_called_otherwise_are_told_how_to_be_called(tmp_path: Path) -> None:
    path = dabench(tmp_path).rename(tmp_path / "mine.jsonl")
    with pytest.raises(UserError, match=r"name it …questions\.jsonl"):
        load(str(path))


def test_the_hub_has_neither() -> None:
    with pytest.raises(UserError, match="dabench is not on the hub as published"):
        load("hub:dabench")


# ---- WikiTableQuestions


async def test_wikitables_as_its_repository_has_it(tmp_path: Path) -> None:
    rows = load(
        str(
            wikitables(
                tmp_path,
                'nt-0\tWhich is "it"?\tcsv/7-csv/1.csv\t"Yes"|a\\pb',
                '"nt-1"\tHow many?\tcsv/7-csv/1.csv\ttwo\\nlines',
            )
        )
    )
    assert [row.id for row in rows] == ["nt-0", '"nt-1"'], "a quotation mark is a letter like others there"
    assert rows[0].answer == ['"Yes"', "a|b"]
    assert rows[1].answer == ["two\nlines"]
    assert 'Which is "it"?' in rows[0].question
    assert rows[0].files == (str((tmp_path / "csv/7-csv/1.csv").resolve()),)
    assert scorer_for(rows[0]) == "wikitables"
    assert await right(rows[0].model_copy(update={"answer": ["Yes", "no"]}), "no | YES")
    assert await right(rows[0].model_copy(update={"answer": ["Yes", "no"]}), "yes") is False


async def test_the_canonical_forms_of_answers_are_used_where_they_are(tmp_path: Path) -> None:
    cells = "nt-0\tWhen?\tcsv/7-csv/1.csv\t{}"
    tagged = (cells + "\twhen ?\t1990-03-xx\tdate\n").format("March 1990")
    (row,) = load(str(wikitables(tmp_path, cells.format("March 1990"), tagged=tagged)))
    assert await right(row, "1990-03-xx")
    assert await right(row, "march 1990")
    assert await right(row, "1990-03-01") is False


@pytest.mark.parametrize(
    ("expected", "canonical", "said", "is_right"),
    [
        (["Café"], [], ["cafe"], True),
        (["“Home”"], [], ["home"], True),
        (["Rome[2]"], [], ["Rome"], True),
        (["Rome (Italy)†"], [], ["rome."], True),
        (["[2]"], [], [""], True),
        (["2–1"], [], ["2-1"], True),
        (["7"], [], ["7.0000001"], True),
        (["7"], [], ["7.1"], False),
        (["1,234"], [], ["1234"], False),
        (["1,234"], ["1234"], ["1234.0"], True),
        (["seven"], ["7"], ["7"], True),
        (["1990-xx-xx"], [], ["1990"], True),
        (["xx-01-12"], [], ["1990-01-12"], False),
        (["xx-01-12"], [], ["xxxx-1-12"], True),
        (["1990-13-01"], [], ["1990-13-1"], False),
        (["a", "b"], [], ["b", "a"], True),
        (["a", "b"], [], ["a"], False),
        (["a"], [], ["a", "b"], False),
        (["7", "7.0"], [], ["7"], True),
    ],
)
def test_the_rule_of_wikitables(expected: list[str], canonical: list[str], said: list[str], is_right: bool) -> None:
    assert same_values(expected, canonical, said) is is_right


LISTS = st.lists(st.text(max_size=12), min_size=1, max_size=4)


@given(LISTS, st.randoms())
def test_the_same_values_are_right_in_any_order(values: Sequence[str], lot: object) -> None:
    shuffled = list(values)
    lot.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same_values(values, [], shuffled)
    assert not same_values(values, [], [*shuffled, "and one that is in none of them"])


@given(st.integers(-(10**12), 10**12))
def test_a_number_is_the_same_however_it_is_written(number: int) -> None:
    assert same_values([str(number)], [], [f"{number}.0"])
    assert not same_values([str(number)], [], [str(number + 1)])


@given(st.text(max_size=30))
def test_what_is_normalised_has_no_marks_and_stays_lower(text: str) -> None:
    once = normalised(text)
    assert not any(
        unicodedata.category(char) == "Mn" for char in unicodedata.normalize("NFKD", once) if char < "\u0300"
    )
    assert once == once.strip()


@given(st.text(max_size=30))
def test_escapes_come_back_as_what_was_escaped(text: str) -> None:
    escaped = re.sub(r"[\\\n|]", lambda found: {"\\": r"\\", "\n": r"\n", "|": r"\p"}[found[0]], text)
    assert unescaped(escaped) == text


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("nt-0\tWhich?\tcsv/7-csv/1.csv", "row 1 (line 2): 3 fields, and 4 column names"),
        ("nt-0\tWhich?\tcsv/7-csv/2.csv\ta", "row 1: 'csv/7-csv/2.csv' is not there"),
        ("nt-0\tWhich?\t../../secret.csv\ta", "row 1: '../../secret.csv' lies outside"),
        ("nt-0\t \tcsv/7-csv/1.csv\ta", "row 1: the question is missing"),
    ],
)
def test_a_bad_row_of_wikitables_is_one_line_and_exit_code_2(
    row: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = wikitables(tmp_path / "set", row)
    code = main(["evolve", "--dataset", str(path), "--output", str(tmp_path / "runs")])
    assert code == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert told in line
