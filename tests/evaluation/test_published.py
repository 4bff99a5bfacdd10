"""Published benchmarks: their own files, in the shape in which they are given out, are read without a word of mapping.

All rows here are our own; none is of a benchmark.
"""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from habilis.core.errors import UserError
from habilis.evaluation.datasets import BENCHMARKS, load
from habilis.evaluation.datasets.published import decrypted
from habilis.evaluation.datasets.tabular import DABENCH_COLUMNS, WIKITABLES_COLUMNS
from habilis.evaluation.scoring import scorer_for

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(32))
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
HLE = {
    "id": "668825f8",
    "question": "Which of these is even? A. 3 B. 4",
    "image": URL,
    "answer": "B",
    "answer_type": "multipleChoice",
    "author_name": "Ada",
    "rationale": "Four is twice two.",
    "raw_subject": "Arithmetic",
    "category": "Math",
    "canary": "canary of ours",
}
GAIA = {
    "task_id": "c61d22de",
    "Question": "How many rows has the sheet?",
    "Level": 1,
    "Final answer": "12",
    "file_name": "c61d22de.xlsx",
    "file_path": "2023/validation/c61d22de.xlsx",
    "Annotator Metadata": {"Steps": "Open it."},
}
DSQA = {
    "problem": "Which countries border us?",
    "problem_category": "Geography",
    "answer": "Chad, Libya",
    "answer_type": "Set Answer",
}


def fin(part: int, label: str) -> dict[str, Any]:
    return {
        "prompt_id": f"(T{part}){label}_001",
        "prompt": f"What was the rate of part {part}?",
        "response_reference": "6.6%, an error of 1% is allowed",
        "judge_prompt_template": "Question {prompt}\nReference {response_reference}\nAnswer {response}\nJSON: {x}",
        "judge_system_prompt": "You are a strict judge.",
        "label": f"{label}(Global)",
    }


FIN = [
    fin(1, "Time-Sensitive_Data_Fetching"),
    fin(2, "Simple_Historical_Lookup"),
    fin(3, "Complex_Historical_Investigation"),
]


def encrypted(text: str, key: str) -> str:
    return base64.b64encode(bytes(a ^ b for a, b in zip(text.encode(), cycle(key.encode()), strict=False))).decode()


def xbench(**more: Any) -> dict[str, Any]:
    key = "our-canary-1"
    texts = {"prompt": "哪座城市最大?", "answer": "重庆", "reference_steps": "Look."}
    return {"id": "1", **{name: encrypted(text, key) for name, text in texts.items()}, "canary": key, **more}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HABILIS_CACHE_DIR", str(tmp_path / "cache"))


def as_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def as_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def as_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra 'datasets' is not installed")
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return str(path)


@pytest.mark.parametrize("write", [as_jsonl, as_parquet])
def test_hle_with_its_image(write: Any, tmp_path: Path) -> None:
    said: list[str] = []
    path = write(tmp_path / "hle", [HLE, {**HLE, "id": "2", "image": ""}])
    kind = "jsonl" if write is as_jsonl else "parquet"
    Path(path).rename(f"{path}.{kind}")
    rows = load(f"{path}.{kind}", notice=said.append)
    assert "read as hle" in said[0]
    assert Path(rows[0].files[0]).read_bytes() == PNG
    assert rows[1].files == ()
    assert (rows[0].id, rows[0].answer, rows[0].extra["category"]) == ("668825f8", "B", "Math")
    assert rows[0].extra["guarded"]
    assert "Four is twice two" not in rows[0].model_dump_json()
    assert scorer_for(rows[0]) == "judge"


def test_gaia_with_the_file_beside_its_metadata(tmp_path: Path) -> None:
    folder = tmp_path / "2023" / "validation"
    test = {**GAIA, "task_id": "t", "Final answer": "?", "file_name": "", "file_path": ""}
    as_jsonl(folder / "metadata.jsonl", [GAIA, test])
    (folder / "c61d22de.xlsx").write_bytes(b"sheet")
    as_csv(folder / "attached.csv", [{"x": 1}])
    rows = load(str(folder))
    assert rows[0].files == (str((folder / "c61d22de.xlsx").resolve()),)
    assert (rows[0].question, rows[0].answer, rows[0].extra["category"]) == (GAIA["Question"], "12", "level 1")
    assert rows[1].answer is None, "the answers of the test split are withheld"
    assert scorer_for(rows[0]) == "gaia"


