"""Data sets: a user's file of tasks becomes rows, whole and as meant, or one line says which row is at fault."""

from __future__ import annotations

import base64
import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.errors import UserError
from habilis.evaluation.datasets import load

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(32))
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


ROW = {"id": "a", "question": "How many?", "answer": 3}


# ---- forms of files


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.jsonl", lines(ROW)),
        ("t.jsonl", "\ufeff" + lines(ROW).replace("\n", "\r\n") + "\n\n"),
        ("t.ndjson", lines(ROW)),
        ("t.json", json.dumps([ROW])),
        ("t.json", json.dumps({"version": 1, "data": [ROW], "authors": ["x"]})),
        ("t.json", json.dumps({"mine": [ROW]})),
        ("t.json", lines(ROW, {**ROW, "id": "b"})),
        ("t.csv", 'id,question,answer\na,"How many?",3\n'),
        ("t.csv", "\ufeffid;question;answer\r\na;How many?;3\r\n"),
        ("t.csv", "id|question|answer\na|How many?|3\n\n"),
        ("t.tsv", "id\tquestion\tanswer\na\tHow many?\t3\n"),
        ("t.csv", "id\tquestion\tanswer\na\tHow many?\t3\n".encode("utf-16")),
    ],
)
def test_every_form_gives_the_same_row(name: str, text: str | bytes, tmp_path: Path) -> None:
    row = load(put(tmp_path, name, text))[0]
    assert (row.id, row.question, str(row.answer)) == ("a", "How many?", "3")


def test_a_cell_may_hold_newlines_quotes_and_the_delimiter(tmp_path: Path) -> None:
    row = load(put(tmp_path, "t.csv", 'id,question\na,"first\n""second"", third"\n'))[0]
    assert row.question == 'first\n"second", third'


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_what_csv_writes_is_read_back(pairs: list[tuple[str, str]]) -> None:
    from habilis.evaluation.datasets.formats import RawRow, _table

    out = io.StringIO(newline="")
    csv.writer(out).writerows([("question", "answer"), *pairs])
    read = list(_table(Path("t.csv"), out.getvalue(), ","))
    assert [(r.values["question"], r.values["answer"]) for r in read if isinstance(r, RawRow)] == pairs


@given(st.binary(max_size=200), st.sampled_from([".jsonl", ".json", ".csv", ".tsv"]))
def test_a_file_of_anything_gives_rows_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, end: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{end}"
    path.write_bytes(data)
    said = ""
    try:
        assert load(str(path), skip_broken=True)
    except UserError as error:
        said = str(error)
    assert "\n" not in said


def test_parquet_with_an_image_inside(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra 'datasets' is not installed")
    import pyarrow.parquet as parquet

    rows = [{"id": 7, "question": "What is it?", "answer": "a dot", "image": {"bytes": PNG, "path": "dot.png"}}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "t.parquet")
    row = load(str(tmp_path / "t.parquet"))[0]
    assert (row.id, row.answer) == ("7", "a dot")
    assert Path(row.files[0]).read_bytes() == PNG
    put(tmp_path, "bad.parquet", b"PAR1 no")
    with pytest.raises(UserError, match=r"bad.parquet: not a Parquet file"):
        load(str(tmp_path / "bad.parquet"))


def test_parquet_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UserError, match=r"pip install 'habilis\[datasets\]'"):
        load(put(tmp_path, "t.parquet", b"PAR1"))


def test_a_folder_with_one_table_is_that_table(tmp_path: Path) -> None:
    put(tmp_path, "set/t.jsonl", lines(ROW))
    assert load(str(tmp_path / "set"))[0].id == "a"
    put(tmp_path, "set/u.jsonl", lines(ROW))
    with pytest.raises(UserError, match=r"several files of data; name one \(t.jsonl, u.jsonl\)"):
        load(str(tmp_path / "set"))


# ---- which column is what


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            {"task_id": "a", "problem": "How many?", "final_answer": "3"},
            "id=task_id, question=problem, answer=final_answer",
        ),
        (
            {"ID": "a", "Prompt": "How many?", "Gold": "3", "Level": 2},
            "id=ID, question=Prompt, answer=Gold, category=Level",
        ),
        ({"id": "a", "query": "How many?", "expected": "3"}, "question=query, answer=expected"),
    ],
)
def test_usual_names_are_found_and_said(row: dict[str, Any], told: str, tmp_path: Path) -> None:
    said: list[str] = []
    path = put(tmp_path, "t.jsonl", lines(row))
    found = load(path, notice=said.append)[0]
    assert (found.id, found.question, found.answer) == ("a", "How many?", "3")
    assert said == [f"{path}: read with {told}"]


def test_fields_reach_into_a_row_and_into_json_in_a_cell(tmp_path: Path) -> None:
    nested = {"meta": {"name": "a", "gold": [1, 2]}, "turns": [{"text": "How many?"}], "label.x": "units"}
    fields = {"id": "meta.name", "question": "turns.0.text", "answer": "meta.gold", "category": "label.x"}
    row = load(put(tmp_path, "t.jsonl", lines(nested)), fields=fields)[0]
    assert (row.id, row.question, row.answer, row.extra) == ("a", "How many?", [1, 2], {"category": "units"})
    cell = put(tmp_path, "t.csv", 'id,data\na,"{""q"": ""How many?""}"\n')
    assert load(cell, fields={"question": "data.q"})[0].question == "How many?"


def test_a_column_can_be_kept_from_being_read(tmp_path: Path) -> None:
    path = put(tmp_path, "t.jsonl", lines({**ROW, "file": "n/a"}))
    assert load(path, fields={"files": "-"})[0].files == ()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"qestion": "x"}, "field qestion=x: no such meaning; did you mean question?"),
        ({"answer": "meta.gold"}, "no column meta.gold (for answer); it has: id, question, answer"),
        ({"answer": ""}, "field answer: no column is named"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load(put(tmp_path, "t.jsonl", lines(ROW)), fields=fields)
    assert said in str(caught.value)


def test_a_set_without_a_question_asks_for_the_column(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"no column looks like the question; name it: --fields question=COLUMN \(columns: a, b\)"
    ):
        load(put(tmp_path, "t.jsonl", lines({"a": "x", "b": "y"})))


def test_a_row_may_say_how_it_is_scored(tmp_path: Path) -> None:
    row = load(put(tmp_path, "t.csv", "id,question,answer,scorer,tolerance\na,q,5,numeric,0.01\n"))[0]
    assert (row.scorer, row.extra["tolerance"]) == ("numeric", 0.01)


# ---- ids


def test_a_row_without_an_id_keeps_the_same_one_wherever_it_stands(tmp_path: Path) -> None:
    one = load(put(tmp_path, "t.jsonl", lines({"question": "A?"}, {"question": "B?"})))
    other = load(put(tmp_path, "moved/u.csv", "question\nB?\nA?\n"))
    assert {row.question: row.id for row in one} == {row.question: row.id for row in other}
    assert len({row.id for row in one}) == 2


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([ROW, ROW], "t.jsonl, line 2: the id 'a' came before"),
        ([{"question": "A?"}, {"question": "A?"}], "line 2: the id 'row-"),
        ([ROW, {"id": "b", "question": " "}], "t.jsonl, line 2: the question is missing"),
        ([ROW, {"id": "b"}], "line 2: the question is missing"),
        ([ROW, ["b"]], "line 2: an object was expected, not a list"),
        ([ROW, {**ROW, "id": {}}], "line 2: the id is {}"),
        ([{**ROW, "scorer": "fuzzy"}], "line 1: scorer 'fuzzy' is none of auto, exact"),
        ([{**ROW, "tolerance": "much"}], "line 1: tolerance 'much'; a share such as 0.01"),
        ([{**ROW, "files": "no.csv"}], "line 1: 'no.csv' is not there in"),
    ],
)
def test_a_broken_row_stops_and_is_named(rows: list[Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load(put(tmp_path, "t.jsonl", lines(*rows)))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_broken_rows_are_passed_over_on_request_and_each_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    text = lines(ROW) + "{torn\n" + lines(ROW, {"id": "b"}, {"id": "c", "question": "C?"})
    rows = load(put(tmp_path, "t.jsonl", text), skip_broken=True, notice=said.append)
    assert [row.id for row in rows] == ["a", "c"]
    assert [line.split(", ")[1].split(":")[0] for line in said] == ["line 2", "line 3", "line 4"]


def test_a_table_with_a_ragged_row_names_row_and_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"t.csv, row 2 \(line 4\): 3 fields, and 2 column names"):
        load(put(tmp_path, "t.csv", 'id,question\na,"two\nlines"\nb,c,d\n'))


def test_a_limit_ends_before_later_faults(tmp_path: Path) -> None:
    assert len(load(put(tmp_path, "t.jsonl", lines(ROW) + "{torn\n"), limit=1)) == 1


@pytest.mark.parametrize(
    ("path", "format", "said"),
    [
        ("none.jsonl", "auto", "none.jsonl: no such file or folder"),
        ("gaia", "auto", "gaia: no such file or folder; for the published set say hub:gaia"),
        ("t.dat", "auto", "its ending is none of"),
        ("t.dat", "jsn", "format jsn: did you mean json?"),
        ("latin.csv", "auto", "latin.csv: not UTF-8 text (byte 12)"),
        ("empty.jsonl", "auto", "empty.jsonl: no row can be used"),
        ("text.json", "auto", "text.json: a list of objects was expected"),
        ("two.csv", "auto", "two.csv: two columns are called 'q'"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_in_one_line(
    path: str, format: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "t.dat", lines(ROW))
    put(tmp_path, "latin.csv", "id,question\n\xe4,b\n".encode("latin-1"))
    put(tmp_path, "empty.jsonl", "\n")
    put(tmp_path, "text.json", '"x"')
    put(tmp_path, "two.csv", "q,q\n1,2\n")
    with pytest.raises(UserError) as caught:
        load(path, format=format)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


# ---- files of a row


def test_files_are_found_beside_the_table_and_below_it(tmp_path: Path) -> None:
    put(tmp_path, "set/data/sales.csv", "x")
    put(tmp_path, "set/b.txt", "x")
    (tmp_path / "set" / "link.txt").symlink_to("data/sales.csv")
    text = lines(
        {"id": 1, "question": "q", "files": ["data/sales.csv", "b.txt"]},
        {"id": 2, "question": "q", "files": "b.txt; data/sales.csv"},
        {"id": 3, "question": "q", "files": '["link.txt"]'},
        {"id": 4, "question": "q", "files": "data"},
    )
    rows = load(put(tmp_path, "set/t.jsonl", text))
    sales, b = (str((tmp_path / "set" / name).resolve()) for name in ("data/sales.csv", "b.txt"))
    assert [row.files for row in rows] == [(sales, b), (b, sales), (sales,), (str(Path(sales).parent),)]


@pytest.mark.parametrize(
    "name", ["../secret.txt", "{root}/secret.txt", "out/secret.txt", "link.txt", "a/../../secret.txt"]
)
def test_no_row_reaches_a_file_outside_its_data_set(name: str, tmp_path: Path) -> None:
    put(tmp_path, "secret.txt", "s")
    (tmp_path / "set" / "a").mkdir(parents=True)
    (tmp_path / "set" / "out").symlink_to(tmp_path)
    (tmp_path / "set" / "link.txt").symlink_to(tmp_path / "secret.txt")
    text = lines({"question": "q", "files": [name.format(root=tmp_path)]})
    with pytest.raises(UserError, match=r"line 1: .* lies outside the data set's folder"):
        load(put(tmp_path, "set/t.jsonl", text))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("https://example.org/x.png", "is an address; put the file beside the data set"),
        ("data:image/png;base64,@@@", "is not base64"),
        ({"size": 3}, "no content and no name among size"),
        ([3], "a value of type int is not a file"),
        ("a\0b", "is not a file name"),
        ("[broken", "is not a JSON list"),
        ({"bytes": "data:,", "path": "x"}, "an empty file"),
    ],
)
def test_a_file_that_is_none_is_said(value: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load(put(tmp_path, "t.jsonl", lines({"question": "q", "files": value})))
    assert said in str(caught.value)


def test_content_inside_a_row_becomes_a_file_once(tmp_path: Path, cache: Path) -> None:
    raw = base64.b64encode(PNG).decode()
    text = lines(
        {"id": 1, "question": "q", "image": URL},
        {"id": 2, "question": "q", "image": {"data": raw, "name": "dot.PNG"}},
        {"id": 3, "question": "q", "image": [{"bytes": raw}, {"url": "data:text/plain,a%20b"}]},
        {"id": 4, "question": "q", "image": ""},
    )
    rows = load(put(tmp_path, "t.jsonl", text))
    assert rows[0].files == rows[1].files == rows[2].files[:1]
    assert Path(rows[0].files[0]).read_bytes() == PNG
    assert rows[0].files[0].endswith(".png")
    assert Path(rows[2].files[1]).read_text() == "a b"
    assert rows[3].files == ()
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 2


def test_a_half_written_image_of_a_killed_run_is_written_anew(tmp_path: Path) -> None:
    path = put(tmp_path, "t.jsonl", lines({"question": "q", "image": URL}))
    image = Path(load(path)[0].files[0])
    image.write_bytes(PNG[:5])
    assert Path(load(path)[0].files[0]).read_bytes() == PNG


def test_answers_stay_data_and_blank_ones_are_none(tmp_path: Path) -> None:
    answers = [3, 2.5, True, ["a", 1], {"x": None}, " ", "", None, "\ud800"]
    text = "".join(json.dumps({"id": i, "question": "q", "answer": a}) + "\n" for i, a in enumerate(answers))
    found = [row.answer for row in load(put(tmp_path, "t.jsonl", text))]
    assert found == [3, 2.5, True, ["a", 1], {"x": None}, None, None, None, "?"]