@pytest.mark.parametrize("write", [as_csv, as_jsonl])
def test_xbench_is_decrypted_in_memory_alone(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path / ("x.csv" if write is as_csv else "x.jsonl"), [xbench(), xbench(id="2")])
    rows = load(path)
    assert [(row.id, row.question, row.answer) for row in rows] == [
        ("1", "哪座城市最大?", "重庆"),
        ("2", "哪座城市最大?", "重庆"),
    ]
    assert rows[0].extra["guarded"]
    left = [file for file in tmp_path.rglob("*") if file.is_file() and "重庆" in file.read_text(errors="replace")]
    assert left == []


@given(st.text(), st.text(min_size=1))
def test_whatever_was_encrypted_with_a_canary_is_read_with_it(text: str, key: str) -> None:
    try:
        sealed = encrypted(text, key)
    except UnicodeEncodeError:
        return
    assert decrypted(sealed, key, "prompt") == text


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (xbench(canary=""), "row 1: no canary"),
        (
            xbench(prompt="plain text!"),
            "row 1: prompt is not encrypted by its canary; for a decrypted copy say the form",
        ),
    ],
)
def test_xbench_that_is_not_as_published_is_said(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        load(as_csv(tmp_path / "x.csv", [row]))


def test_a_decrypted_copy_of_xbench_is_plain_data(tmp_path: Path) -> None:
    row = load(as_csv(tmp_path / "x.csv", [xbench(prompt="Which?", answer="this")]), format="csv")[0]
    assert (row.question, row.answer) == ("Which?", "this")


def test_deepsearchqa_has_stable_ids_of_its_content(tmp_path: Path) -> None:
    path = as_csv(tmp_path / "DSQA-full.csv", [DSQA, {**DSQA, "problem": "Who?", "answer_type": "Single Answer"}])
    first, second = load(path), load(path)
    assert [row.id for row in first] == [row.id for row in second]
    assert [row.extra["answer_type"] for row in first] == ["Set Answer", "Single Answer"]
    assert first[0].extra["category"] == "Geography"


@pytest.mark.parametrize(
    ("format", "parts"),
    [("auto", "23"), ("finsearchcomp", "23"), ("finsearchcomp-t2", "2"), ("finsearchcomp-t3", "3")],
)
def test_finsearchcomp_by_its_parts_with_its_own_rubric(format: str, parts: str, tmp_path: Path) -> None:
    path = tmp_path / "finsearchcomp_data.json"
    path.write_text(json.dumps(FIN), encoding="utf-8")
    said: list[str] = []
    rows = load(str(path), format=format, notice=said.append)
    assert f"left out {3 - len(parts)} rows that are not of finsearchcomp" in said[-1]
    assert "".join(row.id[2] for row in rows) == parts
    assert rows[0].rubric == (
        "You are a strict judge.\n\nQuestion (the question)\nReference (the reference answer)\n"
        "Answer (the response)\nJSON: {x}"
    )
    assert rows[0].extra["benchmark"] == "finsearchcomp"


def test_only_questions_of_the_hour_leave_nothing_to_score(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no row can be used"):
        load(as_jsonl(tmp_path / "f.jsonl", FIN[:1]))


def test_a_row_of_no_known_part_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="row 1: neither its prompt_id nor its label says which part"):
        load(as_csv(tmp_path / "f.csv", [{**FIN[1], "prompt_id": "7", "label": "new"}]))


def test_a_benchmark_by_name_wants_its_columns_and_no_fields(tmp_path: Path) -> None:
    path = as_jsonl(tmp_path / "t.jsonl", [{"id": 1, "question": "q"}])
    with pytest.raises(UserError, match=r"not gaia as published; it has no column Question, file_name, task_id"):
        load(path, format="gaia")
    with pytest.raises(UserError, match="gaia has columns of its own"):
        load(path, format="gaia", fields={"question": "question"})


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_is_told_by_its_columns_in_full(name: str) -> None:
    over_tables = {"dabench": DABENCH_COLUMNS, "wikitables": WIKITABLES_COLUMNS}.get(name)
    whole = over_tables or {"hle": HLE, "gaia": GAIA, "xbench": xbench(), "deepsearchqa": DSQA}.get(name, FIN[1])
    others = [one.name for one in BENCHMARKS.values() if one.signature <= set(whole)]
    assert {other.partition("-")[0] for other in others} == {name.partition("-")[0]}
